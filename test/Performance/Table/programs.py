"""Whole programs of the table: the corpus' builders at real sizes, and the training steps of training.py.

The corpus' generator is not part of the tree: where it is absent (SHARDC_CORPUS, by default ../shared/corpus), its rows say so.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import operators
from operators import Case, Input, operator

ROOT = Path(__file__).parent.parent.parent.parent


def mesh_of(names: list[str], ranks: int) -> dict[str, int]:
    """All ranks along one axis, or along the second of two, or two by two."""
    if len(names) == 1:
        return {names[0]: ranks}
    first = 2 if ranks % 4 == 0 else 1
    return {names[0]: first, names[1]: ranks // first}


def spread(spec: Any, tree: Any) -> list[Any]:
    """The spec of each leaf: those of a tree are a prefix of it."""
    from jax.sharding import PartitionSpec

    def is_spec(value: Any) -> bool:
        return value is None or isinstance(value, PartitionSpec)

    leaves = operators.jax.tree.leaves(operators.jax.tree.broadcast(spec, tree, is_leaf=is_spec), is_leaf=is_spec)
    return [leaf if leaf is not None else PartitionSpec() for leaf in leaves]


def fixed(leaf: Any, spec: Any) -> Input:
    """An input that is there already."""
    return Input(lambda rng: leaf, tuple(spec), str(leaf.dtype))


def case_of(name: str, axes: list[str], make: Any) -> Case:
    """A case whose function is made for a mesh: `make(mesh)` returns function, arguments, specs, specs of results, and how many are carried on."""
    import numpy as np

    jax = operators.jax
    if jax is None:
        raise LookupError("no function of PyTorch")
    from jax.sharding import AbstractMesh

    _, arguments, specs, _, carry = make(AbstractMesh((1,) * len(axes), tuple(axes)))
    leaves, tree = jax.tree.flatten(arguments)
    inputs = [fixed(np.asarray(leaf), spec) for leaf, spec in zip(leaves, spread(specs, arguments))]

    def on_mesh(mesh: Any) -> tuple[Any, Any]:
        f, _, _, out_specs, _ = make(mesh)

        def flat(*given: Any) -> Any:
            return tuple(jax.tree.leaves(f(*jax.tree.unflatten(tree, given))))

        results = jax.eval_shape(f, *arguments)
        outs = operators.FREE if out_specs is None else [tuple(spec) for spec in spread(out_specs, results)]
        return flat, outs

    made = Case(inputs, jax=None, outs=operators.FREE, carry=carry, eager=True, tolerance=5e-2, axes=lambda ranks: mesh_of(axes, ranks))
    made.on_mesh = on_mesh
    return made


@operator
def corpus(program: str, sizes: dict[str, int]) -> Case:
    """A program of the corpus. Nothing is donated, so that each step starts from the same parameters."""
    if operators.jax is None:
        raise LookupError("no function of PyTorch")
    folder = Path(os.environ.get("SHARDC_CORPUS", ROOT.parent / "shared" / "corpus"))
    if not (folder / "make_corpus.py").exists():
        raise LookupError(f"no corpus in {folder}")
    sys.path.insert(0, str(folder))
    flags = os.environ.get("XLA_FLAGS", "")
    import corpuslib
    import make_corpus  # noqa: F401

    os.environ["XLA_FLAGS"] = flags
    entry = corpuslib.CASES[program]

    def make(mesh: Any) -> tuple:
        made = entry.build(corpuslib.Init(program), mesh, **{**entry.cfg, **sizes})
        specs = made.specs or operators.jax.sharding.PartitionSpec()
        return made.fn, made.args, specs, made.out_specs, 0

    return case_of(program, list(entry.mesh), make)


@operator
def training(program: str, sizes: dict[str, int]) -> Case:
    """A training step of training.py, its state donated and carried on."""
    if operators.jax is None:
        raise LookupError("no function of PyTorch")
    sys.path.insert(0, str(Path(__file__).parent.parent))
    import training as networks
    from jax.sharding import PartitionSpec

    def make(mesh: Any) -> tuple:
        made = networks.PROGRAMS[program](**sizes)
        state = len(operators.jax.tree.leaves(made.state))
        return made.step, (*made.state, *made.data), (*made.state_specs, *made.data_specs), (*made.state_specs, PartitionSpec()), state

    return case_of(program, ["data", "model"], make)
