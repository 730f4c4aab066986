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
  return verifyReducerOfOneType(report, getComputation(),
                                TypeRange(getOperands()));
}

/// Types of channels, as StableHLO numbers them.
enum class Channel { DeviceToDevice = 1, DeviceToHost = 2, HostToDevice = 3 };

/// The channel goes between devices, and to or from the host (`host`) where
/// the op says so.
template <typename OpT>
static LogicalResult verifyChannel(const Reporter &report, OpT op,
                                   Channel host) {
  Channel asked = op.getIsHostTransfer() ? host : Channel::DeviceToDevice;
  if (op.getChannelHandle().getType() == static_cast<int64_t>(asked))
    return success();
  return report("has a channel of type ", op.getChannelHandle().getType(),
                ", expected ", static_cast<int64_t>(asked),
                op.getIsHostTransfer() ? ", since the host takes part"
                                       : ", since no host takes part");
}

/// Tensors, then a token.
static LogicalResult verifyReceived(const Reporter &report, TypeRange results) {
  if (!results.empty() && isa<TokenType>(results.back()) &&
      llvm::none_of(results.drop_back(), llvm::IsaPred<TokenType>))
    return success();
  return report("has results of types ", results,
                ", expected tensors, then a token");
}

LogicalResult SendOp::verify() {
  return verifyChannel(Reporter(*this), *this, Channel::DeviceToHost);
}

LogicalResult RecvOp::verify() {
  Reporter report(*this);
  return failure(failed(verifyChannel(report, *this, Channel::HostToDevice)) ||
                 failed(verifyReceived(report, getResultTypes())));
}

LogicalResult InfeedOp::verify() {
  Reporter report(*this);
  if (failed(verifyReceived(report, getResultTypes())))
    return failure();
  size_t tensors = getNumResults() - 1;
  if (std::optional<ArrayAttr> layout = getLayout();
      layout && layout->size() != tensors)
    return report("layout has ", layout->size(), " entries, expected ", tensors,
                  ", one for each tensor");
  return success();
}

LogicalResult RngOp::verify() {
  Reporter report(*this);
  auto scalar = RankedTensorType::get({}, getType().getElementType());
  for (Value bound : {getA(), getB()})
    if (bound.getType() != scalar)
      return report("has a bound of type ", bound.getType(), ", expected ",
                    scalar);
  return verifyShape(report, "shape operand", getShape().getType(),
                     {getType().getRank()});
}

LogicalResult TorchIndexSelectOp::verify() {
  Reporter report(*this);
  RankedTensorType operand = getOperand().getType(),
                   index = getIndex().getType();
  int64_t dim = static_cast<int64_t>(getDim()),
          batch = static_cast<int64_t>(getBatchDims());
  if (dim < 0 || dim >= operand.getRank() || batch < 0 || batch > dim ||
      batch > index.getRank())
    return report("selects along dim ", dim, " behind ", batch,
                  " batching dims of ", operand, " by ", index);
  for (int64_t i = 0; i < batch; ++i)
    if (!sizesAgree(operand.getDimSize(i), index.getDimSize(i)))
      return report("batching dim ", i, " has size ", operand.getDimSize(i),
                    " in the operand and ", index.getDimSize(i),
                    " in the index");
  SmallVector<int64_t> shape(operand.getShape().take_front(dim));
  llvm::append_range(shape, index.getShape().drop_front(batch));
  llvm::append_range(shape, operand.getShape().drop_front(dim + 1));
  if (failed(
          verifyElementTypes(report, "operand", operand, "result", getType())))
    return failure();
  return verifyShape(report, "result", getType(), shape);
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
