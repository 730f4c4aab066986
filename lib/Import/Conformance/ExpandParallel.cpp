//===- ExpandParallel.cpp - Programs side by side, on ranks ---------------===//
//
// `interpreter.run_parallel` runs programs in a grid of processes, replicas by
// partitions. Here each process is a rank of a mesh, and what all of them do is
// one manual region: operands and results are stacked along a new first dim, of
// which each rank has one block.
//
// A rank runs every program of the grid, on zeros where it is not its own, so
// that all ranks reach all communication. `send` and `recv` are then a
// permutation, and collectives of groups whose ranks run different programs
// take the operand of each rank's own.
//
//===----------------------------------------------------------------------===//
#include "../OpBuilding.h"
#include "ExpandProbes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Dialect/Check/IR/Check.h"
#include "shardc/Dialect/Interpreter/IR/Interpreter.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Import/ConformancePasses.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <deque>
#include <map>

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using interpreter::RunParallelOp;

namespace shardc {
#define GEN_PASS_DEF_EXPANDPARALLELPASS
#include "shardc/Import/ConformancePasses.h.inc"
} // namespace shardc

using Groups = SmallVector<SmallVector<int64_t>>;

static constexpr StringLiteral kMeshName = "processes";
static constexpr StringLiteral kAxisNames[] = {"replica", "partition"};

static bool isToken(Value value) {
  return isa<stablehlo::TokenType>(value.getType());
}

static StringRef nameOf(Attribute attr) {
  if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attr))
    return symbol.getValue();
  return cast<StringAttr>(attr).getValue();
}

namespace {

/// A program that some processes run.
struct Program {
  func::FuncOp function;
  SmallVector<int64_t> processes;
  IRMapping values; ///< of its body, in the region
  Block::iterator next;

  bool isDone() { return next->hasTrait<OpTrait::IsTerminator>(); }
};

/// Values under way on a channel, in order.
struct Sent {
  SmallVector<Value> values;
  int64_t process;
};

class Expander {
public:
  Expander(RunParallelOp op, SymbolTable &symbols)
      : op(op), symbols(symbols), ops(op), context(op.getContext()) {}
  LogicalResult run();

private:
  LogicalResult readPrograms();
  LogicalResult runPrograms();
  /// Runs ops of `program` until one waits for another program. True if any
  /// ran.
  FailureOr<bool> advance(Program &program);
  FailureOr<bool> advance(Program &program, Operation *inner);

  FailureOr<bool> communicate(Program &program, Operation *inner);
  LogicalResult exchange(Operation *inner, ArrayRef<Program *> together,
                         ArrayRef<Value> operands);
  FailureOr<Groups> groupsOf(Operation *inner);
  Attribute spell(const Groups &groups);
  /// `yes` where this rank is one of `processes`, as a predicate.
  Value isOneOf(ArrayRef<int64_t> processes);
  Value lookUp(ArrayRef<int64_t> table);
  /// The process that has place `place`, one number, in this rank's group; the
  /// first one where there is no `place`.
  Value memberAt(const Groups &groups, Value place);
  Value choose(ArrayRef<int64_t> processes, Value yes, Value no);
  Value zeros(Type type) { return ops.splat(cast<RankedTensorType>(type), 0); }
  /// The values of all ranks, along a new first dim.
  Value gatherAll(Value value);
  Value at(Value stacked, Value index);
  SmallVector<Value> reduceGroups(Operation *inner, ValueRange operands,
                                  const Groups &groups);
  Value rank();
  Value number(Value ofRank, int64_t divisor, bool remainder);

  InFlightDiagnostic refuse(Operation *inner, const Twine &why) {
    return emitUnsupported(inner, "'")
           << inner->getName() << "' at " << userLocation(inner->getLoc())
           << " " << why;
  }

  RunParallelOp op;
  SymbolTable &symbols;
  Ops ops;
  MLIRContext *context;
  int64_t replicas = 0, partitions = 0;
  llvm::MapVector<Operation *, Program> programs;
  SmallVector<Program *> ofProcess;
  std::map<int64_t, std::deque<Sent>> channels;
  SmallVector<func::FuncOp> fed;
  size_t nextFed = 0;

