//===- NearMiss.cpp - Which op makes it no attention ----------------------===//
//
// For people: a softmax of products of pairs that was left as it is. On the way
// from the product to the exponential, and from there to the product with
// values, ops go element by element, move elements, or make numbers of rows.
// The first that does anything else is what broke the pattern.
//
//===----------------------------------------------------------------------===//
#include "NearMiss.h"
#include "Match.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Support/ElementwiseTrait.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

static int64_t countOf(Value value) {
  RankedTensorType type = typeOf(value);
  return type && type.hasStaticShape() ? type.getNumElements() : 0;
}

/// True for what goes element by element or moves elements.
static bool passes(Operation *op) {
  return op->hasTrait<shardc::stablehlo::ElementwiseTrait>() ||
         isa<stablehlo::ConvertOp, stablehlo::TransposeOp, stablehlo::ReshapeOp,
             stablehlo::BroadcastInDimOp, stablehlo::OptimizationBarrierOp>(op);
}

/// True for a product that has more elements than what it is made of: one for
/// each pair of something.
static bool isOfPairs(Operation *op) {
  auto dot = dyn_cast<stablehlo::DotGeneralOp>(op);
  return dot && countOf(dot.getResult()) >
                    countOf(dot.getLhs()) + countOf(dot.getRhs());
}

/// The first op behind `value` that takes scores together, if there is one.
static Operation *findBehind(Value value) {
  SmallVector<Value> worklist = {value};
  llvm::SmallPtrSet<Operation *, 32> seen;
  while (!worklist.empty() && seen.size() < 64) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (passes(op) || isa<stablehlo::SliceOp>(op)) {
      llvm::append_range(worklist, op->getOperands());
      continue;
    }
    if (isa<stablehlo::ReduceOp, stablehlo::ConstantOp, stablehlo::IotaOp>(op))
      continue;
    for (Value operand : op->getOperands())
      if (isBefore(operand, 32, isOfPairs))
        return op;
  }
  return nullptr;
}

/// The first op that takes probabilities, made of `value` in few steps,
/// together; null if that is a product with values.
static Operation *findAhead(Value value, int64_t count, int depth = 12) {
  for (Operation *user : value.getUsers()) {
    if (isa<stablehlo::ReduceOp>(user) ||
        user->hasTrait<OpTrait::IsTerminator>())
      continue;
    // A loss takes something off: that is no attention.
    if (passes(user) &&
        !isa<stablehlo::SubtractOp, stablehlo::AddOp, stablehlo::CompareOp>(
            user)) {
      if (depth > 0 && user->getNumResults() == 1)
        if (Operation *found = findAhead(user->getResult(0), count, depth - 1))
          return found;
      continue;
    }
    auto dot = dyn_cast<stablehlo::DotGeneralOp>(user);
    if (dot && countOf(dot.getResult()) == count && !isOfPairs(dot))
      return user;
    if (isa<stablehlo::ConvolutionOp, stablehlo::SortOp, chlo::TopKOp,
            stablehlo::ReduceWindowOp, stablehlo::GatherOp>(user))
      return user;
  }
  return nullptr;
}

SmallVector<Breaker> raise::findBreakers(func::FuncOp func,
                                         DenseSet<Operation *> &softmaxes) {
  SmallVector<Breaker> found;
  func.walk([&](stablehlo::ExpOp exp) {
    auto type = typeOf(exp.getResult());
    if (!type || type.getRank() < 2 || !type.hasStaticShape() ||
        llvm::none_of(exp->getUsers(), [](Operation *user) {
          return isa<stablehlo::ReduceOp>(user) ||
                 (isa<stablehlo::SelectOp>(user) &&
                  llvm::any_of(user->getUsers(),
                               llvm::IsaPred<stablehlo::ReduceOp>));
        }))
      return;
    Operation *behind = findBehind(exp.getOperand()), *ahead = nullptr;
    if (!behind && isBefore(exp.getOperand(), 64, isOfPairs))
      ahead = findAhead(exp.getResult(), type.getNumElements());
    Operation *op = behind ? behind : ahead;
    if (!op)
      return;
    softmaxes.insert(exp);
    if (llvm::any_of(found,
                     [&](const Breaker &other) { return other.op == op; }))
      return;
    std::string name = ("'" + op->getName().getStringRef() + "'").str();
    found.push_back({op, behind ? name + " takes scores of several pairs "
                                         "together before their softmax"
                                : name + " mixes the probabilities before "
                                         "values are summed up with them"});
  });
  return found;
}

Operation *raise::findAddition(Value probability) {
  Operation *found = nullptr;
  auto hasExponential = [](Value value) {
    return isBefore(value, 32, llvm::IsaPred<stablehlo::ExpOp>);
  };
  isBefore(probability, 32, [&](Operation *op) {
    if (isa<stablehlo::ExpOp>(op))
      return true;
    if (isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::MaxOp>(op) &&
        llvm::any_of(op->getOperands(), hasExponential))
      found = op;
    return found != nullptr;
  });
  return found;
}

Operation *raise::findDivision(Value probability, Operation *otherwise) {
  isBefore(probability, 32, [&](Operation *op) {
    if (isa<stablehlo::DivOp>(op))
      otherwise = op;
    return isa<stablehlo::DivOp>(op);
  });
  return otherwise;
}
