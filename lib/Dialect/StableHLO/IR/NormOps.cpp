//===- NormOps.cpp - Batch normalisation: checks --------------------------===//
#include "Verify.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::stablehlo;
using namespace shardc::stablehlo::checks;

static RankedTensorType operandOf(Operation *op) {
  return cast<RankedTensorType>(op->getOperand(0).getType());
}

static int64_t featureDimOf(Operation *op) {
  return cast<IntegerAttr>(*op->getInherentAttr("feature_index")).getInt();
}

/// Operands and results that have as many elements as the operand, or those
/// that have one for each feature.
static SmallVector<RankedTensorType> typesOf(Operation *op, bool ofFeatures) {
  SmallVector<RankedTensorType> types;
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
    if (ofFeatures != (i == 0 || (isa<BatchNormGradOp>(op) && i == 4)))
      types.push_back(cast<RankedTensorType>(type));
  for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
    if (ofFeatures != (i == 0))
      types.push_back(cast<RankedTensorType>(type));
  return types;
}

bool checks::hasFeatureDim(Operation *op) {
  int64_t dim = featureDimOf(op);
  return dim >= 0 && dim < operandOf(op).getRank();
}

bool checks::haveElementsForFeatures(Operation *op) {
  int64_t features = operandOf(op).getDimSize(featureDimOf(op));
  return llvm::all_of(
      typesOf(op, /*ofFeatures=*/true), [&](RankedTensorType type) {
        return type.getRank() == 1 && sizesAgree(type.getDimSize(0), features);
      });
}

bool checks::haveShapeOfOperand(Operation *op) {
  return llvm::all_of(
      typesOf(op, /*ofFeatures=*/false), [&](RankedTensorType type) {
        return succeeded(
            verifyCompatibleShape(type.getShape(), operandOf(op).getShape()));
      });
}

bool checks::haveOneElementType(Operation *op) {
  auto isLikeOperand = [&](Type type) {
    return getElementTypeOrSelf(type) == operandOf(op).getElementType();
  };
  return llvm::all_of(op->getOperandTypes(), isLikeOperand) &&
         llvm::all_of(op->getResultTypes(), isLikeOperand);
}
