/*===- FakeCuda.c - A stand-in for the CUDA driver
 * ---------------------------===
 *
 * The driver's functions that shardrt opens, over the host's memory. A module's
 * image is a table of C functions (FakeCuda.h). It is as strict as the driver:
 * a context must be current, memory must be the device's or a peer's that was
 * made reachable, launches within limits. Work on a stream is done as late as
 * it may be: when somebody waits for it, for a stream that waits for it, or
 * frees memory. So what is not ordered goes wrong. Variables of the environment
 * make it another machine: FAKE_CUDA_DEVICES     how many there are (1)
 *   FAKE_CUDA_CAPABILITY  80, 90, ... (90)
 *   FAKE_CUDA_MEMORY      bytes of each (1 MiB)
 *   FAKE_CUDA_REFUSE      the result of loading a module (0)
 *   FAKE_CUDA_REFUSE_FATBIN  the result of loading one that is a fatbin (0)
 *   FAKE_CUDA_FAULT       1: kernels fault, as the next wait reports
 *   FAKE_CUDA_PEERS       0: devices do not reach one another
 *   FAKE_CUDA_GRAPHS      0: streams cannot be captured
 *   FAKE_CUDA_UPDATES     0: graphs cannot be updated
 *   FAKE_CUDA_FORGET      1: streams do not wait for events
 *   FAKE_CUDA_EAGER       1: every second stream does its work as early as it
 * may be
 *
 *===----------------------------------------------------------------------===*/

#include "FakeCuda.h"
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  OK = 0,
  INVALID = 1,
  MEMORY = 2,
  NO_CONTEXT = 201,
  NOT_FOUND = 500,
  ADDRESS = 700
};
enum { MOST = 4096, DEVICES = 16, MEMBERS = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  char *begin;
  size_t bytes;
  int device;
} blocks[MOST];
static int used_blocks; /* none behind these */
static size_t held;
static int peers[DEVICES][DEVICES];
static int contexts;
static _Thread_local void *current;
static _Atomic int faulted; // ranks are threads

static long setting(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text && *text ? atol(text) : otherwise;
}

/* The device that `bytes` bytes at `at` belong to, as seen from the current
 * context; -1 for none. */
static int deviceOf(unsigned long long at, size_t bytes) {
  char *begin = (char *)(size_t)at;
  for (int i = 0; i < used_blocks; ++i)
    if (blocks[i].begin && begin >= blocks[i].begin &&
        begin + bytes <= blocks[i].begin + blocks[i].bytes) {
      int mine = (int)(size_t)current - 1;
      return blocks[i].device == mine || peers[mine][blocks[i].device]
                 ? blocks[i].device
                 : -1;
    }
  return -1;
}

/* Streams ------------------------------------------------------------------*/

struct op {
  enum { COPY, SET, LAUNCH, WAIT, GRAPH, CALL } kind;
  char *to;
  const char *from;
  size_t bytes, rows, to_pitch, from_pitch;
  struct fake_kernel *kernel;
  size_t argument_bytes;
  unsigned blocks, threads;
  void *arguments;
  struct stream
      *other; /* that is waited for; of a recorded wait, number `member` */
  int member;
  long upto;
  struct graph *graph;
  struct progress *progress; /* of a graph that was launched */
  /* What others do on a stream: whether it is done. It begins with the first
   * call. */
  int (*poll)(void *what, int begun);
  void (*release)(void *what);
  void *what;
};
struct stream {
  struct op *ops;
  long count, capacity, done; /* counted from the stream's beginning */
  long base;                  /* number of ops[0] */
  int queries;
  int isSecond;          /* of those made */
  struct graph *capture; /* where work goes, if it is recorded */
  int member;            /* … and as which of its streams */
  struct stream *next;
};
/* What was recorded: of several streams, the first of which it was begun on. */
struct graph {
  struct list {
    struct op *ops;
    long count;
    long knows[MEMBERS]; /* how much of each stream comes before what is next
                            here */
  } lists[MEMBERS];
  struct stream *streams[MEMBERS];
  int members;
  long id;
  int users; /* handles, and launches under way */
};
struct progress {
  long done[MEMBERS];
  int begun[MEMBERS]; /* what is next, and not done yet */
};
struct event {
  struct stream *stream;
  long upto;
  long capture; /* that it was recorded in; 0: none */
  long knows[MEMBERS];
};
static int launches, graphs, downloads, modules;
static struct stream *streams; /* all there ever were */

