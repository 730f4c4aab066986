"""Import and propagate programs of the corpus on several meshes.

Usage: corpus.py SHARD_OPT PROGRAMS. Every program must pass, without an op that is
gathered for want of a rule; the last pass of `--spmd-propagate` checks the result.
"""

import re
import subprocess
import sys

PROGRAMS = ["conv_halo", "conv_halo_uneven", "conv_halo_vjp", "conv_variants", "resnet_block", "unet2d", "conv_net_train", "norms", "pooling", "heat2d_dirichlet", "heat2d_dirichlet_uneven", "heat2d_roll", "shallow_water", "wave3d", "attn_softmax", "math_unary", "math_binary", "reductions", "einsums", "shapes", "constants", "locations", "mlp_dp_tp_train"]


def main() -> int:
    shard_opt, programs = sys.argv[1:]
    failures = 0
    for program in PROGRAMS:
        path = f"{programs}/{program}.mlir"
        with open(path, encoding="utf-8") as file:
            mesh = re.search(r"sdy\.mesh @mesh = <\[(.*?)\]>", file.read())
        axes = re.findall(r'"(\w+)"=', mesh.group(1)) if mesh else []
        for size in (None, 1, 3, 7):
            sizes = ",".join(f"{axis}={size}" for axis in axes) if size else ""
            command = [shard_opt, path, f"--spmd-import=mesh={sizes}", "--spmd-propagate=no-fallback"]
            result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            if result.returncode != 0:
                print(f"{program} on {sizes or 'its own mesh'}: exit code {result.returncode}")
                print(result.stderr[:2000])
                failures += 1
    print(f"{len(PROGRAMS)} programs, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
