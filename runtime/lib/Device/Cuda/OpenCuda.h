//===- OpenCuda.h - GPUs through the CUDA driver ----------------*- C++ -*-===//
//
// The driver (libcuda.so.1) is opened when the first rank asks for a device:
// nothing of CUDA is needed to build or to start.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_CUDA_OPENCUDA_H
#define SHARDRT_DEVICE_CUDA_OPENCUDA_H

#include "Device/Device.h"

namespace shardrt {

/// The GPU of `rank`: ranks share GPUs in turn where there are fewer. NULL with
/// a reason: no driver, no device, an image that it cannot load.
std::unique_ptr<Device> openCudaDevice(const DeviceCode &code, int64_t rank,
                                       int64_t numRanks, int &status,
                                       std::string &error);

} // namespace shardrt

#endif // SHARDRT_DEVICE_CUDA_OPENCUDA_H
