"""Compiled programs: arrays in, arrays out."""

import math
import os
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy

from shardc._array import Array, cut_out, host_array, place
from shardc._engine import packed
from shardc._errors import ShardcError, ShardcWarning, UsageError, error_for
from shardc._executable import Executable, Place
from shardc._host import HostContext
from shardc._native import Handle
from shardc._sharding import describe_dims, whole
from shardc._specialize import same_bits
from shardc._specs import axes_of, loaded_jax, meshes_in
from shardc._text import Model
from shardc._tools import run_program
from shardc._transform import call_traced
from shardc._variant import Asked, Dims, Options, Sizes, Variant, is_key, numbering, outside


def compile(
    model: Any,
    *example: Any,
    mesh: Any = None,
    in_shardings: Any = None,
    out_shardings: Any = None,
    sizes: Sizes | None = None,
    dynamic: Dims | None = None,
    symbolic_mesh: str | Sequence[str] | None = None,
    specialize: int = 0,
    arch: str = "native",
    machine: str | None = None,
    no_fallback: bool = False,
    no_raise: bool = False,
    quick: bool = False,
    keep_order: bool = False,
    tuned: bool = False,
    reproducible: bool = False,
    exact_sums: bool = False,
    threads: int | None = None,
    memory_limit: int | None = None,
    gather: bool | None = None,
) -> "Program":
    """Compile a model for a mesh.

    No process is started and no file written, but those of the cache of compiled programs. Callbacks of a function
    (``jax.pure_callback``, ``io_callback``, ``debug.print``, ``equinox.error_if``) run in this process, on threads of
    its devices; what one raises is the cause of the ``RunError``. A program that is saved and loaded has none.

    Args:
        model: as for to_text(). What is a function is compiled again where a call has other shapes; both are kept.
        example: arguments (arrays or ``jax.ShapeDtypeStruct``) that give a function its shapes.
        mesh: axes and their sizes, or a Mesh or AbstractMesh of JAX: the model's own mesh, resized, or a mesh for a
            model that has none, or one of a single device.
        in_shardings: how arguments are cut, as ``jax.jit`` takes it: one sharding for all; or one for each argument,
            each a sharding or a tree of them or a prefix of one (in a tuple or list, or in a dict by the arguments'
            names); or a dict by flat argument number. A sharding is what split() gives, a list of those for several
            dims of one array, a ``PartitionSpec``, a ``NamedSharding`` (whose mesh is taken), or a ``Sharding``; None:
            as the model says. Arguments that jit marks static do not count.
        out_shardings: how results are cut, in the same forms; without sizes.
        sizes: by (flat argument, dim): the sizes of the shards in which it arrives, zero allowed.
        dynamic: (flat argument, dim) pairs whose sizes are left open, or "all" for whatever is cut: a call has the
            sizes in which its arrays lie, and nothing is compiled for others (docs/Concepts/Binding.md). ``sizes`` are
            then those of arguments that are not ``shardc.Array``.
        symbolic_mesh: axes of the mesh whose sizes are left open, with those of all that is cut:
            ``bind(mesh={"x": 3})`` says them, and nothing is compiled. Until then they are those of ``mesh``, by which
            costs are estimated; two each where there is none.
        specialize: with ``dynamic``: sizes that come again and again are compiled for in the background, this many at
            most at a time. The next call with them runs both programs; where these give the same bits, that one is run
            from then on (docs/Concepts/Binding.md). Not in several processes, nor with callbacks (code 77).
        arch: what code is generated for.
        machine: whose figures decide what pays: a preset such as "h100", figures that differ after it, or a file of
            them that ends in ".json" (docs/Reference/machine.md).
        no_fallback: an op that would be gathered is an error, instead of a ``ShardcWarning``.
        no_raise: attention and searches over pairs stay the ops they are made of, instead of becoming rings.
        quick: without LLVM's optimisations: in half of the time, to code that is slower.
        keep_order: no dim is put in zigzag order (``order="zigzag"``) unless ``in_shardings`` say so.
        tuned: products are cut as ``shard-run --tune`` has measured on this processor, where it has. Same bits.
        reproducible: the same bits on every mesh, for any cuts and threads; what cannot be had so raises (code 77).
        exact_sums: with ``reproducible``: the same bits for other ``in_shardings`` of the same function too; slower.
        threads: of each rank, that share its loops; None: the cores that this process may use (affinity, cgroups) over
            the devices. Results have the same bits with any number.
        memory_limit: most bytes of temporaries of one rank. What would need more computes values again, and in blocks
            of rows; where that is not enough, it needs the least that was found (``report()`` says what that is:
            ``peak_bytes``). check() and traces are of the program without a limit.
        gather: True: calls return NumPy arrays; False: ``shardc.Array``, which stay on the devices; None: the latter
            where an argument is one.

    Raises: RefusedError, UnsupportedError, UsageError with the compiler's diagnostic; UsageError (a ValueError) for
    shardings that the arguments cannot have.
    """
    options: Options = [("arch", arch)]
    if machine:
        options.append(("machine", machine))
    switches = {"no-fallback": no_fallback, "no-raise": no_raise, "quick": quick, "keep-order": keep_order,
                "tuned": tuned, "reproducible": reproducible, "exact-sums": exact_sums}
    options += [(name, "true") for name, is_on in switches.items() if is_on]
    if threads is not None:
        options.append(("threads", str(threads)))
    if specialize < 0:
        raise UsageError(2, f"specialize={specialize}: expected a number of programs, from 0 on")
    left_open = dynamic if dynamic is None or isinstance(dynamic, str) else [*dynamic]
    asked = Asked(_one_mesh(axes_of(mesh), in_shardings, out_shardings), in_shardings, out_shardings, sizes or {},
                   left_open, options, memory_limit, specialize)
    asked.symbolic = _axes_of(symbolic_mesh)
    return Program._of(Variant.compile(Model.read(model, *example), asked), asked, gather)


