/*===- shardrt.h - C ABI of the runtime ---------------------------*- C -*-===*\
|*
|* Two surfaces: what generated code calls (shardrt_rank … shardrt_fail, listed
|* in EntryPoints.def), and what tools and embedders call to load a program and
|* run it on ranks. Plain C; no exception leaves a function; no state is global,
|* so that several programs and worlds can live in one process.
|*
\*===----------------------------------------------------------------------===*/
#ifndef SHARDRT_SHARDRT_H
#define SHARDRT_SHARDRT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SHARDRT_EXPORT __attribute__((visibility("default")))
#else
#define SHARDRT_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Status -------------------------------------------------------------------*/

/** The status of a call. The numbers are the exit codes of the tools. */
enum shardrt_status {
  SHARDRT_OK = 0,
  SHARDRT_REFUSED = 1,  /**< the program refused to go on */
  SHARDRT_USAGE = 2,    /**< a call with arguments it does not take */
  SHARDRT_LOST = 4,     /**< a rank threw or ended */
  SHARDRT_WATCHDOG = 5, /**< a rank waited longer than the timeout */
  SHARDRT_MISMATCH = 6, /**< ranks reached different collectives */
  SHARDRT_IO = 7,       /**< a file could not be read */
  SHARDRT_ARTIFACT =
      8,              /**< an artifact that is damaged or of another version */
  SHARDRT_MEMORY = 9, /**< memory that could not be had */
  SHARDRT_UNSUPPORTED = 77 /**< declared unsupported */
};

/** One rank, as its code sees it. Valid within shardc_main alone. */
typedef struct shardrt_context shardrt_context;

/* What generated code calls --------------------------------------------------
 * Each is called by the thread that runs the rank. Functions that return int
 * return SHARDRT_OK or a status; the caller then returns it from shardc_main at
 * once: the message is kept, and all other ranks leave as well. All ranks of a
 * program call the same sites in the same order. */

/** This rank's number, from 0; row-major over the mesh axes. */
SHARDRT_EXPORT int64_t shardrt_rank(shardrt_context *ctx);
/** The number of ranks: the product of the mesh axes' sizes. */
SHARDRT_EXPORT int64_t shardrt_num_ranks(shardrt_context *ctx);
/** What the binding of the program says for this rank: entry `index` of the
 * table of lookups. */
SHARDRT_EXPORT int64_t shardrt_number(shardrt_context *ctx, int64_t index);

/** This rank's arena of at least `bytes` bytes, 64-byte aligned, its pages
 * touched. There is one arena a rank: it is kept from step to step, and a
 * larger request replaces it (addresses handed out before are then void). NULL
 * if it cannot be had: return SHARDRT_MEMORY then; the message is kept. */
SHARDRT_EXPORT void *shardrt_arena(shardrt_context *ctx, int64_t bytes);
/** A buffer of `bytes` bytes from this rank's pool, 64-byte aligned, contents
 * undefined. Freed buffers are kept and handed out again. Whatever is not freed
 * when shardc_main returns goes back to the pool. NULL as for the arena.
 * `origin` is what it is made for, "sort at model.py:12", or ""; it lives as
 * long as the program. */
SHARDRT_EXPORT void *shardrt_alloc(shardrt_context *ctx, int64_t bytes,
                                   const char *origin);
/** Gives a buffer of shardrt_alloc back; NULL is let pass. */
SHARDRT_EXPORT void shardrt_free(shardrt_context *ctx, void *buffer);

/** Moves boxes between ranks: halo exchange, rebalance, all-gather, all-to-all
 * and shift alike.
 *
 * `src` is this rank's owned box and `dst` its needed box: dense, row-major, of
 * the site's element type; dims that the site does not list are whole. They
 * must not overlap; either may be NULL where it has no elements. What `dst`
 * needs outside the domain becomes `*fill` (one element), or zero if `fill` is
 * NULL. Returns when `dst` is complete and nobody reads `src` any more. */
SHARDRT_EXPORT int shardrt_exchange(shardrt_context *ctx, int64_t site,
                                    const void *src, void *dst,
                                    const void *fill);
/** Where a reader may find what an exchange receives: `src`
 * where this rank needs what it owns, for which shardrt_exchange and
 * shardrt_exchange_wait take `src` as their `dst` and copy nothing; else `dst`.
 * The same in every step of a world. */
SHARDRT_EXPORT void *shardrt_exchange_place(shardrt_context *ctx, int64_t site,
                                            const void *src, void *dst);
/** First half of shardrt_exchange: shows `src` to the other ranks and returns
 * at once. `src` must not change before the wait. Returns a token above 0, to
 * be waited for once; 0 after an error, which the wait then returns. At most 8
 * exchanges may be under way on a rank; starts and waits take their place in
 * the order of sites that all ranks keep. */
SHARDRT_EXPORT int64_t shardrt_exchange_start(shardrt_context *ctx,
                                              int64_t site, const void *src);
/** Second half: fills `dst` and returns when `src` may change. */
SHARDRT_EXPORT int shardrt_exchange_wait(shardrt_context *ctx, int64_t token,
                                         void *dst, const void *fill);

/** Of a site that says `releasedLater`, the calls above return when `dst` is
 * complete, though others may be reading `src` still; this one returns when it
 * may change. Of any other site, and of one that has shown nothing since, it
 * returns at once. At most 6 exchanges are left so; one more waits for the
 * oldest. All ranks release the same sites at the same place. */
