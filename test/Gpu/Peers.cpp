//===- Peers.cpp - What a GPU gives to others -----------------------------===//
//
// The figures that kernels are held against, on the same device in the same
// run: what a copy reaches, what a launch costs, what cuBLASLt makes of a
// matrix product. Everything is opened at run time; what is not there is said.
//
//   gpu-peers [--bytes=N] [--size=N]
//
// Prints one line a figure, of fields with tabs between: name, value, unit, and
// what there is to say. Always exits with 0: figures are no tests.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <vector>

namespace {
using DevicePtr = unsigned long long;

/// The driver's functions that are needed here.
struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*deviceGet)(int *, int) = nullptr;
  int (*primaryCtxRetain)(void **, int) = nullptr;
  int (*ctxSetCurrent)(void *) = nullptr;
  int (*memAlloc)(DevicePtr *, size_t) = nullptr;
  int (*memFree)(DevicePtr) = nullptr;
  int (*memcpyAsync)(DevicePtr, DevicePtr, size_t, void *) = nullptr;
  int (*streamCreate)(void **, unsigned) = nullptr;
  int (*streamSynchronize)(void *) = nullptr;
  int (*moduleLoad)(void **, const void *, unsigned, int *, void **) = nullptr;
  int (*moduleGetFunction)(void **, void *, const char *) = nullptr;
  int (*launchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, unsigned, void *, void **, void **) = nullptr;
};
} // namespace

static void say(const char *name, double value, const char *unit,
                const std::string &text) {
  if (value > 0)
    std::printf("%s\t%.4g\t%s\t%s\n", name, value, unit, text.c_str());
  else
    std::printf("%s\t-\t%s\tnot measured: %s\n", name, unit, text.c_str());
}

