"""Export the U-Net of unet.py: the StableHLO that JAX prints, with inputs and JAX's own result.

Writes ``unet.mlir`` (rows of the image over a mesh axis ``x`` of four, everything else whole) and ``unet.npz``
(``in0`` … the arguments in order, ``out0`` the result of the unsharded model) beside this file. Needs JAX:
``pip install jax==0.10.2``; whoever only runs the stored files does not.
"""

import re
from pathlib import Path

import jax
import numpy as np
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec
from unet import init, unet

ROWS, COLUMNS = 252, 192
RANKS = 4


def export(folder: Path, rows: int = ROWS, columns: int = COLUMNS, name: str = "unet") -> None:
    """Write ``<name>.mlir`` and ``<name>.npz`` for an image of ``rows`` x ``columns``."""
    params = init(jax.random.key(0))
    # Short binary fractions: the same numbers in every arithmetic.
    image = np.round(np.random.default_rng(1).normal(size=(1, rows, columns, 3)) * 64) / 64
    image = image.astype(np.float32)

    mesh = AbstractMesh((RANKS,), ("x",))
    whole = NamedSharding(mesh, PartitionSpec())
    by_rows = NamedSharding(mesh, PartitionSpec(None, "x"))
    shardings = (jax.tree.map(lambda _: whole, params), by_rows)
    shapes = jax.tree.map(
        lambda leaf, sharding: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding),
        (params, image), shardings)
    lowered = jax.jit(unet, out_shardings=by_rows).trace(*shapes).lower(lowering_platforms=("cpu",))
    text = lowered.as_text(debug_info=True)
    # Where a checkout lies says nothing to a reader: keep the file's name.
    text = re.sub(r'loc\("(?:[^"]*/)([^"/]+\.py)"', r'loc("\1"', text)
    (folder / f"{name}.mlir").write_text(text)

    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves((params, image))]
    result = np.asarray(jax.jit(unet)(params, image))
    members = {f"in{i}": leaf for i, leaf in enumerate(leaves)} | {"out0": result}
    np.savez_compressed(folder / f"{name}.npz", **members)


if __name__ == "__main__":
    export(Path(__file__).parent)
