"""Time shardc against JAX (and PyTorch) on the same cores, in one run.

    bench.py [--shard-run PATH] [--rounds N] [--steps N] [CASE ...]

A case is one program at one number of ranks. Peers run in processes of their own, in turns with shardc, so that
whatever else the machine does meets all of them; each figure is the median of all steps of all rounds, after warm-up.
JAX has as many virtual CPU devices as there are ranks; all have the same cores. Needs jax (and, for the convolution
alone, torch where it can be imported); prints what it leaves out.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import harness

sys.path.insert(0, str(harness.ROOT / "python" / "examples"))


# --- programs, as JAX functions -------------------------------------------------------------------------------------


def conv_halo():
    """3x3 convolution and bias, 1x8x1024x1024 f32, rows cut."""
    from jax import lax

    def f(image, w, bias):
        y = lax.conv_general_dilated(image, w, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))
        return y + bias[None, :, None, None]

    return f, [((1, 8, 1024, 1024), (None, None, "x")), ((8, 8, 3, 3), ()), ((8,), ())], (None, None, "x")


def unet2d():
    """The example U-Net at 256x256, rows cut."""
    import jax
    from unet import init, unet

    leaves, tree = jax.tree.flatten(init(jax.random.key(0)))

    def f(*args):
        return unet(jax.tree.unflatten(tree, args[:-1]), args[-1])

    arguments = [(leaf.shape, ()) for leaf in leaves] + [((1, 256, 256, 3), (None, "x"))]
    return f, arguments, (None, "x")


def shallow_water():
    """Ten steps of the shallow-water equations on a periodic 2048x2048 C-grid, rows cut."""
    from functools import partial

    import jax.numpy as jnp
    from jax import lax

    east, west = partial(jnp.roll, shift=-1, axis=1), partial(jnp.roll, shift=1, axis=1)
    north, south = partial(jnp.roll, shift=-1, axis=0), partial(jnp.roll, shift=1, axis=0)

    def step(_, state):
        h, u, v = state
        uh, vh = u * 0.5 * (h + east(h)), v * 0.5 * (h + north(h))
        h = h - 0.05 * (uh - west(uh) + vh - south(vh))
        ubar = 0.25 * (u + west(u) + north(u) + north(west(u)))
        vbar = 0.25 * (v + east(v) + south(v) + south(east(v)))
        u = u + 0.05 * (0.1 * vbar - (east(h) - h))
        v = v + 0.05 * (-0.1 * ubar - (north(h) - h))
        return h, u, v

    def f(h, u, v):
        return lax.fori_loop(0, 10, step, (h, u, v))

    return f, [((2048, 2048), ("x",))] * 3, [("x",)] * 3


def wave3d():
    """Ten leapfrog steps of the wave equation on 192x192x192, edge-padded slices, planes cut."""
    import jax.numpy as jnp
    from jax import lax

    def f(u, previous, c2):
        def step(_, state):
            u, previous = state
            p, c = jnp.pad(u, 1, mode="edge"), slice(1, -1)
            laplacian = (p[2:, c, c] + p[:-2, c, c] + p[c, 2:, c] + p[c, :-2, c] + p[c, c, 2:] + p[c, c, :-2] - 6 * u)
            return 2 * u - previous + 0.02 * c2 * laplacian, u

        return lax.fori_loop(0, 10, step, (u, previous))

    return f, [((192, 192, 192), ("x",))] * 3, [("x",)] * 2


def fourier_gradients(batch, rows, width, channels, modes):
    """Two layers of a Fourier operator and their gradients, rows cut."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    scale = 0.125

    def spectral(x, re, im):
        f = jnp.fft.rfft2(x, axes=(1, 2))
        mixed = jnp.einsum("bxyi,ioxy->bxyo", f[:, :modes, :modes], scale * lax.complex(re, im))
        return jnp.fft.irfft2(jnp.zeros_like(f).at[:, :modes, :modes].set(mixed), s=(rows, width), axes=(1, 2))

    def loss(weights, x):
        for re, im, skip in weights:
            x = jax.nn.gelu(spectral(x, re, im) + scale * x @ skip)
        return jnp.mean(x**2)

    def f(re0, im0, skip0, re1, im1, skip1, x):
        gradients = jax.grad(loss, argnums=(0, 1))([(re0, im0, skip0), (re1, im1, skip1)], x)
        return tuple(jax.tree.leaves(gradients))

    modal, square = ((channels, channels, modes, modes), ()), ((channels, channels), ())
    field = (batch, rows, width, channels)
    return f, [modal, modal, square] * 2 + [(field, (None, "x"))], [()] * 6 + [(None, "x")]


