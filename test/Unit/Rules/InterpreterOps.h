//===- InterpreterOps.h - Between the interpreter's files -------*- C++ -*-===//
#ifndef SHARDC_TEST_UNIT_RULES_INTERPRETEROPS_H
#define SHARDC_TEST_UNIT_RULES_INTERPRETEROPS_H

#include "Interpreter.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Region.h"
#include "shardc/Dialect/Spmd/IR/SpmdForward.h"

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

int64_t combineKind(spmd::ReductionKind kind, int64_t lhs, int64_t rhs);
/// A plan of rows or a use of one on all ranks: nothing, or what it could not
/// do; nullopt for other ops.
std::optional<std::string> runRows(mlir::Operation *op,
                                   std::vector<Environment> &ranks,
                                   const TestMesh &mesh);

} // namespace shardc::test

#endif // SHARDC_TEST_UNIT_RULES_INTERPRETEROPS_H
