//===- ApproximateMath.cpp - Polynomials for the math dialect -------------===//
//
// Scalar libm is ten times slower than a polynomial on vectors. Narrow floats
// are computed in 32 bits. test/Execution/ops/functions.py bounds each function's
// error in ulp.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "shardc/KernelGen/Passes.h"
#include <limits>

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_APPROXIMATEMATHPASS
#include "shardc/KernelGen/Passes.h.inc"

/// The polynomial of exp is clamped: what overflows is infinite all the same, and
/// what is below the least normal number is zero.
static void guardExp(math::ExpOp op) {
  Type type = op.getType();
  if (!getElementTypeOrSelf(type).isF32())
    return;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Location loc = op.getLoc();
  auto constant = [&](float value) -> Value {
    TypedAttr attr = builder.getF32FloatAttr(value);
    if (auto shaped = dyn_cast<ShapedType>(type))
      attr = DenseElementsAttr::get(shaped, value);
    return arith::ConstantOp::create(builder, loc, attr);
  };
  Value x = op.getOperand();
  Value overflows = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, x, constant(88.72283935546875f));
  Value vanishes = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, x, constant(-87.33654022216797f));
  auto low = arith::SelectOp::create(builder, loc, vanishes, constant(0.0f), op);
  auto high = arith::SelectOp::create(builder, loc, overflows, constant(std::numeric_limits<float>::infinity()), low);
  // The polynomial takes an integer of x, which is poison where x is NaN.
  auto isNan = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, x, x);
  auto known = arith::SelectOp::create(builder, loc, isNan, x, high);
  op.getResult().replaceAllUsesExcept(known, low);
}

/// NaN stays NaN, whatever the polynomial makes of it.
static void guardNan(Operation *op) {
  Type type = op->getResult(0).getType();
  if (!getElementTypeOrSelf(type).isF32())
    return;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Value x = op->getOperand(0);
  auto isNan = arith::CmpFOp::create(builder, op->getLoc(), arith::CmpFPredicate::UNO, x, x);
  auto known = arith::SelectOp::create(builder, op->getLoc(), isNan, x, op->getResult(0));
  op->getResult(0).replaceAllUsesExcept(known, known);
}

namespace {
/// Arithmetic on f32 or vectors of it.
struct Lanes {
  ImplicitLocOpBuilder b;
  Type type;

  Type withElement(Type element) {
    auto vector = dyn_cast<VectorType>(type);
    return vector ? Type(vector.clone(element)) : element;
  }
  Value splat(Type element, TypedAttr value) {
    Type wanted = withElement(element);
    if (auto shaped = dyn_cast<ShapedType>(wanted))
      return arith::ConstantOp::create(b, DenseElementsAttr::get(shaped, value));
    return arith::ConstantOp::create(b, value);
  }
  Value number(float value) { return splat(b.getF32Type(), b.getF32FloatAttr(value)); }
  Value integer(int32_t value) { return splat(b.getI32Type(), b.getI32IntegerAttr(value)); }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, x, y, z); }
  Value multiply(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value bit(Value x, int32_t mask) {
    Value masked = arith::AndIOp::create(b, x, integer(mask));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, masked, integer(0));
  }
  Value select(Value condition, Value x, Value y) { return arith::SelectOp::create(b, condition, x, y); }
};
} // namespace

/// Up to here the reduction below is exact to the last bit but one: n has few enough bits
/// that n * kHalfPi[0] is exact where x is near it.
static constexpr float kMaxReduced = 131072.0f;
/// pi / 2 in three parts of 24 bits each.
static constexpr float kHalfPi[] = {0x1.921fb6p+0f, -0x1.777a5cp-25f, -0x1.ee59dap-50f};

