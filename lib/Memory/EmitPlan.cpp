//===- EmitPlan.cpp - A plan as IR ----------------------------------------===//
//
// Every op of the plan is a clone of the op that it is or repeats, at its place
// in the order; the ops that were there before go last.
//
// A loop over rows carries the rows that it makes as tensors that each
// iteration writes a block of, and sums as accumulators. Rows that are left
// over when all blocks have one size run behind it.
//
//===----------------------------------------------------------------------===//
#include "EmitPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Local/IR/LocalContracts.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/ElementBytes.h"
#include "shardc/Support/UserLocation.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::memory;
using namespace shardc::spmd;

static int64_t bytesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape()
             ? type.getNumElements() * elementBytes(type.getElementType())
             : 0;
}

namespace {

class Emitter {
public:
  Emitter(PlannedBlock &planned, const RowSpaces &rows, int64_t blockBytes)
      : planned(planned), program(planned.program), rows(rows),
        blockBytes(blockBytes), block(*planned.ops.front()->getBlock()),
        builder(&block, block.end()) {}

  LogicalResult run();

private:
  /// A loop that is being written: what it reads and makes.
  struct Loop {
    const PlanGroup *group;
    int64_t space = -1, size = 0; ///< rows in all
    double bytesPerRow = 0;       ///< of what the loop makes
    bool communicates = false;
    SmallVector<int64_t> rowInputs; ///< values that are read block by block
    SmallVector<int64_t> rowResults, sums; ///< values that are read behind it
    llvm::DenseMap<int64_t, unsigned>
        reused; ///< row input to the row result in its place
  };
  /// The values of one iteration.
  struct Iteration {
    SmallVector<Value> carriedRows, sums;
  };

  Value irOf(int64_t value) const {
    return planned.values[program.values[value].base];
  }
  const RowForm &formOf(int64_t op) const {
    return *rows.lookup(planned.ops[program.ops[op].source]);
  }
  Value now(int64_t value) const {
    auto found = current.find(value);
    return found == current.end() ? irOf(value) : found->second;
  }
  bool isReadElsewhere(int64_t value, const PlanGroup &group) const {
    return llvm::any_of(users[value], [&](int64_t op) {
      return !llvm::is_contained(group.ops, op);
    });
  }

  void emitOp(int64_t op);
  LogicalResult emitLoop(const PlanGroup &group, size_t place);
  /// What a loop over the ops of `group` reads and makes.
  Loop loopOf(const PlanGroup &group);
  int64_t rowsOfBlock(const Loop &loop);
  /// Has rows that are read in `loop`, at `place`, for the last time make room
  /// for those that are made.
  void reuseRows(Loop &loop, size_t place);
  Iteration beforeFirst(const Loop &loop);
  /// Emits the loop over blocks of `count` rows; `iteration` has what it
  /// carries, before and after.
  LogicalResult emitBlocks(const Loop &loop, Iteration &iteration,
                           int64_t count);
  LogicalResult emitIteration(const Loop &loop, Iteration &iteration,
                              Value first, int64_t count);
  Value scalar(int64_t number);
  SmallVector<Value> starts(Value value, int64_t dim, Value first);
  Value zeros(Type type, Location loc);
  int64_t rowDimOf(int64_t value) const;

  PlannedBlock &planned;
  const Program &program;
  const RowSpaces &rows;
  int64_t blockBytes;
  Block &block;
  OpBuilder builder;
  Location loc = UnknownLoc::get(builder.getContext());
  std::vector<std::vector<int64_t>> users;
  std::vector<int64_t> lastPlace; ///< of the last op that reads it, by value
  llvm::DenseMap<int64_t, Value> current;
  int64_t barriers = 0;
};

} // namespace

/// The dim of the rows that a value has, which is the first that can be one.
int64_t Emitter::rowDimOf(int64_t value) const {
  for (auto [dim, size] : llvm::enumerate(
           cast<RankedTensorType>(irOf(value).getType()).getShape()))
    if (size != 1)
      return dim;
  return 0;
}

Value Emitter::scalar(int64_t number) {
  auto type = RankedTensorType::get({}, builder.getI64Type());
  return stablehlo::ConstantOp::create(
      builder, loc,
      cast<ElementsAttr>(Attribute(DenseElementsAttr::get(type, number))));
}

SmallVector<Value> Emitter::starts(Value value, int64_t dim, Value first) {
  SmallVector<Value> indices;
  Value zero;
  for (int64_t d = 0, rank = cast<RankedTensorType>(value.getType()).getRank();
       d < rank; ++d) {
    if (d != dim && !zero)
      zero = scalar(0);
    indices.push_back(d == dim ? first : zero);
  }
  return indices;
}

