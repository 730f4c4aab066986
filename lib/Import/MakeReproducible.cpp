//===- MakeReproducible.cpp - The same bits on every mesh -----------------===//
//
// Sums of floats become sums that no order changes (ExactSums.h); other
// combinations of them a tree over global indices. What is neither, and is not
// known to give the same bits however it is cut, is refused by name.
//
//===----------------------------------------------------------------------===//
#include "ExactSums.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Solver/IR/Solver.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/Reducers.h"
#include "shardc/Import/Passes.h"
#include "shardc/Support/ElementwiseTrait.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

namespace shardc {
#define GEN_PASS_DEF_MAKEREPRODUCIBLEPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

static LogicalResult refuse(Operation *op, const Twine &why) {
  return emitUnsupported(op->getLoc())
         << "'" << op->getName().getStringRef() << "' at "
         << userLocation(op->getLoc()) << " under --reproducible: " << why;
}

/// True where sums and products of elements are rounded.
static bool isRounded(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<FloatType, ComplexType>(element);
}

static bool isFloat(Value value) {
  return isa<FloatType>(Ops::typeOf(value).getElementType());
}

static bool isComplex(Value value) {
  return isa<ComplexType>(Ops::typeOf(value).getElementType());
}

static void replace(Operation *op, ValueRange values) {
  op->replaceAllUsesWith(values);
  op->erase();
}

/// Sizes of the dims `dims` of `value`.
static SmallVector<int64_t> sizesOf(Value value, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> sizes;
  for (int64_t dim : dims)
    sizes.push_back(Ops::typeOf(value).getDimSize(dim));
  return sizes;
}

/// True where one element is summed at most, whatever is bound.
static bool isOne(ArrayRef<int64_t> sizes) {
  return llvm::all_of(sizes, [](int64_t size) { return size == 1; });
}

/// The mesh of the program that `op` is of, which has its open extents.
static spmd::MeshAttr meshOf(Operation *op) {
  auto meshes = op->getParentOfType<ModuleOp>().getOps<spmd::MeshOp>();
  return meshes.empty() ? spmd::MeshAttr() : (*meshes.begin()).getMesh();
}

/// Fails where one of `sizes` is open: a tree has as many levels as follow from
/// a number.
static LogicalResult needKnown(Operation *op, ArrayRef<int64_t> sizes) {
  spmd::MeshAttr mesh = meshOf(op);
  if (mesh &&
      llvm::any_of(sizes, [&](int64_t size) { return mesh.isOpen(size); }))
    return refuse(op, "it combines elements in a tree, whose levels follow "
                      "from an extent that is left open; give shapes of the "
                      "arguments (--shapes)");
  return success();
}

//===----------------------------------------------------------------------===//
// Reducers
//===----------------------------------------------------------------------===//

/// The op that combines accumulator and element `i` of `count` in `body`, where
/// each is combined by itself; else null.
static Operation *combinerOf(Region &body, unsigned i, unsigned count) {
  Block &block = body.front();
  Operation *op = block.getTerminator()->getOperand(i).getDefiningOp();
  if (!op || op->getNumOperands() != 2 || op->getBlock() != &block)
    return nullptr;
  Value accumulator = block.getArgument(i),
        element = block.getArgument(i + count);
  bool ofBoth =
      (op->getOperand(0) == accumulator && op->getOperand(1) == element) ||
      (op->getOperand(1) == accumulator && op->getOperand(0) == element);
  return ofBoth ? op : nullptr;
}

/// True if no order of combination changes what `body` gives.
static bool isOrderFree(Region &body, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    Operation *op = combinerOf(body, i, count);
    if (!op)
      return false;
    bool chooses = isa<MaxOp, MinOp>(op) &&
                   !isa<ComplexType>(getElementTypeOrSelf(op->getResult(0)));
    bool isExact = isa<AddOp, MulOp, AndOp, OrOp, XorOp>(op) &&
                   !isRounded(op->getResult(0).getType());
    if (!chooses && !isExact)
      return false;
  }
  return true;
}

/// True if `body` adds one value up.
static bool addsUp(Region &body, unsigned count) {
  return count == 1 && isa_and_nonnull<AddOp>(combinerOf(body, 0, 1));
}

/// True if `body` gives its second argument: an update takes an element's
/// place.
static bool overwrites(Region &body, unsigned count) {
  Block &block = body.front();
  for (unsigned i = 0; i < count; ++i)
    if (block.getTerminator()->getOperand(i) != block.getArgument(i + count))
      return false;
  return true;
}

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

