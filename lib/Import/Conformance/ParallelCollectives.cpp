//===- ParallelCollectives.cpp - What processes of a grid exchange --------===//
#include "ParallelPrograms.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

Value Expander::rank() { return stablehlo::PartitionIdOp::create(ops.b); }

Value Expander::number(Value ofRank, int64_t divisor, bool remainder) {
  Value by = ops.splat(Ops::typeOf(ofRank), divisor);
  return remainder ? ops.op<stablehlo::RemOp>(ofRank, by)
                   : ops.op<stablehlo::DivOp>(ofRank, by);
}

/// The entry of `table` for this rank, an i32.
Value Expander::lookUp(ArrayRef<int64_t> table) {
  auto type = RankedTensorType::get({static_cast<int64_t>(table.size())},
                                    ops.b.getI32Type());
  auto words = llvm::map_to_vector(
      table, [](int64_t entry) { return static_cast<int32_t>(entry); });
  Value all = stablehlo::ConstantOp::create(
      ops.b, DenseElementsAttr::get(type, ArrayRef<int32_t>(words)));
  return at(all, rank());
}

Value Expander::memberAt(const Groups &groups, Value place) {
  size_t size = 1;
  if (place)
    for (ArrayRef<int64_t> group : groups)
      size = std::max(size, group.size());
  auto type = RankedTensorType::get(
      {numProcesses(), static_cast<int64_t>(size)}, ops.b.getI32Type());
  SmallVector<int32_t> words(type.getNumElements(), 0);
  for (ArrayRef<int64_t> group : groups)
    for (int64_t process : group)
      for (size_t i = 0; i < size; ++i)
        words[process * size + i] = group[std::min(i, group.size() - 1)];
  Value mine =
      at(stablehlo::ConstantOp::create(
             ops.b, DenseElementsAttr::get(type, ArrayRef<int32_t>(words))),
         rank());
  return place ? at(mine, place) : ops.reshape(mine, {});
}

/// Block `index` of the first dim, without it.
Value Expander::at(Value stacked, Value index) {
  RankedTensorType type = Ops::typeOf(stacked);
  SmallVector<int64_t> sizes(type.getShape());
  sizes[0] = 1;
  SmallVector<Value> starts = {index};
  for (int64_t dim = 1; dim < type.getRank(); ++dim)
    starts.push_back(zeros(index.getType()));
  Value block = stablehlo::DynamicSliceOp::create(
      ops.b, RankedTensorType::get(sizes, type.getElementType()), stacked,
      starts, sizes);
  return ops.reshape(block, type.getShape().drop_front());
}

Value Expander::isOneOf(ArrayRef<int64_t> processes) {
  SmallVector<int64_t> table(numProcesses(), 0);
  for (int64_t process : processes)
    table[process] = 1;
  Value mine = lookUp(table);
  return ops.compare("EQ", mine, ops.splat(Ops::typeOf(mine), 1));
}

Value Expander::choose(ArrayRef<int64_t> processes, Value yes, Value no) {
  if (static_cast<int64_t>(processes.size()) == numProcesses())
    return yes;
  return ops.select(isOneOf(processes), yes, no);
}

Attribute Expander::spell(const Groups &groups) {
  SmallVector<int64_t> flat;
  for (ArrayRef<int64_t> group : groups)
    llvm::append_range(flat, group);
  auto type = RankedTensorType::get(
      {static_cast<int64_t>(groups.size()),
       static_cast<int64_t>(groups.empty() ? 0 : groups.front().size())},
      ops.b.getI64Type());
  return DenseElementsAttr::get(type, ArrayRef<int64_t>(flat));
}

stablehlo::ChannelHandleAttr import::anyChannel(MLIRContext *context) {
  return stablehlo::ChannelHandleAttr::get(context, /*handle=*/1, /*type=*/1);
}

