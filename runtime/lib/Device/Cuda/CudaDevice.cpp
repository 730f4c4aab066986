//===- CudaDevice.cpp - A GPU through the CUDA driver ---------------------===//

#include "Device/Cuda/CudaDevice.h"

using namespace shardrt;

std::unique_ptr<Device> shardrt::openCudaDevice(const DeviceCode &, int64_t,
                                                int64_t, int &status,
                                                std::string &error) {
  status = SHARDRT_UNSUPPORTED;
  error = "programs for CUDA are compiled, but not run, by this version; "
          "--device=emulated-cuda runs them on the host";
  return nullptr;
}
