"""What each elementwise function is, to more digits than any type has: by MPFR and MPC through gmpy2, by mpmath where they lack it.

A reference takes numbers of Python (exact: every type here is part of f64) and gives an `mpfr` (`mpc` for complex numbers) that is
right to the precision that `precision` has set. It follows IEEE 754, and C's annex G for complex infinities and signed zeros.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gmpy2
import mpmath
from gmpy2 import mpc, mpfr

Reference = Callable[..., Any]


def precision(bits: int) -> None:
    """Sets the precision of all that follows, and an exponent without limits."""
    context = gmpy2.get_context()
    context.precision = bits
    context.emax, context.emin = gmpy2.get_emax_max(), gmpy2.get_emin_min()
    mpmath.mp.prec = bits


def more(bits: int) -> Any:
    """A context with more precision, for sums that cancel."""
    context = gmpy2.get_context().copy()
    context.precision += bits
    return context


def to_mp(x: float) -> Any:
    """An mpfr as a number of mpmath."""
    return mpmath.mpf(x)


def from_mp(x: Any) -> Any:
    """A number of mpmath as an mpfr of the precision set."""
    if mpmath.isnan(x):
        return mpfr("nan")
    if mpmath.isinf(x):
        return mpfr("inf") if x > 0 else mpfr("-inf")
    sign, mantissa, exponent, _ = x._mpf_
    value = gmpy2.mul_2exp(mpfr(gmpy2.mpz(mantissa)), exponent) if exponent >= 0 else gmpy2.div_2exp(mpfr(gmpy2.mpz(mantissa)), -exponent)
    return -value if sign else value


def logistic(x: float) -> Any:
    """1 / (1 + exp(-x))."""
    return 1 / (1 + gmpy2.exp(-mpfr(x)))


def rsqrt(x: float) -> Any:
    """1 / sqrt(x); of a negative zero minus infinity."""
    return mpfr("-inf") if x == 0 and math.copysign(1, x) < 0 else gmpy2.rec_sqrt(mpfr(x))


def power(x: float, y: float) -> Any:
    """IEEE 754's pow."""
    return mpfr(x) ** mpfr(y)


def lgamma(x: float) -> Any:
    """log |gamma(x)|; infinite at poles."""
    if math.isinf(x):
        return mpfr("inf")
    if x <= 0 and x == math.floor(x):
        return mpfr("inf")
    return gmpy2.lgamma(mpfr(x))[0]


def digamma(x: float) -> Any:
    """NaN at poles, and at minus infinity."""
    if x <= 0 and (math.isinf(x) or x == math.floor(x)):
        return mpfr("nan")
    if math.isinf(x):
        return mpfr("inf")
    return gmpy2.digamma(mpfr(x))


def zeta(s: float, q: float) -> Any:
    """Hurwitz zeta for s > 1; NaN below, infinite at poles of q."""
    if math.isnan(s) or math.isnan(q) or s < 1 or math.isinf(q) or math.isinf(s):
        return mpfr("nan")
    if s == 1:
        return mpfr("inf")
    if q <= 0:
        if q == math.floor(q):
            return mpfr("inf")
        if s != math.floor(s):
            return mpfr("nan")
    # mpmath is right to so many bits of one, not of the value, which is about q^-s.
    with mpmath.workprec(mpmath.mp.prec + 60 + int(max(s * math.log2(abs(q)), 0))):
        value = mpmath.zeta(to_mp(s), to_mp(q))
    return from_mp(value)


def polygamma(n: float, x: float) -> Any:
    """Derivative of order n of digamma; NaN for an order that is none."""
    if math.isnan(n) or math.isnan(x) or math.isinf(n) or n < 0 or n != math.floor(n):
        return mpfr("nan")
    if n == 0:
        return digamma(x)
    if math.isinf(x):
        return mpfr(0) if x > 0 else mpfr("nan")
    if x <= 0 and x == math.floor(x):
        return mpfr("inf") if n % 2 else mpfr("-inf")
    with mpmath.workprec(mpmath.mp.prec + 60 + int(max((n + 1) * math.log2(abs(x)), 0))):
        value = mpmath.psi(int(n), to_mp(x))
    return from_mp(value)


def bessel_i1e(x: float) -> Any:
    """exp(-|x|) I1(x)."""
    if math.isinf(x):
        return mpfr(math.copysign(0.0, x))
    if x == 0:
        return mpfr(x)
    a = to_mp(abs(x))
    value = from_mp(mpmath.besseli(1, a) * mpmath.exp(-a)) if a < 1e6 else from_mp(_far_bessel(a))
    return -value if x < 0 else value


def _far_bessel(a: Any) -> Any:
    total, term = mpmath.mpf(1), mpmath.mpf(1)
    for k in range(1, 30):
        term = -term * (4 - (2 * k - 1) ** 2) / (8 * k * a)
        total += term
    return total / mpmath.sqrt(2 * mpmath.pi * a)


