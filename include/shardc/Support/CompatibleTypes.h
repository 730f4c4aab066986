//===- CompatibleTypes.h - Static types that agree --------------*- C++ -*-===//
#ifndef SHARDC_SUPPORT_COMPATIBLETYPES_H
#define SHARDC_SUPPORT_COMPATIBLETYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeRange.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

namespace shardc {

/// True if both lists have one length, and each pair the same element type and
/// shapes that agree wherever both are static. Types that have no shape must
/// be equal.
inline bool areCompatibleTypes(mlir::TypeRange lhs, mlir::TypeRange rhs) {
  return llvm::all_of_zip(lhs, rhs, [](mlir::Type l, mlir::Type r) {
    auto left = llvm::dyn_cast<mlir::ShapedType>(l),
         right = llvm::dyn_cast<mlir::ShapedType>(r);
    if (!left || !right)
      return l == r;
    return left.getElementType() == right.getElementType() &&
           llvm::succeeded(mlir::verifyCompatibleShape(left, right));
  });
}

/// Infers the result types of `op`, which says what is wrong if that fails, and
/// compares them with those it has. `OpT` has InferTypeOpInterface.
template <typename OpT> llvm::LogicalResult verifyInferredTypes(OpT op) {
  llvm::SmallVector<mlir::Type> expected;
  if (failed(OpT::inferReturnTypes(
          op->getContext(), op->getLoc(), op->getOperands(),
          op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
          op->getRegions(), expected)))
    return llvm::failure();
  for (auto [result, type] : llvm::zip_equal(op->getResults(), expected))
    if (!areCompatibleTypes(result.getType(), type))
      return op->emitOpError("result ")
             << result.getResultNumber() << " has type " << result.getType()
             << ", expected " << type;
  return llvm::success();
}

} // namespace shardc

#endif // SHARDC_SUPPORT_COMPATIBLETYPES_H
