/*===- LaunchRecorder.c - A CUDA driver that writes launches down ---------===*
 *
 * Runs no kernel: memory is the host's, copies are made, and each launch is a
 * line of the file that SHARDRT_LAUNCHES names: the thread that launched, from
 * 0, the kernel, grid, block, bytes of shared memory, and the words of its
 * arguments. So programs of real sizes have their launches counted where there
 * is no GPU (scripts/sass). What a kernel would have written is zeros. A
 * tensor map holds what it was made of, for whoever reads the arguments.
 * LAUNCH_RECORDER_CAPABILITY (90) and LAUNCH_RECORDER_MULTIPROCESSORS (132) say
 * what GPU it is.
 *
 *===----------------------------------------------------------------------===*/

#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { OK = 0, INVALID = 1, MEMORY = 2, MOST = 1 << 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *file;
static int threads;
static _Thread_local int number = -1;
static struct {
  char *begin;
  size_t bytes;
} blocks[MOST];

static long setting(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text && *text ? atol(text) : otherwise;
}

int cuInit(unsigned flags) { return flags ? INVALID : OK; }
int cuDriverGetVersion(int *version) { return *version = 13000, OK; }
int cuGetErrorName(int error, const char **name) {
  *name = error == MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "not recorded";
  return OK;
}
int cuDeviceGetCount(int *count) { return *count = 1, OK; }
int cuDeviceGet(int *device, int ordinal) {
  return *device = 0, ordinal ? INVALID : OK;
}
int cuDeviceGetName(char *name, int size, int device) {
  snprintf(name, (size_t)size, "recorder %d", device);
  return OK;
}
int cuDeviceGetUuid_v2(unsigned char *bytes, int device) {
  (void)device;
  memset(bytes, 0, 16);
  return OK;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  long capability = setting("LAUNCH_RECORDER_CAPABILITY", 90);
  *value =
      (int)(attribute == 16   ? setting("LAUNCH_RECORDER_MULTIPROCESSORS", 132)
            : attribute == 75 ? capability / 10
                              : capability % 10);
  return OK;
}
int cuDeviceTotalMem_v2(size_t *total, int device) {
  (void)device;
  return *total = (size_t)80 << 30, OK;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  return *context = (void *)(size_t)(device + 1), OK;
}
int cuDevicePrimaryCtxRelease_v2(int device) { return (void)device, OK; }
int cuCtxSetCurrent(void *context) { return (void)context, OK; }
int cuModuleLoadDataEx(void **module, const void *image, unsigned count,
                       int *options, void **values) {
  (void)count, (void)options, (void)values;
  return *module = (void *)image, OK;
}
int cuModuleUnload(void *module) { return (void)module, OK; }
/* A function is its name. */
int cuModuleGetFunction(void **function, void *module, const char *name) {
  (void)module;
  return *function = strdup(name), OK;
}

/* Memory that is never touched takes no room. */
int cuMemAlloc_v2(unsigned long long *at, size_t bytes) {
  int result = MEMORY;
  bytes = (bytes + 4095) / 4096 * 4096;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST; ++i)
    if (!blocks[i].begin) {
      void *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (made != MAP_FAILED) {
        blocks[i].begin = made;
        blocks[i].bytes = bytes;
        *at = (size_t)made;
        result = OK;
      }
      break;
    }
  pthread_mutex_unlock(&lock);
  return result;
}
int cuMemGetInfo_v2(size_t *free, size_t *total) {
  return *free = *total = (size_t)80 << 30, OK;
}
int cuMemFree_v2(unsigned long long at) {
  int result = INVALID;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST && result; ++i)
    if (blocks[i].begin && (size_t)blocks[i].begin == at) {
      munmap(blocks[i].begin, blocks[i].bytes);
      blocks[i].begin = NULL;
      result = OK;
    }
  pthread_mutex_unlock(&lock);
  return result;
}

static FILE *record(void) {
  if (!file) {
    const char *path = getenv("SHARDRT_LAUNCHES");
    file = path && *path ? fopen(path, "w") : stderr;
  }
  if (file && number < 0)
    number = threads++;
  return file;
}
/* What is done without a kernel counts as well. */
static void moved(const char *what, size_t bytes) {
  pthread_mutex_lock(&lock);
  if (record())
    fprintf(file, "%d %s %zu\n", number, what, bytes), fflush(file);
  pthread_mutex_unlock(&lock);
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes,
                         void *stream) {
  (void)stream;
  moved("upload", bytes);
  return memcpy((void *)(size_t)to, from, bytes), OK;
}
int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes,
                         void *stream) {
  (void)stream;
  moved("download", bytes);
  return memcpy(to, (void *)(size_t)from, bytes), OK;
}
int cuMemcpyAsync(unsigned long long to, unsigned long long from, size_t bytes,
                  void *stream) {
  (void)stream, (void)to, (void)from;
  return moved("copy", bytes), OK;
}
int cuMemcpy2DAsync_v2(const void *copy, void *stream) {
  (void)stream;
  const size_t *words = copy; /* … width and height in the end */
  return moved("copy", words[14] * words[15]), OK;
}
int cuMemsetD8Async(unsigned long long to, unsigned char value, size_t bytes,
                    void *stream) {
  (void)to, (void)value, (void)stream;
  return moved("fill", bytes), OK;
}
int cuMemsetD2D8Async(unsigned long long to, size_t pitch, unsigned char value,
                      size_t width, size_t height, void *stream) {
  (void)to, (void)pitch, (void)value, (void)stream;
  return moved("fill", width * height), OK;
}
int cuDeviceCanAccessPeer(int *can, int device, int peer) {
  return *can = device != peer, OK;
}
int cuCtxEnablePeerAccess(void *context, unsigned flags) {
  return (void)context, (void)flags, OK;
}

