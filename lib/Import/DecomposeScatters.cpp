//===- DecomposeScatters.cpp - Windows that do not fit --------------------===//
#include "Decompose.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

namespace {
struct IndexRange {
  int64_t low, high;
};
} // namespace

/// The least and the largest element of `indices`, or, with a `dim`, of those
/// at `coordinate` in it; none where the program does not say them.
static std::optional<IndexRange>
rangeOf(Value indices, std::optional<int64_t> dim, int64_t coordinate) {
  RankedTensorType type = Ops::typeOf(indices);
  DenseIntElementsAttr elements;
  if (matchPattern(indices, m_Constant(&elements))) {
    int64_t inner = 1, size = 1;
    if (dim) {
      size = type.getDimSize(*dim);
      for (int64_t behind : type.getShape().drop_front(*dim + 1))
        inner *= behind;
    }
    std::optional<IndexRange> range;
    for (auto [at, element] : llvm::enumerate(elements.getValues<APInt>())) {
      if (dim && static_cast<int64_t>(at) / inner % size != coordinate)
        continue;
      std::optional<int64_t> number = element.trySExtValue();
      if (type.getElementType().isUnsignedInteger())
        number = element.getActiveBits() < 64
                     ? std::optional<int64_t>(element.getZExtValue())
                     : std::nullopt;
      if (!number)
        return std::nullopt;
      range = range ? IndexRange{std::min(range->low, *number),
                                 std::max(range->high, *number)}
                    : IndexRange{*number, *number};
    }
    return range;
  }
  Operation *producer = indices.getDefiningOp();
  if (auto spread = dyn_cast_or_null<BroadcastInDimOp>(producer)) {
    std::optional<int64_t> from;
    for (auto [i, to] : llvm::enumerate(spread.getBroadcastDimensions()))
      if (dim && to == *dim &&
          Ops::typeOf(spread.getOperand()).getDimSize(i) ==
              type.getDimSize(*dim))
        from = i;
    return rangeOf(spread.getOperand(), from, coordinate);
  }
  if (auto join = dyn_cast_or_null<ConcatenateOp>(producer)) {
    if (!dim || static_cast<int64_t>(join.getDimension()) != *dim)
      return std::nullopt;
    for (Value part : join.getInputs()) {
      int64_t size = Ops::typeOf(part).getDimSize(*dim);
      if (coordinate < size)
        return rangeOf(part, dim, coordinate);
      coordinate -= size;
    }
    return std::nullopt;
  }
  if (auto clamp = dyn_cast_or_null<ClampOp>(producer)) {
    auto bound = [&](Value value) {
      bool isScalar = Ops::typeOf(value).getRank() == 0;
      return rangeOf(value, isScalar ? std::nullopt : dim, coordinate);
    };
    std::optional<IndexRange> low = bound(clamp.getMin()),
                              high = bound(clamp.getMax());
    if (low && high && low->high <= high->low)
      return IndexRange{low->low, high->high};
    return std::nullopt;
  }
  if (auto shape = dyn_cast_or_null<ReshapeOp>(producer))
    if (Ops::typeOf(shape.getOperand()).getNumElements() == 1)
      return rangeOf(shape.getOperand(), std::nullopt, 0);
  return std::nullopt;
}

