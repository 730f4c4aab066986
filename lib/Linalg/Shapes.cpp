//===- Shapes.cpp - Constants, broadcasts, reshapes -----------------------===//
#include "StableHLOToLinalg.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/Refusal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

//===----------------------------------------------------------------------===//
// Constants and indices
//===----------------------------------------------------------------------===//

static LogicalResult lowerConstant(Lowerer &l, stablehlo::ConstantOp op) {
  auto type = cast<RankedTensorType>(signlessType(op.getType()));
  Type element = type.getElementType();
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense)
    return emitOpUnsupported(op, ": its value is no dense list of elements");
  if (type.getRank() == 0 || (dense.isSplat() && type.getNumElements() > 1)) {
    Value value = l.splat(op);
    if (!value) // rank 0: no splat() without its own lowering
      return emitOpUnsupported(op, " for elements of type ") << element;
    if (type.getRank() == 0) {
      l.set(op, value);
      return success();
    }
    SmallVector<OpFoldResult> sizes;
    for (int64_t size : type.getShape())
      sizes.push_back(l.b.getIndexAttr(size));
    l.set(op, l.filled(sizes, value));
    return success();
  }
  if (isa<IntegerType>(element))
    dense = dense.bitcast(element);
  l.set(op, l.constant(dense));
  return success();
}

// The index along `dim`, as `element`.
static Value iota(Lowerer &l, ArrayRef<OpFoldResult> sizes, int64_t dim,
                  Type element) {
  ImplicitLocOpBuilder &b = l.b;
  return l.map(
      {}, l.empty(sizes, element), [&](ValueRange) -> SmallVector<Value> {
        Value index = linalg::IndexOp::create(b, dim);
        if (isa<IntegerType>(element))
          return {arith::IndexCastOp::create(b, element, index).getResult()};
        auto complex = dyn_cast<ComplexType>(element);
        auto type =
            cast<FloatType>(complex ? complex.getElementType() : element);
        // f64 holds every index that a narrower float could tell apart.
        Value wide = arith::IndexCastOp::create(b, b.getI64Type(), index);
        Value number = arith::SIToFPOp::create(
            b, type.getWidth() < 32 ? Type(b.getF64Type()) : Type(type), wide);
        number = castFloat(b, number, type);
        if (!complex)
          return {number};
        return {complex::CreateOp::create(b, complex, number, l.zero(type))
                    .getResult()};
      });
}

static LogicalResult lowerIota(Lowerer &l, stablehlo::IotaOp op) {
  auto type = cast<RankedTensorType>(signlessType(op.getType()));
  if (!type.hasStaticShape())
    return emitOpUnsupported(op, ": its size is not static; use dynamic_iota");
  SmallVector<OpFoldResult> sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(l.b.getIndexAttr(size));
  l.set(op, iota(l, sizes, op.getIotaDimension(), type.getElementType()));
  return success();
}

// Sizes of a result whose shape is a value: static dims from the type.
static SmallVector<OpFoldResult> resultSizes(Lowerer &l, Value shape,
                                             RankedTensorType type) {
  SmallVector<OpFoldResult> sizes = l.shapeValues(shape);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!type.isDynamicDim(dim))
      sizes[dim] = l.b.getIndexAttr(type.getDimSize(dim));
  return sizes;
}

static LogicalResult lowerDynamicIota(Lowerer &l, stablehlo::DynamicIotaOp op) {
  auto type = cast<RankedTensorType>(signlessType(op.getType()));
  SmallVector<OpFoldResult> sizes = resultSizes(l, op.getOutputShape(), type);
  l.set(op, iota(l, sizes, op.getIotaDimension(), type.getElementType()));
  return success();
}

// The elements of a rank-1 integer tensor as JAX puts shapes together: from
// constants and reshaped scalars. False where it is made otherwise.
static bool listElements(Lowerer &l, Value source,
                         SmallVectorImpl<OpFoldResult> &elements) {
  if (auto constant = source.getDefiningOp<stablehlo::ConstantOp>()) {
    auto dense = dyn_cast<DenseIntElementsAttr>(constant.getValue());
    if (!dense)
      return false;
    for (APInt size : dense)
      elements.push_back(l.b.getIndexAttr(size.getSExtValue()));
    return true;
  }
  if (auto concat = source.getDefiningOp<stablehlo::ConcatenateOp>())
    return llvm::all_of(concat.getInputs(), [&](Value input) {
      return listElements(l, input, elements);
    });
  auto reshape = source.getDefiningOp<stablehlo::ReshapeOp>();
  if (!reshape ||
      cast<RankedTensorType>(reshape.getOperand().getType()).getRank() != 0)
    return false;
  Value element = l.scalar(reshape.getOperand());
  elements.push_back(l.toIndex(element, elementType(source.getType())));
  return true;
}

