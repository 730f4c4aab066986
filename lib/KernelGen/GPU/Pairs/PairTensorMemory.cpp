//===- PairTensorMemory.cpp - Steps of attention on sm_100a ---------------===//
#include "PairTensorMemory.h"
#include "PairFragments.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include <numbers>

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;

/// How much more than what weights are relative to a score may be: weights are
/// at most 2^8, of which f16 adds up many. [maths]
static constexpr double kHeadroom = 8 / std::numbers::log2e;
/// Sums that are added up side by side, so that none waits for the last.
/// [shape]
static constexpr int64_t kChains = 4;

//===----------------------------------------------------------------------===//
// A row
//===----------------------------------------------------------------------===//

Value RowSoftmax::both(Value value) {
  return vector::BroadcastOp::create(b, loc, pairType(), value);
}

Value RowSoftmax::half(Value pair, int64_t which) {
  return vector::ExtractOp::create(b, loc, pair, which);
}

Value RowSoftmax::combine(ArrayRef<Value> values,
                          llvm::function_ref<Value(Value, Value)> two) {
  size_t chains = std::min<size_t>(kChains, values.size());
  SmallVector<Value> parts(values.take_front(chains));
  for (size_t i = chains; i < values.size(); ++i)
    parts[i % chains] = two(parts[i % chains], values[i]);
  Value all = parts.front();
  for (Value part : ArrayRef(parts).drop_front())
    all = two(all, part);
  return all;
}

Value RowSoftmax::largestOf(ArrayRef<Value> scores) {
  SmallVector<Value> all;
  for (Value pair : scores)
    all.append({half(pair, 0), half(pair, 1)});
  Value most = combine(all, [&](Value x, Value y) { return greater(x, y); });
  if (scale != 1)
    most = arith::MulFOp::create(b, loc, most, number(scale));
  return most;
}

Value RowSoftmax::sumOf(ArrayRef<Value> weights) {
  auto add = [&](Value x, Value y) -> Value {
    return arith::AddFOp::create(b, loc, x, y);
  };
  Value all = combine(weights, add);
  return add(half(all, 0), half(all, 1));
}

Value RowSoftmax::raise(Value old, Value most) {
  largest = greater(most, largest);
  Value limit = arith::AddFOp::create(b, loc, old, number(kHeadroom));
  rises = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, most, limit);
  return block.choose(rises, most, old);
}

Value RowSoftmax::power(Value pair) {
  Value less =
      arith::MulFOp::create(b, loc, relativeTo, number(-std::numbers::log2e));
  Value exponents = math::FmaOp::create(
      b, loc, pair, both(number(scale * std::numbers::log2e)), both(less));
  SmallVector<Value> powers;
  for (int64_t which : {0, 1})
    powers.push_back(LLVM::Exp2Op::create(b, loc, block.step.type,
                                          half(exponents, which),
                                          LLVM::FastmathFlags::afn));
  return vector::FromElementsOp::create(b, loc, cast<VectorType>(pairType()),
                                        powers);
}

Value RowSoftmax::powerOf(Value from, Value to) {
  Exponential exponential(block, /*isShort=*/true);
  return exponential.ratio(from, exponential.baseOf(to), to);
}

//===----------------------------------------------------------------------===//
// Tensor memory
//===----------------------------------------------------------------------===//

SmallVector<Value> TensorMemorySteps::loadColumns(Value address,
                                                  int64_t columns) {
  SmallVector<Value> parts, words;
  for (int64_t from = 0; from < columns; from += kColumnsAtOnce)
    parts.push_back(t.load(behind(address, from), kColumnsAtOnce));
  t.waitForLoads();
  for (Value part : parts)
    for (int64_t i = 0; i < kColumnsAtOnce; ++i)
      words.push_back(t.element(part, i));
  return words;
}

SmallVector<Value> TensorMemorySteps::inPairs(ArrayRef<Value> values) {
  auto two = VectorType::get({2}, step.type);
  SmallVector<Value> pairs;
  for (size_t at = 0; at < values.size(); at += 2)
    pairs.push_back(vector::FromElementsOp::create(
        b, loc, two, ValueRange{values[at], values[at + 1]}));
  return pairs;
}

/// The address of four features of the thread's row, from `feature` on.
Value TensorMemorySteps::fourAt(int64_t feature) {
  block.at[pass.feature] = block.index(feature);
  return addressOf(b, loc, pass.target->memref, block.subscripts(*pass.target));
}

