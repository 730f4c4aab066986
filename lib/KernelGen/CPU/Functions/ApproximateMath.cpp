//===- ApproximateMath.cpp - Formulas for the math dialect ----------------===//
//
// Scalar libm is ten times slower than arithmetic on vectors, and not right to
// one unit in the last place everywhere. Narrow floats are computed in 32 bits.
// test/Execution/accuracy measures each function's error.
//
//===----------------------------------------------------------------------===//
#include "FunctionTable.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/KernelGen/Passes.h"
#include "shardc/Support/KernelAttributes.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_APPROXIMATEMATHPASS
#include "shardc/KernelGen/Passes.h.inc"

/// True if the formulas can be emitted on `type`.
static bool hasLanes(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return !vector || !vector.isScalable();
}

/// -x of 1 / (1 + exp(-x)), which stablehlo.logistic has become: where x was a
/// negation itself, what that negates.
static Value negatedLogisticArgument(arith::DivFOp op) {
  if (!spmd::contract::Logistic::has(op))
    return nullptr;
  auto sum = op.getRhs().getDefiningOp<arith::AddFOp>();
  auto exp = sum ? sum.getLhs().getDefiningOp<math::ExpOp>() : nullptr;
  if (sum && !exp)
    exp = sum.getRhs().getDefiningOp<math::ExpOp>();
  return exp ? exp.getOperand() : nullptr;
}

static void expandLogistic(arith::DivFOp op) {
  Value minus = negatedLogisticArgument(op);
  if (!minus || !hasLanes(op.getType()))
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto negation = minus.getDefiningOp<arith::NegFOp>();
  Value x = negation ? negation.getOperand() : arith::NegFOp::create(b, minus);
  op.replaceAllUsesWith(functions::logistic({&b, x}).v);
  // exp goes with it, where nothing else needs it.
  auto sum = op.getRhs().getDefiningOp<arith::AddFOp>();
  op.erase();
  if (!sum.use_empty())
    return;
  SmallVector<Value> operands(sum.getOperands());
  sum.erase();
  for (Value operand : operands)
    if (auto exp = operand.getDefiningOp<math::ExpOp>(); exp && exp.use_empty())
      exp.erase();
}

/// The formula of the function `name` of `element`, or null.
static functions::Unary formulaOf(StringRef name, Type element,
                                  int64_t permutes, bool isShort) {
  if (functions::Unary arc = functions::arcFunctions().lookup(name))
    return arc;
  if (element.isF64())
    return functions::doubleFunctions().lookup(name);
  functions::Unary formula = nullptr;
  if (permutes && isShort)
    formula = functions::narrowFunctions(permutes).lookup(name);
  if (permutes && !formula)
    formula = functions::permutingFunctions(permutes).lookup(name);
  return formula ? formula : functions::singleFunctions().lookup(name);
}

/// The formula of `op` in its place, if it has one.
static void expandFunction(Operation *op, int64_t permutes) {
  Type type = op->getResult(0).getType(), element = getElementTypeOrSelf(type);
  if (!hasLanes(type) || !(element.isF32() || element.isF64()) ||
      spmd::contract::LibraryCall::has(op))
    return;
  ImplicitLocOpBuilder b(op->getLoc(), op);
  functions::Num x{&b, op->getOperand(0)};
  Value result;
  StringRef name = op->getName().getStringRef();
  bool isShort = spmd::contract::Brief::has(op);
  bool brief = element.isF64() && isShort;
  if (isa<math::Atan2Op>(op)) {
    result = functions::angle(x, {&b, op->getOperand(1)}).v;
  } else if (brief && functions::briefFunctions().contains(name)) {
    result = functions::briefFunctions().at(name)(x).v;
  } else if (element.isF64() && isa<math::PowFOp>(op)) {
    result = functions::powerDouble(x, {&b, op->getOperand(1)}).v;
  } else if (element.isF32() && isa<math::PowFOp>(op)) {
    result = functions::powerSingle(x, {&b, op->getOperand(1)}).v;
  } else {
    functions::Unary formula = formulaOf(name, element, permutes, isShort);
    if (!formula)
      return;
    result = formula(x).v;
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

namespace {
struct ApproximateMathPass final
    : shardc::impl::ApproximateMathPassBase<ApproximateMathPass> {
  using Base::Base;
  void runOnOperation() override {
    if (functionsOfNumbers().empty())
      return;
    // These expand into other functions first.
    SmallVector<StringRef> others{"exp2", "fpowi", "ipowi", "ctlz"};
    // An instruction of CPUs with AVX2.
    if (!permutes)
      others.push_back("roundeven");
    rewriteFunctions([&](RewritePatternSet &patterns) {
      math::populateExpansionPatterns(patterns, others);
    });
    rewriteFunctions([](RewritePatternSet &patterns) {
      populateMathF32ExpansionPatterns(patterns,
                                       [](StringRef) { return true; });
    });
    SmallVector<arith::DivFOp> quotients;
    getOperation().walk([&](arith::DivFOp op) { quotients.push_back(op); });
    llvm::for_each(quotients, expandLogistic);
    // Formulas of f32 use functions of f64.
    for ([[maybe_unused]] int round : {0, 1})
      for (Operation *op : functionsOfNumbers())
        expandFunction(op, permutes);
    // Of all ops: the formulas' constants become one of each.
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(
        patterns, [](StringRef name) { return name == "math.log2"; });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }

private:
  SmallVector<Operation *> functionsOfNumbers() {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa_and_nonnull<math::MathDialect>(op->getDialect()) &&
          op->getNumResults() == 1)
        ops.push_back(op);
    });
    return ops;
  }

  /// Applies what `populate` adds to functions and to what they become. Other
  /// ops, of which there are many more, are not visited.
  void
  rewriteFunctions(llvm::function_ref<void(RewritePatternSet &)> populate) {
    SmallVector<Operation *> ops = functionsOfNumbers();
    if (ops.empty())
      return;
    RewritePatternSet patterns(&getContext());
    populate(patterns);
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    if (failed(applyOpPatternsGreedily(ops, std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
} // namespace shardc
