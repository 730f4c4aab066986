//===- PairGradients.cpp - Scores as gradients ----------------------------===//
#include "PairScores.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;

Value Gradient::getLargest() {
  return point.largest ? point.largest : point.load(point.step.rows[0]);
}

Value Gradient::getDelta() {
  return point.delta ? point.delta : point.load(point.step.rows[1]);
}

Value Gradient::exponential(Value score, Value base) {
  return powers.of(score, powers.baseOf(base),
                   shardc::pairs::largestExponent(point.step.type));
}

SmallVector<Value> Gradient::surroundings() { return point.surroundings(); }

SmallVector<Value> Gradient::evaluate(Region &region,
                                      ArrayRef<Value> arguments) {
  return point.evaluateAll(region, arguments);
}

Value Gradient::choose(Value counts, Value value) {
  return point.choose(counts, value, point.number(0));
}

//===----------------------------------------------------------------------===//
// Gradients of extras
//===----------------------------------------------------------------------===//

/// The sum along `dim` of products (or what `pair` makes) of elements of both.
static Value dotAlong(PairPoint &point, const Tensor &x, const Tensor &y,
                      unsigned dim, Region *pair) {
  OpBuilder &b = point.b;
  Location loc = point.loc;
  auto along = scf::ForOp::create(b, loc, point.index(0), point.step.sizes[dim],
                                  point.index(1), ValueRange(point.number(0)));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(along.getBody());
  point.at[dim] = along.getInductionVar();
  Value left = point.load(x), right = point.load(y);
  Value sum = along.getRegionIterArg(0);
  sum = pair ? arith::AddFOp::create(b, loc, sum,
                                     point.evaluate(*pair, {left, right}, {}))
                   .getResult()
             : math::FmaOp::create(b, loc, left, right, sum).getResult();
  scf::YieldOp::create(b, loc, sum);
  return along.getResult(0);
}

/// Adds up what a block's threads have in `sums`, shared memory; the builder
/// inserts where the first thread is alone. Returns the sum.
static Value sumInBlock(PairPoint &point, Value sums, Value thread, Value sum) {
  OpBuilder &b = point.b;
  Location loc = point.loc;
  memref::StoreOp::create(b, loc, sum, sums, thread);
  for (int64_t half = kThreads / 2; half > 0; half /= 2) {
    gpu::BarrierOp::create(b, loc);
    auto some = scf::IfOp::create(
        b, loc, point.lessSigned(thread, point.index(half)), false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(some.thenBlock());
    Value mine = memref::LoadOp::create(b, loc, sums, thread);
    Value theirs = memref::LoadOp::create(b, loc, sums,
                                          point.add(thread, point.index(half)));
    memref::StoreOp::create(b, loc, arith::AddFOp::create(b, loc, mine, theirs),
                            sums, thread);
  }
  auto first =
      scf::IfOp::create(b, loc, point.equal(thread, point.index(0)), false);
  b.setInsertionPointToStart(first.thenBlock());
  return memref::LoadOp::create(b, loc, sums, thread);
}

void gpukernels::pairs::launchExtraGradient(OpBuilder &b, const Step &step,
                                            unsigned which) {
  OpBuilder::InsertionGuard outside(b);
  PairPoint point(b, step);
  Location loc = point.loc;
  // No product rounds these weights.
  Gradient gradient(point, /*rounds=*/false);
  const Tensor &target = step.states[3 + which];
  SmallVector<unsigned> own, others;
  for (unsigned dim : llvm::seq(step.q + 2))
    (target.has(dim) ? own : others).push_back(dim);
  auto countOf = [&](ArrayRef<unsigned> dims) {
    SmallVector<Value> all;
    for (unsigned dim : dims)
      all.push_back(step.sizes[dim]);
    return product(b, loc, all);
  };
  Value elements = countOf(own), terms = countOf(others);
  bool shares = !target.has(step.q) || !target.has(step.k);
  Value place, from, by, thread, sums;
  if (shares) {
    gpu::LaunchOp launch = beginLaunch(b, loc, elements, kThreads);
    auto space = gpu::AddressSpaceAttr::get(b.getContext(),
                                            gpu::AddressSpace::Workgroup);
    sums = launch.addWorkgroupAttribution(
        MemRefType::get({kThreads}, step.type, MemRefLayoutAttrInterface(),
                        space),
        loc);
    place = launch.getBlockIds().x;
    from = thread = launch.getThreadIds().x;
    by = point.index(kThreads);
  } else {
    place = beginLaunchOf(b, loc, elements, kThreads);
    from = point.index(0);
    by = point.index(1);
  }
  auto placeAt = [&](ArrayRef<unsigned> dims, Value number) {
    for (unsigned dim : llvm::reverse(dims)) {
      point.at[dim] = point.rem(number, step.sizes[dim]);
      number = point.div(number, step.sizes[dim]);
    }
  };
  placeAt(own, place);
  auto loop =
      scf::ForOp::create(b, loc, from, terms, by, ValueRange(point.number(0)));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    placeAt(others, loop.getInductionVar());
    Value raw = dotAlong(point, step.query, step.key, step.d, step.pair);
    Value dp = dotAlong(point, step.rows[2], step.value, step.e, nullptr);
    Value counts = point.inBand();
    if (!counts)
      counts = arith::ConstantIntOp::create(b, loc, 1, 1);
    Value power = gradient.power(raw, counts);
    Value term = gradient.slope(power, raw, dp, counts, 1 + which);
    scf::YieldOp::create(
        b, loc,
        arith::AddFOp::create(b, loc, loop.getRegionIterArg(0), term)
            .getResult());
  }
  Value sum = loop.getResult(0);
  if (shares)
    sum = sumInBlock(point, sums, thread, sum);
  point.store(arith::AddFOp::create(b, loc, point.load(target), sum), target);
}
