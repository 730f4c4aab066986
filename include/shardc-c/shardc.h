/*===- shardc.h - The engine's C API ------------------------------*- C -*-===*\
|*
|* Compile a model in this process, run it on devices of this process, and keep
|* arrays there from call to call. Plain C of libshardc.so: no exception leaves
|* a function, nothing here aborts or exits, and no state is global. No call
|* starts a process but those that read bytecode of unknown origin.
|*
|*   engine      N devices. A device is a rank: a thread with memory of its own.
|*               Threads live as long as the engine and serve all its programs.
|*               Engines of several processes can be one job: then each owns
|*               some of the devices, and programs go over all of them.
|*   program     a compiled model. It has one or more ranks, laid over devices
|*               of the engine when it is run.
|*   buffer      a dense row-major array on one device: the shard of a value
|*               that is cut, the whole of one that is not.
|*   event       something that is going to have happened.
|*
|* Errors are values: functions that can fail return NULL, or an error that the
|* caller destroys. Structs that callers fill begin with their size, so that
|* they can grow: set it to sizeof and the rest to 0 for the defaults. Strings
|* that functions return live as long as the object that they were asked of.
|*
|* All functions may be called by any thread at any time, also for the same
|* object, unless it is being destroyed. A forked child must not use engines of
|* its parent: calls fail there with SHARDC_USAGE.
|*
\*===----------------------------------------------------------------------===*/
#ifndef SHARDC_C_SHARDC_H
#define SHARDC_C_SHARDC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SHARDC_EXPORT __attribute__((visibility("default")))
#else
#define SHARDC_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Rises by one with each function or field that is added. */
#define SHARDC_API_VERSION 8
/** The SHARDC_API_VERSION that the library was built with. */
SHARDC_EXPORT int shardc_api_version(void);
/** "0.1.0" */
SHARDC_EXPORT const char *shardc_version(void);

/* Errors -------------------------------------------------------------------*/

/** What went wrong. The numbers are the exit codes of the tools
 * (docs/Reference/shard-run.md), but for SHARDC_INTERNAL: a tool ends by a
 * signal then. */
enum shardc_status {
  SHARDC_OK = 0,
  SHARDC_REFUSED = 1,  /**< the model is not right, or refused to go on */
  SHARDC_USAGE = 2,    /**< a call with arguments it does not take */
  SHARDC_LOST = 4,     /**< a rank threw, or its process ended */
  SHARDC_WATCHDOG = 5, /**< a rank waited longer than the timeout */
  SHARDC_MISMATCH = 6, /**< ranks reached different collectives */
  SHARDC_IO = 7,       /**< a file could not be read or written */
  SHARDC_ARTIFACT = 8, /**< a program that is damaged or of another version */
  SHARDC_MEMORY = 9,   /**< memory that could not be had */
  SHARDC_INTERNAL =
      70, /**< a fault of the compiler, which the message asks to report */
  SHARDC_UNSUPPORTED = 77 /**< declared unsupported */
};

typedef struct shardc_error shardc_error;
SHARDC_EXPORT void shardc_error_destroy(shardc_error *error);
/** A shardc_status; SHARDC_OK for NULL. */
SHARDC_EXPORT int shardc_error_status(const shardc_error *error);
/** What went wrong and what to do, without a location: "'stablehlo.add' op …".
 * More than one line where there is more to say. */
SHARDC_EXPORT const char *shardc_error_message(const shardc_error *error);
/** The line of the user's source, "model.py:84:11"; "" where none is known. */
SHARDC_EXPORT const char *shardc_error_location(const shardc_error *error);

/* Element types ------------------------------------------------------------*/

/** Codes of element types, those of shardrt/ElementType.h. Types narrower than
 * a byte take one byte an element: i1 as 0 or 1, signed ones sign-extended. */
typedef int32_t shardc_element_type;
/** The code of the type that MLIR spells `name` ("f32", "i1", "complex<f64>",
 * "f8E4M3FN"); 0 if there is none. */
