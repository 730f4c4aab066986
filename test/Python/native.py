"""Write a C file that compiles only if shardc._native declares what the header does; with --load, call the library."""

import ctypes
import re
import sys
from pathlib import Path

from shardc import _native

C_TYPES = {ctypes.c_int: ("int", "shardc_element_type"), ctypes.c_int64: ("int64_t",), ctypes.c_size_t: ("size_t",),
           ctypes.c_bool: ("bool",), ctypes.c_double: ("double",), None: ("void",)}


def declared(header: str) -> dict[str, tuple[str, list[str]]]:
    """Functions of the header: what they return and take, as C spells it, without names."""
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    # A function that is spelt out instead of named by a typedef.
    header = re.sub(r"\w+ \(\*\w+\)\([^()]*\)", "spelt_out_fn", header)
    found = {}
    for result, name, arguments in re.findall(r"SHARDC_EXPORT\s+([\w\s*]+?)\s*(\bshardc_\w+)\(([^)]*)\);", header):
        types = []
        for argument in arguments.split(",") if arguments.strip() != "void" else []:
            argument = " ".join(argument.split())
            # A name is what follows a type; "shardc_memory_stats *" has none.
            kind = re.fullmatch(r"(.*?[\s*])(\w+)", argument)
            last_is_type = kind is not None and (argument.endswith("_t") or kind.group(1).strip() in ("", "const"))
            types.append(argument if kind is None or last_is_type else kind.group(1).strip())
        found[name] = (" ".join(result.split()), types)
    return found


def agrees(mine: object, theirs: str) -> bool:
    if mine in C_TYPES:
        return theirs in C_TYPES[mine]
    if mine is ctypes.c_char_p:
        return theirs in ("const char *", "const void *")
    if isinstance(mine, type) and issubclass(mine, ctypes._Pointer):
        struct = {kind: name for name, kind in _native.STRUCTS.items()}.get(mine._type_, "int64_t")
        return theirs.removeprefix("const ") == f"{struct} *"
    # Functions have typedefs; all else are handles and places for them.
    return "*" in theirs or theirs.endswith("_fn")


def main() -> None:
    header = Path(sys.argv[1]).read_text()
    found = declared(header)
    assert len(found) > 50, found
    assert sorted(found) == sorted(_native.FUNCTIONS), set(found) ^ set(_native.FUNCTIONS)
    for name, (result, types) in found.items():
        mine, arguments = _native.FUNCTIONS[name]
        assert agrees(mine, result), (name, mine, result)
        assert len(arguments) == len(types), (name, arguments, types)
        for one, other in zip(arguments, types):
            assert agrees(one, other), (name, one, other)
    print('#include "shardc-c/shardc.h"')
    structs = set(re.findall(r"typedef struct (\w+) \{", header))
    assert structs == set(_native.STRUCTS), structs ^ set(_native.STRUCTS)
    for name, struct in _native.STRUCTS.items():
        print(f'_Static_assert(sizeof({name}) == {ctypes.sizeof(struct)}, "");')
        for field, kind in struct._fields_:
            place = getattr(struct, field)
            print(f'_Static_assert(__builtin_offsetof({name}, {field}) == {place.offset}, "");')
            print(f'_Static_assert(sizeof((({name} *)0)->{field}) == {ctypes.sizeof(kind)}, "");')
    print(f'_Static_assert(SHARDC_API_VERSION >= {_native.API_VERSION}, "");')
    print(f'_Static_assert(SHARDC_COPY == {_native.COPY} && SHARDC_BORROW == {_native.BORROW}, "");')
    for kind, name in ((_native.HOST_FN, "host"), (_native.EVENT_FN, "event"), (_native.RELEASED_FN, "released")):
        assert kind._restype_ is (ctypes.c_int if name == "host" else None)


def load() -> None:
    library = _native.library()
    for name in _native.FUNCTIONS:
        getattr(library, name.removeprefix("shardc_"))
    assert library.api_version() >= _native.API_VERSION
    root = Path(__file__).resolve().parents[2]
    assert library.version().decode() == (root / "VERSION").read_text().split()[0]


if sys.argv[1] == "--load":
    load()
else:
    main()