Value Expander::gatherAll(Value value) {
  RankedTensorType type = Ops::typeOf(value);
  SmallVector<int64_t> shape = {1};
  llvm::append_range(shape, type.getShape());
  Value mine = ops.reshape(value, shape);
  shape[0] = numProcesses();
  Groups all(1, llvm::to_vector(llvm::seq<int64_t>(0, numProcesses())));
  return stablehlo::AllGatherOp::create(
             ops.b,
             TypeRange(RankedTensorType::get(shape, type.getElementType())),
             ValueRange(mine), /*all_gather_dim=*/0,
             cast<ElementsAttr>(spell(all)), anyChannel(context),
             /*use_global_device_ids=*/true)
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Groups of ranks, from groups of replicas, of partitions or of both:
/// StableHLO's cross_replica, cross_partition, cross_replica_and_partition and
/// flattened_ids.
FailureOr<Groups> Expander::groupsOf(Operation *inner) {
  auto attr = inner->getAttrOfType<DenseIntElementsAttr>(
      isa<stablehlo::CollectivePermuteOp>(inner) ? "source_target_pairs"
                                                 : "replica_groups");
  if (!attr || attr.getType().getRank() != 2)
    return emitOpUnsupported(inner, ": has groups other than a matrix of "
                                    "numbers beside run_parallel");
  Groups given;
  auto all = llvm::to_vector(attr.getValues<APInt>());
  for (int64_t row = 0, width = attr.getType().getDimSize(1);
       row < attr.getType().getDimSize(0); ++row) {
    SmallVector<int64_t> &group = given.emplace_back();
    for (const APInt &member : ArrayRef(all).slice(row * width, width))
      if (member.getSExtValue() >= 0)
        group.push_back(member.getSExtValue());
  }
  auto channel =
      inner->getAttrOfType<stablehlo::ChannelHandleAttr>("channel_handle");
  bool hasChannel = channel && channel.getHandle() > 0;
  bool flattened = inner->hasAttr("use_global_device_ids");
  bool pairs = isa<stablehlo::AllToAllOp, stablehlo::CollectivePermuteOp,
                   stablehlo::CollectiveBroadcastOp>(inner);
  // By default all of a kind.
  int64_t members = flattened               ? numProcesses()
                    : (hasChannel && pairs) ? partitions
                                            : replicas;
  if (given.empty() || (given.size() == 1 && given[0].empty()))
    given.assign(1, llvm::to_vector(llvm::seq<int64_t>(0, members)));
  Groups groups;
  for (ArrayRef<int64_t> group : given) {
    for (int64_t member : group)
      if (member >= members)
        return inner->emitOpError("names ")
               << member << " in a group, but there are " << members;
    if (flattened) {
      groups.emplace_back(group);
    } else if (hasChannel && pairs) {
      for (int64_t replica = 0; replica < replicas; ++replica)
        groups.push_back(llvm::map_to_vector(group, [&](int64_t partition) {
          return replica * partitions + partition;
        }));
    } else if (hasChannel) {
      SmallVector<int64_t> &both = groups.emplace_back();
      for (int64_t partition = 0; partition < partitions; ++partition)
        for (int64_t replica : group)
          both.push_back(replica * partitions + partition);
    } else {
      for (int64_t partition = 0; partition < partitions; ++partition)
        groups.push_back(llvm::map_to_vector(group, [&](int64_t replica) {
          return replica * partitions + partition;
        }));
    }
  }
  return groups;
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

/// The reduction over each rank's group of what its members have, one after the
/// other. `inner` has the reducer.
SmallVector<Value> Expander::reduceGroups(Operation *inner, ValueRange operands,
                                          const Groups &groups) {
  SmallVector<Value> results;
  size_t size = 0;
  for (ArrayRef<int64_t> group : groups)
    size = std::max(size, group.size());
  for (Value operand : operands) {
    Value all = gatherAll(operand);
    RankedTensorType type = Ops::typeOf(operand);
    Value sum;
    for (size_t member = 0; member < size; ++member) {
      SmallVector<int64_t> table(numProcesses(), 0), having;
      for (ArrayRef<int64_t> group : groups)
        for (int64_t process : group)
          if (member < group.size()) {
            table[process] = group[member];
            having.push_back(process);
          }
      Value part = at(all, lookUp(table));
      if (!sum) {
        sum = part;
        continue;
      }
      // The reducer on whole tensors.
      auto map = stablehlo::MapOp::create(
          ops.b, type, ValueRange{sum, part},
          llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
      IRMapping mapping;
      inner->getRegion(0).cloneInto(&map.getComputation(), mapping);
      Block &body = map.getComputation().front();
      for (BlockArgument argument : body.getArguments())
        argument.setType(RankedTensorType::get({}, type.getElementType()));
      sum = choose(having, map, sum);
    }
    results.push_back(sum);
  }
  return results;
}

/// Ops for `inner`, a collective that the programs `together` have reached;
/// `operands`: for each rank those of its own program.
LogicalResult Expander::exchange(Operation *inner, ArrayRef<Program *> together,
                                 ArrayRef<Value> operands) {
  FailureOr<Groups> groups = groupsOf(inner);
  if (failed(groups))
    return failure();
  SmallVector<int64_t> members;
  bool equal = true;
  for (ArrayRef<int64_t> group : *groups) {
    llvm::append_range(members, group);
    equal &= group.size() == groups->front().size();
  }
  bool complete =
      equal && static_cast<int64_t>(members.size()) == numProcesses();
  SmallVector<Value> results;
  if (isa<stablehlo::CollectivePermuteOp>(inner)) {
    Value moved = stablehlo::CollectivePermuteOp::create(
        ops.b, operands[0].getType(), operands[0],
        cast<DenseIntElementsAttr>(spell(*groups)), anyChannel(context));
    results.push_back(moved);
  } else if (auto broadcast =
                 dyn_cast<stablehlo::CollectiveBroadcastOp>(inner)) {
    bool computed = broadcast.getHasDynamicRoot();
    for (auto [i, operand] : llvm::enumerate(operands.drop_back(computed))) {
      Value root;
      if (computed)
        root = at(operands.back(),
                  ops.splat(RankedTensorType::get({}, ops.b.getI32Type()), i));
      Value taken = at(gatherAll(operand), memberAt(*groups, root));
      results.push_back(choose(members, taken, zeros(operand.getType())));
    }
  } else if (isa<stablehlo::CollectiveReduceOp>(inner)) {
    SmallVector<int64_t> roots;
    for (ArrayRef<int64_t> group : *groups)
      roots.push_back(group.front());
    for (Value sum : reduceGroups(inner, operands, *groups))
      results.push_back(choose(roots, sum, zeros(sum.getType())));
  } else if (isa<stablehlo::AllReduceOp>(inner) && !equal) {
    results = reduceGroups(inner, operands, *groups);
    for (auto [result, operand] : llvm::zip(results, operands))
      result = choose(members, result, operand);
  } else {
    if (!complete)
      return refuse(inner, "leaves processes out of its groups, or has groups "
                           "of different sizes");
    IRMapping mapping;
    mapping.map(inner->getOperands(), operands);
    Operation *copy = ops.b.clone(*inner, mapping);
    copy->setAttr("replica_groups", spell(*groups));
    copy->setAttr("channel_handle", anyChannel(context));
    if (!isa<stablehlo::AllToAllOp>(copy))
      copy->setAttr("use_global_device_ids", ops.b.getUnitAttr());
    results.assign(copy->result_begin(), copy->result_end());
  }
  for (Program *program : together)
    program->values.map(program->next->getResults(), results);
  return success();
}

bool import::isExchange(Operation *op) {
  return isa<stablehlo::AllGatherOp, stablehlo::AllReduceOp,
             stablehlo::ReduceScatterOp, stablehlo::AllToAllOp,
             stablehlo::CollectivePermuteOp, stablehlo::CollectiveBroadcastOp,
             stablehlo::CollectiveReduceOp>(op);
}

/// False while a program of the op's groups has not come to it.
FailureOr<bool> Expander::communicate(Program &program, Operation *inner) {
  FailureOr<Groups> groups = groupsOf(inner);
  if (failed(groups))
    return failure();
  llvm::SmallSetVector<Program *, 4> together;
  together.insert(&program);
  for (ArrayRef<int64_t> group : *groups)
    if (llvm::any_of(group, [&](int64_t process) {
          return ofProcess[process] == &program;
        }))
      for (int64_t process : group)
        together.insert(ofProcess[process]);
  for (Program *other : together)
    if (other->isDone() || other->next->getName() != inner->getName() ||
        other->next->getOperandTypes() != inner->getOperandTypes() ||
        other->next->getResultTypes() != inner->getResultTypes())
      return false;
  SmallVector<Value> operands;
  for (unsigned i = 0; i < inner->getNumOperands(); ++i) {
    Value value;
    for (Program *other : together) {
      Value own = other->values.lookup(other->next->getOperand(i));
      value = value ? choose(other->processes, own, value) : own;
    }
    operands.push_back(value);
  }
  if (failed(exchange(inner, together.getArrayRef(), operands)))
    return failure();
  for (Program *other : together)
    if (other != &program)
      ++other->next;
  return true;
}
