//===- SplitColumns.cpp - Scores beside columns of others -----------------===//
//
// A sink may be written as one more column of scores, of which the softmax
// takes the sum with all others, and which is cut off before the values:
//
//     softmax([s, sink])[:, :-1] v          =  exp(s - m) / (Σ exp(s - m) +
//     exp(sink - m)) v
//
// So ops along the joined dim are written on each part by itself, forward and
// backward, until slices take the parts or reductions combine them.
//
//===----------------------------------------------------------------------===//
#include "Match.h"
#include "OpenRows.h"
#include "RaiseBlocks.h"
#include "shardc/Raise/Passes.h"
#include "shardc/Support/ElementwiseTrait.h"

namespace shardc {
#define GEN_PASS_DEF_SPLITCOLUMNSPASS
#include "shardc/Raise/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

namespace {
/// What a tensor is along `dim`: these, one after the other.
struct Parts {
  int64_t dim = 0;
  SmallVector<Value, 2> values;
};

/// Writes ops on parts of tensors.
class ColumnSplitter {
public:
  explicit ColumnSplitter(Block &block)
      : block(block), b(block.getParentOp()->getContext()) {}
  void run();

private:
  bool visit(Operation &op);
  bool visitElementwise(Operation &op);
  bool visitReduce(stablehlo::ReduceOp op);
  bool visitSlice(stablehlo::SliceOp op);
  bool visitPad(stablehlo::PadOp op);
  bool visitTranspose(stablehlo::TransposeOp op);
  bool visitReshape(stablehlo::ReshapeOp op);
  const Parts *find(Value value) const {
    auto it = known.find(value);
    return it == known.end() ? nullptr : &it->second;
  }
  SmallVector<int64_t> sizesOf(const Parts &parts) const {
    return llvm::map_to_vector(parts.values, [&](Value value) {
      return typeOf(value).getDimSize(parts.dim);
    });
  }
  /// Part `i` of `value`, which is cut like `like`.
  Value partOf(Value value, const Parts &like, size_t i);

  Block &block;
  OpBuilder b;
  llvm::DenseMap<Value, Parts> known;
  /// Cuts that there are: the dim's extent, and where it is cut.
  SmallVector<std::pair<int64_t, int64_t>> cuts;
};
} // namespace

/// True for scores and something beside them.
static bool isJoined(stablehlo::ConcatenateOp op) {
  auto type = typeOf(op.getResult());
  auto isOfScores = [](Value value) {
    return isBefore(value, 64, llvm::IsaPred<stablehlo::DotGeneralOp>);
  };
  return op.getInputs().size() == 2 && type && type.hasStaticShape() &&
         isa<FloatType>(type.getElementType()) &&
         llvm::count_if(op.getInputs(), isOfScores) == 1;
}

Value ColumnSplitter::partOf(Value value, const Parts &like, size_t i) {
  if (const Parts *parts = find(value);
      parts && parts->dim == like.dim && sizesOf(*parts) == sizesOf(like))
    return parts->values[i];
  auto type = typeOf(value);
  if (type.getRank() == 0)
    return value;
  SmallVector<int64_t> sizes = sizesOf(like), shape(type.getShape());
  shape[like.dim] = sizes[i];
  Operation *op = value.getDefiningOp();
  if (auto broadcast = dyn_cast_or_null<stablehlo::BroadcastInDimOp>(op)) {
    auto place = llvm::find(broadcast.getBroadcastDimensions(), like.dim);
    size_t dim = place - broadcast.getBroadcastDimensions().begin();
    if (place == broadcast.getBroadcastDimensions().end() ||
        typeOf(broadcast.getOperand()).getDimSize(dim) == 1)
      return stablehlo::BroadcastInDimOp::create(
          b, op->getLoc(), type.clone(shape), broadcast.getOperand(),
          broadcast.getBroadcastDimensions());
  }
  if (auto constant = dyn_cast_or_null<stablehlo::ConstantOp>(op))
    if (auto dense =
            dyn_cast<DenseElementsAttr>(Attribute(constant.getValue()));
        dense && dense.isSplat())
      return stablehlo::ConstantOp::create(
          b, op->getLoc(),
          cast<ElementsAttr>(Attribute(dense.resizeSplat(type.clone(shape)))));
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()),
      strides(type.getRank(), 1);
  for (size_t j = 0; j < i; ++j)
    starts[like.dim] += sizes[j];
  limits[like.dim] = starts[like.dim] + sizes[i];
  return stablehlo::SliceOp::create(b, value.getLoc(), type.clone(shape), value,
                                    b.getDenseI64ArrayAttr(starts),
                                    b.getDenseI64ArrayAttr(limits),
                                    b.getDenseI64ArrayAttr(strides));
}

