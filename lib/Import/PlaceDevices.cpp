//===- PlaceDevices.cpp - Shards on the devices that meshes name ----------===//
#include "SdyConverter.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Support/BoundaryAttributes.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;

/// Ranks are positions in the mesh; collectives of a program name devices,
/// which `device_ids` may number otherwise.
void SdyConverter::convertDevices(Operation *op) {
  sdy::MeshAttr mesh = meshes.getFirst();
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp())
    if (auto found = meshOfRegion.find(parent); found != meshOfRegion.end()) {
      mesh = found->second;
      break;
    }
  ArrayRef<int64_t> devices = mesh ? mesh.getDeviceIds() : ArrayRef<int64_t>();
  if (devices.empty())
    return;
  SmallVector<int64_t> positions(devices.size());
  for (auto [position, device] : llvm::enumerate(devices))
    positions[device] = position;
  for (StringRef name : {"replica_groups", "source_target_pairs"})
    if (auto ranks = op->getAttrOfType<DenseIntElementsAttr>(name))
      op->setAttr(
          name,
          ranks.mapValues(ranks.getElementType(), [&](const APInt &device) {
            int64_t number = device.getSExtValue();
            bool isDevice =
                number >= 0 && number < static_cast<int64_t>(positions.size());
            return isDevice ? APInt(device.getBitWidth(), positions[number])
                            : device;
          }));
  if (!isa<stablehlo::PartitionIdOp>(op))
    return;
  // The device of this position: an entry of a table.
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto row = type.clone({static_cast<int64_t>(devices.size())});
  SmallVector<APInt> numbers;
  for (int64_t device : devices)
    numbers.push_back(APInt(type.getElementTypeBitWidth(), device));
  Value table = stablehlo::ConstantOp::create(
      builder, loc,
      cast<ElementsAttr>(Attribute(DenseElementsAttr::get(row, numbers))));
  auto entry =
      stablehlo::DynamicSliceOp::create(builder, loc, type.clone({1}), table,
                                        op->getResult(0), ArrayRef<int64_t>{1});
  Value device = stablehlo::ReshapeOp::create(builder, loc, type, entry);
  op->getResult(0).replaceAllUsesExcept(device, entry);
}

Value SdyConverter::moveShards(
    OpBuilder &builder, Location loc, Value value, spmd::ShardingAttr sharding,
    ArrayRef<std::pair<int64_t, int64_t>> pairs) const {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<spmd::DimShardingAttr> dims;
  for (auto [size, dim] : llvm::zip(shape, sharding.getDims())) {
    size /= dim.getNumShards(refined);
    dims.push_back(spmd::DimShardingAttr::get(context, dim.getAxes()));
  }
  SmallVector<Attribute> axes;
  for (auto [name, size] :
       llvm::zip(refined.getAxisNames(), refined.getAxisSizes()))
    if (size > 1)
      axes.push_back(name);
  ArrayAttr boundary = builder.getArrayAttr({spmd::ShardingAttr::get(
      context, sharding.getMesh(), dims, {}, sharding.getPartial())});
  auto manual =
      spmd::ManualOp::create(builder, loc, TypeRange{type}, ValueRange{value},
                             boundary, boundary, builder.getArrayAttr(axes));
  OpBuilder::InsertionGuard guard(builder);
  Block *body =
      builder.createBlock(&manual.getBody(), {}, {type.clone(shape)}, {loc});
  SmallVector<int64_t> numbers;
  for (auto [from, to] : pairs)
    numbers.append({from, to});
  auto table = DenseIntElementsAttr::get(
      RankedTensorType::get({int64_t(pairs.size()), 2}, builder.getI64Type()),
      ArrayRef<int64_t>(numbers));
  Value moved = stablehlo::CollectivePermuteOp::create(
      builder, loc, body->getArgument(0), table,
      stablehlo::ChannelHandleAttr::get(context, 1, 1));
  spmd::ReturnOp::create(builder, loc, moved);
  return manual.getResult(0);
}

void SdyConverter::placeBorders() {
  if (!deviceOrder || !refined)
    return;
  // The device of each position, if `foreign` is on a mesh in another order and
  // not all ranks have the same of the value.
  auto devicesOf = [&](Attribute foreign,
                       spmd::ShardingAttr sharding) -> ArrayRef<int64_t> {
    auto asked = dyn_cast_or_null<sdy::TensorShardingAttr>(foreign);
    sdy::MeshAttr mesh = asked ? meshOf(asked.getMeshOrRef()) : sdy::MeshAttr();
    if (!mesh || !sharding || llvm::is_sorted(mesh.getDeviceIds()) ||
        (sharding.getPartial().empty() &&
         llvm::all_of(sharding.getDims(), [&](spmd::DimShardingAttr dim) {
           return dim.getNumShards(refined) == 1;
         })))
      return {};
    return mesh.getDeviceIds();
  };
  OpBuilder builder(context);
  using Pairs = SmallVector<std::pair<int64_t, int64_t>>;
  for (BlockArgument argument : main.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto sharding =
        main.getArgAttrOfType<spmd::ShardingAttr>(i, spmd::kShardingAttrName);
    ArrayRef<int64_t> devices =
        devicesOf(main.getArgAttr(i, sdy::kShardingAttr), sharding);
    if (devices.empty())
      continue;
    spmd::contract::Ranks::setOfArgument(main, i,
                                         builder.getDenseI64ArrayAttr(devices));
    Pairs pairs;
    for (auto [position, device] : llvm::enumerate(devices))
      pairs.push_back({device, position});
    builder.setInsertionPointToStart(&main.getBody().front());
    Value moved =
        moveShards(builder, argument.getLoc(), argument, sharding, pairs);
    argument.replaceAllUsesExcept(moved, moved.getDefiningOp());
  }
  Operation *terminator = main.getBody().front().getTerminator();
  builder.setInsertionPoint(terminator);
  for (OpOperand &operand : terminator->getOpOperands()) {
    unsigned i = operand.getOperandNumber();
    auto sharding = main.getResultAttrOfType<spmd::ShardingAttr>(
        i, spmd::kShardingAttrName);
    ArrayRef<int64_t> devices =
        devicesOf(main.getResultAttr(i, sdy::kShardingAttr), sharding);
    if (devices.empty())
      continue;
    spmd::contract::Ranks::setOfResult(main, i,
                                       builder.getDenseI64ArrayAttr(devices));
    Pairs pairs;
    for (auto [position, device] : llvm::enumerate(devices))
      pairs.push_back({position, device});
    operand.set(moveShards(builder, terminator->getLoc(), operand.get(),
                           sharding, pairs));
  }
}
