"""The same work by PyTorch, FlashAttention and JAX, where this machine has them.

    peers.py FOLDER

Reads timings.json (and programs/*.mlir with their cases' inputs made up) beside it and prints one line a figure, of
fields with tabs between: what, by whom, milliseconds (or '-'), and what there is to say. Always exits with 0.
"""

import json
import re
import sys
import time
from pathlib import Path


def say(name: str, peer: str, ms: float | None, text: str = "") -> None:
    print(f"{name}\t{peer}\t{'-' if ms is None else f'{ms:.4f}'}\t{' '.join(text.split())[:160]}", flush=True)


def least(run, wait, seconds: float = 1.0) -> float:
    """Least milliseconds of ``run``, many in a row where they are short."""
    run()
    wait()
    start = time.perf_counter()
    run()
    wait()
    once = time.perf_counter() - start
    count = max(1, min(50, int(0.05 / max(once, 1e-6))))
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(count):
            run()
        wait()
        best = min(best, (time.perf_counter() - start) / count)
    return 1e3 * best


def by_torch(timings: list[dict]) -> None:
    try:
        import torch
    except ImportError:
        return say("PyTorch", "PyTorch", None, "is not here")
    if not torch.cuda.is_available():
        return say("PyTorch", "PyTorch", None, "finds no GPU")
    functional = torch.nn.functional
    torch.backends.cuda.matmul.allow_tf32 = False

    def attempt(name: str, peer: str, make) -> None:
        try:
            run = make()
            say(name, peer, least(run, torch.cuda.synchronize), torch.__version__)
        except Exception as error:
            say(name, peer, None, str(error))

    def normal(*shape: int, of=None):
        return torch.randn(*shape, device="cuda", dtype=of or torch.bfloat16)

    for timing in timings:
        name, shape = timing["name"], timing["shape"]
        kind = shape.get("kind", "")
        if kind == "product":
            a, b = (normal(shape["n"], shape["n"], of=getattr(torch, shape["type"])) for _ in range(2))
            attempt(name, "PyTorch", lambda a=a, b=b: lambda: a @ b)
        elif kind.startswith("attention"):
            q, k, v, g = (normal(1, shape["heads"], shape["tokens"], shape["dim"]) for _ in range(4))
            if kind == "attention":
                attempt(name, "PyTorch SDPA", lambda q=q, k=k, v=v: lambda: functional.scaled_dot_product_attention(q, k, v))
            else:
                def backward(q=q, k=k, v=v, g=g):
                    leaves = [x.detach().requires_grad_() for x in (q, k, v)]
                    out = functional.scaled_dot_product_attention(*leaves)
                    return lambda: torch.autograd.grad(out, leaves, g, retain_graph=True)
                attempt(name, "PyTorch SDPA", backward)
            try:
                from flash_attn import flash_attn_func
            except ImportError:
                say(name, "FlashAttention", None, "is not here")
                continue
            turned = [x.transpose(1, 2).contiguous() for x in (q, k, v)]
            if kind == "attention":
                attempt(name, "FlashAttention", lambda turned=turned: lambda: flash_attn_func(*turned))
        elif kind == "convolution":
            x = normal(shape["batch"], shape["channels"], shape["size"], shape["size"]).to(memory_format=torch.channels_last)
            w = normal(shape["channels"], shape["channels"], 3, 3).to(memory_format=torch.channels_last)
            attempt(name, "PyTorch", lambda x=x, w=w: lambda: functional.conv2d(x, w, padding=1))
        elif kind in ("sort", "scan"):
            x = normal(shape["rows"], shape["n"], of=torch.float32)
            attempt(name, "PyTorch", lambda x=x, kind=kind: (lambda: torch.sort(x)) if kind == "sort" else (lambda: torch.cumsum(x, 1)))
        elif kind == "transform":
            x = normal(shape["lines"], shape["n"], of=torch.complex64)
            attempt(name, "PyTorch", lambda x=x: lambda: torch.fft.fft(x))


def without_shardings(text: str) -> str:
    """A program of the corpus as one device runs it: annotations are left out."""
    text = re.sub(r"^\s*sdy\.mesh .*\n", "", text, flags=re.MULTILINE)
    key, out, at = "sdy.sharding = #sdy.sharding<", [], 0
    while (begin := text.find(key, at)) >= 0:
        end, depth = begin + len(key), 1
        while depth:
            depth += (text[end] == "<") - (text[end] == ">")
            end += 1
        before = text[at:begin]
        if text.startswith(", ", end):
            end += 2
        elif before.endswith(", "):
            before = before[:-2]
        out.append(before)
        at = end
    text = "".join([*out, text[at:]])
    # Inputs are used again and again.
    text = re.sub(r"(tf\.aliasing_output = \d+ : i32|jax\.buffer_donor = true)(, )?", "", text)
    text = re.sub(r", \}", "}", re.sub(r" \{\}(?=[,)\s])", "", text))
    text = re.sub(r"(%\S+) = sdy\.sharding_constraint (%\S+) <[^\n]*> : (.*)", r"\1 = stablehlo.optimization_barrier \2 : \3", text)
    return re.sub(r"mhlo\.num_partitions = \d+", "mhlo.num_partitions = 1", text)


def by_jax(programs: Path, seconds: float) -> None:
    try:
        import jax
        import numpy as np
        from jax._src import compiler, xla_bridge
    except ImportError:
        return say("JAX", "JAX", None, "is not here")
    try:
        backend = xla_bridge.get_backend("gpu")
    except Exception as error:
        return say("JAX", "JAX", None, f"finds no GPU: {error}")
    end = time.perf_counter() + seconds
    for path in sorted(programs.glob("*.mlir")):
        if time.perf_counter() > end:
            say(path.stem, "JAX", None, "no time left")
            continue
        try:
            text = without_shardings(path.read_text())
            options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
            program = backend.compile_and_load(text, backend.local_devices()[:1], options)
            head = re.search(r"@main\((.*?)\) ->", text, re.DOTALL).group(1)
            inputs = []
            for shape, kind in re.findall(r"%arg\d+: tensor<((?:\d+x)*)(\w+|complex<\w+>)>", head):
                dims = [int(d) for d in shape.split("x") if d]
                names = {"f32": "float32", "f64": "float64", "i32": "int32", "i64": "int64", "i1": "bool", "ui32": "uint32",
                         "ui8": "uint8", "i8": "int8", "f16": "float16"}
                if kind == "bf16":
                    inputs.append(jax.device_put(jax.numpy.full(dims, 0.5, jax.numpy.bfloat16)))
                else:
                    inputs.append(jax.device_put(np.full(dims, 0.5 if kind[0] == "f" else 0, names[kind])))
            results = []

            def run(program=program, inputs=inputs, results=results) -> None:
                results[:] = program.execute_sharded(inputs).disassemble_into_single_device_arrays()

            def wait(results=results) -> None:
                for arrays in results:
                    for array in arrays:
                        array.block_until_ready()

            say(path.stem, "JAX", least(run, wait, 0.3), jax.__version__)
        except Exception as error:
            say(path.stem, "JAX", None, str(error))


def main() -> int:
    here = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    by_torch(json.loads((here / "timings.json").read_text()))
    by_jax(here / "programs", 60)
    return 0


if __name__ == "__main__":
    sys.exit(main())
