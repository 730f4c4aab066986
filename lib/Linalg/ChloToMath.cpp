//===- ChloToMath.cpp - Elementary and special functions ------------------===//
//
// What the math dialect has is one op. The others are formulas; those of rare
// functions are evaluated in f64 whatever the operand is, so that they are
// right to the last place of an f32.
//
//===----------------------------------------------------------------------===//
#include "Complex.h"
#include "ScalarMath.h"
#include "SpecialFunctions.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Support/Refusal.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

using ScalarBuilder = ImplicitLocOpBuilder;

static constexpr double pi = 3.14159265358979323846;
static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double nan_ = std::numeric_limits<double>::quiet_NaN();

static Value unsupportedType(Operation *op, Type type) {
  emitOpUnsupported(op, " for elements of type ") << type;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// One op of the math dialect
//===----------------------------------------------------------------------===//

template <typename ChloOp, typename MathOp>
static void addFunction(LoweringTable &table,
                        ComplexFunction complex = nullptr) {
  table.scalar<ChloOp>(
      [complex](ScalarBuilder &b, Operation *op, ValueRange args) -> Value {
        auto type = dyn_cast<FloatType>(args[0].getType());
        if (!type)
          return complex && isa<ComplexType>(args[0].getType())
                     ? complex(b, args)
                     : unsupportedType(op, args[0].getType());
        auto result = MathOp::create(b, toComputeType(b, args[0]));
        // A function of f32 of which no more digits are asked for.
        if (type.getWidth() == 16)
          spmd::contract::Brief::set(result);
        return fromComputeType(b, result, type);
      });
}

static Value square(ScalarBuilder &b, Operation *, ValueRange args) {
  Value x = args[0];
  if (isa<ComplexType>(x.getType()))
    return complexMultiply(b, {x, x});
  auto type = dyn_cast<FloatType>(x.getType());
  if (!type)
    return arith::MulIOp::create(b, x, x);
  Value wide = toComputeType(b, x);
  Value result = arith::MulFOp::create(b, wide, wide);
  return fromComputeType(b, result, type);
}

static Value conjugate(ScalarBuilder &b, Operation *, ValueRange args) {
  return isa<ComplexType>(args[0].getType()) ? complexConjugate(b, args)
                                             : args[0];
}

//===----------------------------------------------------------------------===//
// Gamma functions. Source: C. Lanczos, "A precision approximation of the gamma
// function" (1964); coefficients for g = 7, n = 9 as tabulated by P. Godfrey.
//===----------------------------------------------------------------------===//

static constexpr double lanczosG = 7;
static constexpr double lanczosBase = 0.99999999999980993227684700473478;
static constexpr double lanczos[] = {
    676.520368121885098567009190444019, -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,   -176.61502916214059906584551354,
    12.507343278686904814458936853,     -0.13857109526572011689554707,
    9.984369578019570859563e-6,         1.50563273514931155834e-7};

// Below one half both functions are those of 1 - x, reflected; `z` is that
// argument less one.
static Real lanczosArgument(Real x, Value reflects) {
  return choose(reflects, -x, x - 1.0);
}

static Real lgamma(Real x) {
  Value reflects = less(x, 0.5);
  Real z = lanczosArgument(x, reflects);
  Real sum = z.of(lanczosBase);
  for (int i = 0; i < 8; ++i)
    sum = sum + lanczos[i] / (z + double(i + 1));
  Real t = z + (lanczosG + 0.5), logT = log(t);
  // (z + 1/2) log t - t with log t in front: large arguments do not cancel.
  Real value = (z + 0.5 - t / logT) * logT + 0.91893853320467274178 + log(sum);
  // log |sin(pi x)|: by the distance to the next integer, exact there.
  Real a = abs(x), part = a - floor(a);
  Real near = smaller(part, 1.0 - part);
  Real sine = log(sin(near * pi));
  Real mirrored = 1.14472988584940017414 - sine - value;
  mirrored = choose(equal(near, near.of(0)), near.of(infinity), mirrored);
  Real result = choose(reflects, mirrored, value);
  Value isZero =
      arith::OrIOp::create(*x.b, equal(x, x.of(1)), equal(x, x.of(2)));
  result = choose(isZero, x.of(0), result);
  return choose(equal(a, a.of(infinity)), a.of(infinity), result);
}

static Real digamma(Real x) {
  Value reflects = less(x, 0.5);
  Real z = lanczosArgument(x, reflects);
  Real sum = z.of(lanczosBase), slope = z.of(0);
  for (int i = 0; i < 8; ++i) {
    Real below = z + double(i + 1);
    sum = sum + lanczos[i] / below;
    slope = slope - lanczos[i] / (below * below);
  }
  Real t = z + (lanczosG + 0.5);
  Real value = log(t) + slope / sum - lanczosG / t;
  // -pi cot(pi x), by the fractional part.
  Real part = x + abs(floor(x + 0.5));
  Real mirrored = value - pi * cos(part * pi) / sin(part * pi);
  Real result = choose(reflects, mirrored, value);
  Value pole = both(x, compare(arith::CmpFPredicate::OLE, x, x.of(0)),
                    equal(x, floor(x)));
  result = choose(pole, x.of(nan_), result);
  return choose(equal(x, x.of(infinity)), x, result);
}

// Hurwitz zeta: ten terms, then the Euler-Maclaurin remainder.
static Real zeta(Real s, Real q) {
  constexpr int terms = 10, corrections = 10;
  constexpr double bernoulli[corrections] = {
      1.0 / 6,       -1.0 / 30, 1.0 / 42,      -1.0 / 30,     5.0 / 66,
      -691.0 / 2730, 7.0 / 6,   -3617.0 / 510, 43867.0 / 798, -174611.0 / 330};
  Real sum = s.of(0);
  for (int i = 0; i < terms; ++i)
    sum = sum + pow(q + double(i), -s);
  Real a = q + double(terms), power = pow(a, -s);
  sum = sum + power * a / (s - 1.0) + power * 0.5;
  // B_2k / (2k)! s (s+1) ... (s+2k-2) a^(-s-2k+1)
  Real factor = s * power / a;
  double factorial = 2;
  for (int k = 0; k < corrections; ++k) {
    sum = sum + factor * (bernoulli[k] / factorial);
    double n = 2 * k + 1;
    factor = factor * (s + n) * (s + (n + 1)) / (a * a);
    factorial *= (n + 2) * (n + 3);
  }
  Value isPole = both(s, compare(arith::CmpFPredicate::OLE, q, q.of(0)),
                      equal(q, floor(q)));
  sum = choose(isPole, s.of(infinity), sum);
  Value fractional = both(s, compare(arith::CmpFPredicate::OLE, q, q.of(0)),
                          compare(arith::CmpFPredicate::UNE, s, floor(s)));
  sum = choose(fractional, s.of(nan_), sum);
  sum = choose(equal(s, s.of(1)), s.of(infinity), sum);
  return choose(less(s, 1), s.of(nan_), sum);
}

// (-1)^(n+1) n! zeta(n+1, x); digamma for n = 0.
static Real polygamma(Real n, Real x) {
  Real half = n * 0.5;
  Value isEven = equal(half, floor(half));
  Real size = exp(lgamma(n + 1.0)) * zeta(n + 1.0, x);
  Real value = choose(isEven, -size, size);
  value = choose(equal(n, n.of(0)), digamma(x), value);
  Value wrong = arith::OrIOp::create(
      *n.b, less(n, 0), compare(arith::CmpFPredicate::UNE, n, floor(n)));
  return choose(wrong, n.of(nan_), value);
}

//===----------------------------------------------------------------------===//
// Error function and Bessel function
//===----------------------------------------------------------------------===//

// First by M. Giles, "Approximating the erfinv function" (2010), single
// precision.
static Real erfInverse(Real x) {
  constexpr double central[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                -0.00417768164,  0.246640727,    1.50140941};
  constexpr double tail[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                             -0.00367342844,  0.00573950773,  -0.0076224613,
                             0.00943887047,   1.00167406,     2.83297682};
  Real w = -(log1p(-x) + log1p(x));
  Value isCentral = less(w, 5);
  Real argument = choose(isCentral, w - 2.5, sqrt(w) - 3.0);
  Real value = choose(isCentral, x.of(central[0]), x.of(tail[0]));
  for (int i = 1; i < 9; ++i)
    value =
        value * argument + choose(isCentral, x.of(central[i]), x.of(tail[i]));
  // Steps of Halley's method, each of which triples the digits.
  Real a = abs(x), y = abs(value * x);
  // Nearer to one than any f32: log erfc(y) is about -y^2 - log(y sqrt(pi)).
  Real beyond = sqrt(w + 0.6931471805599453 - log(w * pi) * 0.5);
  y = choose(less(w, 16), y, beyond);
  for ([[maybe_unused]] int step : {0, 1, 2}) {
    Real error = (1.0 - a) - erfc(y);
    Real quotient = error / (exp(-(y * y)) * 1.12837916709551257390);
    y = y - quotient / (1.0 + y * quotient);
  }
  // Near zero sqrt(pi) / 2 in two parts, and an odd polynomial; scaled, so that
  // a subnormal result is rounded once.
  constexpr double odd[] = {
      0x1.db29fb2fee5e5p-3, 0x1.053c2c0ab904dp-3,  0x1.62847c47f61a8p-4,
      0x1.0a131895d4a93p-4, 0x1.a7c85eafb8c69p-5,  0x1.5eeae2a7aaeddp-5,
      0x1.2abee7d3a9d0cp-5, 0x1.035ef97e3a9a3p-5,  0x1.cece05dfade38p-6,
      0x1.7b1129b3d667ep-6, 0x1.087e78da05a20p-5,  -0x1.e3fbceb4754f6p-7,
      0x1.b81720989eee0p-4, -0x1.f44322b4364a0p-4, 0x1.0914a92075556p-3};
  Real square = x * x, p = x.of(odd[14]);
  for (int i = 13; i >= 0; --i)
    p = fma(p, square, x.of(odd[i]));
  Real wide = x * 0x1p60, first = wide * 0x1.c5bf891b4ef6bp-1;
  Real low = fma(wide, x.of(0x1.c5bf891b4ef6bp-1), -first);
  low = fma(wide, x.of(-0x1.618f13eb7ca89p-55), low);
  Real near = (first + fma(wide * square, p, low)) * 0x1p-60;
  Real result = choose(less(a, 0.5), near, copySign(y, x));
  return choose(equal(a, x.of(1)), x * infinity, copySign(result, x));
}

// To the digits of f32: x times a fit in w = -log(1 - x^2), where that is large
// in its square root. After M. Giles, "Approximating the erfinv function"
// (2010).
static Real erfInverseBrief(Real x) {
  constexpr double central[] = {
      0x1.805c5cfd16d76p+0,   0x1.f91e8993e3379p-3,  -0x1.11c3c5488018fp-8,
      -0x1.4863ce6cc9906p-10, 0x1.c9b4e19e9e26dp-13, -0x1.4f47123d9f951p-18,
      -0x1.cab78d15b5684p-19, 0x1.01001ff562e99p-21, 0x1.dcd5d3e64f904p-27,
      -0x1.75469585aa5ecp-27, 0x1.bafebeafaa208p-31, 0x1.0fc92246dd92fp-33,
      -0x1.5b724ab15b8f3p-36};
  constexpr double tail[] = {
      0x1.7aaa3c14468dap+1,  0x1.00f3b5577fe60p+0,   0x1.cde3d23b73be4p-8,
      -0x1.5b69e6e4d1820p-8, 0x1.f15936abb2e84p-9,   -0x1.4a2556309cebfp-9,
      0x1.4a6a3b31927b9p-10, -0x1.5dbddab75bfb3p-12, -0x1.7565676b83d70p-14,
      0x1.3488f496bf225p-13, -0x1.f31aa87940b6bp-15, -0x1.5998e72f367aap-17,
      0x1.97197399fc9f0p-17};
  Real w = -log(fma(-x, x, x.of(1)));
  Value isCentral = less(w, 5);
  Real argument = choose(isCentral, w - 2.5, sqrt(w) - 3.125);
  Real value = choose(isCentral, x.of(central[12]), x.of(tail[12]));
  for (int i = 11; i >= 0; --i)
    value = fma(value, argument,
                choose(isCentral, x.of(central[i]), x.of(tail[i])));
  return choose(equal(abs(x), x.of(1)), x * infinity, x * value);
}

static Value erfInverseFor(ScalarBuilder &b, Operation *op, ValueRange args) {
  auto type = dyn_cast<FloatType>(args[0].getType());
  if (!type)
    return unsupportedType(op, args[0].getType());
  BriefScope scope(b, /*isBrief=*/!type.isF64());
  Real x{&b, castFloat(b, args[0], b.getF64Type())};
  Real value = type.isF64() ? erfInverse(x) : erfInverseBrief(x);
  return castFloat(b, value.v, type);
}

// exp(-|x|) I1(x) to the digits of f32: |x| times a fit up to 5, then the root
// of 1 / |x| times one in 1 / |x|. Fits are at Chebyshev nodes, within 2^-29.
static Real besselI1e(Real x) {
  constexpr double limit = 5;
  constexpr double near[] = {
      0x1.5277e1d3d2480p-4,  -0x1.a0ff4094a278ap-4,  0x1.8ebb750527001p-4,
      -0x1.4773e97fffe57p-4, 0x1.da4b3a6657980p-5,   -0x1.32ae01b7a2e56p-5,
      0x1.6532074e46e9fp-6,  -0x1.796d3f9607714p-7,  0x1.6bfba1b3dc3a5p-8,
      -0x1.42db8405cfccep-9, 0x1.0abc5c9bc6b0dp-10,  -0x1.94cc67801cf9bp-12,
      0x1.0a24d6ffc554cp-13, -0x1.676a7a4cf27e5p-15, 0x1.4892a17e35240p-16,
      -0x1.768fa5ef92d61p-18};
  constexpr double far[] = {0x1.88ab61a62175ap-2,
                            -0x1.06f36a4b4c521p-6,
                            -0x1.514dd3645970bp-11,
                            -0x1.6fae0e1beb60fp-14,
                            -0x1.aa4fad84d351ap-16,
                            -0x1.8262fb402cefdp-17,
                            -0x1.50ae5d08ef18bp-19,
                            0x1.367884e0795f0p-18,
                            0x1.1ba51643d9d4cp-18,
                            -0x1.bd4390319a69dp-21,
                            -0x1.fe57065c71f71p-20,
                            0x1.47f3611a26cbep-25,
                            0x1.a1b65f0299de1p-22,
                            0x1.fe83208163e06p-27,
                            0,
                            0};
  Real a = abs(x);
  Value isNear = less(a, limit);
  Real inverse = 1.0 / a;
  Real t = choose(isNear, a * (2 / limit), inverse * (2 * limit)) - 1.0;
  Real value = choose(isNear, x.of(near[15]), x.of(far[15]));
  for (int i = 14; i >= 0; --i)
    value = fma(value, t, choose(isNear, x.of(near[i]), x.of(far[i])));
  return copySign(value * choose(isNear, a, sqrt(inverse)), x);
}

//===----------------------------------------------------------------------===//
// Registration of formulas
//===----------------------------------------------------------------------===//

using Special = Value (*)(ScalarBuilder &, ValueRange);

/// In f64; of f64 itself by `full`, which has its last digit as well.
template <typename ChloOp>
static void addFormula(LoweringTable &table, Real (*formula)(Real),
                       Special full = nullptr) {
  table.scalar<ChloOp>(
      [=](ScalarBuilder &b, Operation *op, ValueRange args) -> Value {
        auto type = dyn_cast<FloatType>(args[0].getType());
        if (!type)
          return unsupportedType(op, args[0].getType());
        if (type.isF64() && full)
          return full(b, args);
        Real x{&b, castFloat(b, args[0], b.getF64Type())};
        return castFloat(b, formula(x).v, type);
      });
}

template <typename ChloOp>
static void addFormula(LoweringTable &table, Real (*formula)(Real, Real),
                       Special full) {
  table.scalar<ChloOp>(
      [=](ScalarBuilder &b, Operation *op, ValueRange args) -> Value {
        auto type = dyn_cast<FloatType>(args[0].getType());
        if (!type)
          return unsupportedType(op, args[0].getType());
        if (type.isF64())
          return full(b, args);
        Real x{&b, castFloat(b, args[0], b.getF64Type())};
        Real y{&b, castFloat(b, args[1], b.getF64Type())};
        return castFloat(b, formula(x, y).v, type);
      });
}

// The neighbour in the order of the bits: one up where x moves away from zero.
static Value nextAfter(ScalarBuilder &b, Operation *, ValueRange args) {
  auto type = cast<FloatType>(args[0].getType());
  unsigned width = type.getWidth();
  Type integer = b.getIntegerType(width);
  Type wide = computeType(type);
  Real x{&b, castFloat(b, args[0], wide)}, y{&b, castFloat(b, args[1], wide)};
  Value bits = arith::BitcastOp::create(b, integer, args[0]);
  Value towards = arith::BitcastOp::create(b, integer, args[1]);
  Value one = numberConstant(b, integer, 1);
  Value mask = arith::ConstantOp::create(
      b, b.getIntegerAttr(integer, APInt::getSignMask(width)));
  Value up = arith::AddIOp::create(b, bits, one),
        down = arith::SubIOp::create(b, bits, one);
  Value rises = compare(arith::CmpFPredicate::OLT, x, y);
  Value positive = compare(arith::CmpFPredicate::OGT, x, x.of(0));
  Value away =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rises, positive);
  Value moved = arith::SelectOp::create(b, away, up, down);
  Value sign = arith::AndIOp::create(b, towards, mask);
  Value smallest = arith::OrIOp::create(b, sign, one);
  moved = arith::SelectOp::create(b, equal(x, x.of(0)), smallest, moved);
  moved = arith::SelectOp::create(b, equal(x, y), towards, moved);
  Value result = arith::BitcastOp::create(b, type, moved);
  Value unordered = compare(arith::CmpFPredicate::UNO, x, y);
  Value nan = numberConstant(b, type, nan_);
  return arith::SelectOp::create(b, unordered, nan, result);
}

