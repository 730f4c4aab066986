//===- Reductions.cpp - Sums that are missing, or too many ----------------===//

#include "Plant.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::fuzz;
using namespace shardc::spmd;

template <typename OpTy> static bool changeKind(ModuleOp module) {
  bool any = false;
  for (OpTy op : all<OpTy>(module)) {
    ReductionKind kind = op.getKind();
    bool boolean =
        cast<RankedTensorType>(op.getType()).getElementType().isInteger(1);
    ReductionKind other = kind == ReductionKind::Max   ? ReductionKind::Min
                          : kind == ReductionKind::And ? ReductionKind::Or
                          : kind == ReductionKind::Or  ? ReductionKind::And
                          : kind == ReductionKind::Xor ? ReductionKind::Or
                                                       : ReductionKind::Max;
    if (boolean && other == ReductionKind::Max)
      continue;
    op.setKind(other);
    any = true;
  }
  return any;
}

static bool dropAllReduce(ModuleOp module) {
  auto ops = all<AllReduceOp>(module);
  for (AllReduceOp op : ops) {
    op.replaceAllUsesWith(op.getInput());
    op.erase();
  }
  return !ops.empty();
}

static bool reduceTwice(ModuleOp module) {
  bool any = false;
  for (AllReduceOp op : all<AllReduceOp>(module)) {
    if (op.getKind() != ReductionKind::Sum)
      continue;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    Operation *again = builder.clone(*op);
    again->setOperand(0, op.getResult());
    op.getResult().replaceAllUsesExcept(again->getResult(0), again);
    any = true;
  }
  return any;
}

static bool dropAxis(ModuleOp module) {
  bool any = false;
  for (AllReduceOp op : all<AllReduceOp>(module))
    if (op.getAxes().size() > 1) {
      op.setAxesAttr(ArrayAttr::get(module.getContext(),
                                    op.getAxes().getValue().drop_back()));
      any = true;
    }
  return any;
}

static bool otherAxis(ModuleOp module) {
  bool any = false;
  MeshAttr mesh = meshOf(module);
  for (AllReduceOp op : all<AllReduceOp>(module)) {
    if (op.getAxes().size() != 1)
      continue;
    for (StringAttr axis : mesh.getAxisNames())
      if (axis != op.getAxes()[0]) {
        op.setAxesAttr(ArrayAttr::get(module.getContext(), {axis}));
        any = true;
        break;
      }
  }
  return any;
}

/// The initial value, or a bias, is added before the sum and not after it.
static bool addOnEveryRank(ModuleOp module) {
  bool any = false;
  for (AllReduceOp op : all<AllReduceOp>(module)) {
    if (op.getKind() != ReductionKind::Sum || !op->hasOneUse())
      continue;
    auto sum = dyn_cast<stablehlo::AddOp>(*op->user_begin());
    if (!sum || sum.getType() != op.getType())
      continue;
    Value other = sum->getOperand(0) == op.getResult() ? sum->getOperand(1)
                                                       : sum->getOperand(0);
    sum->moveBefore(op);
    // What is between needs not dominate.
    if (Operation *made = other.getDefiningOp();
        made &&
        (made->getBlock() != sum->getBlock() || !made->isBeforeInBlock(sum))) {
      sum->moveAfter(op);
      continue;
    }
    sum->replaceUsesOfWith(op.getResult(), op.getInput());
    sum->getResult(0).replaceAllUsesWith(op.getResult());
    op.getInputMutable().assign(sum->getResult(0));
    any = true;
  }
  return any;
}

//===----------------------------------------------------------------------===//
// Reductions that are made later
//===----------------------------------------------------------------------===//

/// Lets the only user of a reduction's result work on the rank's own part, and
/// combines what comes of it, where `isWrong`.
static bool
combineBehind(ModuleOp module,
              llvm::function_ref<bool(AllReduceOp, Operation *)> isWrong) {
  bool any = false;
  for (AllReduceOp op : all<AllReduceOp>(module)) {
    if (!op->hasOneUse())
      continue;
    Operation *user = *op->user_begin();
    if (user->getBlock() != op->getBlock() || user->getNumResults() != 1 ||
        user->getResult(0).getType() != op.getType() || !isWrong(op, user))
      continue;
    user->replaceUsesOfWith(op.getResult(), op.getInput());
    op->moveAfter(user);
    user->getResult(0).replaceAllUsesExcept(op.getResult(), op);
    op.getInputMutable().assign(user->getResult(0));
    any = true;
  }
  return any;
}

static bool divideByPart(ModuleOp module) {
  return combineBehind(module, [](AllReduceOp op, Operation *user) {
    return isa<stablehlo::DivOp>(user) &&
           user->getOperand(1) == op.getResult() &&
           user->getOperand(0) != op.getResult();
  });
}

