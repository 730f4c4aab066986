//===- LowerToLinalgPass.cpp - --spmd-lower-to-linalg ---------------------===//
#include "Reflectors.h"
#include "StableHLOToLinalg.h"
#include "shardc/Dialect/Kernel/IR/Kernel.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Linalg/Passes.h"

#include "mlir/Transforms/RegionUtils.h"

namespace shardc {
#define GEN_PASS_DEF_LOWERTOLINALGPASS
#include "shardc/Linalg/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;

/// Integers of less than eight bits are whole bytes where a program is called,
/// with their sign: its caller's arrays have them so, and machine code takes
/// the bits above them for zeros.
static void widenNarrowIntegers(func::FuncOp main) {
  auto widened = [](Type type) -> Type {
    auto tensor = dyn_cast<RankedTensorType>(type);
    auto element =
        tensor ? dyn_cast<IntegerType>(tensor.getElementType()) : nullptr;
    if (!element || element.getWidth() == 1 || element.getWidth() >= 8)
      return type;
    return tensor.clone(
        IntegerType::get(type.getContext(), 8, element.getSignedness()));
  };
  Block &block = main.getBody().front();
  OpBuilder b(main.getContext());
  b.setInsertionPointToStart(&block);
  for (BlockArgument argument : block.getArguments()) {
    Type narrow = argument.getType(), wide = widened(narrow);
    if (wide == narrow)
      continue;
    argument.setType(wide);
    auto twin =
        stablehlo::ConvertOp::create(b, argument.getLoc(), narrow, argument);
    argument.replaceAllUsesExcept(twin, twin);
  }
  Operation *end = block.getTerminator();
  b.setInsertionPoint(end);
  for (OpOperand &result : end->getOpOperands())
    if (Type wide = widened(result.get().getType());
        wide != result.get().getType())
      result.set(
          stablehlo::ConvertOp::create(b, end->getLoc(), wide, result.get()));
  main.setFunctionType(FunctionType::get(
      main.getContext(), block.getArgumentTypes(), end->getOperandTypes()));
}

/// A transpose of what is put together of parts puts transposed parts together:
/// each is written where it belongs in the end, as in a stack of columns.
static void transposeParts(func::FuncOp function) {
  SmallVector<stablehlo::TransposeOp> transposes;
  function.walk([&](stablehlo::TransposeOp op) { transposes.push_back(op); });
  for (stablehlo::TransposeOp op : transposes) {
    auto whole = op.getOperand().getDefiningOp<stablehlo::ConcatenateOp>();
    if (!whole || !whole->hasOneUse())
      continue;
    OpBuilder b(op);
    SmallVector<Value> parts;
    for (Value part : whole.getInputs())
      parts.push_back(stablehlo::TransposeOp::create(b, op.getLoc(), part,
                                                     op.getPermutation()));
    int64_t dim = llvm::find(op.getPermutation(), whole.getDimension()) -
                  op.getPermutation().begin();
    Value turned = stablehlo::ConcatenateOp::create(b, whole.getLoc(),
                                                    op.getType(), parts, dim);
    op.replaceAllUsesWith(turned);
    op.erase();
    whole.erase();
  }
}

namespace {
struct LowerToLinalgPass final
    : shardc::impl::LowerToLinalgPassBase<LowerToLinalgPass> {
  using Base::Base;

  void runOnOperation() override {
    lowering::LoweringTable table;
    lowering::addArithmetic(table);
    lowering::addConversions(table);
    lowering::addChlo(table);
    lowering::addShapes(table);
    lowering::addParts(table);
    lowering::addContractions(table);
    lowering::addReductions(table);
    lowering::addWindows(table);
    lowering::addAddressing(table);
    lowering::addOrdering(table);
    lowering::addControl(table);
    lowering::addFourier(table);
    lowering::addSolvers(table);
    lowering::addDecompositions(table);
    lowering::addEigenvalues(table);
    lowering::addReflectors(table);
    lowering::addPairs(table);
    if (libraries == "auto" || libraries == "library") {
      lowering::addLibraries(table, libraries == "library");
    } else if (libraries != "generated") {
      getOperation().emitError()
          << "libraries are \"" << libraries
          << "\", expected \"generated\", \"auto\" or \"library\"";
      return signalPassFailure();
    }
    for (func::FuncOp func : getOperation().getOps<func::FuncOp>()) {
      if (func.getName() == "main" && !func.isExternal() &&
          func.getBody().hasOneBlock())
        widenNarrowIntegers(func);
      transposeParts(func);
      lowering::Lowerer lowerer(table, &getContext());
      if (blockTransforms)
        lowerer.transformBlock = int64_t(machineOf(func).cacheBytes / 2);
      lowerer.manyThreads = manyThreads;
      lowerer.fixedLevel = fixedLevel;
      if (failed(lowerer.lowerFunction(func)))
        return signalPassFailure();
    }
    eraseDead();
    if (roundEachOp)
      keepRoundings();
  }

private:
  void keepRoundings() {
    getOperation().walk([](Operation *op) {
      if (auto fast = dyn_cast<arith::ArithFastMathInterface>(op);
          fast && isa<arith::ExtFOp, arith::TruncFOp>(op))
        op->setAttr(fast.getFastMathAttrName(),
                    arith::FastMathFlagsAttr::get(op->getContext(),
                                                  arith::FastMathFlags::none));
    });
  }

  // Broadcasts and constants that went into maps and bodies have no users left.
  void eraseDead() {
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
  }
};
} // namespace
