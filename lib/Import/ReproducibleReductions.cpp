//===- ReproducibleReductions.cpp - Reductions and windows in any cut -----===//
#include "Reproducible.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/StableHLO/IR/Reducers.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::import::reproducible;
using namespace shardc::stablehlo;

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// The sum of `value` along `dims` and of `init`, a scalar, in `value`'s type.
static Value exactSum(ExactSums &sums, Value value, ArrayRef<int64_t> dims,
                      Value init, ExactSums::Count count) {
  Ops &ops = sums.ops;
  Type element = Ops::typeOf(value).getElementType();
  SmallVector<Value> parts;
  for (Value term : sums.split(value, dims, count))
    parts.push_back(ops.reduce<AddOp>(term, 0, dims));
  if (!isZero(init, /*orNegative=*/true)) {
    Value start = ops.convert(init, ops.b.getF64Type());
    parts.push_back(
        ops.broadcast(start, Ops::typeOf(parts.front()).getShape(), {}));
  }
  return sums.finish(parts, element);
}

/// Neighbours along one dim after the other are combined, so that the tree
/// depends on global sizes alone.
static LogicalResult reduceByTree(ReduceOp op) {
  Ops ops(op);
  SmallVector<Value> values(op.getInputs());
  SmallVector<int64_t> dims(op.getDimensions());
  llvm::sort(dims, std::greater<>());
  if (failed(needKnown(op, sizesOf(values.front(), dims))))
    return failure();
  for (int64_t dim : dims) {
    while (Ops::typeOf(values.front()).getDimSize(dim) > 1) {
      int64_t size = Ops::typeOf(values.front()).getDimSize(dim),
              pairs = size / 2;
      SmallVector<Value> operands;
      for (int64_t side : {0, 1})
        for (Value value : values)
          operands.push_back(sliceOf(ops, value, dim, side, 2 * pairs, 2));
      FailureOr<SmallVector<Value>> combined =
          combine(ops, op, op.getBody(), operands);
      if (failed(combined))
        return failure();
      for (auto [value, pair] : llvm::zip(values, *combined)) {
        if (size % 2) {
          Value last = sliceOf(ops, value, dim, size - 1, size);
          pair = ConcatenateOp::create(ops.b, ValueRange{pair, last},
                                       static_cast<uint64_t>(dim));
        }
        value = pair;
      }
    }
  }
  SmallVector<Value> operands;
  ArrayRef<int64_t> shape = Ops::typeOf(op->getResult(0)).getShape();
  for (Value init : op.getInitValues())
    operands.push_back(ops.broadcast(init, shape, {}));
  for (Value value : values)
    operands.push_back(ops.reshape(value, shape));
  FailureOr<SmallVector<Value>> results =
      combine(ops, op, op.getBody(), operands);
  if (failed(results))
    return failure();
  replace(op, *results);
  return success();
}

/// A sum over dims that are whole on every rank has one order there. Sums along
/// the most minor dim are as many as a vector has lanes, for vectors to be of
/// use.
static void sumInOrder(ReduceOp op) {
  constexpr int64_t kLanes = 16;
  Value value = op.getInputs().front(), init = op.getInitValues().front();
  SmallVector<int64_t> dims(op.getDimensions());
  int64_t last = Ops::typeOf(value).getRank() - 1,
          size = Ops::typeOf(value).getDimSize(last);
  Ops ops(op);
  Type element = Ops::typeOf(value).getElementType();
  auto sumOf = [&](Value of, ArrayRef<int64_t> along) {
    Value sum = ops.reduce<AddOp>(of, 0, along);
    spmd::contract::WholeSum::set(sum.getDefiningOp());
    return sum;
  };
  value = ops.convert(value, ops.b.getF32Type());
  if (llvm::is_contained(dims, last) && size > kLanes) {
    SmallVector<int64_t> high(last + 1, 0),
        shape(Ops::typeOf(value).getShape());
    high[last] = llvm::alignTo(size, kLanes) - size;
    if (high[last] > 0)
      value = ops.padHigh(value, 0, high);
    shape[last] = llvm::divideCeil(size, kLanes);
    shape.push_back(kLanes);
    value = sumOf(ops.reshape(value, shape), dims);
    dims = {Ops::typeOf(value).getRank() - 1};
  }
  value = sumOf(value, dims);
  if (!isZero(init, /*orNegative=*/true)) {
    Value start = ops.broadcast(ops.convert(init, ops.b.getF32Type()),
                                Ops::typeOf(value).getShape(), {});
    value = ops.op<AddOp>(value, start);
  }
  replace(op, ops.convert(value, element));
}