SHARDC_EXPORT shardc_element_type shardc_element_type_named(const char *name);
/** How MLIR spells it; "" for what is no code. */
SHARDC_EXPORT const char *shardc_element_type_name(shardc_element_type type);
/** Bytes of one element in a buffer; 0 for what is no code. */
SHARDC_EXPORT int64_t shardc_element_type_bytes(shardc_element_type type);

/* Options ------------------------------------------------------------------*/

/** An option under the name that it has on the tools' command lines, without
 * dashes: {"mesh", "x=2,y=2"}, {"no-fallback", "true"}. */
typedef struct shardc_option {
  const char *name;
  const char *value;
} shardc_option;

/* Calls of the host --------------------------------------------------------*/

/** A dense row-major array in host memory. */
typedef struct shardc_host_array {
  void *data;
  shardc_element_type element_type;
  int64_t num_dims;
  const int64_t *dims;
  int64_t bytes;
} shardc_host_array;

/** One call that a running program makes: pure_callback of JAX, for instance.
 */
typedef struct shardc_host_call {
  size_t size;
  int64_t rank;
  int64_t index;        /**< of the function, as the program numbers them */
  int ordered;          /**< 1: one of a sequence whose order is kept */
  const char *location; /**< source line, or "" */
  int64_t num_operands;
  const shardc_host_array *operands; /**< not to be changed */
  int64_t num_results;
  const shardc_host_array *results; /**< to be filled */
} shardc_host_call;

/** Does the call. It runs on the thread of a rank, of several ranks at a time
 * where the program asks for that, and must not wait for work of the engine
 * that is behind it on the same device. Returns SHARDC_OK, or a status, and
 * writes why to `message` (NUL-terminated, `message_size` bytes): the execution
 * then fails with both. */
typedef int (*shardc_host_fn)(void *user, const shardc_host_call *call,
                              char *message, size_t message_size);

/* Calls that their author cuts ---------------------------------------------*/

/** How a value is cut over the ranks of a program, in equal blocks. */
typedef struct shardc_tiling {
  int64_t num_dims;
  const int64_t *tiles; /**< into how many blocks each dim is cut */
  int64_t copies;       /**< ranks that have the same block */
  const int64_t *ranks; /**< of each block, row-major: `copies` ranks */
} shardc_tiling;

typedef struct shardc_tiled_value {
  shardc_element_type element_type;
  int64_t num_dims;
  const int64_t *dims; /**< of the whole value */
  shardc_tiling tiling;
} shardc_tiled_value;

/** A call of `CustomSPMDPartitioning` in a program that is being compiled: a
 * function that its author cuts (custom_partitioning of JAX, for instance). */
typedef struct shardc_partition_call {
  size_t size;
  const char *config; /**< the call's `backend_config` */
  size_t config_size;
  int64_t num_ranks;
  int64_t num_operands;
  const shardc_tiled_value *operands; /**< as they come */
  int64_t num_results;
  const shardc_tiled_value *results; /**< as they are asked for */
  /** To be called once: what each rank does, as StableHLO whose @main takes the
   * blocks of the operands and gives those of the results, and the tilings of
   * both. Copies all of it. */
  void (*answer)(const struct shardc_partition_call *call, const void *model,
                 size_t model_bytes, const shardc_tiling *operands,
                 const shardc_tiling *results);
  void *answer_user; /**< of `answer` */
} shardc_partition_call;

/** Cuts the call, on the thread that compiles. Returns SHARDC_OK, or a status,
 * and writes why to `message`, as shardc_host_fn does. */
typedef int (*shardc_partition_fn)(void *user,
                                   const shardc_partition_call *call,
                                   char *message, size_t message_size);

/* Engines ------------------------------------------------------------------*/

typedef struct shardc_engine shardc_engine;

/** A store of words that all processes of a job reach, lent by the caller.
 * Whoever reads it can become one of them: the job's secret is in it. */
typedef struct shardc_key_values {
  size_t size;
  /** Shows `value` under `name`, which nobody has used. Returns 0 if done. */
  int (*put)(void *user, const char *name, const char *value);
  /** Waits until somebody has put `name` and writes it to `value` (NUL-
   * terminated, `value_size` bytes). Returns 0 if done. */
  int (*get)(void *user, const char *name, int64_t timeout_ms, char *value,
             size_t value_size);
  void *user;
} shardc_key_values;