bool ColumnSplitter::visitElementwise(Operation &op) {
  const Parts *first = nullptr;
  for (Value operand : op.getOperands())
    if (const Parts *parts = find(operand)) {
      if (first &&
          (parts->dim != first->dim || sizesOf(*parts) != sizesOf(*first)))
        return false;
      first = parts;
    }
  if (!first || op.getNumResults() != 1 || op.getNumRegions() != 0)
    return false;
  Parts like = *first, result{like.dim, {}};
  for (size_t i = 0; i < like.values.size(); ++i) {
    SmallVector<Value> operands =
        llvm::map_to_vector(op.getOperands(), [&](Value operand) {
          return partOf(operand, like, i);
        });
    Operation *part = b.clone(op);
    part->setOperands(operands);
    SmallVector<int64_t> shape(typeOf(op.getResult(0)).getShape());
    shape[like.dim] = sizesOf(like)[i];
    part->getResult(0).setType(typeOf(op.getResult(0)).clone(shape));
    result.values.push_back(part->getResult(0));
  }
  known[op.getResult(0)] = std::move(result);
  return true;
}

bool ColumnSplitter::visitReduce(stablehlo::ReduceOp op) {
  const Parts *parts =
      op->getNumResults() == 1 ? find(op.getInputs()[0]) : nullptr;
  if (!parts)
    return false;
  bool isCombined = llvm::is_contained(op.getDimensions(), parts->dim);
  Operation *inside =
      op.getBody().front().getTerminator()->getOperand(0).getDefiningOp();
  if (isCombined &&
      (!isa_and_nonnull<stablehlo::AddOp, stablehlo::MaxOp>(inside) ||
       inside->getBlock() != &op.getBody().front() ||
       !isa<BlockArgument>(inside->getOperand(0)) ||
       !isa<BlockArgument>(inside->getOperand(1))))
    return false;
  Parts from = *parts, result;
  result.dim = from.dim - llvm::count_if(op.getDimensions(), [&](int64_t dim) {
                 return dim < from.dim;
               });
  for (Value value : from.values) {
    Operation *part = b.clone(*op);
    part->setOperand(0, value);
    SmallVector<int64_t> shape(typeOf(op->getResult(0)).getShape());
    if (!isCombined)
      shape[result.dim] = typeOf(value).getDimSize(from.dim);
    part->getResult(0).setType(typeOf(op->getResult(0)).clone(shape));
    result.values.push_back(part->getResult(0));
  }
  if (!isCombined) {
    known[op->getResult(0)] = std::move(result);
    return true;
  }
  // What each begins with is neutral, or combined once more: only neutral ones
  // are.
  auto init = op.getInitValues()[0].getDefiningOp<stablehlo::ConstantOp>();
  auto dense = init ? dyn_cast<DenseFPElementsAttr>(Attribute(init.getValue()))
                    : DenseFPElementsAttr();
  bool isSum = isa<stablehlo::AddOp>(inside);
  if (!dense || !dense.isSplat() ||
      !(isSum ? dense.getSplatValue<APFloat>().isZero() : true))
    return false;
  Value whole = result.values[0];
  for (Value value : ArrayRef(result.values).drop_front())
    whole = isSum ? Value(stablehlo::AddOp::create(
                        b, op.getLoc(), whole.getType(), whole, value))
                  : Value(stablehlo::MaxOp::create(
                        b, op.getLoc(), whole.getType(), whole, value));
  op->getResult(0).replaceAllUsesWith(whole);
  return true;
}

bool ColumnSplitter::visitSlice(stablehlo::SliceOp op) {
  const Parts *parts = find(op.getOperand());
  if (!parts || op.getStrides()[parts->dim] != 1)
    return false;
  int64_t start = 0;
  for (Value value : parts->values) {
    int64_t size = typeOf(value).getDimSize(parts->dim),
            first = op.getStartIndices()[parts->dim],
            last = op.getLimitIndices()[parts->dim];
    if (first >= start && last <= start + size) {
      SmallVector<int64_t> starts(op.getStartIndices()),
          limits(op.getLimitIndices());
      starts[parts->dim] -= start;
      limits[parts->dim] -= start;
      Value result = value;
      if (typeOf(value) != op.getType())
        result = stablehlo::SliceOp::create(
            b, op.getLoc(), op.getType(), value, b.getDenseI64ArrayAttr(starts),
            b.getDenseI64ArrayAttr(limits), op.getStridesAttr());
      op->getResult(0).replaceAllUsesWith(result);
      return true;
    }
    start += size;
  }
  return false;
}