static bool scaleExtreme(ModuleOp module) {
  return combineBehind(module, [](AllReduceOp op, Operation *user) {
    return (op.getKind() == ReductionKind::Max ||
            op.getKind() == ReductionKind::Min) &&
           isa<stablehlo::MulOp, stablehlo::NegOp>(user);
  });
}

/// Sums of sums are left as each rank's part.
static bool leaveSumsPartial(ModuleOp module) {
  bool any = false;
  for (AllReduceOp op : all<AllReduceOp>(module)) {
    if (op.getKind() != ReductionKind::Sum ||
        !op.getInput().getDefiningOp<stablehlo::AddOp>())
      continue;
    op.replaceAllUsesWith(op.getInput());
    op.erase();
    any = true;
  }
  return any;
}

/// What is combined behind a loop begins on every rank with what it is to begin
/// with once.
static bool startOnEveryRank(ModuleOp module) {
  bool any = false;
  DominanceInfo dominance;
  for (AllReduceOp op : all<AllReduceOp>(module)) {
    auto loop = op.getInput().getDefiningOp<stablehlo::WhileOp>();
    if (!loop || op.getKind() != ReductionKind::Sum || !op->hasOneUse())
      continue;
    auto total = dyn_cast<stablehlo::AddOp>(*op->user_begin());
    if (!total)
      continue;
    Value start = total->getOperand(0) == op.getResult() ? total->getOperand(1)
                                                         : total->getOperand(0);
    if (start.getType() != op.getInput().getType() ||
        !dominance.properlyDominates(start, loop))
      continue;
    loop->setOperand(cast<OpResult>(op.getInput()).getResultNumber(), start);
    total->getResult(0).replaceAllUsesWith(op.getResult());
    any = true;
  }
  return any;
}

/// Terms that are equal on all ranks of an axis count once.
static bool countTermsOnce(ModuleOp module) {
  bool any = false;
  MeshAttr mesh = meshOf(module);
  for (auto op : all<stablehlo::MulOp>(module)) {
    DenseElementsAttr factor;
    if (!matchPattern(op->getOperand(1), m_Constant(&factor)) ||
        !factor.isSplat() || factor.getNumElements() == 0)
      continue;
    auto isFactor = [&](int64_t size) {
      if (size < 2)
        return false;
      if (isa<FloatType>(factor.getElementType()))
        return factor.getSplatValue<APFloat>().convertToDouble() ==
               double(size);
      return isa<IntegerType>(factor.getElementType()) &&
             factor.getSplatValue<APInt>() == uint64_t(size);
    };
    if (!isFactor(mesh.getNumRanks()) &&
        llvm::none_of(mesh.getAxisSizes(), isFactor))
      continue;
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    any = true;
  }
  return any;
}

ArrayRef<Fault> shardc::fuzz::reductionFaults() {
  static const Fault faults[] = {
      {"all-reduce-missing", dropAllReduce},
      {"all-reduce-made-twice", reduceTwice},
      {"all-reduce-along-one-axis-of-two", dropAxis},
      {"all-reduce-along-another-axis", otherAxis},
      {"all-reduce-of-another-kind", changeKind<AllReduceOp>},
      {"initial-value-added-on-every-rank", addOnEveryRank},
      {"reduce-scatter-to-the-wrong-rank",
       [](ModuleOp m) {
         return editTables<ReduceScatterOp>(
             m,
             [](shardc::DimExchange &d, int64_t) { return rotate(d.needed); });
       }},
      {"reduce-scatter-of-another-kind", changeKind<ReduceScatterOp>},
      {"quotient-by-a-partial-value", divideByPart, "spmd-verify-local",
       "sum_of_quotients"},
      {"maximum-taken-for-linear", scaleExtreme, "spmd-verify-local",
       "sum_of_reduction"},
      {"sum-of-two-sums-left-partial", leaveSumsPartial, "spmd-sink-reductions",
       "sum_of_sums"},
      {"start-of-a-loop-on-each-rank", startOnEveryRank, "spmd-sink-reductions",
       "sum_in_a_loop"},
      {"equal-terms-counted-once", countTermsOnce, "spmd-sink-reductions",
       "manual_sum_of_equals"},
      {"second-axis-of-two-reductions-lost", dropAxis, "spmd-sink-reductions",
       "sum_of_reduction"},
      {"kept-part-of-the-next-rank",
       [](ModuleOp m) {
         return editTables<ReduceScatterOp>(
             m,
             [](shardc::DimExchange &d, int64_t) { return rotate(d.needed); });
       },
       "spmd-sink-reductions"},
  };
  return faults;
}
