//===- SpmdGlobal.cpp - Ops of the global view ----------------------------===//
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

#define GET_OP_CLASSES
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.cpp.inc"

//===----------------------------------------------------------------------===//
// DealOp, DealtIotaOp
//===----------------------------------------------------------------------===//

/// Checks that shards of `sizes` are all of a dim of `extent`.
static LogicalResult verifyZigzag(Operation *op, ArrayRef<int64_t> sizes,
                                  int64_t extent) {
  std::optional<Boundaries> shards =
      Boundaries::fromSizes({sizes.data(), sizes.size()});
  if (!shards)
    return op->emitOpError()
           << "has sizes " << DenseI64ArrayAttr::get(op->getContext(), sizes)
           << ", expected one of at least 0 for each shard";
  if (shards->size() != extent)
    return op->emitOpError() << "has sizes that add up to " << shards->size()
                             << ", but the dim has " << extent << " elements";
  return success();
}

LogicalResult DealOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (static_cast<int64_t>(getDim()) < 0 ||
      static_cast<int64_t>(getDim()) >= type.getRank())
    return emitOpError() << "has dim " << getDim() << ", but the tensor has "
                         << type.getRank() << " dims";
  return verifyZigzag(*this, getSizes(), type.getDimSize(getDim()));
}

LogicalResult DealtIotaOp::verify() {
  return verifyZigzag(*this, getSizes(),
                      cast<RankedTensorType>(getType()).getDimSize(0));
}