/** A job: processes whose engines share programs. With 0 `processes` the
 * environment says which one this is (variables of torchrun, mpirun or srun,
 * and MASTER_ADDR, MASTER_PORT: docs/Reference/shard-run.md); where it says
 * nothing the engine is alone. */
typedef struct shardc_job_options {
  size_t size;
  int64_t processes;
  int64_t process;  /**< 0 to `processes` - 1 */
  const char *host; /**< an address of process 0; NULL: this host, or, with
                         `key_values`, one that it chooses */
  int64_t port;     /**< at which it listens; not with `key_values` */
  const char *name; /**< identifies the job; may be NULL */
  /** Through which processes find one another; NULL: `host` and `port`, and the
   * secret is where docs/Reference/trust.md says. Not used after the call. */
  const shardc_key_values *key_values;
  /** The longest wait for processes that come late, in milliseconds; 0:
   * 120,000. */
  int64_t timeout_ms;
  /** "shared": memory that processes of one host share; "tcp": sockets; NULL:
   * the first where that can be. The same for all. */
  const char *transport;
} shardc_job_options;

typedef struct shardc_engine_options {
  size_t size;
  int64_t devices;    /**< of this process; 0: one */
  const char *target; /**< "cpu" (NULL), "cuda", "emulated-cuda" */
  /** Threads of each device for parallel loops; 0: the cores this process may
   * use (affinity and cgroup limits) over `devices`, at least 1. */
  int64_t threads;
  /** Longest wait of a rank for another, in milliseconds; 0: 30,000, in a job
   * 600,000; negative: for ever. */
  int64_t timeout_ms;
  shardc_host_fn host; /**< NULL: programs that call the host are refused */
  void *host_user;
  /** A directory for compiled programs that other processes use too; NULL:
   * SHARDC_CACHE_DIR or the user's cache directory; "": none. */
  const char *cache_directory;
  /** The job that this engine is a member of; NULL: none. All its engines have
   * the same target and timeout. Creating one waits for the others. */
  const shardc_job_options *job;
  /** NULL: programs with calls that their author cuts are refused. */
  shardc_partition_fn partition;
  void *partition_user;
} shardc_engine_options;

SHARDC_EXPORT shardc_error *
shardc_engine_create(const shardc_engine_options *options,
                     shardc_engine **engine);
/** Waits for what is under way, then ends the devices. Programs and buffers of
 * it may be destroyed later, and nothing else be done with them. */
SHARDC_EXPORT void shardc_engine_destroy(shardc_engine *engine);
/** Of a member of a job: waits for what is under way and tells the others that
 * this process runs no program with them any more; those that wait for it fail
 * at once. What is of this process goes on. Programs that end for another
 * reason than that all is done call this first of all. */
SHARDC_EXPORT void shardc_engine_leave(shardc_engine *engine);
/** What is being compiled for it now fails as soon as it can, on whatever
 * thread. For a process that is about to end. */
SHARDC_EXPORT void shardc_engine_cancel_compilations(shardc_engine *engine);
/** Of all processes. They are numbered by process. */
SHARDC_EXPORT int64_t shardc_engine_num_devices(const shardc_engine *engine);
/** Devices of this process: this many, from number `first` (may be NULL) on. */
SHARDC_EXPORT int64_t
shardc_engine_num_local_devices(const shardc_engine *engine, int64_t *first);
/** Which process of its job this is, and of how many; 0 and 1 without one. */
SHARDC_EXPORT int64_t shardc_engine_process(const shardc_engine *engine);
SHARDC_EXPORT int64_t shardc_engine_num_processes(const shardc_engine *engine);
/** The process that has `device`; -1: none has. */
SHARDC_EXPORT int64_t shardc_engine_device_process(const shardc_engine *engine,
                                                   int64_t device);

