//===- Reductions.cpp - reduce, reduce_window -----------------------------===//
//
// StableHLO asks that body and init value form a monoid, so order is free and a
// window as long as its axis may be a running sum. Sums, products and extremes
// of floats narrower than 32 bits accumulate in f32, extremes for speed alone:
// in one type they are one instruction, and vectors of them can be combined.
// Running sums and products of f32 accumulate in f64: their terms come one
// after the other, and roundings to f32 would add up with each of them. So do
// running logarithms of sums of exponentials, which are one sum.
//
//===----------------------------------------------------------------------===//
#include "AnyOrder.h"
#include "Complex.h"
#include "ScalarMath.h"
#include "StableHLOToLinalg.h"
#include "WindowCells.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "shardc/Dialect/Kernel/IR/KernelLines.h"
#include "shardc/Dialect/Local/IR/LocalContracts.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/StableHLO/IR/Reducers.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

namespace {
/// A reduction body on elements, with the types it accumulates in.
struct Reducer {
  Lowerer &l;
  Region &region;
  Operation *wideOp = nullptr; // one op of floats that accumulate wider
  bool multipliesComplex = false;
  /// Accumulators are x and s, of what is x + log(s).
  bool addsExponentials = false;
  SmallVector<Type> types; // of the accumulators

  Reducer(Lowerer &l, Region &region, TypeRange results,
          bool isRunning = false);

  /// The init values, in the accumulators' types.
  SmallVector<Value> init(ValueRange sources);
  /// Combines accumulators with elements of the inputs' types.
  SmallVector<Value> combine(ValueRange accumulators, ValueRange elements);
  /// The elements of results of `types` that accumulators are.
  SmallVector<Value> results(ValueRange accumulators, TypeRange types);
  /// Rounds an accumulated element, or tensor, to what the result's type is.
  Value round(Value sum, Type element);
  Value finish(Value tensor, Type element);
};
} // namespace

/// True if `block` returns log(exp(a) + exp(b)) of its arguments, as JAX writes
/// it: the larger one and log1p(exp(-|a - b|)), or, where a - b is no number,
/// the sum of both.
static bool addsExponentials(Block &block) {
  auto ofBoth = [&](Operation *op) {
    return op && op->getNumOperands() == 2 &&
           ((op->getOperand(0) == block.getArgument(0) &&
             op->getOperand(1) == block.getArgument(1)) ||
            (op->getOperand(0) == block.getArgument(1) &&
             op->getOperand(1) == block.getArgument(0)));
  };
  auto select =
      block.getTerminator()->getOperand(0).getDefiningOp<stablehlo::SelectOp>();
  if (!select)
    return false;
  auto differs = select.getPred().getDefiningOp<stablehlo::CompareOp>();
  auto sum = select.getOnTrue().getDefiningOp<stablehlo::AddOp>(),
       result = select.getOnFalse().getDefiningOp<stablehlo::AddOp>();
  if (!differs || !result || !ofBoth(sum) ||
      differs.getLhs() != differs.getRhs() ||
      differs.getComparisonDirection() != stablehlo::ComparisonDirection::NE)
    return false;
  auto difference = differs.getLhs().getDefiningOp<stablehlo::SubtractOp>();
  Value larger = result.getLhs(), rest = result.getRhs();
  if (!larger.getDefiningOp<stablehlo::MaxOp>())
    std::swap(larger, rest);
  auto log = rest.getDefiningOp<stablehlo::Log1pOp>();
  auto exp = log ? log.getOperand().getDefiningOp<stablehlo::ExpOp>() : nullptr;
  auto minus =
      exp ? exp.getOperand().getDefiningOp<stablehlo::NegOp>() : nullptr;
  auto size =
      minus ? minus.getOperand().getDefiningOp<stablehlo::AbsOp>() : nullptr;
  return size && difference && size.getOperand() == difference &&
         ofBoth(difference) && ofBoth(larger.getDefiningOp<stablehlo::MaxOp>());
}

Reducer::Reducer(Lowerer &l, Region &region, TypeRange results, bool isRunning)
    : l(l), region(region) {
  for (Type type : results)
    types.push_back(signlessType(elementType(type)));
  if (types.size() != 1)
    return;
  Block &block = region.front();
  auto number = dyn_cast<FloatType>(types[0]);
  if (isRunning && number && number.getWidth() >= 16 &&
      number.getWidth() <= 32 && ::addsExponentials(block)) {
    addsExponentials = true;
    types.assign(2, l.b.getF64Type());
    return;
  }
  Operation &first = block.front();
  if (!isa<stablehlo::AddOp, stablehlo::MulOp, stablehlo::MaxOp,
           stablehlo::MinOp>(first) ||
      first.getNextNode() != block.getTerminator() ||
      block.getTerminator()->getOperand(0) != first.getResult(0))
    return;
  bool ofBoth = (first.getOperand(0) == block.getArgument(0) &&
                 first.getOperand(1) == block.getArgument(1)) ||
                (first.getOperand(0) == block.getArgument(1) &&
                 first.getOperand(1) == block.getArgument(0));
  if (!ofBoth)
    return;
  multipliesComplex =
      isa<ComplexType>(types[0]) && isa<stablehlo::MulOp>(first);
  auto narrow = dyn_cast<FloatType>(types[0]);
  if (isRunning && types[0].isF32() &&
      isa<stablehlo::AddOp, stablehlo::MulOp>(first)) {
    wideOp = &first;
    types[0] = l.b.getF64Type();
  } else if (narrow && narrow.getWidth() < 32) {
    wideOp = &first;
    types[0] = computeType(narrow);
  }
}

