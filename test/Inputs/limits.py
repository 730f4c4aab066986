"""Writes programs on both sides of each limit: ``limits.py FOLDER``."""

import pathlib
import sys


def nested(depth: int) -> str:
    """A module whose deepest bracket is number ``depth``."""
    return f"module attributes {{mhlo.a = {'[' * (depth - 1)}{']' * (depth - 1)}}} {{}}\n"


def function(type_: str) -> str:
    return f"func.func private @f({type_})\n"


programs = {
    "nesting-ok": nested(256),
    "nesting-bad": nested(257),
    "nesting-huge": nested(100_000),
    "dims-ok": function(f"tensor<{'1x' * 16}f32>"),
    "dims-bad": function(f"tensor<{'1x' * 17}f32>"),
    "elements-ok": function(f"tensor<{2**58}xf32>"),
    "elements-bad": function("tensor<9223372036854775807x4xf32>"),
    "name-ok": f"func.func private @{'f' * 4096}()\n",
    "name-bad": f"func.func private @{'f' * 4097}()\n",
}

folder = pathlib.Path(sys.argv[1])
for name, text in programs.items():
    (folder / f"{name}.mlir").write_text(text)