template <typename ChloOp>
static void addInfinityTest(LoweringTable &table, bool negative,
                            bool positive) {
  table.scalar<ChloOp>(
      [=](ScalarBuilder &b, Operation *, ValueRange args) -> Value {
        auto type = cast<FloatType>(args[0].getType());
        Real x{&b, castFloat(b, args[0], computeType(type))};
        if (negative && positive)
          return equal(abs(x), x.of(infinity));
        return equal(x, x.of(negative ? -infinity : infinity));
      });
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static LogicalResult lowerConstant(Lowerer &l, chlo::ConstantOp op) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  auto type = cast<RankedTensorType>(signlessType(op.getType()));
  if (!dense || !type.getElementType().isIntOrFloat())
    return emitOpUnsupported(
        op, ": its value is no dense list of integers or floats");
  if (isa<IntegerType>(type.getElementType()))
    dense = dense.bitcast(type.getElementType());
  Value tensor = l.constant(dense);
  l.set(op,
        type.getRank() == 0
            ? tensor::ExtractOp::create(l.b, tensor, ValueRange()).getResult()
            : tensor);
  return success();
}

static LogicalResult lowerConstantLike(Lowerer &l, chlo::ConstantLikeOp op) {
  auto type = cast<RankedTensorType>(signlessType(op.getType()));
  Type element = type.getElementType();
  Value value;
  if (auto number = dyn_cast<FloatAttr>(op.getValue()))
    value = l.constant(l.b.getFloatAttr(element, number.getValueAsDouble()));
  else if (auto number = dyn_cast<IntegerAttr>(op.getValue()))
    value = l.constant(l.b.getIntegerAttr(element, number.getValue()));
  else
    return emitOpUnsupported(op, " value ") << op.getValue();
  if (type.getRank() == 0)
    l.set(op, value);
  else
    l.set(op, l.filled(l.sizes(l.tensor(op.getOperand())), value));
  return success();
}

