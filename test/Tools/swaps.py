"""Damage programs so that they still look like programs: what changes one token dies in the parser, what changes all that go
with it reaches the stages behind.

``Swaps`` reads programs once and keeps what they are made of; ``mutate`` changes one to three things of one: a type or a size
everywhere, an operand for another of its type, an op for one of its form, an attribute for one of its name from any program,
shardings and meshes, numbers in brackets, lines that are doubled or taken away with what used them, regions of other
programs.
"""

import bisect
import random
import re
from collections import defaultdict
from collections.abc import Callable

TYPE = re.compile(rb"tensor<[^<>\s]*(?:<[^<>\s]*>[^<>\s]*)*>")
DEFINITION = re.compile(rb"^[ \t]*(%\w+)(?::\d+)? = .*$", re.MULTILINE)
ARGUMENT = re.compile(rb"(%\w+): (tensor<[^<>\s]*(?:<[^<>\s]*>[^<>\s]*)*>)")
USE = re.compile(rb"%\w+(?:#\d+)?(?![\w#]| = |:)")
ELEMENT = re.compile(rb"(?<=[x<])(?:f16|bf16|f32|f64|i1|i4|i8|i16|i32|i64|ui8|ui16|ui32|ui64|complex<f32>|complex<f64>|f8E4M3FN|f8E5M2)(?=>)")
EXTENT = re.compile(rb"(?<=[<x])\d+(?=x)")
OP = re.compile(rb'"?\b(?:stablehlo|chlo|sdy|mhlo|check|func|spmd|pairs)\.\w+"?')
ATTRIBUTE = re.compile(rb"(?<![%@#\w])([a-z_]\w*) = (\[[^\[\]\n]*\]|#?\w[\w.]*<[^<>\n]*>|-?\d[\w.]*(?: : \w+)?|true|false|\"[^\"\n]*\"|array<[^<>\n]*>)")
SHARDING = re.compile(rb"#sdy\.sharding<@\w+, \[(?:[^\[\]\n])*\][^<>\n]*>")
DIMS = re.compile(rb"\{[^{}\n]*\}(?:p\d+)?")
AXIS = re.compile(rb'("\w+"=)(\d+)')
BRACKETS = re.compile(rb"\[[\d,: x-]*\d[\d,: x-]*\]")
NUMBER = re.compile(rb"-?\d+")
FUNCTION = re.compile(rb"^  func\.func private (@\w+).*?^  }", re.MULTILINE | re.DOTALL)
REGION = re.compile(rb"\(\{\n.*?\n[ \t]*\}\)", re.DOTALL)
PREDICATE = re.compile(rb"\b(?:EQ|NE|LT|LE|GT|GE)\b")

FLOATS = [b"f16", b"bf16", b"f32", b"f64", b"f8E4M3FN", b"f8E5M2"]
OTHERS = [b"i1", b"i4", b"i8", b"i16", b"i32", b"i64", b"ui8", b"ui16", b"ui32", b"ui64", b"complex<f32>", b"complex<f64>"]
BINARY = b"add subtract multiply divide maximum minimum power remainder atan2 and or xor shift_left shift_right_logical".split()
UNARY = (b"abs negate exponential log sqrt rsqrt cbrt tanh logistic sine cosine tan floor ceil sign not popcnt is_finite "
         b"exponential_minus_one log_plus_one round_nearest_even round_nearest_afz count_leading_zeros real imag").split()
EXTREMES = [b"0", b"1", b"2", b"-1", b"3", b"1024", b"65537", b"2147483647", b"2147483648", b"4294967296", b"9223372036854775807", b"-9223372036854775808"]