SmallVector<Value> Reducer::init(ValueRange sources) {
  SmallVector<Value> values;
  for (auto [source, type] : llvm::zip(sources, types)) {
    Value value = l.scalar(source);
    values.push_back(wideOp || addsExponentials ? castFloat(l.b, value, type)
                                                : value);
  }
  if (addsExponentials)
    values.push_back(numberConstant(l.b, types[1], 1));
  return values;
}

/// x + log(s) and exp(`element`) as x + log(s): s is what exponentials are in
/// units of exp(x), and x is an element that none so far exceeds by much. So
/// roundings of x, which all later elements would have, are few.
static SmallVector<Value> addExponential(ImplicitLocOpBuilder &b,
                                         ValueRange accumulators,
                                         Value element) {
  constexpr double kMuch = 64;
  BriefScope scope(b, /*isBrief=*/true);
  Real x{&b, accumulators[0]}, s{&b, accumulators[1]},
      next{&b, castFloat(b, element, x.v.getType())};
  // Two infinities of one sign are equal.
  Real above = choose(equal(next, x), x.of(0), next - x);
  Value isLarge = compare(arith::CmpFPredicate::OGT, above, x.of(kMuch));
  Real factor = exp(choose(isLarge, -above, above));
  Real sum = choose(isLarge, s * factor + 1.0, s + factor);
  // A NaN stays one.
  sum = choose(equal(above, above), sum, above);
  return {choose(isLarge, next, x).v, sum.v};
}

SmallVector<Value> Reducer::combine(ValueRange accumulators,
                                    ValueRange elements) {
  if (wideOp) {
    Value sum = accumulators[0],
          element = castFloat(l.b, toComputeType(l.b, elements[0]), types[0]);
    if (isa<stablehlo::AddOp>(wideOp))
      return {arith::AddFOp::create(l.b, sum, element).getResult()};
    if (isa<stablehlo::MulOp>(wideOp))
      return {arith::MulFOp::create(l.b, sum, element).getResult()};
    if (isa<stablehlo::MaxOp>(wideOp))
      return {arith::MaximumFOp::create(l.b, sum, element).getResult()};
    return {arith::MinimumFOp::create(l.b, sum, element).getResult()};
  }
  if (addsExponentials)
    return addExponential(l.b, accumulators, elements[0]);
  if (multipliesComplex)
    return {complexMultiplyOn(l.b, accumulators[0], elements[0])};
  SmallVector<Value> args(accumulators);
  args.append(elements.begin(), elements.end());
  return l.scalarRegion(region, args);
}

SmallVector<Value> Reducer::results(ValueRange accumulators, TypeRange types) {
  SmallVector<Value> results;
  if (addsExponentials) {
    BriefScope scope(l.b, /*isBrief=*/true);
    Real x{&l.b, accumulators[0]}, s{&l.b, accumulators[1]};
    results.push_back(castFloat(l.b, (x + log(s)).v, types[0]));
    return results;
  }
  for (auto [sum, type] : llvm::zip(accumulators, types))
    results.push_back(round(sum, type));
  return results;
}

Value Reducer::round(Value sum, Type element) {
  Type wanted = signlessType(element);
  if (sum.getType() == wanted)
    return sum;
  return sum.getType().isF64() ? castFloat(l.b, sum, wanted)
                               : fromComputeType(l.b, sum, wanted);
}

Value Reducer::finish(Value tensor, Type element) {
  Type wanted = signlessType(element);
  if (elementType(tensor.getType()) == wanted)
    return tensor;
  return l.map(tensor, l.empty(l.sizes(tensor), wanted),
               [&](ValueRange args) -> SmallVector<Value> {
                 return {round(args[0], wanted)};
               });
}

// One generic over `inputs` and what else `extra` brings along; results in
// source types.
static LogicalResult emitReduction(Lowerer &l, Operation *op, Reducer &reducer,
                                   ValueRange ins, size_t elements,
                                   ArrayRef<OpFoldResult> sizes,
                                   ValueRange initValues,
                                   ArrayRef<AffineMap> maps,
                                   ArrayRef<utils::IteratorType> iterators) {
  SmallVector<Value> init = reducer.init(initValues), outs;
  // Where nothing is reduced the generic is elementwise, and writes only.
  bool reduces = llvm::is_contained(iterators, utils::IteratorType::reduction);
  for (Value value : init)
    outs.push_back(reduces ? l.filled(sizes, value)
                           : l.empty(sizes, value.getType()));
  bool ok = true;
  SmallVector<Value> sums = l.generic(
      ins, outs, maps, iterators, [&](ValueRange args) -> SmallVector<Value> {
        ValueRange accumulators =
            reduces ? args.drop_front(ins.size()) : ValueRange(init);
        SmallVector<Value> next =
            reducer.combine(accumulators, args.take_front(elements));
        ok = next.size() == outs.size();
        llvm::for_each(next, markAnyOrder);
        return ok ? next : SmallVector<Value>(accumulators);
      });
  for (auto [result, sum] : llvm::zip(op->getResults(), sums))
    l.set(result, reducer.finish(sum, elementType(result.getType())));
  return success(ok);
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

// True if all elements are one number: where a rank's places begin.
static bool isOneNumber(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<stablehlo::ConstantOp>(op))
    return constant.getValue().isSplat();
  if (isa_and_nonnull<stablehlo::BroadcastInDimOp,
                      stablehlo::DynamicBroadcastInDimOp>(op))
    return cast<RankedTensorType>(op->getOperand(0).getType()).getRank() == 0;
  return false;
}

