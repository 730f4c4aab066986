//===- Reducer.cpp - Bodies of reductions ---------------------------------===//
#include "Reducer.h"
#include "AnyOrder.h"
#include "Complex.h"
#include "ScalarMath.h"
#include "shardc/Dialect/StableHLO/IR/Reducers.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

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

LogicalResult lowering::emitReduction(
    Lowerer &l, Operation *op, Reducer &reducer, ValueRange ins,
    size_t elements, ArrayRef<OpFoldResult> sizes, ValueRange initValues,
    ArrayRef<AffineMap> maps, ArrayRef<utils::IteratorType> iterators) {
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
