//===- InterpreterOps.h - Between the interpreter's files -------*- C++ -*-===//
#ifndef SHARDC_TEST_UNIT_RULES_INTERPRETEROPS_H
#define SHARDC_TEST_UNIT_RULES_INTERPRETEROPS_H

#include "Interpreter.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Region.h"

namespace shardc::test {

bool isBool(mlir::Type type);
int64_t hashOf(llvm::StringRef name, llvm::ArrayRef<int64_t> values);
Tensor constantOf(mlir::Attribute attribute);
/// An op on operands of one shape, or scalars beside it.
Tensor elementwise(mlir::Operation *op, llvm::ArrayRef<Tensor> operands);
/// A region of elementwise ops; what it returns.
std::vector<Tensor> apply(mlir::Region &region,
                          llvm::ArrayRef<Tensor> arguments,
                          Environment &environment);

/// One op of stablehlo or chlo; no results if it is unknown.
std::vector<Tensor> runStableHLO(mlir::Operation *op,
                                 llvm::ArrayRef<Tensor> operands,
                                 Environment &environment);
/// Those of it that address by indices, sort, or transform whole dims.
std::vector<Tensor> runAddressing(mlir::Operation *op,
                                  llvm::ArrayRef<Tensor> operands,
                                  Environment &environment);

} // namespace shardc::test

#endif // SHARDC_TEST_UNIT_RULES_INTERPRETEROPS_H
