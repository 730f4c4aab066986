"""What --tune finds in rows of the table: where the estimates by which products are cut are wrong.

    tune.py --rows=matmul-256,conv-3x3-64 [--ranks=1] [--seconds=60] [--shard-run=build/bin/shard-run]

Prints, for each row, what shard-run says of its kernels. Nothing is kept in a cache.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(ROOT / "python")]
os.environ["JAX_PLATFORMS"] = "cpu"


def lowered(row: dict, ranks: int) -> str:
    """The row's program, as JAX prints it for so many ranks."""
    import jax
    import operators
    from jax.sharding import AbstractMesh
    from worker import traced

    operators.load("shardc")
    case = operators.case(row)
    axes = case.axes(ranks)
    f, shardings = traced(case, AbstractMesh(tuple(axes.values()), tuple(axes)))
    shapes = [jax.ShapeDtypeStruct(value.shape, jax.numpy.dtype(given.dtype), sharding=where)
              for value, given, where in zip(case.arrays(), case.inputs, shardings)]
    return f.trace(*shapes).lower(lowering_platforms=("cpu",)).as_text()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", required=True, help="rows of rows.json by their names")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=60, help="to try other tiles, a row")
    parser.add_argument("--shard-run", default=str(ROOT / "build" / "bin" / "shard-run"))
    options = parser.parse_args()
    wanted = options.rows.split(",")
    rows = {row["row"]: row for row in json.loads((HERE / "rows.json").read_text())}
    if unknown := [name for name in wanted if name not in rows]:
        parser.error(f"there is no row {', '.join(unknown)}")
    for name in wanted:
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / f"{name}.mlir"
            model.write_text(lowered(rows[name], options.ranks))
            command = [options.shard_run, str(model), f"--tune={options.seconds}", "--report=json"]
            said = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "SHARDC_CACHE_DIR": ""})
        if said.returncode:
            print(f"{name}: {said.stderr}", flush=True)
            return 1
        lines = said.stderr.splitlines()
        begin = next(i for i, line in enumerate(lines) if line.startswith("tune: "))
        print(f"{name}: {lines[begin].removeprefix('tune: ')}")
        for line in lines[begin + 1:]:
            if not line.startswith("  "):
                break
            if "not kept" not in line:
                print(line.replace(str(model), name), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
