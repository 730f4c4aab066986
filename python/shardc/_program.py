"""Compiled programs: arrays in, arrays out."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy

from shardc._annotate import Shardings, annotate, splits_of
from shardc._errors import UsageError
from shardc._host import HostCalls
from shardc._text import Model
from shardc._tools import run_tool
from shardc._types import extended_type

Sizes = Mapping[tuple[int, int], Sequence[int]]


def compile(
    model: Any,
    *example: Any,
    mesh: Mapping[str, int] | None = None,
    in_shardings: Shardings | None = None,
    sizes: Sizes | None = None,
    arch: str = "native",
    machine: str | None = None,
    no_fallback: bool = False,
    no_raise: bool = False,
    keep_order: bool = False,
    reproducible: bool = False,
    exact_sums: bool = False,
    threads: int = 1,
    memory_limit: int | None = None,
) -> "Program":
    """Compile a model for a mesh.

    Callbacks of a function (``jax.pure_callback``, ``io_callback``, ``debug.print``, ``equinox.error_if``) run in this
    process, in this thread; what one raises is the cause of the ``RunError``. A program that is saved and loaded has
    none.

    Args:
        model: as for to_text().
        example: arguments (arrays or ``jax.ShapeDtypeStruct``) that give a function its shapes.
        mesh: axes and their sizes; the model's own mesh, resized, or a mesh for a model that has none.
        in_shardings: by flat argument number, or one for each: how it is cut, as split() says; None: as the model says.
            Arguments that jit marks static do not count.
        sizes: by (flat argument, dim): the sizes of the shards in which it arrives, zero allowed.
        arch: what code is generated for.
        machine: whose figures decide what pays: a preset such as "h100", figures that differ after it, or a file of
            them that ends in ".json" (docs/Reference/machine.md).
        no_fallback: an op that would be gathered is an error.
        no_raise: attention and searches over pairs stay the ops they are made of, instead of becoming rings.
        keep_order: no dim is dealt out through the program (``order="zigzag"``) unless ``in_shardings`` say so.
        reproducible: the same bits on every mesh, for any cuts and threads; what cannot be had so raises (code 77).
        exact_sums: with ``reproducible``: the same bits for other ``in_shardings`` of the same function too; slower.
        threads: of each rank, that share its loops; results have the same bits with any number.
        memory_limit: most bytes of temporaries of one rank. What would need more computes values again, and in blocks
            of rows; where that is not enough, it needs the least that was found (``report()`` says what that is:
            ``peak_bytes``). check() and traces are of the program without a limit.

    Raises: RefusedError, UnsupportedError, UsageError with the compiler's diagnostic; ValueError for shardings that
    the arguments cannot have.
    """
    read = Model.read(model, *example)
    place = _numbering(read)
    cuts = {new: list_ for number, list_ in splits_of(in_shardings).items() if (new := place(number)) is not None}
    options = [f"--arch={arch}"]
    if machine:
        options.append(f"--machine={machine}")
    if mesh:
        options.append("--mesh=" + ",".join(f"{axis}={size}" for axis, size in mesh.items()))
    all_sizes = {(number, cut.dim): cut.sizes for number, list_ in cuts.items() for cut in list_ if cut.sizes}
    all_sizes.update({(new, dim): tuple(value) for (number, dim), value in (sizes or {}).items()
                      if (new := place(number)) is not None})
    orders = {(number, cut.dim): cut.order for number, list_ in cuts.items() for cut in list_ if cut.order}
    for number, dim in {**all_sizes, **orders}:
        parts = [*map(str, all_sizes.get((number, dim), ())), *filter(None, [orders.get((number, dim))])]
        options.append(f"--sizes={number}:{dim}={','.join(parts)}")
    if no_fallback:
        options.append("--no-fallback")
    if no_raise:
        options.append("--no-raise")
    if keep_order:
        options.append("--keep-order")
    if reproducible:
        options.append("--reproducible")
    if exact_sums:
        options.append("--exact-sums")
    if threads != 1:
        options.append(f"--threads={threads}")
    program = Program(read, options)
    program._compile(annotate(read.text, mesh, cuts), memory_limit)
    return program


def _numbering(model: Model) -> Callable[[int], int | None]:
    """From flat arguments of the function to those that its text still has; None for one that is gone."""
    numbers = model.numbers()
    places = None if numbers is None else {number: place for place, number in enumerate(numbers)}
    total = None if model.in_avals is None else len(model.in_avals)

    def place(number: int) -> int | None:
        if places is None or total is None or not 0 <= number < total:
            return number
        return places.get(number)

    return place


def load(path: str | os.PathLike[str]) -> "Program":
    """A program that save() wrote. It cannot be checked: it is run as it was compiled.

    Machine code that this user's key did not sign is not run: what the artifact carries is compiled instead.

    Raises: ShardcError for a file that cannot be read or is damaged.
    """
    program = Program()
    run_tool("shard-translate", [os.fspath(path), "-o", str(program._artifact)])
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


class Program:
    """A compiled program. Call it with the model's arguments; made by compile() and load()."""

    def __init__(self, model: Model | None = None, options: Sequence[str] = ()) -> None:
        self._options = list(options)
        self._source = model or Model("")
        self._directory = tempfile.TemporaryDirectory(prefix="shardc-")
        self._artifact = Path(self._directory.name) / "program.so"
        self._model = Path(self._directory.name) / "program.mlir"

    @property
    def text(self) -> str:
        """The model as it was compiled. Raises: UsageError for a loaded artifact."""
        self._need_model("text")
        return self._model.read_text()

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run one step: the results as NumPy arrays, in the shape of JAX's results where that is known.

        Static arguments may be given, as they were to compile(), or left out; donated ones are not changed. Typed PRNG
        keys are keys here too.

        Raises: UsageError for arrays that do not fit; RunError where the run fails.
        """
        return self._run(self._artifact, arguments, [], named)[0]

    def report(self, *arguments: Any, repeat: int = 1, trace: str | os.PathLike[str] | None = None,
               page: str | os.PathLike[str] | None = None) -> dict[str, Any]:
        """Run ``repeat`` steps; times, bytes and communication as ``shard-run --report=json`` gives them.

        ``trace`` is a file for what each rank did when, which Perfetto opens; the model is compiled once more for it,
        so that kernels have names (a loaded program shows its communication alone). ``page`` is a file for the report
        as HTML.
        """
        options = [f"--repeat={repeat}"]
        options += [f"--report={os.fspath(page)}"] if page is not None else []
        if trace is None:
            return self._run(self._artifact, arguments, options)[1]
        options.append(f"--trace={os.fspath(trace)}")
        if not self._model.exists():
            return self._run(self._artifact, arguments, options)[1]
        return self._run(self._model, arguments, [*options, *self._options])[1]

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

    def _compile(self, text: str, memory_limit: int | None) -> None:
        self._model.write_text(text)
        more = ["--host-calls"] if self._source.host_functions else []
        more += [f"--memory-limit={memory_limit}"] if memory_limit is not None else []
        run_tool("shard-translate", [str(self._model), "-o", str(self._artifact), *self._options, *more])

    def _flatten(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """The arrays that the program takes, in order."""
        source = self._source
        if source.in_tree is None:
            if named:
                name = next(iter(named))
                raise UsageError(2, f"argument {name!r}: a program that is not from JAX has no named arguments")
            return _leaves(arguments)
        import jax

        leaves, tree = jax.tree.flatten((tuple(arguments), dict(named)))
        if tree != source.in_tree and source.static:
            for number, value in source.static.items():
                if number < len(arguments) and not _is_same(arguments[number], value):
                    raise UsageError(2, f"argument {number} is static: the program was compiled for {value!r}, not for "
                                        f"{arguments[number]!r}")
            rest = tuple(value for number, value in enumerate(arguments) if number not in source.static)
            leaves, tree = jax.tree.flatten((rest, dict(named)))
        if tree != source.in_tree and len(arguments) == 1 and not named and isinstance(arguments[0], (list, tuple)):
            # All arguments in one list.
            leaves, tree = jax.tree.flatten((tuple(arguments[0]), {}))
        avals = list(source.in_avals or [])
        if tree != source.in_tree and len(leaves) != len(avals):
            raise UsageError(2, f"arguments are {tree}, but the program takes {source.in_tree}")
        leaves = [_as_argument(leaf, aval) for leaf, aval in zip(leaves, avals, strict=True)]
        numbers = source.numbers()
        return leaves if numbers is None else [leaves[number] for number in numbers]

    def _run(self, program: Path, arguments: Sequence[Any], options: Sequence[str],
             named: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        leaves = self._flatten(arguments, named or {})
        with tempfile.TemporaryDirectory(dir=self._directory.name) as directory:
            inputs, outputs = Path(directory) / "in.npz", Path(directory) / "out.npz"
            arrays: dict[str, Any] = {f"in{i}": numpy.asarray(leaf) for i, leaf in enumerate(leaves)}
            numpy.savez(inputs, **arrays)
            functions = self._source.host_functions
            # Its own directory is closed to others: whatever key there is, the code is its own.
            options = [*options, "--trust"] if program == self._artifact else options
            printed = run_tool("shard-run", [str(program), f"--inputs=@{inputs}", f"--outputs=@{outputs}",
                                             "--report=json", *options], HostCalls(functions) if functions else None)
            report = json.loads(printed)
            results = []
            with numpy.load(outputs) as archive:
                for i, value in enumerate(report["results"]):
                    array = archive[f"out{i}"]
                    kind = extended_type(value["type"])
                    results.append(array if kind is None else array.view(kind))
        if self._source.out_avals is not None:
            results = [_as_result(array, aval) for array, aval in zip(results, self._source.out_avals, strict=True)]
        if self._source.out_tree is not None:
            return self._source.out_tree.unflatten(results), report
        return results[0] if len(results) == 1 else tuple(results), report


def _is_same(a: Any, b: Any) -> bool:
    return a is b or bool(numpy.all(a == b))


def _is_key(aval: Any) -> bool:
    import jax

    return bool(jax.numpy.issubdtype(aval.dtype, jax.dtypes.prng_key))


def _as_argument(leaf: Any, aval: Any) -> Any:
    """An array as the program takes it: numbers and wide types become what JAX makes of them."""
    import jax

    if _is_key(aval):
        return jax.random.key_data(leaf)
    array = numpy.asarray(leaf)
    is_number = isinstance(leaf, (bool, int, float, complex))
    if array.dtype != aval.dtype and (is_number or jax.dtypes.canonicalize_dtype(array.dtype) == aval.dtype):
        return array.astype(aval.dtype)
    return array


def _as_result(array: Any, aval: Any) -> Any:
    import jax

    return jax.random.wrap_key_data(array, impl=aval.dtype._impl) if _is_key(aval) else array