def load(path: str | os.PathLike[str], gather: bool | None = None) -> "Program":
    """A program that save() wrote. It cannot be checked: it is run as it was compiled.

    Machine code that this user's key did not sign is not run: what the artifact carries is compiled instead.

    Raises: ShardcError for a file that cannot be read or is damaged.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise error_for(7, f"{os.fspath(path)}: {error.strerror}") from error
    return Program._of(Variant(Model(""), "", [], Executable.load(data)), None, gather)


def _axes_of(symbolic_mesh: Any) -> list[str]:
    """Axes whose sizes are left open. Raises: UsageError for what is no list of names."""
    if isinstance(symbolic_mesh, str):
        return [symbolic_mesh]
    if symbolic_mesh is None:
        return []
    if not isinstance(symbolic_mesh, Sequence) or not all(isinstance(axis, str) for axis in symbolic_mesh):
        raise UsageError(2, f"symbolic_mesh={symbolic_mesh!r}: expected an axis of the mesh, or a list of them")
    return [*symbolic_mesh]


def _one_mesh(mesh: dict[str, int] | None, *shardings: Any) -> dict[str, int] | None:
    """The mesh that was given, or that of the shardings; one of a single device gives way.

    Raises: UsageError where they differ.
    """
    for found in meshes_in(list(shardings)):
        if mesh is None or (math.prod(mesh.values()) == 1 and math.prod(found.values()) > 1):
            mesh = found
        elif found != mesh and math.prod(found.values()) > 1:
            raise UsageError(2, f"a sharding is of the mesh {found}, but the program's is {mesh}")
    return mesh


def _leaves(tree: Any) -> list[Any]:
    """Arrays of nested tuples, lists and dicts, in JAX's order."""
    if tree is None:
        return []
    if isinstance(tree, Mapping):
        return [leaf for key in sorted(tree) for leaf in _leaves(tree[key])]
    if isinstance(tree, (tuple, list)):
        return [leaf for part in tree for leaf in _leaves(part)]
    if hasattr(tree, "shape") or hasattr(tree, "__dlpack__") or isinstance(tree, (bool, int, float, complex)):
        return [tree]
    import jax

    leaves: list[Any] = jax.tree.leaves(tree)
    return leaves


