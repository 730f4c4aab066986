"""What a user asked of a compilation, and what was compiled: programs for some shapes, bound to sizes."""

import collections
import dataclasses
import math
import operator
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy

from shardc._annotate import annotate, mesh_in
from shardc._array import Array
from shardc._errors import ShardcWarning, UsageError, error_for
from shardc._executable import Executable
from shardc._sharding import Layout
from shardc._specialize import Specials
from shardc._specs import Cuts, Tree, cuts_of_leaf, is_leaf, loaded_jax
from shardc._text import Model
from shardc._types import describe

Sizes = Mapping[tuple[int, int], Sequence[int]]
Options = list[tuple[str, str]]
Dims = str | Iterable[tuple[int, int]]
Bound = tuple[tuple[tuple[int, int], tuple[int, ...]], ...]
"""Sizes of dims that are open: by argument of the program's text, and dim."""


class Asked:
    """What a user asked of compile(), for all shapes."""

    def __init__(self, mesh: dict[str, int] | None, in_shardings: Any, out_shardings: Any, sizes: Sizes,
                 dynamic: str | list[tuple[int, int]] | None, options: Options, memory_limit: int | None,
                 specialize: int) -> None:
        self.mesh, self.in_shardings, self.out_shardings = mesh, in_shardings, out_shardings
        self.sizes, self.dynamic, self.options, self.memory_limit = sizes, dynamic, options, memory_limit
        self.specialize = specialize
        self.symbolic: list[str] = []
        """Axes that are left open."""
        self.is_balanced = False
        """No sizes count, wherever they are given: they are those of another number of ranks."""

    def on(self, mesh: dict[str, int]) -> "Asked":
        """The same on this mesh, whose axes are no longer open, in balanced shards."""
        asked = Asked(mesh, self.in_shardings, self.out_shardings, {}, self.dynamic, self.options,
                       self.memory_limit, self.specialize)
        asked.is_balanced = True
        return asked

    def cuts_of(self, source: Model) -> Cuts:
        """How flat arguments are cut. Raises: UsageError for shardings that they cannot have."""
        cuts = resolve_arguments(source, self.in_shardings)
        if not self.is_balanced:
            return cuts
        return {number: [dataclasses.replace(cut, sizes=None) for cut in list_] for number, list_ in cuts.items()}

    def mesh_for(self, text: str) -> dict[str, int] | None:
        """The mesh that was asked for; two ranks along each open axis where the program has none either."""
        axes = mesh_in(text)
        if self.mesh is None and math.prod(axes.values()) == 1 and not set(self.symbolic) <= axes.keys():
            return dict.fromkeys(self.symbolic, 2)
        return self.mesh


