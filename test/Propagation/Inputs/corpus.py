"""Import and propagate programs of the corpus on several meshes.

Usage: corpus.py SHARD_OPT PROGRAMS. Every program must pass, without an op that is
gathered for want of a rule; the last pass of `--spmd-propagate` checks the result.
"""

import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Inputs"))
from fork_server import Limits, Tool

PROGRAMS = ["conv_halo", "conv_halo_uneven", "conv_halo_vjp", "conv_variants", "resnet_block", "unet2d", "conv_net_train", "norms", "pooling", "heat2d_dirichlet", "heat2d_dirichlet_uneven", "heat2d_roll", "shallow_water", "wave3d", "attn_softmax", "math_unary", "math_binary", "reductions", "einsums", "shapes", "constants", "locations", "mlp_dp_tp_train"]


def main() -> int:
    tool, programs = sys.argv[1:]
    failures = 0
    scratch = tempfile.TemporaryDirectory()
    shard_opt = Tool(tool, Path(scratch.name))
    for program in PROGRAMS:
        path = f"{programs}/{program}.mlir"
        with open(path, encoding="utf-8") as file:
            mesh = re.search(r"sdy\.mesh @mesh = <\[(.*?)\]>", file.read())
        axes = re.findall(r'"(\w+)"=', mesh.group(1)) if mesh else []
        for size in (None, 1, 3, 7):
            sizes = ",".join(f"{axis}={size}" for axis in axes) if size else ""
            flags = [f"--spmd-import=mesh={sizes}", "--spmd-propagate=no-fallback"]
            result = shard_opt.run([path, *flags], Limits(seconds=60, wait=60, memory=64 << 30))
            if result.code != 0:
                print(f"{program} on {sizes or 'its own mesh'}: exit code {result.code}")
                print(result.said[:2000])
                failures += 1
    shard_opt.close()
    print(f"{len(PROGRAMS)} programs, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
