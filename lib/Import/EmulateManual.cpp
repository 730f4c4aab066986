//===- EmulateManual.cpp - A manual region, run by one rank ---------------===//
//
// The region's ops once for each coordinate of its manual axes (a lane), side
// by side: operands cut in blocks by slices, results put together by
// concatenations, `partition_id` a constant, and a collective a concatenation,
// a slice or a fold of the lanes' values. What is equal in all lanes is made
// once.
//
// Loops and branches whose regions communicate run in all lanes together, since
// a collective needs the values of all. Lanes of different groups may leave
// such a loop after different iterations, or take different branches: what no
// lane needs is computed and dropped by a select. Other loops are run lane by
// lane.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "shardc/Analysis/ControlFlow.h"
#include "shardc/Analysis/ReplicaGroups.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/Reducers.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Import/Passes.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"

using namespace mlir;
using namespace shardc;
using spmd::ManualOp;
using spmd::ShardingAttr;

namespace shardc {
#define GEN_PASS_DEF_EMULATEMANUALPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

/// Ops that a program may have (docs/Reference).
static constexpr int64_t kMaxOps = 1'000'000;

namespace {

/// What one rank has of the values of the region. Free axes: coordinate 0.
struct Lane {
  int64_t rank = 0;
  IRMapping values;
};
using Lanes = MutableArrayRef<Lane>;

class Emulator {
public:
  Emulator(ManualOp op, spmd::MeshAttr mesh)
      : builder(op.getLoc(), op), mesh(mesh), sizes(mesh.getAxisSizes()) {}

  /// Ops in the place of `op`, whose operands are known to each of `outer`; its
  /// results are known to them afterwards.
  LogicalResult emulate(ManualOp op, Lanes outer);

private:
  LogicalResult emulateOps(Block &block, Lanes lanes);
  LogicalResult emulateOp(Operation &op, Lanes lanes);
  LogicalResult emulateLoop(stablehlo::WhileOp op, Lanes lanes);
  LogicalResult emulateBranch(Operation *op, Lanes lanes);
  LogicalResult emulateBranches(Operation *op, Lanes lanes);
  LogicalResult emulateCollective(Operation *op, Lanes lanes);
  FailureOr<SmallVector<Value>> exchange(Operation *op, int64_t number,
                                         ArrayRef<Value> members);
  LogicalResult cloneOp(Operation &op, Lanes lanes);

  SmallVector<int64_t> manualAxes(ManualOp op, spmd::DimShardingAttr dim) {
    SmallVector<int64_t> axes;
    for (StringAttr axis : dim.getAxes())
      if (op.isManual(axis))
        axes.push_back(mesh.getAxisIndex(axis));
    return axes;
  }
  Value takeBlock(ManualOp op, ShardingAttr boundary, Value whole,
                  RankedTensorType type, int64_t rank);
  Value join(ManualOp op, ShardingAttr boundary, ArrayRef<Lane> lanes,
             Value yielded, Type type, SmallVectorImpl<int64_t> &place);
  Value slice(Value value, int64_t dim, int64_t begin, int64_t size);
  Value concatenate(ArrayRef<Value> parts, int64_t dim);
  Value zeros(RankedTensorType type);
  template <typename OpT> Value fold(ArrayRef<Value> values) {
    Value result = values.front();
    for (Value value : values.drop_front())
      result = OpT::create(builder, result, value);
    return result;
  }

  ImplicitLocOpBuilder builder;
  spmd::MeshAttr mesh;
  ArrayRef<int64_t> sizes;
  int64_t numOps = 0;
};

} // namespace

static SmallVector<Value> valuesOf(ArrayRef<Lane> lanes, Value value) {
  return llvm::map_to_vector(lanes, [&](const Lane &lane) {
    return lane.values.lookupOrDefault(value);
  });
}

/// True if `op` holds a collective; each of its lanes then needs the others.
static bool communicates(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isCollective(inner) ? WalkResult::interrupt()
                                   : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Value Emulator::slice(Value value, int64_t dim, int64_t begin, int64_t size) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getDimSize(dim) == size)
    return value;
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()),
      strides(type.getRank(), 1);
  starts[dim] = begin;
  limits[dim] = begin + size;
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return stablehlo::SliceOp::create(builder, type.clone(shape), value, starts,
                                    limits, strides);
}