SHARDRT_EXPORT int shardrt_exchange_release(shardrt_context *ctx, int64_t site);

/** Combines `count` elements of all ranks that differ from this one along the
 * site's group axes only, in ascending order of ranks: same bits on every rank
 * and in every run. f16 and bf16 are combined in f32 and rounded once; min and
 * max yield NaN if there is one. `src` and `dst` are the same buffer or do not
 * overlap. Every rank of a group gives the same count. */
SHARDRT_EXPORT int shardrt_all_reduce(shardrt_context *ctx, int64_t site,
                                      const void *src, void *dst,
                                      int64_t count);
/** As shardrt_exchange, but each element is combined over the ranks of the
 * site's group, which own the same box: partial values in, this rank's needed
 * box of the whole out. */
SHARDRT_EXPORT int shardrt_reduce_scatter(shardrt_context *ctx, int64_t site,
                                          const void *src, void *dst);

/** Works out whose rows the site's `indices` (this rank's block of them) name,
 * and tells the ranks concerned. Returns a plan above 0, which holds until the
 * site is carried out again or the world ends; 0 after an error, which whoever
 * uses the plan then returns. */
SHARDRT_EXPORT int64_t shardrt_plan_rows(shardrt_context *ctx, int64_t site,
                                         const void *indices);
/** Copies the rows that the plan's indices name, clamped as StableHLO does, out
 * of the ranks' blocks `src` into `dst`. A block is dense: outer dims, the
 * addressed dims, inner dims; `dst` has one row for each index vector (and each
 * part of its slice) where `src` has the addressed dims. Buffers as for
 * shardrt_exchange. */
SHARDRT_EXPORT int shardrt_gather_rows(shardrt_context *ctx, int64_t site,
                                       int64_t plan, const void *src,
                                       void *dst);
/** Combines rows of all ranks' `updates` into the block `dst` of the rank that
 * owns them, by the site's reduction (none: the last update stays), in
 * ascending order of the number of the update in the whole tensor: the same
 * bits on any mesh. Rows outside the tensor are left out. */
SHARDRT_EXPORT int shardrt_scatter_rows(shardrt_context *ctx, int64_t site,
                                        int64_t plan, const void *updates,
                                        void *dst);

/* Programs with kernels run on a device (docs/Rationale/GPU.md). For them every
 * buffer above, and what arena and alloc give, is memory of the rank's device.
 */

/** The device's copy of the argument at `host`, uploaded before the first step
 * of a run. NULL if it cannot be had; the step has failed then. Arguments and
 * results are asked for in the same order in every step. */
SHARDRT_EXPORT void *shardrt_stage_input(shardrt_context *ctx, const void *host,
                                         int64_t bytes);
/** The device's buffer for the result that is to come to `host`. */
SHARDRT_EXPORT void *shardrt_stage_output(shardrt_context *ctx, void *host,
                                          int64_t bytes);
/** Ends a step whose status is `status`: waits for its kernels and, after the
 * last step of a run, downloads results. Returns `status`, or what failed now.
 */
SHARDRT_EXPORT int shardrt_stage_results(shardrt_context *ctx, int status);
/** The device's copy of a constant of the artifact, made once. NULL as above.
 */
SHARDRT_EXPORT void *shardrt_constant(shardrt_context *ctx, const void *host,
                                      int64_t bytes);
/** Starts kernel number `kernel` on a grid of blocks (nothing, where one of
 * them is 0), with `count` arguments of 8 bytes, which are copied. */
SHARDRT_EXPORT int shardrt_launch(shardrt_context *ctx, int64_t kernel,
                                  int64_t grid_x, int64_t grid_y,
                                  int64_t grid_z, const void *arguments,
                                  int64_t count);
/** Waits for the work before and copies `bytes` bytes to the host. */
SHARDRT_EXPORT int shardrt_read(shardrt_context *ctx, const void *device,
                                void *host, int64_t bytes);

/** Lets a library of the device's vendor do what `words` describe
 * (LibraryCall.h), in the order of the device's work. The first word is 1
 * afterwards where it has done it, 0 where it is not there or does not take
 * such operands; the former fails the step with SHARDRT_UNSUPPORTED where that
 * word was 1. `location` is the op's source line, or "". */
SHARDRT_EXPORT int shardrt_call_library(shardrt_context *ctx, int64_t *words,
                                        const char *location);

/** Calls a function of the process that runs the program (shardrt_host_fn),
 * which fills the results. `words`: whether this rank calls (else nothing
 * happens), the function's index, 1 if the call is ordered, the number of
 * operands, of results; then for each buffer its address, code of element type
 * (ElementType.h), number of dims, and dims. `location` is the call's source
 * line, or "". Where the world has no such function, calls without results do
 * nothing, and others fail the step with SHARDRT_UNSUPPORTED. */
SHARDRT_EXPORT int shardrt_call_host(shardrt_context *ctx, const int64_t *words,
                                     const char *location);

/** One part of a loop whose iterations are independent. */
typedef void (*shardrt_part_fn)(const void *env, int64_t part);
/** Calls part(env, 0) ... part(env, parts - 1), each once and at the same time,
 * on this rank's threads: the calling one and others, which are started when
 * they are first needed and kept. One after another where the system gives
 * none. */
