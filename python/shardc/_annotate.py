"""Shardings written into a program's text, as ``sdy`` spells them."""

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence

from shardc._errors import UsageError

PLATFORM_INDEX = 'jax.global_constant = "_platform_index"'
"""How JAX marks an argument of @main that is the number of a platform, and none of the model's."""

OPEN = "?"
"""In the place of an axis: the compiler may cut the dim as it likes."""


@dataclasses.dataclass(frozen=True)
class Split:
    """A dim of an argument that is cut along a mesh axis."""

    dim: int
    axis: str
    sizes: tuple[int, ...] | None = None
    order: str | None = None


def split(dim: int, axis: str, sizes: Sequence[int] | None = None, order: str | None = None) -> Split:
    """Cut ``dim`` along ``axis``: in equal or balanced shards, or in shards of these ``sizes``.

    With ``order="zigzag"`` the program has the dim in blocks from both ends, as far as it can be: of n ranks number i
    computes the i-th part from the front and the i-th from the end, which is even work under a causal mask. Arrays are
    given and returned in order all the same. Without an order the compiler decides.

    Raises: ValueError if ``dim`` or a size is negative, or ``order`` is another word.
    """
    if dim < 0 or any(size < 0 for size in sizes or ()):
        raise ValueError(f"split({dim}, {axis!r}, {sizes}): neither dim nor sizes may be negative")
    if order not in (None, "zigzag"):
        raise ValueError(f'split({dim}, {axis!r}): order is {order!r}, expected "zigzag" or None')
    return Split(dim, axis, None if sizes is None else tuple(sizes), order)


_OPEN, _CLOSE = "([{<", ")]}>"


def _parts(text: str, start: int) -> tuple[list[tuple[int, int]], int]:
    """Where the comma-separated parts of a bracketed list lie; ``start`` is after its bracket.

    Returns: the parts, and the index of the closing bracket. Strings and arrows are stepped over.
    """
    parts, depth, begin, at = [], 0, start, start
    while at < len(text):
        char = text[at]
        if char == '"':
            at += 1
            while text[at] != '"':
                at += 2 if text[at] == "\\" else 1
        elif text.startswith("->", at):
            at += 1
        elif char in _OPEN:
            depth += 1
        elif char in _CLOSE and depth:
            depth -= 1
        elif char in ",)" and not depth:
            if text[begin:at].strip():
                parts.append((begin, at))
            begin = at + 1
            if char == ")":
                return parts, at
        at += 1
    raise UsageError(2, "the argument list of @main does not end")


def _model_parts(text: str, start: int) -> tuple[list[tuple[int, int]], int]:
    """_parts() without those of ordered effects and the number of a platform: they are none of the model's."""
    foreign = ("!stablehlo.token", PLATFORM_INDEX)
    parts, end = _parts(text, start)
    return [(begin, end) for begin, end in parts if not any(mark in text[begin:end] for mark in foreign)], end


def donated_arguments(text: str) -> list[bool]:
    """Which arguments of @main a program declares to be given up; none where the text has no @main."""
    main = _MAIN.search(text)
    if main is None:
        return []
    marks = ("tf.aliasing_output", "jax.buffer_donor = true")
    return [any(mark in text[begin:end] for mark in marks) for begin, end in _model_parts(text, main.end())[0]]


_MAIN = re.compile(r"func\.func (?:public )?@main\(")
_MESH = re.compile(r'sdy\.mesh @(\w+|"[^"]*") = <\[(\s*"[^\]]*)\][^>]*>(?: \{stablehlo\.mesh = [^\n]*?\]\}\})?')


def mesh_in(text: str) -> dict[str, int]:
    """The mesh of a program: axes and sizes; none where it has none."""
    found = _MESH.search(text)
    return {axis: int(size) for axis, size in re.findall(r'"([^"]*)"=(\d+)', found.group(2))} if found else {}