static int advance(struct stream *stream, long upto);
static int advanceMember(struct graph *graph, struct progress *progress,
                         int member, long upto);

/* Lets go of a graph. */
static void drop(struct graph *graph) {
  if (--graph->users > 0)
    return;
  for (int member = 0; member < graph->members; ++member) {
    for (long i = 0; i < graph->lists[member].count; ++i) {
      struct op *op = &graph->lists[member].ops[i];
      free(op->arguments);
      if (op->kind == CALL)
        op->release(op->what);
    }
    free(graph->lists[member].ops);
  }
  free(graph);
}

/* 0 where it is not done yet. */
static int carryOut(const struct op *op) {
  for (size_t row = 0; op->kind == COPY && op->bytes && row < op->rows; ++row)
    memmove(op->to + row * op->to_pitch, op->from + row * op->from_pitch,
            op->bytes);
  for (size_t row = 0; op->kind == SET && row < op->rows; ++row)
    memset(op->to + row * op->to_pitch, 0, op->bytes);
  if (op->kind == LAUNCH)
    for (unsigned block = 0; block < op->blocks; ++block)
      for (unsigned thread = 0; thread < op->threads; ++thread)
        op->kernel->run(block, thread, op->arguments);
  int isDone = 1;
  if (op->kind == GRAPH)
    for (int member = op->graph->members; member-- > 0;)
      isDone &= advanceMember(op->graph, op->progress, member,
                              op->graph->lists[member].count);
  return isDone;
}

/* The same as below, of what a graph holds of a stream. */
static int advanceMember(struct graph *graph, struct progress *progress,
                         int member, long upto) {
  while (progress->done[member] < upto) {
    struct op *op = &graph->lists[member].ops[progress->done[member]];
    int *begun = &progress->begun[member];
    if (op->kind == WAIT &&
        !advanceMember(graph, progress, op->member, op->upto))
      return 0;
    if (op->kind == CALL && !op->poll(op->what, *begun))
      return *begun = 1, 0;
    carryOut(op);
    *begun = 0;
    ++progress->done[member];
  }
  return 1;
}

/* Does what `stream` has to do up to `upto`. Waits refer to earlier work alone,
 * so that this ends. */
static int advance(struct stream *stream, long upto) {
  while (stream->done < upto) {
    struct op op = stream->ops[stream->done - stream->base];
    if (op.kind == WAIT && !advance(op.other, op.upto))
      return 0;
    if (!carryOut(&op))
      return 0;
    if (op.kind == GRAPH)
      drop(op.graph);
    free(op.progress);
    free(op.arguments);
    ++stream->done;
  }
  if (stream->done == stream->base + stream->count)
    stream->base = stream->done, stream->count = 0;
  return 1;
}

static long end(struct stream *stream) { return stream->base + stream->count; }

static void advanceAll(void) {
  for (struct stream *stream = streams; stream; stream = stream->next)
    advance(stream, end(stream));
}

static void enqueue(struct stream *stream, struct op op) {
  if (stream->capture) {
    struct list *list = &stream->capture->lists[stream->member];
    list->ops = realloc(list->ops, (size_t)(list->count + 1) * sizeof(op));
    list->ops[list->count++] = op;
    list->knows[stream->member] = list->count;
    return;
  }
  if (stream->count == stream->capacity) {
    stream->capacity = 2 * stream->capacity + 16;
    stream->ops = realloc(stream->ops, (size_t)stream->capacity * sizeof(op));
  }
  stream->ops[stream->count++] = op;
  if (stream->isSecond && setting("FAKE_CUDA_EAGER", 0))
    advance(stream, end(stream));
}

