//===- Windows.cpp - select_and_scatter -----------------------------------===//
//
// One after another, each source element goes to the place that its window
// chooses. For many threads the two halves are split: windows choose,
// all at once; then each place takes what chose it, in the order that the loop
// has. So no two threads write to one place, and results are the loop's.
//
//===----------------------------------------------------------------------===//
#include "StableHLOToLinalg.h"

#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

namespace {
struct SelectAndScatter {
  Lowerer &l;
  ImplicitLocOpBuilder &b;
  stablehlo::SelectAndScatterOp op;
  Value input, source, init;
  SmallVector<OpFoldResult> extents, window;
  SmallVector<Value> bounds;
  SmallVector<int64_t> strides;
  int64_t rank;
  bool ok = true; // whether all regions could be lowered

  SelectAndScatter(Lowerer &l, stablehlo::SelectAndScatterOp op);
  /// True if windows are one element along `dim` and none of them is padding:
  /// then which window it is says where it is.
  bool isPoint(int64_t dim) {
    return getConstantIntValue(window[dim]) == 1 &&
           op.getPaddingOrZeros()[dim] == std::pair<int64_t, int64_t>();
  }
  /// Whether the window at `at` has a candidate, the best one, its place.
  SmallVector<Value> choose(ValueRange at);
  /// `old` with `update` taken in.
  Value combine(Value old, Value update);
  Value inOrder();
  Value inParallel();
};
} // namespace

SelectAndScatter::SelectAndScatter(Lowerer &l, stablehlo::SelectAndScatterOp op)
    : l(l), b(l.b), op(op), input(l.tensor(op.getOperand())),
      source(l.tensor(op.getSource())), init(l.scalar(op.getInitValue())),
      extents(l.sizes(input)), strides(op.getWindowStridesOrOnes()),
      rank(extents.size()) {
  for (int64_t extent : op.getWindowDimensionsOrOnes())
    window.push_back(b.getIndexAttr(extent));
  for (OpFoldResult extent : extents)
    bounds.push_back(l.value(extent));
}

// Walks a window and keeps the element that `select` prefers, the first of
// equals. Positions in the padding are not candidates.
SmallVector<Value> SelectAndScatter::choose(ValueRange at) {
  Value zero = l.index(0), no = l.zero(b.getI1Type());
  // Carried through the window: found, best element, its position.
  SmallVector<Value> state = {no, l.zero(init.getType())};
  state.append(rank, zero);
  SmallVector<Value> chosen =
      l.loops(window, state, [&](ValueRange offset, ValueRange now) {
        Value inside, found = now[0], best = now[1];
        SmallVector<Value> position;
        for (int64_t dim = 0; dim < rank; ++dim) {
          Value base = arith::MulIOp::create(b, at[dim], l.index(strides[dim]));
          if (isPoint(dim)) {
            position.push_back(base);
            continue;
          }
          Value reach = arith::AddIOp::create(b, base, offset[dim]);
          Value p = arith::SubIOp::create(
              b, reach, l.index(op.getPaddingOrZeros()[dim].first));
          // Below zero is far above every bound, read as unsigned.
          Value in = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, p,
                                           bounds[dim]);
          position.push_back(arith::SelectOp::create(b, in, p, zero));
          inside =
              inside ? arith::AndIOp::create(b, inside, in).getResult() : in;
        }
        if (!inside)
          inside = l.number(b.getI1Type(), 1);
        Value candidate = tensor::ExtractOp::create(b, input, position);
        SmallVector<Value> keep =
            l.scalarRegion(op.getSelect(), {best, candidate});
        ok &= !keep.empty();
        Value kept =
            ok ? arith::AndIOp::create(b, found, keep[0]).getResult() : found;
        Value yes = l.number(b.getI1Type(), 1);
        Value better = arith::XOrIOp::create(b, kept, yes);
        Value take = arith::AndIOp::create(b, inside, better);
        SmallVector<Value> next = {
            arith::OrIOp::create(b, found, inside),
            arith::SelectOp::create(b, take, candidate, best)};
        for (int64_t dim = 0; dim < rank; ++dim)
          next.push_back(isPoint(dim)
                             ? now[2 + dim]
                             : arith::SelectOp::create(b, take, position[dim],
                                                       now[2 + dim])
                                   .getResult());
        return next;
      });
  for (int64_t dim = 0; dim < rank; ++dim)
    if (isPoint(dim))
      chosen[2 + dim] =
          arith::MulIOp::create(b, at[dim], l.index(strides[dim]));
  return chosen;
}

Value SelectAndScatter::combine(Value old, Value update) {
  SmallVector<Value> sum = l.scalarRegion(op.getScatter(), {old, update});
  ok &= !sum.empty();
  return ok ? sum[0] : old;
}

