"""Operators at growing sizes on one thread, beside JAX: points pass by chance, curves do not.

    curves.py [--shard-run PATH] [--below RATIO] [NAME...]

Each line is an operator; each cell has how many times as long JAX takes, then the milliseconds of both, the least of many runs. A line that has a
cell below RATIO (0.85), or one that fails or takes more than 100 s, ends with `<--`. `NAME...` takes those that hold one of the words. Found so: a
transform of a large prime length took time and memory by the square of it, eigenvalues by more than the cube.

Run it on one core (`taskset -c 1`). Of a busy machine the least of many runs says enough to find what is several times too slow.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

RNG = np.random.default_rng(0)
SECONDS, MOST_SECONDS = 0.3, 100


def normal(*shape):
    return jnp.asarray(RNG.standard_normal(shape).astype(np.float32))


def uniform(*shape):
    return jnp.asarray(RNG.uniform(0.1, 1, shape).astype(np.float32))


def whole(most, *shape):
    return jnp.asarray(RNG.integers(0, most, shape).astype(np.int32))


def complexes(*shape):
    return (normal(*shape) + 1j * normal(*shape)).astype(jnp.complex64)


def positive(n):
    a = normal(n, n)
    return a @ a.T / n + jnp.eye(n)


def conv(x, kernel):
    return lax.conv_general_dilated(x, kernel, (1, 1), "SAME")


def windows(x, size, start, combine):
    return lax.reduce_window(x, start, combine, (1, 1, size, size), (1, 1, 1, 1), "SAME")


ROWS = [(65536, 3), (65536, 8), (65536, 16), (16384, 64), (2048, 512), (64, 16384)]
COUNTS = [(10**k,) for k in (3, 5, 6)]


def each(make, sizes):
    """The arguments of an operator, one tuple a size."""
    return [(made if isinstance(made, tuple) else (made,)) for made in (make(*size) for size in sizes)]


def squares(*sizes):
    return [(n,) for n in sizes]


CASES = {
    "fft of primes": (jnp.fft.fft, each(complexes, squares(101, 1009, 10007, 100003))),
    "fft of twice primes": (jnp.fft.fft, each(complexes, squares(202, 2018, 20014, 200006))),
    "fft of powers of two": (jnp.fft.fft, each(complexes, squares(2**10, 2**14, 2**18, 2**20))),
    "fft of odd lengths": (jnp.fft.fft, each(complexes, squares(3**6, 3**9, 5**6 * 7, 3**10 * 17))),
    "rfft of rows": (jnp.fft.rfft, each(normal, [(256, 60), (256, 600), (256, 6000)])),
    "sort": (jnp.sort, each(normal, COUNTS)),
    "sort of pairs": (lambda x, y: lax.sort((x, y), num_keys=1), each(lambda n: (normal(n), normal(n)), COUNTS)),
    "argsort": (jnp.argsort, each(normal, COUNTS)),
    "top 100": (lambda x: lax.top_k(x, 100), each(normal, COUNTS)),
    "top quarter": (lambda x: lax.top_k(x, x.shape[0] // 4), each(normal, COUNTS)),
    "median": (jnp.median, each(normal, COUNTS)),
    "unique": (lambda x: jnp.unique(x, size=1000), each(lambda n: whole(1000, n), COUNTS)),
    "cumsum": (jnp.cumsum, each(normal, COUNTS)),
    "cummax": (lax.cummax, each(normal, COUNTS)),
    "associative scan": (lambda x: lax.associative_scan(jnp.maximum, x), each(normal, COUNTS)),
    "searchsorted": (jnp.searchsorted, each(lambda n: (jnp.sort(uniform(n)), uniform(10000)), COUNTS)),
    "interp": (jnp.interp, each(lambda n: (uniform(100000), jnp.sort(uniform(n)), uniform(n)), squares(10, 1000))),
    "bincount": (lambda x: jnp.bincount(x, length=10000), each(lambda n: whole(10000, n), COUNTS)),
    "elements by two indices": (lambda x, i, j: x[i, j], each(lambda n: (normal(1000, 1000), whole(1000, n), whole(1000, n)), COUNTS)),
    "compress": (lambda x: jnp.compress(x > 0, x, size=x.shape[0] // 4), each(normal, COUNTS)),
    "sum of rows": (lambda x: x.sum(1), each(normal, ROWS)),
    "maximum of rows": (lambda x: x.max(1), each(normal, ROWS)),
    "argmax of rows": (lambda x: x.argmax(1), each(normal, ROWS)),
    "softplus of sums of rows": (lambda x: jax.nn.softplus(x.sum(1)), each(normal, ROWS)),
    "logsumexp of rows": (lambda x: jax.nn.logsumexp(x, 1), each(normal, ROWS)),
    "softmax of rows": (lambda x: jax.nn.softmax(x, 1), each(normal, ROWS)),
    "norm of rows": (lambda x: x / jnp.linalg.norm(x, axis=1, keepdims=True), each(normal, ROWS)),
    "variance of columns": (lambda x: x.var(0), each(normal, ROWS)),
    "sorted rows": (lambda x: jnp.sort(x, 1), each(normal, ROWS)),
    "complex product": (lambda x, y: x * y, each(lambda n: (complexes(n), complexes(n)), COUNTS)),
    "cholesky": (jnp.linalg.cholesky, each(positive, squares(64, 256, 1024))),
    "lu": (lambda a: jax.scipy.linalg.lu_factor(a)[0], each(lambda n: normal(n, n), squares(64, 256, 1024))),
    "qr": (jnp.linalg.qr, each(lambda n: normal(n, n), squares(64, 256, 512))),
    "qr of 32 columns": (jnp.linalg.qr, each(lambda n: normal(n, 32), squares(256, 2048, 16384))),
    "solve": (jnp.linalg.solve, each(lambda n: (positive(n), normal(n, n)), squares(64, 256, 1024))),
    "inverse": (jnp.linalg.inv, each(positive, squares(64, 256, 1024))),
    "determinant": (jnp.linalg.slogdet, each(positive, squares(64, 256, 1024))),
    "eigh": (lambda a: jnp.linalg.eigh(a + a.T), each(lambda n: normal(n, n), squares(8, 32, 128, 256))),
    "eigvalsh": (lambda a: jnp.linalg.eigvalsh(a + a.T), each(lambda n: normal(n, n), squares(8, 32, 128, 256))),
    "svd": (lambda a: jnp.linalg.svd(a, full_matrices=False), each(lambda n: normal(n, n), squares(8, 32, 128, 256))),
    "singular values": (lambda a: jnp.linalg.svd(a, compute_uv=False), each(lambda n: normal(n, n), squares(8, 32, 128, 256))),
    "least squares": (lambda a, b: jnp.linalg.lstsq(a, b)[0], each(lambda n: (normal(2 * n, n), normal(2 * n)), squares(16, 64))),
    "200 svds": (lambda a: jnp.linalg.svd(a, full_matrices=False), each(lambda n: normal(200, n, n), squares(3, 4, 8, 16))),
    "200 choleskys": (jnp.linalg.cholesky, each(lambda n: jnp.stack([positive(n)] * 200), squares(4, 16, 32))),
    "expm": (jax.scipy.linalg.expm, each(lambda n: normal(n, n) * 0.1, squares(16, 64, 256))),
    "large kernels": (conv, each(lambda n: (normal(1, 1, 128, 128), normal(1, 1, n, n)), squares(3, 9, 21, 41))),
    "many channels": (conv, each(lambda c: (normal(1, c, 32, 32), normal(c, c, 3, 3)), squares(3, 16, 64, 256))),
    "sums of large windows": (lambda x: windows(x, 31, 0.0, lax.add), each(lambda n: normal(1, 1, n, n), squares(128, 256))),
    "maxima of large windows": (lambda x: windows(x, 15, -jnp.inf, lax.max), each(lambda n: normal(1, 1, n, n), squares(128, 512))),
    "loop that sets elements": (lambda x: lax.fori_loop(0, x.shape[0], lambda i, a: a.at[i].set(a[i - 1] * 0.5 + x[i]), x), each(normal, squares(100, 1000, 10000))),
    "scan of a cell": (lambda x, w: lax.scan(lambda c, y: (jnp.tanh(w @ c + y), c.sum()), jnp.zeros(32), x)[1], each(lambda n: (normal(n, 32), normal(32, 32)), squares(10, 100, 1000))),
    "distances of pairs": (lambda a: lax.top_k(-((a[:, None] - a[None]) ** 2).sum(-1), 8), each(lambda n: normal(n, 3), squares(100, 500, 2000))),
    "products of f32": (jnp.matmul, each(lambda n: (normal(n, n), normal(n, n)), squares(16, 64, 256, 1024))),
    "products of bf16": (jnp.matmul, each(lambda n: (jnp.ones((n, n), jnp.bfloat16),) * 2, squares(64, 256, 1024))),
    "products of f16": (jnp.matmul, each(lambda n: (jnp.ones((n, n), jnp.float16),) * 2, squares(64, 256, 1024))),
    "products of i8": (lambda a, b: lax.dot(a, b, preferred_element_type=jnp.int32), each(lambda n: (jnp.ones((n, n), jnp.int8),) * 2, squares(64, 256, 1024))),
    "products with three columns": (jnp.matmul, each(lambda n: (normal(n, n), normal(n, 3)), squares(64, 256, 1024))),
    "products with four columns": (jnp.matmul, each(lambda n: (normal(n, n), normal(n, 4)), squares(64, 256, 1024))),
    "long sums of products": (lambda a, b: a.T @ b, each(lambda n: (normal(n, 64), normal(n, 64)), squares(1024, 16384, 131072))),
    "256 small products": (jnp.matmul, each(lambda n: (normal(256, n, n), normal(256, n, n)), squares(3, 4, 8, 32))),
    "one query": (jax.nn.dot_product_attention, each(lambda n: (normal(1, 1, 8, 64), normal(1, n, 8, 64), normal(1, n, 8, 64)), squares(128, 1024, 8192))),
}


def least_of_jax(function, arguments):
    jax.block_until_ready(function(*arguments))
    times, begin = [], time.perf_counter()
    while len(times) < 3 or (len(times) < 200 and time.perf_counter() - begin < SECONDS):
        start = time.perf_counter()
        jax.block_until_ready(function(*arguments))
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def on_host(array):
    return np.asarray(array).view(np.uint16) if array.dtype == jnp.bfloat16 else np.asarray(array)


def cell(tool, function, arguments, folder):
    """What a cell says, and its ratio (0 if it failed)."""
    compiled = jax.jit(function)
    model, inputs = folder / "model.mlir", folder / "inputs.npz"
    model.write_text(compiled.lower(*arguments).as_text())
    np.savez(inputs, **{f"in{i}": on_host(array) for i, array in enumerate(arguments)})
    theirs = least_of_jax(compiled, arguments)
    steps = int(np.clip(1e3 * SECONDS / max(theirs, 0.01), 3, 200))
    command = [tool, model, "--threads=1", f"--repeat={steps}", "--report=json", "--no-cache"]
    # Files of arrays have no bf16; what is read of it is random.
    if all(array.dtype != jnp.bfloat16 for array in arguments):
        command.append(f"--inputs=@{inputs}")
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        return f"more than {MOST_SECONDS} s ({theirs:.3g} ms)", 0
    if run.returncode:
        return f"code {run.returncode}: {run.stderr.strip()[-80:]}", 0
    ours = max(json.loads(run.stdout[run.stdout.index("{"):])["ms_min"], 1e-6)
    return f"{theirs / ours:6.2f} ({theirs:.3g} / {ours:.3g})", theirs / ours


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shard-run", default="build/bin/shard-run")
    parser.add_argument("--below", type=float, default=0.85)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    slow = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (function, sizes) in CASES.items():
            if options.names and not any(word in name for word in options.names):
                continue
            cells = [cell(options.shard_run, function, arguments, Path(folder)) for arguments in sizes]
            is_slow = any(ratio < options.below for _, ratio in cells)
            slow += is_slow
            print(f"{name:28}", " | ".join(text for text, _ in cells), "<--" if is_slow else "", flush=True)
    print(f"{slow} with a size below {options.below}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