// True if places grow along any dim, or are the same: then the first NaN has
// the lowest place.
static bool areCounted(Value places) {
  if (auto sum = places.getDefiningOp<stablehlo::AddOp>())
    return (areCounted(sum.getLhs()) && isOneNumber(sum.getRhs())) ||
           (areCounted(sum.getRhs()) && isOneNumber(sum.getLhs()));
  return isa_and_nonnull<stablehlo::IotaOp, stablehlo::DynamicIotaOp>(
      places.getDefiningOp());
}

// True if lanes of a vector may be results, each of which goes through its
// elements in their order: the elements are few, or results lie side by side,
// and results are many. Else lanes have to be elements. Sizes that are not
// known count as large ones.
static bool hasResultsSideBySide(RankedTensorType type, int64_t reduced) {
  constexpr int64_t kFewElements = 12, kManyResults = 1 << 12, kSideBySide = 64;
  int64_t results = 1, beside = 1;
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    int64_t size = std::min(
        ShapedType::isDynamic(extent) ? kManyResults : extent, kManyResults);
    if (int64_t(dim) == reduced)
      beside = 1;
    else
      beside *= size, results = std::min(results * size, kManyResults);
    beside = std::min(beside, kManyResults);
  }
  return results >= kManyResults &&
         (beside >= kSideBySide ||
          (beside == 1 && !type.isDynamicDim(reduced) &&
           type.getDimSize(reduced) <= kFewElements));
}

// True if no place is below where the search begins: then the first of equal
// elements is the one that comes first.
static bool startsLowest(stablehlo::ReduceOp op) {
  DenseIntElementsAttr start;
  return isa_and_nonnull<stablehlo::IotaOp, stablehlo::DynamicIotaOp>(
             op.getInputs()[1].getDefiningOp()) &&
         matchPattern(op.getInitValues()[1], m_Constant(&start)) &&
         start.isSplat() && start.getSplatValue<APInt>().isZero();
}

// Sets the first result of `op`, of which floats were accumulated wide.
static void setExtreme(Lowerer &l, stablehlo::ReduceOp op, Value best,
                       ArrayRef<OpFoldResult> sizes) {
  Type element = signlessType(elementType(op.getResult(0).getType()));
  if (elementType(best.getType()) != element)
    best = l.map(best, l.empty(sizes, element),
                 [&](ValueRange args) -> SmallVector<Value> {
                   return {fromComputeType(l.b, args[0], element)};
                 });
  l.set(op.getResult(0), best);
}

// argmax and argmin in one pass: an element that is beyond all before it takes
// their place. The first NaN stays.
static LogicalResult
emitExtremeInOrder(Lowerer &l, stablehlo::ReduceOp op, bool isMax,
                   ValueRange ins, ArrayRef<OpFoldResult> sizes,
                   ArrayRef<AffineMap> maps,
                   ArrayRef<utils::IteratorType> iterators) {
  ImplicitLocOpBuilder &b = l.b;
  Value value = l.scalar(op.getInitValues()[0]),
        place = l.scalar(op.getInitValues()[1]);
  auto number = dyn_cast<FloatType>(value.getType());
  value = number ? castFloat(b, value, computeType(number)) : value;
  SmallVector<Value> found = l.generic(
      ins, {l.filled(sizes, value), l.filled(sizes, place)}, maps, iterators,
      [&](ValueRange args) -> SmallVector<Value> {
        Value element = args[0], best = args[2], takes;
        if (number) {
          element = toComputeType(b, element);
          Value beyond = arith::CmpFOp::create(
              b, isMax ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT,
              element, best);
          Value isNumber =
              arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, best, best);
          takes = arith::AndIOp::create(b, beyond, isNumber);
        } else {
          takes = arith::CmpIOp::create(
              b, isMax ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt,
              element, best);
        }
        return {
            arith::SelectOp::create(b, takes, element, best).getResult(),
            arith::SelectOp::create(b, takes, args[1], args[3]).getResult()};
      });
  setExtreme(l, op, found[0], sizes);
  l.set(op.getResult(1), found[1]);
  return success();
}

