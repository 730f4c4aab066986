//===- Collectives.cpp - StableHLO's ops between lanes --------------------===//
//
// Groups and pairs name devices by their numbers, or groups by axes of a mesh.
//
//===----------------------------------------------------------------------===//
#include "Evaluator.h"
#include "Mesh.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include <algorithm>
#include <map>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

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
  AxisMesh mesh;
  if (auto symbol = named ? dyn_cast<FlatSymbolRefAttr>(named.getMesh())
                          : FlatSymbolRefAttr()) {
    if (auto meshOp =
            SymbolTable::lookupNearestSymbolFrom<sdy::MeshOp>(op, symbol))
      mesh = AxisMesh(meshOp.getMesh());
  } else if (named) {
    mesh = AxisMesh(cast<stablehlo::MeshAttr>(named.getMesh()));
  }
  bool whole =
      named &&
      llvm::none_of(named.getAxes().getAsRange<stablehlo::AxisRefAttr>(),
                    [](auto ref) { return bool(ref.getSubAxisInfo()); });
  if (mesh.sizes.empty() || !whole)
    return Evaluator::unknown(op, "groups of this form");
  std::map<SmallVector<int64_t>, SmallVector<int64_t>> byRest;
  for (int64_t device = 0, e = countElements(mesh.sizes); device < e;
       ++device) {
    SmallVector<int64_t> rest;
    for (size_t axis = 0; axis < mesh.sizes.size(); ++axis) {
      bool isNamed = llvm::any_of(
          named.getAxes().getAsRange<stablehlo::AxisRefAttr>(),
          [&](auto ref) { return ref.getName() == mesh.names[axis]; });
      rest.push_back(isNamed ? -1 : mesh.coordinate(device, axis));
    }
    byRest[rest].push_back(device);
  }
  for (auto &[rest, group] : byRest)
    groups.push_back(group);
  return groups;
}

/// Calls `exchange` for the members of each group in its order, with their
/// operands. Lanes are those of a part of the mesh: groups outside of it are
/// others' business.
static LogicalResult forEachGroup(
    Operation *op, Attribute attr, Lanes lanes,
    llvm::function_ref<LogicalResult(ArrayRef<Lane *>, ArrayRef<Values>)>
        exchange) {
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
      return op->emitError() << "is reached by " << members.size() << " of the "
                             << group.size() << " ranks of a group";
    for (const Values &values : operands)
      for (auto [mine, first] : llvm::zip_equal(values, operands.front()))
        if (mine.shape() != first.shape())
          return op->emitError() << "is between ranks whose operands have "
                                    "different shapes when it runs";
    if (failed(exchange(members, operands)))
      return failure();
    served += members.size();
  }
  if (served != lanes.size())
    return op->emitError() << "has groups that leave out ranks that reach it, "
                              "or name one twice";
  return success();
}

/// Element by element over all members, in their order.
static FailureOr<Array> reduceMembers(Evaluator &evaluator, Region &region,
                                      ArrayRef<Values> operands,
                                      size_t number) {
  Array result = operands[0][number];
  Operation *single = evaluator.singleOp(region);
  Binary function = single ? evaluator.binaryOf(single) : nullptr;
  for (const Values &values : operands.drop_front())
    for (int64_t i = 0; i < result.size(); ++i) {
      if (function) {
        result.set(i) = function(result.format(), result[i], values[number][i]);
        continue;
      }
      FailureOr<Values> made = evaluator.apply(
          region, {result.elementAt(i), values[number].elementAt(i)});
      if (failed(made))
        return failure();
      result.set(i) = (*made)[0][0];
    }
  return result;
}

static Array blockOf(const Array &array, int64_t dim, int64_t number,
                     int64_t count) {
  Shape starts(array.rank(), 0), box(array.shape());
  box[dim] /= count;
  starts[dim] = number * box[dim];
  return array.slice(starts, box);
}

static LogicalResult runAllReduce(Evaluator &evaluator,
                                  stablehlo::AllReduceOp op, Lanes lanes) {
  return forEachGroup(op, op.getReplicaGroups(), lanes,
                      [&](ArrayRef<Lane *> members, ArrayRef<Values> operands) {
                        evaluator.current = members.front();
                        Values results;
                        for (size_t i = 0; i < op->getNumOperands(); ++i) {
                          FailureOr<Array> result = reduceMembers(
                              evaluator, op.getComputation(), operands, i);
                          if (failed(result))
                            return failure();
                          results.push_back(*result);
                        }
                        for (Lane *lane : members)
                          Evaluator::bind(op->getResults(), *lane, results);
                        return success();
                      });
}

static LogicalResult runReduceScatter(Evaluator &evaluator,
                                      stablehlo::ReduceScatterOp op,
                                      Lanes lanes) {
  return forEachGroup(
      op, op.getReplicaGroups(), lanes,
      [&](ArrayRef<Lane *> members, ArrayRef<Values> operands) {
        evaluator.current = members.front();
        FailureOr<Array> whole =
            reduceMembers(evaluator, op.getComputation(), operands, 0);
        if (failed(whole))
          return failure();
        for (auto [i, lane] : llvm::enumerate(members))
          Evaluator::bind(
              op->getResults(), *lane,
              blockOf(*whole, op.getScatterDimension(), i, members.size()));
        return success();
      });
}

static LogicalResult runAllGather(Evaluator &, stablehlo::AllGatherOp op,
                                  Lanes lanes) {
  return forEachGroup(op, op.getReplicaGroups(), lanes,
                      [&](ArrayRef<Lane *> members, ArrayRef<Values> operands) {
                        Values results;
                        for (size_t i = 0; i < op->getNumOperands(); ++i) {
                          Values parts;
                          for (const Values &values : operands)
                            parts.push_back(values[i]);
                          results.push_back(
                              Array::joined(parts, op.getAllGatherDim()));
                        }
                        for (Lane *lane : members)
                          Evaluator::bind(op->getResults(), *lane, results);
                        return success();
                      });
}

