//===- AddOutputs.cpp - The output of attention that nobody wants ---------===//
//
// A gradient is raised with its attention: maxima and sums of rows are what
// both have. Where a program wants the gradient alone, as of a loss that is
// linear in the output, JAX leaves out the product of probabilities and values.
// From the gradient of the values, which reads probabilities and the cotangent,
// and the product of the cotangent and the values, it is known what it was.
//
//===----------------------------------------------------------------------===//
#include "AddOutputs.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;
using namespace shardc;

namespace {
/// One operand of a product: its batch dims and contracted dims, in the
/// product's order, and the one dim it has besides.
struct Side {
  Value value;
  SmallVector<int64_t> batch, contracted;
  int64_t free = -1;
};
} // namespace

static Side sideOf(stablehlo::DotGeneralOp dot, bool right) {
  stablehlo::DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
  Side side{right ? dot.getRhs() : dot.getLhs(), {}, {}, -1};
  side.batch.assign(right ? numbers.getRhsBatchingDimensions()
                          : numbers.getLhsBatchingDimensions());
  side.contracted.assign(right ? numbers.getRhsContractingDimensions()
                               : numbers.getLhsContractingDimensions());
  int64_t rank = cast<RankedTensorType>(side.value.getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(side.batch, dim) &&
        !llvm::is_contained(side.contracted, dim))
      side.free = side.free == -1 ? dim : -2;
  return side;
}

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
  Side p = sideOf(gradient, !right), dout = sideOf(gradient, right),
       dout2 = sideOf(other, otherRight), values = sideOf(other, !otherRight);
  // dvalue[b, k, e] = Σ_q p[b, q, k] dout[b, q, e] and dp[b, q, k] = Σ_e
  // dout[b, q, e] value[b, k, e].
  if (dout.value != dout2.value || p.free < 0 || values.free < 0 ||
      p.contracted.size() != 1 || values.contracted.size() != 1 ||
      dout.contracted.front() != dout2.free ||
      dout2.contracted.front() != dout.free ||
      p.batch.size() != values.batch.size())
    return false;
  auto pType = cast<RankedTensorType>(p.value.getType()),
       valueType = cast<RankedTensorType>(values.value.getType());
  if (pType.getDimSize(p.free) != valueType.getDimSize(values.free) ||
      pType.getElementType() != valueType.getElementType())
    return false;
  // The output is there, of these probabilities or of others.
  for (auto &[value, dim] :
       {std::pair(p.value, p.free), std::pair(values.value, values.free)})
    for (Operation *user : value.getUsers())
      if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(user))
        for (bool side : {false, true})
          if (Side mine = sideOf(dot, side);
              mine.value == value && llvm::is_contained(mine.contracted, dim))
            return false;
  SmallVector<int64_t> valueBatch, shape;
  for (auto [mine, cotangent] : llvm::zip_equal(p.batch, dout.batch)) {
    auto at = llvm::find(dout2.batch, cotangent);
    if (at == dout2.batch.end())
      return false;
    valueBatch.push_back(values.batch[at - dout2.batch.begin()]);
    shape.push_back(pType.getDimSize(mine));
  }
  Operation *after = laterOf(p.value, values.value, gradient->getBlock());
  if (!after)
    return false;
  shape.push_back(pType.getDimSize(p.contracted.front()));
  shape.push_back(valueType.getDimSize(values.contracted.front()));
  OpBuilder b(gradient.getContext());
  b.setInsertionPointAfter(after);
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(
      b.getContext(), p.batch, valueBatch, {p.free}, {values.free});
  auto output = cast<stablehlo::DotGeneralOp>(b.clone(*gradient));
  output.getLhsMutable().assign(p.value);
  output.getRhsMutable().assign(values.value);
  output.setDotDimensionNumbersAttr(numbers);
  output.getResult().setType(
      cast<RankedTensorType>(gradient.getType()).clone(shape));
  return true;
}

void raise::addOutputs(func::FuncOp func) {
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