Value Emulator::concatenate(ArrayRef<Value> parts, int64_t dim) {
  if (parts.size() == 1)
    return parts.front();
  auto type = cast<RankedTensorType>(parts.front().getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = 0;
  for (Value part : parts)
    shape[dim] += cast<RankedTensorType>(part.getType()).getDimSize(dim);
  return stablehlo::ConcatenateOp::create(builder, type.clone(shape), parts,
                                          dim);
}

Value Emulator::zeros(RankedTensorType type) {
  Type element = type.getElementType();
  DenseElementsAttr zero;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    auto part = cast<FloatAttr>(builder.getZeroAttr(complex.getElementType()))
                    .getValue();
    zero = DenseElementsAttr::get(type, std::complex<APFloat>(part, part));
  } else {
    zero =
        DenseElementsAttr::get(type, Attribute(builder.getZeroAttr(element)));
  }
  return stablehlo::ConstantOp::create(builder,
                                       cast<ElementsAttr>(Attribute(zero)));
}

Value Emulator::takeBlock(ManualOp op, ShardingAttr boundary, Value whole,
                          RankedTensorType type, int64_t rank) {
  for (auto [i, dim] : llvm::enumerate(boundary.getDims())) {
    int64_t size = type.getDimSize(i);
    whole =
        slice(whole, i,
              coordinateAlong(sizes, manualAxes(op, dim), rank) * size, size);
  }
  return whole;
}

/// The value of type `type` outside, of which `lanes` hold blocks. `place` says
/// which block along the dims that are dealt with.
Value Emulator::join(ManualOp op, ShardingAttr boundary, ArrayRef<Lane> lanes,
                     Value yielded, Type type,
                     SmallVectorImpl<int64_t> &place) {
  size_t dim = place.size();
  if (dim == boundary.getDims().size()) {
    const Lane *found = llvm::find_if(lanes, [&](const Lane &lane) {
      for (auto [i, attr] : llvm::enumerate(boundary.getDims()))
        if (coordinateAlong(sizes, manualAxes(op, attr), lane.rank) != place[i])
          return false;
      return true;
    });
    return found->values.lookupOrDefault(yielded);
  }
  SmallVector<Value> parts;
  for (int64_t block = 0, e = op.countBlocks(boundary.getDims()[dim], mesh);
       block < e; ++block) {
    place.push_back(block);
    parts.push_back(join(op, boundary, lanes, yielded, type, place));
    place.pop_back();
  }
  return concatenate(parts, dim);
}