Value Emitter::zeros(Type type, Location loc) {
  auto tensor = cast<RankedTensorType>(type);
  auto scalarType = RankedTensorType::get({}, tensor.getElementType());
  Attribute zero;
  if (auto complex = dyn_cast<ComplexType>(tensor.getElementType())) {
    auto part = cast<FloatType>(complex.getElementType());
    APFloat none = APFloat::getZero(part.getFloatSemantics());
    zero =
        DenseElementsAttr::get(scalarType, std::complex<APFloat>(none, none));
  } else {
    zero = DenseElementsAttr::get(scalarType,
                                  builder.getZeroAttr(tensor.getElementType()));
  }
  Value one =
      stablehlo::ConstantOp::create(builder, loc, cast<ElementsAttr>(zero));
  return tensor.getRank() == 0
             ? one
             : stablehlo::BroadcastInDimOp::create(
                   builder, loc, tensor, one, builder.getDenseI64ArrayAttr({}));
}

void Emitter::emitOp(int64_t number) {
  const PlanOp &op = program.ops[number];
  Operation *source = planned.ops[op.source];
  IRMapping mapping;
  // The same op on the same operands would be taken for the one that it
  // repeats.
  SmallVector<Value> held;
  SmallVector<Value> bases;
  for (const PlanUse &use : op.operands) {
    Value base = irOf(use.value), value = now(use.value);
    mapping.map(base, value);
    int64_t producer = program.values[use.value].producer;
    if (op.repetition > 1 && isa<RankedTensorType>(value.getType()) &&
        bytesOf(value) > 64 &&
        (producer < 0 || program.ops[producer].repetition != op.repetition) &&
        !llvm::is_contained(bases, base)) {
      held.push_back(value);
      bases.push_back(base);
    }
  }
  if (!held.empty()) {
    SmallVector<Type> types =
        llvm::map_to_vector(held, [](Value value) { return value.getType(); });
    auto barrier = stablehlo::OptimizationBarrierOp::create(
        builder, source->getLoc(), types, held);
    contract::Again::set(barrier, builder.getI64IntegerAttr(++barriers));
    for (auto [base, value] : llvm::zip_equal(bases, barrier->getResults()))
      mapping.map(base, value);
  }
  Operation *clone = builder.clone(*source, mapping);
  for (auto [value, result] : llvm::zip_equal(op.results, clone->getResults()))
    current[value] = result;
}

LogicalResult Emitter::emitIteration(const Loop &loop, Iteration &iteration,
                                     Value first, int64_t count) {
  llvm::DenseMap<int64_t, Value> blocks;
  for (int64_t input : loop.rowInputs) {
    auto reused = loop.reused.find(input);
    Value whole = reused == loop.reused.end()
                      ? now(input)
                      : iteration.carriedRows[reused->second];
    int64_t dim = rowDimOf(input);
    auto type = cast<RankedTensorType>(whole.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = count;
    blocks[input] = stablehlo::DynamicSliceOp::create(
        builder, whole.getLoc(), type.clone(shape), whole,
        starts(whole, dim, first), builder.getDenseI64ArrayAttr(shape));
  }
  auto offset = [&]() -> OpFoldResult {
    Value number = tensor::ExtractOp::create(builder, loc, first, ValueRange());
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      number)
        .getResult();
  };
  for (int64_t number : loop.group->ops) {
    const PlanOp &op = program.ops[number];
    Operation *source = planned.ops[op.source];
    const RowForm &form = formOf(number);
    SmallVector<Value> operands;
    for (auto [i, operand] : llvm::enumerate(source->getOperands())) {
      int64_t value = op.operands[i].value;
      auto known = blocks.find(value);
      bool byRows = form.operandDims[i] >= 0;
      operands.push_back(byRows && known != blocks.end() ? known->second
                                                         : now(value));
    }
    if (form.accumulator >= 0)
      operands[form.accumulator] =
          iteration
              .sums[llvm::find(loop.sums, op.results[0]) - loop.sums.begin()];
    FailureOr<SmallVector<Value>> results =
        buildOnRows(builder, source, form, operands, count, offset);
    if (failed(results))
      return source->emitOpError(
          "has no form on a block of rows, which the plan of memory counts on");
    for (auto [i, value] : llvm::enumerate(op.results)) {
      if (form.resultDims[i] >= 0) {
        blocks[value] = (*results)[i];
        continue;
      }
      Value &sum =
          iteration.sums[llvm::find(loop.sums, value) - loop.sums.begin()];
      sum = form.accumulator >= 0
                ? (*results)[i]
                : stablehlo::AddOp::create(builder, source->getLoc(),
                                           sum.getType(), sum, (*results)[i])
                      .getResult();
    }
  }
  for (auto [i, value] : llvm::enumerate(loop.rowResults)) {
    Value &whole = iteration.carriedRows[i];
    whole = stablehlo::DynamicUpdateSliceOp::create(
        builder, whole.getLoc(), whole.getType(), whole, blocks[value],
        starts(whole, rowDimOf(value), first));
  }
  return success();
}