void TensorMemorySteps::beginSums(Value sums, int64_t from, int64_t to) {
  int64_t all = step.sizeOf(pass.feature);
  Type four = VectorType::get({4}, step.type);
  for (; from < to; from += kColumnsAtOnce) {
    SmallVector<Value> words;
    for (int64_t at = from; at < from + kColumnsAtOnce; at += 4) {
      Value loaded;
      if (at < all && !pass.target->start)
        loaded = LLVM::LoadOp::create(b, loc, four, fourAt(at), 16);
      for (int64_t i = 0; i < 4; ++i)
        words.push_back(
            loaded ? vector::ExtractOp::create(b, loc, loaded, i).getResult()
            : at < all ? block.load(*pass.target)
                       : block.number(0));
    }
    t.store(behind(sums, from), words);
  }
  t.waitForStores();
}

void TensorMemorySteps::rescaleSums(Value sums, int64_t columns, Value factor) {
  auto loop = scf::ForOp::create(b, loc, block.index(0), block.index(columns),
                                 block.index(kColumnsAtOnce));
  setUnrolling(loop, 1);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value address = behind(sums, loop.getInductionVar());
  SmallVector<Value> words = loadColumns(address, kColumnsAtOnce);
  Value both = vector::BroadcastOp::create(
      b, loc, VectorType::get({2}, step.type), factor);
  SmallVector<Value> scaled;
  for (Value pair : inPairs(words)) {
    Value two = arith::MulFOp::create(b, loc, pair, both);
    for (int64_t which : {0, 1})
      scaled.push_back(vector::ExtractOp::create(b, loc, two, which));
  }
  t.store(address, scaled);
}

