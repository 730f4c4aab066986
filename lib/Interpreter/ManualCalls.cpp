//===- ManualCalls.cpp - Manual regions as older exporters write them -----===//
//
// There is no region: between @SPMDFullToShardShape and @SPMDShardToFullShape
// values are blocks, and shardings are text of HLO's. A program with such calls
// runs on one lane for each of its devices from the start; outside of them
// every lane has whole values.
//
//     {devices=[2,1,4]<=[2,4]T(1,0) last_tile_dim_replicate}   {replicated}
//     {devices=[2,2]0,2,1,3}   {devices=[1,4,2]<=[8] last_tile_dims={manual,
//     replicated}}
//
//===----------------------------------------------------------------------===//
#include "Evaluator.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "llvm/ADT/StringExtras.h"
#include <numeric>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

static constexpr StringLiteral kToShards = "SPMDFullToShardShape",
                               kToWhole = "SPMDShardToFullShape";

namespace {
/// Tiles of a tensor, and the devices that hold them.
struct Tiles {
  Shape counts; ///< of tiles by dim; further ones hold copies
  llvm::SmallVector<int64_t>
      places; ///< of each device, among all tiles, row-major

  /// Along `dim`, the tile of `device`.
  int64_t tileOf(int64_t device, size_t dim) const {
    int64_t rest = places[device];
    for (size_t later = counts.size() - 1; later > dim; --later)
      rest /= counts[later];
    return rest % counts[dim];
  }
};
} // namespace

/// "[2,4]", consumed.
static std::optional<Shape> readList(StringRef &text) {
  if (!text.consume_front("["))
    return std::nullopt;
  auto [inside, rest] = text.split(']');
  text = rest;
  Shape numbers;
  for (StringRef number : llvm::split(inside, ','))
    if (number.trim().getAsInteger(10, numbers.emplace_back()))
      return std::nullopt;
  return numbers;
}

/// None where `text` is written in another way, or names no tiles of `devices`.
static std::optional<Tiles> readTiles(StringRef text, int64_t devices) {
  Tiles tiles;
  if (text.starts_with("{replicated") || text.starts_with("{manual")) {
    tiles.counts.push_back(1);
    tiles.places.assign(devices, 0);
    return tiles;
  }
  if (!text.consume_front("{devices="))
    return std::nullopt;
  std::optional<Shape> counts = readList(text);
  if (!counts || countElements(*counts) != devices)
    return std::nullopt;
  tiles.counts = *counts;
  Shape order; // devices, by their tiles
  if (text.consume_front("<=")) {
    std::optional<Shape> grid = readList(text);
    if (!grid || countElements(*grid) != devices)
      return std::nullopt;
    Shape permutation(grid->size());
    std::iota(permutation.begin(), permutation.end(), 0);
    if (text.consume_front("T(")) {
      auto [inside, rest] = text.split(')');
      text = rest;
      size_t i = 0;
      for (StringRef number : llvm::split(inside, ',')) {
        if (i >= permutation.size() ||
            number.trim().getAsInteger(10, permutation[i]) ||
            permutation[i] < 0 ||
            permutation[i] >= static_cast<int64_t>(grid->size()))
          return std::nullopt;
        ++i;
      }
    }
    Shape shape;
    for (int64_t dim : permutation)
      shape.push_back((*grid)[dim]);
    forEachIndex(shape, [&](ArrayRef<int64_t> index) {
      Shape at(index.size());
      for (size_t d = 0; d < index.size(); ++d)
        at[permutation[d]] = index[d];
      int64_t device = 0;
      for (size_t d = 0; d < at.size(); ++d)
        device = device * (*grid)[d] + at[d];
      order.push_back(device);
    });
  } else {
    for (StringRef number : llvm::split(
             text.take_until([](char c) { return c == ' ' || c == '}'; }), ','))
      if (number.getAsInteger(10, order.emplace_back()))
        return std::nullopt;
  }
  tiles.places.assign(devices, -1);
  for (auto [place, device] : llvm::enumerate(order)) {
    if (device < 0 || device >= devices)
      return std::nullopt;
    tiles.places[device] = place;
  }
  if (llvm::is_contained(tiles.places, -1))
    return std::nullopt;
  return tiles;
}

