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