void TensorMemorySteps::storeSums(Value sums, int64_t from, int64_t to,
                                  Value factor) {
  int64_t all = std::min(step.sizeOf(pass.feature), to);
  Value inside = block.lessSigned(block.add(block.firstRow, block.rowAt(0)),
                                  step.sizes[pass.rowDim]);
  for (; from < all; from += kColumnsAtOnce) {
    // All lanes of a warp load.
    SmallVector<Value> words = loadColumns(behind(sums, from), kColumnsAtOnce);
    auto stores = scf::IfOp::create(b, loc, inside, false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(stores.thenBlock());
    for (int64_t at = 0; at < std::min(kColumnsAtOnce, all - from); at += 4) {
      SmallVector<Value> four;
      for (Value word : ArrayRef(words).slice(at, 4))
        four.push_back(
            factor ? arith::MulFOp::create(b, loc, word, factor).getResult()
                   : word);
      Value together = vector::FromElementsOp::create(
          b, loc, VectorType::get({4}, step.type), four);
      LLVM::StoreOp::create(b, loc, together, fourAt(from + at), 16);
    }
  }
}

/// Stores words of two neighbours of a row's weights each, in 16 bits, to
/// `address` and what is behind.
void TensorMemorySteps::storeWeights(Value address, ArrayRef<Value> pairs) {
  SmallVector<Value> words;
  for (Value pair : pairs)
    words.push_back(
        arith::TruncFOp::create(b, loc, VectorType::get({2}, step.half), pair));
  auto all = static_cast<int64_t>(words.size());
  int64_t atOnce = std::min(all, kColumnsAtOnce);
  for (int64_t at = 0; at < all; at += atOnce)
    t.store(behind(address, at), ArrayRef(words).slice(at, atOnce));
}

void TensorMemorySteps::weighScores(Value scores, RowSoftmax &row,
                                    llvm::function_ref<void()> rescales) {
  SmallVector<Value> pairs =
      inPairs(Scores(block).counted(loadColumns(scores, scoreColumns())));
  row.take(pairs);
  Value some = NVVM::VoteSyncOp::create(b, loc, b.getI1Type(), w.number(-1),
                                        row.rises, NVVM::VoteSyncKind::any);
  onlyIf(some, rescales);
  storeWeights(scores, pairs);
}

// Some columns at a time, so that what a column has is in registers for a
// short while; weights take half the place of scores that have been loaded.
void TensorMemorySteps::weighGradients(Value scores) {
  auto loop = scf::ForOp::create(b, loc, block.index(0),
                                 block.index(block.shape.columns),
                                 block.index(kColumnsAtOnce));
  setUnrolling(loop, 1);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value from = loop.getInductionVar(), column = block.firstColumn;
  block.firstColumn = block.add(column, from);
  SmallVector<SmallVector<Value>> made;
  for (int64_t which = 0; which < products(); ++which)
    made.push_back(
        loadColumns(behind(behind(scores, which * block.shape.columns), from),
                    kColumnsAtOnce));
  Gradient gradient(block, /*rounds=*/true);
  SmallVector<Value> weights;
  for (int64_t own = 0; own < kColumnsAtOnce; ++own) {
    Value counts = block.countsAt(own);
    Value raw = made[0][own], power = gradient.power(raw, counts);
    weights.push_back(pass.weigh == Weigh::Weights
                          ? gradient.weight(power, counts)
                          : gradient.slope(power, raw, made[1][own], counts));
  }
  storeWeights(behind(scores, block.div(from, 2)), inPairs(weights));
  block.firstColumn = column;
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

Value TensorMemorySteps::lanesOf(Value address, Value own) {
  Value lanes = w.sameInWarp(
      block.mul(block.div(block.rem(own, kGroup), kWarp), kWarp << 16));
  return behind(address, lanes);
}

void TensorMemorySteps::onlyOneOf(Value number, int64_t which,
                                  llvm::function_ref<void()> body) {
  onlyIf(block.equal(number, block.index(which)), body);
}

void TensorMemorySteps::onlyIf(Value condition,
                               llvm::function_ref<void()> body) {
  auto only = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(only.thenBlock());
  body();
}

void TensorMemorySteps::arriveAsWarp(Value barrier) {
  NVVM::SyncWarpOp::create(b, loc, w.number(-1));
  onlyOneOf(block.rem(block.thread, kWarp), 0, [&] { w.arrive(barrier); });
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Loads the block's rows, once.
void TensorMemorySteps::loadRows() {
  w.arriveExpecting(shared.rows(), ring.leftBytes());
  for (auto [i, rows] : llvm::enumerate(ring.lefts))
    loadBoxes(block, rows, block.firstRow,
              shared.panelsAt(shared.base, ring.lefts, i), shared.rows());
}

void TensorMemorySteps::emit() {
  describeBoxes(b, loc, ring);
  int64_t parts = shared.parts;
  Value warp = w.sameInWarp(block.div(block.thread, kWarp));
  onlyOneOf(block.thread, 0, [&] {
    for (int64_t stage = 0; stage < ring.stages; ++stage)
      for (int64_t part = 0; part < parts; ++part) {
        w.init(shared.full(block.index(stage), part), 1);
        w.init(shared.empty(block.index(stage), part), 1);
      }
    w.init(shared.rows(), 1);
    initBarriers();
    w.fenceInit();
  });
  onlyOneOf(warp, kMultiplies, [&] {
    t.allocate(slot(), allColumns());
    t.fenceBefore();
  });
  gpu::BarrierOp::create(b, loc);
  t.fenceAfter();
  auto roles = scf::IfOp::create(
      b, loc, block.lessSigned(warp, block.index(kGroup / kWarp)),
      /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(roles.thenBlock());
    w.setRegisters(registers().first, /*more=*/false);
    load();
    onlyOneOf(warp, kMultiplies, [&] { multiply(); });
    b.setInsertionPointToStart(roles.elseBlock());
    w.setRegisters(registers().second, /*more=*/true);
    findWeights(block.sub(block.thread, block.index(kGroup)));
  }
  // All that was loaded has been: tensor memory is given back.
  t.fenceBefore();
  gpu::BarrierOp::create(b, loc);
  onlyOneOf(warp, kMultiplies, [&] {
    t.fenceAfter();
    t.release(allocated(), allColumns());
  });
}

bool gpukernels::pairs::fitsTensorMemory(const Step &step, const PairPass &of) {
  PairPass pass = of;
  return planTensorMemory(step, pass).has_value();
}

bool gpukernels::pairs::launchOnTensorMemory(OpBuilder &b, const Step &step,
                                             const PairPass &of) {
  PairPass pass = of;
  std::optional<RingPlan> plan = planTensorMemory(step, pass);
  if (!plan)
    return false;
  OpBuilder::InsertionGuard outside(b);
  PairBlock block(b, step, pass, plan->shape);
  gpu::LaunchOp launch = block.launch((1 + kConsumers) * kGroup);
  spmd::contract::Gpu::set(
      launch,
      spmd::KernelGpuAttr::get(b.getContext(), spmd::KernelGpu::Sm100a));
  (plan->shape.rows > kTensorRows ? makeTallSteps
                                  : makeWideSteps)(block, plan->ring, launch)
      ->emit();
  return true;
}
