//===- Manual.cpp - Regions that communicate by themselves ----------------===//
//
// The region runs once for each coordinate of its manual axes, all in lock
// step. Operands are cut as `in_shardings` say. A whole value that is to be
// `unreduced` along an axis stays with the first coordinate and is zero at the
// others, so that the sum along the axis is the value; a result that leaves
// `unreduced` is that sum.
//
//===----------------------------------------------------------------------===//
#include "Evaluator.h"
#include "Mesh.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include <algorithm>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

namespace {

/// A mesh as a manual region names it.
struct ManualMesh : Mesh {
  using Mesh::coordinate;

  explicit ManualMesh(sdy::MeshAttr attr) {
    for (sdy::MeshAxisAttr axis : attr.getAxes()) {
      names.push_back(axis.getName());
      sizes.push_back(axis.getSize());
    }
  }
  /// Along an axis or a part of one, which is the middle of pre x size x rest.
  int64_t coordinate(int64_t device, sdy::AxisRefAttr axis) const {
    int64_t index = indexOf(axis.getName()), whole = coordinate(device, index);
    sdy::SubAxisInfoAttr part = axis.getSubAxisInfo();
    return part ? whole / (sizes[index] / (part.getPreSize() * part.getSize())) % part.getSize() : whole;
  }
};

/// Which part of a value belongs to a device, along the manual axes.
struct Cut {
  const ManualMesh &mesh;
  sdy::MeshAttr attr;
  sdy::TensorShardingAttr sharding;
  ArrayRef<StringAttr> manual;

  bool isManual(sdy::AxisRefAttr axis) const {
    return llvm::any_of(manual, [&](StringAttr name) { return name.getValue() == axis.getName(); });
  }
  /// Block number and number of blocks of dim `dim`.
  std::pair<int64_t, int64_t> block(int64_t dim, int64_t device) const {
    int64_t number = 0, count = 1;
    for (sdy::AxisRefAttr axis : sharding.getDimShardings()[dim].getAxes())
      if (isManual(axis)) {
        int64_t size = axis.getSize(attr);
        number = number * size + mesh.coordinate(device, axis);
        count *= size;
      }
    return {number, count};
  }
  bool isUnreduced() const { return llvm::any_of(sharding.getUnreducedAxes(), [&](auto axis) { return isManual(axis); }); }
  /// Whether the device is the first along all unreduced axes.
  bool holdsValue(int64_t device) const {
    return llvm::all_of(sharding.getUnreducedAxes(),
                        [&](sdy::AxisRefAttr axis) { return !isManual(axis) || mesh.coordinate(device, axis) == 0; });
  }
};

} // namespace

/// `a` and `b` as one value along an unreduced axis.
static Array combine(const Array &a, const Array &b, Binary function) {
  Array result(a.format(), a.shape());
  for (int64_t i = 0; i < result.size(); ++i)
    result.set(i) = function(a.format(), a[i], b[i]);
  return result;
}

