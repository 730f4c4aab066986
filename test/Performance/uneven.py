"""Time uneven cuts beside even ones of the same largest shard: whether it costs more that shards differ.

    uneven.py [--ranks 2,4] [--rounds N] [--steps N] [--models DIR] [CASE ...]

A case is a program of which one dim is cut. It runs in some cuts of the same total, in turns, and beside each the even program
that bounds it:

    even      the even cut of the same total
    largest   the even cut of a program whose shards all have the size of the largest here (where each rank has a core); for one element
              more on one side than on the other, `even` and as much more as its share is
    alone     one rank, the program of the largest shard's size

"ratio" is the time to `largest` where there are no more ranks than cores, else to the greater of `alone` and `even`: it says
what unevenness costs beyond imbalance. Figures are medians of rounds; 90 % of the medians of ratios drawn again from the rounds lie
within "spread". ``--models DIR`` keeps what was exported and compiled; ``--prepare`` does no more than that. Needs jax to export.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bench
import harness

# --- programs: functions of the extent of the dim that is cut ---------------------------------------------------------


def convolution(n):
    """3x3 convolution and bias, channels first, rows cut."""
    from jax import lax

    def f(image, w, bias):
        y = lax.conv_general_dilated(image, w, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))
        return y + bias[None, :, None, None]

    return f, [((1, 8, n, 1024), (None, None, "x")), ((8, 8, 3, 3), ()), ((8,), ())], (None, None, "x")


def shallow_water(n):
    """Ten steps of the shallow-water equations, periodic, rows cut."""
    f, arguments, out = bench.shallow_water()
    return f, [((n, 1024), ("x",)) for _ in arguments], out


def wave3d(n):
    """Ten steps of the wave equation, planes cut."""
    f, arguments, out = bench.wave3d()
    return f, [((n, 128, 128), ("x",)) for _ in arguments], out


def trained(make: Callable, cut: dict[int, int]) -> tuple:
    """A training step, its data cut along "x" as said (which dim of which one); parameters are whole."""
    import jax
    import numpy as np

    training = make()
    leaves, tree = jax.tree.flatten((training.state, training.data))
    count = len(leaves) - len(training.data)

    def f(*args):
        state, data = jax.tree.unflatten(tree, args)
        return tuple(jax.tree.leaves(training.step(*state, *data)))

    arguments = []
    for i, leaf in enumerate(leaves):
        dim = cut.get(i - count)
        arguments.append((np.shape(leaf), () if dim is None else (None,) * dim + ("x",), np.asarray(leaf).dtype))
    return f, arguments, [()] * (count + 1)


def unet_train(n):
    """Training step of a U-Net, rows cut."""
    import training

    def make():
        made = training.unet2d(batch=2, size=64, channels=16)
        import numpy as np

        made.data = tuple(np.zeros((2, n, 64, d.shape[-1]), np.float32) for d in made.data)
        return made

    return trained(make, {0: 1, 1: 1})


def vit_train(n):
    """Training step of a vision transformer, batch cut."""
    import training

    return trained(lambda: training.vit(batch=n, depth=2), {0: 0, 1: 0})


def transformer_train(n):
    """Training step of a causal language model, batch cut."""
    import training

    return trained(lambda: training.transformer(batch=n, depth=2), {0: 0, 1: 0})


def tokens_train(n):
    """The same, tokens cut: attention in a ring."""
    import training

    return trained(lambda: training.transformer(batch=2, tokens=n, depth=2), {0: 1, 1: 1})


def gnn_train(n):
    """Training step of message passing on a graph of 4 edges a node, nodes and edges cut."""
    import training

    return trained(lambda: training.gnn_message_passing(nodes=n, edges=4 * n), dict.fromkeys(range(5), 0))


def fourier_train(n):
    """Gradients of two layers of a Fourier operator, rows cut."""
    return bench.fourier_gradients(batch=2, rows=n, width=128, channels=16, modes=16)


def attention(n):
    """Causal attention and its gradients, tokens cut."""
    import jax
    import jax.numpy as jnp

    def attend(q, k, v):
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
        return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, -1), v)

    def f(q, k, v, g):
        out, back = jax.vjp(attend, q, k, v)
        return out, *back(g)

    tokens = (1, 8, n, 64), (None, None, "x")
    return f, [tokens] * 4, [tokens[1]] * 4


def mlp_train(n):
    """Gradients of a network of three layers, batch cut."""
    import jax
    import jax.numpy as jnp

    def loss(w, x, y):
        for m in w[:-1]:
            x = jax.nn.relu(x @ m)
        return jnp.mean((x @ w[-1] - y) ** 2)

    def f(a, b, c, x, y):
        return jax.grad(loss)((a, b, c), x, y)

    wide = ((512, 512), ())
    return f, [wide] * 3 + [((n, 512), ("x",))] * 2, [()] * 3


def norms(n):
    """Softmax, layer norm and group norm with their gradients, rows cut."""
    import jax
    import training

    def apply(x, g, b):
        y = jax.nn.softmax(x, -1) + training.layer_norm(x, {"g": g, "b": b})
        return training.group_norm(y[None], {"g": g, "b": b})[0]

    def f(x, g, b, slope):
        y, back = jax.vjp(apply, x, g, b)
        return y, *back(slope)

    rows = (n, 512), ("x",)
    return f, [rows, ((512,), ()), ((512,), ()), rows], [("x",), ("x",), (), ()]


def points(n):
    """The eight nearest of n points for each of 512, and what they carry, interpolated; points cut."""
    import jax.numpy as jnp
    from jax import lax

    def f(points, at, values):
        square = jnp.sum((at[:, None] - points[None]) ** 2, -1)
        negative, which = lax.top_k(-square, 8)
        weight = 1 / (1e-6 - negative)
        return jnp.einsum("qk,qkc->qc", weight / weight.sum(-1, keepdims=True), values[which])

    return f, [((n, 3), ("x",)), ((512, 3), ()), ((n, 4), ("x",))], ()


def resnet_train(n):
    """Gradients of two residual blocks of 3x3 convolutions with batch norm, rows cut."""
    import jax
    import jax.numpy as jnp
    import training

    def norm(x):
        return (x - x.mean((0, 1, 2))) * jax.lax.rsqrt(x.var((0, 1, 2)) + 1e-5)

    def loss(w, x):
        for a, b in w:
            x = jax.nn.relu(x + norm(training.conv(jax.nn.relu(norm(training.conv(x, a))), b)))
        return jnp.mean(x**2)

    def f(a, b, c, d, x):
        return tuple(jax.tree.leaves(jax.grad(loss)(((a, b), (c, d)), x)))

    w = ((3, 3, 32, 32), ())
    return f, [w] * 4 + [((4, n, 64, 32), (None, "x"))], [()] * 4


#: Name: the program, the total extent of its cut dim.
CASES = {
    "convolution": (convolution, 1024),
    "unet_train": (unet_train, 128),
    "resnet_train": (resnet_train, 64),
    "shallow_water": (shallow_water, 1024),
    "wave3d": (wave3d, 128),
    "fourier_train": (fourier_train, 128),
    "vit_train": (vit_train, 16),
    "transformer_train": (transformer_train, 16),
    "tokens_train": (tokens_train, 512),
    "attention": (attention, 2048),
    "mlp_train": (mlp_train, 1024),
    "norms": (norms, 4096),
    "gnn_train": (gnn_train, 4096),
    "points": (points, 8192),
}
#: By ranks: eighths of the total that each has, or "+1": one more on the first than on the last.
CUTS: dict[int, list] = {2: ["+1", (5, 3), (8, 0)], 4: ["+1", (3, 0, 4, 1), (4, 0, 4, 0)]}


def sizes(cut, total: int, ranks: int) -> list[int]:
    """Return the sizes of the shards."""
    if cut == "+1":
        each = total // ranks
        return [each + 1, *[each] * (ranks - 2), each - 1]
    return [total * part // 8 for part in cut]


# --- runs -----------------------------------------------------------------------------------------------------------


class Models:
    """Exported and compiled programs in a folder."""

    def __init__(self, folder: Path, shard_run: str) -> None:
        self.folder, self.shard_run = folder, shard_run
        folder.mkdir(parents=True, exist_ok=True)

    def text(self, case: str, total: int, ranks: int) -> Path:
        """Return the program's text, exported if it is not there."""
        path = self.folder / f"{case}-{total}-{ranks}.mlir"
        if not path.exists():
            export(CASES[case][0](total), ranks, path)
        return path

    def artifact(self, case: str, shards: list[int]) -> Path:
        """Return the program compiled for these shards."""
        total, ranks = sum(shards), len(shards)
        name = "_".join(map(str, shards))
        model, made = self.text(case, total, ranks), self.folder / f"{case}-{name}.so"
        if not made.exists():
            translate = str(Path(self.shard_run).parent / "shard-translate")
            even = len(set(shards)) == 1
            cut = [] if even else [f"--sizes=x={','.join(map(str, shards))}"]
            subprocess.run([translate, str(model), *cut, "-o", str(made)], check=True)
        return made