/// The sharding in which `value` is passed to a call.
static StringRef shardingOf(Value value) {
  if (auto call = value.getDefiningOp<stablehlo::CustomCallOp>())
    if (auto text = call->getAttrOfType<StringAttr>("mhlo.sharding"))
      return text;
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (auto function =
            dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
      if (auto text = function.getArgAttrOfType<StringAttr>(
              argument.getArgNumber(), "mhlo.sharding"))
        return text;
  return "";
}

/// How many tiles each dim of `whole` is cut into where a block is `block`;
/// dims that are not cut stay so, whatever their sharding says of axes that are
/// free.
static FailureOr<Tiles> tilesFor(Operation *op, StringRef text,
                                 ArrayRef<int64_t> whole,
                                 ArrayRef<int64_t> block, int64_t devices) {
  if (whole == block)
    return Tiles{Shape(std::max<size_t>(whole.size(), 1), 1),
                 llvm::SmallVector<int64_t>(devices, 0)};
  std::optional<Tiles> tiles = readTiles(text, devices);
  if (!tiles || tiles->counts.size() < whole.size())
    return Evaluator::unknown(op, "shards by sharding '" + text + "'");
  for (size_t d = 0; d < whole.size(); ++d)
    if (whole[d] != block[d] * tiles->counts[d] && whole[d] != block[d])
      return Evaluator::unknown(op, "shards by sharding '" + text +
                                        "' that are cut along free axes too");
  return *tiles;
}

/// Where the block of `device` begins.
static Shape startsOf(const Tiles &tiles, int64_t device,
                      ArrayRef<int64_t> whole, ArrayRef<int64_t> block) {
  Shape starts;
  for (size_t d = 0; d < whole.size(); ++d)
    starts.push_back(whole[d] == block[d] ? 0
                                          : tiles.tileOf(device, d) * block[d]);
  return starts;
}

/// A call of a whole value or a block has one, and makes the other of it.
static LogicalResult verifyForm(Operation *op) {
  auto typeOf = [](ValueRange values) {
    return values.size() == 1
               ? dyn_cast<RankedTensorType>(values.front().getType())
               : RankedTensorType();
  };
  RankedTensorType from = typeOf(op->getOperands()),
                   to = typeOf(op->getResults());
  if (!from || !to || from.getRank() != to.getRank() || !to.hasStaticShape())
    return Evaluator::unknown(op, "shards of another form");
  return success();
}

static LogicalResult toShards(Evaluator &evaluator, Operation *op,
                              Lanes lanes) {
  if (failed(verifyForm(op)))
    return failure();
  Shape block(cast<RankedTensorType>(op->getResult(0).getType()).getShape());
  Shape whole(lanes.front()->values.lookup(op->getOperand(0)).shape());
  FailureOr<Tiles> tiles = tilesFor(op, shardingOf(op->getOperand(0)), whole,
                                    block, evaluator.devices);
  if (failed(tiles))
    return failure();
  for (Lane *lane : lanes) {
    Array value = lane->values.lookup(op->getOperand(0));
    Evaluator::bind(
        op->getResults(), *lane,
        value.slice(startsOf(*tiles, lane->device, whole, block), block));
  }
  return success();
}

static LogicalResult toWhole(Evaluator &evaluator, Operation *op, Lanes lanes) {
  if (failed(verifyForm(op)))
    return failure();
  Shape whole(cast<RankedTensorType>(op->getResult(0).getType()).getShape());
  Array sample = lanes.front()->values.lookup(op->getOperand(0));
  Shape block(sample.shape());
  auto text = op->getAttrOfType<StringAttr>("mhlo.sharding");
  FailureOr<Tiles> tiles = tilesFor(op, text ? text.getValue() : "", whole,
                                    block, evaluator.devices);
  if (failed(tiles))
    return failure();
  if (whole == block) {
    // Copies, or values that are not the same on all devices yet: each keeps
    // its own.
    for (Lane *lane : lanes)
      Evaluator::bind(op->getResults(), *lane,
                      lane->values.lookup(op->getOperand(0)));
    return success();
  }
  if (static_cast<int64_t>(lanes.size()) != evaluator.devices)
    return op->emitError() << "is reached by " << lanes.size() << " of "
                           << evaluator.devices << " devices";
  Array result(sample.format(), whole);
  // Devices with the same tile hold copies: the first one's is taken.
  for (Lane *lane : llvm::reverse(lanes))
    result.write(lane->values.lookup(op->getOperand(0)),
                 startsOf(*tiles, lane->device, whole, block));
  for (Lane *lane : lanes)
    Evaluator::bind(op->getResults(), *lane, result);
  return success();
}

int64_t shardc::interpreter::countPartitions(ModuleOp module) {
  bool hasShards = false;
  module.walk([&](stablehlo::CustomCallOp call) {
    hasShards |= call.getCallTargetName() == kToShards ||
                 call.getCallTargetName() == kToWhole;
  });
  auto count = module->getAttrOfType<IntegerAttr>("mhlo.num_partitions");
  return hasShards && count ? count.getInt() : 1;
}

void shardc::interpreter::addManualCalls(Table &table) {
  table.lockstepCalls[kToShards] = toShards;
  table.lockstepCalls[kToWhole] = toWhole;
}