static LogicalResult runManual(Evaluator &evaluator, sdy::ManualComputationOp op, Lanes outer) {
  ArrayRef<sdy::TensorShardingAttr> ins = op.getInShardings().getShardings(), outs = op.getOutShardings().getShardings();
  if (ins.empty() && outs.empty())
    return Evaluator::unknown(op, "a manual region without operands and results");
  sdy::MeshAttr attr = (ins.empty() ? outs : ins).front().getMesh(op);
  if (!attr)
    return Evaluator::unknown(op, "a manual region on an unknown mesh");
  for (auto [i, id] : llvm::enumerate(attr.getDeviceIds()))
    if (id != static_cast<int64_t>(i))
      return Evaluator::unknown(op, "a manual region on devices in another order");
  ManualMesh mesh(attr);
  ArrayRef<StringAttr> manual = op.getManualAxes().getAxes();
  SmallVector<StringRef> outside;
  for (auto parent = op->getParentOfType<sdy::ManualComputationOp>(); parent;
       parent = parent->getParentOfType<sdy::ManualComputationOp>())
    for (StringAttr axis : parent.getManualAxes().getAxes())
      outside.push_back(axis.getValue());

  // Devices that a lane becomes: all coordinates of the axes that are new.
  Shape offsets = {0};
  for (auto [index, name] : llvm::enumerate(mesh.names)) {
    if (llvm::is_contained(outside, name) ||
        llvm::none_of(manual, [&](StringAttr axis) { return axis.getValue() == name; }))
      continue;
    Shape more;
    for (int64_t offset : offsets)
      for (int64_t c = 0; c < mesh.sizes[index]; ++c)
        more.push_back(offset + c * mesh.stepOf(index));
    offsets = more;
  }
  llvm::sort(offsets);

  std::vector<std::unique_ptr<Lane>> made;
  SmallVector<Lane *> lanes;
  std::vector<Values> arguments, yielded;
  for (Lane *from : outer)
    for (int64_t offset : offsets) {
      made.push_back(std::make_unique<Lane>(*from));
      Lane &lane = *lanes.emplace_back(made.back().get());
      lane.device = from->device + offset;
      Values &values = arguments.emplace_back();
      for (auto [operand, sharding, argument] : llvm::zip_equal(op.getTensors(), ins, op.getBody().getArguments())) {
        Cut cut{mesh, attr, sharding, manual};
        const Array &whole = from->values.lookup(operand);
        Shape starts, box;
        for (int64_t d = 0; d < whole.rank(); ++d) {
          auto [number, count] = cut.block(d, lane.device);
          if (whole.dim(d) % count != 0)
            return op.emitError() << "cuts " << whole.dim(d) << " elements into " << count << " blocks";
          box.push_back(whole.dim(d) / count);
          starts.push_back(number * box.back());
        }
        if (cut.isUnreduced() && sharding.getUnreducedKind() != sdy::ReductionKind::Sum)
          return Evaluator::unknown(op, "an operand that is unreduced by max or min");
        values.push_back(cut.holdsValue(lane.device) ? whole.slice(starts, box) : Array(whole.format(), box));
      }
    }
  if (failed(evaluator.run(op.getBody(), lanes, arguments, yielded)))
    return failure();

  for (auto [number, from] : llvm::enumerate(outer)) {
    Values results;
    for (auto [r, result] : llvm::enumerate(op.getResults())) {
      Cut cut{mesh, attr, outs[r], manual};
      sdy::ReductionKind kind = outs[r].getUnreducedKind();
      Binary function = evaluator.table.binary.lookup(kind == sdy::ReductionKind::Max   ? "stablehlo.maximum"
                                                      : kind == sdy::ReductionKind::Min ? "stablehlo.minimum"
                                                                                        : "stablehlo.add");
      size_t first = number * offsets.size();
      const Array &sample = yielded[first][r];
      Shape shape;
      for (int64_t d = 0; d < sample.rank(); ++d)
        shape.push_back(sample.dim(d) * cut.block(d, lanes[first]->device).second);
      Array whole(sample.format(), shape);
      llvm::DenseMap<int64_t, Array> blocks; // by the place of their first element
      for (size_t i = first; i < first + offsets.size(); ++i) {
        const Array &mine = yielded[i][r];
        Shape starts;
        for (int64_t d = 0; d < mine.rank(); ++d)
          starts.push_back(cut.block(d, lanes[i]->device).first * mine.dim(d));
        int64_t place = whole.size() == 0 ? 0 : whole.flat(starts);
        auto [it, isNew] = blocks.try_emplace(place, mine);
        // Devices that differ along other axes hold copies: the first one's are taken.
        if (!isNew && cut.isUnreduced()) {
          bool isCopy = false;
          for (size_t axis = 0; axis < mesh.sizes.size(); ++axis)
            isCopy |= mesh.coordinate(lanes[i]->device - lanes[first]->device, axis) != 0 &&
                      llvm::none_of(outs[r].getUnreducedAxes(), [&](auto ref) { return ref.getName() == mesh.names[axis]; }) &&
                      llvm::none_of(outs[r].getDimShardings(), [&](sdy::DimensionShardingAttr dim) {
                        return llvm::any_of(dim.getAxes(), [&](auto ref) { return ref.getName() == mesh.names[axis]; });
                      });
          if (!isCopy)
            it->second = combine(it->second, mine, function);
        }
        whole.write(it->second, starts);
      }
      results.push_back(whole);
    }
    Evaluator::bind(op.getResults(), *from, results);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

using Groups = SmallVector<SmallVector<int64_t>>;

/// The groups of devices; failure where they are written in another way.
static FailureOr<Groups> groupsOf(Operation *op, Attribute attr, Lanes lanes) {
  Groups groups;
  if (auto dense = dyn_cast<DenseIntElementsAttr>(attr)) {
    auto type = cast<ShapedType>(dense.getType());
    int64_t width = type.getRank() == 2 ? type.getDimSize(1) : 0, next = 0;
    for (int64_t id : dense.getValues<int64_t>()) {
      if (next++ % width == 0)
        groups.emplace_back();
      if (id >= 0)
        groups.back().push_back(id);
    }
    if (groups.empty()) {
      groups.emplace_back();
      for (Lane *lane : lanes)
        groups.back().push_back(lane->device);
    }
    return groups;
  }
  auto named = dyn_cast<stablehlo::ReplicaGroupMeshAxesAttr>(attr);
  auto meshOp = named ? SymbolTable::lookupNearestSymbolFrom<sdy::MeshOp>(op, named.getMesh()) : sdy::MeshOp();
  if (!meshOp)
    return Evaluator::unknown(op, "groups of this form");
  ManualMesh mesh(meshOp.getMesh());
  std::map<SmallVector<int64_t>, SmallVector<int64_t>> byRest;
  for (int64_t device = 0, e = countElements(mesh.sizes); device < e; ++device) {
    SmallVector<int64_t> rest;
    for (size_t axis = 0; axis < mesh.sizes.size(); ++axis) {
      bool isNamed = llvm::any_of(named.getAxes().getAsRange<stablehlo::AxisRefAttr>(),
                                  [&](auto ref) { return ref.getName() == mesh.names[axis]; });
      rest.push_back(isNamed ? -1 : mesh.coordinate(device, axis));
    }
    byRest[rest].push_back(device);
  }
  for (auto &[rest, group] : byRest)
    groups.push_back(group);
  return groups;
}

/// Calls `exchange` for the members of each group in its order, with their operands. Lanes are those of a part of
/// the mesh: groups outside of it are others' business.
static LogicalResult forEachGroup(Operation *op, Attribute attr, Lanes lanes,
                                  llvm::function_ref<LogicalResult(ArrayRef<Lane *>, ArrayRef<Values>)> exchange) {
  FailureOr<Groups> groups = groupsOf(op, attr, lanes);
  if (failed(groups))
    return failure();
  size_t served = 0;
  for (ArrayRef<int64_t> group : *groups) {
    SmallVector<Lane *> members;
    std::vector<Values> operands;
    for (int64_t device : group)
      for (Lane *lane : lanes)
        if (lane->device == device) {
          members.push_back(lane);
          operands.push_back(Evaluator::operandsOf(op, *lane));
        }
    if (members.empty())
      continue;
    if (members.size() != group.size())
      return op->emitError() << "is reached by " << members.size() << " of the " << group.size() << " ranks of a group";
    if (failed(exchange(members, operands)))
      return failure();
    served += members.size();
  }
  if (served != lanes.size())
    return op->emitError() << "has groups that leave out ranks that reach it, or name one twice";
  return success();
}

/// Element by element over all members, in their order.
static FailureOr<Array> reduceMembers(Evaluator &evaluator, Region &region, ArrayRef<Values> operands, size_t number) {
  Array result = operands[0][number];
  Operation *single = evaluator.singleOp(region);
  Binary function = single ? evaluator.binaryOf(single) : nullptr;
  for (const Values &values : operands.drop_front())
    for (int64_t i = 0; i < result.size(); ++i) {
      if (function) {
        result.set(i) = function(result.format(), result[i], values[number][i]);
        continue;
      }
      FailureOr<Values> made = evaluator.apply(region, {result.elementAt(i), values[number].elementAt(i)});
      if (failed(made))
        return failure();
      result.set(i) = (*made)[0][0];
    }
  return result;
}

static Array blockOf(const Array &array, int64_t dim, int64_t number, int64_t count) {
  Shape starts(array.rank(), 0), box(array.shape());
  box[dim] /= count;
  starts[dim] = number * box[dim];
  return array.slice(starts, box);
}

static LogicalResult runAllReduce(Evaluator &evaluator, stablehlo::AllReduceOp op, Lanes lanes) {
  return forEachGroup(op, op.getReplicaGroups(), lanes, [&](ArrayRef<Lane *> members, ArrayRef<Values> operands) {
    evaluator.current = members.front();
    Values results;
    for (size_t i = 0; i < op->getNumOperands(); ++i) {
      FailureOr<Array> result = reduceMembers(evaluator, op.getComputation(), operands, i);
      if (failed(result))
        return failure();
      results.push_back(*result);
    }
    for (Lane *lane : members)
      Evaluator::bind(op->getResults(), *lane, results);
    return success();
  });
}

static LogicalResult runReduceScatter(Evaluator &evaluator, stablehlo::ReduceScatterOp op, Lanes lanes) {
  return forEachGroup(op, op.getReplicaGroups(), lanes, [&](ArrayRef<Lane *> members, ArrayRef<Values> operands) {
    evaluator.current = members.front();
    FailureOr<Array> whole = reduceMembers(evaluator, op.getComputation(), operands, 0);
    if (failed(whole))
      return failure();
    for (auto [i, lane] : llvm::enumerate(members))
      Evaluator::bind(op->getResults(), *lane, blockOf(*whole, op.getScatterDimension(), i, members.size()));
    return success();
  });
}

static LogicalResult runAllGather(Evaluator &, stablehlo::AllGatherOp op, Lanes lanes) {
  return forEachGroup(op, op.getReplicaGroups(), lanes, [&](ArrayRef<Lane *> members, ArrayRef<Values> operands) {
    Values results;
    for (size_t i = 0; i < op->getNumOperands(); ++i) {
      Values parts;
      for (const Values &values : operands)
        parts.push_back(values[i]);
      results.push_back(Array::joined(parts, op.getAllGatherDim()));
    }
    for (Lane *lane : members)
      Evaluator::bind(op->getResults(), *lane, results);
    return success();
  });
}

static LogicalResult runAllToAll(Evaluator &, stablehlo::AllToAllOp op, Lanes lanes) {
  return forEachGroup(op, op.getReplicaGroups(), lanes, [&](ArrayRef<Lane *> members, ArrayRef<Values> operands) {
    for (auto [mine, lane] : llvm::enumerate(members)) {
      Values results;
      for (size_t i = 0; i < op->getNumOperands(); ++i) {
        Values parts;
        for (const Values &values : operands)
          parts.push_back(blockOf(values[i], op.getSplitDimension(), mine, op.getSplitCount()));
        results.push_back(Array::joined(parts, op.getConcatDimension()));
      }
      Evaluator::bind(op->getResults(), *lane, results);
    }
    return success();
  });
}

static LogicalResult runCollectivePermute(Evaluator &, stablehlo::CollectivePermuteOp op, Lanes lanes) {
  std::vector<Array> received;
  auto pairs = llvm::to_vector(op.getSourceTargetPairs().getValues<int64_t>());
  for (Lane *lane : lanes) {
    const Array &mine = lane->values.lookup(op.getOperand());
    Array value(mine.format(), mine.shape());
    for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
      if (pairs[i + 1] != lane->device)
        continue;
      auto source = llvm::find_if(lanes, [&](Lane *other) { return other->device == pairs[i]; });
      if (source == lanes.end())
        return op.emitError() << "receives from rank " << pairs[i] << ", which does not reach it";
      value = (*source)->values.lookup(op.getOperand());
    }
    received.push_back(value);
  }
  for (auto [lane, value] : llvm::zip_equal(lanes, received))
    Evaluator::bind(op->getResults(), *lane, value);
  return success();
}

static LogicalResult runCollectiveBroadcast(Evaluator &, stablehlo::CollectiveBroadcastOp op, Lanes lanes) {
  FailureOr<Groups> groups = groupsOf(op, op.getReplicaGroups(), lanes);
  if (failed(groups))
    return failure();
  std::vector<Array> received;
  for (Lane *lane : lanes) {
    const Array &mine = lane->values.lookup(op.getOperand());
    Array value(mine.format(), mine.shape()); // zeros for who is in no group
    for (ArrayRef<int64_t> group : *groups)
      if (llvm::is_contained(group, lane->device)) {
        auto source = llvm::find_if(lanes, [&](Lane *other) { return other->device == group.front(); });
        if (source == lanes.end())
          return op.emitError() << "receives from rank " << group.front() << ", which does not reach it";
        value = (*source)->values.lookup(op.getOperand());
      }
    received.push_back(value);
  }
  for (auto [lane, value] : llvm::zip_equal(lanes, received))
    Evaluator::bind(op->getResults(), *lane, value);
  return success();
}

static FailureOr<Values> evaluatePartitionId(Evaluator &evaluator, stablehlo::PartitionIdOp op, ArrayRef<Array>) {
  return Values{Array::scalar(formatOf(op.getResult()), Element::of(evaluator.current->device))};
}

static FailureOr<Values> evaluateReplicaId(Evaluator &, stablehlo::ReplicaIdOp op, ArrayRef<Array>) {
  return Values{Array::scalar(formatOf(op.getResult()), Element::of(int64_t(0)))};
}

void shardc::interpreter::addManual(Table &table) {
  table.addLockstep<sdy::ManualComputationOp>(runManual);
  table.addLockstep<stablehlo::AllReduceOp>(runAllReduce);
  table.addLockstep<stablehlo::ReduceScatterOp>(runReduceScatter);
  table.addLockstep<stablehlo::AllGatherOp>(runAllGather);
  table.addLockstep<stablehlo::AllToAllOp>(runAllToAll);
  table.addLockstep<stablehlo::CollectivePermuteOp>(runCollectivePermute);
  table.addLockstep<stablehlo::CollectiveBroadcastOp>(runCollectiveBroadcast);
  table.add<stablehlo::PartitionIdOp>(evaluatePartitionId);
  table.add<stablehlo::ReplicaIdOp>(evaluateReplicaId);
}
