//===- Reductions.cpp - reduce --------------------------------------------===//
#include "AnyOrder.h"
#include "Complex.h"
#include "Reducer.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/StableHLO/IR/Reducers.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

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

void shardc::lowering::addReductions(LoweringTable &table) {
  table.op<stablehlo::ReduceOp>(lowerReduce);
  addReduceWindows(table);
}