int cuInit(unsigned flags) { return flags ? INVALID : OK; }
int cuDriverGetVersion(int *version) { return *version = 12040, OK; }
int cuGetErrorName(int error, const char **name) {
  *name = error == MEMORY       ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == NO_CONTEXT ? "CUDA_ERROR_INVALID_CONTEXT"
          : error == 209        ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
          : error == 222        ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
          : error == ADDRESS    ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : error == NOT_FOUND  ? "CUDA_ERROR_NOT_FOUND"
          : error == 903        ? "CUDA_ERROR_STREAM_CAPTURE_MERGE"
          : error == 904        ? "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"
          : error == 905        ? "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"
          : error == 907        ? "CUDA_ERROR_CAPTURED_EVENT"
                                : "CUDA_ERROR_INVALID_VALUE";
  return OK;
}
int cuDeviceGetCount(int *count) {
  return *count = (int)setting("FAKE_CUDA_DEVICES", 1), OK;
}
int cuDeviceGet(int *device, int ordinal) {
  if (ordinal < 0 || ordinal >= setting("FAKE_CUDA_DEVICES", 1))
    return INVALID;
  return *device = ordinal, OK;
}
int cuDeviceGetName(char *name, int size, int device) {
  snprintf(name, (size_t)size, "fake %d", device);
  return OK;
}
int cuDeviceGetUuid_v2(unsigned char *bytes, int device) {
  memset(bytes, 0, 16);
  bytes[15] = (unsigned char)device;
  return OK;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  long capability = setting("FAKE_CUDA_CAPABILITY", 90);
  *value = (int)(attribute == 16   ? 2
                 : attribute == 75 ? capability / 10
                                   : capability % 10);
  return attribute == 16 || attribute == 75 || attribute == 76 ? OK : INVALID;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  __atomic_add_fetch(&contexts, 1, __ATOMIC_SEQ_CST);
  return *context = (void *)(size_t)(device + 1), OK;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
  (void)device;
  __atomic_add_fetch(&contexts, -1, __ATOMIC_SEQ_CST);
  return OK;
}
int cuCtxSetCurrent(void *context) {
  return (size_t)context > DEVICES ? INVALID : (current = context, OK);
}
int cuModuleLoadDataEx(void **module, const void *image, unsigned count,
                       int *options, void **values) {
  (void)count, (void)options;
  if (!current)
    return NO_CONTEXT;
  static const unsigned magic = 0xba55ed50;
  int refused = (int)setting("FAKE_CUDA_REFUSE", 0);
  if (!refused && memcmp(image, &magic, sizeof(magic)) == 0)
    refused = (int)setting("FAKE_CUDA_REFUSE_FATBIN", 0);
  if (refused) {
    snprintf((char *)values[0], 64, "no image for this GPU");
    return refused;
  }
  pthread_mutex_lock(&lock);
  ++modules;
  pthread_mutex_unlock(&lock);
  return *module = (void *)image, OK;
}
int cuModuleUnload(void *module) {
  if (!module || !current)
    return INVALID;
  pthread_mutex_lock(&lock);
  --modules;
  pthread_mutex_unlock(&lock);
  return OK;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
  for (struct fake_kernel *kernel = module; kernel->name; ++kernel)
    if (strcmp(kernel->name, name) == 0)
      return *function = kernel, OK;
  return NOT_FOUND;
}
int cuMemAlloc_v2(unsigned long long *at, size_t bytes) {
  if (!current)
    return NO_CONTEXT;
  int result = MEMORY;
  pthread_mutex_lock(&lock);
  for (int i = 0;
       i < MOST && held + bytes <= (size_t)setting("FAKE_CUDA_MEMORY", 1 << 20);
       ++i)
    if (!blocks[i].begin) {
      blocks[i].begin = aligned_alloc(256, (bytes + 256) / 256 * 256);
      blocks[i].bytes = bytes;
      blocks[i].device = (int)(size_t)current - 1;
      memset(blocks[i].begin, 0xff, bytes);
      held += bytes;
      if (i >= used_blocks)
        used_blocks = i + 1;
      *at = (size_t)blocks[i].begin;
      result = OK;
      break;
    }
  pthread_mutex_unlock(&lock);
  return result;
}
int cuDeviceTotalMem_v2(size_t *total, int device) {
  if (device < 0 || device >= setting("FAKE_CUDA_DEVICES", 1))
    return INVALID;
  *total = (size_t)setting("FAKE_CUDA_MEMORY", 1 << 20);
  return OK;
}
int cuMemGetInfo_v2(size_t *free, size_t *total) {
  *total = (size_t)setting("FAKE_CUDA_MEMORY", 1 << 20);
  pthread_mutex_lock(&lock);
  *free = *total - held;
  pthread_mutex_unlock(&lock);
  return current ? OK : NO_CONTEXT;
}
int cuMemFree_v2(unsigned long long at) {
  int result = INVALID;
  pthread_mutex_lock(&lock);
  advanceAll();
  for (int i = 0; i < used_blocks; ++i)
    if (blocks[i].begin && blocks[i].begin == (char *)(size_t)at) {
      held -= blocks[i].bytes;
      free(blocks[i].begin);
      blocks[i].begin = NULL;
      result = OK;
    }
  pthread_mutex_unlock(&lock);
  return result;
}

