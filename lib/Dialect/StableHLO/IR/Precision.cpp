//===- Precision.cpp - How exact products are to be -----------------------===//

#include "shardc/Dialect/StableHLO/IR/Precision.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;

llvm::StringRef shardc::stablehlo::tensorFloatOf(Operation *product) {
  if (auto dot = dyn_cast<DotGeneralOp>(product))
    if (auto algorithm = dot.getAlgorithmAttr()) {
      if (!isa<FloatTF32Type>(algorithm.getLhsPrecisionType()) ||
          !isa<FloatTF32Type>(algorithm.getRhsPrecisionType()))
        return "";
      return algorithm.getNumPrimitiveOperations() == 1 ? "tf32" : "tf32x3";
    }
  auto config = product->getAttrOfType<ArrayAttr>("precision_config");
  llvm::StringRef least = "default";
  if (!config)
    return least;
  for (auto each : config.getAsRange<PrecisionAttr>()) {
    if (each.getValue() == Precision::HIGHEST)
      return "";
    if (each.getValue() == Precision::HIGH)
      least = "high";
  }
  return least;
}

/// Types of 8 bits that products take in any pairs.
static bool isEightBits(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type, Float8E4M3FNUZType,
             Float8E5M2FNUZType, Float8E4M3B11FNUZType, Float8E4M3Type,
             Float8E3M4Type>(type);
}

bool shardc::stablehlo::isKnown(DotAlgorithmAttr algorithm) {
  Type lhs = algorithm.getLhsPrecisionType(),
       rhs = algorithm.getRhsPrecisionType(),
       sum = algorithm.getAccumulationType();
  int64_t products = algorithm.getNumPrimitiveOperations();
  if (algorithm.getLhsComponentCount() != 1 ||
      algorithm.getRhsComponentCount() != 1)
    return false;
  if (isEightBits(lhs) && isEightBits(rhs))
    return sum.isF32() && products == 1;
  if (lhs != rhs || algorithm.getAllowImpreciseAccumulation())
    return false;
  if (lhs.isBF16() && sum.isF32())
    return llvm::is_contained({1, 3, 6, 9}, products);
  if (isa<FloatTF32Type>(lhs))
    return sum.isF32() && (products == 1 || products == 3);
  if (lhs.isF16() && sum.isF32())
    return products == 1;
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(lhs) &&
         sum == lhs && products == 1;
}

bool shardc::stablehlo::isPossible(ResultAccuracyAttr accuracy) {
  if (!accuracy)
    return true;
  const APFloat &absolute = accuracy.getAtol(), &relative = accuracy.getRtol();
  int64_t ulps = accuracy.getUlps();
  if (accuracy.getMode().getValue() == ResultAccuracyMode::TOLERANCE)
    return !absolute.isNegative() && !relative.isNegative() && ulps >= 0;
  return absolute.isZero() && relative.isZero() && ulps == 0;
}
