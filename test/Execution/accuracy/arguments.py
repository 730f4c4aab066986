"""Arguments that find a function's worst: every binade, what is special, and the places where formulas change or cancel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Format:
    """A type of floats: its bits of precision, its least normal exponent, and NumPy's type that holds its numbers."""

    name: str
    precision: int
    least_exponent: int
    largest_exponent: int
    holder: Any

    def round(self, values: Array) -> Array:
        """Numbers of this type near ``values``, which are f64."""
        with np.errstate(all="ignore"):
            if self.name == "bf16":
                bits = np.asarray(values, np.float32).view(np.uint32)
                nan = np.isnan(values)
                rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(np.float32)
                return np.where(nan, np.float32("nan"), rounded).astype(np.float64)
            return np.asarray(values).astype(self.holder).astype(np.float64)

    def store(self, values: Array) -> Array:
        """As shard-run reads them."""
        if self.name == "bf16":
            return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        return values.astype(self.holder)

    def load(self, stored: Array) -> Array:
        """As f64."""
        if self.name == "bf16":
            return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        return stored.astype(np.float64)


FORMATS = {
    "f16": Format("f16", 11, -14, 15, np.float16),
    "bf16": Format("bf16", 8, -126, 127, np.uint16),
    "f32": Format("f32", 24, -126, 127, np.float32),
    "f64": Format("f64", 53, -1022, 1023, np.float64),
}

# Zeros of lgamma and digamma, thresholds, numbers around which functions are expanded, those of which tanh is a power of two, and where exp(x) - 1 is the
# small difference of large terms.
PLACES = [
    0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 8.0, 10.0, 12.0, 16.0, 20.0, 22.0, 24.0, 27.2, 30.0, 88.7228, 87.3365, 103.97, 104.0,
    709.7827, 708.3964, 744.44, 745.13, 710.4758, 89.4159, 0.34657359, 0.6931472, 1.0397208, 9.01, 17.3, 26.5, 10.05, 3.8325, 18.7149, 5.9,
    1.4616321449683623, -0.5040830082644554, -1.5734984731623905, -2.6107208684441447, -2.4570247382208, -2.7476826467274127,
    -3.1435808883499798, -3.9552942848585979, -4.0391395327214, -4.9915473, -1.0, -2.0, -3.0, -10.0, -20.5, 0.84375, 1.25, 2.857142,
    0.46875, 0.4142135623730951, 2.414213562373095, 0.2928932, 0.7071067811865476, 1.4142135623730951, 0.41421356, 0.36787944, 131072.0,
    0.125657214, 0.255412812, 18.541707, 0.357500851,
]


def every_number(form: Format) -> Array:
    """All of a type with 16 bits."""
    bits = np.arange(1 << 16, dtype=np.uint16)
    return form.load(bits) if form.name == "bf16" else bits.view(np.float16).astype(np.float64)


def special(form: Format) -> Array:
    """Zeros, infinities, NaN, the ends of the normal and of the subnormal numbers, small integers."""
    least = 2.0 ** (form.least_exponent - form.precision + 1) if form.name != "f64" else 5e-324
    most = (2 - 2.0 ** (1 - form.precision)) * 2.0**form.largest_exponent
    normal = 2.0**form.least_exponent
    ends = [0.0, least, 2 * least, 3 * least, normal - least, normal, normal + least, most, most / 2, 1.0, 2.0, np.inf]
    return np.array([np.nan] + [s * x for x in ends for s in (1, -1)] + [float(k) / 2 for k in range(-12, 13)])


def near(form: Format, places: Array, steps: int, rng: np.random.Generator) -> Array:
    """Numbers some steps of the type from ``places``."""
    size = np.maximum(np.abs(places), 2.0**form.least_exponent)
    step = 2.0 ** (np.floor(np.log2(size)) - form.precision + 1)
    return (form.round(places) + step * rng.integers(-steps, steps + 1, len(places))).astype(np.float64)


