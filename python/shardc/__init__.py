"""Compile a model for a mesh of ranks and run it.

    program = shardc.compile(step, params, image, mesh={"x": 4},
                             in_shardings={1: shardc.split(2, "x", sizes=[300, 200, 100, 424])})
    loss = program(params, image)

Every decision is the compiler's: this package turns models into text, calls the tools (``shard-translate``,
``shard-run``) and hands arrays back and forth. JAX is needed to read JAX models, not to run programs.
"""

from shardc._annotate import Split, split
from shardc._array import Array, Shard, array
from shardc._checkpoint import Checkpoint, restore, save
from shardc._errors import (
    DifferenceError,
    RefusedError,
    RunError,
    ShardcError,
    UnsupportedError,
    UsageError,
)
from shardc._program import Program, compile, load
from shardc._sharding import Dim, Sharding
from shardc._text import to_text

__all__ = [
    "Array",
    "Checkpoint",
    "DifferenceError",
    "Dim",
    "Program",
    "RefusedError",
    "RunError",
    "Shard",
    "ShardcError",
    "Sharding",
    "Split",
    "UnsupportedError",
    "UsageError",
    "array",
    "compile",
    "load",
    "restore",
    "save",
    "split",
    "to_text",
]