SHARDRT_EXPORT void shardrt_share(shardrt_context *ctx, shardrt_part_fn part,
                                  const void *env, int64_t parts);

/** What a program compiled for traces says before each kernel: its number among
 * shardc_traced_kernels; */
SHARDRT_EXPORT void shardrt_mark(shardrt_context *ctx, int64_t kernel);
/** and behind it: the bytes of the buffers that it read and wrote, each once,
 * and its operations on floats; -1 where that is not known. */
SHARDRT_EXPORT void shardrt_mark_end(shardrt_context *ctx, int64_t bytes,
                                     int64_t operations);

/** Makes this rank and, through it, the whole step fail with `code` (not 0) and
 * `message` (copied; NULL for none). Returns `code`. */
SHARDRT_EXPORT int shardrt_fail(shardrt_context *ctx, int code,
                                const char *message);

/* Programs -----------------------------------------------------------------*/

/** One step of one rank, as an artifact exports it (shardc_main): addresses of
 * its inputs and outputs, dense row-major local buffers, 64-byte aligned.
 * Returns 0 or a status. */
typedef int (*shardrt_main_fn)(shardrt_context *ctx, void *const *inputs,
                               void *const *outputs);

/** A loaded program. May be run by several worlds. */
typedef struct shardrt_program shardrt_program;

/** Loads an artifact: reads the file at `path` once, compares the digests of
 * all its parts, and maps what it read if the user's key signed it (SHARDC_KEY,
 * or $XDG_CONFIG_HOME/shardc/key: docs/Reference/artifact.md). Then reads
 * symbols and checks the site table. Returns SHARDRT_OK and sets `*program`;
 * else SHARDRT_IO or SHARDRT_ARTIFACT, and writes why to `error`
 * (NUL-terminated, cut to `error_size`; may be NULL). */
SHARDRT_EXPORT int shardrt_program_load(const char *path,
                                        shardrt_program **program, char *error,
                                        size_t error_size);
/** The same whoever signed it: its code is trusted. Digests are compared. */
SHARDRT_EXPORT int shardrt_program_load_trusted(const char *path,
                                                shardrt_program **program,
                                                char *error, size_t error_size);
/** The same for an open file that the caller has made or checked, and that
 * nobody can write to: nothing is compared. The descriptor stays the caller's;
 * `name` is for messages. */
SHARDRT_EXPORT int shardrt_program_load_checked(const char *name,
                                                int descriptor,
                                                shardrt_program **program,
                                                char *error, size_t error_size);
/** A program that is in memory already (a JIT, a test). Sites and strings are
 * read during the call; `metadata` is copied and may be NULL. Errors as above.
 */
SHARDRT_EXPORT int shardrt_program_create(
    shardrt_main_fn main, const int64_t *sites, int64_t sites_length,
    const char *strings, int64_t strings_length, const char *metadata,
    shardrt_program **program, char *error, size_t error_size);
/** Sizes of the shards in which a dim of an argument arrives. */
typedef struct shardrt_given {
  int64_t argument, dim;
  int64_t shards;       /**< how many sizes there are */
  const int64_t *sizes; /**< elements, by coordinate along the dim's axes */
} shardrt_given;
/** Binds a program that was compiled with sizes left open (--dynamic) to sizes:
 * `*bound` is a program like any other, for these. Dims that are not given have
 * balanced sizes. Compiles nothing, reads no file, and leaves `program` as it
 * is; both share its code. SHARDRT_USAGE, and why in `error`: a dim whose sizes
 * are not open, as many sizes as it has not shards, sizes that do not add up.
 */
SHARDRT_EXPORT int shardrt_program_bind(const shardrt_program *program,
                                        const shardrt_given *given,
                                        int64_t count, shardrt_program **bound,
                                        char *error, size_t error_size);
/** The same for another number of ranks: `mesh` has the size of each axis of
 * the mesh, and only those that were left open (--symbolic-mesh) may be others
 * than those of `program`. SHARDRT_USAGE too: another number of axes, a size
 * below 1, more ranks than there can be.
 */
SHARDRT_EXPORT int
shardrt_program_bind_mesh(const shardrt_program *program, const int64_t *mesh,
                          int64_t num_axes, const shardrt_given *given,
                          int64_t count, shardrt_program **bound, char *error,
                          size_t error_size);
/** Worlds keep what they use: a program may go before them. */
SHARDRT_EXPORT void shardrt_program_destroy(shardrt_program *program);

/** The artifact's JSON metadata, or "". Valid as long as the program. */
SHARDRT_EXPORT const char *
shardrt_program_metadata(const shardrt_program *program);
/** The number of ranks its mesh has. */
SHARDRT_EXPORT int64_t
shardrt_program_num_ranks(const shardrt_program *program);
SHARDRT_EXPORT int64_t
shardrt_program_num_mesh_axes(const shardrt_program *program);
/** Size and name of a mesh axis; 0 and "" where there is none. */
SHARDRT_EXPORT int64_t
shardrt_program_mesh_axis_size(const shardrt_program *program, int64_t axis);
/** 1 if its size may be another: shardrt_program_bind_mesh. */
SHARDRT_EXPORT int
shardrt_program_mesh_axis_is_open(const shardrt_program *program, int64_t axis);
SHARDRT_EXPORT const char *
shardrt_program_mesh_axis_name(const shardrt_program *program, int64_t axis);
/** The number of its communication sites. */
SHARDRT_EXPORT int64_t
shardrt_program_num_sites(const shardrt_program *program);