Emitter::Loop Emitter::loopOf(const PlanGroup &group) {
  Loop loop;
  loop.group = &group;
  loop.space = group.space;
  for (int64_t number : group.ops) {
    const PlanOp &op = program.ops[number];
    const RowForm &form = formOf(number);
    Operation *source = planned.ops[op.source];
    loop.size = form.rows;
    loop.communicates |=
        isa<CommunicationOpInterface, GatherRowsOp, ScatterRowsOp, RowPlanOp>(
            source);
    for (size_t i = 0; i < source->getNumOperands(); ++i) {
      int64_t value = op.operands[i].value,
              producer = program.values[value].producer;
      bool isOwn = producer >= 0 && llvm::is_contained(group.ops, producer);
      if (form.operandDims[i] >= 0 && !isOwn &&
          !llvm::is_contained(loop.rowInputs, value))
        loop.rowInputs.push_back(value);
    }
    for (auto [i, value] : llvm::enumerate(op.results)) {
      if (form.resultDims[i] < 0) {
        loop.sums.push_back(value);
        continue;
      }
      loop.bytesPerRow += double(bytesOf(irOf(value))) / double(loop.size);
      if (isReadElsewhere(value, group))
        loop.rowResults.push_back(value);
    }
  }
  return loop;
}

int64_t Emitter::rowsOfBlock(const Loop &loop) {
  // Where nobody waits for a block of rows, what one op made is still in the
  // cache when the next reads it.
  int64_t cache = int64_t(machineOf(block.getParentOp()).sharedCacheBytes);
  int64_t most = loop.communicates ? blockBytes : std::min(blockBytes, cache);
  int64_t count = std::clamp<int64_t>(
      int64_t(double(most) / std::max(loop.bytesPerRow, 1.0)), 1, loop.size);
  if (count > 256)
    count -= count % 64;
  return count;
}

void Emitter::reuseRows(Loop &loop, size_t place) {
  const PlanGroup &group = *loop.group;
  llvm::SmallDenseSet<unsigned> taken;
  for (int64_t input : loop.rowInputs) {
    int64_t producer = program.values[input].producer;
    if (producer < 0 || lastPlace[input] != static_cast<int64_t>(place) ||
        program.ops[producer].space != group.space ||
        !program.values[input].hasRows ||
        !isa_and_nonnull<stablehlo::WhileOp, stablehlo::DynamicUpdateSliceOp>(
            now(input).getDefiningOp()))
      continue;
    bool byRows = llvm::all_of(group.ops, [&](int64_t op) {
      return llvm::all_of(program.ops[op].operands, [&](const PlanUse &use) {
        return use.value != input || use.byRows;
      });
    });
    if (!byRows)
      continue;
    for (auto [i, value] : llvm::enumerate(loop.rowResults))
      if (irOf(value).getType() == irOf(input).getType() &&
          !taken.contains(i)) {
        loop.reused[input] = i;
        taken.insert(i);
        break;
      }
  }
}

Emitter::Iteration Emitter::beforeFirst(const Loop &loop) {
  Iteration iteration;
  for (auto [i, value] : llvm::enumerate(loop.rowResults)) {
    auto type = cast<RankedTensorType>(irOf(value).getType());
    iteration.carriedRows.push_back(tensor::EmptyOp::create(
        builder, irOf(value).getLoc(), type.getShape(), type.getElementType()));
  }
  for (auto [input, result] : loop.reused) {
    iteration.carriedRows[result].getDefiningOp()->erase();
    iteration.carriedRows[result] = now(input);
  }
  for (int64_t value : loop.sums) {
    int64_t number = program.values[value].producer;
    const RowForm &form = formOf(number);
    iteration.sums.push_back(
        form.accumulator >= 0
            ? now(program.ops[number].operands[form.accumulator].value)
            : zeros(irOf(value).getType(), irOf(value).getLoc()));
  }
  return iteration;
}

