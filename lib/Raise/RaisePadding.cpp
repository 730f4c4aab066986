//===- RaisePadding.cpp - Rolls and paddings that read the tensor itself --===//
//
// A concatenation is looked at as a list of positions: which element of one
// tensor stands where, along the dim in question. If these are the positions of
// a periodic, edge or mirrored padding, it is one; how it was spelled does not
// matter.
//
//===----------------------------------------------------------------------===//
#include "ConstantTensors.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Layout/Exchange.h"
#include "shardc/Layout/ExtentSums.h"
#include "shardc/Layout/Placeholders.h"
#include "shardc/Raise/Passes.h"

namespace shardc {
#define GEN_PASS_DEF_RAISEPADDINGPASS
#include "shardc/Raise/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;

/// Dims longer than this are not written out position by position.
static constexpr int64_t kMaxPositions = 1 << 20;
/// Pieces of pieces of concatenations that are looked through.
static constexpr int kMaxDepth = 8;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

namespace {
/// `value[.., i, ..] = root[.., positions[i], ..]` along one dim; the others
/// are the same.
struct View {
  Value root;
  SmallVector<int64_t> positions;
};
} // namespace

static View wholeOf(Value value, int64_t dim) {
  return {value, llvm::to_vector(
                     llvm::seq<int64_t>(0, typeOf(value).getDimSize(dim)))};
}

/// The dim of one element that `value` repeats along `dim`, as JAX spells it: a
/// broadcast along a new dim, and a reshape that drops the old one.
static Value repeatedRow(Value value, int64_t dim) {
  auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>();
  auto broadcast =
      reshape
          ? reshape.getOperand().getDefiningOp<stablehlo::BroadcastInDimOp>()
          : stablehlo::BroadcastInDimOp();
  if (!broadcast)
    return {};
  Value row = broadcast.getOperand();
  ArrayRef<int64_t> from = typeOf(row).getShape(),
                    to = typeOf(value).getShape();
  if (from.size() != to.size() || from[dim] != 1 ||
      typeOf(broadcast.getResult()).getRank() != int64_t(from.size()) + 1)
    return {};
  for (size_t i = 0; i < from.size(); ++i)
    if (int64_t(i) != dim && from[i] != to[i])
      return {};
  // Dims before `dim` stay, one is new there, and the others come one later.
  ArrayRef<int64_t> places = broadcast.getBroadcastDimensions();
  for (auto [i, place] : llvm::enumerate(places)) {
    bool isBehind = int64_t(i) > dim || (int64_t(i) == dim && place == dim + 1);
    if (place != int64_t(i) + isBehind)
      return {};
  }
  return row;
}

static View viewAlong(Value value, int64_t dim, int depth = 0) {
  if (depth > kMaxDepth || typeOf(value).getDimSize(dim) > kMaxPositions)
    return wholeOf(value, dim);
  if (auto slice = value.getDefiningOp<stablehlo::SliceOp>()) {
    ArrayRef<int64_t> shape = typeOf(slice.getOperand()).getShape();
    for (int64_t i = 0; i < int64_t(shape.size()); ++i)
      if (i != dim && (slice.getStartIndices()[i] != 0 ||
                       slice.getLimitIndices()[i] != shape[i] ||
                       slice.getStrides()[i] != 1))
        return wholeOf(value, dim);
    View whole = viewAlong(slice.getOperand(), dim, depth + 1),
         part{whole.root, {}};
    if (whole.positions.empty())
      return wholeOf(value, dim);
    for (int64_t i = slice.getStartIndices()[dim];
         i < slice.getLimitIndices()[dim]; i += slice.getStrides()[dim])
      part.positions.push_back(whole.positions[i]);
    return part;
  }
  if (auto reverse = value.getDefiningOp<stablehlo::ReverseOp>()) {
    if (reverse.getDimensions() != ArrayRef<int64_t>(dim))
      return wholeOf(value, dim);
    View view = viewAlong(reverse.getOperand(), dim, depth + 1);
    std::reverse(view.positions.begin(), view.positions.end());
    return view;
  }
  if (Value row = repeatedRow(value, dim)) {
    View view = viewAlong(row, dim, depth + 1);
    return {view.root, SmallVector<int64_t>(typeOf(value).getDimSize(dim),
                                            view.positions.front())};
  }
  if (auto concatenate = value.getDefiningOp<stablehlo::ConcatenateOp>()) {
    if (int64_t(concatenate.getDimension()) != dim)
      return wholeOf(value, dim);
    View all;
    for (Value piece : concatenate.getOperands()) {
      if (typeOf(piece).getDimSize(dim) == 0)
        continue;
      View view = viewAlong(piece, dim, depth + 1);
      // One piece may be the tensor that the others are parts of.
      if (all.root && all.root != view.root)
        return wholeOf(value, dim);
      all.root = view.root;
      llvm::append_range(all.positions, view.positions);
    }
    return all.root ? all : wholeOf(value, dim);
  }
  return wholeOf(value, dim);
}

namespace {
struct PaddingOfDim {
  Padding padding;
  int64_t low, high;
};
} // namespace

/// The padding of a dim of `size` elements that has these positions, with the
/// smallest margins; nullopt if there is none, or none is needed.
static std::optional<PaddingOfDim> matchPadding(ArrayRef<int64_t> positions,
                                                int64_t size) {
  int64_t count = positions.size();
  if (size == 0 || count == 0)
    return std::nullopt;
  std::optional<PaddingOfDim> best;
  auto isPadding = [&](int64_t low, Padding padding) {
    for (int64_t i = 0; i < count; ++i)
      if (paddedSource(i - low, size, padding) != positions[i])
        return false;
    return true;
  };
  // A margin below the first element, or elements that are left out there.
  SmallVector<int64_t> lows{-positions.front()};
  for (int64_t i = 1; i < count && lows.size() < 8; ++i)
    if (positions[i] == 0)
      lows.push_back(i);
  for (Padding padding :
       {Padding::Edge, Padding::Wrap, Padding::Reflect, Padding::Symmetric})
    for (int64_t low : lows) {
      int64_t high = count - size - low;
      if ((low <= 0 && high <= 0) || !isPadding(low, padding))
        continue;
      if (!best || std::abs(low) + std::abs(high) <
                       std::abs(best->low) + std::abs(best->high))
        best = {padding, low, high};
    }
  return best;
}

namespace {

struct RaiseConcatenation final : OpRewritePattern<stablehlo::ConcatenateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::ConcatenateOp op,
                                PatternRewriter &rewriter) const override {
    int64_t dim = op.getDimension();
    View view = viewAlong(op.getResult(), dim);
    if (view.root == op.getResult())
      return failure();
    std::optional<PaddingOfDim> match =
        matchPadding(view.positions, typeOf(view.root).getDimSize(dim));
    if (!match)
      return failure();
    SmallVector<int64_t> low(typeOf(view.root).getRank(), 0), high(low);
    low[dim] = match->low;
    high[dim] = match->high;
    rewriter.replaceOpWithNewOp<spmd::PadOp>(
        op, op.getType(), view.root,
        static_cast<spmd::PaddingMode>(match->padding), low, high);
    return success();
  }
};