/** What a site is. Strings are valid as long as the program and never NULL. */
typedef struct shardrt_site_info {
  const char *kind;         /**< "halo_exchange", …, "reduce_scatter" */
  const char *axes;         /**< names of the mesh axes it goes along: "x,y" */
  const char *element_type; /**< "f32" */
  const char *reduction;    /**< "sum", or "none" */
  const char *name;         /**< the value or op that needs it; may be "" */
  const char *location;     /**< source location; may be "" */
} shardrt_site_info;

/** Describes site number `site`; SHARDRT_USAGE if there is none. */
SHARDRT_EXPORT int shardrt_program_site_info(const shardrt_program *program,
                                             int64_t site,
                                             shardrt_site_info *info);

/** The number of kernels that a trace can name: those of a program for devices,
 * and of one that was compiled for traces. */
SHARDRT_EXPORT int64_t
shardrt_program_num_kernels(const shardrt_program *program);
/** Name and source location ("" where not known) of kernel number `kernel`;
 * SHARDRT_USAGE if there is none. Valid as long as the program. */
SHARDRT_EXPORT int shardrt_program_kernel_info(const shardrt_program *program,
                                               int64_t kernel,
                                               const char **name,
                                               const char **location);

/* Jobs: processes that run a program together ------------------------------*/

/** This process as one of several, each of which runs one rank of a program.
 * Processes exchange what they must know through a store over TCP that
 * the one of rank 0 keeps. */
typedef struct shardrt_job shardrt_job;

/** A store of words that all processes of a job reach, lent by the caller.
 * Whoever reads it can become a rank of the job: it has the job's secret. */
typedef struct shardrt_key_values {
  size_t size;
  /** Shows `value` under `name`, which nobody has used. Returns 0 if done. */
  int (*put)(void *user, const char *name, const char *value);
  /** Waits until somebody has put `name` and writes it to `value` (NUL-
   * terminated, `value_size` bytes). Returns 0 if done. */
  int (*get)(void *user, const char *name, int64_t timeout_ms, char *value,
             size_t value_size);
  void *user;
} shardrt_key_values;

/** Set `size` to sizeof(shardrt_job_options) and the rest to 0 for what the
 * environment says: variables of shard-run --processes, torchrun, mpirun or
 * srun, and MASTER_ADDR, MASTER_PORT, SHARDRT_JOB_TOKEN. */
typedef struct shardrt_job_options {
  size_t size;
  int64_t timeout_ms; /**< longest wait for processes that come late, in
                           milliseconds; 0: 120,000 */
  int64_t rank;       /**< of this process; not read where `ranks` is 0 */
  int64_t ranks;      /**< 0: the environment says */
  const char *host;   /**< where rank 0 is; NULL: this host */
  int64_t port;       /**< where it listens */
  const char *token;  /**< what processes of this job have in common */
  /** 0: one rank a process, and each world connects its processes. Else this
   * process has this many ranks, and `rank` and `ranks` count processes; worlds
   * of it name a crew and are made and run in any number, on any of the job's
   * ranks, as long as those that go over several processes are run in the same
   * order by all of these. */
  int64_t local_ranks;
  /** Through which processes find one another, and agree on a secret, in place
   * of `port`; with `local_ranks` alone. NULL: none. `host` NULL is an address
   * of the first process' choice then. */
  const shardrt_key_values *key_values;
  int wire; /**< with `local_ranks`: a shardrt_wire for all worlds */
} shardrt_job_options;

/** Joins the job. SHARDRT_OK and `*job` NULL where the environment knows of no
 * job: ranks are threads then. Errors: SHARDRT_USAGE (variables that contradict
 * one another), SHARDRT_LOST (rank 0 did not come, or refuses this process). */
SHARDRT_EXPORT int shardrt_job_join(const shardrt_job_options *options,
                                    shardrt_job **job, char *error,
                                    size_t error_size);
/** After all worlds of the job are destroyed, or, with `local_ranks`, its crew;
 * says goodbye to the others, which notice when they wait for this process.
 * NULL is let pass. */
SHARDRT_EXPORT void shardrt_job_leave(shardrt_job *job);
SHARDRT_EXPORT int64_t shardrt_job_rank(const shardrt_job *job);
SHARDRT_EXPORT int64_t shardrt_job_size(const shardrt_job *job);
/** With `local_ranks`: how many of its ranks, from shardrt_job_rank on, are of
 * this process; how many processes there are, and which of them has `rank`
 * (-1: none). Else as many processes as ranks. */
SHARDRT_EXPORT int64_t shardrt_job_local_ranks(const shardrt_job *job);
SHARDRT_EXPORT int64_t shardrt_job_num_processes(const shardrt_job *job);
SHARDRT_EXPORT int64_t shardrt_job_process_of(const shardrt_job *job,
                                              int64_t rank);