LogicalResult Emitter::emitBlocks(const Loop &loop, Iteration &iteration,
                                  int64_t count) {
  int64_t tripCount = loop.size / count, rest = loop.size % count;
  SmallVector<Value> carried{scalar(0)};
  llvm::append_range(carried, iteration.carriedRows);
  llvm::append_range(carried, iteration.sums);
  SmallVector<Type> types =
      llvm::map_to_vector(carried, [](Value value) { return value.getType(); });
  SmallVector<Location> locs(carried.size(), loc);
  auto repeat = stablehlo::WhileOp::create(builder, loc, types, carried);
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *condition = builder.createBlock(&repeat.getCond(), {}, types, locs);
    Value bound = scalar(tripCount);
    Value goesOn = stablehlo::CompareOp::create(
        builder, loc, condition->getArgument(0), bound,
        stablehlo::ComparisonDirection::LT, stablehlo::ComparisonType::SIGNED);
    stablehlo::ReturnOp::create(builder, loc, goesOn);
    Block *body = builder.createBlock(&repeat.getBody(), {}, types, locs);
    ValueRange arguments = body->getArguments();
    Iteration inside;
    inside.carriedRows.assign(arguments.begin() + 1,
                              arguments.begin() + 1 +
                                  iteration.carriedRows.size());
    inside.sums.assign(arguments.begin() + 1 + iteration.carriedRows.size(),
                       arguments.end());
    Value size = scalar(count);
    Value first =
        stablehlo::MulOp::create(builder, loc, types[0], arguments[0], size);
    if (failed(emitIteration(loop, inside, first, count)))
      return failure();
    Value one = scalar(1);
    SmallVector<Value> next{
        stablehlo::AddOp::create(builder, loc, types[0], arguments[0], one)};
    llvm::append_range(next, inside.carriedRows);
    llvm::append_range(next, inside.sums);
    stablehlo::ReturnOp::create(builder, loc, next);
  }
  contract::Blocks::set(repeat,
                        builder.getDenseI64ArrayAttr(
                            {tripCount + (rest != 0), count, loop.size}));
  ValueRange results = repeat->getResults().drop_front();
  iteration.carriedRows.assign(results.begin(),
                               results.begin() + iteration.carriedRows.size());
  iteration.sums.assign(results.begin() + iteration.carriedRows.size(),
                        results.end());
  return success();
}

LogicalResult Emitter::emitLoop(const PlanGroup &group, size_t place) {
  Loop loop = loopOf(group);
  int64_t count = rowsOfBlock(loop);
  // A plan of rows is for one block.
  if (count == loop.size) {
    for (int64_t op : group.ops)
      emitOp(op);
    return success();
  }
  reuseRows(loop, place);
  loc = planned.ops[program.ops[group.ops.front()].source]->getLoc();
  Iteration iteration = beforeFirst(loop);
  if (failed(emitBlocks(loop, iteration, count)))
    return failure();
  if (int64_t rest = loop.size % count) {
    Value first = scalar(loop.size - rest);
    if (failed(emitIteration(loop, iteration, first, rest)))
      return failure();
  }
  for (auto [value, result] :
       llvm::zip_equal(loop.rowResults, iteration.carriedRows))
    current[value] = result;
  for (auto [value, result] : llvm::zip_equal(loop.sums, iteration.sums))
    current[value] = result;
  return success();
}

LogicalResult Emitter::run() {
  users.assign(program.values.size(), {});
  lastPlace.assign(program.values.size(), -1);
  for (auto [place, group] : llvm::enumerate(program.order))
    for (int64_t op : program.groups[group].ops)
      for (const PlanUse &use : program.ops[op].operands) {
        users[use.value].push_back(op);
        lastPlace[use.value] = place;
      }
  SmallVector<Operation *> before;
  for (Operation &op : block)
    before.push_back(&op);
  for (auto [place, number] : llvm::enumerate(program.order)) {
    const PlanGroup &group = program.groups[number];
    if (group.isLoop && group.ops.size() > 1) {
      if (failed(emitLoop(group, place)))
        return failure();
      continue;
    }
    for (int64_t op : group.ops)
      emitOp(op);
  }
  for (Operation *op : llvm::reverse(before)) {
    op->dropAllUses();
    op->erase();
  }
  return success();
}

LogicalResult memory::emitPlan(PlannedBlock &planned, const RowSpaces &rows,
                               int64_t blockBytes) {
  if (!planned.program.isOrdered())
    return planned.ops.front()->getParentOp()->emitError(
        "the plan of memory reads values before they are made: a mistake of "
        "the compiler; a larger limit may avoid it");
  return Emitter(planned, rows, blockBytes).run();
}