Value SelectAndScatter::inOrder() {
  return l.loops(
      l.sizes(source), l.filled(extents, init),
      [&](ValueRange at, ValueRange carried) -> SmallVector<Value> {
        SmallVector<Value> chosen = choose(at);
        ValueRange place = ValueRange(chosen).drop_front(2);
        Value old = tensor::ExtractOp::create(b, carried[0], place);
        Value update = tensor::ExtractOp::create(b, source, at);
        Value sum = combine(old, update);
        // A window that is in the padding as a whole changes nothing.
        Value next = arith::SelectOp::create(b, chosen[0], sum, old);
        return {
            tensor::InsertOp::create(b, next, carried[0], place).getResult()};
      })[0];
}

// An element p is in the windows s with s stride - low <= p < s stride - low
// + extent: at most ceil(extent / stride) of them in each dim, and the last one
// is floor((p + low) / stride).
Value SelectAndScatter::inParallel() {
  Type word = b.getI64Type();
  auto number = [&](ValueRange at) {
    Value all = l.index(0);
    for (int64_t dim = 0; dim < rank; ++dim)
      all = arith::AddIOp::create(b, arith::MulIOp::create(b, all, bounds[dim]),
                                  at[dim]);
    return arith::IndexCastOp::create(b, word, all).getResult();
  };
  auto indices = [&](int64_t first = 0) {
    return llvm::map_to_vector(
        llvm::seq(first, first + rank),
        [&](int64_t i) -> Value { return linalg::IndexOp::create(b, i); });
  };
  Value nowhere = arith::ConstantOp::create(b, b.getI64IntegerAttr(-1));
  SmallVector<OpFoldResult> windows = l.sizes(source);
  SmallVector<Value> counts = llvm::map_to_vector(
      windows, [&](OpFoldResult count) { return l.value(count); });
  Value places =
      l.map({}, l.empty(windows, word), [&](ValueRange) -> SmallVector<Value> {
        SmallVector<Value> chosen = choose(indices());
        Value place = number(ValueRange(chosen).drop_front(2));
        return {
            arith::SelectOp::create(b, chosen[0], place, nowhere).getResult()};
      });

  MLIRContext *ctx = b.getContext();
  SmallVector<int64_t> covering;
  SmallVector<AffineExpr> steps;
  for (auto [extent, stride] :
       llvm::zip_equal(op.getWindowDimensionsOrOnes(), strides)) {
    covering.push_back(llvm::divideCeil(extent, stride));
    steps.push_back(getAffineDimExpr(rank + steps.size(), ctx));
  }
  // Only its shape is used: it bounds the loops over windows.
  Value shape = tensor::EmptyOp::create(b, covering, init.getType());
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators.append(rank, utils::IteratorType::reduction);
  return l.generic(
      shape, l.filled(extents, init),
      {AffineMap::get(2 * rank, 0, steps, ctx),
       leadingDims(2 * rank, rank, ctx)},
      iterators, [&](ValueRange args) -> SmallVector<Value> {
        SmallVector<Value> at = indices(), step = indices(rank), from;
        Value inside = l.number(b.getI1Type(), 1), zero = l.index(0);
        for (int64_t dim = 0; dim < rank; ++dim) {
          Value shifted = arith::AddIOp::create(
              b, at[dim], l.index(op.getPaddingOrZeros()[dim].first));
          Value last =
              arith::FloorDivSIOp::create(b, shifted, l.index(strides[dim]));
          Value first =
              arith::SubIOp::create(b, last, l.index(covering[dim] - 1));
          Value which = arith::AddIOp::create(b, first, step[dim]);
          Value in = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, which,
                                           counts[dim]);
          from.push_back(arith::SelectOp::create(b, in, which, zero));
          inside = arith::AndIOp::create(b, inside, in);
        }
        Value old = args[1];
        auto branch = scf::IfOp::create(
            b, inside,
            [&](OpBuilder &, Location) {
              Value place = tensor::ExtractOp::create(b, places, from);
              Value chosen = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                                   place, number(at));
              Value update = tensor::ExtractOp::create(b, source, from);
              Value sum = combine(old, update);
              Value next = arith::SelectOp::create(b, chosen, sum, old);
              scf::YieldOp::create(b, next);
            },
            [&](OpBuilder &, Location) { scf::YieldOp::create(b, old); });
        return {branch.getResult(0)};
      })[0];
}

static LogicalResult lowerSelectAndScatter(Lowerer &l,
                                           stablehlo::SelectAndScatterOp op) {
  SelectAndScatter emitter(l, op);
  Value result = l.manyThreads ? emitter.inParallel() : emitter.inOrder();
  l.set(op, result);
  return success(emitter.ok);
}

void shardc::lowering::addWindows(LoweringTable &table) {
  table.op<stablehlo::SelectAndScatterOp>(lowerSelectAndScatter);
}