/** 1 where all its processes are known to be of one host. */
SHARDRT_EXPORT int shardrt_job_is_one_host(const shardrt_job *job);
/** Who started it: "torchrun", …; "" for options that said all. */
SHARDRT_EXPORT const char *shardrt_job_launcher(const shardrt_job *job);
/** What the environment says, without joining: this process' rank, how many
 * there are, and who started them; 0, 1 and "" where it knows of no job. */
SHARDRT_EXPORT int shardrt_job_look(int64_t *rank, int64_t *ranks,
                                    char *launcher, size_t launcher_size);
/** Shows `bytes` bytes at `data` to all processes of the job, under a name that
 * none has used. What they must have before they run; the process of rank 0
 * keeps it. */
SHARDRT_EXPORT int shardrt_job_put(shardrt_job *job, const char *name,
                                   const void *data, int64_t bytes, char *error,
                                   size_t error_size);
/** Waits until one has put `name`, for `timeout_ms` at most (0: as the job),
 * and copies it: `*data` is the caller's, for free(). Errors: SHARDRT_LOST. */
SHARDRT_EXPORT int shardrt_job_get(shardrt_job *job, const char *name,
                                   int64_t timeout_ms, void **data,
                                   int64_t *bytes, char *error,
                                   size_t error_size);

/* Crews: threads of ranks that worlds share --------------------------------*/

/** Threads that run the ranks of many worlds: place i is one thread, with an
 * arena, a pool of buffers and helper threads that all worlds use there. A
 * place does one thing at a time, in the order in which it was asked to; what
 * is asked of several places at once comes in the same order on all of them.
 * Functions may be called by any thread at any time. A forked child has none of
 * these threads: there calls return SHARDRT_USAGE, and destroying leaves
 * everything as it is. */
typedef struct shardrt_crew shardrt_crew;

/** Set `size` to sizeof(shardrt_crew_options) and the rest to 0 for the
 * defaults. */
typedef struct shardrt_crew_options {
  size_t size;
  int pin; /**< 1: bind place i to the i-th core this process may use */
  /** The most threads of each place for parallel loops (shardrt_share), its own
   * among them; 0: as many as a program asks for. */
  int64_t threads;
  /** A job with `local_ranks`, as many as there are places: what programs of
   * place i have in their memory is then seen by the job's other ranks of this
   * host, and its processes are connected at once. The crew ends before the
   * job. NULL: none. */
  shardrt_job *job;
  int64_t timeout_ms; /**< of the job's worlds: as shardrt_world_options has it,
                           which is not looked at there */
} shardrt_crew_options;

/** Starts a thread for each of `places` places. `options` may be NULL. Errors:
 * SHARDRT_USAGE, SHARDRT_MEMORY (threads that could not be started). */
SHARDRT_EXPORT int shardrt_crew_create(int64_t places,
                                       const shardrt_crew_options *options,
                                       shardrt_crew **crew, char *error,
                                       size_t error_size);
/** Waits for what is under way, then ends the threads and frees what they hold;
 * a place that never comes back is left behind. Not from a thread of the crew.
 * Its worlds may be destroyed before or after; nothing else is done with them
 * after (SHARDRT_USAGE). NULL is let pass. */
SHARDRT_EXPORT void shardrt_crew_destroy(shardrt_crew *crew);
SHARDRT_EXPORT int64_t shardrt_crew_num_places(const shardrt_crew *crew);

/** Something for a place to do. `status` is SHARDRT_OK; or SHARDRT_LOST, on
 * another thread, where the place will not come to it any more. */
typedef void (*shardrt_call_fn)(void *user, int status);
/** Has place `place` call `fn` once, behind all that it was asked to do before.
 * Returns at once. An error (as of shardrt_world_start) means that it will not
 * be called. */
SHARDRT_EXPORT int shardrt_crew_call(shardrt_crew *crew, int64_t place,
                                     shardrt_call_fn fn, void *user);
/** 1 if the place has nothing to do; 0 if it has, or if there is no such place.
 */
SHARDRT_EXPORT int shardrt_crew_is_idle(const shardrt_crew *crew,
                                        int64_t place);
/** Bytes that arena and pool of a place hold now, and the most there ever were
 * (either may be NULL). Worlds of devices have theirs beside that. */
SHARDRT_EXPORT int shardrt_crew_memory(const shardrt_crew *crew, int64_t place,
                                       int64_t *bytes, int64_t *peak);

/** The cores that this process may use, by its affinity and its control groups'
 * limits (cpu.max), rounded up; at least 1. */
SHARDRT_EXPORT int64_t shardrt_num_cores(void);

/* Worlds: the ranks that run a program -------------------------------------*/

/** How processes of a job reach one another. */
enum shardrt_wire {
  SHARDRT_WIRE_AUTO = 0,   /**< SHARED where all are of one host, else TCP */
  SHARDRT_WIRE_SHARED = 1, /**< memory that they share */
  SHARDRT_WIRE_TCP = 2,    /**< sockets */
  SHARDRT_WIRE_MPI = 3     /**< messages of the MPI library that started them */
};

/** How the buffers of a program with kernels go from rank to rank. Without
 * kernels ranks share memory, and it is AUTO or HOST. */
enum shardrt_transport {
  /** Ranks of one process: DIRECT where devices can. Processes: NCCL where each
   * has a device of its own and can open the same NCCL. Else HOST. */
  SHARDRT_TRANSPORT_AUTO = 0,
  SHARDRT_TRANSPORT_HOST = 1, /**< through host memory */
  SHARDRT_TRANSPORT_DIRECT =
      2,                     /**< out of one device's memory into another's */
  SHARDRT_TRANSPORT_NCCL = 3 /**< over NCCL, opened at run time */
};

