//===- DecomposeOps.cpp - Rare ops in common ones -------------------------===//
//
// What stands here needs no rule and no lowering of its own: normalisations,
// random numbers, maps, older forms of products and broadcasts, tuples, tokens.
// Each family is a file (Decompose.h).
//
//===----------------------------------------------------------------------===//
#include "Decompose.h"
#include "RaggedDot.h"
#include "shardc/Import/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

namespace shardc {
#define GEN_PASS_DEF_DECOMPOSEOPSPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

namespace {
struct DecomposeOpsPass final
    : shardc::impl::DecomposeOpsPassBase<DecomposeOpsPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) { ops.push_back(op); });
    uint64_t drawn = 0;
    bool alone = isForOneDevice(getOperation());
    for (Operation *op : ops) {
      LogicalResult result =
          llvm::TypeSwitch<Operation *, LogicalResult>(op)
              .Case<BatchNormInferenceOp, BatchNormTrainingOp, BatchNormGradOp,
                    RngBitGeneratorOp, MapOp, DotOp, BroadcastOp,
                    GetTupleElementOp, OptimizationBarrierOp, EinsumOp,
                    UnaryEinsumOp, TorchIndexSelectOp, BitcastConvertOp,
                    ScatterOp, MinOp, MaxOp, chlo::ScanOp>(
                  [](auto op) { return decompose(op); })
              .Case<DotGeneralOp, ConvolutionOp>([](auto op) {
                convertSumBehind(op);
                return success();
              })
              .Case<CholeskyOp, TriangularSolveOp>([](auto op) {
                solveNarrowInF32(op);
                return success();
              })
              .Case([](chlo::RaggedDotOp op) { return decomposeRaggedDot(op); })
              .Case([](chlo::MulhiOp op) { return decomposeMulhi(op); })
              .Case([&](RngOp op) { return decompose(op, ++drawn); })
              .Case([&](CollectiveBroadcastOp op) {
                if (alone && dropExchange(op))
                  return success();
                return decompose(op);
              })
              .Case<AllGatherOp, AllReduceOp, ReduceScatterOp, AllToAllOp,
                    CollectivePermuteOp, PartitionIdOp, ReplicaIdOp>(
                  [&](auto op) {
                    if (alone)
                      (void)dropExchange(op);
                    return success();
                  })
              .Default(success());
      if (failed(result))
        return signalPassFailure();
    }
    ops.clear();
    getOperation().walk([&](Operation *op) {
      if (isa<WhileOp, CaseOp, IfOp, sdy::ManualComputationOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      dropCarriedTokens(op);
    dropTokens(getOperation().lookupSymbol<func::FuncOp>("main"));
    dropUnused(getOperation());
    // What those that went read.
    dropTokens(getOperation().lookupSymbol<func::FuncOp>("main"));
  }
};
} // namespace