/* Which sides of a copy must be a device's. */
enum { TO = 1, FROM = 2 };
static int add(struct op op, int sides, void *stream) {
  if (!current)
    return NO_CONTEXT;
  if (!stream || (op.rows > 1 && (op.to_pitch < op.bytes ||
                                  (sides & FROM && op.from_pitch < op.bytes))))
    return INVALID;
  size_t to = op.bytes + (op.rows - 1) * op.to_pitch;
  size_t from = op.bytes + (op.rows - 1) * op.from_pitch;
  pthread_mutex_lock(&lock);
  int result = ((sides & TO) && deviceOf((size_t)op.to, to) < 0) ||
                       ((sides & FROM) && deviceOf((size_t)op.from, from) < 0)
                   ? INVALID
                   : OK;
  if (result == OK)
    enqueue(stream, op);
  pthread_mutex_unlock(&lock);
  return result;
}
#define AT(x) ((char *)(size_t)(x))
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes,
                         void *stream) {
  return add(
      (struct op){
          .kind = COPY, .to = AT(to), .from = from, .bytes = bytes, .rows = 1},
      TO, stream);
}
int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes,
                         void *stream) {
  __atomic_add_fetch(&downloads, 1, __ATOMIC_SEQ_CST);
  return add(
      (struct op){
          .kind = COPY, .to = to, .from = AT(from), .bytes = bytes, .rows = 1},
      FROM, stream);
}
int cuMemcpyAsync(unsigned long long to, unsigned long long from, size_t bytes,
                  void *stream) {
  return add((struct op){.kind = COPY,
                         .to = AT(to),
                         .from = AT(from),
                         .bytes = bytes,
                         .rows = 1},
             TO | FROM, stream);
}
struct copy2d { /* CUDA_MEMCPY2D */
  size_t from_x, from_y;
  int from_type;
  const void *from_host;
  unsigned long long from_device;
  void *from_array;
  size_t from_pitch, to_x, to_y;
  int to_type;
  void *to_host;
  unsigned long long to_device;
  void *to_array;
  size_t to_pitch, width, height;
};
int cuMemcpy2DAsync_v2(const void *given, void *stream) {
  const struct copy2d *copy = given;
  if (copy->from_type != 4 || copy->to_type != 4 || copy->from_x ||
      copy->from_y || copy->to_x || copy->to_y || !copy->height)
    return INVALID;
  return add((struct op){.kind = COPY,
                         .to = AT(copy->to_device),
                         .from = AT(copy->from_device),
                         .bytes = copy->width,
                         .rows = copy->height,
                         .to_pitch = copy->to_pitch,
                         .from_pitch = copy->from_pitch},
             TO | FROM, stream);
}
int cuMemsetD8Async(unsigned long long to, unsigned char value, size_t bytes,
                    void *stream) {
  return value ? INVALID
               : add(
                     (struct op){
                         .kind = SET, .to = AT(to), .bytes = bytes, .rows = 1},
                     TO, stream);
}
int cuMemsetD2D8Async(unsigned long long to, size_t pitch, unsigned char value,
                      size_t width, size_t height, void *stream) {
  if (value || !height)
    return INVALID;
  return add((struct op){.kind = SET,
                         .to = AT(to),
                         .bytes = width,
                         .rows = height,
                         .to_pitch = pitch},
             TO, stream);
}
int cuDeviceCanAccessPeer(int *can, int device, int peer) {
  return *can = device != peer && setting("FAKE_CUDA_PEERS", 1), OK;
}
int cuCtxEnablePeerAccess(void *context, unsigned flags) {
  if (!current || flags || current == context)
    return INVALID;
  int *enabled = &peers[(size_t)current - 1][(size_t)context - 1];
  return *enabled ? 704 : (*enabled = 1, OK);
}

