//===- Parts.cpp - Slices, pads, concatenations ---------------------------===//
#include "StableHLOToLinalg.h"

#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/Refusal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

static SmallVector<OpFoldResult> attributes(OpBuilder &b,
                                            ArrayRef<int64_t> values) {
  return llvm::map_to_vector(
      values, [&](int64_t v) { return OpFoldResult(b.getIndexAttr(v)); });
}

static bool isConstant(OpFoldResult value, int64_t wanted) {
  std::optional<int64_t> known = getConstantIntValue(value);
  return known && *known == wanted;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

static LogicalResult lowerSlice(Lowerer &l, stablehlo::SliceOp op) {
  Value input = l.tensor(op.getOperand());
  if (cast<RankedTensorType>(input.getType()).getRank() == 0) {
    l.set(op, l.scalar(op.getOperand()));
    return success();
  }
  // A full `?` dim is sliced whole; its limit is not known here.
  auto type = cast<RankedTensorType>(op.getType());
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t from = op.getStartIndices()[dim], step = op.getStrides()[dim];
    int64_t count =
        llvm::divideCeilSigned(op.getLimitIndices()[dim] - from, step);
    sizes.push_back(l.b.getIndexAttr(std::max<int64_t>(count, 0)));
  }
  l.set(op, l.slice(input, attributes(l.b, op.getStartIndices()), sizes,
                    attributes(l.b, op.getStrides())));
  return success();
}

static LogicalResult lowerRealDynamicSlice(Lowerer &l,
                                           stablehlo::RealDynamicSliceOp op) {
  Value input = l.tensor(op.getOperand());
  auto type = cast<RankedTensorType>(signlessType(op.getType()));
  SmallVector<OpFoldResult> from = l.shapeValues(op.getStartIndices());
  SmallVector<OpFoldResult> limits = l.shapeValues(op.getLimitIndices());
  SmallVector<OpFoldResult> strides = l.shapeValues(op.getStrides());
  SmallVector<OpFoldResult> sizes;
  AffineExpr start = l.b.getAffineSymbolExpr(0),
             limit = l.b.getAffineSymbolExpr(1);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    OpFoldResult extent = l.affine(limit - start, {from[dim], limits[dim]});
    if (std::optional<int64_t> step = getConstantIntValue(strides[dim]))
      extent = l.affine(l.b.getAffineSymbolExpr(0).ceilDiv(*step), extent);
    else
      extent = arith::CeilDivSIOp::create(l.b, l.value(extent),
                                          l.value(strides[dim]))
                   .getResult();
    if (!type.isDynamicDim(dim))
      extent = l.b.getIndexAttr(type.getDimSize(dim));
    sizes.push_back(extent);
  }
  l.set(op, l.slice(input, from, sizes, strides));
  return success();
}

//===----------------------------------------------------------------------===//
// Pads
//===----------------------------------------------------------------------===//

