//===- ExpandOpenDepths.cpp - Pairs whose depth is said later -------------===//
#include "Plain.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Raise/Passes.h"

namespace shardc {
#define GEN_PASS_DEF_EXPANDOPENDEPTHSPASS
#include "shardc/Raise/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

/// Kernels of ops on all pairs have rows of scratch of known lengths.
static void expandOpenDepths(func::FuncOp func) {
  auto module = func->getParentOfType<ModuleOp>();
  spmd::MeshAttr mesh;
  for (spmd::MeshOp op : module.getOps<spmd::MeshOp>())
    mesh = op.getMesh();
  if (!mesh || !mesh.getExtents())
    return;
  SmallVector<spmd::AllPairsOpInterface> ops;
  func.walk([&](spmd::AllPairsOpInterface op) {
    auto forward = dyn_cast<spmd::AllPairsOp>(op.getOperation());
    bool isPlain = !forward || forward.getCombine() != spmd::PairCombine::TopK;
    for (auto [number, operand] : llvm::enumerate(op->getOperands()))
      for (auto [i, expr] : llvm::enumerate(op.getMap(number).getResults()))
        if (isPlain &&
            llvm::is_contained(
                {op.getDepthDim(), op.getFeatureDim()},
                int64_t(cast<AffineDimExpr>(expr).getPosition())) &&
            mesh.isOpen(
                cast<RankedTensorType>(operand.getType()).getDimSize(i)) &&
            !llvm::is_contained(ops, op))
          ops.push_back(op);
  });
  for (spmd::AllPairsOpInterface op : ops)
    expand(op);
}

namespace {
struct ExpandOpenDepthsPass final
    : shardc::impl::ExpandOpenDepthsPassBase<ExpandOpenDepthsPass> {
  using Base::Base;
  void runOnOperation() override { expandOpenDepths(getOperation()); }
};
} // namespace