def fourier():
    """Two layers of a Fourier operator and their gradients, 4 fields of 256x256, 32 channels, 24 modes, rows cut."""
    return fourier_gradients(batch=4, rows=256, width=256, channels=32, modes=24)


PROGRAMS = {"conv_halo": conv_halo, "unet2d": unet2d, "shallow_water": shallow_water, "wave3d": wave3d, "fourier": fourier}


# --- runners --------------------------------------------------------------------------------------------------------


def run_jax(program: str, ranks: str, steps: str) -> dict:
    """Time JAX."""
    return harness.time_jax(lambda _: PROGRAMS[program](), int(ranks), int(steps))


def run_torch(steps: str) -> dict:
    """Time the convolution in PyTorch."""
    import torch

    image, w, bias = torch.randn(1, 8, 1024, 1024), torch.randn(8, 8, 3, 3), torch.randn(8)
    with torch.inference_mode():
        return harness.time_steps(lambda: torch.nn.functional.conv2d(image, w, bias, padding=1), int(steps))


def has_torch() -> bool:
    """Return whether PyTorch can be asked."""
    try:
        harness.ask("torch", 1)
    except subprocess.CalledProcessError:
        return False
    return True


def compare(shard_run: str, program: str, ranks: int, rounds: int, steps: int) -> dict:
    """Return the medians of one case: milliseconds by runner, and the longest compilation."""
    compile_ms = []
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / f"{program}.mlir"
        harness.export(lambda _: PROGRAMS[program](), ranks, model)

        def shardc() -> float:
            report = harness.run_shardc(shard_run, model, steps)
            compile_ms.append(report["compile_ms"])
            return report["ms_per_step"]

        runners = {"shardc": shardc, "jax": lambda: harness.ask("jax", program, ranks, steps)["ms"]}
        if program == "conv_halo" and has_torch():
            runners["torch"] = lambda: harness.ask("torch", steps)["ms"]
        medians = harness.interleaved(rounds, runners)
    return {**medians, "compile_ms": max(compile_ms)}


def main() -> int:
    if harness.answer({"jax": run_jax, "torch": run_torch}):
        return 0
    parser = harness.parser(__doc__, steps=20, rounds=3)
    parser.add_argument("cases", nargs="*", help="PROGRAM:RANKS; default: all")
    options = parser.parse_args()
    cases = options.cases or [f"{program}:{ranks}" for program in PROGRAMS for ranks in (1, 2, 4)]
    print(f"{'program':12} ranks  compile ms  shardc ms    jax ms  torch ms  jax/shardc  torch/shardc")
    for case in cases:
        program, ranks = case.split(":")
        row = compare(options.shard_run, program, int(ranks), options.rounds, options.steps)
        cells = [f"{row[name]:10.2f}" if name in row else f"{'-':>10}" for name in ("shardc", "jax", "torch")]
        ratios = [f"{row[name] / row['shardc']:10.2f}" if name in row else f"{'-':>10}" for name in ("jax", "torch")]
        print(f"{program:12} {ranks:>5}  {row['compile_ms']:10.0f} " + "".join(cells) + "  " + "  ".join(ratios), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
