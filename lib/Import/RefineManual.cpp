//===- RefineManual.cpp - Shapes in regions that communicate --------------===//
//
// Blocks of a region, and what its collectives join and split, are so many
// times larger or smaller than what they come from. Of an open extent a part is
// an extent as well; that nothing is left over is asked of each binding.
//
//===----------------------------------------------------------------------===//
#include "InferShapes.h"
#include "Refiner.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

/// One of `parts` equal parts of a dim of `size` elements. None where it has no
/// placeholder, or where the walk is to begin again with others.
std::optional<int64_t> Refiner::partOf(int64_t size, int64_t parts,
                                       const Twine &what) {
  if (parts == 1 || !extents.isOpen(size))
    return llvm::divideCeil(size, parts);
  int64_t whole = idOf(size), count = extents.addConstant(parts);
  std::optional<int64_t> rest =
                             extents.add(ExtentKind::Remainder, {whole, count}),
                         part = extents.add(ExtentKind::Divide, {whole, count}),
                         divides =
                             rest ? extents.add(ExtentKind::Equal,
                                                {*rest, extents.addConstant(0)})
                                  : std::nullopt;
  if (!part || !divides)
    return std::nullopt;
  if (extents[*rest].placeholder != 0) {
    changePlaceholders(*divides);
    return std::nullopt;
  }
  auto isAsked = [&](const ExtentCondition &condition) {
    return condition.extent == *divides;
  };
  if (!extents.isConstant(*divides) &&
      llvm::none_of(extents.conditions, isAsked))
    extents.conditions.push_back({*divides,
                                  what.str() +
                                      " has {0} elements, which are not " +
                                      std::to_string(parts) + " equal parts",
                                  {whole}});
  used.insert(*part);
  return extents[*part].placeholder;
}

/// `parts` dims of `size` elements together; none where that overflows.
std::optional<int64_t> Refiner::joinOf(int64_t size, int64_t parts) {
  if (parts != 1 && extents.isOpen(size))
    if (std::optional<int64_t> whole = extents.add(
            ExtentKind::Multiply, {idOf(size), extents.addConstant(parts)}))
      used.insert(*whole);
  if (llvm::MulOverflow(size, parts, size))
    return std::nullopt;
  return size;
}

/// How many blocks the manual axes cut a dim into.
static int64_t countBlocks(sdy::ManualComputationOp op,
                           sdy::TensorShardingAttr sharding, unsigned dim) {
  sdy::MeshAttr mesh = sharding.getMesh(op);
  int64_t count = 1;
  for (sdy::AxisRefAttr axis : sharding.getDimShardings()[dim].getAxes())
    if (llvm::any_of(op.getManualAxes().getAxes(), [&](StringAttr name) {
          return name.getValue() == axis.getName();
        }))
      count *= axis.getSize(mesh);
  return count;
}

static LogicalResult refuseParts(Operation *op, const Twine &what) {
  return emitUnsupported(op, "'")
         << op->getName() << "' at " << userLocation(op->getLoc()) << ": "
         << what
         << " follows from open extents, and a part of it has no placeholder; "
            "give shapes of the arguments (--shapes)";
}

/// Blocks are as large as what they are blocks of says.
LogicalResult Refiner::refineManual(sdy::ManualComputationOp op) {
  Block &body = op.getBody().front();
  std::string where = " of the manual region at " + userLocation(op.getLoc());
  for (auto [i, argument, operand, sharding] :
       llvm::enumerate(body.getArguments(), op.getTensors(),
                       op.getInShardings().getShardings())) {
    auto outside = dyn_cast<RankedTensorType>(operand.getType());
    if (!outside) {
      argument.setType(operand.getType());
      continue;
    }
    SmallVector<int64_t> shape(outside.getShape());
    for (auto [dim, size] : llvm::enumerate(shape)) {
      std::string what =
          ("dim " + Twine(dim) + " of operand " + Twine(i) + where).str();
      std::optional<int64_t> block =
          partOf(size, countBlocks(op, sharding, dim), what);
      if (!block)
        return again ? failure() : refuseParts(op, what);
      size = *block;
    }
    argument.setType(outside.clone(shape));
    // Sizes that are values come in as they are.
    if (const Numbers *numbers = find(operand);
        numbers && argument.getType() == outside) {
      Numbers copy = *numbers;
      known[argument] = std::move(copy);
    }
  }
  if (failed(refineBlock(body)))
    return failure();
  for (auto [result, value, sharding] :
       llvm::zip(op.getResults(), body.getTerminator()->getOperands(),
                 op.getOutShardings().getShardings())) {
    if (isStatic(result.getType()))
      continue;
    auto inside = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(inside.getShape());
    for (auto [dim, size] : llvm::enumerate(shape)) {
      std::optional<int64_t> whole =
          joinOf(size, countBlocks(op, sharding, dim));
      if (!whole)
        return op.emitOpError("has blocks of type ")
               << inside << ", too many for a tensor of 63 bits";
      size = *whole;
    }
    result.setType(inside.clone(shape));
  }
  return success();
}

/// What a collective splits between the members of its groups, or joins.
LogicalResult Refiner::refineCollective(Operation *op) {
  if (!isa<AllGatherOp, ReduceScatterOp, AllToAllOp>(op) ||
      llvm::all_of(op->getResultTypes(), isStatic))
    return success();
  // Groups that a mesh says are not known here, nor those of replicas.
  auto groups = op->getAttrOfType<DenseIntElementsAttr>("replica_groups");
  auto channel = op->getAttrOfType<ChannelHandleAttr>("channel_handle");
  bool isOfPartitions = isa<AllToAllOp>(op) || !channel ||
                        channel.getHandle() <= 0 ||
                        op->hasAttr("use_global_device_ids");
  if (!groups || groups.getType().getRank() != 2 || !isOfPartitions)
    return success();
  int64_t members = groups.getType().getDimSize(1), split = -1, joined = -1;
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](AllGatherOp op) { joined = op.getAllGatherDim(); })
      .Case([&](ReduceScatterOp op) { split = op.getScatterDimension(); })
      .Case([&](AllToAllOp op) {
        split = op.getSplitDimension();
        joined = op.getConcatDimension();
        members = op.getSplitCount();
      });
  for (auto [operand, result] :
       llvm::zip(op->getOperands(), op->getResults())) {
    auto type = cast<RankedTensorType>(operand.getType());
    SmallVector<int64_t> shape(type.getShape());
    std::string what =
        ("dim " + Twine(split) + " of '" + op->getName().getStringRef() +
         "' at " + userLocation(op->getLoc()))
            .str();
    std::optional<int64_t> size = 0;
    if (split >= 0 && (size = partOf(shape[split], members, what)))
      shape[split] = *size;
    if (!size)
      return again ? failure() : refuseParts(op, what);
    if (joined >= 0 && (size = joinOf(shape[joined], members)))
      shape[joined] = *size;
    if (!size)
      return op->emitOpError("joins ") << members << " tensors of type " << type
                                       << ", too many for a tensor of 63 bits";
    auto found = type.clone(shape);
    if (failed(verifyCompatibleShape(result.getType(), found)))
      return op->emitOpError("has a result of type ")
             << result.getType() << ", but its operands lead to " << found;
    result.setType(found);
  }
  return success();
}
