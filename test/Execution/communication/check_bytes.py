"""Compare the bytes that shard-run reports with what hand-written communication would move.

    check_bytes.py steps|windows|products SHARD_RUN

Bytes leave a rank and are summed over ranks; an all-reduce of n bytes over k ranks is 2 (k - 1) n, a gather with a result
of n bytes, or a reduce-scatter of n bytes, (k - 1) n for each group. Exits with 1 and a line for each difference.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

INPUTS = Path(__file__).parent / "Inputs"
FLOAT = 4


def report(shard_run, path, *flags):
    command = [shard_run, str(path), "--seed=3", "--check", "--rtol=1e-3", "--atol=1e-4", "--report=json", *flags]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if result.returncode:
        raise SystemExit(f"{' '.join(command)}: exit code {result.returncode}\n{result.stderr}")
    return json.loads(result.stdout)


def moved(sites, kind, axis):
    return sum(site["bytes"] for site in sites if site["kind"] == kind and site["axis"] == axis)


def all_reduce(elements, ranks, groups=1):
    return 2 * (ranks - 1) * elements * FLOAT * groups


def scatter(elements, ranks, groups=1):
    return (ranks - 1) * elements * FLOAT * groups


# A block of a transformer: batch 4 over data=2, heads and hidden units over model=2.
BATCH, TOKENS, WIDTH, HEADS, HIDDEN = 4, 8, 16, 4, 32
ACTIVATIONS = BATCH // 2 * TOKENS * WIDTH  # of one rank
BLOCK_WEIGHTS = (4 * WIDTH * WIDTH + 2 * WIDTH * HIDDEN) // 2  # of one rank
# A network of two layers, 8 -> 16 -> 4.
WEIGHTS = 8 * 16 + 16 + 16 * 4 + 4

STEPS = {
    # Behind the attention and behind the network.
    "megatron_forward": {("all_reduce", "model"): 2 * all_reduce(ACTIVATIONS, 2, groups=2)},
    # The same again for the gradients of their inputs; weights over the copies.
    "megatron_backward": {("all_reduce", "model"): 4 * all_reduce(ACTIVATIONS, 2, groups=2),
                          ("all_reduce", "data"): all_reduce(BLOCK_WEIGHTS, 2, groups=2)},
    # Gradients and the loss.
    "data_parallel": {("all_reduce", "data"): all_reduce(WEIGHTS + 1, 4)},
    # Weights are gathered, their gradients scattered, the loss combined.
    "fsdp": {("all_gather", "data"): scatter(WEIGHTS, 4), ("reduce_scatter", "data"): scatter(WEIGHTS, 4),
             ("all_reduce", "data"): all_reduce(1, 4)},
}
# Meetings of the ranks: small reductions travel together.
MOST_SITES = {"megatron_forward": 2, "megatron_backward": 5, "data_parallel": 1, "fsdp": 5}


def check_steps(shard_run):
    wrong = []
    for name, expected in STEPS.items():
        sites = report(shard_run, INPUTS / f"{name}.mlir")["communication"]
        found = {key: moved(sites, *key) for key in {(site["kind"], site["axis"]) for site in sites}}
        if found != expected:
            wrong.append(f"{name}: moves {found}, by hand {expected}")
        if len(sites) > MOST_SITES[name]:
            wrong.append(f"{name}: {len(sites)} communication ops, expected at most {MOST_SITES[name]}")
    return wrong


CONVOLUTION = """
sdy.mesh @mesh = <["x"={ranks}]>
func.func public @main(%a: tensor<1x2x{size}x3xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}, {{"x"}}, {{}}]>}},
                       %k: tensor<2x2x{window}x1xf32>) -> tensor<1x2x{out}x3xf32> {{
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
      window = {{stride = [{stride}, 1], pad = [[{low}, {high}], [0, 0]], lhs_dilate = [{base}, 1], rhs_dilate = [{dilation}, 1]}}
      {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : (tensor<1x2x{size}x3xf32>, tensor<2x2x{window}x1xf32>) -> tensor<1x2x{out}x3xf32>
  return %0 : tensor<1x2x{out}x3xf32>
}}
"""

POOLING = """
sdy.mesh @mesh = <["x"={ranks}]>
func.func public @main(%a: tensor<1x2x{size}x3xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}, {{"x"}}, {{}}]>}}) -> tensor<1x2x{out}x3xf32> {{
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %i) <{{window_dimensions = array<i64: 1, 1, {window}, 1>, window_strides = array<i64: 1, 1, {stride}, 1>,
      window_dilations = array<i64: 1, 1, {dilation}, 1>, base_dilations = array<i64: 1, 1, {base}, 1>,
      padding = dense<[[0, 0], [0, 0], [{low}, {high}], [0, 0]]> : tensor<4x2xi64>}}> ({{
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %m = stablehlo.maximum %x, %y : tensor<f32>
      stablehlo.return %m : tensor<f32>
  }}) : (tensor<1x2x{size}x3xf32>, tensor<f32>) -> tensor<1x2x{out}x3xf32>
  return %0 : tensor<1x2x{out}x3xf32>
}}
"""

# size, ranks, window, stride, dilation, base dilation, padding below and above
WINDOWS = [(32, 4, 3, 1, 1, 1, 1, 1), (30, 4, 3, 1, 1, 1, 1, 1), (32, 4, 5, 1, 1, 1, 2, 2), (32, 4, 3, 1, 2, 1, 2, 2),
           (32, 4, 4, 1, 1, 1, 1, 2), (32, 4, 3, 2, 1, 1, 1, 1), (33, 3, 3, 2, 1, 1, 0, 0), (32, 4, 2, 2, 1, 1, 0, 0),
           (16, 4, 9, 1, 1, 1, 4, 4), (16, 4, 3, 1, 1, 2, 1, 1), (16, 2, 4, 2, 1, 3, 2, 1), (12, 3, 3, 1, 1, 1, -1, 2)]


def blocks(sizes):
    begin = 0
    for size in sizes:
        yield begin, begin + size
        begin += size


def halo(owned, made, window, stride, dilation, base, low):
    """Rows that ranks need for the rows they make, and have not."""
    rows = 0
    for (begin, end), (first, last) in zip(owned, made):
        if first == last:
            continue
        lowest, highest = first * stride - low, (last - 1) * stride - low + (window - 1) * dilation
        needed = range(-(-lowest // base), highest // base + 1)
        size = max(b for _, b in owned)
        rows += sum(1 for row in needed if 0 <= row < size and not begin <= row < end)
    return rows


def check_windows(shard_run):
    wrong = []
    for text, channels in ((CONVOLUTION, 2), (POOLING, 2)):
        for size, ranks, window, stride, dilation, base, low, high in WINDOWS:
            out = ((size - 1) * base + 1 + low + high - (window - 1) * dilation - 1) // stride + 1
            with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
                file.write(text.format(**locals()))
                file.flush()
                flags = [] if size % ranks == 0 else [f"--sizes=0:2={','.join(str(size // ranks + (i < size % ranks)) for i in range(ranks))}"]
                result = report(shard_run, file.name, *flags)
            owned = list(blocks(result["arguments"][0]["dims"][2]["sizes"]))
            made = list(blocks(result["results"][0]["dims"][2]["sizes"]))
            expected = halo(owned, made, window, stride, dilation, base, low) * channels * 3 * FLOAT
            found = sum(site["bytes"] for site in result["communication"])
            if len(made) != ranks or found != expected:
                wrong.append(f"size {size} on {ranks}, window {window}, stride {stride}, dilation {dilation}, base {base}, padding "
                             f"{low} {high}, {'convolution' if text is CONVOLUTION else 'pooling'}: moves {found} bytes, the halo has {expected}"
                             f" ({len(made)} shards made)")
    return wrong


def check_products(shard_run):
    """products.mlir, block by block: each weight comes to each rank but its owner, each block of a sum from each rank but its own."""
    weights, summed = (4096 * 256 + 256 * 2048) * FLOAT + 4096 * 256 * 2, 1024 * 1024 * FLOAT
    wrong = []
    for ranks, flags in ((4, []), (3, ["--mesh=x=3"]), (4, ["--sizes=1:0=1600,0,2496,0", "--sizes=2:1=0,700,648,700", "--sizes=4:0=0,2000,2000,96"])):
        result = json.loads(subprocess.run([shard_run, str(Path(__file__).parent / "products.mlir"), "--seed=3", "--report=json", *flags],
                                           capture_output=True, text=True, check=True).stdout)
        found, expected = sum(site["bytes"] for site in result["communication"]), (ranks - 1) * (weights + summed)
        if found != expected:
            wrong.append(f"products on {ranks} {flags}: move {found} bytes, expected {expected}")
    return wrong


def main():
    wrong = {"steps": check_steps, "windows": check_windows, "products": check_products}[sys.argv[1]](sys.argv[2])
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
