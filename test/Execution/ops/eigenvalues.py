"""Calls of LAPACK for matrices of any kind, as JAX prints them, against what defines their results.

``eigenvalues.py SHARD-RUN DIR``: for each element type one program with every call, its batch cut over two ranks.
Among the matrices are ones with pairs of complex eigenvalues, with equal ones, with a single eigenvector, zeros, and NaN.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
from linear_algebra import LETTERS, Array, Program, adjoint, tensor

SIZES = (6, 50)  # fewer and more rows than the runtime reduces
NAMES = ["any", "any larger", "rotation", "Jordan block", "companion", "zero", "identity", "triangular", "graded", "nan"]


def matrices(rng: np.random.Generator, dtype: type, is_complex: bool, m: int) -> Array:
    """One of each of NAMES, all of m rows."""

    def normal(*shape: int) -> Array:
        return rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if is_complex else 0)

    rotation = np.kron(np.diag(1.0 + np.arange(m // 2)), np.array([[0.0, 1.0], [-1.0, 0.0]]))
    companion = np.eye(m, k=-1)
    companion[0, -1] = 1
    nan = normal(m, m)
    nan[2, 3] = np.nan
    return np.stack([normal(m, m), 1e6 * normal(m, m), rotation, 2 * np.eye(m) + np.eye(m, k=1), companion, np.zeros((m, m)),
                     np.eye(m), np.triu(normal(m, m)), normal(m, m) * 10.0 ** -np.arange(m)[:, None], nan]).astype(dtype)


def reflectors(packed: Array, taus: Array, offset: int) -> Array:
    """The product of LAPACK's reflectors whose ones stand ``offset`` below the diagonal."""
    rows = packed.shape[0]
    q = np.eye(rows, dtype=packed.dtype)
    for k, tau in enumerate(taus):
        v = np.zeros(rows, packed.dtype)
        v[k + offset] = 1
        v[k + offset + 1:] = packed[k + offset + 1:, k]
        q = q @ (np.eye(rows) - tau * np.outer(v, v.conj()))
    return q