def export(program: tuple, ranks: int, path: Path) -> None:
    """Write a program, whose arguments may say their types, as StableHLO with its shardings."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec

    f, arguments, out = program
    mesh = AbstractMesh((ranks,), ("x",))

    def named(spec):
        return NamedSharding(mesh, PartitionSpec(*spec))

    results = tuple(map(named, out)) if isinstance(out, list) else named(out)
    shapes = [jax.ShapeDtypeStruct(shape, dtype[0] if dtype else jnp.float32, sharding=named(spec)) for shape, spec, *dtype in arguments]
    path.write_text(jax.jit(f, out_shardings=results).trace(*shapes).lower(lowering_platforms=("cpu",)).as_text())


def interval(ratios: list[float]) -> tuple[float, float]:
    """Return where nine of ten medians of as many ratios, drawn again from these, lie."""
    draw = random.Random(0)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(500))
    return medians[25], medians[474]


def runs_of(shards: list[int], cut, cores: int) -> dict[str, list[int]]:
    """Return what runs beside a cut, by name."""
    ranks, total = len(shards), sum(shards)
    runs = {"uneven": shards, "even": [total // ranks] * ranks}
    if cut != "+1":
        runs |= {"largest": [max(shards)] * ranks} if ranks <= cores else {"alone": [max(shards)]}
    return runs


def compare(models: Models, case: str, ranks: int, cut, rounds: int, steps: int, cores: int) -> None:
    """Print the row of one cut of one case."""
    shards = sizes(cut, CASES[case][1], ranks)
    runs = runs_of(shards, cut, cores)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name in times:
            report = harness.run_shardc(models.shard_run, models.artifact(case, runs[name]), steps, "--trust")
            times[name].append(report["ms_per_step"])
    if ranks <= cores and "largest" not in runs:
        times["largest"] = [time * max(shards) * ranks / sum(shards) for time in times["even"]]
    bound = ["largest"] if ranks <= cores else [name for name in ("alone", "even") if name in times]
    ratios = [times["uneven"][i] / max(times[name][i] for name in bound) for i in range(rounds)]
    low, high = interval(ratios)
    cells = [f"{statistics.median(times[name]):10.2f}" if name in times else f"{'-':>10}" for name in ("uneven", "even", "largest", "alone")]
    print(f"{case:18}{ranks:>6}  {'-'.join(map(str, shards)):22}" + "".join(cells) + f"{statistics.median(ratios):8.2f}  {low:.2f}-{high:.2f}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shard-run", default=str(harness.ROOT / "build" / "bin" / "shard-run"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--cuts", type=int, default=3, help="no more than so many cuts of each")
    parser.add_argument("--models", type=Path, default=harness.ROOT / "build" / "uneven-models")
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("cases", nargs="*", default=list(CASES), metavar="CASE", help=", ".join(CASES))
    options = parser.parse_args()
    models, cores = Models(options.models, options.shard_run), len(os.sched_getaffinity(0))
    if not options.prepare:
        print(f"{'case':18}{'ranks':>6}  {'cut':22}{'uneven':>10}{'even':>10}{'largest':>10}{'alone':>10}{'ratio':>8}  spread")
    for case in options.cases:
        for ranks in map(int, options.ranks.split(",")):
            for cut in CUTS[ranks][: options.cuts]:
                if not options.prepare:
                    compare(models, case, ranks, cut, options.rounds, options.steps, cores)
                    continue
                for run in runs_of(sizes(cut, CASES[case][1], ranks), cut, cores).values():
                    models.artifact(case, run)
    return 0


if __name__ == "__main__":
    sys.exit(main())
