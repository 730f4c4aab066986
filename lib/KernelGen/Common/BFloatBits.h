//===- BFloatBits.h - bf16 as words of 16 bits ------------------*- C++ -*-===//
#ifndef SHARDC_LIB_KERNELGEN_COMMON_BFLOATBITS_H
#define SHARDC_LIB_KERNELGEN_COMMON_BFLOATBITS_H

#include "mlir/Pass/Pass.h"

namespace shardc {

/// In the LLVM dialect, once conversions are integer arithmetic: whatever
/// loads, stores, selects or moves bf16 does so with words of 16 bits, in the
/// functions of a module. Else LLVM keeps such elements as f32 on hosts and
/// makes bf16 of them again: by a function of compilers' libraries, or by an
/// instruction that turns subnormal numbers into zero.
std::unique_ptr<mlir::Pass> createBFloatBitsPass();

} // namespace shardc

#endif // SHARDC_LIB_KERNELGEN_COMMON_BFLOATBITS_H