LogicalResult Emulator::emulate(ManualOp op, Lanes outer) {
  SmallVector<int64_t> axes;
  // Along axes of a region around it each lane is one coordinate already.
  SmallVector<StringAttr> outside = spmd::getManualAxes(op->getParentRegion());
  for (auto axis : op.getManualAxes().getAsRange<StringAttr>())
    if (!llvm::is_contained(outside, axis))
      axes.push_back(mesh.getAxisIndex(axis));
  std::vector<Lane> lanes;
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= sizes[axis];
  Block &body = op.getBody().front();
  for (Lane &lane : outer)
    // The ranks that differ along the manual axes alone, in their order.
    for (int64_t rank : groupAlong(sizes, axes, lane.rank)) {
      Lane &inner = lanes.emplace_back();
      inner.rank = rank;
      inner.values = lane.values;
      for (auto [operand, argument, attr] :
           llvm::zip(op.getInputs(), body.getArguments(), op.getInShardings()))
        inner.values.map(argument,
                         takeBlock(op, cast<ShardingAttr>(attr),
                                   lane.values.lookupOrDefault(operand),
                                   cast<RankedTensorType>(argument.getType()),
                                   rank));
    }
  if (failed(emulateOps(body, lanes)))
    return failure();
  builder.setLoc(op.getLoc());
  for (auto [yielded, result, attr] :
       llvm::zip(body.getTerminator()->getOperands(), op.getResults(),
                 op.getOutShardings()))
    for (auto [i, lane] : llvm::enumerate(outer)) {
      SmallVector<int64_t> place;
      lane.values.map(result, join(op, cast<ShardingAttr>(attr),
                                   ArrayRef(lanes).slice(i * count, count),
                                   yielded, result.getType(), place));
    }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult Emulator::emulateOps(Block &block, Lanes lanes) {
  for (Operation &op : block.without_terminator())
    if (failed(emulateOp(op, lanes)))
      return failure();
  return success();
}

LogicalResult Emulator::cloneOp(Operation &op, Lanes lanes) {
  bool isOnce = op.getNumRegions() == 0 &&
                llvm::all_of(op.getOperands(), [&](Value operand) {
                  return llvm::all_equal(valuesOf(lanes, operand));
                });
  Operation *copy = nullptr;
  for (Lane &lane : lanes) {
    if (!copy || !isOnce) {
      // An argument that the lane knows, of the same op cloned before, would
      // not be cloned.
      op.walk([&](Block *block) {
        for (BlockArgument argument : block->getArguments())
          lane.values.erase(argument);
      });
      copy = builder.clone(op, lane.values);
      ++numOps;
    }
    for (auto [result, value] : llvm::zip(op.getResults(), copy->getResults()))
      lane.values.map(result, value);
  }
  if (numOps > kMaxOps)
    return op.emitOpError() << "makes a program of more than " << kMaxOps
                            << " ops, the limit, when one rank runs what all "
                               "ranks of its manual region do";
  return success();
}

LogicalResult Emulator::emulateOp(Operation &op, Lanes lanes) {
  builder.setLoc(op.getLoc());
  if (auto manual = dyn_cast<ManualOp>(op))
    return emulate(manual, lanes);
  if (isa<spmd::ConstrainOp, spmd::ReshardOp>(op)) {
    for (Lane &lane : lanes)
      lane.values.map(op.getResult(0),
                      lane.values.lookupOrDefault(op.getOperand(0)));
    return success();
  }
  if (isa<stablehlo::PartitionIdOp>(op)) {
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    for (Lane &lane : lanes) {
      auto number = DenseElementsAttr::get(
          type, APInt(type.getElementTypeBitWidth(), lane.rank));
      Value constant = stablehlo::ConstantOp::create(
          builder, cast<ElementsAttr>(Attribute(number)));
      lane.values.map(op.getResult(0), constant);
    }
    return success();
  }
  if (isCollective(&op))
    return emulateCollective(&op, lanes);
  if (op.getNumRegions() == 0 || !getControlFlow(&op))
    return cloneOp(op, lanes);
  auto run = [&](Lanes some) {
    if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
      return emulateLoop(loop, some);
    return some.size() == 1 ? emulateBranch(&op, some)
                            : emulateBranches(&op, some);
  };
  if (communicates(&op)) {
    // What a rank would not reach is computed and dropped: a call has effects.
    WalkResult calls = op.walk([](spmd::HostCallOp call) {
      return call.getHasEffect() ? WalkResult::interrupt()
                                 : WalkResult::advance();
    });
    if (calls.wasInterrupted() && lanes.size() > 1)
      return emitUnsupported(&op)
             << "'" << op.getName() << "' at " << userLocation(op.getLoc())
             << " communicates and calls Python in a manual "
                "region; one rank cannot do that for all: "
                "run it without --check";
    return run(lanes);
  }
  for (Lane &lane : lanes)
    if (failed(run(lane)))
      return failure();
  return success();
}

LogicalResult Emulator::emulateLoop(stablehlo::WhileOp op, Lanes lanes) {
  OperationState state(op.getLoc(), stablehlo::WhileOp::getOperationName());
  for (Lane &lane : lanes)
    for (Value operand : op->getOperands()) {
      state.operands.push_back(lane.values.lookupOrDefault(operand));
      state.types.push_back(operand.getType());
    }
  state.addRegion();
  state.addRegion();
  auto twin = cast<stablehlo::WhileOp>(builder.create(state));
  SmallVector<Location> locs(state.types.size(), op.getLoc());
  size_t carried = op->getNumOperands();
  auto enter = [&](Block &block, ValueRange arguments) {
    for (auto [i, lane] : llvm::enumerate(lanes))
      lane.values.map(ValueRange(block.getArguments()),
                      arguments.slice(i * carried, carried));
  };
  auto goOn = [&](ValueRange arguments) -> FailureOr<SmallVector<Value>> {
    enter(op.getCond().front(), arguments);
    if (failed(emulateOps(op.getCond().front(), lanes)))
      return failure();
    return valuesOf(lanes, op.getCond().front().getTerminator()->getOperand(0));
  };
  {
    OpBuilder::InsertionGuard guard(builder);
    Block &block = twin.getCond().emplaceBlock();
    block.addArguments(state.types, locs);
    builder.setInsertionPointToStart(&block);
    FailureOr<SmallVector<Value>> again = goOn(block.getArguments());
    if (failed(again))
      return failure();
    stablehlo::ReturnOp::create(builder, fold<stablehlo::OrOp>(*again));
  }
  {
    OpBuilder::InsertionGuard guard(builder);
    Block &block = twin.getBody().emplaceBlock(), &body = op.getBody().front();
    block.addArguments(state.types, locs);
    builder.setInsertionPointToStart(&block);
    SmallVector<Value> again;
    if (lanes.size() > 1) {
      FailureOr<SmallVector<Value>> known = goOn(block.getArguments());
      if (failed(known))
        return failure();
      again = *known;
    }
    enter(body, block.getArguments());
    if (failed(emulateOps(body, lanes)))
      return failure();
    SmallVector<Value> next;
    for (auto [i, lane] : llvm::enumerate(lanes))
      for (Value yielded : body.getTerminator()->getOperands()) {
        Value value = lane.values.lookupOrDefault(yielded);
        if (!again.empty() && !llvm::all_equal(again))
          value = stablehlo::SelectOp::create(builder, value.getType(),
                                              again[i], value,
                                              block.getArgument(next.size()));
        next.push_back(value);
      }
    stablehlo::ReturnOp::create(builder, next);
  }
  for (auto [i, lane] : llvm::enumerate(lanes))
    lane.values.map(ValueRange(op->getResults()),
                    ValueRange(twin->getResults()).slice(i * carried, carried));
  return success();
}

/// The branch of one lane: its own.
LogicalResult Emulator::emulateBranch(Operation *op, Lanes lanes) {
  OperationState state(op->getLoc(), op->getName());
  for (Value operand : op->getOperands())
    state.operands.push_back(lanes.front().values.lookupOrDefault(operand));
  state.addTypes(op->getResultTypes());
  for ([[maybe_unused]] Region &region : op->getRegions())
    state.addRegion();
  Operation *twin = builder.create(state);
  for (auto [region, copy] : llvm::zip(op->getRegions(), twin->getRegions())) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&copy.emplaceBlock());
    if (failed(emulateOps(region.front(), lanes)))
      return failure();
    stablehlo::ReturnOp::create(
        builder,
        llvm::map_to_vector(
            region.front().getTerminator()->getOperands(), [&](Value value) {
              return lanes.front().values.lookupOrDefault(value);
            }));
  }
  lanes.front().values.map(op->getResults(), twin->getResults());
  return success();
}