def erf_inv(x: float) -> Any:
    """Newton's method on erf, on erfc near one."""
    if not -1 <= x <= 1:
        return mpfr("nan")
    if abs(x) == 1:
        return mpfr(math.copysign(math.inf, x))
    if x == 0:
        return mpfr(x)
    a = mpfr(abs(x))
    w = -math.log1p(-float(a)) - math.log1p(float(a))
    c = 2 / (math.pi * 0.147) - w / 2
    y = mpfr(math.sqrt(max(math.sqrt(c * c + w / 0.147) - c, 1e-300))) if a > 1e-8 else a * 0.8862269254527580
    scale = gmpy2.sqrt(gmpy2.const_pi()) / 2
    with more(40):
        rest = 1 - mpfr(a)
    for _ in range(60):
        error = gmpy2.erf(y) - a if a < 0.5 else rest - gmpy2.erfc(y)
        step = error * gmpy2.exp(y * y) * scale
        step = step / (1 + y * step)
        y -= step
        if abs(step) <= abs(y) * mpfr(2) ** -(gmpy2.get_context().precision - 12):
            break
    return -y if x < 0 else y


def next_after(x: float, y: float, bits: int) -> Any:
    """The next number of a type with ``bits`` bits."""
    import numpy as np

    kind = np.float32 if bits == 24 else np.float64
    return mpfr(float(np.nextafter(kind(x), kind(y))))


def complex_log1p(z: complex) -> Any:
    """log(1 + z)."""
    x, y = mpfr(z.real), mpfr(z.imag)
    if not (gmpy2.is_finite(x) and gmpy2.is_finite(y)):
        return gmpy2.log(mpc(1 + x, y))
    # The exact sum: the smallest number squared has 2^-2148 as its last bit.
    small = x != 0 and abs(x) < 2 and abs(y) < 2
    context = gmpy2.get_context().copy()
    if small and abs(2 * x + x * x + y * y) < abs(x) * 0.5:
        context.precision = 4600
    with context:
        inner = x * (2 + x) + y * y
    with more(2200 if small else 0):
        one_more = 1 + x
    re = gmpy2.log1p(inner) / 2 if abs(inner) < 0.5 else gmpy2.log(mpc(one_more, y)).real
    return mpc(re, gmpy2.atan2(y, one_more))


def complex_exp(z: complex) -> Any:
    """Without an angle NaN, as StableHLO has it where C gives 0 or infinity at an infinite real part."""
    if math.isinf(z.real) and not math.isfinite(z.imag):
        return mpc(mpfr("nan"), mpfr("nan"))
    return gmpy2.exp(mpc(z))


def complex_expm1(z: complex) -> Any:
    """exp(z) - 1."""
    value = gmpy2.exp(mpc(z))
    if z.imag == 0:
        return mpc(gmpy2.expm1(mpfr(z.real)), value.imag)
    if not (math.isfinite(z.real) and math.isfinite(z.imag)):
        return value - 1
    x, y = mpfr(z.real), mpfr(z.imag)
    with more(200):
        half = gmpy2.sin(y / 2)
        re = gmpy2.expm1(x) * gmpy2.cos(y) - 2 * half * half
    return mpc(re, value.imag)


def complex_logistic(z: complex) -> Any:
    """1 / (1 + exp(-z)), by parts."""
    x, y = mpfr(z.real), mpfr(z.imag)
    with more(200):
        sine, cosine = gmpy2.sin_cos(y)
        if abs(x) > 3000:
            e = gmpy2.exp(-abs(x))
            return mpc(mpfr(1), e * sine) if x > 0 else mpc(e * cosine, e * sine)
        e = gmpy2.exp(-x)
        re, im = 1 + e * cosine, e * sine
        below = re * re + im * im
        return mpc(re / below, im / below)


def complex_tanh(z: complex) -> Any:
    """By real functions, none of which cancels: MPC's takes for ever far from the imaginary axis."""
    if not (math.isfinite(z.real) and math.isfinite(z.imag)):
        return gmpy2.tanh(mpc(z))
    x, y = mpfr(z.real), mpfr(z.imag)
    with more(20):
        sine, cosine = gmpy2.sin_cos(y)
        if abs(x) > 10000:
            return mpc(gmpy2.copy_sign(mpfr(1), x), 4 * sine * cosine * gmpy2.exp(-2 * abs(x)))
        below = gmpy2.sinh(x) ** 2 + cosine**2
        return mpc(gmpy2.sinh(x) * gmpy2.cosh(x) / below, sine * cosine / below)


def complex_tan(z: complex) -> Any:
    """-i tanh(i z)."""
    value = complex_tanh(complex(-z.imag, z.real))
    return mpc(value.imag, -value.real)


def complex_sqrt(z: complex) -> Any:
    """On the cut the upper side, whatever the sign of the zero, as XLA has it."""
    value = gmpy2.sqrt(mpc(z))
    return mpc(value.real, abs(value.imag)) if z.imag == 0 else value


def complex_rsqrt(z: complex) -> Any:
    """1 / sqrt(z), whose cut has two sides."""
    with more(80):
        return 1 / gmpy2.sqrt(mpc(z))


