//===- LinalgToLoops.cpp - Structured ops as plain loops ------------------===//
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "shardc/KernelGen/Passes.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_LINALGTOLOOPSPASS
#include "shardc/KernelGen/Passes.h.inc"
} // namespace shardc

namespace {
struct LinalgToLoopsPass final
    : shardc::impl::LinalgToLoopsPassBase<LinalgToLoopsPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.hasPureBufferSemantics())
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      rewriter.setInsertionPoint(op);
      if (succeeded(linalg::linalgOpToLoops(rewriter, op)))
        rewriter.eraseOp(op);
    }
  }
};
} // namespace