/** A dense row-major array in host memory. */
typedef struct shardrt_host_buffer {
  void *data;
  const char *element_type; /**< "f32" */
  int64_t num_dims;
  const int64_t *dims;
  int64_t bytes;
} shardrt_host_buffer;

/** One call of the program's: `pure_callback` of JAX, for instance. */
typedef struct shardrt_host_call {
  int64_t rank;
  int64_t index;        /**< of the function, as the program numbers them */
  int ordered;          /**< 1: one of a sequence whose order is kept */
  const char *location; /**< source line, or "" */
  int64_t num_operands;
  const shardrt_host_buffer *operands; /**< not to be changed */
  int64_t num_results;
  const shardrt_host_buffer *results; /**< to be filled */
  void *run; /**< the `user` of the shardrt_world_start that runs it; or NULL */
} shardrt_host_call;

/** What the process offers to its programs. Called by the thread of a rank, by
 * those of several at a time where shard_map made the calls; other ranks wait
 * for as long as it takes. Returns 0, or a status, and writes why to `message`
 * (NUL-terminated, within `message_size` bytes): the step then fails on all
 * ranks. */
typedef int (*shardrt_host_fn)(void *user, const shardrt_host_call *call,
                               char *message, size_t message_size);

/** Set `size` to sizeof(shardrt_world_options) and the rest to 0 for the
 * defaults. */
typedef struct shardrt_world_options {
  size_t size;
  /** Longest wait in a collective before the watchdog ends the step, in
   * milliseconds; 0: 30,000 (none where there is a `host`); negative: no
   * watchdog. */
  int64_t timeout_ms;
  /** After a failure, how long to wait for ranks that do not come back, in
   * milliseconds; 0: 1,000; negative: for ever. */
  int64_t grace_ms;
  int pin;       /**< 1: bind rank i to the i-th core this process may use */
  int unchecked; /**< 1: do not compare collectives between ranks */
  /** Not 0: yield the core at random places, for tests of the transport. */
  uint64_t yield_seed;
  /** For the emulated device: the order in which threads go on after a barrier:
   * 0 round robin, 1 each warp as far as it can, 2 random, from the seed below.
   */
  int kernel_schedule;
  uint64_t kernel_seed;
  int transport; /**< a shardrt_transport */
  int no_graphs; /**< 1: never replay a step's work from a recording */
  /** NULL: all ranks are threads of this process. Else this process runs one
   * rank of the program and the others of the job run the others: each makes
   * the same worlds, in the same order, and runs them as often. Buffers of
   * other ranks are not looked at. After a failure no world of the job runs
   * again. */
  shardrt_job *job;
  int wire;             /**< a shardrt_wire */
  int trace;            /**< 1: note what ranks do, for shardrt_world_trace */
  shardrt_host_fn host; /**< what calls of the host are made of; NULL: none */
  void *host_user;      /**< passed to it */
  /** 1: elements are combined in the order of their ranks, over NCCL as well,
   * which adds in an order of its own where it may: the same bits as elsewhere.
   */
  int deterministic;
  /** Whose threads run the ranks; NULL: threads of this world's own. `pin` is
   * the crew's then. */
  shardrt_crew *crew;
  /** The crew's place of each rank (of a job: of this process' rank alone),
   * none twice; NULL: 0, 1, …. */
  const int64_t *places;
  /** Of a job with `local_ranks`: the job's rank of each rank, none twice, one
   * of this process among them; NULL: 0, 1, …. `places` are those of this
   * process' ranks alone, in ascending order of ranks. */
  const int64_t *job_ranks;
  /** … and what identifies this program, for all processes alike. */
  uint64_t program_digest;
  /** Where arguments and results of each rank lie (Devices.h): nothing is
   * copied from the host or to it, and each rank runs on the device of its
   * memory. NULL: all lie in host memory. They outlive the world. Of ranks of
   * one process. */
  struct shardrt_memory *const *memories;
  int64_t num_inputs;  /**< with `memories`: arguments of the program, */
  int64_t num_outputs; /**< and its results */
} shardrt_world_options;

/** N ranks in this process, one thread each, that share memory. */
typedef struct shardrt_world shardrt_world;

/** Makes one rank for each place of the program's mesh. `options` may be NULL.
 * Errors: SHARDRT_USAGE, SHARDRT_MEMORY (threads that could not be started). */
SHARDRT_EXPORT int shardrt_world_create(const shardrt_program *program,
                                        const shardrt_world_options *options,
                                        shardrt_world **world, char *error,
                                        size_t error_size);
/** Ends the ranks and frees what they hold. A rank that never came back from
 * its program is left behind: its memory and the program's code stay. With a
 * crew it returns at once, and what was started goes on to its end: code of
 * shardrt_program_create must stay until then. */
SHARDRT_EXPORT void shardrt_world_destroy(shardrt_world *world);

/** Runs one step: shardc_main once on every rank, at the same time.
 * `inputs[rank]` and `outputs[rank]` are handed to it as they are. Returns when
 * all ranks are done. After a failure it returns the status that the failing
 * rank gave; buffers hold anything then. The world can be run again, unless a
 * rank stayed behind (SHARDRT_LOST as long as it does; that rank may still
 * touch its buffers). One such run at a time: shardrt_world_start for several.
 */