Value Lowerer::pad(Value tensor, Value element, ArrayRef<OpFoldResult> low,
                   ArrayRef<OpFoldResult> high, ArrayRef<int64_t> interior) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> ones = attributes(b, SmallVector<int64_t>(rank, 1));
  SmallVector<OpFoldResult> zeros =
      attributes(b, SmallVector<int64_t>(rank, 0));
  AffineExpr x = b.getAffineSymbolExpr(0), y = b.getAffineSymbolExpr(1),
             z = b.getAffineSymbolExpr(2);
  Type elements = type.getElementType();

  // Interior: the elements, apart, in a filled tensor, which takes positive
  // edges too.
  SmallVector<OpFoldResult> lows(low), highs(high);
  if (llvm::any_of(interior, [](int64_t i) { return i != 0; })) {
    SmallVector<OpFoldResult> extents = sizes(tensor), spread, strides, offsets;
    for (int64_t dim = 0; dim < rank; ++dim) {
      int64_t factor = interior[dim] + 1;
      // n elements spread over (n-1)·factor + 1, none over none.
      OpFoldResult span = affine(x * factor - interior[dim], extents[dim]);
      if (auto known = getConstantIntValue(span))
        span = b.getIndexAttr(std::max<int64_t>(*known, 0));
      else if (interior[dim] != 0)
        span = arith::MaxSIOp::create(b, value(span), index(0)).getResult();
      std::optional<int64_t> l = getConstantIntValue(lows[dim]),
                             h = getConstantIntValue(highs[dim]);
      int64_t addLow = l && *l > 0 ? *l : 0, addHigh = h && *h > 0 ? *h : 0;
      if (addLow)
        lows[dim] = b.getIndexAttr(0);
      if (addHigh)
        highs[dim] = b.getIndexAttr(0);
      spread.push_back(affine(x + (addLow + addHigh), span));
      strides.push_back(b.getIndexAttr(factor));
      offsets.push_back(b.getIndexAttr(addLow));
    }
    Value background = filled(spread, element);
    tensor = insert(tensor, background, offsets, extents, strides);
  }

  // Negative edges cut. A width only known later is split in both its parts.
  SmallVector<OpFoldResult> cutLow(zeros), cutHigh(zeros), addLow(zeros),
      addHigh(zeros);
  auto split = [&](OpFoldResult width, OpFoldResult &cut, OpFoldResult &add) {
    if (auto known = getConstantIntValue(width)) {
      cut = b.getIndexAttr(std::max<int64_t>(-*known, 0));
      add = b.getIndexAttr(std::max<int64_t>(*known, 0));
      return;
    }
    Value zero = index(0), amount = value(width);
    Value minus = arith::SubIOp::create(b, zero, amount);
    cut = arith::MaxSIOp::create(b, minus, zero).getResult();
    add = arith::MaxSIOp::create(b, amount, zero).getResult();
  };
  bool cuts = false, adds = false;
  for (int64_t dim = 0; dim < rank; ++dim) {
    split(lows[dim], cutLow[dim], addLow[dim]);
    split(highs[dim], cutHigh[dim], addHigh[dim]);
    cuts |= !isConstant(cutLow[dim], 0) || !isConstant(cutHigh[dim], 0);
    adds |= !isConstant(addLow[dim], 0) || !isConstant(addHigh[dim], 0);
  }
  if (cuts) {
    SmallVector<OpFoldResult> extents = sizes(tensor), kept;
    for (int64_t dim = 0; dim < rank; ++dim) {
      OpFoldResult rest =
          affine(x - y - z, {extents[dim], cutLow[dim], cutHigh[dim]});
      // Cutting more than there is: nothing is left, and what one edge cut too
      // much, the other must not add. Only constants are seen through.
      if (auto known = getConstantIntValue(rest); known && *known < 0) {
        int64_t missing = -*known;
        int64_t fromHigh =
            std::min(missing, *getConstantIntValue(addHigh[dim]));
        addHigh[dim] =
            b.getIndexAttr(*getConstantIntValue(addHigh[dim]) - fromHigh);
        addLow[dim] = b.getIndexAttr(*getConstantIntValue(addLow[dim]) -
                                     (missing - fromHigh));
        cutLow[dim] =
            b.getIndexAttr(std::min(*getConstantIntValue(cutLow[dim]),
                                    *getConstantIntValue(extents[dim])));
        rest = b.getIndexAttr(0);
      }
      kept.push_back(rest);
    }
    tensor = slice(tensor, cutLow, kept, ones);
  }
  if (!adds)
    return tensor;
  SmallVector<int64_t> shape;
  auto now = cast<RankedTensorType>(tensor.getType());
  for (int64_t dim = 0; dim < rank; ++dim) {
    auto l = getConstantIntValue(addLow[dim]),
         h = getConstantIntValue(addHigh[dim]);
    bool known = l && h && !now.isDynamicDim(dim);
    shape.push_back(known ? now.getDimSize(dim) + *l + *h
                          : ShapedType::kDynamic);
  }
  return tensor::PadOp::create(b, RankedTensorType::get(shape, elements),
                               tensor, addLow, addHigh, element,
                               /*nofold=*/false);
}

static LogicalResult lowerPad(Lowerer &l, stablehlo::PadOp op) {
  Value input = l.tensor(op.getOperand()),
        element = l.scalar(op.getPaddingValue());
  if (cast<RankedTensorType>(input.getType()).getRank() == 0) {
    l.set(op, l.scalar(op.getOperand()));
    return success();
  }
  l.set(op, l.pad(input, element, attributes(l.b, op.getEdgePaddingLow()),
                  attributes(l.b, op.getEdgePaddingHigh()),
                  op.getInteriorPadding()));
  return success();
}

