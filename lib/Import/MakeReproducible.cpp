//===- MakeReproducible.cpp - The same bits on every mesh -----------------===//
//
// Sums of floats become sums that no order changes (ExactSums.h); other
// combinations of them a tree over global indices. What is neither, and is not
// known to give the same bits however it is cut, is refused by name.
//
//===----------------------------------------------------------------------===//
#include "Reproducible.h"
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
using namespace shardc::import::reproducible;
using namespace shardc::stablehlo;

namespace shardc {
#define GEN_PASS_DEF_MAKEREPRODUCIBLEPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

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