def complex_acosh(z: complex) -> Any:
    """Of an imaginary NaN the imaginary part is a right angle, as C has it since 2011."""
    value = gmpy2.acosh(mpc(z))
    return mpc(value.real, gmpy2.const_pi() / 2) if z.real == 0 and math.isnan(z.imag) else value


def complex_sign(z: complex) -> Any:
    """z / |z|."""
    if z == 0:
        return mpc(z)
    with more(80):
        return mpc(z) / gmpy2.sqrt(gmpy2.norm(mpc(z)))


def exact(fn: Reference) -> Reference:
    """``fn`` in so many digits that sums of products have no rounding."""

    def wide(*args: Any) -> Any:
        with more(4600):
            return fn(*args)

    return wide


@dataclass(frozen=True)
class Function:
    """An op, what it is, and how dear its reference is (points are divided by this)."""

    op: str
    real: Reference | None = None
    complex: Reference | None = None
    arity: int = 1
    cost: int = 1
    real_result: bool = False
    # True if infinities and NaN as arguments of complex numbers are compared with the reference.
    limits: bool = True
    # Largest error in ulp of real numbers where it is not that of all.
    bound: float | None = None


def _real(fn: Any) -> Reference:
    return lambda x: fn(mpfr(x))


def _complex(fn: Any) -> Reference:
    return lambda z: fn(mpc(z))


FUNCTIONS = [
    Function("stablehlo.exponential", _real(gmpy2.exp), complex_exp),
    Function("stablehlo.exponential_minus_one", _real(gmpy2.expm1), complex_expm1, limits=False),
    Function("stablehlo.log", _real(gmpy2.log), _complex(gmpy2.log)),
    Function("stablehlo.log_plus_one", _real(gmpy2.log1p), complex_log1p),
    Function("stablehlo.logistic", logistic, complex_logistic, limits=False),
    Function("stablehlo.sine", _real(gmpy2.sin), _complex(gmpy2.sin)),
    Function("stablehlo.cosine", _real(gmpy2.cos), _complex(gmpy2.cos)),
    Function("stablehlo.tan", _real(gmpy2.tan), complex_tan),
    Function("stablehlo.tanh", _real(gmpy2.tanh), complex_tanh),
    Function("stablehlo.sqrt", _real(gmpy2.sqrt), complex_sqrt, bound=0.5),
    Function("stablehlo.rsqrt", rsqrt, complex_rsqrt, limits=False),
    Function("stablehlo.cbrt", _real(gmpy2.cbrt)),
    Function("stablehlo.power", power, lambda x, y: gmpy2.exp(mpc(y) * gmpy2.log(mpc(x))), arity=2, limits=False),
    Function("stablehlo.atan2", lambda y, x: gmpy2.atan2(mpfr(y), mpfr(x)), arity=2),
    Function("stablehlo.remainder", lambda x, y: gmpy2.fmod(mpfr(x), mpfr(y)), arity=2, bound=0),
    Function("chlo.acos", _real(gmpy2.acos), _complex(gmpy2.acos)),
    Function("chlo.asin", _real(gmpy2.asin), _complex(gmpy2.asin)),
    Function("chlo.atan", _real(gmpy2.atan), _complex(gmpy2.atan)),
    Function("chlo.acosh", _real(gmpy2.acosh), complex_acosh),
    Function("chlo.asinh", _real(gmpy2.asinh), _complex(gmpy2.asinh)),
    Function("chlo.atanh", _real(gmpy2.atanh), _complex(gmpy2.atanh)),
    Function("chlo.sinh", _real(gmpy2.sinh), _complex(gmpy2.sinh)),
    Function("chlo.cosh", _real(gmpy2.cosh), _complex(gmpy2.cosh)),
    Function("chlo.erf", _real(gmpy2.erf)),
    Function("chlo.erfc", _real(gmpy2.erfc)),
    Function("chlo.erf_inv", erf_inv, cost=20),
    Function("chlo.lgamma", lgamma, cost=4),
    Function("chlo.digamma", digamma, cost=4),
    Function("chlo.polygamma", polygamma, arity=2, cost=40),
    Function("chlo.zeta", zeta, arity=2, cost=40),
    Function("chlo.bessel_i1e", bessel_i1e, cost=20),
    Function("chlo.square", exact(lambda x: mpfr(x) * mpfr(x)), exact(lambda z: mpc(z) * mpc(z)), bound=0.5, limits=False),
    Function("chlo.next_after", next_after, arity=2, bound=0),
    Function("stablehlo.abs", _real(abs), exact(lambda z: gmpy2.sqrt(gmpy2.norm(mpc(z)))), real_result=True, bound=0),
    Function("stablehlo.sign", complex=complex_sign, limits=False),
    Function("stablehlo.multiply", complex=exact(lambda x, y: mpc(x) * mpc(y)), arity=2, limits=False),
    Function("stablehlo.divide", complex=exact(lambda x, y: mpc(x) / mpc(y)), arity=2, limits=False),
]
