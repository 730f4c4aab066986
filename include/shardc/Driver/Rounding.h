//===- Rounding.h - What tf32 may change of results -------------*- C++ -*-===//
//
// On GPUs, --precision=default lets products of f32 whose precision is DEFAULT
// round their factors to tf32, attention of 16-bit floats its weights to 16
// bits, and products of 8-bit floats their sums. wgmma leaves out the last 13
// bits of a factor: a product of two is off by at most 2^-9 of itself, of a
// rounded weight by 2^-9 (bf16) or 2^-12 (f16). Sums of products of 8-bit
// floats, cut as they grow, are taken to be off as if each of these were by
// 2^-9. Where signs are mixed, a sum of n such is sqrt(n) times smaller than
// what was added up, so it is off by at most sqrt(n) times that, of the root of
// the mean of the squares of all results. Errors of a product's factors come on
// top, as independent ones add: by their squares. What is between products is
// taken to keep them as they are.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DRIVER_ROUNDING_H
#define SHARDC_DRIVER_ROUNDING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Driver/Model.h"
#include <vector>

namespace shardc {

/// For each result of `main` how far it may be from its value without such
/// rounding, as a part of the root of the mean of its squares; 0 where no
/// product rounds. Dims of unknown size have `openExtent` elements. The bodies
/// of loops count as if they were passed once.
std::vector<double> roundingOfResults(mlir::func::FuncOp main,
                                      int64_t openExtent);

/// The same of a model.
llvm::Expected<std::vector<double>> roundingOfResults(llvm::StringRef name,
                                                      ModelOptions options,
                                                      DiagnosticSink &sink,
                                                      int64_t openExtent);

} // namespace shardc

#endif // SHARDC_DRIVER_ROUNDING_H
