//===- SpmdManual.cpp - Regions that communicate by themselves ------------===//
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

int64_t ManualOp::countBlocks(DimShardingAttr dim, MeshAttr mesh) {
  int64_t count = 1;
  for (StringAttr axis : dim.getAxes())
    if (isManual(axis))
      count *= mesh.getAxisSize(axis);
  return count;
}

ShardingAttr ManualOp::getBodySharding(ShardingAttr boundary) {
  MLIRContext *context = getContext();
  MeshAttr mesh = lookupMesh(*this, boundary.getMesh());
  SmallVector<DimShardingAttr> dims;
  for (DimShardingAttr dim : boundary.getDims()) {
    SmallVector<StringAttr> axes;
    for (StringAttr axis : dim.getAxes())
      if (!isManual(axis))
        axes.push_back(axis);
    // Outside of manual axes it is inside as it does outside.
    if (axes.size() == dim.getAxes().size()) {
      dims.push_back(dim);
      continue;
    }
    // All blocks are cut alike: the first one says how.
    DenseI64ArrayAttr sizes;
    if (dim.getSizes() && !axes.empty()) {
      ArrayRef<int64_t> block = dim.getSizes().asArrayRef().take_front(
          dim.getNumShards(mesh) / countBlocks(dim, mesh));
      // A block may be balanced where its dim is not; one layout has one
      // spelling.
      std::optional<Boundaries> bounds = Boundaries::fromSizes(block);
      if (!bounds || !bounds->isBalanced())
        sizes = DenseI64ArrayAttr::get(context, block);
    }
    dims.push_back(DimShardingAttr::get(context, axes, sizes,
                                        dim.getDynamicSizes(), dim.getOpen(),
                                        dim.getPriority()));
  }
  SmallVector<StringAttr> replicated;
  for (StringAttr axis : boundary.getReplicated())
    if (!isManual(axis))
      replicated.push_back(axis);
  SmallVector<PartialAxisAttr> partial;
  for (PartialAxisAttr axis : boundary.getPartial())
    if (!isManual(axis.getAxis()))
      partial.push_back(axis);
  return ShardingAttr::get(context, boundary.getMesh(), dims, replicated,
                           partial);
}

SmallVector<StringAttr> spmd::getManualAxes(Region *region) {
  SmallVector<StringAttr> axes;
  for (Operation *op = region->getParentOp(); op; op = op->getParentOp())
    if (auto manual = dyn_cast<ManualOp>(op))
      llvm::append_range(axes, manual.getManualAxes().getAsRange<StringAttr>());
  return axes;
}

/// Checks one dim of a sharding of `what`, and puts its size inside into
/// `size`.
static LogicalResult verifyBlocks(ManualOp op, const Twine &what,
                                  int64_t number, DimShardingAttr dim,
                                  MeshAttr mesh, int64_t &size) {
  bool sawFree = false;
  for (StringAttr axis : dim.getAxes()) {
    if (op.isManual(axis) && sawFree)
      return op.emitOpError()
             << what << " has manual axis \"" << axis.getValue()
             << "\" behind a free one in dim " << number
             << "; manual axes come first";
    sawFree |= !op.isManual(axis);
  }
  int64_t blocks = op.countBlocks(dim, mesh);
  if (blocks == 1)
    return success();
  if (dim.getDynamicSizes() || ShapedType::isDynamic(size) ||
      size % blocks != 0)
    return op.emitOpError()
           << what << " has dim " << number << " of " << size
           << " elements, which manual axes do not cut into " << blocks
           << " equal blocks; a manual region is on blocks of one size";
  Boundaries bounds = dim.getBoundaries(mesh, size);
  int64_t parts = bounds.numShards() / blocks;
  for (int64_t i = 0; i < bounds.numShards(); ++i)
    if (bounds.shardSize(i) != bounds.shardSize(i % parts))
      return op.emitOpError()
             << what << " has blocks along manual axes that differ in dim "
             << number << ": " << dim
             << "; a manual region is on blocks that are cut alike";
  size /= blocks;
  return success();
}

static LogicalResult verifySide(ManualOp op, StringRef side,
                                ArrayAttr shardings, TypeRange outside,
                                TypeRange inside,
                                SymbolTableCollection &symbols) {
  if (shardings.size() != outside.size() || inside.size() != outside.size())
    return op.emitOpError()
           << "has " << outside.size() << ' ' << side << "s, "
           << shardings.size() << " shardings of them, and " << inside.size()
           << " values in its region for them";
  for (auto [i, attr, outer, inner] :
       llvm::enumerate(shardings, outside, inside)) {
    auto sharding = cast<ShardingAttr>(attr);
    auto meshOp =
        symbols.lookupNearestSymbolFrom<MeshOp>(op, sharding.getMesh());
    if (!meshOp)
      return op.emitOpError() << "names unknown mesh " << sharding.getMesh();
    MeshAttr mesh = meshOp.getMesh();
    std::string what = (side + " " + Twine(i)).str();
    for (auto axis : op.getManualAxes().getAsRange<StringAttr>())
      if (mesh.getAxisIndex(axis) < 0)
        return op.emitOpError()
               << "has manual axis \"" << axis.getValue() << "\", but mesh "
               << sharding.getMesh() << " is " << mesh;
    auto type = cast<RankedTensorType>(outer);
    if (failed(sharding.verifyFor(mesh, type.getShape(), [&] {
          return op.emitOpError() << what << ": ";
        })))
      return failure();
    SmallVector<int64_t> shape(type.getShape());
    for (auto [number, dim] : llvm::enumerate(sharding.getDims()))
      if (failed(verifyBlocks(op, what, number, dim, mesh, shape[number])))
        return failure();
    if (inner != type.clone(shape))
      return op.emitOpError()
             << what << " is " << inner << " in the region, expected "
             << type.clone(shape) << ", a block of " << type;
  }
  return success();
}

LogicalResult ManualOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *terminator = getBody().front().getTerminator();
  if (failed(verifySide(*this, "operand", getInShardings(),
                        getInputs().getTypes(),
                        getBody().front().getArgumentTypes(), symbols)))
    return failure();
  return verifySide(*this, "result", getOutShardings(), getResultTypes(),
                    terminator->getOperandTypes(), symbols);
}
