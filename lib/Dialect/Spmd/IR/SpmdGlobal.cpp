//===- SpmdGlobal.cpp - Ops of the global view ----------------------------===//
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/Spmd/IR/SpmdOrders.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

#define GET_OP_CLASSES
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.cpp.inc"

//===----------------------------------------------------------------------===//
// DealOp, DealtIotaOp
//===----------------------------------------------------------------------===//

/// Checks that the shards whose order a dim of `extent` is in are all of it.
template <typename Op>
static LogicalResult verifyZigzag(Op op, int64_t extent) {
  ZigzagOrder order = getOrder(op);
  std::optional<Boundaries> shards = order.getShards();
  if (!shards)
    return op.emitOpError() << "has sizes " << order.sizes
                            << ", expected one of at least 0 for each shard";
  if (shards->size() != extent)
    return op.emitOpError() << "has sizes that add up to " << shards->size()
                            << ", but the dim has " << extent << " elements";
  return order.verifyFormula(op, "formula");
}

LogicalResult DealOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (static_cast<int64_t>(getDim()) < 0 ||
      static_cast<int64_t>(getDim()) >= type.getRank())
    return emitOpError() << "has dim " << getDim() << ", but the tensor has "
                         << type.getRank() << " dims";
  return verifyZigzag(*this, type.getDimSize(getDim()));
}

LogicalResult DealtIotaOp::verify() {
  return verifyZigzag(*this, cast<RankedTensorType>(getType()).getDimSize(0));
}

//===----------------------------------------------------------------------===//
// PadOp
//===----------------------------------------------------------------------===//

LogicalResult PadOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType()),
       result = cast<RankedTensorType>(getType());
  if (input.getRank() != result.getRank() ||
      input.getElementType() != result.getElementType())
    return emitOpError()
           << "has input " << input << " and result " << result
           << ", expected the same element type and number of dims";
  if (static_cast<int64_t>(getLow().size()) != input.getRank() ||
      getHigh().size() != getLow().size())
    return emitOpError() << "has " << getLow().size() << " low and "
                         << getHigh().size() << " high amounts for "
                         << input.getRank() << " dims";
  for (int64_t i = 0; i < input.getRank(); ++i) {
    int64_t size = input.getDimSize(i),
            padded = size + getLow()[i] + getHigh()[i];
    if (padded != result.getDimSize(i))
      return emitOpError() << "makes " << padded << " elements of the " << size
                           << " in dim " << i << ", but its result has "
                           << result.getDimSize(i);
    if (size == 0 && padded != 0)
      return emitOpError() << "pads dim " << i
                           << ", which has no elements to read";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// HostCallOp
//===----------------------------------------------------------------------===//

/// What is called may say something else each time: calls are neither repeated
/// nor moved across one another; those without effects may go.
void HostCallOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  if (getHasEffect())
    effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult HostCallOp::verify() {
  if (static_cast<int64_t>(getIndex()) < 0)
    return emitOpError() << "calls function " << int64_t(getIndex())
                         << ", expected 0 or more";
  if (getShards() && getNumResults() > 0)
    return emitOpError() << "is made on shards, but has " << getNumResults()
                         << " results, expected none";
  return success();
}