SmallVector<OpFoldResult> Lowerer::shapeValues(Value source) {
  int64_t rank = cast<RankedTensorType>(source.getType()).getDimSize(0);
  SmallVector<OpFoldResult> sizes;
  if (listElements(*this, source, sizes))
    return sizes;
  sizes.clear();
  Value shape = tensor(source);
  auto elements = shape.getDefiningOp<tensor::FromElementsOp>();
  for (int64_t i = 0; i < rank; ++i) {
    Value size =
        elements ? elements.getElements()[i]
                 : tensor::ExtractOp::create(b, shape, index(i)).getResult();
    size = toIndex(size, elementType(source.getType()));
    IntegerAttr known;
    if (matchPattern(size, m_Constant(&known)))
      sizes.push_back(b.getIndexAttr(known.getInt()));
    else
      sizes.push_back(size);
  }
  return sizes;
}

static LogicalResult lowerGetDimensionSize(Lowerer &l,
                                           stablehlo::GetDimensionSizeOp op) {
  Value size = l.value(l.size(l.tensor(op.getOperand()), op.getDimension()));
  l.set(op, arith::IndexCastOp::create(l.b, l.b.getI32Type(), size));
  return success();
}

//===----------------------------------------------------------------------===//
// Broadcasts and transposes
//===----------------------------------------------------------------------===//

// Copies the view that `result` is of some earlier value. Users that fold it
// into their maps leave the copy dead.
static LogicalResult lowerView(Lowerer &l, Value result,
                               ArrayRef<OpFoldResult> sizes) {
  ImplicitLocOpBuilder &b = l.b;
  auto type = cast<RankedTensorType>(signlessType(result.getType()));
  View seen = l.view(result);
  if (type.getRank() == 0) {
    Value base = l.viewBase(seen);
    l.set(result, base);
    return success();
  }
  if (Value element = l.splat(result)) {
    l.set(result, l.filled(sizes, element));
    return success();
  }
  if (seen.base.getType() == result.getType() &&
      llvm::equal(seen.dims, llvm::seq<int64_t>(0, type.getRank()))) {
    l.set(result, l.tensor(seen.base));
    return success();
  }
  Value base = l.viewBase(seen);
  SmallVector<AffineExpr> exprs;
  for (int64_t dim : seen.dims)
    exprs.push_back(b.getAffineDimExpr(dim));
  AffineMap from = AffineMap::get(type.getRank(), 0, exprs, b.getContext());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  Value copy =
      l.generic(base, l.empty(sizes, type.getElementType()),
                {from, b.getMultiDimIdentityMap(type.getRank())}, iterators,
                [](ValueRange args) -> SmallVector<Value> { return {args[0]}; })
          .front();
  l.set(result, copy);
  return success();
}

// Sizes of a broadcast whose result type holds `?`: those of the operand's
// dims.
static FailureOr<SmallVector<OpFoldResult>>
broadcastSizes(Lowerer &l, Operation *op, ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    const int64_t *from = llvm::find(dims, dim);
    if (!type.isDynamicDim(dim))
      sizes.push_back(l.b.getIndexAttr(type.getDimSize(dim)));
    else if (from != dims.end())
      sizes.push_back(l.size(l.tensor(op->getOperand(0)), from - dims.begin()));
    else
      return emitOpUnsupported(op, ": the size of new dim ")
             << dim << " is unknown; use dynamic_broadcast_in_dim";
  }
  return sizes;
}

static LogicalResult lowerBroadcastInDim(Lowerer &l,
                                         stablehlo::BroadcastInDimOp op) {
  if (cast<RankedTensorType>(op.getType()).getRank() == 0) {
    l.set(op, l.scalar(op.getOperand()));
    return success();
  }
  auto sizes = broadcastSizes(l, op, op.getBroadcastDimensions());
  return failed(sizes) ? failure() : lowerView(l, op.getResult(), *sizes);
}

static LogicalResult lowerBroadcast(Lowerer &l, stablehlo::BroadcastOp op) {
  int64_t added = op.getBroadcastSizes().size();
  int64_t rank = cast<RankedTensorType>(op.getType()).getRank();
  auto sizes =
      broadcastSizes(l, op, llvm::to_vector(llvm::seq<int64_t>(added, rank)));
  return failed(sizes) ? failure() : lowerView(l, op.getResult(), *sizes);
}

static LogicalResult
lowerDynamicBroadcast(Lowerer &l, stablehlo::DynamicBroadcastInDimOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  return lowerView(l, op.getResult(),
                   resultSizes(l, op.getOutputDimensions(), type));
}