class Program:
    """A compiled program. Call it with the model's arguments; made by compile() and load().

    It may be called by several threads at a time.
    """

    _variants: list[Variant]
    _variant: Variant
    """The one that was called last."""
    _asked: Asked | None
    _gather: bool | None
    _warned: set[str]

    @staticmethod
    def _of(variant: Variant, asked: Asked | None, gather: bool | None) -> "Program":
        program = Program.__new__(Program)
        program._variants, program._variant = [variant], variant
        program._asked, program._gather = asked, gather
        program._warned = set()
        return program

    # What it is.

    @property
    def text(self) -> str:
        """The model as it was compiled. Raises: UsageError for a loaded artifact."""
        self._need_model("text")
        return self._variants[0].text

    @property
    def local_text(self) -> str:
        """What each rank does: StableHLO with the communication as collectives; "" where that is not known."""
        return self._variants[0].executable.local_text

    @property
    def remarks(self) -> list[str]:
        """What the compiler remarked, a line each: what is gathered, what became a ring, what would be cheaper."""
        return list(self._variants[0].executable.remarks)

    @property
    def mesh(self) -> dict[str, int]:
        """Axes and their sizes, major to minor."""
        return {axis["name"]: axis["size"] for axis in self._variants[0].executable.metadata["mesh"]}

    @property
    def in_shardings(self) -> Any:
        """How arguments lie, in the arguments' own tree (a tuple); None for what the program does not look at."""
        variant = self._variants[0]
        shardings = [place.sharding for place in variant.executable.arguments]
        if variant.source.in_tree is None or variant.source.in_avals is None:
            return tuple(shardings)
        spread: list[Any] = [None] * len(variant.source.in_avals)
        for number, sharding in zip(variant.numbers or range(len(shardings)), shardings):
            spread[number] = sharding
        return variant.source.in_tree.unflatten(spread)[0]

    @property
    def out_shardings(self) -> Any:
        """How results lie, in the results' own tree."""
        variant = self._variants[0]
        shardings = [place.sharding for place in variant.executable.results]
        if variant.source.out_tree is not None:
            return variant.source.out_tree.unflatten(shardings)
        return shardings[0] if len(shardings) == 1 else tuple(shardings)

    @property
    def specialized(self) -> dict[str, int]:
        """Of ``specialize``: how many static programs were ``compiled``, are ``taken``, and were ``refused``, as they
        gave other bits or could not be compiled.
        """
        specials = [variant.specials for variant in self._variants if variant.specials is not None]
        return {"compiled": sum(special.num_compiled for special in specials),
                "taken": sum(len(special.taken) for special in specials),
                "refused": sum(special.num_refused for special in specials)}

    def costs(self) -> dict[str, Any]:
        """Estimates for a step of all ranks (flops, bytes moved …) and bytes of one rank's memory."""
        return self._variants[0].executable.costs()

    def __repr__(self) -> str:
        executable = self._variants[0].executable
        mesh = ", ".join(f"{name}={size}" for name, size in self.mesh.items())
        name = executable.metadata.get("name") or "program"
        sites = len(executable.metadata.get("communication", ()))
        more = f", {len(self._variants)} shapes" if len(self._variants) > 1 else ""
        return (f"<shardc.Program {name}{' on ' + mesh if mesh else ''}: ({_listed(executable.arguments)}) -> "
                f"({_listed(executable.results)}), {sites} communication sites{more}>")

    # Running it.

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run one step: the results, in the shape of JAX's results where that is known.

        Arguments of other shapes than it was compiled for compile it again, if it is of a function. Static arguments
        may be given, as they were to compile(), or left out. What the program declares donated is given up where it is
        a ``shardc.Array``, and not changed where it is not. Typed PRNG keys are keys here too.

        Returns: NumPy arrays; or ``shardc.Array`` where an argument is one (``gather`` of compile() decides), at once:
        they are computed meanwhile, and what fails is raised where one is waited for.
        Raises: UsageError for arguments that do not fit, by their name; RunError where the run fails.
        """
        variant = self._variant
        source = variant.source
        leaves: Sequence[Any]
        if source.in_tree is None:
            leaves, tree = arguments, None
        else:
            leaves, tree = loaded_jax().tree_util.tree_flatten((arguments, named))
            if variant.numbers is not None and len(leaves) == len(variant.labels):
                leaves = [leaves[number] for number in variant.numbers]
        # Arrays that lie as the program takes them: nothing to do but to run it.
        executable = None
        try:
            if tree == source.in_tree and not source.host_functions and not self._gather and leaves:
                executable = variant.known_for([leaf._layout for leaf in leaves])
        except AttributeError:
            pass
        if executable is not None:
            try:
                results: Sequence[Any] = executable.run([leaf._packed for leaf in leaves])
            except UsageError as error:
                self._name_deleted(variant, leaves, error)
                raise
            if variant.has_keys or source.out_tree is None:
                return self._shaped(variant, results)
            return source.out_tree.unflatten(results)
        return self._call(arguments, named)

    def put(self, *arguments: Any, **named: Any) -> Any:
        """Arguments on the devices, as the program takes them: trees of ``shardc.Array``.

        Returns: as many as were given, in a tuple; of one argument that alone. Keys stay keys.
        Raises: as a call.
        """
        variant, leaves, _ = self._prepare(arguments, named)
        numbers = variant.numbers or range(len(leaves))
        put = list(leaves)
        executable = variant.executable_for(variant.kept(leaves))
        for number, place_ in zip(numbers, executable.arguments):
            if place_.neutral is None and not (variant.is_key and variant.is_key[number]):
                put[number] = self._put(executable, leaves[number], place_, None)
        if variant.source.in_tree is None:
            return put[0] if len(put) == 1 else tuple(put)
        positional = variant.source.in_tree.unflatten(put)[0]
        return positional[0] if len(positional) == 1 else positional

    def bind(self, sizes: Sizes | None = None, mesh: Mapping[str, int] | None = None) -> "Program":
        """The same program, of which arguments arrive in these sizes where they do not say: put() cuts them so.

        Nothing is compiled. A call with arrays of other sizes binds to theirs.

        Args:
            sizes: by (flat argument, dim), of dims that compile() was told to leave open.
            mesh: sizes of axes that it was told to leave open (``symbolic_mesh``); others are as they are. Derivatives
                of what is bound are compiled for this mesh.

        Raises: UsageError, with argument, dim and sizes, or with the axis, for what cannot be.
        """
        variant = self._variants[0]
        place_of = numbering(variant.source)
        bound = Variant(variant.source, variant.text, variant.options, variant.executable)
        asked = self._asked
        if mesh:
            bound.take_mesh(mesh)
            axes = {axis["name"]: axis["size"] for axis in bound.executable.metadata["mesh"]}
            asked = asked.on(axes) if asked else None
        bound.take_sizes({(new, dim): tuple(values) for (number, dim), values in (sizes or {}).items()
                          if (new := place_of(number)) is not None})
        if not mesh:
            # What was compiled for sizes was compiled for the ranks that there were.
            bound.specials = variant.specials
        return Program._of(bound, asked, self._gather)

    def report(self, *arguments: Any, repeat: int = 1, trace: str | os.PathLike[str] | None = None,
               page: str | os.PathLike[str] | None = None) -> dict[str, Any]:
        """Run ``repeat`` steps with ``shard-run``; times, bytes and communication as its ``--report=json`` gives them.

        ``trace`` is a file for what each rank did when, which Perfetto opens; the model is compiled once more for it,
        so that kernels have names (a loaded program shows its communication alone). ``page`` is a file for the report
        as HTML.
        """
        options = [f"--repeat={repeat}"]
        options += [f"--report={os.fspath(page)}"] if page is not None else []
        if trace is not None:
            options.append(f"--trace={os.fspath(trace)}")
        return self._with_tool(arguments, options, of_model=trace is not None and self._asked is not None)

    def check(self, *arguments: Any, rtol: float | None = None, atol: float | None = None) -> dict[str, Any]:
        """Run sharded and unsharded with ``shard-run`` and compare; the report.

        Raises: DifferenceError with the first difference; UsageError for a loaded artifact.
        """
        self._need_model("check")
        options = ["--check"]
        options += [f"--rtol={rtol}"] if rtol is not None else []
        options += [f"--atol={atol}"] if atol is not None else []
        return self._with_tool(arguments, options, of_model=True)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the artifact: shard-run and load() take it."""
        Path(path).write_bytes(self._variants[0].executable.serialize())

    # How.

    def _need_model(self, what: str) -> None:
        if self._asked is None:
            raise UsageError(2, f"{what} needs the model, but the program was loaded from an artifact")

    def _flatten(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[list[Any], Any, tuple[Any, ...]]:
        """All flat arguments without static ones, their tree, and the positional arguments with static ones."""
        source = self._variants[0].source
        if source.in_tree is None:
            if named:
                name = next(iter(named))
                raise UsageError(2, f"argument {name!r}: a program that is not from JAX has no named arguments")
            return _leaves(arguments), None, tuple(arguments)
        import jax

        arguments = tuple(arguments)
        leaves, tree = jax.tree.flatten((arguments, dict(named)))
        if tree == source.in_tree:
            for number in sorted(source.static):
                arguments = (*arguments[:number], source.static[number], *arguments[number:])
            return leaves, tree, arguments
        if source.static:
            for number, value in source.static.items():
                if number < len(arguments) and not _is_same(arguments[number], value):
                    raise UsageError(2, f"argument {number} is static: the program was compiled for {value!r}, not for "
                                        f"{arguments[number]!r}")
            rest = tuple(value for number, value in enumerate(arguments) if number not in source.static)
            leaves, tree = jax.tree.flatten((rest, dict(named)))
        if tree != source.in_tree and len(arguments) == 1 and not named and isinstance(arguments[0], (list, tuple)):
            # All arguments in one list.
            listed, listed_tree = jax.tree.flatten((tuple(arguments[0]), {}))
            if listed_tree == source.in_tree:
                return listed, listed_tree, tuple(arguments[0])
        return leaves, tree, arguments

    def _prepare(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[Variant, list[Any], Any]:
        """The variant that takes these arguments, and all flat arguments; compiled, if there is none yet.

        Raises: UsageError where none can be.
        """
        leaves, tree, positional = self._flatten(arguments, named)
        problem: str | None = ""
        for variant in (self._variant, *reversed(self._variants)):
            # In the end that of the first, for which it was compiled.
            problem = variant.problem(leaves, tree)
            if problem is None:
                self._variant = variant
                return variant, leaves, tree
        function = self._variants[0].source.function
        if function is None or self._asked is None:
            raise UsageError(2, problem or "")
        import jax

        static = self._variants[0].source.static
        shapes = [argument if number in static else jax.tree.map(_shape_of, argument)
                  for number, argument in enumerate(positional)]
        try:
            source = Model.read(function, *shapes, **{name: jax.tree.map(_shape_of, value)
                                                      for name, value in named.items()})
            source.names = self._variants[0].source.names
            variant = Variant.compile(source, self._asked)
        except (ShardcError, TypeError, ValueError) as error:
            raise UsageError(2, f"{problem}; for what is given it does not compile: {error}") from error
        if (found := variant.problem(leaves, tree)) is not None:
            raise UsageError(2, found)
        self._variants.append(variant)
        self._variant = variant
        return variant, leaves, tree

    def _put(self, executable: Executable, leaf: Any, place_: Place, borrow: bool | None) -> Array:
        """One argument as the program takes it."""
        engine, layout = executable.engine, place_.layout
        if isinstance(leaf, Array):
            if leaf._layout is layout:
                return leaf
        else:
            leaf = _as_argument(leaf, layout.dtype)
        handles = place(engine, leaf, layout, borrow, own=place_.donated and not isinstance(leaf, Array))
        return Array._make(engine, place_.sharding, layout, handles, None)

    def _call(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """A call whose arguments are not just as they have to be."""
        if (jax := loaded_jax()) is not None and any(
                isinstance(leaf, jax.core.Tracer) for leaf in jax.tree_util.tree_leaves((arguments, named))):
            return call_traced(self, arguments, named, compile)
        variant, leaves, _ = self._prepare(arguments, named)
        given = variant.kept(leaves)
        stay = any(isinstance(leaf, Array) for leaf in given) if self._gather is None else not self._gather
        return self._shaped(variant, self._run(variant, given, stay))

    def _run(self, variant: Variant, given: Sequence[Any], stay: bool,
             executable: Executable | None = None, lends: bool = False) -> Sequence[Any]:
        """Results of one step on the arguments that the program has: arrays that stay on the devices, or of NumPy.

        ``executable``: what runs it, if not the program for the sizes in which they lie. With ``lends`` no argument is
        given up.
        """
        functions = variant.source.host_functions
        if executable is None:
            executable = variant.executable_for(given)
            if (specials := variant.specials) is not None:
                if (known := specials.known_for(executable.layouts)) is not None:
                    executable = known
                elif (made := specials.candidate_for(executable)) is not None:
                    return self._compare(variant, given, stay, executable, made)
        labels = variant.kept_labels()
        arrays: list[Array] = []
        handles: list[bytes] = []
        mine: list[Handle | None] = []
        try:
            for leaf, place_, label in zip(given, executable.arguments, labels):
                if place_.neutral is not None:
                    parts = self._parts(executable, leaf, place_)
                    handles.append(packed(parts))
                    mine += parts
                    continue
                if isinstance(leaf, Array) and not set(place_.layout.boxes) <= set(leaf._layout.boxes):
                    self._warn_moved(label, leaf, place_)
                # Results that are waited for here are there before anybody can change what is lent.
                array = self._put(executable, leaf, place_, borrow=None if stay else True)
                arrays.append(array)
                handles.append(array._packed)
            host = HostContext(functions) if functions else None
            try:
                results: Sequence[Any] = executable.run(handles, host, lends)
            except UsageError as error:
                self._name_deleted(variant, given, error)
                raise
        finally:
            if mine:
                executable.engine.release(mine)
        if host is not None:
            try:
                for result in results[:1]:
                    result.block_until_ready()
            except ShardcError as error:
                if host.pending is not None:
                    host.pending.cause = host.error
                raise error from host.error
            finally:
                host.close()
        if not stay:
            # What is of other processes too stays where it is, unless all are asked for it.
            if self._gather:
                results = [result.gather() for result in results]
            results = [result._to_numpy() if result.is_addressable else result for result in results]
        return results

    def _compare(self, variant: Variant, given: Sequence[Any], stay: bool, executable: Executable,
                 made: Executable) -> Sequence[Any]:
        """Results of one step, which a static version does as well, on the same arguments."""
        expected = self._run(variant, given, True, executable, lends=True)
        are_equal = same_bits(self._run(variant, given, True, made, lends=True), expected)
        if variant.specials is not None:
            variant.specials.take(made, are_equal)
        for leaf, place_ in zip(given, executable.arguments):
            if place_.donated and isinstance(leaf, Array):
                leaf.delete()
        return expected if stay else [result._to_numpy() for result in expected]

    def _parts(self, executable: Executable, leaf: Any, place_: Place) -> list[Handle | None]:
        """An argument that arrives in parts, of which the first is all of it."""
        engine, data = executable.engine, numpy.asarray(leaf)
        handles: list[Handle | None] = []
        devices = engine.devices_of(len(place_.layout.boxes))
        for device, box, value in zip(devices, place_.layout.boxes, place_.neutral or ()):
            if not engine.is_here(device):
                handles.append(None)
                continue
            part = cut_out([(whole(place_.shape), data)], box)[0]
            handles.append(engine.buffer_of(part if value is None else numpy.full_like(part, value), device, False))
        return handles

    def _shaped(self, variant: Variant, results: Sequence[Any]) -> Any:
        source = variant.source
        if variant.has_keys:
            results = [_as_key(result, aval) if is_key and not isinstance(result, Array) else result
                       for result, aval, is_key in zip(results, source.out_avals or (), variant.out_is_key)]
        if source.out_tree is not None:
            return source.out_tree.unflatten(results)
        return results[0] if len(results) == 1 else tuple(results)

    def _warn_moved(self, label: str, array: Array, place_: Place) -> None:
        """Once for each argument: an array in another sharding is moved through the host in each call."""
        if label in self._warned:
            return
        self._warned.add(label)
        warnings.warn(f"{label} lies as {describe_dims(array.sharding.dims)}, but the program takes it as "
                      f"{describe_dims(place_.sharding.dims)}: it is moved through the host in each call; "
                      "program.put() moves it once, in_shardings and out_shardings of shardc.compile() make them agree",
                      ShardcWarning, stacklevel=outside())

    def _name_deleted(self, variant: Variant, given: Sequence[Any], error: UsageError) -> None:
        """Raise what names an argument that was given up, if that is what is wrong."""
        for leaf, label in zip(given, variant.kept_labels()):
            if isinstance(leaf, Array) and leaf.is_deleted():
                raise UsageError(2, f"{label} was deleted: given up to a program that it was donated to, or by "
                                    "delete()") from error

    def _with_tool(self, arguments: Sequence[Any], options: Sequence[str], of_model: bool) -> dict[str, Any]:
        """What ``shard-run --report=json`` says of the model or the artifact."""
        variant, leaves, _ = self._prepare(arguments, {})
        given: dict[str, Any] = {}
        executable = variant.executable_for(variant.kept(leaves))
        for number, (leaf, place_) in enumerate(zip(variant.kept(leaves), executable.arguments)):
            given[f"in{number}"] = numpy.asarray(_as_argument(leaf, place_.dtype))
        for number, dim in executable.open_dims:
            sizes = executable.arguments[number].sharding.dims[dim].sizes
            options = [*options, f"--sizes={number}:{dim}={','.join(map(str, sizes))}"]
        leave = ["memory-limit"]
        if not of_model or "symbolic-mesh" in dict(variant.options):
            axes = [f"{axis['name']}={axis['size']}" for axis in executable.metadata["mesh"]]
            leave, options = [*leave, "mesh"], [*options, *([f"--mesh={','.join(axes)}"] if axes else [])]
        with tempfile.TemporaryDirectory(prefix="shardc-") as folder:
            if of_model:
                program = Path(folder) / "program.mlir"
                program.write_text(variant.text)
                options = [*options, *variant.flags(leave)]
            else:
                program = Path(folder) / "program.so"
                program.write_bytes(variant.executable.serialize())
                # The folder is closed to others: whatever key there is, the code is its own.
                options = [*options, "--trust"]
            inputs = Path(folder) / "in.npz"
            numpy.savez(inputs, **given)
            return run_program(program, inputs, options, variant.source.host_functions)


def _listed(places: Sequence[Place]) -> str:
    """``x f32[8,4] [x 4|4, :], …``: the first few."""
    parts = [str(place_) for place_ in places[:4]]
    if len(places) > 4:
        parts.append(f"… {len(places)} in all")
    return ", ".join(parts)


def _shape_of(leaf: Any) -> Any:
    """What a function is traced with for an argument: its shape, unless it is a number or a key."""
    import jax

    if isinstance(leaf, (bool, int, float, complex)) or not hasattr(leaf, "dtype") or is_key(leaf):
        return leaf
    return jax.ShapeDtypeStruct(numpy.shape(leaf), jax.dtypes.canonicalize_dtype(leaf.dtype))


def _is_same(a: Any, b: Any) -> bool:
    return a is b or bool(numpy.all(a == b))


def _as_argument(leaf: Any, dtype: Any) -> Any:
    """An array as the program takes it: numbers and wide types become what JAX makes of them."""
    if isinstance(leaf, Array):
        return leaf
    if hasattr(leaf, "dtype") and is_key(leaf):
        import jax

        leaf = jax.random.key_data(leaf)
    if isinstance(leaf, (bool, int, float, complex)):
        # Also those of JAX, which say of what type they are, and are another for NumPy.
        return numpy.asarray(leaf, dtype)
    if getattr(leaf, "dtype", None) == dtype:
        return leaf
    array = host_array(leaf)
    return array if array.dtype == dtype else array.astype(dtype)


def _as_key(array: Any, aval: Any) -> Any:
    import jax

    return jax.random.wrap_key_data(array, impl=aval.dtype._impl)

