//===- StructuredOps.cpp - Questions about linalg ops and buffers ---------===//
#include "shardc/Analysis/StructuredOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Support/Views.h"

using namespace mlir;

namespace shardc {

bool areOneInPlace(Value a, Value b) {
  auto first = dyn_cast<BlockArgument>(a), second = dyn_cast<BlockArgument>(b);
  if (!first || !second || first.getOwner() != second.getOwner())
    return false;
  auto function = dyn_cast<func::FuncOp>(first.getOwner()->getParentOp());
  if (!function)
    return false;
  auto writes = [&](BlockArgument result, BlockArgument argument) {
    IntegerAttr number =
        spmd::contract::InPlace::ofArgument(function, result.getArgNumber());
    return number && number.getInt() == argument.getArgNumber();
  };
  return writes(first, second) || writes(second, first);
}

Value wholeBehind(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    if (!isa<memref::ExpandShapeOp, memref::CollapseShapeOp, memref::CastOp>(
            op))
      break;
    memref = op->getOperand(0);
  }
  return memref;
}

bool areDisjoint(Value a, Value b) {
  auto first = wholeBehind(a).getDefiningOp<memref::SubViewOp>(),
       second = wholeBehind(b).getDefiningOp<memref::SubViewOp>();
  if (!first || !second || first.getSource() != second.getSource())
    return false;
  // Where both step by ones, intervals of one dim that do not overlap.
  for (auto [i, low, size, step] :
       llvm::enumerate(first.getStaticOffsets(), first.getStaticSizes(),
                       first.getStaticStrides())) {
    int64_t otherLow = second.getStaticOffsets()[i],
            otherSize = second.getStaticSizes()[i];
    if (step == 1 && second.getStaticStrides()[i] == 1 &&
        llvm::none_of(ArrayRef<int64_t>{low, size, otherLow, otherSize},
                      ShapedType::isDynamic) &&
        (low + size <= otherLow || otherLow + otherSize <= low))
      return true;
  }
  return false;
}

bool readsAsItWrites(Operation *op, Value argument, Value result) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumReductionLoops())
    return false;
  // What is loaded by index may be any element.
  bool isPlain = true;
  generic->walk([&](Operation *inner) {
    if (inner != op)
      for (Value operand : inner->getOperands())
        isPlain &=
            !isa<BaseMemRefType>(operand.getType()) ||
            (rootOfView(operand) != argument && rootOfView(operand) != result);
  });
  OpOperand *written = nullptr;
  for (OpOperand &output : generic.getDpsInitsMutable())
    if (rootOfView(output.get()) == result)
      written = &output;
  if (!isPlain || !written)
    return false;
  AffineMap map = generic.getMatchingIndexingMap(written);
  if (!map.isPermutation())
    return false;
  return llvm::all_of(generic->getOpOperands(), [&](OpOperand &operand) {
    Value root = rootOfView(operand.get());
    if (root != argument && root != result)
      return isOwnMemory(root);
    return wholeBehind(operand.get()) == root &&
           operand.get().getType() == written->get().getType() &&
           generic.getMatchingIndexingMap(&operand) == map;
  });
}

bool isOwnMemory(Value root) {
  if (auto argument = dyn_cast<BlockArgument>(root))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  return isa<memref::AllocOp, memref::GetGlobalOp>(root.getDefiningOp());
}

Operation *combinerOf(linalg::GenericOp op, unsigned index) {
  BlockArgument argument = op.getRegionOutputArgs()[index];
  Value yielded = op.getBody()->getTerminator()->getOperand(index);
  Operation *combiner = yielded.getDefiningOp();
  if (!combiner || combiner->getBlock() != op.getBody() ||
      !argument.hasOneUse() || *argument.user_begin() != combiner ||
      combiner->getNumOperands() != 2)
    return nullptr;
  return combiner;
}

bool isContraction(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1 ||
      op.getNumDpsInputs() != 2)
    return false;
  Operation *combiner = combinerOf(op, 0);
  if (!combiner || !isa<arith::AddFOp, arith::AddIOp>(combiner))
    return false;
  Value term = combiner->getOperand(0) == op.getRegionOutputArgs()[0]
                   ? combiner->getOperand(1)
                   : combiner->getOperand(0);
  auto through = [](Value value) {
    while (auto *cast = value.getDefiningOp()) {
      // A factor that is subtracted is one with the other sign.
      if (!isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp,
               arith::NegFOp>(cast))
        break;
      value = cast->getOperand(0);
    }
    return value;
  };
  Operation *product = through(term).getDefiningOp();
  if (!product || !isa<arith::MulFOp, arith::MulIOp>(product))
    return false;
  return isa<BlockArgument>(through(product->getOperand(0))) &&
         isa<BlockArgument>(through(product->getOperand(1)));
}

} // namespace shardc
