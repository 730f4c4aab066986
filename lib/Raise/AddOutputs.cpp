//===- AddOutputs.cpp - The output of attention that nobody wants ---------===//
//
// A gradient is raised with its attention: maxima and sums of rows are what
// both have. Where a program wants the gradient alone, as of a loss that is
// linear in the output, JAX leaves out the product of probabilities and values.
// From the gradient of the values, which reads probabilities and the cotangent,
// and the product of the cotangent and the values, it is known what it was.
//
//===----------------------------------------------------------------------===//
#include "Reader.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Raise/Passes.h"

namespace shardc {
#define GEN_PASS_DEF_ADDOUTPUTSPASS
#include "shardc/Raise/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using raise::DotOperand;
using raise::dotOperand;

/// True if `value` is made of exponentials that are summed up, a few
/// elementwise ops away. Where they are not, as where the logarithms of sums
/// were kept, the gradient needs nothing of its attention.
static bool hasSummedExponential(Value value, int depth = 6) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (isa<stablehlo::ExpOp>(op))
    return llvm::any_of(op->getUsers(), llvm::IsaPred<stablehlo::ReduceOp>);
  return op->getNumRegions() == 0 && !isa<stablehlo::DotGeneralOp>(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return hasSummedExponential(operand, depth - 1);
         });
}

/// The later of two values in their block; null if one is of another.
static Operation *laterOf(Value a, Value b, Block *block) {
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  if (!first || first->getBlock() != block)
    return nullptr;
  if (!second || second->getBlock() != block)
    return first;
  return first->isBeforeInBlock(second) ? second : first;
}

/// Adds the output that `gradient`, of values, and `other`, cotangent times
/// values, are of; `right` says which operand of each is the cotangent.
static bool addOutput(stablehlo::DotGeneralOp gradient, bool right,
                      stablehlo::DotGeneralOp other, bool otherRight) {
  DotOperand p = dotOperand(gradient, !right),
             dout = dotOperand(gradient, right),
             dout2 = dotOperand(other, otherRight),
             values = dotOperand(other, !otherRight);
  // dvalue[b, k, e] = Σ_q p[b, q, k] dout[b, q, e] and dp[b, q, k] = Σ_e
  // dout[b, q, e] value[b, k, e].
  for (const DotOperand *operand : {&p, &dout, &dout2, &values})
    if (operand->free.size() != 1)
      return false;
  if (dout.value != dout2.value || p.contracting.size() != 1 ||
      values.contracting.size() != 1 ||
      dout.contracting.front() != dout2.free.front() ||
      dout2.contracting.front() != dout.free.front() ||
      p.batching.size() != values.batching.size())
    return false;
  int64_t keys = p.free.front(), valueKeys = values.free.front();
  auto pType = cast<RankedTensorType>(p.value.getType()),
       valueType = cast<RankedTensorType>(values.value.getType());
  if (pType.getDimSize(keys) != valueType.getDimSize(valueKeys) ||
      pType.getElementType() != valueType.getElementType())
    return false;
  // The output is there, of these probabilities or of others.
  for (auto &[value, dim] :
       {std::pair(p.value, keys), std::pair(values.value, valueKeys)})
    for (Operation *user : value.getUsers())
      if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(user))
        for (bool side : {false, true})
          if (DotOperand mine = dotOperand(dot, side);
              mine.value == value && llvm::is_contained(mine.contracting, dim))
            return false;
  SmallVector<int64_t> valueBatch, shape;
  for (auto [mine, cotangent] : llvm::zip_equal(p.batching, dout.batching)) {
    auto at = llvm::find(dout2.batching, cotangent);
    if (at == dout2.batching.end())
      return false;
    valueBatch.push_back(values.batching[at - dout2.batching.begin()]);
    shape.push_back(pType.getDimSize(mine));
  }
  Operation *after = laterOf(p.value, values.value, gradient->getBlock());
  if (!after)
    return false;
  shape.push_back(pType.getDimSize(p.contracting.front()));
  shape.push_back(valueType.getDimSize(values.contracting.front()));
  OpBuilder b(gradient.getContext());
  b.setInsertionPointAfter(after);
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(
      b.getContext(), p.batching, valueBatch, {keys}, {valueKeys});
  auto output = cast<stablehlo::DotGeneralOp>(b.clone(*gradient));
  output.getLhsMutable().assign(p.value);
  output.getRhsMutable().assign(values.value);
  output.setDotDimensionNumbersAttr(numbers);
  output.getResult().setType(
      cast<RankedTensorType>(gradient.getType()).clone(shape));
  return true;
}

/// Writes the product of probabilities and values where `func` has its gradient
/// alone. Nobody uses it: what is not raised with it goes with the next
/// clean-up.
static void addOutputs(func::FuncOp func) {
  SmallVector<stablehlo::DotGeneralOp> dots;
  func.walk([&](stablehlo::DotGeneralOp dot) { dots.push_back(dot); });
  for (stablehlo::DotGeneralOp gradient : dots)
    for (bool right : {false, true}) {
      if (!hasSummedExponential(right ? gradient.getLhs() : gradient.getRhs()))
        continue;
      bool done = false;
      for (Operation *user :
           (right ? gradient.getRhs() : gradient.getLhs()).getUsers())
        if (auto other = dyn_cast<stablehlo::DotGeneralOp>(user);
            other && !done && other != gradient &&
            other->getBlock() == gradient->getBlock())
          for (bool otherRight : {false, true})
            done = done || addOutput(gradient, right, other, otherRight);
    }
}

namespace {
struct AddOutputsPass final : shardc::impl::AddOutputsPassBase<AddOutputsPass> {
  using Base::Base;
  void runOnOperation() override { addOutputs(getOperation()); }
};
} // namespace
