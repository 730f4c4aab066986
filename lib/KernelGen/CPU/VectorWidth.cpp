//===- VectorWidth.cpp - Vectors and bf16 that CPUs have ------------------===//
#include "shardc/KernelGen/CPU.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

/// What the processor that compiles has. Asking it takes a tenth of a
/// millisecond where a virtual machine answers.
static const llvm::StringMap<bool> &hostFeatures() {
  static const auto *features =
      new llvm::StringMap<bool>(llvm::sys::getHostCPUFeatures());
  return *features;
}

unsigned shardc::preferredVectorBits(llvm::StringRef arch) {
  llvm::StringRef cpu = arch.split(',').first;
  if (cpu.empty() || cpu == "native") {
    const llvm::StringMap<bool> &features = hostFeatures();
    if (features.lookup("avx512f") && features.lookup("avx512vl"))
      return 512;
    return features.lookup("avx2") ? 256 : 128;
  }
  if (cpu == "x86-64-v4" || cpu.starts_with("znver4") ||
      cpu.starts_with("znver5") || cpu.starts_with("skylake-avx512") ||
      cpu.starts_with("icelake") || cpu.starts_with("sapphirerapids") ||
      cpu.starts_with("cascadelake") || arch.contains("+avx512f"))
    return 512;
  if (cpu == "x86-64-v3" || cpu.starts_with("haswell") ||
      cpu.starts_with("broadwell") || cpu.starts_with("skylake") ||
      cpu.starts_with("alderlake") || cpu.starts_with("znver") ||
      arch.contains("+avx2"))
    return 256;
  return 128;
}

bool shardc::hasAvx512Bf16(llvm::StringRef arch) {
  llvm::StringRef cpu = arch.split(',').first;
  if (cpu.empty() || cpu == "native")
    return hostFeatures().lookup("avx512bf16");
  return cpu.starts_with("znver4") || cpu.starts_with("znver5") ||
         cpu.starts_with("cooperlake") || cpu.starts_with("sapphirerapids") ||
         arch.contains("+avx512bf16");
}
