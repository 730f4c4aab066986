//===- GeneratePairKernels.cpp - Loops for pair steps ---------------------===//
//
// Steps that are alike, as those of one ring are, share one function.
//
//===----------------------------------------------------------------------===//
#include "PairKernels.h"
#include "shardc/KernelGen/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_GENERATEPAIRKERNELSPASS
#include "shardc/KernelGen/Passes.h.inc"
} // namespace shardc

using namespace shardc;
using namespace shardc::cpu;

/// True if one function can do the work of both.
static bool areAlike(spmd::PairStepOp a, spmd::PairStepOp c) {
  if (a->getOperandTypes() != c->getOperandTypes() ||
      a->getPropertiesAsAttribute() != c->getPropertiesAsAttribute())
    return false;
  for (auto [x, y] : llvm::zip(a->getRegions(), c->getRegions()))
    if (!OperationEquivalence::isRegionEquivalentTo(
            &x, &y, OperationEquivalence::IgnoreLocations))
      return false;
  return true;
}

/// One function for `steps`, which are alike, and a call in place of each.
static void outline(ArrayRef<spmd::PairStepOp> steps, StringRef name,
                    unsigned vectorBits) {
  spmd::PairStepOp first = steps.front();
  auto function = first->getParentOfType<func::FuncOp>();
  OpBuilder b(function);
  Location loc = first.getLoc();
  SmallVector<Type> types(first->getOperandTypes());
  types.push_back(MemRefType::get({ShapedType::kDynamic}, b.getI8Type()));
  auto callee = func::FuncOp::create(b, loc, name, b.getFunctionType(types, {}));
  callee.setPrivate();
  callee->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
  callee->setAttr("passthrough", b.getStrArrayAttr({"noinline"}));
  Block *block = callee.addEntryBlock();
  b.setInsertionPointToStart(block);
  int64_t bytes = emitPairStep(b, first, block->getArguments().drop_back(), block->getArguments().back(), vectorBits);
  func::ReturnOp::create(b, loc);
  for (spmd::PairStepOp step : steps) {
    b.setInsertionPoint(step);
    Value scratch = memref::AllocOp::create(b, step.getLoc(), MemRefType::get({bytes}, b.getI8Type()), ValueRange(), b.getI64IntegerAttr(64));
    SmallVector<Value> operands(step->getOperands());
    operands.push_back(memref::CastOp::create(b, step.getLoc(), types.back(), scratch));
    func::CallOp::create(b, step.getLoc(), callee, operands);
    step.erase();
  }
}

namespace {
struct GeneratePairKernelsPass final
    : shardc::impl::GeneratePairKernelsPassBase<GeneratePairKernelsPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<SmallVector<spmd::PairStepOp>> kinds;
    bool failed = false;
    getOperation().walk([&](spmd::PairStepOp op) {
      failed |= mlir::failed(verifyPairStep(op));
      for (auto &kind : kinds)
        if (areAlike(kind.front(), op))
          return kind.push_back(op);
      kinds.push_back({op});
    });
    if (failed)
      return signalPassFailure();
    for (auto [number, kind] : llvm::enumerate(kinds)) {
      if (kind.size() > 1) {
        outline(kind, ("__shardc_pair_step_" + Twine(number)).str(), vectorBits);
        continue;
      }
      OpBuilder b(kind.front());
      emitPairStep(b, kind.front(), kind.front()->getOperands(), {}, vectorBits);
      kind.front().erase();
    }
  }
};
} // namespace