SHARDRT_EXPORT int shardrt_world_run(shardrt_world *world,
                                     void *const *const *inputs,
                                     void *const *const *outputs);
/** The same `repeat` times over on the same buffers, with a barrier after each
 * step. `milliseconds` (NULL, or `repeat` entries) receives the time of each.
 */
SHARDRT_EXPORT int shardrt_world_run_repeated(shardrt_world *world,
                                              void *const *const *inputs,
                                              void *const *const *outputs,
                                              int64_t repeat,
                                              double *milliseconds);

/** The result of a run. `error` is as of shardrt_world_error, and gone after
 * the call. */
typedef void (*shardrt_done_fn)(void *user, int status, const char *error);
/** Begins a step and returns at once. `done` (NULL: nobody) is called once,
 * when no rank is at it any more, by a thread of ranks, which does nothing else
 * meanwhile: it may start other runs, and must not wait for any. `inputs` and
 * `outputs`, with the arrays that they point to, stay until then. Any number of
 * runs, of one world and of several, may be under way; a run whose program
 * calls the host has `user` in shardrt_host_call. A run that fails leaves the
 * others alone. A rank that never comes back, though, fails its run and
 * everything that comes later, with SHARDRT_LOST. Returns SHARDRT_OK; or, and
 * then `done` is not called, SHARDRT_USAGE (the crew is gone, or is of the
 * process that this one was forked from), SHARDRT_LOST, SHARDRT_MEMORY. */
SHARDRT_EXPORT int shardrt_world_start(shardrt_world *world,
                                       void *const *const *inputs,
                                       void *const *const *outputs,
                                       shardrt_done_fn done, void *user);

/** What shardrt_world_run_here returns when it has done nothing. */
#define SHARDRT_BUSY (-1)
/** Runs a step of a world of the host on the calling thread, rank by rank, if
 * its ranks' places have nothing to do: it takes the places' turns, and wakes
 * nobody. The world is of one rank, or of a program without sites that calls no
 * host. Returns as shardrt_world_start and shardrt_world_run do; or
 * SHARDRT_BUSY where a place is at work, or the world is not such a one. What
 * failed is written to `error`. `user` is for calls of the host. */
SHARDRT_EXPORT int shardrt_world_run_here(shardrt_world *world,
                                          void *const *const *inputs,
                                          void *const *const *outputs,
                                          void *user, char *error,
                                          size_t error_size);

/** What each rank does in shardrt_world_call. It may fail with shardrt_fail. */
typedef int (*shardrt_task_fn)(shardrt_context *ctx, void *user);
/** Between runs: calls `task` on each rank, as a step calls the program; in a
 * job all processes do so. Returns as shardrt_world_run. */
SHARDRT_EXPORT int shardrt_world_call(shardrt_world *world,
                                      shardrt_task_fn task, void *user);
/** Takes what rank `source` shows; its size is for both to know. */
typedef void (*shardrt_take_fn)(void *user, int64_t source, const void *data);
/** In such a task: shows `bytes` bytes at `mine` to the ranks `readers`, and
 * calls `take` with what each of the ranks `sources` shows at the same time.
 * All ranks call it, none names itself, and readers and sources agree. */
SHARDRT_EXPORT int shardrt_show(shardrt_context *ctx, const void *mine,
                                int64_t bytes, const int64_t *readers,
                                int64_t num_readers, const int64_t *sources,
                                int64_t num_sources, shardrt_take_fn take,
                                void *user);

/** In a job, between runs: gathers `bytes` bytes at `mine` of each process at
 * the one of rank `root`: those of rank i to `parts[i]`, of `part_bytes[i]`
 * bytes (there alone; else NULL). All processes call it. */
SHARDRT_EXPORT int shardrt_world_gather(shardrt_world *world, int64_t root,
                                        const void *mine, int64_t bytes,
                                        void *const *parts,
                                        const int64_t *part_bytes);

/** What failed in the last run, one line for each thing to say; "" after a good
 * run. Valid until the next run. */
SHARDRT_EXPORT const char *shardrt_world_error(const shardrt_world *world);
/** What rank `rank` says about it. Valid until the next run. */
SHARDRT_EXPORT const char *shardrt_world_rank_error(const shardrt_world *world,
                                                    int64_t rank);

/** What a site did since the world began or the statistics were reset. */
typedef struct shardrt_site_stats {
  int64_t count; /**< executions */
  int64_t
      bytes_received; /**< bytes that come from other ranks; of an all-reduce
                           of n bytes in a group of k: 2 (k - 1) n / k */
  int64_t total_ns;   /**< nanoseconds inside its calls */
  int64_t wait_ns;    /**< … of which it waited for other ranks */
  int64_t overlap_ns; /**< between start and wait, in which it would have waited
                           for other ranks had it not done other work */
} shardrt_site_stats;

/** Statistics of `site` on `rank`; summed over all ranks of this process if
 * `rank` is -1. Not during a run. */
SHARDRT_EXPORT int shardrt_world_site_stats(const shardrt_world *world,
                                            int64_t rank, int64_t site,
                                            shardrt_site_stats *stats);