  int64_t numProcesses() { return replicas * partitions; }
};

} // namespace

LogicalResult Expander::readPrograms() {
  auto find = [&](Attribute name) {
    auto function = symbols.lookup<func::FuncOp>(nameOf(name));
    if (!function || function.isExternal() ||
        !function.getBody().hasOneBlock()) {
      op.emitOpError("runs @")
          << nameOf(name)
          << ", which is no function with a body of this module";
      return func::FuncOp();
    }
    return function;
  };
  replicas = op.getPrograms().size();
  for (auto row : op.getPrograms().getAsRange<ArrayAttr>()) {
    partitions = row.size();
    for (Attribute name : row) {
      func::FuncOp function = find(name);
      if (!function)
        return failure();
      Program &program = programs[function];
      program.function = function;
      program.processes.push_back(ofProcess.size());
      ofProcess.push_back(nullptr);
    }
  }
  for (auto &[function, program] : programs) {
    program.next = program.function.getBody().front().begin();
    for (int64_t process : program.processes)
      ofProcess[process] = &program;
  }
  if (ArrayAttr infeed = op.getInfeedAttr())
    for (Attribute name : infeed) {
      func::FuncOp function = find(name);
      if (!function)
        return failure();
      if (function.getNumArguments() != 0)
        return op.emitOpError("feeds in @")
               << nameOf(name) << ", which takes arguments, expected none";
      fed.push_back(function);
    }
  SmallVector<Type> arguments, results;
  for (Program *program : ofProcess) {
    llvm::append_range(arguments, program->function.getArgumentTypes());
    llvm::append_range(results, program->function.getResultTypes());
  }
  if (!llvm::equal(arguments, op.getOperandTypes()) ||
      !llvm::equal(results, op.getResultTypes()))
    return op.emitOpError("has type ")
           << FunctionType::get(context, op.getOperandTypes(),
                                op.getResultTypes())
           << ", but its programs together have "
           << FunctionType::get(context, arguments, results);
  for (Type type : llvm::concat<Type>(arguments, results))
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        !isa<stablehlo::TokenType>(type) &&
        (!tensor || !tensor.hasStaticShape()))
      return emitOpUnsupported(op, ": hands over ")
             << type << ", expected tensors of known shape and tokens";
  return success();
}

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

