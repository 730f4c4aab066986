"""Ragged all-to-alls beside plain loops: ``ragged.py SHARD-RUN DIR``.

Programs as JAX prints them, on two groups of ranks; how many rows go where is in the arguments.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

ROWS, RECEIVED = 7, 9

PROGRAM = """sdy.mesh @mesh = <["x"={k}, "y"=2]>
func.func public @main(%arg0: tensor<{all_rows}x3xf32>, %arg1: tensor<{all_received}x3xf32>,
    %arg2: {lists}, %arg3: {lists}, %arg4: {lists}, %arg5: {lists}) -> tensor<{all_received}x3xf32> {{
  %0 = sdy.manual_computation(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5)
      in_shardings=[<@mesh, [{{"x", "y"}}, {{}}]>, <@mesh, [{{"x", "y"}}, {{}}]>, <@mesh, [{{"x", "y"}}]>, <@mesh, [{{"x", "y"}}]>, <@mesh, [{{"x", "y"}}]>, <@mesh, [{{"x", "y"}}]>]
      out_shardings=[<@mesh, [{{"x", "y"}}, {{}}]>] manual_axes={{"x", "y"}}
      (%a: tensor<{rows}x3xf32>, %b: tensor<{received}x3xf32>, %c: {list}, %d: {list}, %e: {list}, %f: {list}) {{
    %1 = stablehlo.custom_call @ragged_all_to_all(%a, %b, %c, %d, %e, %f) {{api_version = 4 : i32, backend_config = {{channel_id = 1 : i64, replica_groups = dense<{groups}> : tensor<2x{k}xi64>}}}} : (tensor<{rows}x3xf32>, tensor<{received}x3xf32>, {list}, {list}, {list}, {list}) -> tensor<{received}x3xf32>
    sdy.return %1 : tensor<{received}x3xf32>
  }} : (tensor<{all_rows}x3xf32>, tensor<{all_received}x3xf32>, {lists}, {lists}, {lists}, {lists}) -> tensor<{all_received}x3xf32>
  return %0 : tensor<{all_received}x3xf32>
}}
"""


def run(shard_run: str, directory: Path, members: int, pieces: int, index: str) -> None:
    """``members`` a group, each with ``pieces`` for each other. Raises AssertionError where rows are wrong."""
    rng = np.random.default_rng(members * 10 + pieces)
    ranks, entries = 2 * members, members * pieces
    groups = [[member * 2 + group for member in range(members)] for group in range(2)]
    kind = f"tensor<{entries}x{index}>"
    text = PROGRAM.format(k=members, rows=ROWS, received=RECEIVED, all_rows=ROWS * ranks, all_received=RECEIVED * ranks,
                          list=kind, lists=f"tensor<{entries * ranks}x{index}>", groups=groups)
    operand = rng.standard_normal((ranks, ROWS, 3)).astype(np.float32)
    output = rng.standard_normal((ranks, RECEIVED, 3)).astype(np.float32)
    begin, length, place, come = (np.zeros((ranks, members, pieces), f"i{int(index[1:]) // 8}") for _ in range(4))
    expected = output.copy()
    for group in groups:
        filled = dict.fromkeys(group, 0)
        for i, source in enumerate(group):
            for j, target in enumerate(group):
                for piece in range(pieces):
                    count = min(int(rng.integers(0, 3)), RECEIVED - filled[target])
                    start = int(rng.integers(0, ROWS - count + 1))
                    begin[source, j, piece], length[source, j, piece] = start, count
                    place[source, j, piece], come[target, i, piece] = filled[target], count
                    expected[target, filled[target]:filled[target] + count] = operand[source, start:start + count]
                    filled[target] += count
    stem = directory / f"ragged_{members}_{pieces}"
    stem.with_suffix(".mlir").write_text(text)
    arrays = [operand.reshape(-1, 3), output.reshape(-1, 3), *(a.reshape(-1) for a in (begin, length, place, come))]
    np.savez(f"{stem}.npz", **{f"in{i}": a for i, a in enumerate(arrays)}, out0=expected.reshape(-1, 3))
    data = f"@{stem}.npz"
    subprocess.run([shard_run, f"{stem}.mlir", f"--inputs={data}", f"--expect={data}", "--rtol=0", "--atol=0", "--check"], check=True)


if __name__ == "__main__":
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for size, parts, element in ((1, 1, "i32"), (2, 1, "i64"), (3, 2, "i32")):
        run(sys.argv[1], folder, size, parts, element)
