//===- Fills.cpp - Buffers that are set to a number -----------------------===//
//
// What is added to is set to a number before. Who writes to all of a buffer
// first may start from this number, and nobody needs to store and load it.
//
//===----------------------------------------------------------------------===//
#include "Fills.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

bool gpukernels::isHarmless(Operation *op) {
  return isa<memref::AllocOp>(op) || isMemoryEffectFree(op);
}

bool gpukernels::isOnlyName(Value root) {
  if (auto argument = dyn_cast<BlockArgument>(root))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  return root.getDefiningOp<memref::AllocOp>() != nullptr;
}

bool gpukernels::mayTouch(Operation *op, Value memref, Value root) {
  if (isHarmless(op))
    return false;
  if (isa<CallOpInterface>(op))
    return true;
  WalkResult walked = op->walk([&](Operation *inner) {
    if (isa<ViewLikeOpInterface>(inner))
      return WalkResult::advance();
    bool touches = llvm::any_of(inner->getOperands(), [&](Value operand) {
      return isa<BaseMemRefType>(operand.getType()) &&
             rootOfView(operand) == root && !areDisjoint(operand, memref);
    });
    return touches ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walked.wasInterrupted();
}

static bool isMemref(Value value) { return isa<MemRefType>(value.getType()); }

Value gpukernels::filledWith(linalg::GenericOp op, Value memref) {
  if (op.getNumDpsInits() != 1 ||
      wholeBehind(op.getDpsInitOperand(0)->get()) != wholeBehind(memref) ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation() ||
      llvm::any_of(op.getDpsInputs(), isMemref) ||
      !llvm::hasSingleElement(*op.getBody()))
    return {};
  Value value = op.getBody()->getTerminator()->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != op.getBody())
    return value;
  return argument.getArgNumber() < op.getNumDpsInputs()
             ? op.getDpsInputOperand(argument.getArgNumber())->get()
             : Value();
}

linalg::GenericOp gpukernels::findFill(Operation *op, Value memref,
                                       Value &start) {
  Value root = rootOfView(memref);
  if (!isOnlyName(root))
    return {};
  int64_t looked = 0;
  for (Operation *before = op->getPrevNode(); before && looked < kMostOps;
       before = before->getPrevNode()) {
    if (isHarmless(before))
      continue;
    ++looked;
    if (auto generic = dyn_cast<linalg::GenericOp>(before))
      if ((start = filledWith(generic, memref)))
        return generic;
    if (mayTouch(before, memref, root))
      break;
  }
  return {};
}

/// Lets `op`, which reads `inputs`, start from numbers; `mapOf` an output is
/// where the op's loops write.
static void foldFillsOf(DestinationStyleOpInterface op, ValueRange inputs,
                        llvm::function_ref<AffineMap(OpOperand &)> mapOf) {
  SmallVector<Attribute> starts;
  SmallVector<linalg::GenericOp> fills;
  for (OpOperand &output : op.getDpsInitsMutable()) {
    Value start;
    TypedAttr number;
    linalg::GenericOp fill;
    // All of it is written.
    if (isMemref(output.get()) && mapOf(output).isProjectedPermutation())
      fill = findFill(op, output.get(), start);
    bool isNumber = fill && matchPattern(start, m_Constant(&number)) &&
                    isa<FloatAttr, IntegerAttr>(number);
    starts.push_back(isNumber ? Attribute(number)
                              : UnitAttr::get(op.getContext()));
    if (isNumber)
      fills.push_back(fill);
  }
  // An op that reads what it writes sees the number in one of them alone.
  for (Value input : inputs)
    for (Value output : op.getDpsInits())
      if (isMemref(input) && rootOfView(input) == rootOfView(output))
        return;
  if (fills.empty())
    return;
  for (linalg::GenericOp fill : fills)
    fill.erase();
  spmd::contract::Starts::set(op, ArrayAttr::get(op.getContext(), starts));
}

void gpukernels::foldFills(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0)
    return;
  foldFillsOf(op, op.getDpsInputs(), [&](OpOperand &output) {
    return op.getMatchingIndexingMap(&output);
  });
}

void gpukernels::foldFills(spmd::PairStepOp op) {
  // Lists grow in memory.
  if (op.getCombine() == spmd::PairCombine::TopK)
    return;
  unsigned first = op.getInitsMutable().begin()->getOperandNumber();
  foldFillsOf(op, op.getShapedInputs(), [&](OpOperand &output) {
    return op.getInitMap(output.getOperandNumber() - first);
  });
}