void shardc::lowering::addChlo(LoweringTable &table) {
  using namespace chlo;
  addFunction<AcosOp, math::AcosOp>(table, complexAcos);
  addFunction<AcoshOp, math::AcoshOp>(table, complexAcosh);
  addFunction<AsinOp, math::AsinOp>(table, complexAsin);
  addFunction<AsinhOp, math::AsinhOp>(table, complexAsinh);
  addFunction<AtanOp, math::AtanOp>(table, complexAtan);
  addFunction<AtanhOp, math::AtanhOp>(table, complexAtanh);
  addFunction<CoshOp, math::CoshOp>(table, complexCosh);
  addFunction<ErfOp, math::ErfOp>(table);
  addFunction<ErfcOp, math::ErfcOp>(table);
  addFunction<SinhOp, math::SinhOp>(table, complexSinh);
  addFunction<TanOp, math::TanOp>(table, complexTan);
  table.scalar<SquareOp>(square);
  table.scalar<ConjOp>(conjugate);

  addFormula<LgammaOp>(table, lgamma, fullLgamma);
  addFormula<DigammaOp>(table, digamma, fullDigamma);
  addFormula<ZetaOp>(table, zeta, fullZeta);
  addFormula<PolygammaOp>(table, polygamma, fullPolygamma);
  addFormula<BesselI1eOp>(table, besselI1e, fullBesselI1e);
  table.scalar<ErfInvOp>(erfInverseFor);
  table.scalar<NextAfterOp>(nextAfter);
  addInfinityTest<IsInfOp>(table, true, true);
  addInfinityTest<IsNegInfOp>(table, true, false);
  addInfinityTest<IsPosInfOp>(table, false, true);

  table.op<ConstantOp>(lowerConstant);
  table.op<ConstantLikeOp>(lowerConstantLike);
}