typedef struct shardc_memory_stats {
  size_t size;
  int64_t bytes_in_use;      /**< buffers, arenas and pools of the device */
  int64_t peak_bytes_in_use; /**< the most there ever were */
  int64_t num_allocs;
  int64_t bytes_limit; /**< what there is; 0: not known */
} shardc_memory_stats;
SHARDC_EXPORT shardc_error *shardc_engine_memory_stats(shardc_engine *engine,
                                                       int64_t device,
                                                       shardc_memory_stats *);

/** Something that a device did while a trace was on. */
typedef struct shardc_trace_event {
  size_t size;
  int64_t device;
  int32_t is_exchange;  /**< 0: a run of a program; 1: an exchange in one */
  const char *name;     /**< the program's, or "halo_exchange", … */
  const char *location; /**< the line that needs the exchange; may be "" */
  int64_t begin_ns;     /**< since the epoch */
  int64_t end_ns;       /**< of a run: when the program had returned */
  int64_t wait_ns;      /**< of an exchange: for other ranks */
  int64_t bytes;        /**< of an exchange: that came from other ranks */
} shardc_trace_event;
/** From here on all devices of this process note what they do; SHARDC_USAGE
 * where they do already. */
SHARDC_EXPORT shardc_error *shardc_engine_trace_start(shardc_engine *engine);
/** Ends that, and calls `each` for what was done and is over, in the order in
 * which runs ended; `dropped` (may be NULL) is set to the number of events
 * beyond the four million that are kept. SHARDC_USAGE where nothing was
 * started. */
SHARDC_EXPORT shardc_error *shardc_engine_trace_stop(
    shardc_engine *engine,
    void (*each)(void *user, const shardc_trace_event *event), void *user,
    int64_t *dropped);

/* Programs -----------------------------------------------------------------*/

typedef struct shardc_program shardc_program;

/** Compiles `model`: StableHLO as text, as MLIR bytecode or as a portable
 * artifact (VHLO). Text is read in this process; at bytecode, which may be
 * damaged, another one looks first, unless the option "own" says that this
 * process has written it. `name` stands for it in diagnostics. A program that
 * has fewer ranks than the option "ranks" says is run by as many all the same,
 * each of which computes the whole: what JAX means by a program without a mesh
 * on several devices. */
SHARDC_EXPORT shardc_error *
shardc_compile(shardc_engine *engine, const void *model, size_t model_bytes,
               const char *name, const shardc_option *options,
               size_t num_options, shardc_program **program);
SHARDC_EXPORT void shardc_program_destroy(shardc_program *program);

/** A program that is being compiled on a thread of its own, so that whoever
 * wants it can stop waiting. One thread at a time uses it. */
typedef struct shardc_compilation shardc_compilation;
/** Begins what shardc_compile does. */
SHARDC_EXPORT shardc_error *
shardc_compile_start(shardc_engine *engine, const void *model,
                     size_t model_bytes, const char *name,
                     const shardc_option *options, size_t num_options,
                     shardc_compilation **compilation);
/** Waits for its end, at most as long as said; whether it has ended. */
SHARDC_EXPORT bool shardc_compilation_wait_for(shardc_compilation *compilation,
                                               int64_t timeout_ns);
/** Waits for its end and gives what shardc_compile gives; once. */
SHARDC_EXPORT shardc_error *
shardc_compilation_finish(shardc_compilation *compilation,
                          shardc_program **program);
/** Returns at once. What has not ended leaves out what it can, and is waited
 * for when its engine is destroyed. */
SHARDC_EXPORT void shardc_compilation_destroy(shardc_compilation *compilation);

/** Bytes that the caller frees with shardc_bytes_free. */
typedef struct shardc_bytes {
  char *data;
  size_t size;
} shardc_bytes;
SHARDC_EXPORT void shardc_bytes_free(shardc_bytes *bytes);
/** The program as an artifact, which shard-run takes too. */
SHARDC_EXPORT shardc_error *
shardc_program_serialize(const shardc_program *program, shardc_bytes *artifact);
/** Loads an artifact. Its machine code is used if the user's key signed it, as
 * docs/Reference/artifact.md says; else what it carries is compiled again. */
