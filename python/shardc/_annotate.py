"""Shardings written into a program's text, as ``sdy`` spells them."""

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence

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


Shardings = Mapping[int, Split | Iterable[Split] | None] | Sequence[Split | Iterable[Split] | None]


def splits_of(shardings: Shardings | None) -> dict[int, list[Split]]:
    """The cuts of every argument that has one, by its number."""
    items = shardings.items() if isinstance(shardings, Mapping) else enumerate(shardings or ())
    cuts = {}
    for number, value in items:
        if value is not None:
            cuts[number] = [value] if isinstance(value, Split) else list(value)
    return {number: list_ for number, list_ in cuts.items() if list_}


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
    raise ValueError("the argument list of @main does not end")


def annotate(text: str, mesh: Mapping[str, int] | None, cuts: Mapping[int, Sequence[Split]]) -> str:
    """Write ``cuts`` into the signature of @main, and a mesh where the text has none.

    Raises: ValueError where the text has no @main, or fewer arguments or dims than ``cuts`` names.
    """
    # JAX prints meshes without axes as well, which cut nothing.
    found = re.search(r"sdy\.mesh @(\w+|\"[^\"]*\") = <\[\s*\"", text)
    if not found and not mesh:
        if cuts:
            raise ValueError("in_shardings name mesh axes, but the program has no mesh; give mesh={...}")
        return text
    name = found.group(1) if found else "mesh" if "@mesh " not in text else "shardc_mesh"
    if cuts:
        main = re.search(r"func\.func (?:public )?@main\(", text)
        if not main:
            raise ValueError("the program has no function @main in textual form")
        parts, _ = _parts(text, main.end())
        # Of ordered effects, or the number of a platform: no arguments of the model.
        foreign = ("!stablehlo.token", PLATFORM_INDEX)
        parts = [(begin, end) for begin, end in parts if not any(mark in text[begin:end] for mark in foreign)]
        for number in sorted(cuts, reverse=True):
            if not 0 <= number < len(parts):
                raise ValueError(f"in_shardings name argument {number}, but @main takes {len(parts)}")
            begin, end = parts[number]
            text = text[:begin] + _with_sharding(text[begin:end], name, number, cuts[number]) + text[end:]
    if found:
        return text
    axes = ", ".join(f'"{axis}"={size}' for axis, size in (mesh or {}).items())
    line = f"\n  sdy.mesh @{name} = <[{axes}]>"
    head = re.search(r"^module\b.*\{[ \t]*(?:loc\(.*\))?$", text, re.MULTILINE)
    if head:
        return text[: head.end()] + line + text[head.end() :]
    return line.strip() + "\n" + text


def _with_sharding(argument: str, mesh: str, number: int, cuts: Sequence[Split]) -> str:
    """``%arg0: tensor<8x4xf32> {…}`` with a sharding in place of the one it may have."""
    tensor = re.search(r"tensor<((?:[^<>]|<[^<>]*>)*)>", argument)
    if not tensor:
        raise ValueError(f"argument {number} of @main is no tensor: {argument.strip()}")
    rank = len(re.findall(r"(?:\d+|\?)x", tensor.group(1)))
    dims: list[list[str]] = [[] for _ in range(rank)]
    for cut in cuts:
        if cut.dim >= rank:
            raise ValueError(f"argument {number} of @main has {rank} dims, but dim {cut.dim} is to be split")
        dims[cut.dim].append(f'"{cut.axis}"')
    listed = ", ".join("{" + ", ".join(axes) + "}" for axes in dims)
    sharding = f"sdy.sharding = #sdy.sharding<@{mesh}, [{listed}]>"
    argument = re.sub(r"sdy\.sharding = #sdy\.sharding<@\S+, \[[^\]]*\][^>]*>(, )?", "", argument)
    at = argument.find("{", tensor.end())
    if at < 0:
        return argument[: tensor.end()] + " {" + sharding + "}" + argument[tensor.end() :]
    empty = argument[at + 1 :].lstrip().startswith("}")
    return argument[: at + 1] + sharding + ("" if empty else ", ") + argument[at + 1 :]
