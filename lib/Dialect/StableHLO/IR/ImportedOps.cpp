//===- ImportedOps.cpp - Ops that only import meets: checks ---------------===//
#include "Verify.h"
#include "shardc/Dialect/StableHLO/IR/StableHLOImported.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::stablehlo;
using namespace shardc::stablehlo::checks;

#define GET_OP_CLASSES
#include "shardc/Dialect/StableHLO/IR/StableHLOImported.cpp.inc"

namespace shardc::stablehlo {

// A dialect adds ops in its own members alone.
struct ImportedAdder final : StablehloDialect {
  using StablehloDialect::addOperations;
};

void addImportedOps(StablehloDialect *dialect) {
  auto add = &ImportedAdder::addOperations<
#define GET_OP_LIST
#include "shardc/Dialect/StableHLO/IR/StableHLOImported.cpp.inc"
      >;
  (dialect->*add)();
}

} // namespace shardc::stablehlo

LogicalResult CollectiveReduceOp::verify() {
  Reporter report(*this);
  if (getOperands().empty() ||
      !areCompatibleTypes(getOperandTypes(), getResultTypes()))
    return report("has results of types ", getResultTypes(),
                  ", expected those of its operands, ", getOperandTypes());
  return verifyReducer(report, getComputation(), 1,
                       TypeRange(getOperands()).take_front(1));
}