/** What a rank of a program of several ranks did in the same time: its steps,
 * but for those that a device has replayed from a recording. */
typedef struct shardrt_rank_stats {
  int64_t steps;    /**< that went well */
  int64_t total_ns; /**< nanoseconds inside them */
  int64_t wait_ns;  /**< … of which it waited for other ranks */
} shardrt_rank_stats;

/** Statistics of `rank`; SHARDRT_USAGE if this process has no such rank. May be
 * called during runs: they say what has ended. */
SHARDRT_EXPORT int shardrt_world_rank_stats(const shardrt_world *world,
                                            int64_t rank,
                                            shardrt_rank_stats *stats);
SHARDRT_EXPORT void shardrt_world_reset_stats(shardrt_world *world);
/** Most bytes that `rank` ever held at a time in arena and pool, with a crew:
 * had in use there; -1 if there is no such rank. Not during a run. */
SHARDRT_EXPORT int64_t shardrt_world_peak_bytes(const shardrt_world *world,
                                                int64_t rank);
/** What `rank` has asked vendors' libraries for, a line each, in the order of
 * first calls: "cuBLASLt: product of 1x64x32 f32 and 1x32x48 f32 (model.py:3)",
 * or "generated: " and the same where none did it. "" where it asked for
 * nothing; NULL if there is no such rank. The text lives until the next call.
 * Not during a run. */
SHARDRT_EXPORT const char *shardrt_world_libraries(const shardrt_world *world,
                                                   int64_t rank);

/** What `rank` has to do otherwise than it could, and what that costs, a line
 * each: "no cuBLASLt: …: kernels without tcgen05 do its work, …". "" for
 * nothing; NULL if there is no such rank. The text lives until the next call.
 * Not during a run. */
SHARDRT_EXPORT const char *shardrt_world_notes(const shardrt_world *world,
                                               int64_t rank);

/** How buffers go from rank to rank, and why: "nccl: each process has a device
 * of its own", "host: ranks 0 and 2 share a device", "direct: asked for". ""
 * where the program has no kernels for devices. */
SHARDRT_EXPORT const char *shardrt_world_transport(const shardrt_world *world);

/** What an event of a trace is. */
enum shardrt_trace_kind {
  SHARDRT_TRACE_STEP = 0,   /**< one step of the rank */
  SHARDRT_TRACE_KERNEL = 1, /**< a kernel; of a device's, its launch */
  SHARDRT_TRACE_SITE = 2,   /**< one execution of a communication site */
  SHARDRT_TRACE_RELEASE =
      3 /**< shardrt_exchange_release: its time is a site's too */
};

/** One event. Times are nanoseconds of one steady clock of this machine, the
 * same for all ranks. */
typedef struct shardrt_trace_event {
  int32_t kind; /**< a shardrt_trace_kind */
  int32_t step; /**< from 0, since the statistics were reset */
  int64_t id;   /**< of the kernel or the site; of a step its number */
  int64_t begin_ns, end_ns; /**< of a site: of the call that completes it */
  /* Of a site; numbers are those that its statistics are the sums of. */
  int64_t posted_ns;  /**< when its source was shown to the others: begin_ns
                         where  nothing was done in between */
  int64_t post_ns;    /**< how long the call took that showed it, if that is
                           another one: total_ns is this and end_ns - begin_ns */
  int64_t wait_ns;    /**< as of shardrt_site_stats */
  int64_t overlap_ns; /**< as of shardrt_site_stats */
  int64_t bytes;      /**< that came from other ranks; of a kernel as said to
                           shardrt_mark_end, -1 where nothing was */
  int64_t operations; /**< of a kernel, likewise; else 0 */
} shardrt_trace_event;

/** Sets `*events` to what `rank` did since the statistics were reset, in the
 * order in which it ended, and `*dropped` (may be NULL) to the number of events
 * beyond the most that are kept. Returns how many there are; -1 if there is no
 * such rank or no trace. Valid until the next run. */
SHARDRT_EXPORT int64_t shardrt_world_trace(const shardrt_world *world,
                                           int64_t rank,
                                           const shardrt_trace_event **events,
                                           int64_t *dropped);
/** From here on notes what the calling rank does, until shardrt_trace_end: for
 * whoever calls a program's code in the entry point's place. SHARDRT_USAGE
 * where the rank's world keeps a trace of its own. */
SHARDRT_EXPORT int shardrt_trace_begin(shardrt_context *ctx);
/** Calls `each` for what the rank did since then, in the order in which it
 * ended. Returns the number of events beyond the most that are kept; -1 if
 * nothing was begun. */
SHARDRT_EXPORT int64_t shardrt_trace_end(
    shardrt_context *ctx,
    void (*each)(void *user, const shardrt_trace_event *event), void *user);
/** Writes the ranks that `rank` reads from at `site` to `peers`, `capacity` of
 * them at most (none for sites about rows, which differ from step to step).
 * Returns how many there are; -1 if there is no such rank or site. */
SHARDRT_EXPORT int64_t shardrt_world_site_peers(const shardrt_world *world,
                                                int64_t rank, int64_t site,
                                                int64_t *peers,
                                                int64_t capacity);

/** The runtime's version, "0.1.0". */
SHARDRT_EXPORT const char *shardrt_version(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* SHARDRT_SHARDRT_H */