/// Combines tensors element by element as `body`, a region on scalars, does: as
/// many accumulators, then as many elements. Fails where it does more than
/// arithmetic.
static FailureOr<SmallVector<Value>>
combine(Ops &ops, Operation *op, Region &body, ValueRange operands) {
  ArrayRef<int64_t> shape = Ops::typeOf(operands.front()).getShape();
  Block &block = body.front();
  IRMapping mapping;
  mapping.map(block.getArguments(), operands);
  // Constants may be in front of the op by now.
  auto known = [&](Value value) {
    auto constant = value.getDefiningOp<ConstantOp>();
    if (!mapping.contains(value) && constant &&
        Ops::typeOf(value).getRank() == 0) {
      Value copy = ops.b.clone(*constant)->getResult(0);
      mapping.map(value, ops.broadcast(copy, shape, {}));
    }
    return mapping.contains(value);
  };
  for (Operation &inner : block.without_terminator()) {
    if (isa<ConstantOp>(inner))
      continue;
    if (!inner.hasTrait<ElementwiseTrait>() || inner.getNumResults() != 1 ||
        !llvm::all_of(inner.getOperands(), known))
      return refuse(op, "it combines by more than elementwise ops on its "
                        "arguments and constants");
    Operation *copy = ops.b.clone(inner, mapping);
    copy->getResult(0).setType(Ops::typeOf(inner.getResult(0)).clone(shape));
  }
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands()) {
    if (!known(value))
      return refuse(op, "it combines by more than elementwise ops on its "
                        "arguments and constants");
    results.push_back(mapping.lookup(value));
  }
  return results;
}