static LogicalResult lowerTranspose(Lowerer &l, stablehlo::TransposeOp op) {
  if (isa<RankedTensorType>(op.getType()) &&
      cast<RankedTensorType>(op.getType()).getRank() == 0) {
    l.set(op, l.scalar(op.getOperand()));
    return success();
  }
  Value input = l.tensor(op.getOperand());
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : op.getPermutation())
    sizes.push_back(l.size(input, dim));
  return lowerView(l, op.getResult(), sizes);
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

// Groups of dims of both shapes whose element counts agree, in order; empty if
// only the whole agrees.
static SmallVector<std::pair<ReassociationIndices, ReassociationIndices>>
matchGroups(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<std::pair<ReassociationIndices, ReassociationIndices>> groups;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    ReassociationIndices left{int64_t(i)}, right{int64_t(j)};
    int64_t count = from[i], other = to[j];
    // A `?` matches a `?` alone: more is not known.
    if (ShapedType::isDynamic(count) != ShapedType::isDynamic(other))
      return {};
    ++i, ++j;
    while (count != other) {
      bool grow = count < other;
      size_t &at = grow ? i : j;
      ArrayRef<int64_t> shape = grow ? from : to;
      if (at == shape.size() || ShapedType::isDynamic(shape[at]) ||
          count == 0 || other == 0)
        return {};
      (grow ? count : other) *= shape[at];
      (grow ? left : right).push_back(at++);
    }
    groups.push_back({left, right});
  }
  // Dims of size one at the end belong to the last group.
  for (; i < from.size(); ++i)
    if (from[i] != 1 || groups.empty())
      return {};
    else
      groups.back().first.push_back(i);
  for (; j < to.size(); ++j)
    if (to[j] != 1 || groups.empty())
      return {};
    else
      groups.back().second.push_back(j);
  return groups;
}

static int64_t product(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims) {
    if (ShapedType::isDynamic(shape[dim]))
      return ShapedType::kDynamic;
    count *= shape[dim];
  }
  return count;
}

Value Lowerer::reshape(Value tensor, RankedTensorType type,
                       ArrayRef<OpFoldResult> sizes) {
  auto from = cast<RankedTensorType>(tensor.getType());
  if (from == type)
    return tensor;
  Type element = type.getElementType();
  if (from.getRank() == 0)
    return tensor::ExpandShapeOp::create(
        b, type, tensor, ArrayRef<ReassociationIndices>(), sizes);
  if (type.getRank() == 0) {
    if (!from.hasStaticShape()) {
      SmallVector<int64_t> ones(from.getRank(), 1);
      tensor = tensor::CastOp::create(b, RankedTensorType::get(ones, element),
                                      tensor);
    }
    return tensor::CollapseShapeOp::create(b, type, tensor,
                                           ArrayRef<ReassociationIndices>());
  }
  auto groups = matchGroups(from.getShape(), type.getShape());
  if (groups.empty())
    groups.push_back(
        {llvm::to_vector<2>(llvm::seq<int64_t>(0, from.getRank())),
         llvm::to_vector<2>(llvm::seq<int64_t>(0, type.getRank()))});
  SmallVector<ReassociationIndices> collapse, expand;
  SmallVector<int64_t> middle;
  for (auto &[left, right] : groups) {
    collapse.push_back(left);
    expand.push_back(right);
    int64_t count = product(from.getShape(), left);
    middle.push_back(count);
  }
  Value value = tensor;
  if (llvm::any_of(collapse, [](auto &group) { return group.size() > 1; }))
    value = tensor::CollapseShapeOp::create(
        b, RankedTensorType::get(middle, element), value, collapse);
  // What the result's type knows and the operand's does not, or the other way.
  SmallVector<int64_t> wanted;
  for (auto &[left, right] : groups)
    wanted.push_back(product(type.getShape(), right));
  if (wanted != middle)
    value = tensor::CastOp::create(b, RankedTensorType::get(wanted, element),
                                   value);
  if (llvm::any_of(expand, [](auto &group) { return group.size() > 1; }))
    value = tensor::ExpandShapeOp::create(b, type, value, expand, sizes);
  return value;
}

