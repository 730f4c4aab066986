"""How an array lies over the ranks of a mesh: which box of it each of them holds."""

import dataclasses
import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shardc._annotate import Split
from shardc._errors import UsageError
from shardc._types import DType

Box = tuple[tuple[int, int], ...]
"""Half-open intervals of global indices, one for each dim."""


def balanced(size: int, shards: int) -> tuple[int, ...]:
    """The boundaries of ``shards`` balanced shards: the first ``size % shards`` hold one element more."""
    each, more = divmod(size, shards)
    return tuple(number * each + min(number, more) for number in range(shards + 1))


@dataclasses.dataclass(frozen=True)
class Dim:
    """One dim of an array: over which mesh axes it is cut, major to minor, and where."""

    axes: tuple[str, ...]
    boundaries: tuple[int, ...]
    """One more than there are shards: 0, ascending, its size last."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of the shards."""
        return tuple(end - begin for begin, end in zip(self.boundaries, self.boundaries[1:]))


@dataclasses.dataclass(frozen=True)
class Sharding:
    """The mesh (axes and sizes, major to minor) and the dims of an array.

    Rank r has the row-major coordinates of r. Axes that cut no dim hold copies. Two are equal if they say the
    same; arrays move only where ranks hold other boxes.
    """

    mesh: tuple[tuple[str, int], ...]
    dims: tuple[Dim, ...]

    @staticmethod
    def of(shape: Sequence[int], mesh: Mapping[str, int], cuts: Iterable[Split] = ()) -> "Sharding":
        """Cut an array of ``shape`` as ``split()`` says; other dims are whole.

        Raises: UsageError for dims, axes and sizes that are not the array's or the mesh's.
        """
        axes: list[list[str]] = [[] for _ in shape]
        sizes: list[tuple[int, ...] | None] = [None] * len(shape)
        for cut in cuts:
            if cut.dim >= len(shape):
                raise UsageError(2, f"dim {cut.dim} is to be split, but the array has {len(shape)} dims")
            if cut.axis not in mesh:
                raise UsageError(2, f"dim {cut.dim} is to be split along {cut.axis!r}, but the mesh has the axes "
                                    f"{', '.join(map(repr, mesh)) or 'none'}")
            if any(cut.axis in taken for taken in axes):
                raise UsageError(2, f"axis {cut.axis!r} is to split more than one dim, or one dim twice")
            axes[cut.dim].append(cut.axis)
            sizes[cut.dim] = cut.sizes or sizes[cut.dim]
        dims = []
        for number, (size, names, given) in enumerate(zip(shape, axes, sizes)):
            shards = math.prod(mesh[name] for name in names)
            if given is None:
                boundaries = balanced(size, shards)
            elif len(given) != shards or sum(given) != size:
                raise UsageError(2, f"dim {number} of {size} elements is to be split into sizes {list(given)}, which "
                                    f"are {len(given)} and add up to {sum(given)}; expected {shards} that add up to "
                                    f"{size}")
            else:
                boundaries = tuple(sum(given[:count]) for count in range(shards + 1))
            dims.append(Dim(tuple(names), boundaries))
        return Sharding(tuple(mesh.items()), tuple(dims))

    @staticmethod
    def of_metadata(mesh: Sequence[Mapping[str, Any]], value: Mapping[str, Any]) -> "Sharding":
        """How a program's metadata describe an argument or result (docs/Reference/artifact.md)."""
        names = [axis["name"] for axis in mesh]
        dims = [Dim(tuple(names[axis] for axis in dim["axes"]), tuple(dim["boundaries"])) for dim in value["dims"]]
        return Sharding(tuple((axis["name"], axis["size"]) for axis in mesh), tuple(dims))

    @functools.cached_property
    def shape(self) -> tuple[int, ...]:
        """Of the whole array."""
        return tuple(dim.boundaries[-1] for dim in self.dims)

    @functools.cached_property
    def num_ranks(self) -> int:
        """Of the mesh."""
        return math.prod(size for _, size in self.mesh)

    @functools.cached_property
    def boxes(self) -> tuple[Box, ...]:
        """What each rank holds."""
        return tuple(self._box(rank) for rank in range(self.num_ranks))

    def coordinate(self, rank: int, axes: Iterable[str]) -> int:
        """The coordinate of a rank along some axes, of which the first is major."""
        places = {}
        for name, size in reversed(self.mesh):
            rank, places[name] = divmod(rank, size)
        sizes = dict(self.mesh)
        result = 0
        for name in axes:
            result = result * sizes[name] + places[name]
        return result

    def _box(self, rank: int) -> Box:
        box = []
        for dim in self.dims:
            shard = self.coordinate(rank, dim.axes)
            box.append((dim.boundaries[shard], dim.boundaries[shard + 1]))
        return tuple(box)

    def __repr__(self) -> str:
        mesh = ", ".join(f"{name}={size}" for name, size in self.mesh)
        return f"Sharding({mesh}: {describe_dims(self.dims)})"


def describe_dims(dims: Iterable[Dim]) -> str:
    """``[x 3|3|2|2, :]``: the axes and sizes of each dim, ``:`` for one that is whole."""
    return f"[{', '.join(describe_dim(dim.axes, dim.sizes) for dim in dims)}]"


def describe_dim(axes: Sequence[str], sizes: Sequence[object]) -> str:
    """``x 3|3|2|2``, or ``:`` of a dim that is whole."""
    shown = "|".join(map(str, sizes[:8])) + ("|…" if len(sizes) > 8 else "")
    return f"{','.join(axes)} {shown}" if axes else ":"


def whole(shape: Sequence[int]) -> Box:
    """The box of all elements."""
    return tuple((0, size) for size in shape)


_SMALL_BYTES = 1 << 14


class Layout:
    """Engine, shape, type and boxes: what has to agree so that shards can be used as they are.

    There is one object for equal ones, as long as somebody holds it: ``Engine.layout_of`` gives it.
    """

    __slots__ = ("__weakref__", "boxes", "dtype", "is_small", "is_whole", "shape")

    shape: tuple[int, ...]
    dtype: DType
    boxes: tuple[Box, ...]
    is_whole: bool
    is_small: bool

    def __init__(self, shape: tuple[int, ...], dtype: DType, boxes: tuple[Box, ...]) -> None:
        self.shape, self.dtype, self.boxes = shape, dtype, boxes
        self.is_whole = whole(shape) in boxes
        self.is_small = math.prod(shape) * dtype.itemsize <= _SMALL_BYTES