/// A slice of each element, with what is before and behind it.
struct Crop {
  SmallVector<int64_t> before, behind;
};
} // namespace

static std::optional<Crop> cropOf(stablehlo::SliceOp slice) {
  Crop crop;
  ArrayRef<int64_t> shape = typeOf(slice.getOperand()).getShape();
  for (auto [i, size] : llvm::enumerate(shape)) {
    if (slice.getStrides()[i] != 1)
      return std::nullopt;
    crop.before.push_back(slice.getStartIndices()[i]);
    crop.behind.push_back(size - slice.getLimitIndices()[i]);
  }
  return crop;
}

/// `value` without what `crop` says, of the dims that `takes` selects.
static Value cropDims(OpBuilder &builder, Location loc, Value value,
                      const Crop &crop,
                      llvm::function_ref<bool(int64_t)> takes) {
  SmallVector<int64_t> start, limit, strides(typeOf(value).getRank(), 1), shape;
  bool changes = false;
  for (auto [i, size] : llvm::enumerate(typeOf(value).getShape())) {
    bool taken = takes(i);
    start.push_back(taken ? crop.before[i] : 0);
    limit.push_back(taken ? size - crop.behind[i] : size);
    shape.push_back(limit.back() - start.back());
    changes |= shape.back() != size;
  }
  if (!changes)
    return value;
  return stablehlo::SliceOp::create(builder, loc, typeOf(value).clone(shape),
                                    value, start, limit, strides);
}