SHARDC_EXPORT shardc_error *shardc_program_load(shardc_engine *engine,
                                                const void *artifact,
                                                size_t artifact_bytes,
                                                shardc_program **program);

/** Sizes of the shards in which a dim of an argument arrives. */
typedef struct shardc_sizes {
  int64_t argument, dim;
  int64_t num_shards;
  const int64_t *sizes; /**< elements, by coordinate along the dim's axes */
} shardc_sizes;

/** What a program that was compiled with something left open is bound to. */
typedef struct shardc_binding {
  size_t size;
  /** Of dims that the option "dynamic" left open; balanced where none are
   * given. */
  const shardc_sizes *sizes;
  size_t num_sizes;
  /** How many ranks there are along each axis of the mesh, where the option
   * "symbolic-mesh" left some open; NULL: as many as `program` has. */
  const int64_t *mesh;
  size_t num_axes;
} shardc_binding;

/** Binds a program that was compiled with the options "dynamic" ("0:0,2:1", or
 * "all") or "symbolic-mesh" ("x,y"; docs/Concepts/Binding.md): `*bound` is a
 * program like any other, for what `binding` says, and shares its code. Nothing
 * is compiled, no process started and no file read. `program` stays what it is,
 * of balanced sizes. The last 64 bindings of a program are kept, and are found
 * again when they are asked for with the same values in the same order.
 * SHARDC_USAGE, with argument, dim and values: sizes of a dim that was not left
 * open, another number of them than it has shards, or that do not add up; with
 * the axis: another size of one that was not left open; more ranks than the
 * engine has devices. */
SHARDC_EXPORT shardc_error *shardc_program_bind(shardc_program *program,
                                                const shardc_binding *binding,
                                                shardc_program **bound);

/** How one argument or result is cut over the ranks. */
typedef struct shardc_value {
  size_t size;
  const char *name;     /**< as the model's author calls it; may be "" */
  const char *location; /**< may be "" */
  shardc_element_type element_type;
  int64_t num_dims;
  const int64_t *dims; /**< global */
  /** The argument that this result may be written over, or that the program
   * declares to be given up for any result (arguments: 1); -1: none. */
  int64_t donated;
} shardc_value;

SHARDC_EXPORT const char *shardc_program_name(const shardc_program *program);
SHARDC_EXPORT int64_t shardc_program_num_ranks(const shardc_program *program);
SHARDC_EXPORT int64_t
shardc_program_num_arguments(const shardc_program *program);
SHARDC_EXPORT int64_t shardc_program_num_results(const shardc_program *program);
/** True if the program calls functions of the host while it runs. */
SHARDC_EXPORT bool shardc_program_calls_host(const shardc_program *program);
/** Describes argument (result) `index`. */
SHARDC_EXPORT shardc_error *
shardc_program_argument(const shardc_program *program, int64_t index,
                        shardc_value *value);
SHARDC_EXPORT shardc_error *shardc_program_result(const shardc_program *program,
                                                  int64_t index,
                                                  shardc_value *value);
/** The box that `rank` holds of it, in global indices: `num_dims` starts and as
 * many sizes. */
SHARDC_EXPORT shardc_error *
shardc_program_argument_box(const shardc_program *program, int64_t index,
                            int64_t rank, int64_t *starts, int64_t *sizes);
SHARDC_EXPORT shardc_error *
shardc_program_result_box(const shardc_program *program, int64_t index,
                          int64_t rank, int64_t *starts, int64_t *sizes);
/** What the artifact says of itself (docs/Reference/artifact.md): mesh,
 * arguments, results, communication. JSON. */
SHARDC_EXPORT const char *
shardc_program_metadata(const shardc_program *program);
/** The local program as StableHLO text with its communication as collectives:
 * what each rank does. An op's location is the line of the user's text that it
 * came from. Of a loaded artifact the text may be "". */
SHARDC_EXPORT const char *
shardc_program_local_text(const shardc_program *program);
/** What the compiler remarked: one line each, "LOCATION: remark: …". */
SHARDC_EXPORT const char *shardc_program_remarks(const shardc_program *program);

