"""Compile a model for a mesh of ranks and run it, in this process.

    program = shardc.compile(step, params, image, mesh={"x": 4},
                             in_shardings=(None, shardc.split(2, "x", sizes=[300, 200, 100, 424])))
    params, image = program.put(params, image)      # shardc.Array: shards on the devices
    loss = program(params, image)                   # stays there; float(loss) waits for it

Every decision is the compiler's: this package turns models into text, hands it to the engine (``libshardc.so``) and
arrays back and forth. JAX is needed to read JAX models, not to run programs. Importing it does nothing but that.
"""

from typing import Any

from shardc._annotate import Split, split
from shardc._array import Array, Shard, array
from shardc._balance import Balanced, balance
from shardc._checkpoint import Checkpoint, restore, save
from shardc._distributed import Job, from_local, init_distributed
from shardc._errors import (
    DifferenceError,
    InternalError,
    RefusedError,
    RunError,
    ShardcError,
    ShardcWarning,
    UnsupportedError,
    UsageError,
)
from shardc._program import Program, compile, load
from shardc._sharding import Dim, Sharding
from shardc._text import to_text

__all__ = [
    "Array",
    "Balanced",
    "Checkpoint",
    "DifferenceError",
    "Dim",
    "InternalError",
    "Job",
    "Program",
    "RefusedError",
    "RunError",
    "Shard",
    "ShardcError",
    "ShardcWarning",
    "Sharding",
    "Split",
    "UnsupportedError",
    "UsageError",
    "array",
    "balance",
    "compile",
    "from_local",
    "init_distributed",
    "load",
    "restore",
    "save",
    "split",
    "to_text",
]


def __getattr__(name: str) -> Any:
    """``__version__``: of the file VERSION, which the package and its tree have."""
    if name != "__version__":
        raise AttributeError(f"module 'shardc' has no attribute {name!r}")
    from pathlib import Path

    here = Path(__file__).resolve()
    for place in (here.parent / "VERSION", here.parents[2] / "VERSION"):
        if place.exists():
            return place.read_text().split()[0]
    return "unknown"