int cuStreamCreate(void **made, unsigned flags) {
  (void)flags;
  if (!current)
    return NO_CONTEXT;
  struct stream *stream = calloc(1, sizeof(*stream));
  static int made_streams;
  pthread_mutex_lock(&lock);
  stream->isSecond = made_streams++ % 2;
  stream->next = streams;
  streams = stream;
  pthread_mutex_unlock(&lock);
  return *made = stream, OK;
}
int cuStreamSynchronize(void *stream) {
  enum { CAPTURING = 900 };
  if (!current)
    return NO_CONTEXT;
  if (((struct stream *)stream)->capture)
    return CAPTURING;
  for (int isDone = 0; !isDone;) {
    pthread_mutex_lock(&lock);
    isDone = advance(stream, end(stream));
    pthread_mutex_unlock(&lock);
    if (!isDone)
      sched_yield();
  }
  return faulted ? ADDRESS : OK;
}
/* Others may still wait for it: it stays where it is. */
int cuStreamDestroy_v2(void *stream) { return cuStreamSynchronize(stream), OK; }
int cuStreamQuery(void *stream) {
  enum { NOT_READY = 600, CAPTURING = 900 };
  if (((struct stream *)stream)->capture)
    return CAPTURING;
  if (++((struct stream *)stream)->queries % 2)
    return NOT_READY;
  pthread_mutex_lock(&lock);
  int isDone = advance(stream, end(stream));
  pthread_mutex_unlock(&lock);
  return !isDone ? NOT_READY : faulted ? ADDRESS : OK;
}
int cuEventCreate(void **event, unsigned flags) {
  (void)flags;
  return current ? (*event = calloc(1, sizeof(struct event)), OK) : NO_CONTEXT;
}
int cuEventDestroy_v2(void *event) { return free(event), OK; }
int cuEventRecord(void *given, void *on) {
  struct event *event = given;
  struct stream *stream = on;
  if (!current)
    return NO_CONTEXT;
  pthread_mutex_lock(&lock);
  event->stream = stream;
  event->upto = end(stream);
  event->capture = 0;
  if (stream->capture) {
    struct list *list = &stream->capture->lists[stream->member];
    event->capture = stream->capture->id;
    event->upto = list->count;
    memcpy(event->knows, list->knows, sizeof(list->knows));
  }
  pthread_mutex_unlock(&lock);
  return OK;
}
enum {
  MERGE = 903,
  UNJOINED = 904,
  ISOLATION = 905,
  UNMATCHED = 906,
  CAPTURED = 907
};
static struct graph *captureOf(long id) {
  for (struct stream *stream = streams; stream; stream = stream->next)
    if (stream->capture && stream->capture->id == id)
      return stream->capture;
  return NULL;
}
/* A stream that waits for recorded work is recorded itself from then on. What
 * is recorded waits for nothing else. */
