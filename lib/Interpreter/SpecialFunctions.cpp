//===- SpecialFunctions.cpp - What chlo has beside elementary functions ---===//
//
// Series and recurrences of the textbooks (Abramowitz and Stegun), in f64.
//
//===----------------------------------------------------------------------===//
#include "Evaluator.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

static const double kNaN = std::numeric_limits<double>::quiet_NaN();
static const double kInf = std::numeric_limits<double>::infinity();

template <double (*function)(double)>
static Element unary(const Format &, const Format &result, Element x) {
  return Element::of(result.round(function(x.real)));
}

template <double (*function)(double, double)>
static Element binary(const Format &format, Element a, Element b) {
  return Element::of(format.round(function(a.real, b.real)));
}

static double erf1(double x) { return std::erf(x); }
static double erfc1(double x) { return std::erfc(x); }

static double lgamma1(double x) {
  int sign;
  return std::isinf(x) ? kInf : ::lgamma_r(x, &sign);
}

/// Bernoulli numbers B_2, B_4, ….
static constexpr double kBernoulli[] = {
    1.0 / 6,       -1.0 / 30,       1.0 / 42,       -1.0 / 30,
    5.0 / 66,      -691.0 / 2730,   7.0 / 6,        -3617.0 / 510,
    43867.0 / 798, -174611.0 / 330, 854513.0 / 138, -236364091.0 / 2730};

/// 6.3.18 beyond 10, 6.3.5 and 6.3.7 before.
static double digamma(double x) {
  if (x == 0)
    return std::copysign(kInf, -x);
  if (std::isinf(x))
    return x > 0 ? kInf : kNaN;
  if (x < 0) {
    if (x == std::floor(x))
      return kNaN;
    // The angle is reduced first: x may be large.
    double fraction = x - std::floor(x);
    return digamma(1 - x) - M_PI / std::tan(M_PI * fraction);
  }
  double result = 0;
  for (; x < 12; ++x)
    result -= 1 / x;
  result += std::log(x) - 1 / (2 * x);
  double power = 1;
  for (int n = 1; n <= 10; ++n) {
    power /= x * x;
    result -= kBernoulli[n - 1] / (2 * n) * power;
  }
  return result;
}

/// Sum over n of (n + q)^-x, by Euler and Maclaurin.
static double zeta(double x, double q) {
  if (x == 1)
    return kInf;
  if (x < 1 || std::isnan(x) || std::isnan(q))
    return kNaN;
  if (q <= 0) {
    if (q == std::floor(q))
      return kInf;
    if (x != std::floor(x))
      return kNaN;
  }
  double sum = 0;
  for (int n = 0; n < 10 || q < 10; ++n, ++q)
    sum += std::pow(q, -x);
  sum += std::pow(q, 1 - x) / (x - 1) + std::pow(q, -x) / 2;
  double factor = x, power = std::pow(q, -x - 1), factorial = 2;
  for (int n = 1; n <= 12; ++n) {
    sum += kBernoulli[n - 1] * factor * power / factorial;
    factor *= (x + 2 * n - 1) * (x + 2 * n);
    power /= q * q;
    factorial *= (2 * n + 1) * (2 * n + 2.0);
  }
  return sum;
}

static double polygamma(double n, double x) {
  if (n == 0)
    return digamma(x);
  if (n < 0 || n != std::floor(n))
    return kNaN;
  double sign = std::fmod(n, 2) == 1 ? 1 : -1;
  return sign * std::tgamma(n + 1) * zeta(n + 1, x);
}

/// By Newton's steps on erf, from Giles' first approximation.
static double erfInverse(double y) {
  if (std::isnan(y) || std::fabs(y) > 1)
    return kNaN;
  if (std::fabs(y) == 1)
    return std::copysign(kInf, y);
  if (y == 0)
    return y;
  double w = -std::log((1 - y) * (1 + y)), a = 2 / (M_PI * 0.147) + -w / 2;
  double x = std::copysign(std::sqrt(std::sqrt(a * a + w / 0.147) - a), y);
  for (int step = 0; step < 8; ++step) {
    // Near one the difference is taken of the small side.
    double error = std::fabs(x) < 0.5
                       ? std::erf(x) - y
                       : std::copysign(1, x) *
                             ((1 - std::fabs(y)) - std::erfc(std::fabs(x)));
    double slope = 2 / std::sqrt(M_PI) * std::exp(-x * x);
    double delta = error / slope;
    x -= delta / (1 + x * delta); // Halley's
  }
  return x;
}

/// 9.6.10 for small arguments, 9.7.1 for large ones.
static double besselI1Scaled(double x) {
  double z = std::fabs(x);
  if (std::isnan(x))
    return kNaN;
  if (std::isinf(x))
    return 0;
  double result;
  if (z < 30) {
    double term = z / 2, sum = 0;
    for (int k = 0; k < 200 && term != 0; ++k) {
      sum += term;
      term *= z * z / 4 / ((k + 1.0) * (k + 2.0));
    }
    result = sum * std::exp(-z);
  } else {
    double term = 1, sum = 1;
    for (int k = 1; k < 30; ++k) {
      double odd = 2 * k - 1, next = -term * (4 - odd * odd) / (k * 8 * z);
      if (std::fabs(next) >= std::fabs(term))
        break;
      sum += term = next;
    }
    result = sum / std::sqrt(2 * M_PI * z);
  }
  return std::copysign(result, x);
}

void shardc::interpreter::addSpecialFunctions(Table &table) {
  table.unary["chlo.erf"] = unary<erf1>;
  table.unary["chlo.erfc"] = unary<erfc1>;
  table.unary["chlo.erf_inv"] = unary<erfInverse>;
  table.unary["chlo.lgamma"] = unary<lgamma1>;
  table.unary["chlo.digamma"] = unary<digamma>;
  table.unary["chlo.bessel_i1e"] = unary<besselI1Scaled>;
  table.binary["chlo.zeta"] = binary<zeta>;
  table.binary["chlo.polygamma"] = binary<polygamma>;
}
