//===- CPU.h - What CPUs have for kernels -----------------------*- C++ -*-===//
#ifndef SHARDC_KERNELGEN_CPU_H
#define SHARDC_KERNELGEN_CPU_H

#include "llvm/ADT/StringRef.h"

namespace shardc {

/// Bits of the widest vector register worth using on `arch`: 512, 256 or 128.
unsigned preferredVectorBits(llvm::StringRef arch);

/// Whether `arch` adds products of pairs of bf16 to f32 in one instruction.
bool hasDotBf16(llvm::StringRef arch);

} // namespace shardc

#endif // SHARDC_KERNELGEN_CPU_H