class Variant:
    """A program as it was compiled for some shapes."""

    MOST_BOUND = 64

    def __init__(self, source: Model, text: str, options: Options, executable: Executable) -> None:
        self.source, self.text, self.options, self.executable = source, text, options, executable
        self.numbers = source.numbers()
        self.backward: Callable[..., Any] | None = None
        """What its derivative is computed by, once somebody has asked for it."""
        self.labels = _labels(source, executable)
        self.is_key = [is_key(aval) for aval in source.in_avals or ()]
        self.out_is_key = [is_key(aval) for aval in source.out_avals or ()]
        self.has_keys = any(self.out_is_key)
        self._by_sizes: collections.OrderedDict[Bound, Executable] = collections.OrderedDict()
        self.by_layouts: dict[tuple[Layout, ...], tuple[Bound, Executable]] = {}
        """What it is bound to, by the layouts of arguments that need not be moved."""
        self._binding = threading.Lock()
        self.specials: Specials | None = None
        """Static versions; none unless asked for."""

    def specialize(self, most: int) -> None:
        """From here on bindings that are used often are compiled, at most this many.

        Raises: UnsupportedError where that cannot be.
        """
        if most and self.executable.open_dims:
            if self.executable.engine.is_member:
                raise error_for(77, "unsupported: specialize: the program runs in several processes, which would have "
                                    "to change over at the same step; leave it out")
            if self.source.host_functions:
                raise error_for(77, "unsupported: specialize: the program calls Python, which a comparison would do "
                                    "twice; leave it out")
            self.specials = Specials(most, self._compile_for)

    def _compile_for(self, executable: Executable) -> Executable:
        """The static version of a bound program. Raises: as compile()."""
        options = [option for option in self.options if option[0] not in ("dynamic", "symbolic-mesh")]
        for number in sorted({number for number, _ in executable.open_extents}):
            extents = "x".join(map(str, executable.arguments[number].shape))
            options.append(("shapes", f"{number}={extents}"))
        for number, dim in executable.open_dims:
            lies = executable.arguments[number].sharding.dims[dim]
            if lies.axes:
                options.append(("sizes", f"{number}:{dim}={','.join(map(str, lies.sizes))}"))
        return Executable.compile(self.text, options, executable.num_ranks)

    def take_sizes(self, sizes: Mapping[tuple[int, int], Sequence[int]]) -> None:
        """From here on dims that are open have these where the arguments do not say.

        Raises: UsageError for sizes that cannot be.
        """
        if sizes:
            known = {place: self._sizes_of(place) for place in self.executable.open_dims
                     if place not in self.executable.open_extents}
            given = {place: tuple(values) for place, values in sizes.items()}
            self.executable = self._bind(tuple({**known, **given}.items()))

    def take_mesh(self, mesh: Mapping[str, int]) -> None:
        """From here on these axes have these sizes, and dims that are cut along them balanced ones.

        Raises: UsageError for sizes that cannot be.
        """
        for axis, size in mesh.items():
            if not hasattr(size, "__index__"):
                raise UsageError(2, f"axis {axis!r}: {size!r} is not a number of ranks")
        # Extents that a call will say are those for which it was compiled until then.
        extents = {(number, dim): (self.executable.arguments[number].shape[dim],)
                   for number, dim in self.executable.open_extents}
        self.executable = self.executable.bind(
            extents, {axis: operator.index(size) for axis, size in mesh.items()})

    def _sizes_of(self, place_: tuple[int, int]) -> tuple[int, ...]:
        """In which a dim of an argument arrives that does not say."""
        return self.executable.arguments[place_[0]].sharding.dims[place_[1]].sizes

    def _bind(self, bound: Bound) -> Executable:
        labels = dict(enumerate(self.kept_labels()))
        for (number, dim), values in bound:
            label = labels.get(number, f"argument {number}")
            if not all(hasattr(value, "__index__") for value in values):
                raise UsageError(2, f"{label}, dim {dim}: sizes {list(values)}: one is not a whole number")
            if not all(0 <= operator.index(value) < 1 << 63 for value in values):
                raise UsageError(2, f"{label}, dim {dim}: sizes {list(values)}: one is negative, or too large")
        try:
            return self.executable.bind({place: [operator.index(value) for value in values]
                                         for place, values in bound})
        except UsageError as error:
            raise UsageError(2, re.sub(r"\bargument (\d+)(?=, dim |: shape )",
                                       lambda found: labels.get(int(found[1]), found[0]), error.diagnostic)) from None

    def executable_for(self, given: Sequence[Any]) -> Executable:
        """The program for the sizes in which arguments lie, of those that the program has.

        Raises: UsageError for sizes that cannot be.
        """
        executable = self.executable
        if not executable.open_dims:
            return executable
        sizes, is_other = {}, False
        for number, dim in executable.open_dims:
            leaf, wanted = given[number], executable.arguments[number].sharding
            sizes[number, dim] = wanted.dims[dim].sizes
            if (number, dim) in executable.open_extents:
                # As many elements as there are, in balanced shards.
                sizes[number, dim], is_other = (numpy.shape(leaf)[dim],), True
            if isinstance(leaf, Array) and leaf.sharding.mesh == wanted.mesh \
                    and leaf.sharding.dims[dim].axes == wanted.dims[dim].axes:
                is_other |= leaf.sharding.dims[dim] != wanted.dims[dim]
                sizes[number, dim] = leaf.sharding.dims[dim].sizes
        if not is_other:
            return executable
        bound = tuple(sizes.items())
        with self._binding:
            if (known := self._by_sizes.get(bound)) is not None:
                self._by_sizes.move_to_end(bound)
                return known
            made = self._by_sizes[bound] = self._bind(bound)
            self.by_layouts[tuple(made.layouts)] = bound, made
            if len(self._by_sizes) > self.MOST_BOUND:
                oldest = self._by_sizes.popitem(last=False)[1]
                self.by_layouts.pop(tuple(oldest.layouts), None)
            return made

    def known_for(self, layouts: list[Layout]) -> Executable | None:
        """The program that takes arguments in these shardings; None if it was not bound to them lately."""
        if self.specials is not None:
            return self.specials.known_for(layouts)
        if layouts == self.executable.layouts:
            return self.executable
        if (known := self.by_layouts.get(tuple(layouts))) is None:
            return None
        with self._binding:
            if known[0] in self._by_sizes:
                self._by_sizes.move_to_end(known[0])
        return known[1]

    @staticmethod
    def compile(source: Model, asked: Asked) -> "Variant":
        """Compile a model as asked. Raises: as compile()."""
        place_of = numbering(source)
        cuts = {new: cut for number, cut in asked.cuts_of(source).items()
                if (new := place_of(number)) is not None}
        out_cuts = _resolve_results(source, asked.out_shardings)
        options = [*asked.options]
        if asked.symbolic:
            options.append(("symbolic-mesh", ",".join(asked.symbolic)))
        if mesh := asked.mesh_for(source.text):
            options.append(("mesh", ",".join(f"{axis}={size}" for axis, size in mesh.items())))
        sizes = {(number, cut.dim): cut.sizes for number, list_ in cuts.items() for cut in list_
                 if cut.sizes}
        sizes.update({(new, dim): tuple(value) for (number, dim), value in asked.sizes.items()
                      if (new := place_of(number)) is not None})
        orders = {(number, cut.dim): cut.order for number, list_ in cuts.items() for cut in list_ if cut.order}
        open_sizes: dict[tuple[int, int], tuple[int, ...]] = {}
        if asked.dynamic is not None:
            named = [(new, dim) for number, dim in _dims_of(asked.dynamic) if (new := place_of(number)) is not None]
            options.append(("dynamic", ",".join(f"{number}:{dim}" for number, dim in named) if named else "all"))
            open_sizes = {place_: sizes.pop(place_) for place_ in list(sizes) if not named or place_ in named}
        elif asked.symbolic:
            open_sizes, sizes = sizes, {}
        for number, dim in {**sizes, **orders}:
            parts = [*map(str, sizes.get((number, dim), ())), *filter(None, [orders.get((number, dim))])]
            options.append(("sizes", f"{number}:{dim}={','.join(parts)}"))
        text = annotate(source.text, mesh, cuts, out_cuts)
        more: Options = []
        if asked.memory_limit is not None:
            more.append(("memory-limit", str(asked.memory_limit)))
        executable = Executable.compile(text, [*options, *more], _ranks_of(text, mesh))
        for line in executable.remarks:
            if ": gathered: " in line or ": warning: " in line:
                warnings.warn(line, ShardcWarning, stacklevel=outside())
        variant = Variant(source, text, [*options, *more], executable)
        variant.take_sizes(open_sizes)
        variant.specialize(asked.specialize)
        return variant

    def flags(self, leave: Sequence[str] = ()) -> list[str]:
        """Its options as the tools take them, without some."""
        return [f"--{name}" if value == "true" else f"--{name}={value}" for name, value in self.options
                if name not in leave]

    def problem(self, leaves: Sequence[Any], tree: Any) -> str | None:
        """What of the flat arguments is not as the program takes it; None where nothing is."""
        source = self.source
        if source.in_tree is not None and tree is not None and tree != source.in_tree:
            return f"arguments are {tree}, but the program takes {source.in_tree}"
        expected: list[Any] = list(self.executable.arguments if source.in_avals is None else source.in_avals)
        if source.in_avals is not None:
            # Where it was exported with symbols for shapes, it was compiled for those of the example.
            for number, place_ in zip(self.numbers or range(len(expected)), self.executable.arguments):
                if not self.is_key[number]:
                    expected[number] = place_
        if len(leaves) != len(expected):
            return f"{len(leaves)} arrays are given, but the program takes {len(expected)}"
        for number, (leaf, aval) in enumerate(zip(leaves, expected)):
            if self.is_key and self.is_key[number]:
                if isinstance(leaf, Array) or (hasattr(leaf, "dtype") and is_key(leaf)):
                    continue
                return f"{self.labels[number]} is {type(leaf).__name__}, but the program takes a key of jax.random.key"
            if self.numbers is not None and number not in self.numbers:
                continue
            shape = tuple(numpy.shape(leaf))
            kind = _type_as_given(leaf, aval.dtype, source.in_avals is not None)
            kept = number if self.numbers is None else self.numbers.index(number)
            wanted = [size for dim, size in enumerate(aval.shape) if (kept, dim) not in self.executable.open_extents]
            closed = [size for dim, size in enumerate(shape) if (kept, dim) not in self.executable.open_extents]
            if len(shape) != len(aval.shape) or closed != wanted or kind != aval.dtype:
                has = describe(numpy.dtype(kind), shape)
                return (f"{self.labels[number]} is {has}, but the program takes "
                        f"{describe(numpy.dtype(aval.dtype), tuple(aval.shape))}")
        return None

    def kept(self, leaves: Sequence[Any]) -> Sequence[Any]:
        """Of all flat arguments those that the program has."""
        return leaves if self.numbers is None else [leaves[number] for number in self.numbers]

    def kept_labels(self) -> Sequence[str]:
        """Names of those."""
        return self.kept(self.labels)