// argmax and argmin in two passes that vectorise: the extreme value, then the
// lowest place that has it.
static LogicalResult emitExtreme(Lowerer &l, stablehlo::ReduceOp op, bool isMax,
                                 ValueRange ins, ArrayRef<OpFoldResult> sizes,
                                 ArrayRef<AffineMap> maps,
                                 ArrayRef<utils::IteratorType> iterators) {
  ImplicitLocOpBuilder &b = l.b;
  Value initValue = l.scalar(op.getInitValues()[0]),
        initPlace = l.scalar(op.getInitValues()[1]);
  auto number = dyn_cast<FloatType>(initValue.getType());
  bool isFloat = bool(number);
  if (isFloat)
    initValue = castFloat(b, initValue, computeType(number));
  auto widened = [&](Value element) {
    return isFloat ? toComputeType(b, element) : element;
  };
  auto isHit = [&](Value value, Value best) -> Value {
    if (!isFloat)
      return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, value, best);
    // Where there is a NaN it is the best, and nothing else is it.
    Value equal =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, value, best);
    Value nan =
        arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
    return arith::OrIOp::create(b, equal, nan);
  };
  AffineMap inMap = maps[0], placeMap = maps[1], outMap = maps[2];
  Value best = l.generic(
      ins[0], l.filled(sizes, initValue), {inMap, outMap}, iterators,
      [&](ValueRange args) -> SmallVector<Value> {
        Value element = widened(args[0]);
        if (isFloat && isMax)
          return {arith::MaximumFOp::create(b, element, args[1]).getResult()};
        if (isFloat)
          return {arith::MinimumFOp::create(b, element, args[1]).getResult()};
        if (isMax)
          return {arith::MaxSIOp::create(b, args[0], args[1]).getResult()};
        return {arith::MinSIOp::create(b, args[0], args[1]).getResult()};
      })[0];
  auto placeType = cast<IntegerType>(initPlace.getType());
  Value none = arith::ConstantOp::create(
      b, b.getIntegerAttr(placeType,
                          APInt::getSignedMaxValue(placeType.getWidth())));
  Value place = l.generic(
      {ins[0], ins[1], best}, l.filled(sizes, none),
      {inMap, placeMap, outMap, outMap}, iterators,
      [&](ValueRange args) -> SmallVector<Value> {
        Value hit = isHit(widened(args[0]), args[2]);
        Value candidate = arith::SelectOp::create(b, hit, args[1], none);
        return {arith::MinSIOp::create(b, args[3], candidate).getResult()};
      })[0];
  place = l.map(
      {best, place}, l.empty(sizes, placeType),
      [&](ValueRange args) -> SmallVector<Value> {
        Value candidate = arith::SelectOp::create(b, isHit(initValue, args[0]),
                                                  initPlace, none);
        return {arith::MinSIOp::create(b, args[1], candidate).getResult()};
      });
  setExtreme(l, op, best, sizes);
  l.set(op.getResult(1), place);
  return success();
}

constexpr int64_t kSideBySide = 64;

// True if rows of `input` have so many elements that products of their own pay.
static bool isLongRow(Value input, AffineMap map) {
  auto shape = cast<RankedTensorType>(input.getType()).getShape();
  return !shape.empty() && map.isProjectedPermutation() &&
         (ShapedType::isDynamic(shape.back()) ||
          shape.back() >= 4 * kSideBySide);
}

// A product of many complex numbers in a row. Its two parts are one chain, of
// which no lanes can be made, so every kSideBySide-th element has a product of
// its own, and these are multiplied: then what is left of the row.
static LogicalResult emitComplexProduct(Lowerer &l, stablehlo::ReduceOp op,
                                        Reducer &reducer, Value input,
                                        AffineMap map, AffineMap resultMap,
                                        ArrayRef<OpFoldResult> sizes,
                                        ArrayRef<utils::IteratorType> kinds) {
  ImplicitLocOpBuilder &b = l.b;
  MLIRContext *ctx = b.getContext();
  int64_t last = map.getNumResults() - 1, loops = map.getNumDims();
  unsigned along = map.getDimPosition(last);
  AffineExpr s0 = b.getAffineSymbolExpr(0);
  OpFoldResult size = l.size(input, last), lanes = b.getIndexAttr(kSideBySide),
               whole = l.affine(s0.floorDiv(kSideBySide), size);
  auto combine = [&](ValueRange args) {
    return reducer.combine(args.back(), args.front());
  };
  Type type = reducer.types[0];
  // Loop `along` goes over groups, and a new one over what is side by side.
  SmallVector<AffineExpr> elements(map.getResults());
  elements[last] = elements[last] * kSideBySide + b.getAffineDimExpr(loops);
  SmallVector<AffineExpr> beside(resultMap.getResults());
  beside.push_back(b.getAffineDimExpr(loops));
  SmallVector<OpFoldResult> besideSizes(sizes);
  besideSizes.push_back(lanes);
  SmallVector<utils::IteratorType> grouped(kinds);
  grouped.push_back(utils::IteratorType::parallel);
  Type part = cast<ComplexType>(type).getElementType();
  Value one = complex::ConstantOp::create(
      b, type,
      b.getArrayAttr({b.getFloatAttr(part, 1), b.getFloatAttr(part, 0)}));
  Value products =
      l.generic({input, l.empty(whole, type)}, l.filled(besideSizes, one),
                {AffineMap::get(loops + 1, 0, elements, ctx),
                 AffineMap::get(loops + 1, 0, b.getAffineDimExpr(along), ctx),
                 AffineMap::get(loops + 1, 0, beside, ctx)},
                grouped, combine)[0];
  unsigned rank = besideSizes.size();
  SmallVector<utils::IteratorType> inRow(rank, utils::IteratorType::parallel);
  inRow.back() = utils::IteratorType::reduction;
  Value product = l.generic(
      products, l.filled(sizes, reducer.init(op.getInitValues())[0]),
      {b.getMultiDimIdentityMap(rank), leadingDims(rank, rank - 1, ctx)}, inRow,
      combine)[0];
  OpFoldResult done = l.affine(s0 * kSideBySide, whole),
               rest = l.affine(s0 % kSideBySide, size);
  if (!isConstantIntValue(rest, 0)) {
    SmallVector<OpFoldResult> extents = l.sizes(input),
                              offsets(last + 1, b.getIndexAttr(0)),
                              ones(last + 1, b.getIndexAttr(1));
    offsets[last] = done;
    extents[last] = rest;
    product = l.generic(l.slice(input, offsets, extents, ones), product,
                        {map, resultMap}, kinds, combine)[0];
  }
  l.set(op.getResult(0), product);
  return success();
}

