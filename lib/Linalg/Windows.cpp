//===- Windows.cpp - select_and_scatter -----------------------------------===//
//
// Windows choose, all at once; then each element takes what chose it, in the
// order of the windows. So no element is written twice, and results are those
// of a loop over the windows, which is what large windows are.
//
//===----------------------------------------------------------------------===//
#include "StableHLOToLinalg.h"
#include "WindowCells.h"

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

  /// As elementwise work, or null where windows are too large.
  Value inCells();
  /// What the window has at each of its places, and whether that is an element
  /// (null: it is).
  struct Candidate {
    Value value, inside;
    int64_t place;
  };
  /// The place that is chosen, as an i32; -1 where there is no element.
  Value chooseOf(ArrayRef<Candidate> candidates);
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

Value SelectAndScatter::chooseOf(ArrayRef<Candidate> candidates) {
  auto number = [&](int64_t value) {
    return l.constant(b.getI32IntegerAttr(value));
  };
  Value place, best, found; // null: an element was found
  for (const Candidate &candidate : candidates) {
    if (!place) {
      best = candidate.value;
      found = candidate.inside;
      place = number(candidate.place);
      if (found)
        place = arith::SelectOp::create(b, found, place, number(-1));
      continue;
    }
    SmallVector<Value> kept =
        l.scalarRegion(op.getSelect(), {best, candidate.value});
    ok &= !kept.empty();
    if (!ok)
      return place;
    Value keep = kept[0];
    if (found)
      keep = arith::AndIOp::create(b, found, keep);
    if (candidate.inside) {
      // What is no element changes nothing.
      Value none = arith::XOrIOp::create(b, candidate.inside,
                                         l.number(b.getI1Type(), 1));
      keep = arith::OrIOp::create(b, keep, none);
    }
    best = arith::SelectOp::create(b, keep, best, candidate.value);
    place = arith::SelectOp::create(b, keep, place, number(candidate.place));
    if (found)
      found = candidate.inside
                  ? arith::OrIOp::create(b, found, candidate.inside).getResult()
                  : Value();
  }
  return place;
}

Value SelectAndScatter::inCells() {
  SmallVector<OpFoldResult> counts = l.sizes(source);
  SmallVector<WindowDim> dims;
  SmallVector<OpFoldResult> low, high;
  bool pads = false;
  for (int64_t dim = 0; dim < rank; ++dim) {
    auto [before, after] = op.getPaddingOrZeros()[dim];
    // One for each element, in sizes that are known later too.
    bool areElements = isPoint(dim) && strides[dim] == 1;
    dims.push_back({op.getWindowDimensionsOrOnes()[dim], strides[dim], before,
                    extents[dim], areElements ? extents[dim] : counts[dim]});
    low.push_back(b.getIndexAttr(before));
    high.push_back(b.getIndexAttr(after));
    pads |= before != 0 || after != 0;
  }
  WindowCells cells(l, dims);
  if (!cells.areFew())
    return {};

  // What windows have at each place.
  Value padded = input;
  if (pads)
    padded = l.pad(input, l.zero(init.getType()), low, high,
                   SmallVector<int64_t>(rank, 0));
  SmallVector<OpFoldResult> steps;
  for (int64_t stride : strides)
    steps.push_back(b.getIndexAttr(stride));
  SmallVector<Value> seen;
  SmallVector<SmallVector<int64_t>> places;
  cells.forPlaces([&](ArrayRef<int64_t> at) {
    SmallVector<OpFoldResult> from;
    for (int64_t place : at)
      from.push_back(b.getIndexAttr(place));
    seen.push_back(l.slice(padded, from, counts, steps));
    places.push_back(llvm::to_vector(at));
  });
  auto chosenOf = [&](ValueRange values,
                      llvm::function_ref<Value(int64_t)> window) {
    SmallVector<Candidate> candidates;
    for (auto [value, at] : llvm::zip_equal(values, places)) {
      Value inside;
      for (int64_t dim = 0; dim < rank; ++dim) {
        if (op.getPaddingOrZeros()[dim] == std::pair<int64_t, int64_t>())
          continue;
        Value p = arith::MulIOp::create(b, window(dim), l.index(strides[dim]));
        p = arith::AddIOp::create(b, p, l.index(at[dim] - dims[dim].low));
        Value in =
            arith::CmpIOp::create(b, arith::CmpIPredicate::ult, p, bounds[dim]);
        inside = inside ? arith::AndIOp::create(b, inside, in).getResult() : in;
      }
      candidates.push_back({value, inside, cells.placeOf(at)});
    }
    return chooseOf(candidates);
  };
  auto take = [&](Value old, Value chosen, const WindowCells::Step &step,
                  Value update) -> Value {
    Value hit =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, chosen, step.place);
    return arith::SelectOp::create(b, hit, combine(old, update), old);
  };

  // Windows that have nothing in common are read once, for all their elements.
  if (cells.steps() == 1 && !pads && cells.isInside()) {
    SmallVector<Value> inputs{source}, fills(1 + seen.size(), init);
    inputs.append(seen);
    return cells.emit(
        inputs, fills, init.getType(), [&](ArrayRef<WindowCells::Step> steps) {
          if (steps.empty())
            return init;
          const WindowCells::Step &step = steps.front();
          Value chosen = chosenOf(ArrayRef(step.values).drop_front(),
                                  [](int64_t) { return Value(); });
          return take(init, chosen, step, step.values[0]);
        });
  }
  Value chosen = l.map(seen, l.empty(counts, b.getI32Type()),
                       [&](ValueRange args) -> SmallVector<Value> {
                         ValueRange values = args.take_front(seen.size());
                         return {chosenOf(values, [&](int64_t dim) -> Value {
                           return linalg::IndexOp::create(b, dim);
                         })};
                       });
  Value nowhere = l.constant(b.getI32IntegerAttr(-1));
  return cells.emit({chosen, source}, {nowhere, init}, init.getType(),
                    [&](ArrayRef<WindowCells::Step> steps) {
                      Value sum = init;
                      for (const WindowCells::Step &step : steps)
                        sum = take(sum, step.values[0], step, step.values[1]);
                      return sum;
                    });
}

static LogicalResult lowerSelectAndScatter(Lowerer &l,
                                           stablehlo::SelectAndScatterOp op) {
  SelectAndScatter emitter(l, op);
  Value result;
  if (l.manyThreads)
    result = emitter.inParallel();
  else if (!(result = emitter.inCells()))
    result = emitter.inOrder();
  l.set(op, result);
  return success(emitter.ok);
}

void shardc::lowering::addWindows(LoweringTable &table) {
  table.op<stablehlo::SelectAndScatterOp>(lowerSelectAndScatter);
}
