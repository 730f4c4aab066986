//===- Driver.h - The CUDA driver's functions -------------------*- C++ -*-===//
//
// Declared here, since CUDA's headers need not be there; opened at run time.
// Types and numbers are those of the driver's stable ABI.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_CUDA_DRIVER_H
#define SHARDRT_DEVICE_CUDA_DRIVER_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace shardrt::cuda {

using Result = int; ///< CUresult
using DeviceId = int;
using DevicePtr = unsigned long long;
using ContextHandle = void *;
using ModuleHandle = void *;
using FunctionHandle = void *;
using StreamHandle = void *;
using EventHandle = void *;
using GraphHandle = void *;
using GraphExecHandle = void *;

/// CUDA_MEMCPY2D, what cuMemcpy2DAsync is given: rows of `widthBytes` bytes,
/// `pitch` bytes apart.
struct Copy2D {
  size_t srcX = 0, srcY = 0;
  unsigned srcType = 0;
  const void *srcHost = nullptr;
  DevicePtr srcDevice = 0;
  void *srcArray = nullptr;
  size_t srcPitch = 0;
  size_t dstX = 0, dstY = 0;
  unsigned dstType = 0;
  void *dstHost = nullptr;
  DevicePtr dstDevice = 0;
  void *dstArray = nullptr;
  size_t dstPitch = 0;
  size_t widthBytes = 0, height = 0;
};

constexpr Result success = 0;
constexpr Result outOfMemory = 2;
constexpr Result noDevice = 100;
constexpr Result invalidImage = 200;
constexpr Result noBinaryForGpu = 209;
constexpr Result invalidPtx = 218;
constexpr Result unsupportedPtxVersion = 222;
constexpr int capabilityMajor = 75,
              capabilityMinor = 76;                  ///< CUdevice_attribute
constexpr int jitErrorLog = 5, jitErrorLogBytes = 6; ///< CUjit_option
constexpr int multiprocessorCount = 16;              ///< CUdevice_attribute
constexpr int maxDynamicSharedBytes = 8;             ///< CUfunction_attribute
constexpr int swizzle128 = 3, promote256 = 3;        ///< of CUtensorMap
constexpr Result notFound = 500;
constexpr unsigned streamNonBlocking = 1;
constexpr int captureRelaxed = 2; ///< CUstreamCaptureMode
constexpr unsigned eventDisableTiming = 2;
/// CUgraphExecUpdateResultInfo: what stood against an update, and where.
struct GraphUpdateResult {
  int result;
  void *node, *from;
};
constexpr Result notReady = 600;
constexpr Result peerAccessAlreadyEnabled = 704;
constexpr unsigned memoryTypeUnified = 4; ///< CU_MEMORYTYPE_UNIFIED
/// CU_LAUNCH_PARAM_*: what the words of cuLaunchKernel's `extra` are.
inline void *const paramEnd = nullptr;
inline void *const paramPointer = reinterpret_cast<void *>(uintptr_t(1));
inline void *const paramSize = reinterpret_cast<void *>(uintptr_t(2));

