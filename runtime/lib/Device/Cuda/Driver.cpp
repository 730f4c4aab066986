//===- Driver.cpp - The CUDA driver's functions ---------------------------===//

#include "Device/Cuda/Driver.h"
#include <cstdlib>
#include <dlfcn.h>

using namespace shardrt::cuda;

std::string Driver::nameOf(Result result) const {
  const char *name = nullptr;
  if (getErrorName && getErrorName(result, &name) == success && name)
    return name;
  return "error " + std::to_string(result);
}

std::string Driver::version() const {
  int number = 0;
  if (driverGetVersion(&number) != success)
    return "unknown";
  return std::to_string(number / 1000) + "." +
         std::to_string(number % 1000 / 10);
}

namespace {
/// The result of opening, for the whole process.
struct Opened {
  Driver driver;
  std::string error;
  Opened();
};
} // namespace

Opened::Opened() {
  const char *given = std::getenv("SHARDRT_CUDA_LIBRARY");
  const char *path = given && *given ? given : "libcuda.so.1";
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    error = std::string("no CUDA driver: ") + path +
            " cannot be opened; --device=emulated-cuda needs none";
    return;
  }
#define SHARDRT_CUDA_LOAD(SYMBOL, NAME, ARGUMENTS)                             \
  driver.NAME =                                                                \
      reinterpret_cast<Result(*) ARGUMENTS>(dlsym(library, #SYMBOL));          \
  if (!driver.NAME && error.empty())                                           \
    error = std::string("the CUDA driver ") + path +                           \
            " has no " #SYMBOL ": it is too old";
  SHARDRT_CUDA_FUNCTIONS(SHARDRT_CUDA_LOAD)
#undef SHARDRT_CUDA_LOAD
#define SHARDRT_CUDA_TRY(SYMBOL, NAME, ARGUMENTS)                              \
  driver.NAME = reinterpret_cast<Result(*) ARGUMENTS>(dlsym(library, #SYMBOL));
  SHARDRT_CUDA_NEWER_FUNCTIONS(SHARDRT_CUDA_TRY)
#undef SHARDRT_CUDA_TRY
  if (!error.empty())
    return;
  if (Result result = driver.init(0); result != success)
    error = result == noDevice
                ? "no CUDA device: the driver finds none"
                : "the CUDA driver does not start: " + driver.nameOf(result);
}

const Driver *shardrt::cuda::openDriver(std::string &error) {
  // Never closed: contexts may outlive whoever opened it first.
  static const Opened opened;
  if (opened.error.empty())
    return &opened.driver;
  error = opened.error;
  return nullptr;
}