def run(shard_run: str, directory: Path, element: str, m: int) -> None:
    """One element type; AssertionError where something is wrong."""
    letter, dtype = LETTERS[element]
    is_complex = letter in "cz"
    real = {"s": "f32", "d": "f64", "c": "f32", "z": "f64"}[letter]
    rng = np.random.default_rng(ord(letter))
    a = matrices(rng, dtype, is_complex, m)
    count = len(a)
    tall = a[:-1, :, :4].copy()
    tall = np.concatenate([tall, tall[:1]])
    hermitian = a[:-1] + adjoint(a[:-1])
    hermitian = np.concatenate([hermitian, hermitian[:1]]).astype(dtype)
    fixed = np.zeros((count, 4), np.int32)
    fixed[0] = [0, 0, 1, 1]
    program = Program(element)
    t = lambda *shape: tensor(element, count, *shape)
    r = lambda *shape: tensor(real, count, *shape)
    i = lambda *shape: tensor("i32", count, *shape)
    vectors = tensor(f"complex<{real}>", count, m, m)
    x, y, z = (program.argument(array) for array in (a, tall, hermitian))
    program.arguments.append((i(4), fixed))

    def lapack(name: str, operands: list[tuple[str, str]], config: str, results: list[str]) -> list[int]:
        return program.call(f"lapack_{letter}{name}_ffi", operands, config, results)

    parts = [tensor(f"complex<{real}>", count, m)] if is_complex else [r(m), r(m)]
    geev = lapack("geev", [(x, t(m, m))], "compute_left = 86 : ui8, compute_right = 86 : ui8", [*parts, vectors, vectors, i()])
    gees = lapack("gees", [(x, t(m, m))], "mode = 86 : ui8, sort = 78 : ui8", [t(m, m), t(m, m), *parts, i(), i()])
    gehrd = lapack("gehrd", [(x, t(m, m))], f"low = 1 : i32, high = {m} : i32", [t(m, m), t(m - 1), i()])
    trd = [lapack("hetrd" if is_complex else "sytrd", [(z, t(m, m))], f"uplo = {uplo} : ui8", [t(m, m), r(m), r(m - 1), t(m - 1), i()])
           for uplo in (76, 85)]
    qp3 = lapack("geqp3", [(y, t(m, 4)), ("%arg3", i(4))], "", [t(m, 4), i(4), t(4)])

    stem = directory / f"eigenvalues_{letter}"
    stem.with_suffix(".mlir").write_text(program.text())
    np.savez(stem.with_suffix(".npz"), **{f"in{n}": array for n, (_, array) in enumerate(program.arguments)})
    outputs = directory / f"eigenvalues_{letter}_out.npz"
    subprocess.run([shard_run, str(stem.with_suffix(".mlir")), f"--inputs=@{stem}.npz", f"--outputs=@{outputs}"], check=True)
    with np.load(outputs) as archive:
        out = [archive[f"out{n}"] for n in range(len(program.results))]

    eps = float(np.finfo(dtype).eps)

    def close(what: str, got: Array, expected: Array, scale: float | None = None) -> None:
        size = scale if scale is not None else float(np.max(np.abs(expected), initial=0))
        error = float(np.max(np.abs(got - expected), initial=0)) / max(size, 1e-30)
        if not error <= 200 * eps:
            raise AssertionError(f"{element} {what}: off by {error:.3g}, allowed {200 * eps:.3g}")

    identity = np.eye(m)
    for n, name in enumerate(NAMES):
        norm = max(float(np.linalg.norm(a[n])), 1e-30)
        values = out[geev[0]][n] if is_complex else out[geev[0]][n] + 1j * out[geev[1]][n]
        left, right = out[geev[-3]][n], out[geev[-2]][n]
        triangle, basis = out[gees[0]][n], out[gees[1]][n]
        if name == "nan":
            assert np.isnan(values).all() and np.isnan(triangle).all(), f"{element}: eigenvalues of NaN"
            continue
        close(f"right vectors of {name}", a[n] @ right, right * values, norm)
        close(f"left vectors of {name}", adjoint(left) @ a[n], values[:, None] * adjoint(left), norm)
        close(f"norms of {name}", np.linalg.norm(right, axis=0), np.ones(m))
        close(f"norms of {name}", np.linalg.norm(left, axis=0), np.ones(m))
        if name not in ("Jordan block", "companion"):
            expected = list(np.linalg.eigvals(a[n].astype(np.complex128)))
            for value in values:
                nearest = min(expected, key=lambda other: abs(other - value))
                expected.remove(nearest)
                close(f"values of {name}", value, nearest, norm)
        # Of more rows LAPACK finds several eigenvalues at a time, in another order.
        if name.startswith("any") and not is_complex and m == SIZES[0]:
            close(f"values of {name}, in LAPACK's order", values, np.linalg.eigvals(a[n].astype(np.float64)), norm)
        if not is_complex:
            paired = values[values.imag != 0]
            assert np.array_equal(paired[::2], paired[1::2].conj()) and np.all(paired[::2].imag > 0), (name, values)
            assert np.all(right[:, values.imag == 0].imag == 0), f"{element}: vectors of real values of {name} are real"
        close(f"Schur's form of {name}", basis @ triangle @ adjoint(basis), a[n], norm)
        close(f"Schur's basis of {name}", adjoint(basis) @ basis, identity)
        schur = out[gees[2]][n] if is_complex else out[gees[2]][n] + 1j * out[gees[3]][n]
        if is_complex:
            assert np.all(np.tril(triangle, -1) == 0), f"{element}: Schur's form of {name} is triangular"
            close(f"Schur's values of {name}", schur, np.diag(triangle), norm)
        else:
            under = np.diag(triangle, -1)
            assert np.all(np.tril(triangle, -2) == 0) and np.all((under[1:] == 0) | (under[:-1] == 0)), (name, triangle)
            assert np.array_equal(schur, values), name
        packed, taus = out[gehrd[0]][n], out[gehrd[1]][n]
        q = reflectors(packed, taus, 1)
        close(f"Hessenberg's form of {name}", q @ np.triu(packed, -1) @ adjoint(q), a[n], norm)
    assert all(np.all(out[call[-1]] == 0) for call in (geev, gees, gehrd, *trd))
    for (packed, diagonal, beside, taus), lower in (([out[k] for k in call[:4]], call is trd[0]) for call in trd):
        for n in range(count):
            if lower:
                q = reflectors(packed[n], taus[n], 1)
            else:  # backwards, reflectors stand above
                q = reflectors(packed[n][::-1, ::-1], taus[n][::-1], 1)[::-1, ::-1]
            matrix = np.diag(diagonal[n]) + np.diag(beside[n], 1) + np.diag(beside[n], -1)
            close(f"tridiagonal form of {NAMES[n]}", q @ matrix @ adjoint(q), hermitian[n])
    for n in range(count):
        packed, order, taus = (out[k][n] for k in qp3)
        r_factor = np.triu(packed)[:4]
        assert sorted(order) == [1, 2, 3, 4], order
        close(f"pivoted QR of {NAMES[n]}", reflectors(packed, taus, 0)[:, :4] @ r_factor, tall[n][:, order - 1])
        sizes = np.abs(np.diag(r_factor))
        if n == 0:
            assert list(order[:2]) == [3, 4], order
        else:
            assert np.all(sizes[:-1] >= sizes[1:] * (1 - 100 * eps)), sizes


if __name__ == "__main__":
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for kind in LETTERS:
        for size in SIZES:
            run(sys.argv[1], folder, kind, size)