/// sin or cos of arguments in [-kMaxReduced, kMaxReduced]: x = n pi / 2 + r by fused
/// multiply-adds (Cody, Waite), then a polynomial in r by the quadrant.
static Value reducedSineOrCosine(Lanes &l, Value x, bool cosine) {
  Value n = math::RoundEvenOp::create(l.b, l.multiply(x, l.number(0x1.45f306p-1f)));
  Value minus = arith::NegFOp::create(l.b, n);
  Value r = x;
  for (float part : kHalfPi)
    r = l.fma(minus, l.number(part), r);
  Value quadrant = arith::FPToSIOp::create(l.b, l.withElement(l.b.getI32Type()), n);
  if (cosine)
    quadrant = arith::AddIOp::create(l.b, quadrant, l.integer(1));
  Value square = l.multiply(r, r);
  // Coefficients of Cephes' sinf and cosf.
  Value sine = l.fma(l.number(-1.9515295891e-4f), square, l.number(8.3321608736e-3f));
  sine = l.fma(sine, square, l.number(-1.6666654611e-1f));
  sine = l.fma(l.multiply(sine, square), r, r);
  Value cos = l.fma(l.number(2.443315711809948e-5f), square, l.number(-1.388731625493765e-3f));
  cos = l.fma(cos, square, l.number(4.166664568298827e-2f));
  cos = l.fma(cos, square, l.number(-0.5f));
  cos = l.fma(cos, square, l.number(1.0f));
  Value chosen = l.select(l.bit(quadrant, 1), cos, sine);
  Value negated = arith::NegFOp::create(l.b, chosen);
  return l.select(l.bit(quadrant, 2), negated, chosen);
}

/// `op` by the C library, element by element.
static Value exactly(Lanes &l, Operation *op, Value x) {
  auto one = [&](Value element) {
    Operation *call = l.b.create(op->getLoc(), op->getName().getIdentifier(), element, element.getType());
    return call->getResult(0);
  };
  auto vector = dyn_cast<VectorType>(l.type);
  if (!vector)
    return one(x);
  Value result = x;
  for (int64_t i = 0; i < vector.getNumElements(); ++i) {
    SmallVector<int64_t> at = delinearize(i, computeStrides(vector.getShape()));
    Value element = vector::ExtractOp::create(l.b, x, at);
    result = vector::InsertOp::create(l.b, one(element), result, at);
  }
  return result;
}

/// Arguments beyond the reduction's range, infinities and NaN take the C library's
/// functions; a vector does as soon as one of its elements does.
static void expandSineOrCosine(Operation *op) {
  Type type = op->getResult(0).getType();
  if (!getElementTypeOrSelf(type).isF32())
    return;
  if (auto vector = dyn_cast<VectorType>(type); vector && (vector.isScalable() || vector.getRank() == 0))
    return;
  Lanes l{ImplicitLocOpBuilder(op->getLoc(), op), type};
  Value x = op->getOperand(0);
  Value size = math::AbsFOp::create(l.b, x);
  Value inside = arith::CmpFOp::create(l.b, arith::CmpFPredicate::OLE, size, l.number(kMaxReduced));
  Value all = inside;
  if (auto vector = dyn_cast<VectorType>(type)) {
    auto flat = VectorType::get(vector.getNumElements(), l.b.getI1Type());
    if (vector.getRank() > 1)
      all = vector::ShapeCastOp::create(l.b, flat, all);
    all = vector::ReductionOp::create(l.b, vector::CombiningKind::AND, all);
  }
  bool cosine = isa<math::CosOp>(op);
  auto choice = scf::IfOp::create(
      l.b, all,
      [&](OpBuilder &at, Location loc) {
        Lanes inner{ImplicitLocOpBuilder(loc, at), type};
        scf::YieldOp::create(inner.b, reducedSineOrCosine(inner, x, cosine));
      },
      [&](OpBuilder &at, Location loc) {
        Lanes inner{ImplicitLocOpBuilder(loc, at), type};
        scf::YieldOp::create(inner.b, exactly(inner, op, x));
      });
  op->replaceAllUsesWith(choice);
  op->erase();
}