typedef struct shardc_program_costs {
  size_t size;
  double flops;           /**< of all ranks in a step, as estimated */
  double bytes_accessed;  /**< of memory */
  double transcendentals; /**< exp, log, …: evaluations */
  double bytes_moved;     /**< between ranks */
  int64_t code_bytes;
  int64_t argument_bytes, result_bytes, temporary_bytes; /**< of one rank */
} shardc_program_costs;
SHARDC_EXPORT shardc_error *
shardc_program_get_costs(const shardc_program *program,
                         shardc_program_costs *costs);

/* Events -------------------------------------------------------------------*/

typedef struct shardc_event shardc_event;
SHARDC_EXPORT void shardc_event_destroy(shardc_event *event);
SHARDC_EXPORT bool shardc_event_is_ready(const shardc_event *event);
/** Waits. Returns what failed, or NULL. */
SHARDC_EXPORT shardc_error *shardc_event_await(shardc_event *event);
/** Waits at most so long: for callers that have to look at something else now
 * and then, such as signals. True if the event is ready; then
 * shardc_event_await says at once what failed. */
SHARDC_EXPORT bool shardc_event_wait_for(shardc_event *event,
                                         int64_t nanoseconds);
/** Takes what failed (or NULL), which it destroys. */
typedef void (*shardc_event_fn)(shardc_error *error, void *user);
/** Calls `then` once: at once, on this thread, if the event is ready, else on a
 * thread of the engine. The event may be destroyed before that. */
SHARDC_EXPORT void shardc_event_on_ready(shardc_event *event,
                                         shardc_event_fn then, void *user);
/** An event that somebody else sets: a buffer filled from outside. */
SHARDC_EXPORT shardc_error *shardc_event_create(shardc_event **event);
/** Sets it; `error` is taken over. Once. */
SHARDC_EXPORT void shardc_event_set(shardc_event *event, shardc_error *error);
/** Makes an error: for the function above. */
SHARDC_EXPORT shardc_error *shardc_error_create(int status,
                                                const char *message);

/* Buffers ------------------------------------------------------------------*/

/** Counted: each function that gives one out gives one reference. */
typedef struct shardc_buffer shardc_buffer;
SHARDC_EXPORT void shardc_buffer_retain(shardc_buffer *buffer);
SHARDC_EXPORT void shardc_buffer_release(shardc_buffer *buffer);
/** Releases each of them: the shards of an array in one call. NULL is passed
 * over. */
SHARDC_EXPORT void shardc_buffers_release(shardc_buffer *const *buffers,
                                          size_t num_buffers);

enum shardc_host_semantics {
  SHARDC_COPY = 0, /**< `data` is not looked at after the call */
  /** `data` stays as it is until `released` is called. It is used in place
   * where alignment and layout allow, else copied. */
  SHARDC_BORROW = 1
};

typedef struct shardc_host_data {
  size_t size;
  const void *data;
  shardc_element_type element_type;
  int64_t num_dims;
  const int64_t *dims;
  /** Bytes from element to element of each dim; may be negative; NULL: dense
   * and row-major. */
  const int64_t *byte_strides;
  int semantics; /**< a shardc_host_semantics */
  /** With SHARDC_BORROW: called once, by any thread, when `data` is not needed
   * any more; also if the call fails. May be NULL. */
  void (*released)(void *user);
  void *user;
} shardc_host_data;

/** A buffer of `device` with a copy of host memory, or that memory itself. */
SHARDC_EXPORT shardc_error *
shardc_buffer_from_host(shardc_engine *engine, int64_t device,
                        const shardc_host_data *data, shardc_buffer **buffer);
/** A buffer whose contents nobody has written. */
SHARDC_EXPORT shardc_error *
shardc_buffer_create(shardc_engine *engine, int64_t device,
                     shardc_element_type element_type, int64_t num_dims,
                     const int64_t *dims, shardc_buffer **buffer);