static int waitRecorded(struct stream *stream, const struct event *event) {
  struct graph *graph = event->capture ? captureOf(event->capture) : NULL;
  if (stream->capture && event->capture != stream->capture->id)
    return graph ? MERGE : ISOLATION;
  if (!graph)
    return CAPTURED;
  if (!stream->capture) {
    if (graph->members == MEMBERS)
      return INVALID;
    stream->capture = graph;
    stream->member = graph->members++;
    graph->streams[stream->member] = stream;
  }
  if (setting("FAKE_CUDA_FORGET", 0))
    return OK;
  enqueue(stream, (struct op){.kind = WAIT,
                              .member = event->stream->member,
                              .upto = event->upto});
  long *knows = graph->lists[stream->member].knows;
  for (int i = 0; i < MEMBERS; ++i)
    if (knows[i] < event->knows[i])
      knows[i] = event->knows[i];
  return OK;
}
int cuStreamWaitEvent(void *on, void *given, unsigned flags) {
  struct event *event = given;
  struct stream *stream = on;
  int result = OK;
  if (!current || flags)
    return current ? INVALID : NO_CONTEXT;
  pthread_mutex_lock(&lock);
  if (event->stream && (stream->capture || event->capture))
    result = waitRecorded(stream, event);
  else if (event->stream && !setting("FAKE_CUDA_FORGET", 0))
    enqueue(
        stream,
        (struct op){.kind = WAIT, .other = event->stream, .upto = event->upto});
  pthread_mutex_unlock(&lock);
  return result;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
  return function && attribute == 8 && value > 0 && value <= 232448 ? OK
                                                                    : INVALID;
}
/* Refuses what the driver refuses; a map holds where it is and its sizes. */
int cuTensorMapEncodeTiled(void *map, int type, unsigned dims, void *address,
                           const uint64_t *sizes, const uint64_t *strides,
                           const unsigned *box, const unsigned *steps,
                           int interleave, int swizzle, int promotion,
                           int outside) {
  uint64_t *words = map;
  if ((size_t)map % 64 || (size_t)address % 16 || dims < 1 || dims > 5 ||
      interleave || swizzle != 3 || promotion < 0 || promotion > 3 || outside ||
      type < 0 || type > 12 ||
      box[0] * (type == 6 || type == 9 ? 2u : 4u) > 128)
    return INVALID;
  words[0] = (size_t)address;
  for (unsigned i = 0; i < dims; ++i) {
    if (!sizes[i] || sizes[i] > 1ull << 32 || box[i] < 1 || box[i] > 256 ||
        steps[i] != 1)
      return INVALID;
    if (i && (strides[i - 1] % 16 || !strides[i - 1] ||
              strides[i - 1] >= 1ull << 40))
      return INVALID;
    words[1 + i] = sizes[i];
    words[6 + i] = box[i];
  }
  return OK;
}
/* The same: address, sizes, corners and steps, channels, pixels. */
int cuTensorMapEncodeIm2col(void *map, int type, unsigned dims, void *address,
                            const uint64_t *sizes, const uint64_t *strides,
                            const int *low, const int *high, unsigned channels,
                            unsigned pixels, const unsigned *steps,
                            int interleave, int swizzle, int promotion,
                            int outside) {
  uint64_t *words = map;
  int most = dims == 3 ? 1 << 15 : dims == 4 ? 1 << 7 : 1 << 4;
  if ((size_t)map % 64 || (size_t)address % 16 || dims < 3 || dims > 5 ||
      interleave || swizzle != 3 || promotion < 0 || promotion > 3 || outside ||
      type < 0 || type > 12 || !channels || channels > 256 || !pixels ||
      pixels > 1024 || channels * (type == 6 || type == 9 ? 2u : 4u) > 128)
    return INVALID;
  words[0] = (size_t)address;
  for (unsigned i = 0; i < dims; ++i) {
    if (!sizes[i] || sizes[i] > 1ull << 32 || steps[i] < 1 || steps[i] > 8)
      return INVALID;
    if (i && (strides[i - 1] % 16 || !strides[i - 1] ||
              strides[i - 1] >= 1ull << 40))
      return INVALID;
    words[1 + i] = sizes[i];
  }
  for (unsigned i = 0; i < dims - 2; ++i) {
    if (low[i] < -most || low[i] >= most || high[i] < -most ||
        high[i] >= most || low[i] >= (int64_t)sizes[i + 1] + high[i])
      return INVALID;
    words[6 + i] = ((uint64_t)(uint32_t)low[i] << 32) + (uint32_t)high[i];
    words[9 + i] = steps[i + 1];
  }
  words[12] = channels;
  words[13] = pixels;
  return OK;
}
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz,
                   unsigned bx, unsigned by, unsigned bz, unsigned sharedBytes,
                   void *stream, void **params, void **extra) {
  (void)sharedBytes;
  if (!current)
    return NO_CONTEXT;
  if (params || !extra || extra[0] != (void *)1 || extra[2] != (void *)2 ||
      extra[4] || !gx || !gy || !gz || bx * by * bz > 1024)
    return INVALID;
  size_t bytes = *(size_t *)extra[3];
  if (bytes % 8)
    return INVALID;
  if (setting("FAKE_CUDA_FAULT", 0))
    return faulted = 1, OK;
  void *arguments = malloc(bytes + 1);
  memcpy(arguments, extra[1], bytes);
  pthread_mutex_lock(&lock);
  enqueue(stream, (struct op){.kind = LAUNCH,
                              .kernel = function,
                              .blocks = gx * gy * gz,
                              .threads = bx,
                              .argument_bytes = bytes,
                              .arguments = arguments});
  ++launches;
  pthread_mutex_unlock(&lock);
  return OK;
}

/* Graphs: what a stream was given while it was captured --------------------*/