// A `?` of the result: that of the operand it stands for, or the one number
// that makes the element counts equal.
static FailureOr<SmallVector<OpFoldResult>>
reshapeSizes(Lowerer &l, Operation *op, Value input, RankedTensorType type) {
  SmallVector<OpFoldResult> sizes;
  std::optional<int64_t> open;
  auto from = cast<RankedTensorType>(input.getType());
  auto groups = matchGroups(from.getShape(), type.getShape());
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim)) {
      sizes.push_back(l.b.getIndexAttr(type.getDimSize(dim)));
      continue;
    }
    sizes.push_back(OpFoldResult());
    for (auto &[left, right] : groups)
      if (right.size() == 1 && right[0] == dim && left.size() == 1)
        sizes.back() = l.size(input, left[0]);
    if (!sizes.back().isNull())
      continue;
    if (open)
      return emitOpUnsupported(op, ": the sizes of dims ")
             << *open << " and " << dim
             << " do not follow from its operand; use dynamic_reshape";
    open = dim;
  }
  if (open) {
    OpFoldResult count = l.b.getIndexAttr(1), known = l.b.getIndexAttr(1);
    AffineExpr x = l.b.getAffineSymbolExpr(0), y = l.b.getAffineSymbolExpr(1);
    auto times = [&](OpFoldResult a, OpFoldResult c) -> OpFoldResult {
      if (isa<Attribute>(a) || isa<Attribute>(c))
        return l.affine(x * y, {a, c});
      return arith::MulIOp::create(l.b, l.value(a), l.value(c)).getResult();
    };
    for (OpFoldResult size : l.sizes(input))
      count = times(count, size);
    for (auto [dim, size] : llvm::enumerate(sizes))
      if (int64_t(dim) != *open)
        known = times(known, size);
    sizes[*open] =
        arith::DivUIOp::create(l.b, l.value(count), l.value(known)).getResult();
  }
  return sizes;
}

static LogicalResult lowerReshape(Lowerer &l, stablehlo::ReshapeOp op) {
  auto type = cast<RankedTensorType>(signlessType(op.getType()));
  if (type.getRank() == 0 &&
      cast<RankedTensorType>(op.getOperand().getType()).getRank() == 0) {
    l.set(op, l.scalar(op.getOperand()));
    return success();
  }
  Value input = l.tensor(op.getOperand());
  if (type.getRank() == 0) {
    SmallVector<Value> zeros(cast<RankedTensorType>(input.getType()).getRank(),
                             l.index(0));
    l.set(op, tensor::ExtractOp::create(l.b, input, zeros));
    return success();
  }
  auto sizes = reshapeSizes(l, op, input, type);
  if (failed(sizes))
    return failure();
  l.set(op, l.reshape(input, type, *sizes));
  return success();
}

static LogicalResult lowerDynamicReshape(Lowerer &l,
                                         stablehlo::DynamicReshapeOp op) {
  auto type = cast<RankedTensorType>(signlessType(op.getType()));
  SmallVector<OpFoldResult> sizes = resultSizes(l, op.getOutputShape(), type);
  l.set(op, l.reshape(l.tensor(op.getOperand()), type, sizes));
  return success();
}

Value Lowerer::splitDim(Value tensor, int64_t dim, int64_t groups) {
  auto from = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(from.getShape());
  SmallVector<OpFoldResult> extents = sizes(tensor);
  SmallVector<ReassociationIndices> expand;
  OpFoldResult inner =
      affine(b.getAffineSymbolExpr(0).floorDiv(groups), extents[dim]);
  shape[dim] =
      from.isDynamicDim(dim) ? ShapedType::kDynamic : shape[dim] / groups;
  shape.insert(shape.begin() + dim, groups);
  extents[dim] = inner;
  extents.insert(extents.begin() + dim, b.getIndexAttr(groups));
  for (int64_t i = 0, at = 0; i < from.getRank(); ++i) {
    ReassociationIndices group{at++};
    if (i == dim)
      group.push_back(at++);
    expand.push_back(group);
  }
  return tensor::ExpandShapeOp::create(
      b, RankedTensorType::get(shape, from.getElementType()), tensor, expand,
      extents);
}

void shardc::lowering::addShapes(LoweringTable &table) {
  table.op<stablehlo::ConstantOp>(lowerConstant);
  table.op<stablehlo::IotaOp>(lowerIota);
  table.op<stablehlo::DynamicIotaOp>(lowerDynamicIota);
  table.op<stablehlo::GetDimensionSizeOp>(lowerGetDimensionSize);
  table.op<stablehlo::BroadcastInDimOp>(lowerBroadcastInDim);
  table.op<stablehlo::BroadcastOp>(lowerBroadcast);
  table.op<stablehlo::DynamicBroadcastInDimOp>(lowerDynamicBroadcast);
  table.op<stablehlo::TransposeOp>(lowerTranspose);
  table.op<stablehlo::ReshapeOp>(lowerReshape);
  table.op<stablehlo::DynamicReshapeOp>(lowerDynamicReshape);
}
