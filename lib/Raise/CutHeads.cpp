//===- CutHeads.cpp - Attention by heads, whose sums are whole ------------===//
//
// Rows of scores whose keys are cut would be summed in parts. Where there are
// heads, each rank takes some of them with all queries and keys instead: two
// exchanges of blocks, no more memory, and each row is one rank's, so that it
// is summed in one order on every mesh (docs/Rationale/Reproducible.md).
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Builders.h"
#include "shardc/Analysis/CutDims.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Raise/Passes.h"

namespace shardc {
#define GEN_PASS_DEF_CUTHEADSPASS
#include "shardc/Raise/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

static unsigned dimOf(AffineExpr expr) {
  return cast<AffineDimExpr>(expr).getPosition();
}

namespace {
using Axes = SmallVector<StringAttr>;

/// What the axes of a function's mesh may cut.
class Cuts {
public:
  Cuts(func::FuncOp function, MeshOp mesh)
      : mesh(FlatSymbolRefAttr::get(mesh.getSymNameAttr())) {
    for (StringAttr axis : mesh.getMesh().getAxisNames())
      byAxis.emplace_back(axis, CutDims(function, axis.getValue()));
  }

  /// The axes that may cut `dim` of `value`.
  Axes of(Value value, int64_t dim) const {
    Axes axes;
    for (const auto &[axis, cuts] : byAxis)
      if (cuts.mayBeCut(value, dim))
        axes.push_back(axis);
    return axes;
  }

  FlatSymbolRefAttr mesh;

private:
  std::vector<std::pair<StringAttr, CutDims>> byAxis;
};

/// An op on all pairs whose rows may be cut by `axes`, and the batch dim that
/// they are to cut instead.
class HeadCutter {
public:
  HeadCutter(AllPairsOpInterface op, const Cuts &cuts)
      : op(op), cuts(cuts), builder(op->getContext()) {}

  bool find();
  void apply();

private:
  /// Calls `visit` with each tensor, its dim and which dim of the op that is.
  void forEachDim(llvm::function_ref<void(Value, int64_t, int64_t)> visit);
  bool isSummed(int64_t dim) {
    return llvm::any_of(llvm::seq(op->getNumResults()), [&](unsigned result) {
      return !op.getResultMap(result).isFunctionOfDim(dim);
    });
  }
  /// As it was: rows cut where they may have been, heads whole.
  Value before(Value place, Value like, AffineMap map);
  /// Heads cut, and rows whole.
  Value byHeads(Value value, AffineMap map);
  Value constrain(Value value, ArrayRef<DimShardingAttr> dims);
  DimShardingAttr dimSharding(ArrayRef<StringAttr> by, bool open) {
    return DimShardingAttr::get(op->getContext(), by, {},
                                /*dynamicSizes=*/false, open, /*priority=*/-1);
  }

  AllPairsOpInterface op;
  const Cuts &cuts;
  OpBuilder builder;
  int64_t head = -1;
  Axes axes;
};
} // namespace

void HeadCutter::forEachDim(
    llvm::function_ref<void(Value, int64_t, int64_t)> visit) {
  auto visitAll = [&](ValueRange values, int64_t first) {
    for (auto [i, value] : llvm::enumerate(values))
      for (auto [dim, expr] :
           llvm::enumerate(op.getMap(first + i).getResults()))
        visit(value, dim, dimOf(expr));
  };
  visitAll(op->getOperands(), 0);
  visitAll(op->getResults(), op->getNumOperands());
}

bool HeadCutter::find() {
  auto forward = dyn_cast<AllPairsOp>(op.getOperation());
  if (!op.getAccumulatorType().isF32() ||
      (forward && forward.getCombine() != PairCombine::Softmax))
    return false;
  int64_t numBatch = op.getNumBatchDims(), query = op.getQueryDim(),
          key = op.getKeyDim();
  llvm::SmallBitVector isCut(op.getNumDims());
  bool cutsOther = false;
  forEachDim([&](Value value, int64_t place, int64_t dim) {
    Axes by = cuts.of(value, place);
    if (by.empty())
      return;
    isCut.set(dim);
    if (!isSummed(dim))
      return;
    cutsOther |= dim != query && dim != key;
    for (StringAttr axis : by)
      if (!llvm::is_contained(axes, axis))
        axes.push_back(axis);
  });
  if (axes.empty() || cutsOther)
    return false;
  SmallVector<int64_t> sizes = op.getDimSizes();
  for (int64_t dim = 0; dim < numBatch; ++dim) {
    bool isOfAll =
        !isSummed(dim) && llvm::all_of(llvm::seq(3), [&](int64_t operand) {
          return op.getMap(operand).isFunctionOfDim(dim);
        });
    if (isOfAll && !isCut[dim] && sizes[dim] > 1 &&
        (head < 0 || sizes[dim] > sizes[head]))
      head = dim;
  }
  return head >= 0;
}

Value HeadCutter::constrain(Value value, ArrayRef<DimShardingAttr> dims) {
  auto sharding = ShardingAttr::get(op->getContext(), cuts.mesh, dims);
  return ConstrainOp::create(builder, op->getLoc(), value.getType(), value,
                             sharding);
}

Value HeadCutter::before(Value place, Value like, AffineMap map) {
  SmallVector<DimShardingAttr> dims;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    int64_t dim = dimOf(expr);
    bool isRow = dim == op.getQueryDim() || dim == op.getKeyDim();
    dims.push_back(dimSharding(isRow ? cuts.of(like, i) : Axes(), dim != head));
  }
  return constrain(place, dims);
}

Value HeadCutter::byHeads(Value value, AffineMap map) {
  SmallVector<DimShardingAttr> dims;
  for (AffineExpr expr : map.getResults()) {
    int64_t dim = dimOf(expr);
    bool isRow = dim == op.getQueryDim() || dim == op.getKeyDim();
    dims.push_back(dim == head ? dimSharding(axes, /*open=*/false)
                               : dimSharding({}, /*open=*/!isRow));
  }
  return constrain(value, dims);
}

void HeadCutter::apply() {
  // What else scores are made of is cut as these ask for it.
  builder.setInsertionPoint(op);
  for (int64_t i = 0; i < op.getFirstExtra(); ++i) {
    Value operand = op->getOperand(i);
    AffineMap map = op.getMap(i);
    op->setOperand(i, byHeads(before(operand, operand, map), map));
  }
  builder.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    if (result.use_empty())
      continue;
    AffineMap map = op.getResultMap(result.getResultNumber());
    Value made = byHeads(result, map), back = before(made, result, map);
    result.replaceAllUsesExcept(back, made.getDefiningOp());
  }
}

namespace {
struct CutHeadsPass final : shardc::impl::CutHeadsPassBase<CutHeadsPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<AllPairsOpInterface> ops;
    getOperation().walk([&](AllPairsOpInterface op) { ops.push_back(op); });
    MeshOp mesh =
        ops.empty() ? nullptr
                    : getOnlyMesh(getOperation()->getParentOfType<ModuleOp>());
    if (!mesh)
      return;
    // Of all, before values are there that it knows nothing of.
    Cuts cuts(getOperation(), mesh);
    std::vector<HeadCutter> found;
    for (AllPairsOpInterface op : ops)
      if (HeadCutter cutter(op, cuts); cutter.find())
        found.push_back(cutter);
    for (HeadCutter &cutter : found)
      cutter.apply();
  }
};
} // namespace