/// Branches that communicate, of lanes that may take different ones: each that
/// any lane takes runs in all lanes.
LogicalResult Emulator::emulateBranches(Operation *op, Lanes lanes) {
  SmallVector<Value> choices = valuesOf(lanes, op->getOperand(0));
  auto type = cast<RankedTensorType>(choices.front().getType());
  size_t numBranches = op->getNumRegions(), numResults = op->getNumResults();
  bool isIf = isa<stablehlo::IfOp>(op);
  // Whether each lane takes each branch. An index out of range is the last one.
  std::vector<SmallVector<Value>> takes(numBranches);
  for (Value choice : choices) {
    SmallVector<Value> others;
    for (size_t branch = 0; branch + 1 < numBranches; ++branch) {
      Value taken = choice;
      if (!isIf) {
        auto number = DenseElementsAttr::get(
            type, APInt(type.getElementTypeBitWidth(), branch));
        Value constant = stablehlo::ConstantOp::create(
            builder, cast<ElementsAttr>(Attribute(number)));
        taken = stablehlo::CompareOp::create(builder, choice, constant,
                                             stablehlo::ComparisonDirection::EQ,
                                             stablehlo::ComparisonType::SIGNED);
      }
      takes[branch].push_back(taken);
      others.push_back(taken);
    }
    Value last;
    if (others.empty())
      last = stablehlo::ConstantOp::create(
          builder, cast<ElementsAttr>(Attribute(DenseElementsAttr::get(
                       type.clone(builder.getI1Type()), true))));
    else
      last = stablehlo::NotOp::create(builder, fold<stablehlo::OrOp>(others));
    takes.back().push_back(last);
  }

  SmallVector<Value> results; // lane by lane
  for ([[maybe_unused]] Lane &lane : lanes)
    for (Type result : op->getResultTypes())
      results.push_back(zeros(cast<RankedTensorType>(result)));
  for (auto [number, region] : llvm::enumerate(op->getRegions())) {
    OperationState state(op->getLoc(), stablehlo::IfOp::getOperationName());
    state.addOperands(fold<stablehlo::OrOp>(takes[number]));
    state.addTypes(ValueRange(results).getTypes());
    state.addRegion();
    state.addRegion();
    Operation *twin = builder.create(state);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&twin->getRegion(0).emplaceBlock());
    if (failed(emulateOps(region.front(), lanes)))
      return failure();
    SmallVector<Value> chosen;
    for (auto [i, lane] : llvm::enumerate(lanes))
      for (auto [j, yielded] :
           llvm::enumerate(region.front().getTerminator()->getOperands())) {
        Value value = lane.values.lookupOrDefault(yielded);
        chosen.push_back(stablehlo::SelectOp::create(
            builder, value.getType(), takes[number][i], value,
            results[i * numResults + j]));
      }
    stablehlo::ReturnOp::create(builder, chosen);
    builder.setInsertionPointToStart(&twin->getRegion(1).emplaceBlock());
    stablehlo::ReturnOp::create(builder, results);
    results.assign(twin->result_begin(), twin->result_end());
  }
  for (auto [i, lane] : llvm::enumerate(lanes))
    lane.values.map(op->getResults(),
                    ValueRange(results).slice(i * numResults, numResults));
  return success();
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// What each of `members`, the values of a group, becomes.
FailureOr<SmallVector<Value>> Emulator::exchange(Operation *op, int64_t number,
                                                 ArrayRef<Value> members) {
  auto reduce = [&](Region &body) -> FailureOr<Value> {
    auto type = cast<RankedTensorType>(members.front().getType());
    Block &block = body.front();
    Operation *first = &block.front();
    // As ranks do it together: 16-bit floats in f32, rounded once.
    if (type.getElementType().isBF16() || type.getElementType().isF16())
      if (isa<stablehlo::AddOp, stablehlo::MulOp>(first) &&
          first->getNextNode() == block.getTerminator() &&
          first->getOperand(0) != first->getOperand(1)) {
        auto wide = llvm::map_to_vector(members, [&](Value member) -> Value {
          return stablehlo::ConvertOp::create(
              builder, type.clone(builder.getF32Type()), member);
        });
        Value sum = isa<stablehlo::AddOp>(first) ? fold<stablehlo::AddOp>(wide)
                                                 : fold<stablehlo::MulOp>(wide);
        return stablehlo::ConvertOp::create(builder, type, sum).getResult();
      }
    FailureOr<Value> result = members.front();
    for (Value member : members.drop_front())
      if (succeeded(result))
        result =
            stablehlo::combineElementwise(builder, op, body, *result, member);
    return result;
  };
  int64_t count = members.size();
  if (auto gather = dyn_cast<stablehlo::AllGatherOp>(op))
    return SmallVector<Value>(count,
                              concatenate(members, gather.getAllGatherDim()));
  if (auto all = dyn_cast<stablehlo::AllReduceOp>(op)) {
    FailureOr<Value> sum = reduce(all.getComputation());
    return failed(sum) ? FailureOr<SmallVector<Value>>()
                       : SmallVector<Value>(count, *sum);
  }
  SmallVector<Value> results;
  if (auto scatter = dyn_cast<stablehlo::ReduceScatterOp>(op)) {
    FailureOr<Value> sum = reduce(scatter.getComputation());
    if (failed(sum))
      return failure();
    int64_t dim = scatter.getScatterDimension(),
            size = cast<RankedTensorType>(op->getResult(number).getType())
                       .getDimSize(dim);
    for (int64_t place = 0; place < count; ++place)
      results.push_back(slice(*sum, dim, place * size, size));
    return results;
  }
  auto all = cast<stablehlo::AllToAllOp>(op);
  int64_t split = all.getSplitDimension();
  if (static_cast<int64_t>(all.getSplitCount()) != count)
    return op->emitOpError()
           << "splits in " << all.getSplitCount() << " parts for groups of "
           << count << " members, expected as many";
  int64_t size =
      cast<RankedTensorType>(members.front().getType()).getDimSize(split) /
      count;
  for (int64_t place = 0; place < count; ++place)
    results.push_back(concatenate(
        llvm::map_to_vector(members,
                            [&](Value member) {
                              return slice(member, split, place * size, size);
                            }),
        all.getConcatDimension()));
  return results;
}