class Program:
    """A text and, made when they are first asked for, the places in it."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.places: dict[re.Pattern[bytes], list[re.Match[bytes]]] = {}

    def find(self, pattern: re.Pattern[bytes]) -> list[re.Match[bytes]]:
        if pattern not in self.places:
            self.places[pattern] = list(pattern.finditer(self.text))
        return self.places[pattern]

    def replace(self, match: re.Match[bytes], by: bytes, group: int = 0) -> "Program":
        begin, end = match.span(group)
        return Program(self.text[:begin] + by + self.text[end:])

    def typed(self) -> list[tuple[int, bytes, bytes]]:
        """Where values are defined, their names and types, as far as a line shows them."""
        found = [(m.start(), m.group(1), m.group(2)) for m in self.find(ARGUMENT)]
        for line in self.find(DEFINITION):
            types = TYPE.findall(line.group())
            if types and b":" not in line.group(1):
                found.append((line.start(), line.group(1), types[-1]))
        return sorted(found)

    def line_of(self, at: int) -> tuple[int, int]:
        begin = self.text.rfind(b"\n", 0, at) + 1
        end = self.text.find(b"\n", at)
        return begin, len(self.text) if end < 0 else end


class Swaps:
    """``programs`` are what is put together anew."""

    def __init__(self, programs: list[bytes]) -> None:
        attributes: dict[bytes, set[bytes]] = defaultdict(set)
        self.shardings: list[bytes] = []
        self.functions: list[bytes] = []
        self.regions: list[bytes] = []
        self.types: list[bytes] = []
        for text in programs:
            for match in ATTRIBUTE.finditer(text):
                attributes[match.group(1)].add(match.group(2))
            self.shardings += SHARDING.findall(text)
            self.functions += [match.group() for match in FUNCTION.finditer(text)]
            self.regions += [match.group() for match in REGION.finditer(text) if len(match.group()) < 2000]
            self.types += set(TYPE.findall(text))
        self.attributes = {name: sorted(values) for name, values in attributes.items()}
        self.changes: list[Callable[[random.Random, Program], Program | None]] = [
            self.retype, self.resize, self.resize, self.operand, self.operand, self.operation, self.operation, self.attribute,
            self.attribute, self.sharding, self.sharding, self.mesh, self.brackets, self.brackets, self.double, self.delete,
            self.splice, self.one_type, self.predicate]

    def mutate(self, rng: random.Random, program: Program) -> bytes:
        """One to three changes; those that find nothing to change are drawn again."""
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            for _ in range(8):
                changed = rng.choice(self.changes)(rng, program)
                if changed is not None and changed.text != program.text:
                    program = changed
                    break
        return program.text

    def retype(self, rng: random.Random, program: Program) -> Program | None:
        """Another element type, everywhere."""
        found = program.find(ELEMENT)
        if not found:
            return None
        old = rng.choice(found).group()
        new = rng.choice(FLOATS if old in FLOATS and rng.random() < 0.8 else FLOATS + OTHERS)
        return Program(re.sub(rb"(?<=[x<])" + re.escape(old) + rb"(?=>)", new, program.text))

    def resize(self, rng: random.Random, program: Program) -> Program | None:
        """Another extent, everywhere."""
        found = program.find(EXTENT)
        if not found:
            return None
        old = rng.choice(found).group()
        number = int(old)
        near = [number - 1, number + 1, number * 2, number // 2, 1, 0, 2, 3, 7, 13]
        new = rng.choice([*EXTREMES, b"?"]) if rng.random() < 0.1 else b"%d" % max(0, rng.choice(near))
        pattern = rb"(?<=[<x])" + old + rb"(?=x)"
        if rng.random() < 0.5:  # slices, shapes in attributes, and the like
            pattern = rb"(?<![\w.%#])" + old + rb"(?![\w.])|" + pattern
        return Program(re.sub(pattern, new, program.text))

    def operand(self, rng: random.Random, program: Program) -> Program | None:
        """Another value of the same type, defined before."""
        values = program.typed()
        uses = program.find(USE)
        if not values or not uses:
            return None
        use = rng.choice(uses)
        before = values[: bisect.bisect_left(values, (use.start(),))]
        type_of = next((kind for _, name, kind in reversed(before) if name == use.group()), None)
        same = [name for _, name, kind in before[-60:] if kind == type_of and name != use.group()]
        return program.replace(use, rng.choice(same)) if same else None

    def operation(self, rng: random.Random, program: Program) -> Program | None:
        """An op of the same form, or one from elsewhere in the program."""
        found = program.find(OP)
        if not found:
            return None
        match = rng.choice(found)
        quoted = match.group().startswith(b'"')
        name = match.group().strip(b'"').removeprefix(b"stablehlo.")
        for family in (BINARY, UNARY):
            if name in family and rng.random() < 0.9:
                new = b"stablehlo." + rng.choice(family)
                return program.replace(match, b'"%s"' % new if quoted else new)
        return program.replace(match, rng.choice(found).group()) if rng.random() < 0.2 else None

    def attribute(self, rng: random.Random, program: Program) -> Program | None:
        """A value of an attribute of the same name."""
        found = program.find(ATTRIBUTE)
        if not found:
            return None
        match = rng.choice(found)
        return program.replace(match, rng.choice(self.attributes.get(match.group(1), [b"0"])), 2)

    def sharding(self, rng: random.Random, program: Program) -> Program | None:
        """Dims of a sharding in another order, with other axes, or another's sharding."""
        found = program.find(SHARDING)
        if not found:
            return None
        match = rng.choice(found)
        text = match.group()
        kind = rng.randrange(4)
        mesh = text[text.index(b"@") : text.index(b",")]
        if kind == 0:
            return program.replace(match, rng.choice(found).group())
        if kind == 1:
            alike = [other for other in rng.sample(self.shardings, min(40, len(self.shardings))) if other.count(b"{") == text.count(b"{")]
            return program.replace(match, re.sub(rb"@\w+", mesh, rng.choice(alike), count=1)) if alike else None
        dims = DIMS.findall(text)
        axes = sorted(set(re.findall(rb'"\w+"(?::\(\d+\)\d+)?', b"".join(m.group() for m in found)))) or [b'"x"']
        if kind == 2 and len(dims) > 1:
            rng.shuffle(dims)
        elif dims:
            some = rng.sample(axes, rng.randint(0, min(2, len(axes))))
            extra = rng.choice([b"", b"", b"?", b":(1)2"])
            dims[rng.randrange(len(dims))] = b"{" + b", ".join(some) + (b", ?" if some and extra == b"?" else extra) + b"}"
        more = rng.choice([b"", b"", b"", b", replicated={%s}" % rng.choice(axes), b", unreduced={%s}" % rng.choice(axes)])
        return program.replace(match, b"#sdy.sharding<" + mesh + b", [" + b", ".join(dims) + b"]" + more + b">")

    def mesh(self, rng: random.Random, program: Program) -> Program | None:
        """An axis of another size."""
        found = program.find(AXIS)
        return program.replace(rng.choice(found), rng.choice([b"1", b"2", b"3", b"4", b"5", b"7", b"8", b"0", b"16", b"63", rng.choice(EXTREMES)]), 2) if found else None

    def brackets(self, rng: random.Random, program: Program) -> Program | None:
        """A number in brackets: dims, slices, windows, padding."""
        found = program.find(BRACKETS)
        if not found:
            return None
        match = rng.choice(found)
        numbers = list(NUMBER.finditer(match.group()))
        number = rng.choice(numbers)
        value = int(number.group())
        new = rng.choice([b"%d" % (value + rng.choice([1, -1, 2])), rng.choice(numbers).group(), b"%d" % -value, rng.choice(EXTREMES) if rng.random() < 0.3 else b"0"])
        inside = match.group()
        if rng.random() < 0.1:
            inside = rng.choice(found).group()
        else:
            inside = inside[: number.start()] + new + inside[number.end() :]
        return program.replace(match, inside)

    def double(self, rng: random.Random, program: Program) -> Program | None:
        """A line twice, under two names, and one use of the second."""
        found = program.find(DEFINITION)
        if not found:
            return None
        line = rng.choice(found)
        name = line.group(1)
        again = b"%again_" + name[1:]
        copy = line.group().replace(name, again, 1)
        if copy.rstrip().endswith((b"{", b"(")):
            return None
        text = program.text[: line.end()] + b"\n" + copy + program.text[line.end() :]
        uses = [use for use in re.finditer(re.escape(name) + rb"(?![\w#])", text) if use.start() > line.end() + len(copy) + 1]
        if uses:
            use = rng.choice(uses[:6])
            text = text[: use.start()] + again + text[use.end() :]
        return Program(text)

    def delete(self, rng: random.Random, program: Program) -> Program | None:
        """A line away; what used its value uses another of that type."""
        found = program.find(DEFINITION)
        if not found:
            return None
        line = rng.choice(found)
        types = TYPE.findall(line.group())
        if not types or line.group().rstrip().endswith((b"{", b"(")):
            return None
        same = [name for at, name, kind in program.typed() if kind == types[-1] and at < line.start()][-20:]
        if not same:
            return None
        rest = re.sub(re.escape(line.group(1)) + rb"(?![\w#])", rng.choice(same), program.text[line.end() :])
        return Program(program.text[: line.start()] + rest.removeprefix(b"\n"))

    def splice(self, rng: random.Random, program: Program) -> Program | None:
        """A region, or a function, of another program."""
        regions = program.find(REGION)
        if regions and self.regions and rng.random() < 0.6:
            match = rng.choice(regions)
            # Names of its own; those from outside stay.
            region = rng.choice(self.regions)
            named = set(re.findall(rb"(%\w+): ", region)) | set(re.findall(rb"^[ \t]*(%\w+)(?::\d+)? = ", region, re.MULTILINE))
            return program.replace(match, re.sub(rb"%\w+", lambda name: b"%spliced_" + name.group()[1:] if name.group() in named else name.group(), region))
        functions = program.find(FUNCTION)
        if not functions or not self.functions:
            return None
        match = rng.choice(functions)
        function = re.sub(rb"@\w+", match.group(1), rng.choice(self.functions), count=1)
        return program.replace(match, function)

    def one_type(self, rng: random.Random, program: Program) -> Program | None:
        """One type for another of the program, or of any."""
        found = program.find(TYPE)
        return program.replace(rng.choice(found), rng.choice(self.types) if rng.random() < 0.3 else rng.choice(found).group()) if found else None

    def predicate(self, rng: random.Random, program: Program) -> Program | None:
        found = program.find(PREDICATE)
        return program.replace(rng.choice(found), rng.choice([b"EQ", b"NE", b"LT", b"LE", b"GT", b"GE"])) if found else None