int cuStreamCreate(void **made, unsigned flags) {
  return (void)flags, *made = malloc(1), OK;
}
int cuStreamDestroy_v2(void *stream) { return free(stream), OK; }
int cuStreamQuery(void *stream) { return (void)stream, OK; }
int cuStreamSynchronize(void *stream) { return (void)stream, OK; }
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
  return (void)stream, (void)event, (void)flags, OK;
}
int cuEventCreate(void **made, unsigned flags) {
  return (void)flags, *made = malloc(1), OK;
}
int cuEventDestroy_v2(void *event) { return free(event), OK; }
int cuEventRecord(void *event, void *stream) {
  return (void)event, (void)stream, OK;
}
/* Nothing is captured: each step launches by itself. */
int cuStreamBeginCapture_v2(void *stream, int mode) {
  return (void)stream, (void)mode, INVALID;
}
int cuStreamEndCapture(void *stream, void **made) {
  return (void)stream, *made = NULL, INVALID;
}
int cuGraphInstantiateWithFlags(void **made, void *graph,
                                unsigned long long flags) {
  return (void)graph, (void)flags, *made = NULL, INVALID;
}
int cuGraphLaunch(void *graph, void *stream) {
  return (void)graph, (void)stream, INVALID;
}
int cuGraphExecDestroy(void *graph) { return (void)graph, OK; }
int cuGraphDestroy(void *graph) { return (void)graph, OK; }

int cuFuncSetAttribute(void *function, int attribute, int value) {
  return (void)function, (void)attribute, (void)value, OK;
}
/* 16 words, as shardrt/TensorMap.h has them. */
int cuTensorMapEncodeTiled(void *map, int type, unsigned dims, void *address,
                           const uint64_t *sizes, const uint64_t *strides,
                           const unsigned *box, const unsigned *steps,
                           int interleave, int swizzle, int promotion,
                           int outside) {
  (void)steps, (void)interleave, (void)swizzle, (void)promotion, (void)outside;
  if (dims < 1 || dims > 5)
    return INVALID;
  uint64_t words[16] = {(size_t)address, dims | (uint64_t)type << 8};
  for (unsigned i = 0; i < dims; ++i) {
    words[2 + i] = sizes[i];
    words[11 + i] = box[i];
    if (i)
      words[6 + i] = strides[i - 1];
  }
  return memcpy(map, words, sizeof(words)), OK;
}
int cuTensorMapEncodeIm2col(void *map, int type, unsigned dims, void *address,
                            const uint64_t *sizes, const uint64_t *strides,
                            const int *low, const int *high, unsigned channels,
                            unsigned pixels, const unsigned *steps,
                            int interleave, int swizzle, int promotion,
                            int outside) {
  (void)interleave, (void)swizzle, (void)promotion, (void)outside;
  if (dims < 3 || dims > 5)
    return INVALID;
  uint64_t words[16] = {(size_t)address,
                        dims | (uint64_t)type << 8 | 1ull << 16};
  words[11] = channels;
  words[12] = pixels;
  for (unsigned i = 0; i < dims; ++i) {
    words[2 + i] = sizes[i];
    if (i)
      words[6 + i] = strides[i - 1];
    if (i >= 2)
      words[11 + i] = (low[i - 2] & 0xffffu) | (high[i - 2] & 0xffffu) << 16 |
                      (uint64_t)steps[i - 1] << 32;
  }
  return memcpy(map, words, sizeof(words)), OK;
}
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz,
                   unsigned bx, unsigned by, unsigned bz, unsigned sharedBytes,
                   void *stream, void **params, void **extra) {
  (void)stream;
  if (params || !extra)
    return INVALID;
  const uint64_t *words = extra[1];
  size_t bytes = *(size_t *)extra[3];
  pthread_mutex_lock(&lock);
  if (record()) {
    fprintf(file, "%d launch %s %u %u %u %u %u %u %u", number,
            (const char *)function, gx, gy, gz, bx, by, bz, sharedBytes);
    for (size_t i = 0; i < bytes / 8; ++i)
      fprintf(file, " %llx", (unsigned long long)words[i]);
    fputc('\n', file);
    fflush(file);
  }
  pthread_mutex_unlock(&lock);
  return OK;
}