template <typename Function>
static bool find(void *library, Function &function, const char *name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// Least microseconds of `runs` calls of `body`, which waits for its work.
template <typename Body> static double leastUs(int runs, Body body) {
  double least = 1e30;
  for (int i = 0; i < runs; ++i) {
    auto start = std::chrono::steady_clock::now();
    if (!body())
      return -1;
    std::chrono::duration<double, std::micro> took =
        std::chrono::steady_clock::now() - start;
    least = std::min(least, took.count());
  }
  return least;
}

static void measureCopy(const Driver &driver, void *stream, int64_t bytes) {
  DevicePtr from = 0, to = 0;
  double us = -1;
  // Many in a row, so that starting them does not count.
  constexpr int inRow = 10;
  if (driver.memAlloc(&from, bytes) == 0 && driver.memAlloc(&to, bytes) == 0)
    us = leastUs(5, [&] {
      for (int i = 0; i < inRow; ++i)
        if (driver.memcpyAsync(to, from, bytes, stream) != 0)
          return false;
      return driver.streamSynchronize(stream) == 0;
    });
  if (from)
    driver.memFree(from);
  if (to)
    driver.memFree(to);
  say("copy in device memory", us > 0 ? 2e-3 * inRow * bytes / us : -1, "GB/s",
      us > 0
          ? "read and written, of " + std::to_string(bytes) + " bytes"
          : "no memory for two buffers of " + std::to_string(bytes) + " bytes");
}

static void measureLaunch(const Driver &driver, void *stream) {
  static const char text[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                             ".visible .entry nothing() { ret; }\n";
  void *module = nullptr, *function = nullptr;
  char log[256] = "";
  int options[] = {5, 6}; // where the assembler writes what is wrong
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  double us = -1, alone = -1;
  constexpr int inRow = 1000;
  auto launch = [&] {
    return driver.launchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, nullptr,
                               nullptr) == 0;
  };
  if (driver.moduleLoad(&module, text, 2, options, values) == 0 &&
      driver.moduleGetFunction(&function, module, "nothing") == 0) {
    us = leastUs(5, [&] {
      for (int i = 0; i < inRow; ++i)
        if (!launch())
          return false;
      return driver.streamSynchronize(stream) == 0;
    });
    alone = leastUs(
        100, [&] { return launch() && driver.streamSynchronize(stream) == 0; });
  }
  std::string why = "the driver does not take a kernel in PTX";
  say("launch, many in a row", us > 0 ? us / inRow : -1, "us",
      us > 0 ? "" : why);
  say("launch and wait", alone, "us", alone > 0 ? "" : why);
}

/// A product of two `size` x `size` matrices of bf16, summed in f32.
static void measureProduct(const Driver &driver, void *stream, int64_t size) {
  const char *name = "cuBLASLt, bf16 matrix product";
  void *library = nullptr;
  for (const char *file :
       {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"})
    if (!library)
      library = dlopen(file, RTLD_NOW);
  int (*create)(void **), (*descCreate)(void **, int, int),
      (*layoutCreate)(void **, int, uint64_t, uint64_t, int64_t),
      (*preferenceCreate)(void **),
      (*preferenceSet)(void *, int, const void *, size_t),
      (*heuristic)(void *, void *, void *, void *, void *, void *, void *, int,
                   void *, int *),
      (*matmul)(void *, void *, const void *, DevicePtr, void *, DevicePtr,
                void *, const void *, DevicePtr, void *, DevicePtr, void *,
                const void *, DevicePtr, size_t, void *);
  if (!library)
    return say(name, -1, "TFLOP/s", "there is no libcublasLt.so");
  if (!find(library, create, "cublasLtCreate") ||
      !find(library, descCreate, "cublasLtMatmulDescCreate") ||
      !find(library, layoutCreate, "cublasLtMatrixLayoutCreate") ||
      !find(library, preferenceCreate, "cublasLtMatmulPreferenceCreate") ||
      !find(library, preferenceSet, "cublasLtMatmulPreferenceSetAttribute") ||
      !find(library, heuristic, "cublasLtMatmulAlgoGetHeuristic") ||
      !find(library, matmul, "cublasLtMatmul"))
    return say(name, -1, "TFLOP/s", "its functions have other names");
  enum { R32F = 0, R16BF = 14, Compute32F = 68, MaxWorkspace = 1 };
  void *handle = nullptr, *desc = nullptr, *layout = nullptr,
       *preference = nullptr;
  uint64_t workspaceBytes = 32 << 20;
  // cublasLtMatmulHeuristicResult_t, the algorithm first; with room to spare.
  alignas(16) unsigned char found[1024] = {};
  int count = 0;
  DevicePtr memory[4] = {};
  bool done =
      create(&handle) == 0 && descCreate(&desc, Compute32F, R32F) == 0 &&
      layoutCreate(&layout, R16BF, size, size, size) == 0 &&
      preferenceCreate(&preference) == 0 &&
      preferenceSet(preference, MaxWorkspace, &workspaceBytes, 8) == 0 &&
      heuristic(handle, desc, layout, layout, layout, layout, preference, 1,
                found, &count) == 0 &&
      count > 0;
  for (int i = 0; done && i < 4; ++i)
    done = driver.memAlloc(&memory[i],
                           i < 3 ? 2 * size * size : workspaceBytes) == 0;
  float one = 1, zero = 0;
  constexpr int inRow = 5;
  double us = !done ? -1 : leastUs(4, [&] {
    for (int i = 0; i < inRow; ++i)
      if (matmul(handle, desc, &one, memory[0], layout, memory[1], layout,
                 &zero, memory[2], layout, memory[2], layout, found, memory[3],
                 workspaceBytes, stream) != 0)
        return false;
    return driver.streamSynchronize(stream) == 0;
  });
  for (DevicePtr at : memory)
    if (at)
      driver.memFree(at);
  double work = 2.0 * size * size * size * inRow;
  say(name, us > 0 ? work / us * 1e-6 : -1, "TFLOP/s",
      us > 0 ? std::to_string(size) + " cubed, contents not set"
             : "it refuses a product of " + std::to_string(size) + " cubed");
}

int main(int argc, char **argv) {
  int64_t bytes = int64_t(256) << 20, size = 8192;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--bytes=", 8) == 0)
      bytes = std::atoll(argv[i] + 8);
    if (std::strncmp(argv[i], "--size=", 7) == 0)
      size = std::atoll(argv[i] + 7);
  }
  const char *file = std::getenv("SHARDRT_CUDA_LIBRARY");
  void *library = dlopen(file ? file : "libcuda.so.1", RTLD_NOW);
  Driver driver;
  void *context = nullptr, *stream = nullptr;
  int device = 0;
  const char *why = nullptr;
  if (!library)
    why = "there is no CUDA driver";
  else if (!find(library, driver.init, "cuInit") ||
           !find(library, driver.deviceGet, "cuDeviceGet") ||
           !find(library, driver.primaryCtxRetain,
                 "cuDevicePrimaryCtxRetain") ||
           !find(library, driver.ctxSetCurrent, "cuCtxSetCurrent") ||
           !find(library, driver.memAlloc, "cuMemAlloc_v2") ||
           !find(library, driver.memFree, "cuMemFree_v2") ||
           !find(library, driver.memcpyAsync, "cuMemcpyAsync") ||
           !find(library, driver.streamCreate, "cuStreamCreate") ||
           !find(library, driver.streamSynchronize, "cuStreamSynchronize") ||
           !find(library, driver.moduleLoad, "cuModuleLoadDataEx") ||
           !find(library, driver.moduleGetFunction, "cuModuleGetFunction") ||
           !find(library, driver.launchKernel, "cuLaunchKernel"))
    why = "the CUDA driver lacks a function";
  else if (driver.init(0) != 0 || driver.deviceGet(&device, 0) != 0 ||
           driver.primaryCtxRetain(&context, device) != 0 ||
           driver.ctxSetCurrent(context) != 0 ||
           driver.streamCreate(&stream, 1) != 0)
    why = "there is no CUDA device";
  if (why) {
    say("copy in device memory", -1, "GB/s", why);
    say("launch, many in a row", -1, "us", why);
    say("launch and wait", -1, "us", why);
    say("cuBLASLt, bf16 matrix product", -1, "TFLOP/s", why);
    return 0;
  }
  measureCopy(driver, stream, bytes);
  measureLaunch(driver, stream);
  measureProduct(driver, stream, size);
  return 0;
}
