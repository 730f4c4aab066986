"""Compiled programs: arrays in, arrays out."""

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy

from shardc._annotate import Shardings, annotate, splits_of
from shardc._errors import UsageError
from shardc._text import Model
from shardc._tools import run_tool

Sizes = Mapping[tuple[int, int], Sequence[int]]


def compile(
    model: Any,
    *example: Any,
    mesh: Mapping[str, int] | None = None,
    in_shardings: Shardings | None = None,
    sizes: Sizes | None = None,
    arch: str = "native",
    no_fallback: bool = False,
) -> "Program":
    """Compile a model for a mesh.

    Args:
        model: as for to_text().
        example: arguments (arrays or ``jax.ShapeDtypeStruct``) that give a function its shapes.
        mesh: axes and their sizes; the model's own mesh, resized, or a mesh for a model that has none.
        in_shardings: by flat argument number, or one for each: how it is cut, as split() says; None: as the model says.
        sizes: by (argument, dim): the sizes of the shards in which it arrives, zero allowed.
        arch: what code is generated for.
        no_fallback: an op that would be gathered is an error.

    Raises: RefusedError, UnsupportedError, UsageError with the compiler's diagnostic; ValueError for shardings that
    the arguments cannot have.
    """
    read = Model.read(model, *example)
    cuts = splits_of(in_shardings)
    options = [f"--arch={arch}"]
    if mesh:
        options.append("--mesh=" + ",".join(f"{axis}={size}" for axis, size in mesh.items()))
    all_sizes = {(number, cut.dim): cut.sizes for number, list_ in cuts.items() for cut in list_ if cut.sizes}
    all_sizes.update({key: tuple(value) for key, value in (sizes or {}).items()})
    options += [f"--sizes={number}:{dim}={','.join(map(str, parts))}" for (number, dim), parts in all_sizes.items()]
    if no_fallback:
        options.append("--no-fallback")
    program = Program(options=options, kept=read.kept, out_tree=read.out_tree)
    program._compile(annotate(read.text, mesh, cuts))
    return program


def load(path: str | os.PathLike[str]) -> "Program":
    """A program that save() wrote. It cannot be checked: the model is not in it."""
    program = Program()
    shutil.copy(path, program._artifact)
    return program


def _leaves(tree: Any) -> list[Any]:
    """Arrays of nested tuples, lists and dicts, in JAX's order."""
    if tree is None:
        return []
    if isinstance(tree, Mapping):
        return [leaf for key in sorted(tree) for leaf in _leaves(tree[key])]
    if isinstance(tree, (tuple, list)):
        return [leaf for part in tree for leaf in _leaves(part)]
    if hasattr(tree, "shape") or isinstance(tree, (bool, int, float, complex)):
        return [tree]
    import jax

    return jax.tree.leaves(tree)


def _numpy_type(name: str) -> "numpy.dtype[Any] | None":
    """NumPy's type for an element type that NumPy itself lacks; None where it has one, or none is installed."""
    known = {"bf16": "bfloat16", "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2", "f8E4M3": "float8_e4m3",
             "f8E3M4": "float8_e3m4", "f8E4M3FNUZ": "float8_e4m3fnuz", "f8E5M2FNUZ": "float8_e5m2fnuz",
             "f8E4M3B11FNUZ": "float8_e4m3b11fnuz", "f8E8M0FNU": "float8_e8m0fnu"}.get(name)
    if not known:
        return None
    try:
        import ml_dtypes
    except ImportError:
        return None
    kind: numpy.dtype[Any] = numpy.dtype(getattr(ml_dtypes, known))
    return kind


class Program:
    """A compiled program. Call it with the model's arguments; made by compile() and load()."""

    def __init__(self, options: Sequence[str] = (), kept: Sequence[int] | None = None, out_tree: Any = None) -> None:
        self._options = list(options)
        self._kept = kept
        self._out_tree = out_tree
        self._directory = tempfile.TemporaryDirectory(prefix="shardc-")
        self._artifact = Path(self._directory.name) / "program.so"
        self._model = Path(self._directory.name) / "program.mlir"

    @property
    def text(self) -> str:
        """The model as it was compiled. Raises: UsageError for a loaded artifact."""
        self._need_model("text")
        return self._model.read_text()

    def __call__(self, *arguments: Any) -> Any:
        """Run one step: the results as NumPy arrays, in the shape of JAX's results where that is known.

        Raises: UsageError for arrays that do not fit; RunError where the run fails.
        """
        return self._run(self._artifact, arguments, [])[0]

    def report(self, *arguments: Any, repeat: int = 1) -> dict[str, Any]:
        """Run ``repeat`` steps; times, bytes and communication as ``shard-run --report=json`` gives them."""
        return self._run(self._artifact, arguments, [f"--repeat={repeat}"])[1]

    def check(self, *arguments: Any, rtol: float | None = None, atol: float | None = None) -> dict[str, Any]:
        """Run sharded and unsharded and compare; the report.

        Raises: DifferenceError with the first difference; UsageError for a loaded artifact.
        """
        self._need_model("check")
        options = ["--check", *self._options]
        options += [f"--rtol={rtol}"] if rtol is not None else []
        options += [f"--atol={atol}"] if atol is not None else []
        return self._run(self._model, arguments, options)[1]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the artifact: shard-run and load() take it."""
        shutil.copy(self._artifact, path)

    def _need_model(self, what: str) -> None:
        if not self._model.exists():
            raise UsageError(2, f"{what} needs the model, but the program was loaded from an artifact")

    def _compile(self, text: str) -> None:
        self._model.write_text(text)
        run_tool("shard-translate", [str(self._model), "-o", str(self._artifact), *self._options])

    def _run(self, program: Path, arguments: Sequence[Any], options: Sequence[str]) -> tuple[Any, dict[str, Any]]:
        leaves = _leaves(arguments)
        if self._kept is not None and len(leaves) > len(self._kept):
            leaves = [leaves[number] for number in self._kept]
        with tempfile.TemporaryDirectory(dir=self._directory.name) as directory:
            inputs, outputs = Path(directory) / "in.npz", Path(directory) / "out.npz"
            arrays: dict[str, Any] = {f"in{i}": numpy.asarray(leaf) for i, leaf in enumerate(leaves)}
            numpy.savez(inputs, **arrays)
            printed = run_tool("shard-run", [str(program), f"--inputs=@{inputs}", f"--outputs=@{outputs}",
                                             "--report=json", *options])
            report = json.loads(printed)
            results = []
            with numpy.load(outputs) as archive:
                for i, value in enumerate(report["results"]):
                    array = archive[f"out{i}"]
                    kind = _numpy_type(value["type"])
                    results.append(array if kind is None else array.view(kind))
        if self._out_tree is not None:
            return self._out_tree.unflatten(results), report
        return results[0] if len(results) == 1 else tuple(results), report