LogicalResult reproducible::rewrite(ReduceOp op) {
  unsigned count = op.getInputs().size();
  bool isMax;
  auto type = cast<RankedTensorType>(op.getInputs().front().getType());
  if (isOrderFree(op.getBody(), count) || picksExtreme(op, isMax))
    return success();
  // Nothing to order.
  if (type.getNumElements() == 0 ||
      (count == 1 &&
       isOne(sizesOf(op.getInputs().front(), op.getDimensions()))))
    return success();
  if (!addsUp(op.getBody(), count))
    return reduceByTree(op);
  Value value = op.getInputs().front(), init = op.getInitValues().front();
  spmd::MeshAttr mesh = meshOf(op);
  int64_t last = type.getRank() - 1;
  // How many lanes are full follows from a number.
  bool hasLanes = !mesh || !mesh.isOpen(type.getDimSize(last)) ||
                  !llvm::is_contained(op.getDimensions(), last);
  if (spmd::contract::WholeSum::has(op) && hasLanes) {
    sumInOrder(op);
    return success();
  }
  ExactSums sums(op);
  Ops &ops = sums.ops;
  ExactSums::Count terms =
      sums.countOf(mesh, sizesOf(value, op.getDimensions()));
  if (isFloat(value)) {
    replace(op, exactSum(sums, value, op.getDimensions(), init, terms));
    return success();
  }
  Type part = cast<ComplexType>(type.getElementType()).getElementType();
  auto sumOf = [&](auto take) {
    return exactSum(sums, take(value), op.getDimensions(), take(init), terms);
  };
  Value re = sumOf([&](Value x) -> Value {
    return RealOp::create(ops.b, Ops::withElement(x, part), x);
  });
  Value im = sumOf([&](Value x) -> Value {
    return ImagOp::create(ops.b, Ops::withElement(x, part), x);
  });
  Value joined = ComplexOp::create(ops.b, op->getResult(0).getType(), re, im);
  replace(op, joined);
  return success();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Windows twice as long are made of two windows, and any length of such: a
/// tree that follows from the window alone.
static LogicalResult combineByTree(ReduceWindowOp op) {
  Ops ops(op);
  SmallVector<Value> values(op.getInputs()), starts;
  int64_t rank = Ops::typeOf(values.front()).getRank();
  ArrayRef<int64_t> window = op.getWindowDimensions();
  SmallVector<int64_t> strides = op.getWindowStridesOrOnes(),
                       dilations = op.getWindowDilationsOrOnes(), low, high,
                       interior;
  if (failed(needKnown(op, window)))
    return failure();
  for (auto [before, after] : op.getPaddingOrZeros())
    low.push_back(before), high.push_back(after);
  for (int64_t dilation : op.getBaseDilationsOrOnes())
    interior.push_back(dilation - 1);
  for (auto [value, init] : llvm::zip(values, op.getInitValues())) {
    RankedTensorType type = Ops::typeOf(value);
    SmallVector<int64_t> shape;
    for (int64_t dim = 0; dim < rank; ++dim)
      shape.push_back(low[dim] + high[dim] + type.getDimSize(dim) +
                      std::max<int64_t>(type.getDimSize(dim) - 1, 0) *
                          interior[dim]);
    value = PadOp::create(ops.b, type.clone(shape), value, init, low, high,
                          interior);
  }
  auto sizeOf = [](ArrayRef<Value> of, int64_t dim) {
    return Ops::typeOf(of.front()).getDimSize(dim);
  };
  for (int64_t dim = 0; dim < rank; ++dim) {
    // `first`, and `second` `distance` elements on.
    auto joined = [&](ArrayRef<Value> first, ArrayRef<Value> second,
                      int64_t distance) {
      int64_t count =
          std::min(sizeOf(first, dim), sizeOf(second, dim) - distance);
      SmallVector<Value> operands;
      for (Value value : first)
        operands.push_back(sliceOf(ops, value, dim, 0, count));
      for (Value value : second)
        operands.push_back(
            sliceOf(ops, value, dim, distance, distance + count));
      return combine(ops, op, op.getBody(), operands);
    };
    SmallVector<Value> power(values), made;
    int64_t done = 0;
    for (int64_t length = 1; length <= window[dim]; length *= 2) {
      if (window[dim] & length) {
        FailureOr<SmallVector<Value>> more =
            made.empty() ? power : joined(made, power, done * dilations[dim]);
        if (failed(more))
          return failure();
        made = *more;
        done += length;
      }
      if (2 * length > window[dim])
        break;
      FailureOr<SmallVector<Value>> twice =
          joined(power, power, length * dilations[dim]);
      if (failed(twice))
        return failure();
      power = *twice;
    }
    for (auto [value, whole] : llvm::zip(values, made)) {
      int64_t end =
          (Ops::typeOf(op->getResult(0)).getDimSize(dim) - 1) * strides[dim] +
          1;
      value = sliceOf(ops, whole, dim, 0, end, strides[dim]);
    }
  }
  SmallVector<Value> operands;
  for (auto [value, init] : llvm::zip(values, op.getInitValues()))
    operands.push_back(ops.broadcast(init, Ops::typeOf(value).getShape(), {}));
  llvm::append_range(operands, values);
  FailureOr<SmallVector<Value>> results =
      combine(ops, op, op.getBody(), operands);
  if (failed(results))
    return failure();
  replace(op, *results);
  return success();
}

LogicalResult reproducible::rewrite(ReduceWindowOp op) {
  unsigned count = op.getInputs().size();
  if (isOrderFree(op.getBody(), count))
    return success();
  ArrayRef<int64_t> window = op.getWindowDimensions();
  SmallVector<int64_t> dims;
  for (auto [dim, extent] : llvm::enumerate(window))
    if (extent > 1)
      dims.push_back(dim);
  if (isOne(window) || Ops::typeOf(op->getResult(0)).getNumElements() == 0)
    return success();
  if (count != 1 || !addsUp(op.getBody(), 1) ||
      !isFloat(op.getInputs().front()) ||
      !isZero(op.getInitValues().front(), /*orNegative=*/true))
    return combineByTree(op);
  ExactSums sums(op);
  Ops &ops = sums.ops;
  Type wide = ops.b.getF64Type();
  Value zero = ops.splat(RankedTensorType::get({}, wide), 0);
  SmallVector<Value> parts;
  ExactSums::Count terms = sums.countOf(meshOf(op), window);
  for (Value term : sums.split(op.getInputs().front(), dims, terms)) {
    OperationState state(op.getLoc(), op->getName(), {term, zero},
                         {Ops::withElement(op->getResult(0), wide)});
    state.propertiesAttr = op->getPropertiesAsAttribute();
    addSumBody(state, wide);
    parts.push_back(ops.b.create(state)->getResult(0));
  }
  replace(op,
          sums.finish(parts, Ops::typeOf(op->getResult(0)).getElementType()));
  return success();
}

/// `region` of two scalars, again for elements of f64: a copy whose constants
/// and results follow.
static void copyComparison(Region &from, Region &to, Type element) {
  IRMapping mapping;
  from.cloneInto(&to, mapping);
  for (BlockArgument argument : to.front().getArguments())
    argument.setType(RankedTensorType::get({}, element));
}

LogicalResult reproducible::rewrite(SelectAndScatterOp op) {
  if (isOrderFree(op.getScatter(), 1))
    return success();
  Block &select = op.getSelect().front();
  if (!addsUp(op.getScatter(), 1) || !isFloat(op.getOperand()) ||
      !isa<CompareOp>(select.front()) ||
      select.front().getNextNode() != select.getTerminator())
    return refuse(op, "only sums of floats at the extreme of a window are "
                      "known to be the same on every mesh");
  ExactSums sums(op);
  Ops &ops = sums.ops;
  Type wide = ops.b.getF64Type();
  auto scalar = RankedTensorType::get({}, wide);
  SmallVector<int64_t> dims, window = op.getWindowDimensionsOrOnes();
  for (auto [dim, extent] : llvm::enumerate(window))
    if (extent > 1)
      dims.push_back(dim);
  ExactSums::Count terms = sums.countOf(meshOf(op), window);
  Value operand = ops.convert(op.getOperand(), wide);
  SmallVector<Value> parts;
  for (Value term : sums.split(op.getSource(), dims, terms)) {
    OperationState state(op.getLoc(), op->getName(),
                         {operand, term, ops.splat(scalar, 0)},
                         {Ops::withElement(op.getResult(), wide)});
    state.propertiesAttr = op->getPropertiesAsAttribute();
    copyComparison(op.getSelect(), *state.addRegion(), wide);
    addSumBody(state, wide);
    parts.push_back(ops.b.create(state)->getResult(0));
  }
  if (!isZero(op.getInitValue(), /*orNegative=*/true)) {
    Value start = ops.convert(op.getInitValue(), wide);
    parts.push_back(
        ops.broadcast(start, Ops::typeOf(op.getResult()).getShape(), {}));
  }
  replace(op, sums.finish(parts, Ops::typeOf(op.getResult()).getElementType()));
  return success();
}
