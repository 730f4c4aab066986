"""Time the corpus' attention programs of real sizes beside JAX, on the same cores, each run with limits of time and memory.

    attention_big.py [--shard-run PATH] [--ranks 2,4] [--limit SECONDS] [--memory GB] [--shrink N] [CASE ...]

| case | |
|---|---|
| softmax | written out; B1 H16 S16384 D64 f32 (attn_softmax_big) |
| causal | the same under a causal mask; S8192 (attn_causal_vjp_big) |
| dpa | jax.nn.dot_product_attention, causal, 16 heads on 4 of keys; S32768 D128 bf16 (attn_dpa_bf16_big) |
| ring | a causal ring as its author wrote it in shard_map; B1 H16 S32768 D64 f32 (sm_ring_attention_big) |

Each forward, and forward with the gradient of queries, keys and values ("CASE+backward"). JAX has as many virtual devices as there are
ranks. A figure is one step after one that is not timed (--steps: the median of several); both take turns, one process at a time. Where JAX needs more
memory or time than the limits, its column says so: "no memory", "> 600 s". --shrink divides the tokens, to try it out.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import harness

CASES = ("softmax", "causal", "dpa", "ring")
TOKENS = {"softmax": 16384, "causal": 8192, "dpa": 32768, "ring": 32768}
HEADS = (None, None, "x")  # batch, heads, tokens
ROWS = (None, "x")  # batch, tokens, heads


def written_out(is_causal: bool):
    """Softmax attention of (batch, heads, tokens, features)."""
    import jax
    import jax.numpy as jnp

    def f(q, k, v):
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
        if is_causal:
            tokens = scores.shape[-1]
            scores = jnp.where(jnp.tril(jnp.ones((tokens, tokens), bool)), scores, -1e9)
        p = jnp.exp(scores - jax.lax.stop_gradient(scores.max(-1, keepdims=True)))
        return jnp.einsum("bhqk,bhkd->bhqd", p / p.sum(-1, keepdims=True), v)

    return f


def ring(mesh):
    """Causal attention that goes round a ring of its own."""
    import jax
    import jax.numpy as jnp
    from jax import lax
    from jax.sharding import PartitionSpec

    ranks = mesh.shape["x"]

    def local(q, k, v):
        tokens, me = q.shape[2], lax.axis_index("x")
        places = me * tokens + jnp.arange(tokens)

        def step(carry, turn):
            k, v, most, total, acc = carry
            of_keys = ((me - turn) % ranks) * tokens + jnp.arange(tokens)
            scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
            scores = jnp.where(places[:, None] >= of_keys[None], scores, -1e9)
            new = jnp.maximum(most, scores.max(-1))
            p, factor = jnp.exp(scores - new[..., None]), jnp.exp(most - new)
            acc = acc * factor[..., None] + jnp.einsum("bhqk,bhkd->bhqd", p, v)
            there = [(i, (i + 1) % ranks) for i in range(ranks)]
            return (lax.ppermute(k, "x", there), lax.ppermute(v, "x", there), new, total * factor + p.sum(-1), acc), None

        def varying(x):
            return lax.pcast(x, "x", to="varying")

        start = (k, v, varying(jnp.full(q.shape[:3], -1e9)), varying(jnp.zeros(q.shape[:3])), jnp.zeros_like(q))
        (_, _, _, total, acc), _ = lax.scan(step, start, jnp.arange(ranks))
        return acc / total[..., None]

    spec = PartitionSpec(*HEADS)
    return jax.shard_map(local, mesh=mesh, in_specs=(spec,) * 3, out_specs=spec)


def program(case: str, shrink: int, mesh) -> tuple:
    """Return the program of a case (harness.py)."""
    import jax

    name, _, backward = case.partition("+")
    tokens = TOKENS[name] // shrink
    if name == "dpa":
        shapes, spec = [(1, tokens, heads, 128) for heads in (16, 4, 4)], ROWS

        def f(q, k, v):
            return jax.nn.dot_product_attention(q, k, v, is_causal=True)
    else:
        shapes, spec = [(1, 16, tokens, 64)] * 3, HEADS
        f = ring(mesh) if name == "ring" else written_out(name == "causal")
    if not backward:
        return f, [(shape, spec) for shape in shapes], spec

    def both(q, k, v, g):
        out, pull = jax.vjp(f, q, k, v)
        return out, *pull(g)

    return both, [(shape, spec) for shape in [*shapes, shapes[0]]], [spec] * 4


def dtype_of(case: str) -> str:
    return "bfloat16" if case.startswith("dpa") else "float32"


def run_jax(case: str, shrink: str, ranks: str, steps: str) -> dict:
    """Time JAX."""
    return harness.time_jax(lambda mesh: program(case, int(shrink), mesh), int(ranks), int(steps), dtype=dtype_of(case), warmups=1)


def limited(command: list[str], seconds: float, memory: int) -> tuple[str, str]:
    """Run a command; its output, and why there is none: "no memory", "> 600 s", "failed"."""
    begin = time.monotonic()
    command = ["bash", "-c", f'ulimit -v {memory >> 10}; exec "$@"', "limited", *command]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(command, stdout=out, stderr=err, text=True)
        try:
            code = child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            return "", f"> {time.monotonic() - begin:.0f} s"
        out.seek(0)
        err.seek(0)
        text, errors = out.read(), err.read()
    if code == 0:
        return text, ""
    # XLA's kernels say no more than that they failed where they get no memory.
    lacks = any(word in errors for word in ("RESOURCE_EXHAUSTED", "YNNPACK operation failed", "bad_alloc", "Out of memory", "MemoryError", "Cannot allocate memory", "the limit is"))
    # The system ends a process that takes too much with signal 9.
    if lacks or code == -9:
        return "", "no memory"
    print(f"{' '.join(command[4:7])}: exit code {code}\n{errors[-2000:]}", file=sys.stderr)
    return "", "failed"


def main() -> int:
    if harness.answer({"jax": run_jax}):
        return 0
    parser = harness.parser(__doc__, steps=1, rounds=1)
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--limit", type=float, default=600, help="seconds for each run, compilation among them")
    parser.add_argument("--memory", type=float, default=20, help="GB of address space for each run")
    parser.add_argument("--shrink", type=int, default=1, help="divide tokens")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="softmax, causal+backward, ... (default: all)")
    options = parser.parse_args()
    cases = options.cases or [case + way for case in CASES for way in ("", "+backward")]
    memory = int(options.memory * 1e9)
    print(f"{'case':18}{'ranks':>6}{'shardc ms':>12}{'JAX ms':>12}{'JAX / shardc':>14}{'MB a rank':>11}{'hidden':>8}")
    for case in cases:
        for ranks in map(int, options.ranks.split(",")):
            times: dict[str, list[float]] = {"shardc": [], "jax": []}
            why, report = {"shardc": "", "jax": ""}, {}
            with tempfile.TemporaryDirectory() as folder:
                model = Path(folder) / "attention.mlir"
                harness.export(lambda mesh, case=case: program(case, options.shrink, mesh), ranks, model, dtype=dtype_of(case))
                # One step before the one that is timed, as JAX has.
                mine = [options.shard_run, str(model), "--seed=1", f"--repeat={max(options.steps, 2)}", "--report=json"]
                theirs = [sys.executable, sys.argv[0], "--child", "jax", case, str(options.shrink), str(ranks), str(options.steps)]
                for _ in range(options.rounds):
                    text, why["shardc"] = limited(mine, options.limit, memory)
                    if text:
                        report = json.loads(text)
                        times["shardc"].append(report["ms_per_step"])
                    if not why["jax"]:
                        text, why["jax"] = limited(theirs, options.limit, memory)
                        if text:
                            times["jax"].append(statistics.median(json.loads(text.splitlines()[-1])["ms"]))
            shown = {name: f"{statistics.median(values):.0f}" if values else why[name] for name, values in times.items()}
            ratio = f"{statistics.median(times['jax']) / statistics.median(times['shardc']):.2f}" if times["jax"] and times["shardc"] else ""
            peak = f"{max(report['peak_bytes']) / 1e6:.0f}" if report else ""
            hidden = f"{report['communication_total']['hidden']:.2f}" if report else ""
            print(f"{case:18}{ranks:6}{shown['shardc']:>12}{shown['jax']:>12}{ratio:>14}{peak:>11}{hidden:>8}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