def spread(form: Format, count: int, rng: np.random.Generator, signed: bool = True) -> Array:
    """Every exponent as often, subnormal ones too, random mantissas."""
    low = form.least_exponent - form.precision + 1
    exponents = low + rng.permutation(count) % (form.largest_exponent - low + 1)
    with np.errstate(all="ignore"):
        values = np.ldexp(1 + rng.random(count), exponents)
    return values * np.where(rng.random(count) < 0.5, -1, 1) if signed else values


def real(form: Format, count: int, rng: np.random.Generator) -> Array:
    """Arguments of a function of one real number."""
    part = max(count // 8, 16)
    multiples = rng.integers(-40, 41, part // 2) * (np.pi / 2)
    far = rng.integers(-(1 << 23), 1 << 23, part // 4) * (np.pi / 2)
    limit = 120 if form.name == "f32" or form.name == "bf16" else 12 if form.name == "f16" else 760
    pieces = [
        special(form),
        spread(form, 2 * part, rng),
        near(form, rng.choice(np.array(PLACES), part // 2), 40, rng),
        near(form, -rng.choice(np.array(PLACES), part // 4), 40, rng),
        near(form, multiples, 4, rng),
        near(form, far, 2, rng),
        np.sign(rng.random(part) - 0.5) * (1 + rng.choice([-1, 1], part) * 2.0 ** -rng.uniform(0, form.precision, part)),
        rng.uniform(-1, 1, part),
        rng.uniform(-8, 8, part),
        rng.uniform(-limit, limit, part),
        rng.uniform(-30, 30, part),
    ]
    return form.round(np.concatenate(pieces))


def pairs(op: str, form: Format, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Arguments of a function of two real numbers."""
    part = count // 4
    few = special(form)
    grid = np.meshgrid(few, few)
    if op == "stablehlo.power":
        x = np.concatenate([spread(form, part, rng, signed=False), 2.0 ** rng.uniform(-1, 1, part), 1 + rng.normal(0, 1e-4, part)])
        most = form.largest_exponent + form.precision
        with np.errstate(all="ignore"):
            y = rng.uniform(-1.02, 1.02, len(x)) * most / np.log2(form.round(x))
        y[::5] = np.round(rng.uniform(-40, 40, len(y[::5])))
        x[::10] *= -1
        y[1::7] = rng.choice([0.5, 2, 3, -1, -0.5, 1 / 3, 1.5, 10], len(y[1::7]))
    elif op == "chlo.zeta":
        x = np.concatenate([1 + 2.0 ** rng.uniform(-20, 6, part), rng.uniform(1, 12, part), rng.integers(2, 40, part)])
        y = np.concatenate([2.0 ** rng.uniform(-20, 30, part), rng.uniform(0, 20, part), rng.uniform(0.01, 300, part)])
    elif op == "chlo.polygamma":
        x = rng.integers(0, 12, 3 * part).astype(np.float64)
        y = np.concatenate([2.0 ** rng.uniform(-20, 20, part), rng.uniform(0, 20, part), rng.uniform(0.01, 300, part)])
    else:
        x = np.concatenate([spread(form, part, rng), rng.uniform(-10, 10, part), spread(form, part, rng)])
        y = np.concatenate([spread(form, part, rng), rng.uniform(-10, 10, part), x[2 * part :] * 2.0 ** rng.uniform(-30, 30, part)])
    x, y = np.concatenate([grid[0].ravel(), x]), np.concatenate([grid[1].ravel(), y])
    if op in ("chlo.zeta", "chlo.polygamma"):
        # Above zero, as documented, and not where the reference takes for ever: huge orders.
        x, y = form.round(x), form.round(y)
        kept = (np.abs(x) < 1000) & (y > 0) & (y < 1e300)
        x, y = x[kept], y[kept]
    return form.round(x), form.round(y)


def complex_numbers(form: Format, count: int, rng: np.random.Generator) -> Array:
    """Arguments of a function of one complex number."""
    part = max(count // 10, 16)
    few = np.array([0.0, -0.0, 1.0, -1.0, 1.5, -0.75, np.inf, -np.inf, np.nan, 2.0**form.least_exponent, -(2.0**form.least_exponent),
                    1.5 * 2.0**form.largest_exponent, -1.5 * 2.0**form.largest_exponent, np.pi / 2, 100.0, -3e-5,
                    2.0 ** (form.least_exponent - form.precision + 1), -1e3, 2.0 ** -(form.precision // 2)])
    grid = np.meshgrid(few, few)
    angle, radius = rng.uniform(-np.pi, np.pi, part), 1 + rng.choice([-1, 1], part) * 2.0 ** -rng.uniform(1, form.precision + 2, part)
    limit = 100 if form.name == "f32" else 740
    tiny = 2.0 ** -rng.uniform(0, 40, part)
    size = 2.0 ** rng.uniform(-30, 30, part)
    re = [grid[0].ravel(), spread(form, part, rng), spread(form, part, rng), rng.uniform(-2, 2, part), rng.uniform(-10, 10, part),
          rng.uniform(-limit, limit, part), radius * np.cos(angle), rng.choice([-1.0, 1.0, 0.0, -2.0], part) + tiny * rng.uniform(-1, 1, part),
          size * rng.uniform(-1, 1, part), near(form, rng.integers(-9, 10, part) * (np.pi / 4), 3, rng), radius * np.cos(angle) - 1]
    im = [grid[1].ravel(), spread(form, part, rng), rng.uniform(-10, 10, part), rng.uniform(-2, 2, part), rng.uniform(-10, 10, part),
          rng.uniform(-limit, limit, part), radius * np.sin(angle), rng.choice([-1.0, 1.0, 0.0], part) + tiny**2 * rng.uniform(-1, 1, part),
          size * rng.uniform(-1, 1, part), near(form, rng.integers(-9, 10, part) * (np.pi / 4), 3, rng), radius * np.sin(angle)]
    return join(form.round(np.concatenate(re)), form.round(np.concatenate(im)))


def join(re: Array, im: Array) -> Array:
    """Complex numbers of parts; an infinite part leaves the other as it is."""
    values = np.empty(len(re), np.complex128)
    values.real, values.imag = re, im
    return values


def complex_pairs(op: str, form: Format, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Arguments of a function of two complex numbers, finite ones."""
    x = complex_numbers(form, count // 2, rng)
    if op == "stablehlo.power":
        size = 2.0 ** rng.uniform(-6, 6, count)
        x = size * np.exp(1j * rng.uniform(-np.pi, np.pi, count))
        y = rng.uniform(-8, 8, count) + 1j * rng.uniform(-8, 8, count)
        y[::4] = rng.integers(-5, 6, len(y[::4]))
        y[1::8] = rng.uniform(-30, 30, len(y[1::8]))
        # Near one to a large power; of every size to a small one.
        some = len(x[2::8])
        x[2::8] = 1 + 2.0 ** -rng.uniform(1, 20, some) * np.exp(1j * rng.uniform(-np.pi, np.pi, some))
        y[2::8] = rng.uniform(-80, 80, some) / np.abs(np.log(x[2::8]))
        some = len(x[3::8])
        x[3::8] = 2.0 ** rng.uniform(-100, 100, some) * np.exp(1j * rng.uniform(-np.pi, np.pi, some))
        y[3::8] = rng.uniform(-1, 1, some) + 1j * rng.uniform(-1, 1, some)
    else:
        y = rng.permutation(x)
        # Products and quotients whose parts cancel.
        with np.errstate(all="ignore"):
            y[::3] = np.conj(x[::3]) * (1 + 2.0 ** -rng.uniform(0, form.precision, len(y[::3])))
    x, y = join(form.round(x.real), form.round(x.imag)), join(form.round(y.real), form.round(y.imag))
    finite = np.isfinite(x.real) & np.isfinite(x.imag) & np.isfinite(y.real) & np.isfinite(y.imag)
    return x[finite], y[finite]