static LogicalResult runAllToAll(Evaluator &, stablehlo::AllToAllOp op,
                                 Lanes lanes) {
  return forEachGroup(
      op, op.getReplicaGroups(), lanes,
      [&](ArrayRef<Lane *> members, ArrayRef<Values> operands) {
        for (auto [mine, lane] : llvm::enumerate(members)) {
          Values results;
          for (size_t i = 0; i < op->getNumOperands(); ++i) {
            Values parts;
            for (const Values &values : operands)
              parts.push_back(blockOf(values[i], op.getSplitDimension(), mine,
                                      op.getSplitCount()));
            results.push_back(Array::joined(parts, op.getConcatDimension()));
          }
          Evaluator::bind(op->getResults(), *lane, results);
        }
        return success();
      });
}

static LogicalResult runCollectivePermute(Evaluator &,
                                          stablehlo::CollectivePermuteOp op,
                                          Lanes lanes) {
  std::vector<Array> received;
  auto pairs = llvm::to_vector(op.getSourceTargetPairs().getValues<int64_t>());
  for (Lane *lane : lanes) {
    const Array &mine = lane->values.lookup(op.getOperand());
    Array value(mine.format(), mine.shape());
    for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
      if (pairs[i + 1] != lane->device)
        continue;
      auto source = llvm::find_if(
          lanes, [&](Lane *other) { return other->device == pairs[i]; });
      if (source == lanes.end())
        return op.emitError() << "receives from rank " << pairs[i]
                              << ", which does not reach it";
      value = (*source)->values.lookup(op.getOperand());
    }
    received.push_back(value);
  }
  for (auto [lane, value] : llvm::zip_equal(lanes, received))
    Evaluator::bind(op->getResults(), *lane, value);
  return success();
}

static LogicalResult runCollectiveBroadcast(Evaluator &,
                                            stablehlo::CollectiveBroadcastOp op,
                                            Lanes lanes) {
  FailureOr<Groups> groups = groupsOf(op, op.getReplicaGroups(), lanes);
  if (failed(groups))
    return failure();
  std::vector<Values> received;
  for (Lane *lane : lanes) {
    Values &values = received.emplace_back();
    for (auto [i, sent] : llvm::enumerate(op.getSent())) {
      const Array &mine = lane->values.lookup(sent);
      values.push_back(
          Array(mine.format(), mine.shape())); // zeros for who is in no group
      for (ArrayRef<int64_t> group : *groups)
        if (llvm::is_contained(group, lane->device)) {
          int64_t place = 0;
          if (op.getHasDynamicRoot())
            place = lane->values.lookup(op.getOperands().back()).integer(i);
          int64_t from = group[std::clamp<int64_t>(place, 0, group.size() - 1)];
          auto source = llvm::find_if(
              lanes, [&](Lane *other) { return other->device == from; });
          if (source == lanes.end())
            return op.emitError() << "receives from rank " << from
                                  << ", which does not reach it";
          values.back() = (*source)->values.lookup(sent);
        }
    }
  }
  for (auto [lane, values] : llvm::zip_equal(lanes, received))
    Evaluator::bind(op->getResults(), *lane, values);
  return success();
}

static FailureOr<Values> evaluatePartitionId(Evaluator &evaluator,
                                             stablehlo::PartitionIdOp op,
                                             ArrayRef<Array>) {
  return Values{Array::scalar(formatOf(op.getResult()),
                              Element::of(evaluator.current->device))};
}

static FailureOr<Values>
evaluateReplicaId(Evaluator &, stablehlo::ReplicaIdOp op, ArrayRef<Array>) {
  return Values{
      Array::scalar(formatOf(op.getResult()), Element::of(int64_t(0)))};
}

/// A future is a tuple of what is there already.
static LogicalResult runAsyncStart(Evaluator &evaluator,
                                   stablehlo::AsyncStartOp op, Lanes lanes) {
  std::vector<Values> arguments, yielded;
  for (Lane *lane : lanes)
    arguments.push_back(Evaluator::operandsOf(op, *lane));
  if (failed(evaluator.run(op.getBody(), lanes, arguments, yielded)))
    return failure();
  for (auto [lane, values] : llvm::zip_equal(lanes, yielded))
    Evaluator::bind(op->getResults(), *lane, Array::tuple(values));
  return success();
}

static FailureOr<Values> evaluateAsyncDone(Evaluator &,
                                           stablehlo::AsyncDoneOp op,
                                           ArrayRef<Array> operands) {
  return Values(operands[0].parts());
}

void shardc::interpreter::addCollectives(Table &table) {
  table.addLockstep<stablehlo::AsyncStartOp>(runAsyncStart);
  table.add<stablehlo::AsyncDoneOp>(evaluateAsyncDone);
  table.addLockstep<stablehlo::AllReduceOp>(runAllReduce);
  table.addLockstep<stablehlo::ReduceScatterOp>(runReduceScatter);
  table.addLockstep<stablehlo::AllGatherOp>(runAllGather);
  table.addLockstep<stablehlo::AllToAllOp>(runAllToAll);
  table.addLockstep<stablehlo::CollectivePermuteOp>(runCollectivePermute);
  table.addLockstep<stablehlo::CollectiveBroadcastOp>(runCollectiveBroadcast);
  table.add<stablehlo::PartitionIdOp>(evaluatePartitionId);
  table.add<stablehlo::ReplicaIdOp>(evaluateReplicaId);
}