/// Elements [begin, end) of `dim`, each `stride`-th.
static Value sliceOf(Ops &ops, Value value, int64_t dim, int64_t begin,
                     int64_t end, int64_t stride = 1) {
  RankedTensorType type = Ops::typeOf(value);
  SmallVector<int64_t> begins(type.getRank(), 0), ends(type.getShape()),
      strides(type.getRank(), 1);
  begins[dim] = begin, ends[dim] = end, strides[dim] = stride;
  return SliceOp::create(ops.b, value, begins, ends, strides);
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

static LogicalResult rewrite(ReduceOp op) {
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

/// Gives the op that `state` is for a region that adds two scalars.
static void addSumBody(OperationState &state, Type element) {
  auto scalar = RankedTensorType::get({}, element);
  Block &body = state.addRegion()->emplaceBlock();
  Value x = body.addArgument(scalar, state.location),
        y = body.addArgument(scalar, state.location);
  OpBuilder inside(element.getContext());
  inside.setInsertionPointToEnd(&body);
  Value sum = AddOp::create(inside, state.location, scalar, x, y);
  ReturnOp::create(inside, state.location, sum);
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

static LogicalResult rewrite(ReduceWindowOp op) {
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

static LogicalResult rewrite(SelectAndScatterOp op) {
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

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

/// Dims of the updates along which elements collide in one place: all but
/// those that cover a whole dim of the operand.
static SmallVector<int64_t> collidingDims(ScatterOp op) {
  ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  ArrayRef<int64_t> operand =
      cast<RankedTensorType>(op.getInputs().front().getType()).getShape();
  RankedTensorType updates =
      cast<RankedTensorType>(op.getUpdates().front().getType());
  SmallVector<int64_t> windowed;
  for (int64_t dim = 0; dim < static_cast<int64_t>(operand.size()); ++dim)
    if (!llvm::is_contained(numbers.getInsertedWindowDims(), dim) &&
        !llvm::is_contained(numbers.getInputBatchingDims(), dim))
      windowed.push_back(dim);
  SmallVector<int64_t> dims;
  size_t next = 0;
  for (int64_t dim = 0; dim < updates.getRank(); ++dim) {
    bool isWhole = false;
    if (llvm::is_contained(numbers.getUpdateWindowDims(), dim))
      isWhole = updates.getDimSize(dim) == operand[windowed[next++]];
    if (!isWhole)
      dims.push_back(dim);
  }
  return dims;
}

/// `value` with dims `first` in front, as one, then the others in their order.
static Value asRows(Ops &ops, Value value, ArrayRef<int64_t> first) {
  RankedTensorType type = Ops::typeOf(value);
  SmallVector<int64_t> order(first), moved, shape{1};
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(first, dim))
      order.push_back(dim);
  for (auto [place, dim] : llvm::enumerate(order)) {
    moved.push_back(type.getDimSize(dim));
    if (place < first.size())
      shape[0] *= moved.back();
    else
      shape.push_back(moved.back());
  }
  if (!llvm::is_sorted(order))
    value = TransposeOp::create(ops.b, type.clone(moved), value, order);
  return ops.reshape(value, shape);
}

/// Rows `numbers` of `value`.
static Value takeRows(Ops &ops, Value value, Value numbers) {
  RankedTensorType type = Ops::typeOf(value);
  SmallVector<int64_t> slice(type.getShape());
  slice[0] = 1;
  auto dims = GatherDimensionNumbersAttr::get(
      ops.b.getContext(),
      llvm::to_vector(llvm::seq<int64_t>(1, type.getRank())), {0}, {}, {}, {0},
      /*indexVectorDim=*/1);
  return GatherOp::create(ops.b, value, numbers, dims, slice,
                          /*indices_are_sorted=*/false);
}

/// `value` whose rows are those `distance` before; where there are none,
/// `number`.
static Value rowsBefore(Ops &ops, Value value, int64_t distance, Value number) {
  RankedTensorType type = Ops::typeOf(value);
  SmallVector<int64_t> low(type.getRank(), 0), high(low), none(low);
  low[0] = std::max<int64_t>(distance, 0),
  high[0] = std::max<int64_t>(-distance, 0);
  Value part = sliceOf(ops, value, 0, high[0], type.getDimSize(0) - low[0]);
  return PadOp::create(ops.b, type, part, number, low, high, none);
}

/// Updates of one place are sorted side by side, combined by a tree
/// along their number among all, and the last of each place has what comes of
/// it: one update a place.
static LogicalResult combineBeforeScatter(ScatterOp op) {
  ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  ArrayRef<int64_t> indexed = numbers.getScatterDimsToOperandDims();
  if (!numbers.getInputBatchingDims().empty() ||
      !llvm::all_of(indexed, [&](int64_t dim) {
        return llvm::is_contained(numbers.getInsertedWindowDims(), dim);
      }))
    return refuse(op,
                  "updates longer than an element in a dim that is indexed, or "
                  "in batches, may meet in parts; scatter elements");
  Ops ops(op);
  ImplicitLocOpBuilder &b = ops.b;
  ArrayRef<int64_t> operandShape =
      Ops::typeOf(op.getInputs().front()).getShape();
  // Indices as rows.
  Value indices = op.getScatterIndices();
  SmallVector<int64_t> lines;
  for (int64_t dim = 0; dim < Ops::typeOf(indices).getRank(); ++dim)
    if (dim != numbers.getIndexVectorDim())
      lines.push_back(dim);
  indices = asRows(ops, indices, lines);
  int64_t rows = Ops::typeOf(indices).getDimSize(0), parts = indexed.size();
  if (failed(needKnown(op, {rows})))
    return failure();
  indices = ops.reshape(indices, {rows, parts});
  // Updates as rows.
  SmallVector<int64_t> colliding, windows;
  RankedTensorType updateType = Ops::typeOf(op.getUpdates().front());
  for (int64_t dim = 0; dim < updateType.getRank(); ++dim)
    if (!llvm::is_contained(numbers.getUpdateWindowDims(), dim))
      colliding.push_back(dim);
  SmallVector<Value> updates;
  for (Value update : op.getUpdates())
    updates.push_back(asRows(ops, update, colliding));
  // One number a place; what is outside, in any way, is no place.
  Type wide = b.getI64Type();
  RankedTensorType line = RankedTensorType::get({rows}, wide);
  Value key = ops.splatBits(line, 0);
  for (auto [part, dim] : llvm::enumerate(indexed)) {
    Value index = ops.convert(
        ops.reshape(sliceOf(ops, indices, 1, part, part + 1), {rows}), wide);
    index = ops.op<MaxOp>(index, ops.splatBits(line, -1));
    index = ops.op<MinOp>(index, ops.splatBits(line, operandShape[dim]));
    Value scaled =
        ops.op<MulOp>(key, ops.splatBits(line, operandShape[dim] + 2));
    key = ops.op<AddOp>(scaled, ops.op<AddOp>(index, ops.splatBits(line, 1)));
  }
  Value number = ops.iota(line, 0);
  auto sort = SortOp::create(b, TypeRange{line, line}, ValueRange{key, number},
                             /*dimension=*/0, /*is_stable=*/true);
  {
    Block &body = sort.getComparator().emplaceBlock();
    auto scalar = RankedTensorType::get({}, wide);
    for (int i = 0; i < 4; ++i)
      body.addArgument(scalar, op.getLoc());
    OpBuilder inside = OpBuilder::atBlockEnd(&body);
    Value less =
        CompareOp::create(inside, op.getLoc(), body.getArgument(0),
                          body.getArgument(1), ComparisonDirection::LT);
    ReturnOp::create(inside, op.getLoc(), less);
  }
  key = sort->getResult(0);
  Value order = ops.reshape(sort->getResult(1), {rows, 1});
  indices = takeRows(ops, indices, order);
  for (Value &update : updates)
    update = takeRows(ops, update, order);
  auto none = ops.splatBits(RankedTensorType::get({}, wide), -1);
  for (int64_t distance = 1; distance < rows; distance *= 2) {
    Value isSame = ops.compare("EQ", rowsBefore(ops, key, distance, none), key);
    SmallVector<Value> operands;
    for (Value update : updates) {
      Value zero = ops.splat(
          RankedTensorType::get({}, Ops::typeOf(update).getElementType()), 0);
      operands.push_back(rowsBefore(ops, update, distance, zero));
    }
    llvm::append_range(operands, updates);
    FailureOr<SmallVector<Value>> joined =
        combine(ops, op, op.getUpdateComputation(), operands);
    if (failed(joined))
      return failure();
    for (auto [update, more] : llvm::zip(updates, *joined))
      update =
          ops.select(ops.broadcast(isSame, Ops::typeOf(update).getShape(), {0}),
                     more, update);
  }
  Value isLast = ops.compare("NE", rowsBefore(ops, key, -1, none), key);
  Value nowhere = ops.splatBits(Ops::typeOf(indices), -1);
  indices =
      ops.select(ops.broadcast(isLast, {rows, parts}, {0}), indices, nowhere);
  SmallVector<int64_t> updateDims = llvm::to_vector(
      llvm::seq<int64_t>(1, 1 + numbers.getUpdateWindowDims().size()));
  auto made = ScatterOp::create(
      b, op->getResultTypes(), op.getInputs(), indices, updates,
      ScatterDimensionNumbersAttr::get(b.getContext(), updateDims,
                                       numbers.getInsertedWindowDims(), {}, {},
                                       indexed, /*indexVectorDim=*/1),
      /*indices_are_sorted=*/false, /*unique_indices=*/false);
  made.getUpdateComputation().takeBody(op.getUpdateComputation());
  replace(op, made->getResults());
  return success();
}

static LogicalResult rewrite(ScatterOp op) {
  unsigned count = op.getInputs().size();
  Region &body = op.getUpdateComputation();
  if (isOrderFree(body, count) || overwrites(body, count))
    return success();
  Value input = op.getInputs().front(), updates = op.getUpdates().front();
  if (Ops::typeOf(updates).getNumElements() == 0)
    return success();
  if (!addsUp(body, count) || !isFloat(input))
    return op.getUniqueIndices() ? success() : combineBeforeScatter(op);
  ExactSums sums(op);
  Ops &ops = sums.ops;
  Type wide = ops.b.getF64Type();
  SmallVector<int64_t> dims = collidingDims(op);
  RankedTensorType type = Ops::withElement(input, wide);
  SmallVector<Value> parts;
  ExactSums::Count terms = sums.countOf(meshOf(op), sizesOf(updates, dims));
  for (Value term : sums.split(updates, dims, terms)) {
    OperationState state(op.getLoc(), op->getName(),
                         {ops.splat(type, 0), op.getScatterIndices(), term},
                         {type});
    state.propertiesAttr = op->getPropertiesAsAttribute();
    addSumBody(state, wide);
    parts.push_back(ops.b.create(state)->getResult(0));
  }
  if (!isZero(input, /*orNegative=*/true))
    parts.push_back(ops.convert(input, wide));
  replace(op, sums.finish(parts, Ops::typeOf(input).getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

using Contract = llvm::function_ref<Value(ExactSums &, Value, Value)>;

/// The sums of products of `lhs` and `rhs` that `contract` takes, of floats, in
/// elements of f64.
static Value exactProduct(ExactSums &sums, Value lhs, ArrayRef<int64_t> lhsDims,
                          Value rhs, ArrayRef<int64_t> rhsDims,
                          ExactSums::Count count, Contract contract) {
  return sums.sumOfProducts(
      lhs, lhsDims, rhs, rhsDims, count,
      [&](Value x, Value y) { return contract(sums, x, y); });
}

static LogicalResult rewriteProduct(Operation *op, ArrayRef<int64_t> lhsDims,
                                    ArrayRef<int64_t> rhsDims,
                                    ArrayRef<int64_t> sizes,
                                    Contract contract) {
  RankedTensorType type = Ops::typeOf(op->getResult(0));
  if (spmd::contract::WholeSum::has(op) || !isRounded(type) || isOne(sizes) ||
      llvm::is_contained(sizes, 0) || type.getNumElements() == 0)
    return success();
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  ExactSums sums(op);
  Ops &ops = sums.ops;
  ExactSums::Count count = sums.countOf(meshOf(op), sizes);
  if (isFloat(lhs) && isFloat(rhs) && isa<FloatType>(type.getElementType())) {
    Value sum = exactProduct(sums, lhs, lhsDims, rhs, rhsDims, count, contract);
    replace(op, sums.finish(sum, type.getElementType()));
    return success();
  }
  if (!isComplex(lhs) || !isComplex(rhs) ||
      !isa<ComplexType>(type.getElementType()))
    return refuse(op, "its factors are of different kinds");
  Type part =
      cast<ComplexType>(Ops::typeOf(lhs).getElementType()).getElementType();
  auto real = [&](Value x) -> Value {
    return RealOp::create(ops.b, Ops::withElement(x, part), x);
  };
  auto imaginary = [&](Value x) -> Value {
    return ImagOp::create(ops.b, Ops::withElement(x, part), x);
  };
  auto multiply = [&](Value x, Value y) {
    return exactProduct(sums, x, lhsDims, y, rhsDims, count, contract);
  };
  Value lhsRe = real(lhs), lhsIm = imaginary(lhs), rhsRe = real(rhs),
        rhsIm = imaginary(rhs);
  Value re = ops.op<SubtractOp>(multiply(lhsRe, rhsRe), multiply(lhsIm, rhsIm));
  Value im = ops.op<AddOp>(multiply(lhsRe, rhsIm), multiply(lhsIm, rhsRe));
  Type resultPart = cast<ComplexType>(type.getElementType()).getElementType();
  Value joined = ComplexOp::create(ops.b, type, sums.finish(re, resultPart),
                                   sums.finish(im, resultPart));
  replace(op, joined);
  return success();
}

static LogicalResult rewrite(DotGeneralOp op) {
  DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
  ArrayRef<int64_t> lhsDims = numbers.getLhsContractingDimensions(),
                    rhsDims = numbers.getRhsContractingDimensions();
  return rewriteProduct(
      op, lhsDims, rhsDims, sizesOf(op.getLhs(), lhsDims),
      [&](ExactSums &sums, Value x, Value y) -> Value {
        return DotGeneralOp::create(
            sums.ops.b,
            Ops::withElement(op.getResult(), sums.ops.b.getF64Type()), x, y,
            numbers, /*precision_config=*/nullptr, /*algorithm=*/nullptr);
      });
}

static LogicalResult rewrite(ConvolutionOp op) {
  ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  // What one image and one feature of the result are made of.
  auto allBut = [](Value value, int64_t kept) {
    SmallVector<int64_t> dims;
    for (int64_t dim = 0; dim < Ops::typeOf(value).getRank(); ++dim)
      if (dim != kept)
        dims.push_back(dim);
    return dims;
  };
  SmallVector<int64_t> lhsDims = allBut(op.getLhs(),
                                        numbers.getInputBatchDimension()),
                       rhsDims =
                           allBut(op.getRhs(),
                                  numbers.getKernelOutputFeatureDimension());
  return rewriteProduct(
      op, lhsDims, rhsDims, sizesOf(op.getRhs(), rhsDims),
      [&](ExactSums &sums, Value x, Value y) -> Value {
        OperationState state(
            op.getLoc(), op->getName(), {x, y},
            {Ops::withElement(op.getResult(), sums.ops.b.getF64Type())});
        state.propertiesAttr = op->getPropertiesAsAttribute();
        return sums.ops.b.create(state)->getResult(0);
      });
}

//===----------------------------------------------------------------------===//
// fft
//===----------------------------------------------------------------------===//

/// A transform of several dims is one of each after the other, in one order
/// whatever is cut, and a line is transformed where it is whole.
static LogicalResult rewrite(FftOp op) {
  Ops ops(op);
  Value value = op.getOperand();
  int64_t rank = Ops::typeOf(value).getRank(), last = rank - 1;
  ArrayRef<int64_t> lengths = op.getFftLength();
  int64_t first = rank - static_cast<int64_t>(lengths.size());
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq(first, rank));
  FftType kind = op.getFftType();
  // The real side of the last dim comes first or last of all.
  if (kind == FftType::RFFT)
    std::rotate(dims.begin(), dims.end() - 1, dims.end());
  auto swapped = [&](Value from, int64_t dim) -> Value {
    if (dim == last)
      return from;
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank)),
                         shape(Ops::typeOf(from).getShape());
    std::swap(order[dim], order[last]);
    std::swap(shape[dim], shape[last]);
    return TransposeOp::create(ops.b, Ops::typeOf(from).clone(shape), from,
                               order);
  };
  for (int64_t dim : dims) {
    bool isOwn = dim == last;
    FftType each = isOwn                    ? kind
                   : kind == FftType::RFFT  ? FftType::FFT
                   : kind == FftType::IRFFT ? FftType::IFFT
                                            : kind;
    Value transposed = swapped(value, dim);
    SmallVector<int64_t> shape(Ops::typeOf(transposed).getShape());
    if (isOwn)
      shape.back() = Ops::typeOf(op.getResult()).getDimSize(last);
    Type element = isOwn ? Ops::typeOf(op.getResult()).getElementType()
                         : Ops::typeOf(transposed).getElementType();
    auto transform =
        FftOp::create(ops.b, RankedTensorType::get(shape, element), transposed,
                      each, ArrayRef<int64_t>{lengths[dim - first]});
    spmd::contract::WholeLines::set(transform);
    value = swapped(transform.getResult(), dim);
  }
  replace(op, value);
  return success();
}

//===----------------------------------------------------------------------===//
// Everything
//===----------------------------------------------------------------------===//

/// True for ops that move elements, or make each from those at its own place,
/// or by an algorithm that does not see how others are cut.
static bool keepsBits(Operation *op) {
  if (op->hasTrait<ElementwiseTrait>() || op->hasTrait<OpTrait::IsTerminator>())
    return true;
  // Each matrix is one rank's, and so are whole rows of scores: sums within
  // keep their order.
  if (isa<solver::SolverDialect>(op->getDialect()) ||
      (isa<spmd::AllPairsOpInterface>(op) && spmd::contract::WholeSum::has(op)))
    return true;
  return isa<ConstantOp, IotaOp, BroadcastInDimOp, BroadcastOp, ReshapeOp,
             TransposeOp, ReverseOp, BitcastConvertOp, SliceOp, DynamicSliceOp,
             DynamicUpdateSliceOp, ConcatenateOp, PadOp, GatherOp, SortOp,
             WhileOp, CaseOp, IfOp, OptimizationBarrierOp, CholeskyOp,
             TriangularSolveOp, AllGatherOp, AllToAllOp, CollectivePermuteOp,
             CollectiveBroadcastOp, PartitionIdOp, ReplicaIdOp,
             chlo::ConstantOp, chlo::ConstantLikeOp, chlo::TopKOp,
             spmd::ConstrainOp, spmd::ReshardOp, spmd::PadOp, spmd::DealOp,
             spmd::DealtIotaOp, spmd::DilateOp, spmd::ExtentOp, spmd::ManualOp>(
      op);
}

static LogicalResult makeReproducible(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<ReduceOp, ReduceWindowOp, SelectAndScatterOp, ScatterOp,
            DotGeneralOp, ConvolutionOp, FftOp>(
          [](auto each) { return rewrite(each); })
      // Ranks of a manual region are part of the program: their order is fixed.
      .Case<AllReduceOp, ReduceScatterOp>([](auto) { return success(); })
      .Default([](Operation *other) -> LogicalResult {
        if (keepsBits(other))
          return success();
        return refuse(other,
                      "it is not known to give the same bits on every mesh");
      });
}

/// True for ops in the region of a reduce, a scatter or a sort: of these the op
/// around them speaks.
static bool isOfReducer(Operation *op) {
  Operation *parent = op->getParentOp();
  return !isa<func::FuncOp, WhileOp, CaseOp, IfOp, spmd::ManualOp>(parent);
}

namespace {
struct MakeReproduciblePass final
    : shardc::impl::MakeReproduciblePassBase<MakeReproduciblePass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<Operation *> all;
    getOperation().walk([&](Operation *op) {
      if (op->getParentOfType<func::FuncOp>() && !isOfReducer(op))
        all.push_back(op);
    });
    for (Operation *op : all)
      if (failed(makeReproducible(op)))
        return signalPassFailure();
  }
};
} // namespace