// Elements at their places in a filled tensor.
static LogicalResult lowerDilate(Lowerer &l, spmd::DilateOp op) {
  Value input = l.tensor(op.getInput());
  auto type = cast<RankedTensorType>(signlessType(op.getType()));
  int64_t rank = type.getRank(), dim = op.getDim();
  SmallVector<OpFoldResult> extents = l.sizes(input), whole(extents),
                            offsets(rank, l.b.getIndexAttr(0)),
                            strides(rank, l.b.getIndexAttr(1));
  whole[dim] = type.isDynamicDim(dim) ? OpFoldResult(l.tensor(op.getSize()))
                                      : l.b.getIndexAttr(type.getDimSize(dim));
  offsets[dim] = l.tensor(op.getFirst());
  strides[dim] = l.b.getIndexAttr(op.getFactor());
  l.set(op, l.insert(input, l.filled(whole, l.scalar(op.getFill())), offsets,
                     extents, strides));
  return success();
}

static LogicalResult lowerDynamicPad(Lowerer &l, stablehlo::DynamicPadOp op) {
  SmallVector<int64_t> interior;
  for (OpFoldResult width : l.shapeValues(op.getInteriorPadding())) {
    std::optional<int64_t> known = getConstantIntValue(width);
    if (!known)
      return emitOpUnsupported(op, ": its interior padding is not constant");
    interior.push_back(*known);
  }
  l.set(op, l.pad(l.tensor(op.getOperand()), l.scalar(op.getPaddingValue()),
                  l.shapeValues(op.getEdgePaddingLow()),
                  l.shapeValues(op.getEdgePaddingHigh()), interior));
  return success();
}

//===----------------------------------------------------------------------===//
// Concatenations and reversals
//===----------------------------------------------------------------------===//

static LogicalResult lowerConcatenate(Lowerer &l, stablehlo::ConcatenateOp op) {
  ImplicitLocOpBuilder &b = l.b;
  int64_t dim = op.getDimension();
  SmallVector<Value> inputs =
      llvm::map_to_vector(op.getInputs(), [&](Value v) { return l.tensor(v); });
  if (inputs.size() == 1) {
    l.set(op, inputs.front());
    return success();
  }
  auto type = cast<RankedTensorType>(signlessType(op.getType()));
  SmallVector<OpFoldResult> extents = l.sizes(inputs.front());
  OpFoldResult total = b.getIndexAttr(0);
  AffineExpr sum = b.getAffineSymbolExpr(0) + b.getAffineSymbolExpr(1);
  for (Value input : inputs)
    total = l.affine(sum, {total, l.size(input, dim)});
  extents[dim] = total;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!type.isDynamicDim(i))
      extents[i] = b.getIndexAttr(type.getDimSize(i));
  Value result = l.empty(extents, type.getElementType());
  SmallVector<OpFoldResult> offsets =
      attributes(b, SmallVector<int64_t>(type.getRank(), 0));
  SmallVector<OpFoldResult> ones =
      attributes(b, SmallVector<int64_t>(type.getRank(), 1));
  for (Value input : inputs) {
    SmallVector<OpFoldResult> sizes = l.sizes(input);
    result = l.insert(input, result, offsets, sizes, ones);
    offsets[dim] = l.affine(sum, {offsets[dim], sizes[dim]});
  }
  l.set(op, result);
  return success();
}

Value Lowerer::reverse(Value tensor, ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> extents = sizes(tensor);
  Value out = empty(extents, type.getElementType());
  bool known =
      llvm::none_of(dims, [&](int64_t dim) { return type.isDynamicDim(dim); });
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  if (known) {
    SmallVector<AffineExpr> from;
    for (int64_t dim = 0; dim < rank; ++dim) {
      AffineExpr at = b.getAffineDimExpr(dim);
      from.push_back(
          llvm::is_contained(dims, dim) ? type.getDimSize(dim) - 1 - at : at);
    }
    return generic(
               tensor, out,
               {AffineMap::get(rank, 0, from, b.getContext()), identity},
               iterators,
               [](ValueRange args) -> SmallVector<Value> { return {args[0]}; })
        .front();
  }
  SmallVector<Value> last;
  for (int64_t dim = 0; dim < rank; ++dim)
    last.push_back(value(affine(b.getAffineSymbolExpr(0) - 1, extents[dim])));
  return map({}, out, [&](ValueRange) -> SmallVector<Value> {
    SmallVector<Value> at;
    for (int64_t dim = 0; dim < rank; ++dim) {
      Value index = linalg::IndexOp::create(b, dim);
      at.push_back(llvm::is_contained(dims, dim)
                       ? arith::SubIOp::create(b, last[dim], index).getResult()
                       : index);
    }
    return {tensor::ExtractOp::create(b, tensor, at).getResult()};
  });
}