/// Whether what `crop` cuts off behind is a number in all bindings, or says
/// itself what it follows from. Of n, which another extent is where that has
/// the number 221184, it seems to cut off 4199, and cuts off nothing.
static bool cutsTheSame(stablehlo::SliceOp op, const Crop &crop, int64_t dim) {
  int64_t behind = crop.behind[dim],
          size = typeOf(op.getOperand()).getDimSize(dim);
  auto module = op->getParentOfType<ModuleOp>();
  if (!module || behind == 0)
    return true;
  return llvm::all_of(module.getOps<spmd::MeshOp>(), [&](spmd::MeshOp meshOp) {
    spmd::MeshAttr mesh = meshOp.getMesh();
    return (!mesh.isOpen(size) && !mesh.isOpen(size - behind)) ||
           constantDifference(mesh.getExtents().getExtents(), size,
                              size - behind) == behind;
  });
}

namespace {

/// A slice of a padding is a padding with smaller margins of a slice.
struct SliceOfPad final : OpRewritePattern<stablehlo::SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::SliceOp op,
                                PatternRewriter &rewriter) const override {
    auto pad = op.getOperand().getDefiningOp<spmd::PadOp>();
    std::optional<Crop> crop = pad ? cropOf(op) : std::nullopt;
    if (!crop)
      return failure();
    auto isPadded = [&](int64_t dim) {
      return pad.getLow()[dim] != 0 || pad.getHigh()[dim] != 0;
    };
    for (int64_t dim = 0; dim < typeOf(op).getRank(); ++dim)
      if (isPadded(dim) && !cutsTheSame(op, *crop, dim))
        return rewriter.notifyMatchFailure(op, "cuts off what is open");
    Value input = cropDims(rewriter, op.getLoc(), pad.getInput(), *crop,
                           [&](int64_t dim) { return !isPadded(dim); });
    SmallVector<int64_t> low, high;
    for (int64_t dim = 0; dim < typeOf(input).getRank(); ++dim) {
      low.push_back(isPadded(dim) ? pad.getLow()[dim] - crop->before[dim] : 0);
      high.push_back(isPadded(dim) ? pad.getHigh()[dim] - crop->behind[dim]
                                   : 0);
    }
    rewriter.replaceOpWithNewOp<spmd::PadOp>(op, op.getType(), input,
                                             pad.getMode(), low, high);
    return success();
  }
};

