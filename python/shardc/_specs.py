"""What users write for shardings: split() and its lists, JAX's PartitionSpec and NamedSharding, trees of them."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shardc._annotate import OPEN, Split
from shardc._errors import UsageError
from shardc._sharding import Sharding

Cuts = dict[int, list[Split]]
"""Of flat arguments, by number; an empty list: whole on every rank."""


def loaded_jax() -> Any:
    """The module, if somebody has imported it: else nothing of it can be given. It is not imported for that."""
    return sys.modules.get("jax")


def _jax_sharding() -> Any:
    return getattr(loaded_jax(), "sharding", None)


def _is_spec(value: Any) -> bool:
    module = _jax_sharding()
    return module is not None and isinstance(value, module.PartitionSpec)


def _is_jax_sharding(value: Any) -> bool:
    module = _jax_sharding()
    return module is not None and isinstance(value, module.Sharding)


def is_leaf(value: Any) -> bool:
    """Whether it is the sharding of one array (or of each of a tree's), and no tree itself."""
    return value is None or isinstance(value, (Split, Sharding)) or _is_spec(value) or _is_jax_sharding(value)


def axes_of(mesh: Any) -> dict[str, int] | None:
    """Axes and sizes of what users give as a mesh: a mapping, or a Mesh or AbstractMesh of JAX.

    Raises: UsageError for anything else.
    """
    if mesh is None:
        return None
    shape = mesh if isinstance(mesh, Mapping) else getattr(mesh, "shape", None)
    if not isinstance(shape, Mapping):
        raise UsageError(2, f"mesh is {type(mesh).__name__}; expected axes and their sizes, {{'x': 4}}, or JAX's")
    for name, size in shape.items():
        if not isinstance(name, str) or int(size) < 1:
            raise UsageError(2, f"mesh axis {name!r}: size {size}; expected a name and a positive number")
    return {name: int(size) for name, size in shape.items()}


def mesh_of(entry: Any) -> dict[str, int] | None:
    """The mesh of a sharding; None where it has none."""
    if isinstance(entry, Sharding):
        return dict(entry.mesh)
    if _is_jax_sharding(entry) and hasattr(entry, "mesh"):
        return axes_of(entry.mesh)
    return None


def meshes_in(entry: Any) -> list[dict[str, int]]:
    """Those of all shardings in a tree, each once."""
    found: list[dict[str, int]] = []
    if is_leaf(entry):
        parts: Iterable[Any] = ()
        if (mesh := mesh_of(entry)) is not None:
            found.append(mesh)
    elif isinstance(entry, Mapping):
        parts = entry.values()
    elif isinstance(entry, (tuple, list)):
        parts = entry
    else:
        jax = loaded_jax()
        leaves = () if jax is None else jax.tree.leaves(entry, is_leaf=is_leaf)
        parts = [leaf for leaf in leaves if is_leaf(leaf)]
    for part in parts:
        found += [mesh for mesh in meshes_in(part) if mesh not in found]
    return found


def _cuts_of_spec(spec: Any, where: str) -> list[Split]:
    if getattr(spec, "unreduced", None):
        raise UsageError(2, f"{where}{spec}: arrays that are sums still to be made cannot be given")
    cuts = []
    for dim, entry in enumerate(spec):
        if entry is None:
            continue
        if entry is type(spec).UNCONSTRAINED:
            cuts.append(Split(dim, OPEN))
            continue
        for axis in entry if isinstance(entry, tuple) else (entry,):
            if not isinstance(axis, str):
                raise UsageError(2, f"{where}{spec}: mesh axes are names")
            cuts.append(Split(dim, axis))
    return cuts


def cuts_of_leaf(entry: Any, num_dims: int | None, where: str = "") -> list[Split] | None:
    """How an array is cut; an empty list: whole everywhere. None: as the model says.

    Args:
        entry: what a user gave.
        num_dims: of the array, if known.
        where: begins messages: "in_shardings: params['w']: ".

    Raises: UsageError for what is no sharding, or none of an array with this many dims.
    """
    if entry is None:
        return None
    if isinstance(entry, Split):
        cuts = [entry]
    elif isinstance(entry, Sharding):
        cuts = [Split(number, axis, dim.sizes) for number, dim in enumerate(entry.dims) for axis in dim.axes]
        if num_dims is not None and len(entry.dims) != num_dims:
            raise UsageError(2, f"{where}{entry!r} has {len(entry.dims)} dims, but the array has {num_dims}")
    elif _is_spec(entry):
        cuts = _cuts_of_spec(entry, where)
        if num_dims is not None and len(entry) > num_dims:
            raise UsageError(2, f"{where}{entry} has {len(entry)} dims, but the array has {num_dims}")
    elif _is_jax_sharding(entry):
        if getattr(entry, "is_fully_replicated", False) and not hasattr(entry, "spec"):
            cuts = []
        elif hasattr(entry, "spec"):
            cuts = cuts_of_leaf(entry.spec, num_dims, where) or []
        else:
            raise UsageError(2, f"{where}{entry}: expected a NamedSharding, which has a mesh with named axes")
    elif isinstance(entry, Iterable) and not isinstance(entry, (str, Mapping)):
        cuts = list(entry)
        if not all(isinstance(cut, Split) for cut in cuts):
            raise UsageError(2, f"{where}{cuts}: one array is given here; expected what split() gives, a list of those "
                                "for several dims, a PartitionSpec or a NamedSharding")
    else:
        raise UsageError(2, f"{where}{entry!r} is no sharding; expected what split() gives, a PartitionSpec, a "
                            "NamedSharding or None")
    for cut in cuts:
        if num_dims is not None and cut.dim >= num_dims:
            raise UsageError(2, f"{where}the array has {num_dims} dims, but dim {cut.dim} is to be split")
    return cuts


class Tree:
    """Arguments (or results) of a function as a tree whose leaves are their flat numbers."""

    def __init__(self, tree: Any, labels: Sequence[str], dims: Sequence[int], names: Sequence[str] = ()) -> None:
        """``tree``: a tuple of the positional arguments, and a dict of named ones if there are any (or the results);
        ``labels`` and ``dims`` (their number) are of each leaf, ``names`` of positional arguments."""
        self.tree, self.labels, self.dims, self.names = tree, labels, dims, names

    def spread(self, what: str, entry: Any, subtree: Any, cuts: Cuts, path: str) -> None:
        """Note how the leaves of ``subtree`` are cut, of which ``entry`` is a prefix.

        Raises: UsageError where it is none.
        """
        if entry is None:
            return
        if is_leaf(entry) or isinstance(subtree, int):
            for leaf in _leaves(subtree):
                found = cuts_of_leaf(entry, self.dims[leaf], f"{what}: {self.labels[leaf]}: ")
                if found is not None:
                    cuts[leaf] = found
            return
        expected = f"{what}: {path or 'what it is for'}"
        if isinstance(subtree, Mapping):
            if not isinstance(entry, Mapping):
                raise UsageError(2, f"{expected} is a dict with the keys {', '.join(map(repr, subtree))}, but its "
                                    f"shardings are a {type(entry).__name__}; give a dict of them, or one for all")
            for key, part in entry.items():
                if key not in subtree:
                    raise UsageError(2, f"{expected} has no {key!r}; it has {', '.join(map(repr, subtree)) or 'none'}")
                self.spread(what, part, subtree[key], cuts, f"{path}[{key!r}]")
        elif isinstance(subtree, (tuple, list)):
            if not isinstance(entry, (tuple, list)):
                raise UsageError(2, f"{expected} is a {type(subtree).__name__} of {len(subtree)}, but its shardings "
                                    f"are a {type(entry).__name__}; give as many, or one for all")
            if len(entry) != len(subtree):
                raise UsageError(2, f"{expected} has {len(subtree)} parts, but {len(entry)} shardings are given; give "
                                    "one for each (None: as the model says), or one for all")
            for number, (part, below) in enumerate(zip(entry, subtree)):
                self.spread(what, part, below, cuts, f"{path}[{number}]")
        else:
            self._spread_node(what, entry, subtree, cuts, path)

    def _spread_node(self, what: str, entry: Any, subtree: Any, cuts: Cuts, path: str) -> None:
        """Of a class that JAX knows as a tree."""
        import jax

        flatten = jax.tree_util.default_registry.flatten_one_level
        mine, given = flatten(subtree), flatten(entry) if type(entry) is type(subtree) else None
        if mine is None or given is None:
            raise UsageError(2, f"{what}: {path} is a {type(subtree).__name__}, but its shardings are a "
                                f"{type(entry).__name__}; give a {type(subtree).__name__} of them, or one for all")
        for number, (part, below) in enumerate(zip(list(given[0]), list(mine[0]))):
            self.spread(what, part, below, cuts, f"{path}.<{number}>")

    def resolve(self, what: str, given: Any) -> Cuts:
        """How leaves are cut.

        Args:
            what: the option's name, for messages.
            given: one sharding for all; one for each argument (a sequence), each a sharding or a tree or prefix of
                them; by name of arguments or leaves ("x", "params['w']"); by flat number.

        Raises: UsageError for anything else.
        """
        cuts: Cuts = {}
        if isinstance(given, Mapping) and given and all(isinstance(key, int) for key in given):
            for number, entry in given.items():
                if not 0 <= number < len(self.labels):
                    raise UsageError(2, f"{what} name argument {number}, but there are {len(self.labels)}")
                self.spread(what, entry, number, cuts, self.labels[number])
        elif isinstance(given, Mapping) and self.names:
            for name, entry in given.items():
                self._resolve_name(what, name, entry, cuts)
        elif is_leaf(given):
            self.spread(what, given, self.tree, cuts, "")
        elif isinstance(given, Iterable) and self.names:
            entries = list(given)
            positional = self.tree[0]
            if len(entries) != len(positional):
                names = ", ".join(self.names)
                example = self.labels[-1] if self.labels else "x"
                raise UsageError(2, f"{what} has {len(entries)} entries for {len(positional)} arguments ({names}); "
                                    "give one for each argument (None: as the model says), or a dict by name "
                                    f"({{{example!r}: ...}}) or by flat number ({{0: ...}})")
            for entry, subtree, name in zip(entries, positional, self.names):
                self.spread(what, entry, subtree, cuts, name)
        else:
            self.spread(what, given, self.tree, cuts, "")
        return cuts

    def _resolve_name(self, what: str, name: Any, entry: Any, cuts: Cuts) -> None:
        if name in self.names:
            self.spread(what, entry, self.tree[0][self.names.index(name)], cuts, name)
        elif len(self.tree) > 1 and name in self.tree[1]:
            self.spread(what, entry, self.tree[1][name], cuts, name)
        elif name in self.labels:
            self.spread(what, entry, self.labels.index(name), cuts, name)
        else:
            known = ", ".join(dict.fromkeys([*self.names, *(self.tree[1] if len(self.tree) > 1 else ())]))
            raise UsageError(2, f"{what}: there is no argument {name!r}; there are {known or 'none'}")


def _leaves(subtree: Any) -> list[int]:
    if subtree is None:
        return []
    if isinstance(subtree, int):
        return [subtree]
    if isinstance(subtree, Mapping):
        return [leaf for part in subtree.values() for leaf in _leaves(part)]
    if isinstance(subtree, (tuple, list)):
        return [leaf for part in subtree for leaf in _leaves(part)]
    import jax

    leaves: list[int] = jax.tree.leaves(subtree)
    return leaves
