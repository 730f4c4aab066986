//===- ControlFlow.cpp - What decides which region runs -------------------===//

#include "shardc/Analysis/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;

/// Values `from` become `to`, place by place. What is left over on malformed IR
/// is the verifier's business.
static void addEdges(ControlFlow &flow, ValueRange from, ValueRange to) {
  for (auto [source, target] : llvm::zip(from, to))
    flow.edges.emplace_back(source, target);
}

/// The terminator of a region of one block; null if it has none.
static Operation *terminatorOf(Region &region) {
  if (!region.hasOneBlock() || !region.front().mightHaveTerminator())
    return nullptr;
  return region.front().getTerminator();
}

/// One of the regions runs, and its terminator's operands are the results.
static ControlFlow branch(Operation *op, Value condition) {
  ControlFlow flow;
  flow.conditions.push_back(condition);
  for (Region &region : op->getRegions())
    if (Operation *terminator = terminatorOf(region))
      addEdges(flow, terminator->getOperands(), op->getResults());
  return flow;
}

static ControlFlow stablehloWhile(stablehlo::WhileOp op) {
  ControlFlow flow;
  flow.isLoop = true;
  Operation *condition = terminatorOf(op.getCond());
  Operation *next = terminatorOf(op.getBody());
  if (condition)
    llvm::append_range(flow.conditions, condition->getOperands());
  SmallVector<ValueRange> sources = {op->getOperands()};
  if (next)
    sources.push_back(next->getOperands());
  for (ValueRange source : sources) {
    addEdges(flow, source, op.getCond().getArguments());
    addEdges(flow, source, op.getBody().getArguments());
    addEdges(flow, source, op->getResults());
  }
  return flow;
}

static ControlFlow scfFor(scf::ForOp op) {
  ControlFlow flow;
  flow.isLoop = true;
  flow.conditions = {op.getLowerBound(), op.getUpperBound(), op.getStep()};
  flow.edges.emplace_back(op.getLowerBound(), op.getInductionVar());
  flow.edges.emplace_back(op.getStep(), op.getInductionVar());
  SmallVector<ValueRange> sources = {op.getInitArgs()};
  if (Operation *yield = terminatorOf(op.getRegion()))
    sources.push_back(yield->getOperands());
  for (ValueRange source : sources) {
    addEdges(flow, source, op.getRegionIterArgs());
    addEdges(flow, source, op.getResults());
  }
  return flow;
}

static ControlFlow scfWhile(scf::WhileOp op) {
  ControlFlow flow;
  flow.isLoop = true;
  scf::ConditionOp condition = op.getConditionOp();
  flow.conditions.push_back(condition.getCondition());
  addEdges(flow, op.getInits(), op.getBeforeArguments());
  addEdges(flow, op.getYieldOp().getOperands(), op.getBeforeArguments());
  addEdges(flow, condition.getArgs(), op.getAfterArguments());
  addEdges(flow, condition.getArgs(), op.getResults());
  return flow;
}

std::optional<ControlFlow> shardc::getControlFlow(Operation *op) {
  using Result = std::optional<ControlFlow>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([](stablehlo::WhileOp op) -> Result { return stablehloWhile(op); })
      .Case(
          [](stablehlo::IfOp op) -> Result { return branch(op, op.getPred()); })
      .Case([](stablehlo::CaseOp op) -> Result {
        return branch(op, op.getIndex());
      })
      .Case([](scf::ForOp op) -> Result { return scfFor(op); })
      .Case([](scf::WhileOp op) -> Result { return scfWhile(op); })
      .Case(
          [](scf::IfOp op) -> Result { return branch(op, op.getCondition()); })
      .Case([](scf::IndexSwitchOp op) -> Result {
        return branch(op, op.getArg());
      })
      .Default(std::nullopt);
}

/// The one number that a constant of integers is.
static std::optional<int64_t> numberIn(Value value) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  auto splat =
      constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : nullptr;
  if (!splat || !splat.getElementType().isInteger() ||
      splat.getElementType().isInteger(1))
    return std::nullopt;
  APInt number = splat.getSplatValue<APInt>();
  if (number.getBitWidth() > 64)
    return std::nullopt;
  return splat.getElementType().isUnsignedInteger()
             ? int64_t(number.getLimitedValue(INT64_MAX))
             : number.getSExtValue();
}

int64_t CountedLoop::tripCount() const {
  return end <= begin ? 0 : llvm::divideCeil(end - begin, step);
}

std::optional<CountedLoop> shardc::readCountedLoop(Operation *op) {
  auto loop = dyn_cast<stablehlo::WhileOp>(op);
  Operation *ends = loop ? terminatorOf(loop.getCond()) : nullptr;
  Operation *next = loop ? terminatorOf(loop.getBody()) : nullptr;
  auto compare = ends && ends->getNumOperands() == 1
                     ? ends->getOperand(0).getDefiningOp<stablehlo::CompareOp>()
                     : nullptr;
  if (!compare || !next ||
      compare.getComparisonDirection() != stablehlo::ComparisonDirection::LT)
    return std::nullopt;
  Block &cond = loop.getCond().front(), &body = loop.getBody().front();
  auto constantOf = [&](Value value) -> std::optional<int64_t> {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != &cond)
      return numberIn(value);
    // Carried along unchanged.
    unsigned number = argument.getArgNumber();
    return next->getOperand(number) == body.getArgument(number)
               ? numberIn(loop->getOperand(number))
               : std::nullopt;
  };
  auto counter = dyn_cast<BlockArgument>(compare.getLhs());
  if (!counter || counter.getOwner() != &cond)
    return std::nullopt;
  unsigned number = counter.getArgNumber();
  auto add = next->getOperand(number).getDefiningOp<stablehlo::AddOp>();
  std::optional<int64_t> begin = numberIn(loop->getOperand(number)),
                         end = constantOf(compare.getRhs()),
                         step = add ? numberIn(add.getRhs()) : std::nullopt;
  if (!begin || !end || !step || *step <= 0 ||
      add.getLhs() != body.getArgument(number))
    return std::nullopt;
  return CountedLoop{number, *begin, *end, *step};
}