/// expm1 and log1p of f64, which the LLVM dialect would take for exp(x) - 1 and log(1 + x):
/// the rounding of u = exp(x) (1 + x) is made good by log(u) (u - 1), Kahan's way.
static void expandNearZero(Operation *op) {
  Type type = op->getResult(0).getType();
  if (!getElementTypeOrSelf(type).isF64())
    return;
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value x = op->getOperand(0);
  auto number = [&](double value) -> Value {
    TypedAttr attr = b.getF64FloatAttr(value);
    if (auto shaped = dyn_cast<ShapedType>(type))
      attr = DenseElementsAttr::get(shaped, value);
    return arith::ConstantOp::create(b, attr);
  };
  auto is = [&](Value y, double value) -> Value {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, y, number(value));
  };
  Value one = number(1), result;
  double infinity = std::numeric_limits<double>::infinity();
  if (isa<math::ExpM1Op>(op)) {
    Value u = math::ExpOp::create(b, x);
    Value less = arith::SubFOp::create(b, u, one);
    Value log = math::LogOp::create(b, u);
    Value ratio = arith::DivFOp::create(b, x, log);
    Value quotient = arith::MulFOp::create(b, less, ratio);
    result = arith::SelectOp::create(b, is(u, infinity), u, quotient);
    result = arith::SelectOp::create(b, is(less, -1), less, result);
    result = arith::SelectOp::create(b, is(u, 1), x, result);
  } else {
    Value u = arith::AddFOp::create(b, x, one);
    Value less = arith::SubFOp::create(b, u, one);
    Value log = math::LogOp::create(b, u);
    Value ratio = arith::DivFOp::create(b, x, less);
    Value quotient = arith::MulFOp::create(b, log, ratio);
    result = arith::SelectOp::create(b, is(u, infinity), u, quotient);
    result = arith::SelectOp::create(b, is(u, 1), x, result);
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

namespace {
struct ApproximateMathPass final
    : shardc::impl::ApproximateMathPassBase<ApproximateMathPass> {
  using Base::Base;
  void runOnOperation() override {
    auto all = [](StringRef) { return true; };
    // Not atan2 and cbrt, whose polynomials are NaN at the origin and at
    // infinity.
    auto approximated = [](StringRef name) {
      return llvm::is_contained(
          {"math.tanh", "math.log", "math.log2", "math.log1p", "math.erf",
           "math.erfc", "math.exp", "math.expm1", "math.atan", "math.acos",
           "math.asin"},
          name);
    };
    {
      // These expand into other functions first. Not powf: exp(y log x) is NaN
      // for x <= 0 and loses digits.
      RewritePatternSet patterns(&getContext());
      math::populateExpansionPatterns(
          patterns, {"tan", "sinh", "cosh", "asinh", "acosh", "atanh", "exp2",
                     "fpowi", "ipowi", "rsqrt", "roundeven", "ctlz"});
      if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
        return signalPassFailure();
    }
    {
      RewritePatternSet patterns(&getContext());
      populateMathF32ExpansionPatterns(patterns, all);
      if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
        return signalPassFailure();
    }
    SmallVector<Operation *> periodic, nearZero;
    getOperation().walk([&](Operation *op) {
      if (isa<math::SinOp, math::CosOp>(op))
        periodic.push_back(op);
      if (isa<math::ExpM1Op, math::Log1pOp>(op))
        nearZero.push_back(op);
    });
    llvm::for_each(nearZero, guardNan);
    llvm::for_each(nearZero, expandNearZero);
    llvm::for_each(periodic, expandSineOrCosine);
    SmallVector<math::ExpOp> exps;
    getOperation().walk([&](math::ExpOp op) { exps.push_back(op); });
    llvm::for_each(exps, guardExp);
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns, approximated);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
} // namespace shardc