/// A window of updates of which a part is outside is dropped whole, as XLA does
/// and JAX says; behind Import each element is judged for itself, as ranks have
/// parts of windows. So the index of such a window becomes one that is outside
/// with every element.
LogicalResult import::decompose(ScatterOp op) {
  if (selectByPlace(op))
    return success();
  ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  RankedTensorType type = Ops::typeOf(op.getInputs().front()),
                   updates = Ops::typeOf(op.getUpdates().front());
  if (!type.hasStaticShape() || !updates.hasStaticShape())
    return success();
  SmallVector<int64_t> window(type.getRank(), 1);
  auto sizes = numbers.getUpdateWindowDims().begin();
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(numbers.getInsertedWindowDims(), dim) &&
        !llvm::is_contained(numbers.getInputBatchingDims(), dim))
      window[dim] = updates.getDimSize(*sizes++);

  Value indices = op.getScatterIndices();
  int64_t rank = Ops::typeOf(indices).getRank(),
          vectorDim = numbers.getIndexVectorDim();
  std::optional<int64_t> dim;
  if (vectorDim < rank)
    dim = vectorDim;
  // By coordinate of an index: the last place where the window fits, and the
  // first that is outside.
  ArrayRef<int64_t> moved = numbers.getScatterDimsToOperandDims();
  SmallVector<int64_t> last(moved.size()), outside(moved.size());
  SmallVector<bool> judged(moved.size());
  for (auto [i, to] : llvm::enumerate(moved)) {
    last[i] = type.getDimSize(to) - window[to];
    outside[i] = type.getDimSize(to);
    std::optional<IndexRange> range = rangeOf(indices, dim, i);
    judged[i] =
        window[to] > 1 && !(range && range->low >= 0 && range->high <= last[i]);
  }
  if (!llvm::is_contained(judged, true))
    return success();

  Ops ops(op);
  auto integer = cast<IntegerType>(Ops::typeOf(indices).getElementType());
  if (integer.getWidth() < 32) {
    integer = IntegerType::get(op.getContext(), 32);
    indices = ops.convert(indices, integer);
  }
  RankedTensorType indexType = Ops::typeOf(indices);
  unsigned width = integer.getWidth();
  APInt least = integer.isUnsigned() ? APInt::getZero(width)
                                     : APInt::getSignedMinValue(width),
        most = integer.isUnsigned() ? APInt::getMaxValue(width)
                                    : APInt::getSignedMaxValue(width);
  Extents extents;
  if (spmd::ExtentsAttr open =
          spmd::contract::Extents::get(op->getParentOfType<ModuleOp>()))
    extents = open.getExtents();
  // One number a coordinate, `unjudged` where all indices may stay.
  auto numbersOf = [&](ArrayRef<int64_t> judgedNumbers, APInt unjudged) {
    auto scalar = RankedTensorType::get({}, integer);
    auto vector = RankedTensorType::get(
        dim ? ArrayRef<int64_t>{static_cast<int64_t>(moved.size())}
            : ArrayRef<int64_t>{},
        integer);
    SmallVector<APInt> each;
    SmallVector<Value> parts;
    bool isOpen = false;
    for (auto [i, number] : llvm::enumerate(judgedNumbers)) {
      bool isExtent = judged[i] && extents.isOpen(number);
      isOpen |= isExtent;
      each.push_back(judged[i] ? APInt(width, number, /*isSigned=*/true)
                               : unjudged);
      parts.push_back(
          isExtent ? spmd::ExtentOp::create(ops.b, scalar, number).getResult()
                   : ops.splatBits(scalar, each.back().getZExtValue()));
    }
    Value all;
    if (!isOpen) {
      all = ConstantOp::create(
          ops.b, DenseElementsAttr::get(vector, ArrayRef<APInt>(each)));
    } else if (!dim) {
      all = parts.front();
    } else {
      for (Value &part : parts)
        part = ops.reshape(part, {1});
      all = ConcatenateOp::create(ops.b, vector, parts, 0);
    }
    return ops.broadcast(all, indexType.getShape(),
                         dim ? ArrayRef<int64_t>(*dim) : ArrayRef<int64_t>{});
  };
  SmallVector<int64_t> first(moved.size(), 0);
  Value fits =
      ops.op<AndOp>(ops.compare("GE", indices, numbersOf(first, least)),
                    ops.compare("LE", indices, numbersOf(last, most)));
  op.getScatterIndicesMutable().assign(
      ops.select(fits, indices, numbersOf(outside, least)));
  return success();
}