/// The same for a constant around.
struct SliceOfConstantPad final : OpRewritePattern<stablehlo::SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::SliceOp op,
                                PatternRewriter &rewriter) const override {
    auto pad = op.getOperand().getDefiningOp<stablehlo::PadOp>();
    std::optional<Crop> crop = pad ? cropOf(op) : std::nullopt;
    if (!crop || !llvm::all_of(pad.getInteriorPadding(),
                               [](int64_t interior) { return interior == 0; }))
      return failure();
    SmallVector<int64_t> low, high, interior(crop->before.size(), 0);
    for (size_t dim = 0; dim < crop->before.size(); ++dim) {
      low.push_back(pad.getEdgePaddingLow()[dim] - crop->before[dim]);
      high.push_back(pad.getEdgePaddingHigh()[dim] - crop->behind[dim]);
      // Nothing but the constant is left: not a neighbourhood of anything.
      if (typeOf(pad.getOperand()).getDimSize(dim) +
              std::min<int64_t>(0, low.back()) +
              std::min<int64_t>(0, high.back()) <=
          0)
        return failure();
      if (!cutsTheSame(op, *crop, dim))
        return rewriter.notifyMatchFailure(op, "cuts off what is open");
    }
    rewriter.replaceOpWithNewOp<stablehlo::PadOp>(
        op, op.getType(), pad.getOperand(), pad.getPaddingValue(), low, high,
        interior);
    return success();
  }
};

/// A slice of a concatenation that is of one of its pieces is a slice of that.
struct SliceOfPiece final : OpRewritePattern<stablehlo::SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::SliceOp op,
                                PatternRewriter &rewriter) const override;
};

/// Paddings of one mode in different dims are one.
struct PadOfPad final : OpRewritePattern<spmd::PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(spmd::PadOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<spmd::PadOp>();
    if (!inner || inner.getMode() != op.getMode())
      return failure();
    SmallVector<int64_t> low, high;
    for (int64_t dim = 0; dim < typeOf(op.getInput()).getRank(); ++dim) {
      int64_t a = inner.getLow()[dim], b = inner.getHigh()[dim],
              c = op.getLow()[dim], d = op.getHigh()[dim];
      // Two rolls are one; otherwise what is read outside is another thing.
      bool isRoll = op.getMode() == spmd::PaddingMode::Wrap && a + b == 0;
      if ((a != 0 || b != 0) && (c != 0 || d != 0) && !isRoll)
        return failure();
      low.push_back(a + c);
      high.push_back(b + d);
    }
    rewriter.replaceOpWithNewOp<spmd::PadOp>(op, op.getType(), inner.getInput(),
                                             op.getMode(), low, high);
    return success();
  }
};

/// An update of nearly all of a constant is a window of it with the constant
/// around, as a slice of nearly all of a dim is one: what JAX prints as that
/// one's gradient.
///
///     dynamic_update_slice(0 of n, x of n - 3, i)
///     dynamic_slice(pad x by [3, 3], 3 - clamp(0, i, 3)), of n
struct UpdateOfNearlyAll final
    : OpRewritePattern<stablehlo::DynamicUpdateSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::DynamicUpdateSliceOp op,
                                PatternRewriter &rewriter) const override;
};

struct RaisePaddingPass final
    : shardc::impl::RaisePaddingPassBase<RaisePaddingPass> {
  using Base::Base;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RaiseConcatenation, SliceOfPad, SliceOfConstantPad,
                 SliceOfPiece, PadOfPad, UpdateOfNearlyAll>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

LogicalResult SliceOfPiece::matchAndRewrite(stablehlo::SliceOp op,
                                            PatternRewriter &rewriter) const {
  auto whole = op.getOperand().getDefiningOp<stablehlo::ConcatenateOp>();
  if (!whole || op.getType().getNumElements() == 0)
    return failure();
  int64_t dim = whole.getDimension(), from = op.getStartIndices()[dim],
          to = op.getLimitIndices()[dim], before = 0;
  for (Value piece : whole.getOperands()) {
    int64_t size = typeOf(piece).getDimSize(dim);
    if (from < before || to > before + size) {
      before += size;
      continue;
    }
    // Where a piece begins that follows one of open size, only it can say.
    auto sizes = llvm::map_to_vector(whole.getOperands(), [&](Value other) {
      return typeOf(other).getDimSize(dim);
    });
    if ((from != before || to != before + size) && raise::isOpen(op, sizes))
      return rewriter.notifyMatchFailure(op, "is a part of an open extent");
    SmallVector<int64_t> start(op.getStartIndices()),
        limit(op.getLimitIndices());
    start[dim] -= before;
    limit[dim] -= before;
    rewriter.replaceOpWithNewOp<stablehlo::SliceOp>(
        op, op.getType(), piece, start, limit, op.getStrides());
    return success();
  }
  return rewriter.notifyMatchFailure(op, "is of several pieces");
}

/// The scalar of which a tensor is made; null if there is none.
static Value scalarOf(Value value, OpBuilder &builder) {
  if (auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>())
    return typeOf(broadcast.getOperand()).getRank() == 0
               ? broadcast.getOperand()
               : Value();
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue())
                        : SplatElementsAttr();
  if (!splat)
    return {};
  auto type = RankedTensorType::get({}, splat.getElementType());
  return stablehlo::ConstantOp::create(builder, value.getLoc(),
                                       splat.resizeSplat(type));
}