static LogicalResult lowerReduce(Lowerer &l, stablehlo::ReduceOp op) {
  MLIRContext *ctx = l.b.getContext();
  auto type = cast<RankedTensorType>(op.getInputs().front().getType());
  int64_t rank = type.getRank();
  Reducer reducer(l, op.getBody(), op.getResultTypes());
  SmallVector<int64_t> kept;
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::reduction);
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(op.getDimensions(), dim)) {
      kept.push_back(dim);
      iterators[dim] = utils::IteratorType::parallel;
    }
  // Along dims of one element nothing is reduced: then it is elementwise.
  bool reduces = llvm::any_of(op.getDimensions(), [&](int64_t dim) {
    return type.getDimSize(dim) != 1;
  });
  SmallVector<AffineExpr> placeOf;
  for (int64_t dim = 0, next = 0; dim < rank; ++dim) {
    bool isLeftOut = !reduces && llvm::is_contained(op.getDimensions(), dim);
    placeOf.push_back(isLeftOut ? getAffineConstantExpr(0, ctx)
                                : getAffineDimExpr(next++, ctx));
  }
  if (!reduces)
    iterators.assign(kept.size(), utils::IteratorType::parallel);
  unsigned loops = iterators.size();
  SmallVector<Value> ins;
  SmallVector<AffineMap> maps;
  for (Value input : op.getInputs()) {
    View seen = l.view(input, /*throughBroadcasts=*/false);
    ins.push_back(l.viewBase(seen));
    SmallVector<AffineExpr> exprs;
    for (int64_t dim : seen.dims)
      exprs.push_back(placeOf[dim]);
    maps.push_back(AffineMap::get(loops, 0, exprs, ctx));
  }
  SmallVector<AffineExpr> out;
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : kept) {
    out.push_back(placeOf[dim]);
    sizes.push_back(l.size(l.tensor(op.getInputs().front()), dim));
  }
  maps.append(op.getNumResults(), AffineMap::get(loops, 0, out, ctx));
  bool isMax;
  if (reduces && stablehlo::picksExtreme(op, isMax) &&
      areCounted(op.getInputs()[1])) {
    Type value = elementType(op.getInputs()[0].getType()),
         place = elementType(op.getInputs()[1].getType());
    auto integer = dyn_cast<IntegerType>(value);
    auto number = dyn_cast<FloatType>(value);
    bool isOrdered =
        (number && number.getWidth() >= 16) ||
        (integer && !integer.isUnsigned() && integer.getWidth() > 1);
    if (isOrdered && place.isSignlessInteger() &&
        place.getIntOrFloatBitWidth() >= 32 && op.getDimensions().size() == 1)
      return startsLowest(op) &&
                     hasResultsSideBySide(type, op.getDimensions().front())
                 ? emitExtremeInOrder(l, op, isMax, ins, sizes, maps, iterators)
                 : emitExtreme(l, op, isMax, ins, sizes, maps, iterators);
  }
  if (reduces && reducer.multipliesComplex && !l.manyThreads &&
      isLongRow(ins[0], maps[0]) &&
      iterators[maps[0].getDimPosition(maps[0].getNumResults() - 1)] ==
          utils::IteratorType::reduction)
    return emitComplexProduct(l, op, reducer, ins[0], maps[0], maps[1], sizes,
                              iterators);
  return emitReduction(l, op, reducer, ins, ins.size(), sizes,
                       op.getInitValues(), maps, iterators);
}

//===----------------------------------------------------------------------===//
// reduce_window
//===----------------------------------------------------------------------===//

// The one dim along which a window of stride one, at least as long as the axis
// and padded on one side to reach its end, makes a running reduction. Where the
// axis is no longer than the window on any rank, `local.running` says so.
static std::optional<std::pair<int64_t, bool>>
runningDim(stablehlo::ReduceWindowOp op) {
  auto type = cast<RankedTensorType>(op.getInputs().front().getType());
  std::optional<std::pair<int64_t, bool>> result;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t window = op.getWindowDimensions()[dim];
    auto [low, high] = op.getPaddingOrZeros()[dim];
    if (op.getWindowStridesOrOnes()[dim] != 1 ||
        op.getBaseDilationsOrOnes()[dim] != 1 ||
        (window > 1 && op.getWindowDilationsOrOnes()[dim] != 1))
      return std::nullopt;
    if (window == 1 && low == 0 && high == 0)
      continue;
    bool forward = low == window - 1 && high == 0,
         backward = low == 0 && high == window - 1;
    bool isLong = type.isDynamicDim(dim) ? spmd::contract::Running::has(op)
                                         : window >= type.getDimSize(dim);
    if (result || !isLong || !(forward || backward))
      return std::nullopt;
    result = {dim, backward};
  }
  return result;
}

