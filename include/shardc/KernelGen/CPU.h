//===- CPU.h - What CPUs have for kernels -----------------------*- C++ -*-===//
#ifndef SHARDC_KERNELGEN_CPU_H
#define SHARDC_KERNELGEN_CPU_H

#include "llvm/ADT/StringRef.h"

namespace shardc {

/// Bits of the widest vector register worth using on `arch`: 512, 256 or 128.
unsigned preferredVectorBits(llvm::StringRef arch);

/// Whether `arch` has AVX512-BF16: products of pairs of bf16 added to f32, and
/// f32 rounded to bf16, in one instruction.
bool hasAvx512Bf16(llvm::StringRef arch);

} // namespace shardc

#endif // SHARDC_KERNELGEN_CPU_H
