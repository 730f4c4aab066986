//===- RoundBFloats.h - f32 to bf16, in words of 32 bits --------*- C++ -*-===//
#ifndef SHARDC_LIB_KERNELGEN_CPU_ROUNDBFLOATS_H
#define SHARDC_LIB_KERNELGEN_CPU_ROUNDBFLOATS_H

#include "mlir/Pass/Pass.h"

namespace shardc {

/// In loops and vectors, while functions are one op each: f32 is rounded to
/// bf16 by integer arithmetic on words of 32 bits, where what goes on in f32
/// stays.
std::unique_ptr<mlir::Pass> createRoundBFloatsPass();

} // namespace shardc

#endif // SHARDC_LIB_KERNELGEN_CPU_ROUNDBFLOATS_H