// A running reduction takes the initial value in once, a window once for each
// place of padding as well. Sums and products can tell the difference unless it
// is their identity; other bodies are taken to start from theirs.
static bool startsFromIdentity(stablehlo::ReduceWindowOp op) {
  auto isNumber = [](const APFloat &number, double identity) {
    return number.convertToDouble() == identity;
  };
  for (auto [i, init] : llvm::enumerate(op.getInitValues())) {
    auto yield =
        cast<stablehlo::ReturnOp>(op.getBody().front().getTerminator());
    Operation *combiner = yield->getOperand(i).getDefiningOp();
    double identity;
    if (isa_and_nonnull<stablehlo::AddOp>(combiner))
      identity = 0;
    else if (isa_and_nonnull<stablehlo::MulOp>(combiner))
      identity = 1;
    else
      continue;
    DenseElementsAttr value;
    if (!matchPattern(init, m_Constant(&value)) || !value.isSplat())
      return false;
    Type type = value.getElementType();
    bool isIdentity = false;
    if (isa<FloatType>(type)) {
      isIdentity = isNumber(value.getSplatValue<APFloat>(), identity);
    } else if (auto complex = dyn_cast<ComplexType>(type);
               complex && isa<FloatType>(complex.getElementType())) {
      auto number = value.getSplatValue<std::complex<APFloat>>();
      isIdentity =
          isNumber(number.real(), identity) && isNumber(number.imag(), 0);
    } else if (isa<IntegerType>(type)) {
      isIdentity = value.getSplatValue<APInt>() == uint64_t(identity);
    }
    if (!isIdentity)
      return false;
  }
  return true;
}

// The same as an op, on elements of the accumulators' types.
static LogicalResult leaveRunning(Lowerer &l, stablehlo::ReduceWindowOp op,
                                  int64_t axis, bool backward) {
  ImplicitLocOpBuilder &b = l.b;
  Reducer reducer(l, op.getBody(), op.getResultTypes());
  SmallVector<Value> inputs, outs;
  for (auto [source, type] : llvm::zip(op.getInputs(), reducer.types)) {
    Value input = l.tensor(source);
    SmallVector<OpFoldResult> sizes = l.sizes(input);
    Type wide = type;
    if (elementType(input.getType()) != wide)
      input = l.map(input, l.empty(sizes, wide),
                    [&](ValueRange args) -> SmallVector<Value> {
                      return {castFloat(b, args[0], wide)};
                    });
    inputs.push_back(input);
    outs.push_back(l.empty(sizes, wide));
  }
  SmallVector<Value> starts = reducer.init(op.getInitValues());
  auto lines = spmd::LinesOp::create(b, TypeRange(ValueRange(outs)),
                                     spmd::LineKind::Scan, axis, backward,
                                     /*positions=*/false, inputs, starts, outs);
  SmallVector<Value> sums;
  {
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&lines.getBody());
    for (int side = 0; side < 2; ++side)
      for (Type type : reducer.types)
        block->addArgument(type, b.getLoc());
    ValueRange args = block->getArguments();
    sums = reducer.combine(args.take_front(inputs.size()),
                           args.drop_front(inputs.size()));
    if (sums.empty())
      return failure();
    spmd::LineYieldOp::create(b, sums);
  }
  for (auto [result, sum] : llvm::zip(op.getResults(), lines.getResults()))
    l.set(result, reducer.finish(sum, elementType(result.getType())));
  return success();
}

