"""How far elementwise functions are from the truth, in units in the last place, beside a library of multiple precision.

``accuracy.py SHARD-RUN DIR [--functions=LIST] [--types=LIST] [--count=N] [--widths=LIST] [--device=NAME] [--arch=NAME] [--seed=S]``

Each function is compiled twice: on one long array, which vectors compute and a scalar remainder ends, and on columns of 1 to 7
(``--widths``) elements, which are remainders or narrower vectors. Both must give the same bits. The error of an element is |result - exact| in
units in the last place of the exact value (of the least subnormal number below the normal ones); an infinity counts as the
number that would follow the largest. Where the exact value is zero, infinite or NaN, the result must be it, with its sign.
Complex results are measured by part. Exit status 1: a bound is exceeded, a limit is wrong, or two forms differ.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import arguments
import gmpy2
import numpy as np
import references
from arguments import FORMATS, Array, Format
from gmpy2 import mpfr
from references import FUNCTIONS, Function

# Largest errors in ulp: f32 and f64 on the CPU, in kernels for GPUs, complex numbers by part, and narrow floats, whose
# results are those of f32 rounded once more.
BOUNDS = {"cpu": 1.0, "device": 2.0, "complex": 3.0, "narrow": 0.502}
COLUMNS = 8


@dataclass
class Result:
    """What was measured of a function on a type."""

    op: str
    kind: str
    bound: float
    count: int = 0
    worst: float = 0.0
    at: str = ""
    total: float = 0.0
    beyond: int = 0
    wrong: list[str] = field(default_factory=list)

    def row(self) -> str:
        """A line of the table that is printed."""
        mean = self.total / max(self.count, 1)
        state = "" if self.held() else "  FAILED"
        return (f"{self.op:35} {self.kind:14} worst {self.worst:10.4g} ulp at {self.at:44} mean {mean:6.3f} "
                f"beyond 1 ulp {100 * self.beyond / max(self.count, 1):6.2f} % of {self.count}{state}")

    def held(self) -> bool:
        """True if nothing failed."""
        return self.worst <= self.bound and not self.wrong


def exponent_of(exact: Any) -> int:
    """e where 2^e <= |exact| < 2^(e + 1)."""
    mantissa, exponent = exact.as_mantissa_exp()
    return int(exponent + abs(mantissa).bit_length() - 1)


def error_of(got: float, exact: Any, form: Format, signed: bool) -> float | None:
    """The distance in ulp; None where a limit is wrong, or with ``signed`` the sign of a zero."""
    if gmpy2.is_nan(exact):
        return 0.0 if math.isnan(got) else None
    if math.isnan(got):
        return None
    if gmpy2.is_infinite(exact):
        return 0.0 if math.isinf(got) and (got > 0) == (exact > 0) else None
    if exact == 0:
        return 0.0 if got == 0 and (not signed or math.copysign(1, got) == gmpy2.copy_sign(mpfr(1), exact)) else None
    top = exponent_of(exact)
    if top > form.largest_exponent:
        return 0.0 if math.isinf(got) and (got > 0) == (exact > 0) else math.inf
    unit = max(top, form.least_exponent) - form.precision + 1
    if math.isinf(got) and (got > 0) != (exact > 0):
        return None
    value = gmpy2.mul_2exp(mpfr(1), form.largest_exponent + 1) * (1 if got > 0 else -1) if math.isinf(got) else mpfr(got)
    apart = abs(value - exact)
    if apart == 0:
        return 0.0
    return float(gmpy2.mul_2exp(apart, -unit) if unit < 0 else gmpy2.div_2exp(apart, unit))


def same_limits(got: float, exact: Any) -> bool:
    """For arguments that are no numbers: infinite, NaN or zero as the reference is, zero's and NaN's signs left out."""
    return (math.isnan(got) == bool(gmpy2.is_nan(exact))) and (math.isinf(got) == bool(gmpy2.is_infinite(exact)))


def program(function: Function, kind: str, shape: str, columns: list[int]) -> str:
    """A function of one or two arrays; with ``columns`` of the first so many elements of each row."""
    out = kind[8:-1] if function.real_result and kind.startswith("complex") else kind
    full = f"tensor<{shape}x{kind}>"
    names = ["%a", "%b"][: function.arity]
    head = ", ".join(f"{name}: {full}" for name in names)
    widths = columns or [0]
    lines, results, types = [], [], []
    for width in widths:
        operands, part, to = names, full, f"tensor<{shape}x{out}>"
        if columns:
            rows = shape.split("x")[0]
            part, to = f"tensor<{rows}x{width}x{kind}>", f"tensor<{rows}x{width}x{out}>"
            operands = [f"{name}{width}" for name in names]
            for name, operand in zip(names, operands):
                lines.append(f"{operand} = stablehlo.slice {name} [0:{rows}, 0:{width}] : ({full}) -> {part}")
        result = f"%r{width}"
        if function.op.startswith("chlo."):
            signature = ", ".join([part] * function.arity) + f" -> {to}"
        else:
            signature = part if part == to else f"({part}) -> {to}"
        lines.append(f"{result} = {function.op} {', '.join(operands)} : {signature}")
        results.append(result)
        types.append(to)
    body = "\n  ".join(lines)
    return f"func.func @main({head}) -> ({', '.join(types)}) {{\n  {body}\n  return {', '.join(results)} : {', '.join(types)}\n}}\n"


def stored(form: Format, values: Array) -> Array:
    """As shard-run reads an array."""
    if not np.iscomplexobj(values):
        return form.store(values)
    result = np.empty(len(values), np.complex64 if form.name == "f32" else np.complex128)
    with np.errstate(all="ignore"):
        result.real, result.imag = values.real, values.imag
    return result


def run(command: list[str], stem: Path, text: str, arrays: list[Array]) -> list[Array]:
    """The program's outputs."""
    stem.with_suffix(".mlir").write_text(text)
    np.savez(stem.with_suffix(".npz"), **{f"in{i}": array for i, array in enumerate(arrays)})
    out = stem.with_name(stem.name + "_out.npz")
    done = subprocess.run([*command, str(stem.with_suffix(".mlir")), f"--inputs=@{stem}.npz", f"--outputs=@{out}"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[0] if done.stderr.strip() else f"exit status {done.returncode}")
    with np.load(out) as archive:
        return [archive[f"out{i}"] for i in range(len(archive.files))]


def points(function: Function, form: Format, is_complex: bool, options: argparse.Namespace) -> list[Array]:
    """Arguments of a function."""
    rng = np.random.default_rng(options.seed)
    count = max(options.count // function.cost, 200)
    if is_complex:
        if function.arity == 2:
            return list(arguments.complex_pairs(function.op, form, count, rng))
        values = arguments.complex_numbers(form, count, rng)
        if not function.limits:
            values = values[np.isfinite(values.real) & np.isfinite(values.imag)]
        return [values]
    if function.arity == 2:
        return list(arguments.pairs(function.op, form, count, rng))
    if form.precision < 20:
        return [arguments.every_number(form)[:: function.cost]]
    return [arguments.real(form, count, rng)]


def measure(function: Function, type_name: str, options: argparse.Namespace, directory: Path) -> Result:
    """Runs a function on a type and compares."""
    is_complex = type_name.startswith("complex")
    form = FORMATS[{"complex64": "f32", "complex128": "f64"}.get(type_name, type_name)]
    kind = f"complex<{form.name}>" if is_complex else form.name
    bound = BOUNDS["complex"] if is_complex else BOUNDS["narrow"] if form.precision < 20 else (
        function.bound if function.bound is not None else BOUNDS["device" if options.device else "cpu"])
    result = Result(function.op, kind, bound if options.bound is None else options.bound)
    values = points(function, form, is_complex, options)
    # Whole rows, and a last row that no vector fills.
    rows = len(values[0]) // COLUMNS
    values = [value[: rows * COLUMNS] for value in values]
    arrays = [stored(form, value) for value in values]
    command = [options.shard_run] + [f"--{name}={getattr(options, name)}" for name in ("device", "arch") if getattr(options, name)]
    stem = directory / f"{function.op.split('.')[1]}_{type_name}"
    try:
        flat = [array[:-1] for array in arrays]
        got = run(command, stem, program(function, kind, str(len(flat[0])), []), flat)[0]
        square = [array.reshape(rows, COLUMNS) for array in arrays]
        cut = run(command, stem.with_name(stem.name + "_columns"), program(function, kind, f"{rows}x{COLUMNS}", options.widths), square)
    except RuntimeError as error:
        result.wrong.append(str(error))
        return result
    whole = np.concatenate([got, got[-1:]]).reshape(rows, COLUMNS)
    for width, columns in zip(options.widths, cut, strict=True):
        differs = (columns.view(np.uint8).reshape(rows, width, -1) != np.ascontiguousarray(whole[:, :width]).view(np.uint8).reshape(
            rows, width, -1)).any(2)
        differs[-1] = False
        nan = np.isnan(columns) & np.isnan(whole[:, :width]) if columns.dtype != np.uint16 else np.zeros_like(differs)
        for row, column in np.argwhere(differs & ~nan)[:1]:
            at = ", ".join(repr(array.reshape(rows, COLUMNS)[row, column]) for array in values)
            result.wrong.append(f"{width} columns: at {at} {columns[row, column]!r}, in a long array {whole[row, column]!r}, "
                                f"{int((differs & ~nan).sum())} so")
    # Double the precision and some, so that the reference itself is as good as exact.
    references.precision(2 * form.precision + 30)
    compare(result, function, form, is_complex, [value[: len(got)] for value in values], got)
    return result


def compare(result: Result, function: Function, form: Format, is_complex: bool, values: list[Array], got: Array) -> None:
    """Adds each element's error to ``result``."""
    reference = function.complex if is_complex else function.real
    assert reference is not None
    numbers = [value.tolist() for value in values]
    results = got.tolist() if is_complex or (function.real_result and is_complex) else form.load(got).tolist()
    extra = (form.precision,) if function.op == "chlo.next_after" else ()
    for taken in zip(*numbers, results):
        given, found = taken[:-1], taken[-1]
        exact = reference(*given, *extra)
        if is_complex and not function.real_result:
            parts = [("re", found.real, exact.real), ("im", found.imag, exact.imag)]
        else:
            parts = [("", float(found.real) if is_complex else found, exact)]
        ordinary = all(math.isfinite(x.real) and math.isfinite(x.imag) for x in given)
        for name, part, truth in parts:
            at = ", ".join(repr(x) for x in given) + (f" {name}" if name else "")
            if is_complex and not ordinary:
                if not same_limits(part, truth):
                    result.wrong.append(f"at {at}: {part!r}, expected {float(truth)!r}")
                continue
            error = error_of(part, truth, form, not is_complex or function.limits)
            if error is None:
                result.wrong.append(f"at {at}: {part!r}, expected {float(truth)!r}")
                continue
            result.count += 1
            result.total += min(error, 1e6)
            result.beyond += error > 1
            if error > result.worst:
                result.worst, result.at = error, at


def main() -> None:
    """Prints a line for each function and type; exits 1 where one failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shard_run")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--functions", default="", help="names without dialect, by commas; default: all")
    parser.add_argument("--types", default="f32,f64,complex64,complex128,f16,bf16")
    parser.add_argument("--count", type=int, default=20000, help="points for each function and type; 16-bit types have them all")
    parser.add_argument("--widths", default=[*range(1, COLUMNS)], type=lambda text: [int(width) for width in text.split(",")],
                        help="of the columns that are computed for themselves (default: 1 to 7)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="", help="as of shard-run: emulated-cuda")
    parser.add_argument("--arch", default="", help="as of shard-run: x86-64-v3")
    parser.add_argument("--bound", type=float, help="in the place of each function's own")
    parser.add_argument("--show", type=int, default=3, help="wrong limits shown of each function")
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    names = options.functions.split(",") if options.functions else [f.op.split(".")[1] for f in FUNCTIONS]
    unknown = set(names) - {f.op.split(".")[1] for f in FUNCTIONS}
    if unknown:
        parser.error(f"unknown functions: {', '.join(sorted(unknown))}")
    failed = 0
    todo = [(function, name) for name in options.types.split(",") for function in FUNCTIONS if function.op.split(".")[1] in names
            and (function.complex if name.startswith("complex") else function.real)
            # Steps of narrow floats have no reference.
            and not (name in ("f16", "bf16") and function.op == "chlo.next_after")]
    for function, name in todo:
        start = time.monotonic()
        result = measure(function, name, options, options.directory)
        print(f"{result.row()}  {time.monotonic() - start:.1f} s", flush=True)
        for line in result.wrong[: options.show]:
            print(f"    {line}", flush=True)
        if len(result.wrong) > options.show:
            print(f"    and {len(result.wrong) - options.show} more", flush=True)
        failed += not result.held()
    print(f"{len(todo) - failed} of {len(todo)} within their bounds")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