bool ColumnSplitter::visitPad(stablehlo::PadOp op) {
  auto type = typeOf(op.getResult());
  if (llvm::any_of(op.getInteriorPadding(),
                   [](int64_t size) { return size != 0; }) ||
      find(op.getOperand()))
    return false;
  std::optional<int64_t> padded;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (op.getEdgePaddingLow()[dim] != 0 || op.getEdgePaddingHigh()[dim] != 0) {
      if (padded || op.getEdgePaddingLow()[dim] < 0 ||
          op.getEdgePaddingHigh()[dim] < 0)
        return false;
      padded = dim;
    }
  if (!padded)
    return false;
  int64_t low = op.getEdgePaddingLow()[*padded],
          high = op.getEdgePaddingHigh()[*padded];
  int64_t cut = low == 0    ? type.getDimSize(*padded) - high
                : high == 0 ? low
                            : -1;
  if (!llvm::is_contained(cuts, std::pair(type.getDimSize(*padded), cut)))
    return false;
  SmallVector<int64_t> shape(type.getShape());
  shape[*padded] = low + high;
  Value rest = stablehlo::BroadcastInDimOp::create(
      b, op.getLoc(), type.clone(shape), op.getPaddingValue(),
      b.getDenseI64ArrayAttr({}));
  Parts parts{*padded, {op.getOperand(), rest}};
  if (low != 0)
    std::swap(parts.values[0], parts.values[1]);
  known[op.getResult()] = std::move(parts);
  return true;
}

bool ColumnSplitter::visitTranspose(stablehlo::TransposeOp op) {
  const Parts *parts = find(op.getOperand());
  if (!parts)
    return false;
  Parts from = *parts, result;
  result.dim =
      llvm::find(op.getPermutation(), from.dim) - op.getPermutation().begin();
  for (Value value : from.values) {
    SmallVector<int64_t> shape =
        llvm::map_to_vector(op.getPermutation(), [&](int64_t dim) {
          return typeOf(value).getDimSize(dim);
        });
    result.values.push_back(stablehlo::TransposeOp::create(
        b, op.getLoc(), typeOf(op.getResult()).clone(shape), value,
        op.getPermutation()));
  }
  known[op->getResult(0)] = std::move(result);
  return true;
}

bool ColumnSplitter::visitReshape(stablehlo::ReshapeOp op) {
  const Parts *parts = find(op.getOperand());
  if (!parts)
    return false;
  // The cut dim stays a dim of its own.
  auto from = typeOf(op.getOperand()), to = typeOf(op.getResult());
  int64_t before = 1, major = 1, dim = 0;
  for (int64_t size : from.getShape().take_front(parts->dim))
    before *= size;
  while (dim < to.getRank() &&
         (major != before || to.getDimSize(dim) != from.getDimSize(parts->dim)))
    major *= to.getDimSize(dim++);
  if (dim == to.getRank())
    return false;
  Parts like = *parts, result{dim, {}};
  for (Value value : like.values) {
    SmallVector<int64_t> shape(to.getShape());
    shape[dim] = typeOf(value).getDimSize(like.dim);
    result.values.push_back(
        stablehlo::ReshapeOp::create(b, op.getLoc(), to.clone(shape), value));
  }
  known[op.getResult()] = std::move(result);
  return true;
}

bool ColumnSplitter::visit(Operation &op) {
  b.setInsertionPointAfter(&op);
  if (auto pad = dyn_cast<stablehlo::PadOp>(op))
    return visitPad(pad);
  if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op))
    return visitReduce(reduce);
  if (auto slice = dyn_cast<stablehlo::SliceOp>(op))
    return visitSlice(slice);
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op))
    return visitTranspose(transpose);
  if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op))
    return visitReshape(reshape);
  if (op.hasTrait<shardc::stablehlo::ElementwiseTrait>() ||
      isa<stablehlo::ConvertOp>(op))
    return visitElementwise(op);
  return false;
}

void ColumnSplitter::run() {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto joined = dyn_cast<stablehlo::ConcatenateOp>(op);
    if (!joined) {
      visit(op);
      continue;
    }
    auto type = typeOf(joined.getResult());
    if (!isJoined(joined))
      continue;
    Parts parts{int64_t(joined.getDimension()),
                SmallVector<Value, 2>(joined.getInputs())};
    cuts.push_back({type.getDimSize(parts.dim),
                    typeOf(parts.values[0]).getDimSize(parts.dim)});
    known[joined.getResult()] = std::move(parts);
  }
}

bool raise::hasColumns(func::FuncOp func) {
  return func
      .walk([](stablehlo::ConcatenateOp op) {
        return isJoined(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void raise::splitColumns(func::FuncOp func) {
  SmallVector<Block *> blocks;
  func.walk([&](Block *block) { blocks.push_back(block); });
  for (Block *block : blocks)
    ColumnSplitter(*block).run();
  func.walk([](Block *block) { eraseDead(*block); });
}

namespace {
struct SplitColumnsPass final
    : shardc::impl::SplitColumnsPassBase<SplitColumnsPass> {
  using Base::Base;
  void runOnOperation() override { splitColumns(getOperation()); }
};
} // namespace
