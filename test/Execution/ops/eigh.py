"""Eigenvalues and eigenvectors of Hermitian matrices of all kinds and sizes, against what defines them.

``eigh.py SHARD-RUN DIR``: for each element type one program with a batch for each size, cut unevenly over three ranks.
What is not read of a matrix is NaN.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
LETTERS = {"f32": ("s", np.float32), "f64": ("d", np.float64),
           "complex<f32>": ("c", np.complex64), "complex<f64>": ("z", np.complex128)}
SIZES = (0, 1, 3, 15, 16, 33, 70, 100)


def matrices(n: int, dtype: Any, rng: np.random.Generator) -> dict[str, Array]:
    """Matrices by what they are, and last two that have no eigenvalues."""
    is_complex = np.dtype(dtype).kind == "c"
    single = np.finfo(dtype).bits == 32

    def normal(*shape: int) -> Array:
        return rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if is_complex else 0)

    def hermitian(a: Array) -> Array:
        return (a + a.conj().T) / 2

    def of(values: Array) -> Array:
        q = np.linalg.qr(normal(n, n))[0]
        return hermitian(q * values @ q.conj().T)

    index = np.arange(n)
    plain = hermitian(normal(n, n))
    beside = np.eye(n, k=1) + np.eye(n, k=-1)
    arrow = np.diag(index.astype(float))
    arrow[:1], arrow[:, :1] = 1, 1
    glued = np.diag(np.abs(index % 8 - 3.5)) + beside * np.where((index + 1) % 8 == 0, 1e-7, 1)[:, None]
    half = plain.copy()
    half[:n // 2] = half[:, :n // 2] = 0
    low, high = (1e-37, 1e36) if single else (1e-290, 1e304)
    found = {
        "plain": plain, "zero": np.zeros((n, n)), "identity": np.eye(n), "ones": np.ones((n, n)),
        "diagonal": np.diag(rng.standard_normal(n)), "graded": of(2.0 ** (-3 * index)), "clustered": of(1 + 1e-6 * rng.standard_normal(n)),
        "repeated": of(np.round(rng.standard_normal(n) * 2)), "signs": of(np.sign(rng.standard_normal(n))),
        "Toeplitz": 2 * np.eye(n) - beside, "Wilkinson": np.diag(np.abs(index - (n - 1) / 2)) + beside, "glued": hermitian(glued),
        "Hilbert": 1 / (1 + index[:, None] + index), "arrow": arrow, "half": half, "huge": plain * high, "tiny": plain * low,
        "NaN": plain.copy(), "infinite": plain.copy()}
    for name in ("NaN", "infinite"):
        found[name][n // 2:, :n // 2 + 1] = np.nan if name == "NaN" else np.inf
    return {name: np.asarray(matrix).astype(dtype) for name, matrix in found.items()}


def program(element: str, letter: str, batch: int) -> str:
    """A batch for each size: eigenvectors of the lower triangle, and eigenvalues of the upper one."""
    real = "f32" if letter in "sc" else "f64"
    call = f"stablehlo.custom_call @lapack_{letter}{'heevd' if letter in 'cz' else 'syevd'}_ffi"
    cut = "{sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}, {}]>}"
    arguments, lines, values, types = [], [], [], []
    for i, n in enumerate(SIZES):
        matrix, vector, info = f"tensor<{batch}x{n}x{n}x{element}>", f"tensor<{batch}x{n}x{real}>", f"tensor<{batch}xi32>"
        arguments += [f"%a{i}: {matrix} {cut}", f"%b{i}: {matrix} {cut}"]
        for name, mode, triangle in (("a", 86, 76), ("b", 78, 85)):
            lines.append(f"%{name}r{i}:3 = {call}(%{name}{i}) {{mhlo.backend_config = {{mode = {mode} : ui8, uplo = {triangle} : ui8}}}}"
                         f" : ({matrix}) -> ({matrix}, {vector}, {info})")
        values += [f"%ar{i}#0", f"%ar{i}#1", f"%br{i}#1"]
        types += [matrix, vector, vector]
    body = "\n    ".join(lines)
    return f"""module {{
  sdy.mesh @mesh = <["x"=3]>
  func.func @main({', '.join(arguments)}) -> ({', '.join(types)}) {{
    {body}
    return {', '.join(values)} : {', '.join(types)}
  }}
}}
"""


def check(element: str, n: int, name: str, matrix: Array, vectors: Array, values: Array, others: Array) -> None:
    """One matrix; AssertionError where something is wrong."""
    what = f"{element} {name} {n}"
    if name in ("NaN", "infinite"):
        assert all(np.isnan(found).all() for found in (vectors, values, others)), what
        return
    eps = float(np.finfo(matrix.dtype).eps)
    wide = np.complex128 if matrix.dtype.kind == "c" else np.float64
    scale = float(np.max(np.abs(matrix), initial=0)) or 1.0
    a, w, upper = matrix.astype(wide) / scale, values.astype(float) / scale, others.astype(float) / scale
    v = vectors.astype(wide)
    allowed = eps * (20 + 2 * n)
    norm = float(np.linalg.norm(a, 2)) if n else 0
    errors = {"residual": (a @ v - v * w, norm), "orthogonality": (v.conj().T @ v - np.eye(n), 1),
              "eigenvalues": (w - np.linalg.eigvalsh(a), norm), "of the upper triangle": (upper - np.linalg.eigvalsh(a), norm)}
    for part, (error, size) in errors.items():
        assert np.max(np.abs(error), initial=0) <= allowed * size, f"{what}: {part} off by {np.max(np.abs(error)):.3g}"
    assert np.all(np.diff(values) >= 0) and np.all(np.diff(others) >= 0), f"{what}: not ascending"


def run(shard_run: str, directory: Path, element: str) -> None:
    """One element type."""
    letter, dtype = LETTERS[element]
    rng = np.random.default_rng(ord(letter))
    batches = [matrices(n, dtype, rng) for n in SIZES]
    stem = directory / f"eigh_{letter}"
    stem.with_suffix(".mlir").write_text(program(element, letter, len(batches[0])))
    inputs: list[Array] = []
    for n, batch in zip(SIZES, batches):
        stack = np.stack(list(batch.values()))
        unread = np.triu(np.full((n, n), np.nan), 1)
        inputs += [stack + unread.astype(dtype), np.swapaxes(stack, 1, 2).conj() + unread.T.astype(dtype)]
    np.savez(stem.with_suffix(".npz"), **{f"in{k}": array for k, array in enumerate(inputs)})
    results = []
    for ranks, options in ((3, []), (1, ["--threads=2"])):
        outputs = directory / f"eigh_{letter}_{ranks}.npz"
        subprocess.run([shard_run, str(stem.with_suffix(".mlir")), f"--ranks={ranks}", f"--inputs=@{stem}.npz", f"--outputs=@{outputs}",
                        "--reproducible", *options], check=True)
        with np.load(outputs) as archive:
            results.append([archive[f"out{k}"] for k in range(3 * len(SIZES))])
    for first, second in zip(*results):
        assert np.array_equal(first, second, equal_nan=True), f"{element}: other bits on one rank"
    for i, (n, batch) in enumerate(zip(SIZES, batches)):
        for k, (name, matrix) in enumerate(batch.items()):
            if n > 0:
                check(element, n, name, matrix, *(results[0][3 * i + j][k] for j in range(3)))


def main() -> None:
    """See the module's docstring."""
    directory = Path(sys.argv[2])
    directory.mkdir(parents=True, exist_ok=True)
    for element in LETTERS:
        run(sys.argv[1], directory, element)


if __name__ == "__main__":
    main()