LogicalResult Emulator::emulateCollective(Operation *op, Lanes lanes) {
  DenseMap<int64_t, Lane *> laneOf;
  for (Lane &lane : lanes)
    laneOf[lane.rank] = &lane;
  auto find = [&](int64_t rank) -> FailureOr<Lane *> {
    if (Lane *lane = laneOf.lookup(rank))
      return lane;
    return emitOpUnsupported(op)
           << ": rank " << rank
           << " of the mesh takes part, which is not one of "
              "its manual region's "
           << lanes.size() << " ranks";
  };
  if (isa<stablehlo::CollectivePermuteOp, stablehlo::CollectiveBroadcastOp>(
          op)) {
    FailureOr<SmallVector<int64_t>> sources = readSources(op, mesh);
    if (failed(sources))
      return failure();
    SmallVector<Value> arriving;
    for (Lane &lane : lanes) {
      int64_t source = (*sources)[lane.rank];
      if (source < 0) {
        arriving.push_back(
            zeros(cast<RankedTensorType>(op->getResult(0).getType())));
        continue;
      }
      FailureOr<Lane *> from = find(source);
      if (failed(from))
        return failure();
      arriving.push_back((*from)->values.lookupOrDefault(op->getOperand(0)));
    }
    for (auto [lane, value] : llvm::zip(lanes, arriving))
      lane.values.map(op->getResult(0), value);
    return success();
  }
  FailureOr<SmallVector<SmallVector<int64_t>>> groups =
      readReplicaGroups(op, mesh);
  if (failed(groups))
    return failure();
  for (ArrayRef<int64_t> group : *groups) {
    // Groups at other coordinates of the free axes do the same.
    if (llvm::none_of(group,
                      [&](int64_t rank) { return laneOf.contains(rank); }))
      continue;
    SmallVector<Lane *> members;
    for (int64_t rank : group) {
      FailureOr<Lane *> member = find(rank);
      if (failed(member))
        return failure();
      members.push_back(*member);
    }
    for (auto [number, operand, result] :
         llvm::enumerate(op->getOperands(), op->getResults())) {
      auto values = llvm::map_to_vector(members, [&](Lane *lane) {
        return lane->values.lookupOrDefault(operand);
      });
      FailureOr<SmallVector<Value>> arriving = exchange(op, number, values);
      if (failed(arriving))
        return failure();
      for (auto [lane, value] : llvm::zip(members, *arriving))
        lane->values.map(result, value);
    }
  }
  return success();
}

namespace {
struct EmulateManualPass final
    : shardc::impl::EmulateManualPassBase<EmulateManualPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<ManualOp> regions;
    getOperation().walk<WalkOrder::PreOrder>([&](ManualOp op) {
      regions.push_back(op);
      return WalkResult::skip(); // Those inside go with it.
    });
    llvm::DenseSet<Operation *> before;
    if (!regions.empty())
      getOperation().walk([&](Operation *op) { before.insert(op); });
    for (ManualOp op : regions) {
      spmd::MeshOp mesh = *getOperation().getOps<spmd::MeshOp>().begin();
      Lane whole;
      if (failed(Emulator(op, mesh.getMesh()).emulate(op, whole)))
        return signalPassFailure();
      op.replaceAllUsesWith(
          llvm::map_to_vector(op.getResults(), [&](Value result) {
            return whole.values.lookup(result);
          }));
      op.erase();
    }
    if (!regions.empty())
      getOperation().walk([&](Operation *op) {
        if (!before.contains(op))
          spmd::contract::OfManual::set(op);
      });
  }
};
} // namespace