/// By how much an update of `part` of `size` elements may move, where that is
/// little whatever is bound, and several ranks may share the dim; none where it
/// is not.
static std::optional<int64_t> smallMove(ModuleOp module, int64_t size,
                                        int64_t part) {
  constexpr int64_t leastTaken = 8;
  int64_t move = size - part;
  if (move < 0 || move > part / leastTaken)
    return std::nullopt;
  for (auto meshOp : module.getOps<spmd::MeshOp>()) {
    spmd::MeshAttr mesh = meshOp.getMesh();
    bool isOpen = mesh.isOpen(size) || mesh.isOpen(part);
    if (mesh.getNumRanks() > 1 && move <= part / mesh.getNumRanks() &&
        (!isOpen ||
         (move <= nearby && constantDifference(mesh.getExtents().getExtents(),
                                               size, part) == move)))
      return move;
  }
  return std::nullopt;
}

LogicalResult
UpdateOfNearlyAll::matchAndRewrite(stablehlo::DynamicUpdateSliceOp op,
                                   PatternRewriter &rewriter) const {
  RankedTensorType type = typeOf(op.getResult()), part = typeOf(op.getUpdate());
  auto module = op->getParentOfType<ModuleOp>();
  if (type == part || type.getRank() == 0 || !module)
    return failure();
  SmallVector<int64_t> moves, shape;
  for (auto [start, size, taken] : llvm::zip_equal(
           op.getStartIndices(), type.getShape(), part.getShape())) {
    std::optional<int64_t> move = smallMove(module, size, taken);
    Type element = typeOf(start).getElementType();
    if (!move || !llvm::isIntN(element.getIntOrFloatBitWidth() - 1, *move))
      return rewriter.notifyMatchFailure(op, "writes less than nearly all");
    moves.push_back(*move);
    shape.push_back(taken + 2 * *move);
  }
  Value around = scalarOf(op.getOperand(), rewriter);
  if (!around)
    return rewriter.notifyMatchFailure(op, "what is around is no constant");
  SmallVector<Value> starts;
  for (auto [start, move] : llvm::zip_equal(op.getStartIndices(), moves)) {
    RankedTensorType scalar = typeOf(start);
    auto number = [&](int64_t value) -> Value {
      return stablehlo::ConstantOp::create(
          rewriter, op.getLoc(),
          DenseElementsAttr::get(
              scalar, rewriter.getIntegerAttr(scalar.getElementType(), value)));
    };
    Value zero = number(0), most = number(move);
    Value place = stablehlo::ClampOp::create(rewriter, op.getLoc(), scalar,
                                             zero, start, most);
    starts.push_back(
        stablehlo::SubtractOp::create(rewriter, op.getLoc(), most, place));
  }
  SmallVector<int64_t> interior(moves.size(), 0);
  Value padded =
      stablehlo::PadOp::create(rewriter, op.getLoc(), type.clone(shape),
                               op.getUpdate(), around, moves, moves, interior);
  rewriter.replaceOpWithNewOp<stablehlo::DynamicSliceOp>(
      op, type, padded, starts, type.getShape());
  return success();
}
