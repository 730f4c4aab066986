//===- AddOutputs.h - The output of attention that nobody wants -*- C++ -*-===//
#ifndef SHARDC_LIB_RAISE_ADDOUTPUTS_H
#define SHARDC_LIB_RAISE_ADDOUTPUTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace shardc::raise {

/// Writes the product of probabilities and values where a program has its
/// gradient alone. Nobody uses it: what is not raised with it goes with the
/// next clean-up.
void addOutputs(mlir::func::FuncOp func);

} // namespace shardc::raise

#endif // SHARDC_LIB_RAISE_ADDOUTPUTS_H