/** The same; who uses it waits for `ready`, and fails with its error. */
SHARDC_EXPORT shardc_error *
shardc_buffer_create_later(shardc_engine *engine, int64_t device,
                           shardc_element_type element_type, int64_t num_dims,
                           const int64_t *dims, shardc_event *ready,
                           shardc_buffer **buffer);

SHARDC_EXPORT int64_t shardc_buffer_device(const shardc_buffer *buffer);
SHARDC_EXPORT shardc_element_type
shardc_buffer_element_type(const shardc_buffer *buffer);
SHARDC_EXPORT int64_t shardc_buffer_num_dims(const shardc_buffer *buffer);
SHARDC_EXPORT const int64_t *shardc_buffer_dims(const shardc_buffer *buffer);
SHARDC_EXPORT int64_t shardc_buffer_bytes(const shardc_buffer *buffer);
/** Its memory, 64-byte aligned; of a GPU's buffer an address of the device. To
 * be looked at once it is ready, and while a reference is held and it is not
 * given up. NULL where it was given up. */
SHARDC_EXPORT void *shardc_buffer_data(const shardc_buffer *buffer);
/** Ready when its contents are there; the caller destroys it. */
SHARDC_EXPORT shardc_event *shardc_buffer_ready(const shardc_buffer *buffer);
/** Gives the memory back as soon as nobody who was given the buffer before
 * needs it. Uses afterwards fail with SHARDC_USAGE. */
SHARDC_EXPORT void shardc_buffer_delete(shardc_buffer *buffer);
SHARDC_EXPORT bool shardc_buffer_is_deleted(const shardc_buffer *buffer);
/** While held so, its memory stays, also when it is given up: somebody outside
 * looks into it. Such a buffer is never written over by donation. */
SHARDC_EXPORT void shardc_buffer_pin(shardc_buffer *buffer);
SHARDC_EXPORT void shardc_buffer_unpin(shardc_buffer *buffer);
/** Copies the elements to `data`, laid out as `byte_strides` say (NULL: dense
 * and row-major), once they are there; `done` (may be NULL: then it waits) is
 * the caller's to destroy. */
SHARDC_EXPORT shardc_error *shardc_buffer_to_host(shardc_buffer *buffer,
                                                  void *data,
                                                  const int64_t *byte_strides,
                                                  shardc_event **done);
/** Copies `bytes` bytes from byte `offset` on, unchanged. */
SHARDC_EXPORT shardc_error *
shardc_buffer_bytes_to_host(shardc_buffer *buffer, void *data, int64_t offset,
                            int64_t bytes, shardc_event **done);
/** The same elements on `device`: a copy, or, where devices share memory, the
 * same memory, which then nobody writes over. */
SHARDC_EXPORT shardc_error *shardc_buffer_to_device(shardc_buffer *buffer,
                                                    int64_t device,
                                                    shardc_buffer **copy);

/* Execution ----------------------------------------------------------------*/

typedef struct shardc_execute_options {
  size_t size;
  /** The device of each rank, none twice; NULL: 0, 1, …. */
  const int64_t *devices;
  /** Arguments that are given up, one flag each; NULL: those that the program
   * declares. What is given up is deleted, and its memory used again. */
  const uint8_t *donated;
  shardc_host_fn host; /**< in place of the engine's; NULL: the engine's */
  void *host_user;
  bool omit_done; /**< `done` stays NULL where all is done, without an error,
                       when this returns: nobody has to wait */
} shardc_execute_options;

/** Runs `program` once. In a job it does so on devices of this process, and
 * waits there for the other processes: all that have devices of the program
 * execute it, and what goes over several processes they execute in the same
 * order. `arguments` and `results` of their ranks are not looked at. When such
 * a run fails, or a process ends, the job is over: later ones fail as well, and
 * what is of one process goes on.
 *
 * `arguments[rank][i]` are buffers on that rank's device,
 * of the local shape of argument i; `results[rank][i]` become the caller's.
 * Returns at once, before anything is computed unless that is quick: results
 * are ready later, and so is `done` (may be NULL; see `omit_done`). What is
 * handed over is used in the order of calls. An execution whose arguments
 * failed fails with their error; errors that can be known at once (shapes,
 * types, deleted or foreign buffers) are returned, and name the argument;
 * nothing is given up then. */