def annotate(text: str, mesh: Mapping[str, int] | None, cuts: Mapping[int, Sequence[Split]],
             out_cuts: Mapping[int, Sequence[Split]] | None = None) -> str:
    """Write cuts of arguments and results into the signature of @main, and a mesh where the text has none.

    A mesh of a single device, as JAX has it without more of them, gets the axes of ``mesh`` beside its own.

    Raises: UsageError where the text has no @main, or fewer arguments, results or dims than are named, or no such axis.
    """
    # JAX prints meshes without axes as well, which cut nothing.
    found = _MESH.search(text)
    if not found and not mesh:
        if cuts or out_cuts:
            raise UsageError(2, "shardings name mesh axes, but the program has no mesh; give mesh={...}")
        return text
    name = found.group(1) if found else "mesh" if "@mesh " not in text else "shardc_mesh"
    axes = mesh_in(text)
    if found and mesh and math.prod(axes.values()) == 1 and not mesh.keys() <= axes.keys():
        axes = {**axes, **mesh}
        text = text[: found.start()] + f"sdy.mesh @{name} = <[{_axes(axes)}]>" + text[found.end() :]
    axes |= mesh or {}
    for cut in (cut for list_ in [*cuts.values(), *(out_cuts or {}).values()] for cut in list_):
        if cut.axis not in axes and cut.axis != OPEN:
            raise UsageError(2, f"dim {cut.dim} is to be split along {cut.axis!r}, but the mesh has the axes "
                                f"{', '.join(map(repr, axes)) or 'none'}")
    if cuts or out_cuts:
        text = _with_shardings(text, name, cuts, out_cuts or {})
    if found:
        return text
    line = f"\n  sdy.mesh @{name} = <[{_axes(mesh or {})}]>"
    head = re.search(r"^module\b.*\{[ \t]*(?:loc\(.*\))?$", text, re.MULTILINE)
    if head:
        return text[: head.end()] + line + text[head.end() :]
    return line.strip() + "\n" + text


def _axes(mesh: Mapping[str, int]) -> str:
    return ", ".join(f'"{axis}"={size}' for axis, size in mesh.items())


def _with_shardings(text: str, mesh: str, cuts: Mapping[int, Sequence[Split]],
                    out_cuts: Mapping[int, Sequence[Split]]) -> str:
    main = _MAIN.search(text)
    if not main:
        raise UsageError(2, "the program has no function @main in textual form")
    parts, end = _model_parts(text, main.end())
    if out_cuts:
        # Behind the arguments, so first.
        arrow = re.compile(r"\s*->\s*").match(text, end + 1)
        if arrow is None:
            raise UsageError(2, "out_shardings: @main has no results")
        if text[arrow.end()] == "(":
            text = _written(text, mesh, _model_parts(text, arrow.end() + 1)[0], out_cuts, "out_shardings", "result")
        else:
            tensor = re.compile(r"tensor<(?:[^<>]|<[^<>]*>)*>").match(text, arrow.end())
            if tensor is None or any(number != 0 for number in out_cuts):
                raise UsageError(2, "out_shardings: @main has one result")
            result = _with_sharding(tensor.group(), mesh, "result", 0, out_cuts[0])
            text = f"{text[: tensor.start()]}({result}){text[tensor.end() :]}"
    return _written(text, mesh, parts, cuts, "in_shardings", "argument")


def _written(text: str, mesh: str, parts: list[tuple[int, int]], cuts: Mapping[int, Sequence[Split]], what: str,
             kind: str) -> str:
    for number in sorted(cuts, reverse=True):
        if not 0 <= number < len(parts):
            raise UsageError(2, f"{what} name {kind} {number}, but @main has {len(parts)}")
        begin, end = parts[number]
        text = text[:begin] + _with_sharding(text[begin:end], mesh, kind, number, cuts[number]) + text[end:]
    return text


def _with_sharding(argument: str, mesh: str, kind: str, number: int, cuts: Sequence[Split]) -> str:
    """``%arg0: tensor<8x4xf32> {…}`` with a sharding in place of the one it may have."""
    tensor = re.search(r"tensor<((?:[^<>]|<[^<>]*>)*)>", argument)
    if not tensor:
        raise UsageError(2, f"{kind} {number} of @main is no tensor: {argument.strip()}")
    rank = len(re.findall(r"(?:\d+|\?)x", tensor.group(1)))
    dims: list[list[str]] = [[] for _ in range(rank)]
    for cut in cuts:
        if cut.dim >= rank:
            raise UsageError(2, f"{kind} {number} of @main has {rank} dims, but dim {cut.dim} is to be split")
        dims[cut.dim].append(OPEN if cut.axis == OPEN else f'"{cut.axis}"')
    listed = ", ".join("{" + ", ".join(axes) + "}" for axes in dims)
    sharding = f"sdy.sharding = #sdy.sharding<@{mesh}, [{listed}]>"
    argument = re.sub(r"sdy\.sharding = #sdy\.sharding<@\S+, \[[^\]]*\][^>]*>(, )?", "", argument)
    argument = re.sub(r'mhlo\.sharding = "[^"]*"(, )?', "", argument)
    at = argument.find("{", tensor.end())
    if at < 0:
        return argument[: tensor.end()] + " {" + sharding + "}" + argument[tensor.end() :]
    empty = argument[at + 1 :].lstrip().startswith("}")
    return argument[: at + 1] + sharding + ("" if empty else ", ") + argument[at + 1 :]
