"""How far approximated functions are from the truth, in units in the last place.

``functions.py SHARD-RUN DIR [OPTION...]``: each function of f32 on arguments over its whole range, against NumPy in f64
(f64 functions against long double); a bound for each, the same on every device. docs/Reference/accuracy.md lists the bounds.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
COUNT = 4096

# Bounds in ulp of the result: (f32, f64). f64 is the C library's but for exponential_minus_one and log_plus_one.
FUNCTIONS: dict[str, tuple[Callable[[Array], Array], tuple[float, float], tuple[float, float]]] = {
    # name: function, (lowest, highest argument), bounds
    "exponential": (np.exp, (-87, 88), (2, 1)),
    "exponential_minus_one": (np.expm1, (-20, 88), (3, 3)),
    "log": (np.log, (1e-38, 3e38), (2, 1)),
    "log_plus_one": (np.log1p, (-0.999, 1e6), (3, 3)),
    "tanh": (np.tanh, (-12, 12), (6, 2)),
    "logistic": (lambda x: 1 / (1 + np.exp(-x)), (-80, 80), (4, 3)),
    "sine": (np.sin, (-1e5, 1e5), (2, 1)),
    "cosine": (np.cos, (-1e5, 1e5), (2, 1)),
    "tan": (np.tan, (-1e3, 1e3), (5, 3)),
    "sqrt": (np.sqrt, (0, 3e38), (1, 1)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), (1e-38, 3e38), (2, 2)),
    "cbrt": (np.cbrt, (-3e38, 3e38), (1, 4)),
}
# The second argument is the first one's values in another order, divided by 16.
BINARY: dict[str, tuple[Callable[[Array, Array], Array], tuple[float, float], tuple[float, float]]] = {
    "power": (np.power, (1e-3, 30), (3, 2)),
    "atan2": (np.arctan2, (-1e4, 1e4), (4, 2)),
}
TYPES = {"f32": (np.float32, np.float64), "f64": (np.float64, np.longdouble)}


def arguments(low: float, high: float, dtype: Any) -> Array:
    """Evenly spread, spread over magnitudes, and near zero."""
    rng = np.random.default_rng(1)
    even = rng.uniform(low, high, COUNT // 2)
    tiny = 1e-30 if low < 1e-30 else low
    sizes = np.exp(rng.uniform(np.log(max(tiny, 1e-30)), np.log(high), COUNT // 2))
    signs = np.where(rng.random(COUNT // 2) < 0.5, -1, 1) if low < 0 else 1
    spread = sizes * signs
    return np.clip(np.concatenate([even, spread]), low, high).astype(dtype)


def distance(got: Array, exact: Array, dtype: Any) -> Array:
    """Distance in ulp of the exact value."""
    step = np.spacing(np.abs(exact.astype(dtype)).clip(np.finfo(dtype).tiny)).astype(exact.dtype)
    return np.abs(got.astype(exact.dtype) - exact) / step


def main() -> None:
    """Prints a table; exits 1 where a bound does not hold."""
    shard_run, directory, *options = sys.argv[1], Path(sys.argv[2]), *sys.argv[3:]
    directory.mkdir(parents=True, exist_ok=True)
    failed = False
    page = (Path(__file__).resolve().parents[3] / "docs/Reference/accuracy.md").read_text()
    for op, (_, (low, high), (single, double)) in (FUNCTIONS | BINARY).items():
        row = f"| `{op}` | {low:g} to {high:g} | {single + 0.5} | {double + 0.5} |"
        if row not in page:
            failed = True
            print(f"docs/Reference/accuracy.md lacks the row\n{row}")
    for index, (name, (dtype, wide)) in enumerate(TYPES.items()):
        kind = f"tensor<{COUNT}x{name}>"
        values = [arguments(low, high, dtype) for _, (low, high), _ in FUNCTIONS.values()]
        # Beyond the range of the fast reduction, and what is no number.
        huge = np.resize(np.array([1e6, -3e7, 1e30, np.inf, np.nan, 131072.5, 2.5e5], dtype), COUNT)
        values += [huge, huge]
        values += [arguments(low, high, dtype) for _, (low, high), _ in BINARY.values()]
        seconds = {op: np.roll(value, 7) / 16 for op, value in zip(BINARY, values[-len(BINARY):])}
        ops = [*FUNCTIONS, "sine", "cosine", *BINARY]
        lines = [f"%{i} = stablehlo.{op} %a{i}{f', %b{list(BINARY).index(op)}' if op in BINARY else ''} : {kind}"
                 for i, op in enumerate(ops)]
        kinds = ", ".join([kind] * len(ops))
        names = [f"%a{i}: {kind}" for i in range(len(ops))] + [f"%b{i}: {kind}" for i in range(len(BINARY))]
        text = (f"func.func @main({', '.join(names)}) -> ({kinds}) {{\n  "
                + "\n  ".join(lines) + f"\n  return {', '.join(f'%{i}' for i in range(len(ops)))} : {kinds}\n}}\n")
        stem = directory / f"functions_{name}"
        stem.with_suffix(".mlir").write_text(text)
        np.savez(stem.with_suffix(".npz"), **{f"in{i}": value for i, value in enumerate([*values, *seconds.values()])})
        out = directory / f"functions_{name}_out.npz"
        subprocess.run([shard_run, str(stem.with_suffix(".mlir")), f"--inputs=@{stem}.npz", f"--outputs=@{out}", *options],
                       check=True, capture_output=True)
        with np.load(out) as archive, np.errstate(all="ignore"):
            for i, op in enumerate(ops):
                fn, _, bounds = (FUNCTIONS | BINARY)[op]
                taken = [values[i]] + ([seconds[op]] if op in BINARY else [])
                exact, got = fn(*(value.astype(wide) for value in taken)), archive[f"out{i}"]
                assert np.array_equal(np.isnan(exact), np.isnan(got)), f"{op} of {name}: NaN elsewhere"
                known = np.isfinite(exact.astype(dtype))
                assert np.array_equal(exact.astype(dtype)[~known & ~np.isnan(exact)],
                                      got[~known & ~np.isnan(exact)]), f"{op} of {name}: infinities elsewhere"
                error = distance(got[known], exact[known], dtype)
                worst = float(error.max())
                at = values[i][known][int(error.argmax())]
                held = worst <= bounds[index] + 0.5
                failed |= not held
                print(f"{name} {op}: {worst:.2f} ulp at {at!r}, allowed {bounds[index] + 0.5}{'' if held else '  FAILED'}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