SHARDC_EXPORT shardc_error *
shardc_execute(shardc_program *program, const shardc_execute_options *options,
               shardc_buffer *const *const *arguments,
               shardc_buffer **const *results, shardc_event **done);

/** Counts of a program's communication since it was made. */
typedef struct shardc_site_stats {
  size_t size;
  const char *kind, *axes, *name, *location;
  int64_t count;          /**< executions */
  int64_t bytes_received; /**< from other ranks, summed over ranks */
  int64_t total_ns, wait_ns;
} shardc_site_stats;
SHARDC_EXPORT int64_t shardc_program_num_sites(const shardc_program *program);
SHARDC_EXPORT shardc_error *
shardc_program_site_stats(const shardc_program *program, int64_t site,
                          shardc_site_stats *stats);

/** What a rank did in executions of a program of several ranks, since that was
 * made. */
typedef struct shardc_rank_stats {
  size_t size;
  int64_t steps;             /**< executions that went well */
  int64_t total_ns, wait_ns; /**< in them; of these, waiting for other ranks */
} shardc_rank_stats;
/** SHARDC_USAGE where `rank` is none of this process'; zeros before the first
 * execution. */
SHARDC_EXPORT shardc_error *
shardc_program_rank_stats(const shardc_program *program, int64_t rank,
                          shardc_rank_stats *stats);

/* Balance ------------------------------------------------------------------*/

/** Chooses sizes by which all ranks of a program finish together, from what
 * they took with others (docs/Concepts/Balance.md). It knows no clock, binds
 * nothing and moves nothing: those who use it do, and, of several processes,
 * tell it the same. One thread at a time. */
typedef struct shardc_balance shardc_balance;

/** For what `program` leaves open; it begins with the sizes that it is bound
 * to. SHARDC_USAGE where there is nothing to choose: one rank, or no dim that
 * is open and cut. */
SHARDC_EXPORT shardc_error *shardc_balance_create(const shardc_program *program,
                                                  shardc_balance **balance);
SHARDC_EXPORT void shardc_balance_destroy(shardc_balance *balance);
/** Takes how many nanoseconds each rank was at work itself, without waiting for
 * others, in one step with the sizes of now. The first step with new sizes is
 * not counted. `*moved`: other sizes are to be bound before the next step.
 * SHARDC_USAGE: another number of times than ranks, one that is negative or not
 * finite. */
SHARDC_EXPORT shardc_error *shardc_balance_add(shardc_balance *balance,
                                               const double *times_ns,
                                               int64_t num_ranks, bool *moved);
/** The sizes of now cannot be bound: goes back to the fastest that could, for
 * good. */
SHARDC_EXPORT void shardc_balance_refuse(shardc_balance *balance);
/** No step comes after this one: goes to the fastest sizes. `*moved` as above.
 */
SHARDC_EXPORT void shardc_balance_settle(shardc_balance *balance, bool *moved);
/** The sizes of now, of each dim that is open: so many entries, for
 * shardc_program_bind. What an entry points to stays until the balance changes.
 */
SHARDC_EXPORT int64_t shardc_balance_num_sizes(const shardc_balance *balance);
SHARDC_EXPORT shardc_error *shardc_balance_sizes(const shardc_balance *balance,
                                                 int64_t index,
                                                 shardc_sizes *sizes);

typedef struct shardc_balance_state {
  size_t size;
  int64_t moves; /**< how often other sizes were taken */
  bool settled;  /**< nothing is tried any more, unless the work changes */
  bool refused;
  /** The slowest rank's time over the mean of all, with the first sizes and
   * with the fastest; 1 before anything is known. */
  double first_imbalance, imbalance;
} shardc_balance_state;
SHARDC_EXPORT shardc_error *
shardc_balance_get_state(const shardc_balance *balance,
                         shardc_balance_state *state);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* SHARDC_C_SHARDC_H */