// Along the last dim: a scalar loop for each line. Else one row after another,
// so that the other dims stay vectors.
static LogicalResult lowerRunning(Lowerer &l, stablehlo::ReduceWindowOp op,
                                  int64_t axis, bool backward) {
  ImplicitLocOpBuilder &b = l.b;
  Reducer reducer(l, op.getBody(), op.getResultTypes(), /*isRunning=*/true);
  SmallVector<Value> inputs =
      llvm::map_to_vector(op.getInputs(), [&](Value v) { return l.tensor(v); });
  SmallVector<OpFoldResult> sizes = l.sizes(inputs.front());
  int64_t rank = sizes.size();
  size_t count = inputs.size();
  SmallVector<Value> init = reducer.init(op.getInitValues()), outs;
  SmallVector<Type> types =
      llvm::map_to_vector(op.getResultTypes(), [](Type type) {
        return signlessType(elementType(type));
      });
  for (Type type : types)
    outs.push_back(l.empty(sizes, type));
  Value last = l.value(l.affine(b.getAffineSymbolExpr(0) - 1, sizes[axis]));
  auto position = [&](Value step) -> Value {
    return backward ? arith::SubIOp::create(b, last, step).getResult() : step;
  };
  bool ok = true;
  auto next = [&](ValueRange accumulators, ValueRange elements) {
    SmallVector<Value> values = reducer.combine(accumulators, elements);
    ok &= values.size() == reducer.types.size();
    return ok ? values : SmallVector<Value>(accumulators);
  };
  SmallVector<Value> results;
  if (axis == rank - 1) {
    results = l.loops(
        ArrayRef(sizes).drop_back(), outs,
        [&](ValueRange ivs, ValueRange tensors) {
          SmallVector<Value> carried(tensors);
          carried.append(init);
          SmallVector<Value> line = l.loops(
              sizes.back(), carried, [&](ValueRange step, ValueRange now) {
                SmallVector<Value> at(ivs), elements;
                at.push_back(position(step[0]));
                for (Value input : inputs)
                  elements.push_back(tensor::ExtractOp::create(b, input, at));
                SmallVector<Value> sums = next(now.drop_front(count), elements),
                                   then;
                for (auto [result, tensor] :
                     llvm::zip(reducer.results(sums, types), now))
                  then.push_back(
                      tensor::InsertOp::create(b, result, tensor, at));
                then.append(sums);
                return then;
              });
          line.truncate(count);
          return line;
        });
  } else {
    SmallVector<OpFoldResult> rowSizes(sizes);
    rowSizes.erase(rowSizes.begin() + axis);
    SmallVector<Value> carried(outs);
    for (Value value : init)
      carried.push_back(l.filled(rowSizes, value));
    SmallVector<int64_t> shape(
        cast<RankedTensorType>(inputs.front().getType()).getShape());
    shape.erase(shape.begin() + axis);
    results =
        l.loops(sizes[axis], carried, [&](ValueRange step, ValueRange now) {
          SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)),
              ones(rank, b.getIndexAttr(1));
          SmallVector<OpFoldResult> extents(sizes);
          offsets[axis] = position(step[0]);
          extents[axis] = b.getIndexAttr(1);
          SmallVector<Value> rows;
          for (Value input : inputs)
            rows.push_back(l.slice(
                input, offsets, extents, ones,
                RankedTensorType::get(shape, elementType(input.getType()))));
          // What goes on, and where that is something else, its results.
          SmallVector<Value> states(now.drop_front(count));
          bool isWide = ArrayRef(reducer.types) != ArrayRef(types);
          if (isWide)
            for (Type type : types)
              states.push_back(l.empty(rowSizes, type));
          size_t going = reducer.types.size();
          SmallVector<AffineMap> maps(count + states.size(),
                                      b.getMultiDimIdentityMap(rank - 1));
          SmallVector<utils::IteratorType> iterators(
              rank - 1, utils::IteratorType::parallel);
          SmallVector<Value> sums =
              l.generic(rows, states, maps, iterators, [&](ValueRange args) {
                SmallVector<Value> sums = next(args.slice(count, going),
                                               args.take_front(count)),
                                   made(sums);
                if (isWide)
                  llvm::append_range(made, reducer.results(sums, types));
                return made;
              });
          SmallVector<Value> then;
          for (auto [sum, tensor] :
               llvm::zip(ArrayRef(sums).take_back(count), now))
            then.push_back(l.insert(sum, tensor, offsets, extents, ones));
          then.append(sums.begin(), sums.begin() + going);
          return then;
        });
  }
  for (auto [result, sum] : llvm::zip(op.getResults(), results))
    l.set(result, sum);
  return success(ok);
}

/// The pad that spreads the only input's elements apart, between what the
/// windows start from; or null.
static stablehlo::PadOp findSpread(stablehlo::ReduceWindowOp op) {
  auto pad = op.getInputs()[0].getDefiningOp<stablehlo::PadOp>();
  DenseElementsAttr between, start;
  if (!pad || (pad.getPaddingValue() != op.getInitValues()[0] &&
               !(matchPattern(pad.getPaddingValue(), m_Constant(&between)) &&
                 matchPattern(op.getInitValues()[0], m_Constant(&start)) &&
                 between == start)))
    return {};
  return llvm::any_of(pad.getInteriorPadding(), [](int64_t n) { return n > 0; })
             ? pad
             : stablehlo::PadOp();
}