int cuStreamBeginCapture_v2(void *given, int mode) {
  static long ids;
  struct stream *stream = given;
  if (!current || mode != 2 || stream->capture ||
      setting("FAKE_CUDA_GRAPHS", 1) == 0)
    return INVALID;
  pthread_mutex_lock(&lock);
  struct graph *graph = calloc(1, sizeof(struct graph));
  graph->streams[0] = stream;
  graph->members = graph->users = 1;
  graph->id = ++ids;
  stream->capture = graph;
  stream->member = 0;
  pthread_mutex_unlock(&lock);
  return OK;
}
int cuStreamEndCapture(void *given, void **made) {
  struct stream *stream = given;
  *made = NULL;
  if (!current || !stream->capture)
    return INVALID;
  int result = OK;
  pthread_mutex_lock(&lock);
  struct graph *graph = stream->capture;
  if (stream->member != 0)
    result = UNMATCHED;
  for (int i = 0; i < graph->members && result != UNMATCHED; ++i) {
    if (graph->lists[0].knows[i] < graph->lists[i].count &&
        !setting("FAKE_CUDA_FORGET", 0))
      result = UNJOINED;
    graph->streams[i]->capture = NULL;
  }
  if (result == OK)
    *made = graph;
  else if (result == UNJOINED)
    drop(graph);
  pthread_mutex_unlock(&lock);
  return result;
}
int cuGraphInstantiateWithFlags(void **made, void *given,
                                unsigned long long flags) {
  struct graph *graph = given;
  if (flags)
    return INVALID;
  pthread_mutex_lock(&lock);
  ++graph->users;
  pthread_mutex_unlock(&lock);
  __atomic_add_fetch(&graphs, 1, __ATOMIC_SEQ_CST);
  struct graph **handle = malloc(sizeof(*handle));
  *handle = graph;
  return *made = handle, OK;
}
int cuGraphLaunch(void *given, void *stream) {
  pthread_mutex_lock(&lock);
  struct graph *graph = *(struct graph **)given;
  ++graph->users;
  enqueue(stream, (struct op){.kind = GRAPH,
                              .graph = graph,
                              .progress = calloc(1, sizeof(struct progress))});
  pthread_mutex_unlock(&lock);
  return OK;
}
static int destroy(void *graph) {
  pthread_mutex_lock(&lock);
  drop(graph);
  pthread_mutex_unlock(&lock);
  return OK;
}
int cuGraphExecDestroy(void *given) {
  __atomic_sub_fetch(&graphs, 1, __ATOMIC_SEQ_CST);
  struct graph *graph = *(struct graph **)given;
  free(given);
  return destroy(graph);
}
/* As the driver: of as many nodes, of the same kinds and kernels. */
int cuGraphExecUpdate_v2(void *given, void *with, void *why) {
  enum { UPDATE_FAILURE = 910 };
  struct graph **handle = given, *graph = with;
  if (!why || !setting("FAKE_CUDA_UPDATES", 1))
    return UPDATE_FAILURE;
  pthread_mutex_lock(&lock);
  int fits = graph->members == (*handle)->members;
  for (int member = 0; fits && member < graph->members; ++member) {
    struct list *now = &graph->lists[member], *old = &(*handle)->lists[member];
    fits = now->count == old->count;
    for (long i = 0; fits && i < now->count; ++i)
      fits = now->ops[i].kind == old->ops[i].kind &&
             now->ops[i].kernel == old->ops[i].kernel;
  }
  if (fits) {
    ++graph->users;
    drop(*handle);
    *handle = graph;
  }
  pthread_mutex_unlock(&lock);
  return fits ? OK : UPDATE_FAILURE;
}
int cuGraphDestroy(void *graph) { return destroy(graph); }

/* For the stand-in of NCCL: whether `stream` is recorded, and what it does
 * there. */
int fake_cuda_recording(void *stream) {
  pthread_mutex_lock(&lock);
  int is = ((struct stream *)stream)->capture != NULL;
  pthread_mutex_unlock(&lock);
  return is;
}
void fake_cuda_call(void *stream, int (*poll)(void *, int),
                    void (*release)(void *), void *what) {
  pthread_mutex_lock(&lock);
  enqueue(stream,
          (struct op){
              .kind = CALL, .poll = poll, .release = release, .what = what});
  pthread_mutex_unlock(&lock);
}

int fake_cuda_downloads(void) { return downloads; }
int fake_cuda_launches(void) { return launches; }
int fake_cuda_modules(void) { return modules; }
int fake_cuda_graphs(void) { return graphs; }
int fake_cuda_contexts(void) { return contexts; }
size_t fake_cuda_held(void) { return held; }
void fake_cuda_recover(void) { faulted = 0; }
