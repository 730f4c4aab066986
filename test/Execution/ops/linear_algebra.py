"""Custom calls of LAPACK, as JAX prints them, against what defines their results.

``linear_algebra.py SHARD-RUN DIR``: for each element type one program with every call, its batch of three matrices cut
over two ranks; factors must multiply up to what they were made of, and follow LAPACK's conventions where NumPy's do.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
BATCH = 3
LETTERS = {"f32": ("s", np.float32), "f64": ("d", np.float64),
           "complex<f32>": ("c", np.complex64), "complex<f64>": ("z", np.complex128)}


def tensor(element: str, *shape: int) -> str:
    """The type of a tensor as MLIR writes it."""
    return "tensor<" + "".join(f"{n}x" for n in shape) + element + ">"


class Program:
    """Calls on arguments; every result of a call is a result of @main."""

    def __init__(self, element: str) -> None:
        self.element = element
        self.arguments: list[tuple[str, Array]] = []
        self.lines: list[str] = []
        self.results: list[tuple[str, str]] = []

    def argument(self, array: Array, element: str = "") -> str:
        self.arguments.append((tensor(element or self.element, *array.shape), array))
        return f"%arg{len(self.arguments) - 1}"

    def call(self, target: str, operands: list[tuple[str, str]], config: str, results: list[str]) -> list[int]:
        """Returns the numbers of the outputs."""
        name = f"%r{len(self.lines)}"
        count = f"{name}:{len(results)}" if len(results) > 1 else name
        types = ", ".join(kind for _, kind in operands)
        self.lines.append(f"{count} = stablehlo.custom_call @{target}({', '.join(value for value, _ in operands)}) "
                          f"{{mhlo.backend_config = {{{config}}}}} : ({types}) -> ({', '.join(results)})")
        first = len(self.results)
        for i, kind in enumerate(results):
            self.results.append((f"{name}#{i}" if len(results) > 1 else name, kind))
        return list(range(first, len(self.results)))

    def text(self) -> str:
        def cut(kind: str) -> str:
            rank = kind.count("x") - (1 if "complex" in kind else 0)
            dims = ", ".join(['{"x"}'] + ["{}"] * (rank - 1))
            return f"{{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}"

        arguments = ", ".join(f"%arg{i}: {kind} {cut(kind)}" for i, (kind, _) in enumerate(self.arguments))
        results = ", ".join(kind for _, kind in self.results)
        values = ", ".join(value for value, _ in self.results)
        return (f'sdy.mesh @mesh = <["x"=2]>\nfunc.func public @main({arguments}) -> ({results}) {{\n  '
                + "\n  ".join(self.lines) + f"\n  return {values} : {results}\n}}\n")


def adjoint(array: Array) -> Array:
    """The last two dims exchanged, conjugated."""
    return np.swapaxes(array, -1, -2).conj()


def run(shard_run: str, directory: Path, element: str) -> None:
    """One element type; AssertionError where something is wrong."""
    letter, dtype = LETTERS[element]
    is_complex = letter in "cz"
    real = {"s": "f32", "d": "f64", "c": "f32", "z": "f64"}[letter]
    rng = np.random.default_rng(ord(letter))

    def matrices(rows: int, columns: int) -> Array:
        array = rng.standard_normal((BATCH, rows, columns))
        if is_complex:
            array = array + 1j * rng.standard_normal((BATCH, rows, columns))
        return array.astype(dtype)

    square, tall, wide, rhs = matrices(5, 5), matrices(6, 4), matrices(3, 5), matrices(5, 2)
    positive = (square @ adjoint(square) + 5 * np.eye(5)).astype(dtype)
    positive[1] -= (200 * np.eye(5)).astype(dtype)  # not positive: its info counts
    deficient = tall.copy()
    deficient[:, :, 3] = deficient[:, :, 0]
    deficient[2] = 0
    lower, diagonal, upper = (matrices(5, 1)[..., 0] for _ in range(3))
    program = Program(element)
    t = lambda *shape: tensor(element, BATCH, *shape)
    r = lambda *shape: tensor(real, BATCH, *shape)
    i = lambda *shape: tensor("i32", BATCH, *shape)
    a, b, c, y, p, d = (program.argument(x) for x in (square, tall, wide, rhs, positive, deficient))
    vectors = [program.argument(x) for x in (lower, diagonal, upper)]

    def lapack(name: str, *args: Any) -> list[int]:
        return program.call(f"lapack_{letter}{name}_ffi", *args)

    potrf = lapack("potrf", [(p, t(5, 5))], "uplo = 76 : ui8", [t(5, 5), i()])
    trsm = lapack("trsm", [(a, t(5, 5)), (y, t(5, 2))],
                  "diag = 78 : ui8, side = 76 : ui8, trans_x = 67 : ui8, uplo = 85 : ui8", [t(5, 2)])
    getrf = lapack("getrf", [(a, t(5, 5))], "", [t(5, 5), i(5), i()])
    getrf_tall = lapack("getrf", [(d, t(6, 4))], "", [t(6, 4), i(4), i()])
    geqrf = lapack("geqrf", [(b, t(6, 4))], "", [t(6, 4), t(4)])
    geqrf_wide = lapack("geqrf", [(c, t(3, 5))], "", [t(3, 5), t(3)])
    orgqr = lapack("ungqr" if is_complex else "orgqr",
                   [(program.results[geqrf[0]][0], t(6, 4)), (program.results[geqrf[1]][0], t(4))], "", [t(6, 4)])
    eigh = lapack("heevd" if is_complex else "syevd", [(p, t(5, 5))], "mode = 86 : ui8, uplo = 76 : ui8",
                  [t(5, 5), r(5), i()])

    def svd(value: str, rows: int, columns: int, full: bool) -> list[int]:
        least = min(rows, columns)
        one, other = (rows, columns) if full else (least, least)
        # The first result is LAPACK's workspace, which no program reads.
        name = f"%s{len(program.lines)}"
        program.lines.append(
            f"{name}:5 = stablehlo.custom_call @lapack_{letter}gesdd_ffi({value}) {{mhlo.backend_config = "
            f"{{mode = {65 if full else 83} : ui8}}}} : ({t(rows, columns)}) -> ({t(rows, columns)}, {r(least)}, "
            f"{t(rows, one)}, {t(other, columns)}, {i()})")
        first = len(program.results)
        program.results += [(f"{name}#1", r(least)), (f"{name}#2", t(rows, one)), (f"{name}#3", t(other, columns))]
        return [first, first + 1, first + 2]

    factors = [(svd(b, 6, 4, True), tall), (svd(c, 3, 5, True), wide), (svd(c, 3, 5, False), wide),
               (svd(d, 6, 4, False), deficient), (svd(d, 6, 4, True), deficient)]
    name = "%gtsv"
    program.lines.append(
        f"{name}:5 = stablehlo.custom_call @lapack_{letter}gtsv_ffi({', '.join(vectors)}, {y}) : ({t(5)}, {t(5)}, {t(5)}, "
        f"{t(5, 2)}) -> ({t(5)}, {t(5)}, {t(5)}, {t(5, 2)}, {i()})")
    gtsv = len(program.results)
    program.results.append((f"{name}#3", t(5, 2)))
    # One matrix is as it was, one has a pivot of zero at its end, one is zero.
    singular = [value.copy() for value in (lower, diagonal, upper)]
    singular[0][1, 4] = singular[1][1, 4] = 0
    for value in singular:
        value[2] = 0
    near = [(program.argument(x), t(5)) for x in singular]
    perturbed = program.call("tridiagonal_solve_perturbed_ffi", [*near, (y, t(5, 2))], "", [t(5, 2)])

    stem = directory / f"linear_algebra_{letter}"
    stem.with_suffix(".mlir").write_text(program.text())
    np.savez(stem.with_suffix(".npz"), **{f"in{n}": array for n, (_, array) in enumerate(program.arguments)})
    outputs = directory / f"linear_algebra_{letter}_out.npz"
    subprocess.run([shard_run, str(stem.with_suffix(".mlir")), f"--inputs=@{stem}.npz", f"--outputs=@{outputs}",
                    "--check"], check=True)
    with np.load(outputs) as archive:
        out = [archive[f"out{n}"] for n in range(len(program.results))]

    eps = float(np.finfo(dtype).eps)

    def close(what: str, got: Array, expected: Array) -> None:
        scale = max(1.0, float(np.max(np.abs(expected), initial=0)))
        error = float(np.max(np.abs(got - expected), initial=0)) / scale
        if not error <= 100 * eps:
            raise AssertionError(f"{element} {what}: off by {error:.3g}, allowed {100 * eps:.3g}")

    factor = np.tril(out[potrf[0]])
    assert list(out[potrf[1]] != 0) == [False, True, False], out[potrf[1]]
    good = [0, 2]
    close("potrf", (factor @ adjoint(factor))[good], positive[good])
    close("trsm", adjoint(np.triu(square)) @ out[trsm[0]] / 100, rhs / 100 + 0 * out[trsm[0]])
    for numbers, matrix in ((getrf, square), (getrf_tall, deficient)):
        packed, pivots = out[numbers[0]], out[numbers[1]]
        rows, columns = matrix.shape[1:]
        least = min(rows, columns)
        permuted = matrix.copy()
        for n in range(BATCH):
            for k in range(least):
                permuted[n, [k, pivots[n, k] - 1]] = permuted[n, [pivots[n, k] - 1, k]]
        left = np.tril(packed, -1)[..., :least] + np.eye(rows, least)
        close("getrf", left @ np.triu(packed)[:, :least], permuted)
        assert np.all(np.abs(np.tril(packed, -1).real) <= 1 + 10 * eps) or is_complex
    assert out[getrf[2]].tolist() == [0, 0, 0]
    assert out[getrf_tall[2]].tolist()[2] == 1, "a zero matrix has a zero pivot at once"
    # NumPy's Q and R are LAPACK's.
    q, upper_factor = np.linalg.qr(tall)
    close("geqrf", np.triu(out[geqrf[0]])[:, :4], upper_factor)
    close("orgqr", out[orgqr[0]], q)
    close("geqrf of wide", np.triu(out[geqrf_wide[0]]), np.linalg.qr(wide)[1])
    vectors_out, values = out[eigh[0]], out[eigh[1]]
    close("eigenvalues", values, np.linalg.eigvalsh(positive))
    close("eigenvectors", positive @ vectors_out, vectors_out * values[:, None, :])
    close("unitary", adjoint(vectors_out) @ vectors_out, np.broadcast_to(np.eye(5), (BATCH, 5, 5)))
    for (sigma, u, vh), matrix in factors:
        least = min(matrix.shape[1:])
        close("singular values", out[sigma], np.linalg.svd(matrix, compute_uv=False))
        close("singular vectors", (out[u][..., :least] * out[sigma][:, None, :]) @ out[vh][:, :least], matrix)
        close("left", adjoint(out[u]) @ out[u], np.broadcast_to(np.eye(out[u].shape[2]), (BATCH,) + (out[u].shape[2],) * 2))
        close("right", out[vh] @ adjoint(out[vh]),
              np.broadcast_to(np.eye(out[vh].shape[1]), (BATCH,) + (out[vh].shape[1],) * 2))
    full = np.zeros((BATCH, 5, 5), dtype)
    for k in range(5):
        full[:, k, k] = diagonal[:, k]
        if k:
            full[:, k, k - 1], full[:, k - 1, k] = lower[:, k], upper[:, k - 1]
    solution = out[gtsv]
    close("gtsv", full @ solution / np.max(np.abs(solution)), rhs / np.max(np.abs(solution)))
    # The pivot of zero becomes epsilon times the largest element of the factor, which is one of the second matrix's or what
    # elimination made of it; the third matrix becomes epsilon times the identity.
    (found,) = (out[number] for number in perturbed)
    epsilon = np.finfo(dtype).eps
    close("regular", found[0], solution[0])
    assert np.isfinite(found[1]).all() and np.isfinite(found[2]).all()
    close("zero", found[2] * epsilon, rhs[2])
    growth = rhs[1, 4] / found[1, 4]
    assert np.all(growth > 0.1 * epsilon) and np.all(growth < 100 * epsilon), growth
    matrix = full[1].copy()
    matrix[4, 3] = 0
    matrix[4, 4] = growth[0]
    scale = np.max(np.abs(found[1]))
    close("singular", matrix @ found[1] / scale, rhs[1] / scale)


def extremes(shard_run: str, directory: Path, element: str) -> None:
    """Dependent columns, whose rest shrinks until its squares are denormal, and elements at both ends of the range."""
    letter, dtype = LETTERS[element]
    is_complex = letter in "cz"
    real = "f32" if letter in "sc" else "f64"
    rng = np.random.default_rng(ord(letter))
    low, high = (1e-37, 1e36) if real == "f32" else (1e-280, 1e304)
    n = 8
    scales = np.array([1, low, high]).reshape(BATCH, 1, 1)

    def normal(*shape: int) -> Array:
        return rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if is_complex else 0)

    unit = np.stack([np.outer(np.arange(n), np.arange(n)), np.outer(normal(n), normal(n)), normal(n, n)])
    half = (unit + adjoint(unit)) / 2
    program = Program(element)
    t, v = tensor(element, BATCH, n, n), tensor(real, BATCH, n)
    w, info, vectors = tensor(element, BATCH, n), tensor("i32", BATCH), tensor(f"complex<{real}>", BATCH, n, n)
    a, h = ((program.argument((matrix * scales).astype(dtype)), t) for matrix in (unit, half))

    def lapack(name: str, operand: tuple[str, str], config: str, results: list[str]) -> list[int]:
        return program.call(f"lapack_{letter}{name}_ffi", [operand], config, results)

    geqrf = lapack("geqrf", a, "", [t, w])
    program.call(f"lapack_{letter}{'ungqr' if is_complex else 'orgqr'}_ffi",
                 [(program.results[geqrf[0]][0], t), (program.results[geqrf[1]][0], w)], "", [t])
    lapack("heevd" if is_complex else "syevd", h, "mode = 86 : ui8, uplo = 76 : ui8", [t, v, info])
    geev = lapack("geev", a, "compute_left = 78 : ui8, compute_right = 86 : ui8",
                  [*([w] if is_complex else [v, v]), vectors, vectors, info])
    svd = lapack("gesdd", a, "mode = 83 : ui8", [t, v, t, t, info])
    order = tensor("i32", BATCH, n)
    free = program.argument(np.zeros((BATCH, n), np.int32), "i32")
    program.call(f"lapack_{letter}geqp3_ffi", [a, (free, order)], "", [t, order, w])
    # The first result is LAPACK's workspace, the left vectors of geev are not asked for.
    program.results = [result for k, result in enumerate(program.results) if k not in (svd[0], geev[-3])]
    stem = directory / f"extremes_{letter}"
    stem.with_suffix(".mlir").write_text(program.text())
    np.savez(stem.with_suffix(".npz"), **{f"in{k}": array for k, (_, array) in enumerate(program.arguments)})
    outputs = directory / f"extremes_{letter}_out.npz"
    subprocess.run([shard_run, str(stem.with_suffix(".mlir")), f"--inputs=@{stem}.npz", f"--outputs=@{outputs}"], check=True)
    with np.load(outputs) as archive:
        out = [archive[f"out{k}"].astype(np.complex128 if is_complex else np.float64, copy=False)
               if archive[f"out{k}"].dtype.kind == "f" else archive[f"out{k}"] for k in range(len(program.results))]
    r, _, q, around, values, _, *parts, right, _, sigma, u, vh, _, pivoted, _, _ = out
    eps = float(np.finfo(dtype).eps)
    inputs, halves = ((array.astype(np.complex128 if is_complex else np.float64)) / scales for _, array in program.arguments[:2])
    eigenvalues = (parts[0] if is_complex else parts[0] + 1j * parts[1])[:, None, :] / scales

    def close(what: str, got: Array, expected: Array) -> None:
        error = np.max(np.abs(got - expected), axis=(1, 2)) / np.maximum(1, np.max(np.abs(expected), axis=(1, 2)))
        assert np.all(error <= 200 * eps), f"{element} {what}: off by {error}"

    identity = np.broadcast_to(np.eye(n), (BATCH, n, n))
    close("QR", q @ (np.triu(r) / scales), inputs)
    close("Q", adjoint(q) @ q, identity)
    close("eigenvectors", halves @ around, around * (values[:, None, :] / scales))
    close("unitary", adjoint(around) @ around, identity)
    close("right vectors", inputs @ right, right * eigenvalues)
    close("their norms", np.linalg.norm(right, axis=1, keepdims=True), np.ones((BATCH, 1, n)))
    close("singular vectors", (u * (sigma[:, None, :] / scales)) @ vh, inputs)
    close("left", adjoint(u) @ u, identity)
    close("right", vh @ adjoint(vh), identity)
    diagonal = np.abs(np.diagonal(pivoted, axis1=1, axis2=2)) / scales[:, 0]
    assert np.all(np.diff(diagonal) <= 200 * eps * diagonal[:, :1]), f"{element} pivots: {diagonal}"


def dependent(shard_run: str, directory: Path, element: str) -> None:
    """Eigenvectors where zero is an eigenvalue several times: of matrices of rank one and two, and of one with no other eigenvalue.
    Schur's form of ones, of which iterations leave numbers whose squares are null."""
    letter, dtype = LETTERS[element]
    is_complex = letter in "cz"
    real = "f32" if letter in "sc" else "f64"
    rng = np.random.default_rng(ord(letter))
    count, n = 100, 6

    def normal(*shape: int) -> Array:
        return rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if is_complex else 0)

    nilpotent = np.triu(np.ones((2, n, n)), 1)
    array = np.concatenate([np.tile(normal(count, n, 1), n), normal(count, n, 2) @ normal(count, 2, n), nilpotent]).astype(dtype)
    program = Program(element)
    batch = len(array)
    t, v, w = tensor(element, batch, n, n), tensor(real, batch, n), tensor(element, batch, n)
    vectors = tensor(f"complex<{real}>", batch, n, n)
    program.call(f"lapack_{letter}geev_ffi", [(program.argument(array), t)], "compute_left = 86 : ui8, compute_right = 86 : ui8",
                 [*([w] if is_complex else [v, v]), vectors, vectors, tensor("i32", batch)])
    ones = np.ones((2, 17, 17), dtype)
    t, v, w = tensor(element, 2, 17, 17), tensor(real, 2, 17), tensor(element, 2, 17)
    program.call(f"lapack_{letter}gees_ffi", [(program.argument(ones), t)], "mode = 86 : ui8, sort = 78 : ui8",
                 [t, t, *([w] if is_complex else [v, v]), tensor("i32", 2), tensor("i32", 2)])
    stem = directory / f"dependent_{letter}"
    stem.with_suffix(".mlir").write_text(program.text())
    np.savez(stem.with_suffix(".npz"), in0=array, in1=ones)
    outputs = directory / f"dependent_{letter}_out.npz"
    subprocess.run([shard_run, str(stem.with_suffix(".mlir")), f"--inputs=@{stem}.npz", f"--outputs=@{outputs}"], check=True)
    with np.load(outputs) as archive:
        out = [archive[f"out{k}"].astype(np.complex128) for k in range(len(program.results))]
    *parts, left, right, _ = out[:4 if is_complex else 5]
    triangle, basis = out[4 if is_complex else 5:][:2]
    values = (parts[0] if is_complex else parts[0] + 1j * parts[1])[:, None, :]
    eps = float(np.finfo(dtype).eps)
    sizes = np.max(np.abs(array), axis=(1, 2)) * n
    for what, matrix, found, own in (("right", array, right, values), ("left", adjoint(array), left, values.conj())):
        norms = np.abs(np.linalg.norm(found, axis=1) - 1)
        assert np.all(norms <= 20 * eps), f"{element}: {what} vectors of norms off by {np.max(norms)}"
        error = np.max(np.abs(matrix @ found - found * own), axis=(1, 2)) / sizes
        assert np.all(error <= 20 * eps), f"{element}: {what} vectors off by {np.max(error)}"
    for what, found, expected in (("Schur's form", basis @ triangle @ adjoint(basis), ones), ("its basis", basis @ adjoint(basis), np.eye(17))):
        error = np.max(np.abs(found - expected))
        assert error <= 200 * eps, f"{element}: {what} off by {error}"
    if not is_complex:
        assert not np.any(right.imag[np.broadcast_to(values.imag == 0, right.shape)]), f"{element}: vectors of real eigenvalues"


def main() -> None:
    """See the module's docstring."""
    directory = Path(sys.argv[2])
    directory.mkdir(parents=True, exist_ok=True)
    for element in LETTERS:
        run(sys.argv[1], directory, element)
        extremes(sys.argv[1], directory, element)
        dependent(sys.argv[1], directory, element)


if __name__ == "__main__":
    main()
