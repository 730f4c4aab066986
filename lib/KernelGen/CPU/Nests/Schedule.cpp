//===- Schedule.cpp - Choose how a nest is cut ----------------------------===//
//
// Estimates in vector operations decide: which dim runs along the lanes, what
// the register tile is, whether an operand is packed. Unknown sizes count as
// large ones.
//
//===----------------------------------------------------------------------===//
#include "Schedule.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Dialect/Spmd/IR/NeutralElement.h"
#include "shardc/Machine/Cost.h"
#include "shardc/Support/ElementBytes.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;

namespace shardc::cpu {

int64_t ScheduleChooser::reductionCount() const {
  int64_t count = 1;
  for (auto [i, dim] : llvm::enumerate(nest.dims))
    if (dim.reduces)
      count *= size(i);
  return count;
}

int64_t ScheduleChooser::reuse(const Access &access) const {
  int64_t count = 1;
  for (auto [i, dim] : llvm::enumerate(nest.dims))
    if (!dim.reduces && !access.usesDim(i))
      count *= size(i);
  return count;
}

int64_t ScheduleChooser::lanesFor(int dim) const {
  return std::min<int64_t>(fullLanes,
                           llvm::PowerOf2Ceil(std::max<int64_t>(size(dim), 1)));
}

double ScheduleChooser::loadCost(const Access &access, int dim,
                                 int64_t lanes) const {
  const Quantity &coef = access.coef[dim];
  if (coef.is(0))
    return 0.25;
  if (coef.is(1))
    return 1;
  if (coef.is(-1))
    return 1.5;
  if (coef.is(2))
    return 2.5;
  // A load and a shuffle each, of 256 bits a blend as well.
  if (isShortStep(access, dim, lanes))
    return (fullLanes * 8 * elementBytes(access.element) == 512 ? 2 : 2.5) *
           *coef.fixed;
  return 1.5 * lanes;
}

bool ScheduleChooser::isAcross(const Access &access, int dim, int row) {
  return access.isContiguous(row) && access.usesDim(dim) &&
         !access.isContiguous(dim) && !access.coef[dim].is(-1);
}

int ScheduleChooser::findTransposedRow(int dim) const {
  int best = -1;
  int64_t most = 0, lanes = lanesFor(dim);
  if (!transposable || lanes < 4 || size(dim) < lanes)
    return -1;
  for (int row : llvm::seq<int>(nest.dims.size())) {
    if (row == dim || size(row) < lanes)
      continue;
    auto across = [&](const Access &access) {
      return isAcross(access, dim, row);
    };
    int64_t count = llvm::count_if(nest.inputs, across) +
                    llvm::count_if(nest.epilogueInputs, across) +
                    llvm::count_if(nest.stores(), across);
    if (count > most) {
      most = count;
      best = row;
    }
  }
  return best;
}

int ScheduleChooser::findInterleavedRow(int dim) const {
  if (contraction || nest.reduces() || hasLoads || lanesFor(dim) < 4)
    return -1;
  for (int row : llvm::seq<int>(nest.dims.size())) {
    const Quantity &count = nest.dims[row].size;
    if (row != dim && count.fixed && *count.fixed >= 2 &&
        *count.fixed <= kMostInterleaved &&
        llvm::all_of(nest.stores(), [&](const Access &store) {
          return store.isInterleaved(dim, row, *count.fixed);
        }))
      return row;
  }
  return -1;
}

double ScheduleChooser::cost(int dim) const {
  bool reduces = nest.dims[dim].reduces;
  int64_t lanes = lanesFor(dim), count = size(dim);
  double perVector = 0;
  int row = findTransposedRow(dim);
  // A load or store, and a vector's share of the shuffles of a tile.
  double transposed = 1 + std::log2(lanes);
  // The same of as many vectors as there are rows.
  int between = row < 0 ? findInterleavedRow(dim) : -1;
  int64_t rows = between < 0 ? 0 : size(between);
  auto loadCost = [&](const Access &access, int dim, int64_t lanes) {
    if (row >= 0 && isAcross(access, dim, row))
      return transposed;
    return between >= 0 && access.isInterleaved(dim, between, rows)
               ? double(rows)
               : this->loadCost(access, dim, lanes);
  };
  for (const Access &input : nest.inputs) {
    double load = loadCost(input, dim, lanes);
    if (contraction && !reduces && load > 2 && reuse(input) >= 8)
      load = std::min(load, 1 + 1.5 * lanes / reuse(input));
    // A tile of sums reads a few columns side by side once for all its rows,
    // which are as many streams, if they come from memory, at a quarter of the
    // speed of one.
    if (contraction && reduces && isShortStep(input, dim, lanes))
      load /= std::clamp<int64_t>(reuse(input), 1, kRowsOfSums);
    else if (contraction && reduces && hasShortStep(dim, lanes) &&
             double(elementsOf(input, {})) * elementBytes(input.element) >
                 machineOf(nest.main).sharedCacheBytes)
      load *= 4;
    perVector += load;
  }
  int64_t reductions = reductionCount();
  // A store across lanes is some four times as many instructions as lanes.
  double apart = (contraction ? 4.0 : 1.5) * lanes;
  if (reduces) {
    double finish = 2 * std::log2(lanes) + 3;
    perVector += nest.outputs.size() * finish * lanes / reductions;
  } else {
    for (const Access &store : nest.stores())
      perVector +=
          (store.isContiguous(dim)                 ? 1.0
           : row >= 0 && isAcross(store, dim, row) ? transposed
           : between >= 0                          ? double(rows)
           : storesApart(store, dim, lanes) ? 2.0 * *store.coef[dim].fixed
                                            : apart) /
          reductions;
    for (const Access &input : nest.epilogueInputs)
      perVector += loadCost(input, dim, lanes) / reductions;
  }
  // Without unit stride in the result, sums cannot be kept in memory by
  // blocks.
  if (contraction && !reduces && !nest.stores()[0].coef[dim].is(1) &&
      outputCount() <= cacheElements())
    perVector += 1;
  // A short dim leaves lanes empty, of what is computed as of what is moved.
  if (!contraction)
    perVector += instructions();
  double effective = double(count) / llvm::divideCeil(count, lanes);
  return perVector / effective;
}

int64_t ScheduleChooser::outputCount() const {
  int64_t count = 1;
  for (int dim : llvm::seq<int>(nest.dims.size()))
    if (!nest.dims[dim].reduces)
      count *= size(dim);
  return count;
}

int64_t ScheduleChooser::cacheElements() const {
  unsigned width =
      std::max(nest.outputs[0].element.getIntOrFloatBitWidth() / 8, 1u);
  return int64_t(machineOf(nest.main).cacheBytes * 3 / 8 / width);
}

unsigned ScheduleChooser::instructions() const {
  // Of a polynomial, its reduction and its special cases. [shape]
  constexpr unsigned kFormula = 20;
  unsigned count = 0;
  for (linalg::GenericOp op : {nest.main, nest.epilogue}) {
    if (!op)
      continue;
    for (Operation &inner : op.getBody()->without_terminator())
      count += inner.getDialect()->getNamespace() == "math" ? kFormula : 1;
  }
  return count;
}

unsigned ScheduleChooser::work() const {
  unsigned work = 0;
  for (linalg::GenericOp op : {nest.main, nest.epilogue}) {
    if (!op)
      continue;
    for (Operation &inner : op.getBody()->without_terminator())
      work += inner.getDialect()->getNamespace() == "math" ? 8 : 1;
  }
  return work;
}

bool ScheduleChooser::canPair(const Access &rows) const {
  Type sum = nest.outputs[0].element;
  bool isFloat = sum.isF32() && dotBf16 && !exact;
  if (!isFloat && !sum.isInteger(32))
    return false;
  for (const Access &input : nest.inputs)
    if (!input.pointer || input.part >= 0 ||
        !(isFloat ? input.element.isBF16()
                  : input.element.isInteger(16) ||
                        (input.element.isInteger(8) && &input != &rows)))
      return false;
  // The body is x * y, each widened, and one sum.
  linalg::GenericOp main = nest.main;
  return llvm::all_of(
             main.getBody()->without_terminator(),
             [&](Operation &op) {
               // As a signed number, which it is read as, it would be another
               // one.
               if (auto widened = dyn_cast<arith::ExtUIOp>(op))
                 return !isFloat && widened.getIn().getType().isInteger(8);
               return isFloat
                          ? isa<arith::ExtFOp, arith::MulFOp, arith::AddFOp>(op)
                          : isa<arith::ExtSIOp, arith::MulIOp, arith::AddIOp>(
                                op);
             }) &&
         widening(main, 0) && widening(main, 1);
}

void ScheduleChooser::choosePairs(Schedule &s) const {
  if (!contraction || s.vecReduces || s.vec < 0 || s.lanes * 32 != bits ||
      !s.hoisted.empty() || s.reductions.empty())
    return;
  int last = s.reductions.back();
  const Quantity &count = nest.dims[last].size;
  bool first = nest.inputs[0].usesDim(s.vec);
  const Access &panel = nest.inputs[first ? 0 : 1],
               &rows = nest.inputs[first ? 1 : 0];
  if (!canPair(rows) || rows.usesDim(s.vec) || !rows.isContiguous(last) ||
      !panel.usesDim(last) ||
      !(panel.isContiguous(s.vec) || panel.isContiguous(last)) ||
      !(count.fixed || count.multiple() % 2 == 0) || size(last) < 16 ||
      reuse(panel) < kReadOften)
    return;
  s.pairs = true;
  s.packed = first ? 0 : 1;
}

bool ScheduleChooser::masksAll(const Schedule &s) const {
  if (s.vec < 0 || s.vecReduces || s.vectors > 1 || s.lanes == 1 ||
      nest.dims[s.vec].size.fixed || hasLoads || s.transposes)
    return false;
  bool hasParts = llvm::any_of(
      nest.stores(), [](const Access &store) { return store.part >= 0; });
  return size(s.vec) <= s.lanes || (!contraction && work() > 16 && !hasParts &&
                                    !llvm::is_contained(nest.far, true));
}

Schedule ScheduleChooser::choose() {
  Schedule s;
  bool scalarOnly = false;
  for (linalg::GenericOp op : {nest.main, nest.epilogue}) {
    if (!op)
      continue;
    // Lanes past the end hold zeros: no loads or divisions by them.
    for (Operation &inner : op.getBody()->without_terminator())
      scalarOnly |=
          isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
              arith::CeilDivSIOp, arith::FloorDivSIOp, arith::CeilDivUIOp>(
              inner);
  }
  linalg::GenericOp epilogue = nest.epilogue;
  if (epilogue && !epilogue.getBody()->getOps<memref::LoadOp>().empty())
    scalarOnly = true;
  // Bodies are written once a row.
  transposable = !contraction && !nest.reduces() && !hasLoads && work() <= 24;
  bool canReduceLanes = true;
  for (unsigned i : llvm::seq<unsigned>(nest.outputs.size())) {
    Operation *combiner = combinerOf(nest.main, i);
    canReduceLanes &= combiner && spmd::neutralElement(combiner) != nullptr;
    if (exact && isa_and_nonnull<arith::AddFOp, arith::MulFOp>(combiner) &&
        !spmd::contract::AnyOrder::has(combiner))
      canReduceLanes = false;
  }
  double best = 1e300;
  for (int dim : llvm::seq<int>(nest.dims.size())) {
    bool reduces = nest.dims[dim].reduces;
    if (scalarOnly || (reduces && !canReduceLanes))
      continue;
    if (hasLoads && (reduces || lanesFor(dim) < 4 ||
                     !canLoad(nest, dim, /*gathers=*/bits == 512)))
      continue;
    double c = cost(dim);
    if (c >= best)
      continue;
    best = c;
    s.vec = dim;
    s.vecReduces = reduces;
    s.lanes = lanesFor(dim);
  }
  if (s.vec < 0 && !nest.dims.empty())
    for (int dim : llvm::seq<int>(nest.dims.size()))
      if (!nest.dims[dim].reduces)
        s.vec = dim;
  if (s.lanes == 1 && s.vecReduces)
    s.vecReduces = false, s.vec = -1;
  if (s.vec >= 0 && (s.lanes > 1 || !contraction)) {
    if (s.lanes > 1)
      chooseTile(s);
  }
  choosePacking(s);
  for (int dim : llvm::seq<int>(nest.dims.size())) {
    if (dim == s.vec && !s.vecReduces)
      continue;
    if (nest.dims[dim].reduces) {
      if (dim != s.vec)
        s.reductions.push_back(dim);
    } else if (dim != s.row && dim != s.column) {
      s.outer.push_back(dim);
    }
  }
  orderReductions(s);
  if (s.vecReduces)
    s.reductions.push_back(s.vec);
  if (s.lanes > 1)
    chooseBlocking(s);
  choosePairs(s);
  choosePartialSums(s);
  chooseSlide(s);
  chooseTogether(s);
  s.masksAll = masksAll(s);
  return s;
}

/// True if elements of 8 or 16 bits are moved, and enough of them to be worth
/// the code of a large tile.
static bool movesShort(const Nest &nest) {
  linalg::GenericOp main = nest.main;
  auto isShort = [](const Access &access) {
    return access.element.isIntOrFloat() && access.part < 0 &&
           (access.element.getIntOrFloatBitWidth() == 8 ||
            access.element.getIntOrFloatBitWidth() == 16);
  };
  constexpr int64_t kFew = 1 << 14; // [limit]
  int64_t count = 1;
  for (const Dim &dim : nest.dims)
    count *= dim.size.guess();
  return !nest.epilogue && llvm::hasSingleElement(*main.getBody()) &&
         llvm::all_of(nest.inputs, isShort) &&
         llvm::all_of(nest.outputs, isShort) && count >= kFew;
}

/// What `op` takes a core of AVX-512 for an element, in hundredths of a
/// nanosecond, if it is written as a formula; else 0. By
/// docs/Results/functions.md: what each of our formulas takes beside the
/// others, on the core that all were measured on.
static int64_t formulaTime(Operation &op) {
  if (op.getDialect()->getNamespace() != "math" ||
      isa<math::AbsFOp, math::AbsIOp, math::SqrtOp, math::FmaOp, math::FloorOp,
          math::CeilOp, math::RoundEvenOp, math::CopySignOp>(op))
    return 0;
  int64_t time = llvm::StringSwitch<int64_t>(op.getName().getStringRef())
                     .Case("math.powf", 150)
                     .Cases({"math.asinh", "math.acosh", "math.atanh"}, 80)
                     .Cases({"math.sinh", "math.cosh", "math.erfc"}, 50)
                     .Cases({"math.tan", "math.cbrt"}, 40)
                     .Case("math.atan2", 30)
                     .Cases({"math.erf", "math.expm1", "math.log1p"}, 24)
                     .Case("math.tanh", 19)
                     .Default(16);
  return getElementTypeOrSelf(op.getResult(0).getType()).isF64() ? 3 * time
                                                                 : time;
}

/// What the longest chain of `body` takes for an element where each vector
/// waits for the one before, in hundredths of a nanosecond: ops of floats are
/// 2.3 each, by a chain of 40 on a core of AVX-512. Such a core looks ahead of
/// some 60 ops that wait, so about one vector.
static int64_t chainTime(Block &body) {
  DenseMap<Value, int64_t> done; // in tenths
  int64_t longest = 0;
  for (Operation &op : body.without_terminator()) {
    int64_t begin = 0;
    for (Value operand : op.getOperands())
      begin = std::max(begin, done.lookup(operand));
    Type element = op.getNumResults() == 1
                       ? getElementTypeOrSelf(op.getResult(0).getType())
                       : Type();
    int64_t time = isa_and_nonnull<FloatType>(element) ? 23 : 0;
    if (element && element.isF64())
      time *= 2;
    for (Value result : op.getResults())
      done[result] = begin + time;
    longest = std::max(longest, begin + time);
  }
  return longest / 10;
}

/// How many vectors of values of `body` there are at a time. A value that is
/// read once is read from memory by the op that wants it.
static int64_t liveVectors(Block &body) {
  auto isHeld = [](Value value) {
    return isa<BlockArgument>(value) ? !value.use_empty() && !value.hasOneUse()
                                     : !value.use_empty();
  };
  DenseMap<Operation *, SmallVector<Value>> last;
  DenseSet<Value> seen;
  for (Operation &op : llvm::reverse(body))
    for (Value operand : op.getOperands())
      if (isHeld(operand) && seen.insert(operand).second)
        last[&op].push_back(operand);
  int64_t live = llvm::count_if(body.getArguments(), isHeld), most = live;
  for (Operation &op : body) {
    auto ends = last.find(&op);
    most = std::max(most, live);
    if (ends != last.end())
      live -= ends->second.size();
    live += llvm::count_if(op.getResults(), isHeld);
  }
  // Constants outside are as many registers as there are.
  DenseSet<Value> outside;
  for (Operation &op : body)
    for (Value operand : op.getOperands())
      if (operand.getParentBlock() != &body)
        outside.insert(operand);
  return most + outside.size();
}

/// How many vectors of `nest` are computed side by side: several if each waits
/// for itself longer than for memory, and there are enough elements to be worth
/// the code. Those of a chain of plain ops have to fit the registers; formulas
/// have few values at a time.
static int64_t sideBySide(const Nest &nest, unsigned vectorBits) {
  // Vectors side by side at most, and elements from which on they are worth the
  // code: fewer where they are done again and again. [limit]
  constexpr int64_t kMost = 4, kFew = 1 << 11, kFewAgain = 1 << 6;
  // What a core looks ahead of in any case, as chains are measured. [shape]
  constexpr int64_t kShortChain = 25;
  linalg::GenericOp main = nest.main;
  if (nest.reduces() || nest.epilogue)
    return 1;
  int64_t count = 1, time = 0, bytes = 0;
  for (const Dim &dim : nest.dims)
    count *= dim.size.guess();
  // The block of a group of rows is done again for the next rows.
  bool repeats = main->getParentOfType<LoopLikeOpInterface>();
  for (Operation &op : main.getBody()->without_terminator()) {
    time += formulaTime(op);
    // A quotient goes with the exponential of a logistic function.
    if (time && isa<arith::DivFOp>(op))
      time += getElementTypeOrSelf(op.getResult(0).getType()).isF64() ? 9 : 3;
  }
  for (ArrayRef<Access> accesses : {ArrayRef(nest.inputs), nest.stores()})
    for (const Access &access : accesses)
      bytes += elementBytes(access.element);
  // In hundredths of a nanosecond, as formulas.
  bool isFar = llvm::is_contained(nest.far, true);
  Cost cost(machineOf(main));
  int64_t memory = isFar ? int64_t(1e11 * cost.access(double(bytes))) : 0;
  if (count < (repeats ? kFewAgain : kFew))
    return 1;
  if (time > memory)
    return kMost;
  if (time > 0 || chainTime(*main.getBody()) <= std::max(memory, kShortChain))
    return 1;
  int64_t registers = vectorBits == 512 ? 32 : 16,
          fit = registers / std::max<int64_t>(liveVectors(*main.getBody()), 1);
  return fit >= kMost ? kMost : fit >= 2 ? 2 : 1;
}

/// Lanes of a register that elements of `nest` fill, the widest.
static int64_t lanesOf(const Nest &nest, unsigned vectorBits) {
  unsigned width = 32;
  auto widen = [&](const Access &access) {
    width = std::max<unsigned>(width, 8 * elementBytes(access.element));
  };
  llvm::for_each(nest.inputs, widen);
  llvm::for_each(nest.outputs, widen);
  llvm::for_each(nest.epilogueOutputs, widen);
  return vectorBits / width;
}

static ScheduleChooser chooserFor(const Nest &nest,
                                  const ScheduleTarget &target, int64_t lanes) {
  ScheduleChooser chooser{nest,  target.vectorBits, isContraction(nest.main),
                          lanes, target.exact,      target.dotBf16};
  linalg::GenericOp main = nest.main;
  chooser.hasLoads = !main.getBody()->getOps<memref::LoadOp>().empty();
  return chooser;
}

std::optional<Tile> tileOf(const Nest &nest, const Schedule &schedule) {
  bool hasTile = isContraction(nest.main) && schedule.vec >= 0 &&
                 schedule.lanes > 1 && !schedule.transposes;
  return hasTile ? std::optional(ScheduleChooser::tile(schedule))
                 : std::nullopt;
}

std::optional<Schedule> withTile(const Nest &nest, const ScheduleTarget &target,
                                 const Schedule &chosen, const Tile &tile) {
  return chooserFor(nest, target, lanesOf(nest, target.vectorBits))
      .obey(chosen, tile);
}

SmallVector<Tile> otherTiles(const Nest &nest, const ScheduleTarget &target,
                             const Schedule &chosen, const Schedule &schedule) {
  return chooserFor(nest, target, lanesOf(nest, target.vectorBits))
      .others(chosen, schedule);
}

Schedule chooseSchedule(const Nest &nest, const ScheduleTarget &target) {
  unsigned vectorBits = target.vectorBits;
  int64_t whole = lanesOf(nest, vectorBits);
  auto choose = [&](int64_t lanes) {
    return chooserFor(nest, target, lanes).choose();
  };
  Schedule schedule = choose(whole);
  // Tiles that are transposed in 32 registers are whole lines of the cache.
  if (vectorBits == 512 && schedule.transposes && movesShort(nest)) {
    Schedule wide = choose(vectorBits / 16);
    auto isCut = [&](int dim) {
      int64_t size = nest.dims[dim].size.guess();
      return size % wide.lanes < schedule.lanes || size >= 16 * wide.lanes;
    };
    if (wide.transposes && isCut(wide.vec) && isCut(wide.row))
      return wide;
  }
  // Ops that wait for one another leave the core idle; vectors side by side do
  // not wait for each other.
  int64_t beside = schedule.lanes == whole && !schedule.transposes
                       ? sideBySide(nest, vectorBits)
                       : 1;
  if (beside > 1) {
    int64_t size = nest.dims[schedule.vec].size.guess();
    int64_t lanes = beside * schedule.lanes,
            least = llvm::alignTo(size, schedule.lanes),
            idle = llvm::alignTo(size, lanes) - least;
    if (6 * idle <= least) {
      schedule = choose(lanes);
      schedule.vectors = 1;
    }
  }
  return schedule;
}

bool finishesApart(const Nest &nest, const ScheduleTarget &target) {
  if (!nest.epilogue)
    return false;
  linalg::GenericOp epilogue = nest.epilogue;
  int64_t formulas = 0, results = 1, terms = 1, bytes = 0;
  for (Operation &op : epilogue.getBody()->without_terminator())
    formulas += formulaTime(op);
  if (formulas == 0)
    return false;
  Schedule schedule = chooseSchedule(nest, target);
  if (!schedule.vecReduces || schedule.lanes == 1)
    return false;
  for (const Dim &dim : nest.dims)
    (dim.reduces ? terms : results) *= dim.size.guess();
  for (const Access &input : nest.inputs)
    bytes += elementBytes(input.element);
  int64_t lanes = std::min(schedule.lanes, results);
  // What is summed up comes at 32 bytes a nanosecond, and the sum goes through
  // memory.
  int64_t moved = 100 * (terms * bytes / 32 + 1);
  return formulas * (lanes - 1) * 10 > moved;
}

} // namespace shardc::cpu
