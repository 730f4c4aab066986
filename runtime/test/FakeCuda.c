/*===- FakeCuda.c - A stand-in for the CUDA driver ---------------------------===
 *
 * The driver's functions that shardrt opens, over the host's memory. A module's
 * image is a table of C functions (FakeCuda.h). It is as strict as the driver:
 * a context must be current, memory must be the device's, launches within limits.
 * Variables of the environment make it another machine:
 *   FAKE_CUDA_DEVICES     how many there are (1)
 *   FAKE_CUDA_CAPABILITY  80, 90, ... (90)
 *   FAKE_CUDA_MEMORY      bytes of each (1 MiB)
 *   FAKE_CUDA_REFUSE      the result of loading a module (0)
 *   FAKE_CUDA_FAULT       1: kernels fault, as the next wait tells
 *
 *===----------------------------------------------------------------------===*/

#include "FakeCuda.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, INVALID = 1, MEMORY = 2, NO_CONTEXT = 201, NOT_FOUND = 500, ADDRESS = 700 };
enum { MOST = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { char *begin; size_t bytes; } blocks[MOST];
static size_t held;
static int contexts;
static _Thread_local void *current;
static int faulted;

static long setting(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text && *text ? atol(text) : otherwise;
}

static int isDevice(unsigned long long at, size_t bytes) {
  char *begin = (char *)(size_t)at;
  for (int i = 0; i < MOST; ++i)
    if (blocks[i].begin && begin >= blocks[i].begin &&
        begin + bytes <= blocks[i].begin + blocks[i].bytes)
      return 1;
  return 0;
}

int cuInit(unsigned flags) { return flags ? INVALID : OK; }
int cuDriverGetVersion(int *version) { return *version = 12040, OK; }
int cuGetErrorName(int error, const char **name) {
  *name = error == MEMORY       ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == NO_CONTEXT ? "CUDA_ERROR_INVALID_CONTEXT"
          : error == 209        ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
          : error == ADDRESS    ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : error == NOT_FOUND  ? "CUDA_ERROR_NOT_FOUND"
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
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  long capability = setting("FAKE_CUDA_CAPABILITY", 90);
  *value = (int)(attribute == 75 ? capability / 10 : capability % 10);
  return attribute == 75 || attribute == 76 ? OK : INVALID;
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
int cuCtxSetCurrent(void *context) { return current = context, OK; }
int cuModuleLoadDataEx(void **module, const void *image, unsigned count,
                       int *options, void **values) {
  (void)count, (void)options;
  if (!current)
    return NO_CONTEXT;
  int refused = (int)setting("FAKE_CUDA_REFUSE", 0);
  if (refused) {
    snprintf((char *)values[0], 64, "no image for this GPU");
    return refused;
  }
  return *module = (void *)image, OK;
}
int cuModuleUnload(void *module) { return module ? OK : INVALID; }
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
  for (int i = 0; i < MOST && held + bytes <= (size_t)setting("FAKE_CUDA_MEMORY", 1 << 20); ++i)
    if (!blocks[i].begin) {
      blocks[i].begin = malloc(bytes ? bytes : 1);
      blocks[i].bytes = bytes;
      memset(blocks[i].begin, 0xff, bytes);
      held += bytes;
      *at = (size_t)blocks[i].begin;
      result = OK;
      break;
    }
  pthread_mutex_unlock(&lock);
  return result;
}
int cuMemFree_v2(unsigned long long at) {
  int result = INVALID;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST; ++i)
    if (blocks[i].begin && blocks[i].begin == (char *)(size_t)at) {
      held -= blocks[i].bytes;
      free(blocks[i].begin);
      blocks[i].begin = NULL;
      result = OK;
    }
  pthread_mutex_unlock(&lock);
  return result;
}
static int copy(void *to, const void *from, size_t bytes, unsigned long long device) {
  if (!current)
    return NO_CONTEXT;
  pthread_mutex_lock(&lock);
  int result = isDevice(device, bytes) ? OK : INVALID;
  pthread_mutex_unlock(&lock);
  if (result == OK)
    memcpy(to, from, bytes);
  return result;
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes, void *stream) {
  (void)stream;
  return copy((void *)(size_t)to, from, bytes, to);
}
int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes, void *stream) {
  (void)stream;
  return copy(to, (const void *)(size_t)from, bytes, from);
}
int cuStreamCreate(void **stream, unsigned flags) {
  (void)flags;
  return *stream = malloc(1), current ? OK : NO_CONTEXT;
}
int cuStreamDestroy_v2(void *stream) { return free(stream), OK; }
int cuStreamSynchronize(void *stream) {
  (void)stream;
  return !current ? NO_CONTEXT : faulted ? ADDRESS : OK;
}
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                   unsigned by, unsigned bz, unsigned sharedBytes, void *stream,
                   void **params, void **extra) {
  (void)sharedBytes, (void)stream;
  if (!current)
    return NO_CONTEXT;
  if (params || !extra || extra[0] != (void *)1 || extra[2] != (void *)2 || extra[4] ||
      !gx || !gy || !gz || bx * by * bz > 1024)
    return INVALID;
  if (*(size_t *)extra[3] % 8)
    return INVALID;
  if (setting("FAKE_CUDA_FAULT", 0))
    return faulted = 1, OK;
  struct fake_kernel *kernel = function;
  for (unsigned block = 0; block < gx * gy * gz; ++block)
    for (unsigned thread = 0; thread < bx; ++thread)
      kernel->run(block, thread, extra[1]);
  return OK;
}

int fake_cuda_contexts(void) { return contexts; }
size_t fake_cuda_held(void) { return held; }
void fake_cuda_recover(void) { faulted = 0; }