static stablehlo::ChannelHandleAttr anyChannel(MLIRContext *context) {
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

static bool isExchange(Operation *op) {
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

FailureOr<bool> Expander::advance(Program &program, Operation *inner) {
  ops.b.setLoc(inner->getLoc());
  auto token = [&]() -> Value {
    return stablehlo::CreateTokenOp::create(ops.b);
  };
  auto lookUpAll = [&](ValueRange values) {
    return llvm::map_to_vector(
        values, [&](Value value) { return program.values.lookup(value); });
  };
  if (isExchange(inner))
    return communicate(program, inner);
  if (isa<stablehlo::PartitionIdOp>(inner)) {
    program.values.map(inner->getResult(0), number(rank(), partitions, true));
    return true;
  }
  if (isa<stablehlo::ReplicaIdOp>(inner)) {
    program.values.map(inner->getResult(0), number(rank(), partitions, false));
    return true;
  }
  if (auto send = dyn_cast<stablehlo::SendOp>(inner)) {
    if (program.processes.size() != 1)
      return LogicalResult(
          refuse(inner, "is in a program of several processes"));
    channels[send.getChannelHandle().getHandle()].push_back(
        {lookUpAll(send.getInputs()), program.processes[0]});
    program.values.map(send.getResult(), token());
    return true;
  }
  if (auto recv = dyn_cast<stablehlo::RecvOp>(inner)) {
    if (program.processes.size() != 1)
      return LogicalResult(
          refuse(inner, "is in a program of several processes"));
    std::deque<Sent> &queue = channels[recv.getChannelHandle().getHandle()];
    if (queue.empty())
      return false;
    Sent sent = queue.front();
    queue.pop_front();
    auto types = llvm::make_filter_range(recv.getResultTypes(), [](Type type) {
      return !isa<stablehlo::TokenType>(type);
    });
    if (!llvm::equal(types, TypeRange(ValueRange(sent.values))))
      return LogicalResult(inner->emitOpError("receives ")
                           << llvm::to_vector(types)
                           << ", but what was sent is "
                           << TypeRange(ValueRange(sent.values)));
    size_t next = 0;
    for (Value result : recv.getResults()) {
      if (isToken(result)) {
        program.values.map(result, token());
        continue;
      }
      Value value = sent.values[next++];
      Groups pair(1, {sent.process, program.processes[0]});
      if (sent.process != program.processes[0])
        value = stablehlo::CollectivePermuteOp::create(
            ops.b, value.getType(), value,
            cast<DenseIntElementsAttr>(spell(pair)), anyChannel(context));
      program.values.map(result, value);
    }
    return true;
  }
  if (auto infeed = dyn_cast<stablehlo::InfeedOp>(inner)) {
    if (program.processes.size() != 1)
      return LogicalResult(
          refuse(inner, "is in a program of several processes"));
    if (nextFed == fed.size())
      return LogicalResult(inner->emitOpError("reads more than the ")
                           << fed.size()
                           << " functions of run_parallel's infeed give");
    IRMapping values;
    Block &body = fed[nextFed++].getBody().front();
    for (Operation &given : body.without_terminator())
      ops.b.clone(given, values);
    ValueRange yielded = body.getTerminator()->getOperands();
    size_t next = 0;
    for (Value result : infeed.getResults()) {
      if (isToken(result)) {
        program.values.map(result, token());
        continue;
      }
      if (next >= yielded.size() || yielded[next].getType() != result.getType())
        return LogicalResult(
            inner->emitOpError("reads ")
            << result.getType()
            << ", which is not what the function of the infeed gives");
      program.values.map(result, values.lookup(yielded[next++]));
    }
    return true;
  }
  if (isa<stablehlo::OutfeedOp>(inner)) {
    // Nobody is there who could read it.
    program.values.map(inner->getResult(0), token());
    return true;
  }
  Operation *within = nullptr;
  inner->walk([&](Operation *nested) {
    if (nested != inner &&
        (isExchange(nested) ||
         isa<stablehlo::SendOp, stablehlo::RecvOp, stablehlo::InfeedOp,
             stablehlo::OutfeedOp, stablehlo::PartitionIdOp,
             stablehlo::ReplicaIdOp>(nested)))
      within = nested;
  });
  if (within && programs.size() > 1)
    return LogicalResult(refuse(within,
                                "is in a region of a program that not all "
                                "processes run"));
  Operation *copy = ops.b.clone(*inner, program.values);
  if (!within)
    return true;
  // All processes come to it together, if they do at all.
  SmallVector<Operation *> nested;
  copy->walk([&](Operation *one) {
    if (one != copy)
      nested.push_back(one);
  });
  ImplicitLocOpBuilder outside = ops.b;
  for (Operation *one : nested) {
    ops.b.setInsertionPoint(one);
    ops.b.setLoc(one->getLoc());
    if (isa<stablehlo::PartitionIdOp, stablehlo::ReplicaIdOp>(one)) {
      Value known =
          number(rank(), partitions, isa<stablehlo::PartitionIdOp>(one));
      one->replaceAllUsesWith(ValueRange(known));
      one->erase();
    } else if (isExchange(one)) {
      Program inside;
      inside.function = program.function;
      inside.processes = program.processes;
      inside.next = Block::iterator(one);
      if (failed(exchange(one, {&inside}, llvm::to_vector(one->getOperands()))))
        return failure();
      SmallVector<Value> results;
      for (Value result : one->getResults())
        results.push_back(inside.values.lookup(result));
      one->replaceAllUsesWith(results);
      one->erase();
    } else if (isa<stablehlo::SendOp, stablehlo::RecvOp, stablehlo::InfeedOp,
                   stablehlo::OutfeedOp>(one)) {
      return LogicalResult(refuse(one, "is in a region of a program"));
    }
  }
  ops.b = outside;
  return true;
}

FailureOr<bool> Expander::advance(Program &program) {
  bool any = false;
  while (!program.isDone()) {
    FailureOr<bool> ran = advance(program, &*program.next);
    if (failed(ran))
      return failure();
    if (!*ran)
      return any;
    ++program.next;
    any = true;
  }
  return any;
}

LogicalResult Expander::runPrograms() {
  while (true) {
    bool any = false, done = true;
    for (auto &[function, program] : programs) {
      FailureOr<bool> ran = advance(program);
      if (failed(ran))
        return failure();
      any |= *ran;
      done &= program.isDone();
    }
    if (done)
      return success();
    if (any)
      continue;
    InFlightDiagnostic diag =
        op.emitOpError("never ends: each process waits for another");
    for (auto &[function, program] : programs)
      if (!program.isDone())
        diag.attachNote(program.next->getLoc())
            << "@" << program.function.getSymName() << " waits here";
    return diag;
  }
}

//===----------------------------------------------------------------------===//
// The region
//===----------------------------------------------------------------------===//

LogicalResult Expander::run() {
  if (failed(readPrograms()))
    return failure();
  // Where the operands and results of each process begin.
  SmallVector<int64_t> firstOperand, firstResult;
  int64_t operandsSoFar = 0, resultsSoFar = 0;
  for (Program *program : ofProcess) {
    firstOperand.push_back(operandsSoFar);
    firstResult.push_back(resultsSoFar);
    operandsSoFar += program->function.getNumArguments();
    resultsSoFar += program->function.getNumResults();
  }
  auto withLead = [&](Type type, int64_t lead) {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape = {lead};
    llvm::append_range(shape, tensor.getShape());
    return RankedTensorType::get(shape, tensor.getElementType());
  };
  auto sharding = [&](int64_t dims) {
    SmallVector<sdy::AxisRefAttr> axes;
    for (StringRef axis : kAxisNames)
      axes.push_back(sdy::AxisRefAttr::get(context, axis, {}));
    SmallVector<sdy::DimensionShardingAttr> list(
        dims, sdy::DimensionShardingAttr::get(context, {}, /*isClosed=*/true,
                                              std::nullopt));
    list[0] = sdy::DimensionShardingAttr::get(context, axes, /*isClosed=*/true,
                                              std::nullopt);
    return sdy::TensorShardingAttr::get(
        context, FlatSymbolRefAttr::get(context, kMeshName), list, {}, {},
        sdy::ReductionKind::Sum);
  };
  auto module = op->getParentOfType<ModuleOp>();
  if (!symbols.lookup(kMeshName)) {
    SmallVector<sdy::MeshAxisAttr> axes;
    for (auto [name, size] :
         llvm::zip(kAxisNames, ArrayRef{replicas, partitions}))
      axes.push_back(sdy::MeshAxisAttr::get(context, name, size));
    OpBuilder atStart = OpBuilder::atBlockBegin(module.getBody());
    symbols.insert(sdy::MeshOp::create(atStart, op.getLoc(), kMeshName,
                                       sdy::MeshAttr::get(context, axes, {})),
                   module.getBody()->begin());
  } else if (auto mesh = symbols.lookup<sdy::MeshOp>(kMeshName);
             !mesh || mesh.getMesh().getAxes()[0].getSize() != replicas ||
             mesh.getMesh().getAxes()[1].getSize() != partitions) {
    return emitUnsupported(op, "'")
           << op->getName() << "' at " << userLocation(op.getLoc())
           << " has a grid of another size than one before it";
  }

  // Operands of each program, stacked over all processes.
  SmallVector<Value> stacked;
  SmallVector<sdy::TensorShardingAttr> in, out;
  SmallVector<Type> blocks, stackedResults;
  for (auto &[function, program] : programs) {
    for (auto [i, type] :
         llvm::enumerate(program.function.getArgumentTypes())) {
      if (isa<stablehlo::TokenType>(type))
        continue;
      SmallVector<Value> parts;
      for (auto [process, of] : llvm::enumerate(ofProcess)) {
        Value part = of == &program ? op.getOperand(firstOperand[process] + i)
                                    : zeros(type);
        parts.push_back(ops.reshape(part, withLead(type, 1).getShape()));
      }
      auto all = withLead(type, numProcesses());
      stacked.push_back(parts.size() == 1 ? parts[0]
                                          : stablehlo::ConcatenateOp::create(
                                                ops.b, all, parts, 0)
                                                .getResult());
      in.push_back(sharding(all.getRank()));
      blocks.push_back(withLead(type, 1));
    }
    for (Type type : program.function.getResultTypes())
      if (!isa<stablehlo::TokenType>(type)) {
        auto all = withLead(type, numProcesses());
        stackedResults.push_back(all);
        out.push_back(sharding(all.getRank()));
      }
  }
  SmallVector<StringAttr> manualAxes;
  for (StringRef axis : kAxisNames)
    manualAxes.push_back(StringAttr::get(context, axis));
  auto region = sdy::ManualComputationOp::create(
      ops.b, stackedResults, stacked,
      sdy::TensorShardingPerValueAttr::get(context, in),
      sdy::TensorShardingPerValueAttr::get(context, out),
      sdy::ManualAxesAttr::get(context, manualAxes));
  Block &body = region.getBody().emplaceBlock();
  for (Type block : blocks)
    body.addArgument(block, op.getLoc());

  ImplicitLocOpBuilder outside = ops.b;
  ops.b.setInsertionPointToStart(&body);
  unsigned next = 0;
  for (auto &[function, program] : programs)
    for (BlockArgument argument : program.function.getArguments())
      if (isToken(argument))
        program.values.map(argument,
                           stablehlo::CreateTokenOp::create(ops.b).getResult());
      else
        program.values.map(
            argument,
            ops.reshape(body.getArgument(next++),
                        cast<RankedTensorType>(argument.getType()).getShape()));
  if (failed(runPrograms()))
    return failure();
  SmallVector<Value> yielded;
  for (auto &[function, program] : programs)
    for (Value value : program.next->getOperands())
      if (!isToken(value))
        yielded.push_back(ops.reshape(program.values.lookup(value),
                                      withLead(value.getType(), 1).getShape()));
  sdy::ReturnOp::create(ops.b, yielded);

  ops.b = outside;
  next = 0;
  for (auto &[function, program] : programs)
    for (auto [i, type] : llvm::enumerate(program.function.getResultTypes())) {
      bool token = isa<stablehlo::TokenType>(type);
      Value all = token ? Value() : region.getResult(next++);
      for (int64_t process : program.processes) {
        Value result = op.getResult(firstResult[process] + i);
        if (token) {
          result.replaceAllUsesWith(
              stablehlo::CreateTokenOp::create(ops.b).getResult());
          continue;
        }
        auto tensor = Ops::typeOf(all);
        SmallVector<int64_t> starts(tensor.getRank(), 0),
            limits(tensor.getShape()), strides(tensor.getRank(), 1);
        starts[0] = process;
        limits[0] = process + 1;
        Value block = stablehlo::SliceOp::create(ops.b, withLead(type, 1), all,
                                                 starts, limits, strides);
        result.replaceAllUsesWith(
            ops.reshape(block, cast<RankedTensorType>(type).getShape()));
      }
    }
  op.erase();
  return success();
}

namespace {
struct ExpandParallelPass final
    : shardc::impl::ExpandParallelPassBase<ExpandParallelPass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<RunParallelOp> found;
    module.walk([&](RunParallelOp op) { found.push_back(op); });
    SymbolTable symbols(module);
    auto main = symbols.lookup<func::FuncOp>("main");
    for (RunParallelOp op : found) {
      if (op->getParentOp() != main) {
        emitUnsupported(op, "'")
            << op->getName() << "' at " << userLocation(op.getLoc())
            << " is in a region, expected one in @main";
        return signalPassFailure();
      }
      if (failed(Expander(op, symbols).run()))
        return signalPassFailure();
    }
    if (!found.empty())
      for (auto function :
           llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
        if (function != main)
          function.erase();
    if (failed(expandProbes(module)))
      return signalPassFailure();
  }
};
} // namespace