/// Windows over elements that are spread apart (gradients of pooling by sums),
/// without the zeros between these. False, and nothing done, where they are of
/// another form.
static FailureOr<bool> lowerSpread(Lowerer &l, stablehlo::ReduceWindowOp op) {
  ImplicitLocOpBuilder &b = l.b;
  if (l.manyThreads || op.getInputs().size() != 1 || !startsFromIdentity(op))
    return false;
  auto type = cast<RankedTensorType>(op.getResultTypes().front());
  stablehlo::PadOp pad = findSpread(op);
  Value input = l.tensor(pad ? pad.getOperand() : op.getInputs()[0]);
  SmallVector<WindowDim> dims;
  bool isSpread = false;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    auto [low, high] = op.getPaddingOrZeros()[dim];
    int64_t dilation = op.getBaseDilationsOrOnes()[dim],
            window = op.getWindowDimensions()[dim];
    if (pad) {
      if (dilation != 1 && pad.getInteriorPadding()[dim] != 0)
        return false;
      low += pad.getEdgePaddingLow()[dim] * dilation;
      high += pad.getEdgePaddingHigh()[dim] * dilation;
      dilation *= pad.getInteriorPadding()[dim] + 1;
    }
    OpFoldResult count = l.size(input, dim);
    // By the last element of a window, of which the first one is `low` before.
    WindowDim cells{window, dilation, window - 1 - low, count, count};
    if (!type.isDynamicDim(dim))
      cells.extent = b.getIndexAttr(type.getDimSize(dim));
    else if (!cells.isPoint() || high != 0)
      return false;
    if (op.getWindowStridesOrOnes()[dim] != 1 ||
        (window > 1 && op.getWindowDilationsOrOnes()[dim] != 1))
      return false;
    isSpread |= dilation > 1;
    dims.push_back(cells);
  }
  WindowCells cells(l, dims);
  if (!isSpread || !cells.areFew())
    return false;
  Reducer reducer(l, op.getBody(), op.getResultTypes());
  Value init = reducer.init(op.getInitValues())[0];
  bool ok = true;
  Value result = cells.emit(
      input, l.scalar(op.getInitValues()[0]), init.getType(),
      [&](ArrayRef<WindowCells::Step> steps) {
        Value sum = init;
        for (const WindowCells::Step &step : steps) {
          SmallVector<Value> next = reducer.combine({sum}, step.values);
          ok &= next.size() == 1;
          if (!ok)
            return sum;
          sum = step.reaches
                    ? arith::SelectOp::create(b, step.reaches, next[0], sum)
                          .getResult()
                    : next[0];
        }
        return sum;
      });
  if (!ok)
    return failure();
  l.set(op.getResult(0), reducer.finish(result, type.getElementType()));
  return true;
}

static LogicalResult lowerReduceWindow(Lowerer &l,
                                       stablehlo::ReduceWindowOp op) {
  if (auto running = runningDim(op); running && startsFromIdentity(op))
    return (l.manyThreads ? leaveRunning : lowerRunning)(l, op, running->first,
                                                         running->second);
  FailureOr<bool> spread = lowerSpread(l, op);
  if (failed(spread) || *spread)
    return success(succeeded(spread));
  ImplicitLocOpBuilder &b = l.b;
  MLIRContext *ctx = b.getContext();
  auto type = cast<RankedTensorType>(signlessType(op.getResultTypes().front()));
  int64_t rank = type.getRank();
  Reducer reducer(l, op.getBody(), op.getResultTypes());
  SmallVector<OpFoldResult> low, high;
  SmallVector<int64_t> interior;
  for (int64_t dim = 0; dim < rank; ++dim) {
    auto [before, after] = op.getPaddingOrZeros()[dim];
    low.push_back(b.getIndexAttr(before));
    high.push_back(b.getIndexAttr(after));
    interior.push_back(op.getBaseDilationsOrOnes()[dim] - 1);
  }
  SmallVector<Value> ins;
  for (auto [input, init] : llvm::zip(op.getInputs(), op.getInitValues()))
    ins.push_back(l.pad(l.tensor(input), l.scalar(init), low, high, interior));

  SmallVector<int64_t> window;
  SmallVector<AffineExpr> inExprs, windowExprs;
  SmallVector<OpFoldResult> sizes;
  AffineExpr s0 = b.getAffineSymbolExpr(0);
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t stride = op.getWindowStridesOrOnes()[dim],
            extent = op.getWindowDimensions()[dim];
    int64_t dilation = op.getWindowDilationsOrOnes()[dim];
    AffineExpr expr = getAffineDimExpr(dim, ctx) * stride;
    if (extent != 1) {
      AffineExpr k = getAffineDimExpr(rank + window.size(), ctx);
      window.push_back(extent);
      windowExprs.push_back(k);
      expr = expr + k * dilation;
    }
    inExprs.push_back(expr);
    OpFoldResult size = b.getIndexAttr(type.getDimSize(dim));
    if (type.isDynamicDim(dim)) {
      int64_t reach = (extent - 1) * dilation + 1;
      size =
          l.affine((s0 - reach).floorDiv(stride) + 1, l.size(ins.front(), dim));
      if (!getConstantIntValue(size))
        size = arith::MaxSIOp::create(b, l.value(size), l.index(0)).getResult();
    }
    sizes.push_back(size);
  }
  unsigned loops = rank + window.size();
  size_t elements = ins.size();
  SmallVector<AffineMap> maps(elements, AffineMap::get(loops, 0, inExprs, ctx));
  if (!window.empty()) {
    // Only its shape is used: it bounds the window's loops.
    ins.push_back(tensor::EmptyOp::create(b, window, reducer.types.front()));
    maps.push_back(AffineMap::get(loops, 0, windowExprs, ctx));
  }
  maps.append(op.getNumResults(), leadingDims(loops, rank, ctx));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators.append(window.size(), utils::IteratorType::reduction);
  return emitReduction(l, op, reducer, ins, elements, sizes, op.getInitValues(),
                       maps, iterators);
}

void shardc::lowering::addReductions(LoweringTable &table) {
  table.op<stablehlo::ReduceOp>(lowerReduce);
  table.op<stablehlo::ReduceWindowOp>(lowerReduceWindow);
}