static LogicalResult lowerReverse(Lowerer &l, stablehlo::ReverseOp op) {
  Value input = l.tensor(op.getOperand());
  l.set(op, op.getDimensions().empty() ? input
                                       : l.reverse(input, op.getDimensions()));
  return success();
}

//===----------------------------------------------------------------------===//
// Slices at positions that are values
//===----------------------------------------------------------------------===//

// Start positions clamped so that the box of `sizes` is inside `tensor`.
static SmallVector<OpFoldResult> clampedStarts(Lowerer &l, ValueRange starts,
                                               Value tensor,
                                               ArrayRef<OpFoldResult> sizes) {
  ImplicitLocOpBuilder &b = l.b;
  SmallVector<OpFoldResult> result;
  AffineExpr room = b.getAffineSymbolExpr(0) - b.getAffineSymbolExpr(1);
  for (auto [dim, source] : llvm::enumerate(starts)) {
    OpFoldResult most = l.affine(room, {l.size(tensor, dim), sizes[dim]});
    if (isConstant(most, 0)) {
      result.push_back(b.getIndexAttr(0));
      continue;
    }
    Value zero = l.index(0);
    Value start = l.toIndex(l.scalar(source), source.getType());
    Value bounded = arith::MaxSIOp::create(b, start, zero);
    result.push_back(
        arith::MinSIOp::create(b, bounded, l.value(most)).getResult());
  }
  return result;
}

static LogicalResult lowerDynamicSlice(Lowerer &l,
                                       stablehlo::DynamicSliceOp op) {
  Value input = l.tensor(op.getOperand());
  if (op.getSliceSizes().empty()) {
    l.set(op, l.scalar(op.getOperand()));
    return success();
  }
  SmallVector<OpFoldResult> sizes = attributes(l.b, op.getSliceSizes());
  SmallVector<OpFoldResult> starts =
      clampedStarts(l, op.getStartIndices(), input, sizes);
  SmallVector<OpFoldResult> ones =
      attributes(l.b, SmallVector<int64_t>(sizes.size(), 1));
  l.set(op, l.slice(input, starts, sizes, ones));
  return success();
}

static LogicalResult
lowerDynamicUpdateSlice(Lowerer &l, stablehlo::DynamicUpdateSliceOp op) {
  if (cast<RankedTensorType>(op.getType()).getRank() == 0) {
    l.set(op, l.scalar(op.getUpdate()));
    return success();
  }
  Value input = l.tensor(op.getOperand()), update = l.tensor(op.getUpdate());
  SmallVector<OpFoldResult> sizes = l.sizes(update);
  SmallVector<OpFoldResult> starts =
      clampedStarts(l, op.getStartIndices(), input, sizes);
  SmallVector<OpFoldResult> ones =
      attributes(l.b, SmallVector<int64_t>(sizes.size(), 1));
  l.set(op, l.insert(update, input, starts, sizes, ones));
  return success();
}

void shardc::lowering::addParts(LoweringTable &table) {
  table.op<stablehlo::SliceOp>(lowerSlice);
  table.op<stablehlo::RealDynamicSliceOp>(lowerRealDynamicSlice);
  table.op<stablehlo::PadOp>(lowerPad);
  table.op<spmd::DilateOp>(lowerDilate);
  table.op<stablehlo::DynamicPadOp>(lowerDynamicPad);
  table.op<stablehlo::ConcatenateOp>(lowerConcatenate);
  table.op<stablehlo::ReverseOp>(lowerReverse);
  table.op<stablehlo::DynamicSliceOp>(lowerDynamicSlice);
  table.op<stablehlo::DynamicUpdateSliceOp>(lowerDynamicUpdateSlice);
}
