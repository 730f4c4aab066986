//===- BFloatBits.h - bf16 as words of 16 bits ------------------*- C++ -*-===//
#ifndef SHARDC_LIB_KERNELGEN_CPU_BFLOATBITS_H
#define SHARDC_LIB_KERNELGEN_CPU_BFLOATBITS_H

#include "mlir/Pass/Pass.h"

namespace shardc {

/// In the LLVM dialect, once conversions are integer arithmetic: whatever
/// loads, stores, selects or moves bf16 does so with words of 16 bits. For
/// processors without bf16, LLVM keeps elements of such vectors as f32 and
/// calls a function of compilers' libraries to make bf16 of each again.
std::unique_ptr<mlir::Pass> createBFloatBitsPass();

} // namespace shardc

#endif // SHARDC_LIB_KERNELGEN_CPU_BFLOATBITS_H