// Name in the library, name here, arguments. The suffix is the ABI's version.
#define SHARDRT_CUDA_FUNCTIONS(F)                                              \
  F(cuInit, init, (unsigned))                                                  \
  F(cuDriverGetVersion, driverGetVersion, (int *))                             \
  F(cuGetErrorName, getErrorName, (Result, const char **))                     \
  F(cuDeviceGetCount, deviceGetCount, (int *))                                 \
  F(cuDeviceGet, deviceGet, (DeviceId *, int))                                 \
  F(cuDeviceGetName, deviceGetName, (char *, int, DeviceId))                   \
  F(cuDeviceGetAttribute, deviceGetAttribute, (int *, int, DeviceId))          \
  F(cuDeviceTotalMem_v2, deviceTotalMem, (size_t *, DeviceId))                 \
  F(cuDevicePrimaryCtxRetain, primaryCtxRetain, (ContextHandle *, DeviceId))   \
  F(cuDevicePrimaryCtxRelease_v2, primaryCtxRelease, (DeviceId))               \
  F(cuCtxSetCurrent, ctxSetCurrent, (ContextHandle))                           \
  F(cuModuleLoadDataEx, moduleLoadDataEx,                                      \
    (ModuleHandle *, const void *, unsigned, int *, void **))                  \
  F(cuModuleUnload, moduleUnload, (ModuleHandle))                              \
  F(cuModuleGetFunction, moduleGetFunction,                                    \
    (FunctionHandle *, ModuleHandle, const char *))                            \
  F(cuMemAlloc_v2, memAlloc, (DevicePtr *, size_t))                            \
  F(cuMemGetInfo_v2, memGetInfo, (size_t *, size_t *))                         \
  F(cuMemFree_v2, memFree, (DevicePtr))                                        \
  F(cuMemcpyHtoDAsync_v2, memcpyHtoDAsync,                                     \
    (DevicePtr, const void *, size_t, StreamHandle))                           \
  F(cuMemcpyDtoHAsync_v2, memcpyDtoHAsync,                                     \
    (void *, DevicePtr, size_t, StreamHandle))                                 \
  F(cuMemcpyAsync, memcpyAsync, (DevicePtr, DevicePtr, size_t, StreamHandle))  \
  F(cuMemcpy2DAsync_v2, memcpy2DAsync, (const void *, StreamHandle))           \
  F(cuMemsetD8Async, memsetD8Async,                                            \
    (DevicePtr, unsigned char, size_t, StreamHandle))                          \
  F(cuMemsetD2D8Async, memsetD2D8Async,                                        \
    (DevicePtr, size_t, unsigned char, size_t, size_t, StreamHandle))          \
  F(cuDeviceCanAccessPeer, deviceCanAccessPeer, (int *, DeviceId, DeviceId))   \
  F(cuCtxEnablePeerAccess, ctxEnablePeerAccess, (ContextHandle, unsigned))     \
  F(cuEventCreate, eventCreate, (EventHandle *, unsigned))                     \
  F(cuEventDestroy_v2, eventDestroy, (EventHandle))                            \
  F(cuEventRecord, eventRecord, (EventHandle, StreamHandle))                   \
  F(cuStreamWaitEvent, streamWaitEvent, (StreamHandle, EventHandle, unsigned)) \
  F(cuStreamCreate, streamCreate, (StreamHandle *, unsigned))                  \
  F(cuStreamDestroy_v2, streamDestroy, (StreamHandle))                         \
  F(cuStreamBeginCapture_v2, streamBeginCapture, (StreamHandle, int))          \
  F(cuStreamEndCapture, streamEndCapture, (StreamHandle, GraphHandle *))       \
  F(cuGraphInstantiateWithFlags, graphInstantiate,                             \
    (GraphExecHandle *, GraphHandle, unsigned long long))                      \
  F(cuGraphLaunch, graphLaunch, (GraphExecHandle, StreamHandle))               \
  F(cuGraphExecDestroy, graphExecDestroy, (GraphExecHandle))                   \
  F(cuGraphDestroy, graphDestroy, (GraphHandle))                               \
  F(cuStreamQuery, streamQuery, (StreamHandle))                                \
  F(cuStreamSynchronize, streamSynchronize, (StreamHandle))                    \
  F(cuFuncSetAttribute, funcSetAttribute, (FunctionHandle, int, int))          \
  F(cuLaunchKernel, launchKernel,                                              \
    (FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned,         \
     unsigned, unsigned, StreamHandle, void **, void **))

// What drivers before CUDA 12 lack: NULL there.
#define SHARDRT_CUDA_NEWER_FUNCTIONS(F)                                        \
  F(cuDeviceGetUuid_v2, deviceGetUuid, (unsigned char *, DeviceId))            \
  F(cuGraphExecUpdate_v2, graphExecUpdate,                                     \
    (GraphExecHandle, GraphHandle, void *))                                    \
  F(cuTensorMapEncodeTiled, tensorMapEncodeTiled,                              \
    (void *, int, unsigned, void *, const uint64_t *, const uint64_t *,        \
     const unsigned *, const unsigned *, int, int, int, int))                  \
  F(cuTensorMapEncodeIm2col, tensorMapEncodeIm2col,                            \
    (void *, int, unsigned, void *, const uint64_t *, const uint64_t *,        \
     const int *, const int *, unsigned, unsigned, const unsigned *, int, int, \
     int, int))

/// The library's functions.
struct Driver {
#define SHARDRT_CUDA_MEMBER(SYMBOL, NAME, ARGUMENTS)                           \
  Result(*NAME) ARGUMENTS = nullptr;
  SHARDRT_CUDA_FUNCTIONS(SHARDRT_CUDA_MEMBER)
  SHARDRT_CUDA_NEWER_FUNCTIONS(SHARDRT_CUDA_MEMBER)
#undef SHARDRT_CUDA_MEMBER

  /// "CUDA_ERROR_OUT_OF_MEMORY", or the number.
  std::string nameOf(Result result) const;
  /// "13.0", or "unknown".
  std::string version() const;
};

/// The driver, opened and initialised by the first call of the process: from
/// the path in SHARDRT_CUDA_LIBRARY, else libcuda.so.1. NULL with a reason.
const Driver *openDriver(std::string &error);

} // namespace shardrt::cuda

#endif // SHARDRT_DEVICE_CUDA_DRIVER_H
