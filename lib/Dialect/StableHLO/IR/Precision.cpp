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
