//===- ImportedOps.cpp - Ops that only import meets: checks ---------------===//
#include "Verify.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::stablehlo;
using namespace shardc::stablehlo::checks;

LogicalResult CollectiveReduceOp::verify() {
  Reporter report(*this);
  if (getOperands().empty() ||
      !areCompatibleTypes(getOperandTypes(), getResultTypes()))
    return report("has results of types ", getResultTypes(),
                  ", expected those of its operands, ", getOperandTypes());
  return verifyReducer(report, getComputation(), 1,
                       TypeRange(getOperands()).take_front(1));
}

//===----------------------------------------------------------------------===//
// Operations that are under way
//===----------------------------------------------------------------------===//

LogicalResult AsyncStartOp::verify() {
  Reporter report(*this);
  Block &body = getBody().front();
  if (!llvm::equal(body.getArgumentTypes(), getOperandTypes()))
    return report("body has arguments of types ", body.getArgumentTypes(),
                  ", expected those of its operands, ", getOperandTypes());
  FailureOr<ReturnOp> result = getReturn(report, getBody(), "body");
  if (failed(result))
    return failure();
  if (!llvm::hasNItems(body, 2))
    return report("body has ", std::distance(body.begin(), body.end()) - 1,
                  " ops, expected one, and its return");
  if (!isa<AllGatherOp, AllReduceOp, AllToAllOp, CollectiveBroadcastOp,
           CollectivePermuteOp, ReduceScatterOp, SliceOp, DynamicSliceOp,
           DynamicUpdateSliceOp>(body.front()))
    return report("body has ", body.front().getName(),
                  ", expected a collective or a slice");
  if (!llvm::equal(result->getOperandTypes(), getFuture().getType().getTypes()))
    return report("result has type ", getFuture().getType(),
                  ", but its body returns ", result->getOperandTypes());
  return success();
}

LogicalResult AsyncDoneOp::verify() {
  if (llvm::equal(getFuture().getType().getTypes(), getResultTypes()))
    return success();
  return Reporter(*this)("has results of types ", getResultTypes(),
                         ", expected those of ", getFuture().getType());
}