def _dims_of(dynamic: str | list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The dims that are left open; none: all that are cut. Raises: UsageError for what names none."""
    if dynamic == "all":
        return []
    if isinstance(dynamic, str) or not dynamic or not all(
            isinstance(place_, tuple) and len(place_) == 2 and all(isinstance(part, int) for part in place_)
            for place_ in dynamic):
        raise UsageError(2, f'dynamic={dynamic!r}: expected "all", or (flat argument, dim) pairs')
    return dynamic


def outside() -> int:
    """How many callers up there is code that is not of this package."""
    frame, level = sys._getframe(1), 1
    folder = str(Path(__file__).parent)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(folder):
        frame, level = frame.f_back, level + 1
    return level


def _ranks_of(text: str, mesh: Mapping[str, int] | None) -> int:
    """How many ranks a program probably has."""
    if mesh:
        return math.prod(mesh.values())
    found = [math.prod(map(int, re.findall(r'"=(\d+)', axes)))
             for axes in re.findall(r"(?:sdy|spmd)\.mesh @\S+ = <\[([^\]]*)\]", text)]
    return max([*found, *map(int, re.findall(r"mhlo\.num_partitions = (\d+)", text)), 1])


def numbering(model: Model) -> Any:
    """From flat arguments of the function to those that its text still has; None for one that is gone."""
    numbers = model.numbers()
    places = None if numbers is None else {number: place for place, number in enumerate(numbers)}
    total = None if model.in_avals is None else len(model.in_avals)

    def place(number: int) -> int | None:
        if places is None or total is None or not 0 <= number < total:
            return number
        return places.get(number)

    return place


def _labels(source: Model, executable: Executable | None) -> list[str]:
    """What flat arguments are called in messages: ``params['w']``."""
    if source.in_tree is None or source.in_avals is None:
        places = executable.arguments if executable else []
        return [place.name or f"argument {number}" for number, place in enumerate(places)]
    import jax

    numbered = source.in_tree.unflatten(range(len(source.in_avals)))
    labels = []
    for path, _ in jax.tree_util.tree_flatten_with_path(numbered)[0]:
        rest = jax.tree_util.keystr(path[2:])
        if path[0].idx == 1:
            labels.append(f"{path[1].key}{rest}")
        else:
            position = path[1].idx
            name = source.names[position] if position < len(source.names) else f"args[{position}]"
            labels.append(f"{name}{rest}")
    if executable and not source.names:
        # What was lowered elsewhere says so in its locations.
        for number, place in zip(source.numbers() or range(len(labels)), executable.arguments):
            labels[number] = place.name or labels[number]
    return labels


def resolve_arguments(source: Model, shardings: Any) -> Cuts:
    """How flat arguments are cut. Raises: UsageError for shardings that they cannot have."""
    if shardings is None:
        return {}
    if source.in_tree is None or source.in_avals is None:
        return _flat_cuts("in_shardings", shardings)
    count = len(source.in_avals)
    tree = source.in_tree.unflatten(range(count))
    names = [*source.names, *(f"args[{number}]" for number in range(len(source.names), len(tree[0])))]
    return Tree(tree, _labels(source, None), [len(aval.shape) for aval in source.in_avals], names).resolve(
        "in_shardings", shardings)


def _resolve_results(source: Model, shardings: Any) -> Cuts:
    if shardings is None:
        return {}
    if source.out_tree is None or source.out_avals is None:
        return _flat_cuts("out_shardings", shardings)
    labels = [f"result {number}" for number in range(len(source.out_avals))]
    dims = [len(aval.shape) for aval in source.out_avals]
    cuts = Tree(source.out_tree.unflatten(range(len(labels))), labels, dims).resolve("out_shardings", shardings)
    if any(cut.sizes or cut.order for list_ in cuts.values() for cut in list_):
        raise UsageError(2, "out_shardings: results have the sizes that follow from the program, or balanced ones; "
                            "leave sizes and order out")
    return cuts


def _flat_cuts(what: str, shardings: Any) -> Cuts:
    """Of a model without a tree: by number, or a list with one for each."""
    if is_leaf(shardings):
        raise UsageError(2, f"{what}: one sharding for all needs a function; give a list, one for each of @main's")
    items = shardings.items() if isinstance(shardings, Mapping) else enumerate(shardings)
    cuts: Cuts = {}
    for number, entry in items:
        if not isinstance(number, int):
            raise UsageError(2, f"{what}: names ({number!r}) need a function; give flat numbers")
        found = cuts_of_leaf(entry, None, f"{what}: {number}: ")
        if found is not None:
            cuts[number] = found
    return cuts


def is_key(aval: Any) -> bool:
    jax = loaded_jax()
    return jax is not None and bool(jax.dtypes.issubdtype(aval.dtype, jax.dtypes.prng_key))


def _type_as_given(leaf: Any, wanted: Any, is_jax: bool) -> Any:
    """The type of an argument as JAX sees it: numbers are what is wanted, wide types what JAX makes of them."""
    if isinstance(leaf, Array):
        return leaf.dtype
    if isinstance(leaf, (bool, int, float, complex)):
        kind = numpy.dtype(wanted).kind
        fits = {bool: True, int: kind in "iufcV", float: kind in "fcV", complex: kind == "c"}[type(leaf)] \
            if type(leaf) in (bool, int, float, complex) else True
        return wanted if fits else numpy.asarray(leaf).dtype
    kind = leaf.dtype if hasattr(leaf, "dtype") else numpy.asarray(leaf).dtype
    if is_jax and kind != wanted:
        import jax

        kind = jax.dtypes.canonicalize_dtype(kind)
    return kind
