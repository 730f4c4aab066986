#!/usr/bin/env python3
"""Check that every file includes only what its room may include.

Reads cmake/layers.txt and the #include lines (also .td includes) under
include/shardc, lib, tools and runtime. Prints one line for each that crosses a
layer, and exits with 1 if there is any. Names of their own stand for the headers that
compiler and runtime share: `EntryPoints` for shardrt/EntryPoints.def, LineCall.h, MatrixCall.h and
Formulas.h, `Sites` for the table of communication sites and its types, `Emulated` for what
emulated kernels call, `TensorMap` for what kernels are told of tensors, `LibraryCall` for
what vendors' libraries are, `CommunicationKernels` for the kernels that the runtime launches.
NOT_SEEN are headers that a room must not know though it may include their folder.

Attributes that one room leaves for another are declared by their dialect (OWN_DIALECTS): a
string such as "spmd.…" outside the dialect's folders is one that nobody verifies, and is refused. Each
that ODS declares has an accessor in the dialect's contracts, and a row in its verifier. Other
names by which an attribute is read or written outside of lib/Dialect are those of arguments
that ODS declares of ops, those of FOREIGN, and marks that one room sets and reads itself.

Libraries hold no code for tests: nothing of GoogleTest or of test/, and no place where a mistake
is planted. Tests plant between passes, from outside (test/lib/PlantAfter.h).

Python has no layers, but no cycles either: no module under scripts or python imports, at its top,
in a function or for types alone, one that imports it.

Also checks docs/Rationale/Rooms.md: an entry with four labels for each room, for each
folder of FOLDERS a row, and no entry for a room that is not there.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#?\s*include\s+["<]([^">]+)[">]')
SUFFIXES = {".h", ".hpp", ".c", ".cpp", ".td", ".def"}
SHARED_WITH_RUNTIME = {
    "shardrt/ElementType.h": "Sites",
    "shardrt/EntryPoints.def": "EntryPoints",
    "shardrt/Formulas.h": "EntryPoints",
    "shardrt/LineCall.h": "EntryPoints",
    "shardrt/MatrixCall.h": "EntryPoints",
    "shardrt/SiteFormat.h": "Sites",
    "shardrt/SiteRuns.h": "Sites",
    "shardrt/SiteWords.h": "Sites",
    "shardrt/Sites.h": "Sites",
    "shardrt/CommunicationKernels.h": "CommunicationKernels",
    "shardrt/Emulated.h": "Emulated",
    "shardrt/LibraryCall.h": "LibraryCall",
    "shardrt/TensorMap.h": "TensorMap",
}


# Of a room that it may include otherwise: KernelGen makes the same code for every rank.
NOT_SEEN = {
    "KernelGen": {
        *(f"shardc/Dialect/Spmd/IR/Spmd{name}.h" for name in ("", "Contracts", "Global", "Orders", "Views")),
        *(f"shardc/Dialect/Local/IR/Local{name}.h" for name in ("Communication", "Contracts", "Tables")),
    },
}

ROOMS = "docs/Rationale/Rooms.md"
LABELS = ("*Knows*", "*Promises*", "*Must not*", "*Why a room*")
# What is in these folders has a row in a table of Rooms.md.
FOLDERS = ("lib/Dialect", "lib/KernelGen", "runtime/lib", "tools", "python")

# Our own dialects: the name that attributes begin with, and the folder's.
# Those of a level of a program have contracts that are compared with what they declare.
LEVELS = {"spmd": "Spmd", "local": "Local", "pairs": "Pairs", "kernel": "Kernel"}
OWN_DIALECTS = {**LEVELS, "machine": "Machine", "tune": "Tune"}
# What others than the dialects here attach, and why a program has it.
FOREIGN = {
    "indices_of_shape_operands": "JAX, on custom calls of open shapes",
    "error_message": "JAX, on shape assertions",
    "mhlo.": "XLA, on modules, functions and calls",
    "llvm.": "MLIR, for LLVM's functions and loops",
    "passthrough": "MLIR, for LLVM's functions",
    "map": "affine.apply",
    "fingerprint": "MergeEqualOps, which takes it away before it returns",
}
ATTRIBUTE = r"\b(?:get|set|has|remove)(?:Discardable|Inherent)?Attr(?:OfType<[^>]*>)?\(\s*"
NAMED = re.compile(ATTRIBUTE + r'"([\w.]+)"')
BY_CONSTANT = re.compile(ATTRIBUTE + r"(?:\w+::)*(k[A-Z]\w*)\s*[,)]")
CONSTANT = re.compile(r'\bconstexpr (?:llvm::)?StringLiteral (k[A-Z]\w*)\s*=\s*"([^"]*)"')
# What is no part of a library: a test's header, or a mistake that it plants.
FOR_TESTS = re.compile(r'#include ["<](?:gtest/|gmock/|(?:\.\./)*test/)|\b\w*[Pp]lant(?:ed|Fault|After)\w*\b')
LIBRARIES = (("include",), ("lib",), ("runtime", "lib"), ("runtime", "include"))
# Accessors of attributes that ODS declares.
ACCESSOR = re.compile(r"(?:Contract|Mark)<\s*\w+Dialect::(\w+?)AttrHelper>;")
DECLARED = re.compile(r"let discardableAttrs = \(ins(.*?)\);", re.DOTALL)


def read_layers(path: Path) -> dict[str, set[str]]:
    """Return what each room may include, itself among it.

    Raises: ValueError for a line that is not `room: names`, or a name that is
    neither a room nor `llvm`, `mlir`, nor one of SHARED_WITH_RUNTIME.
    """
    layers: dict[str, set[str]] = {}
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        line = line.split("#", 1)[0].strip()
        if not line:
            continue
        room, colon, names = line.partition(":")
        if not colon:
            raise ValueError(f"{path}:{number}: expected 'room: names', found '{line}'")
        layers[room.strip()] = {room.strip(), *names.split()}
    known = {*layers, *(room.rpartition("/")[2] for room in layers), "llvm", "mlir", *SHARED_WITH_RUNTIME.values()}
    for room, allowed in layers.items():
        if unknown := sorted(allowed - known):
            raise ValueError(f"{path}: room '{room}' names unknown rooms {', '.join(unknown)}")
    return layers


def room_of_file(path: Path) -> str:
    """Return the room of a file, given relative to the root."""
    top = path.parts[0]
    if top in ("tools", "runtime"):
        return top
    return path.parts[2] if top == "include" else path.parts[1]


def room_of_include(name: str) -> str | None:
    """Return the room that an include names; None for the standard library and siblings."""
    parts = name.split("/")
    if name in SHARED_WITH_RUNTIME:
        return SHARED_WITH_RUNTIME[name]
    if parts[0] == "shardc" and len(parts) > 2:
        return parts[1]
    if parts[0] == "shardrt":
        return "runtime"
    if parts[0] in ("llvm", "llvm-c"):
        return "llvm"
    if parts[0] in ("mlir", "mlir-c"):
        return "mlir"
    return None


def find_tests(relative: Path, lines: list[str]) -> list[str]:
    """Lines of a library's file that are there for tests alone."""
    if not any(relative.parts[: len(top)] == top for top in LIBRARIES):
        return []
    return [
        f"{relative}:{number}: '{match.group(0)}' is for tests alone: it belongs in test/lib"
        for number, line in enumerate(lines, start=1)
        if (match := FOR_TESTS.search(line.split("//", 1)[0]))
    ]


def check_runtime(texts: dict[Path, str], layers: dict[str, set[str]]) -> list[str]:
    """Includes between folders of runtime/lib that their lines in cmake/layers.txt do not allow.

    A folder includes those before it alone, so that no two are one.
    """
    before: set[str] = set()
    problems = []
    for room, allowed in layers.items():
        if not room.startswith("runtime/"):
            continue
        folder = room.removeprefix("runtime/")
        for name in sorted(allowed - before - {room}):
            problems.append(f"cmake/layers.txt: '{room}' includes '{name}', which stands behind it")
        before.add(folder)
    for path, text in texts.items():
        if path.parts[:2] != ("runtime", "lib"):
            continue
        folder = path.parts[2]
        if f"runtime/{folder}" not in layers:
            problems.append(f"{path}: folder '{folder}' of the runtime is not in cmake/layers.txt")
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            match = INCLUDE.match(line)
            name = match.group(1) if match else ""
            target = name.partition("/")[0]
            if f"runtime/{target}" in layers and target != folder and target not in layers[f"runtime/{folder}"]:
                problems.append(
                    f"{path}:{number}: the runtime's '{folder}' includes '{name}' of '{target}', "
                    "which cmake/layers.txt does not allow"
                )
    return problems


def check_rooms(root: Path, rooms: set[str]) -> list[str]:
    """What is wrong with the page of rooms."""
    text = (root / ROOMS).read_text()
    entries = dict(re.findall(r"^### (\S+)\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL))
    problems = [
        f"{ROOMS}: room '{room}' lacks an entry that says what it knows, promises, must not do, and why it is a room"
        for room in sorted(rooms - entries.keys())
    ]
    problems += [f"{ROOMS}: there is no room '{name}'" for name in sorted(entries.keys() - rooms - {"python"})]
    for name, entry in entries.items():
        problems += [f"{ROOMS}: the entry of '{name}' lacks {label}" for label in LABELS if f"\n{label}: " not in entry]
    for folder in FOLDERS:
        for path in sorted((root / folder).glob("*/")):
            name = path.relative_to(root).as_posix()
            if path.name.startswith(("__", ".")) or not path.is_dir() or not any(path.iterdir()):
                continue
            if f"`{name}`" not in text:
                problems.append(f"{ROOMS}: no row for {name}")
    return problems


def find_raw_names(relative: Path, lines: list[str]) -> list[str]:
    """Names of our own dialects' attributes, spelt where the dialect does not see them."""
    problems = []
    # The runtime knows no IR; dialects of levels name one another's ops.
    if relative.parts[0] == "runtime":
        return []
    of_level = any(f"Dialect/{folder}/" in relative.as_posix() for folder in LEVELS.values())
    for name, folder in OWN_DIALECTS.items():
        if f"Dialect/{folder}/" in relative.as_posix() or (of_level and name in LEVELS):
            continue
        for number, line in enumerate(lines, start=1):
            if match := re.search(rf'"{name}\.\w*', line):
                problems.append(
                    f"{relative}:{number}: {match.group()}\": use the accessor of dialect '{name}' "
                    f"(include/shardc/Dialect/{folder}/IR), which is verified"
                )
    return problems


def find_undeclared(root: Path, texts: dict[Path, str]) -> list[str]:
    """Attributes that are read or written by a name that no dialect declares."""
    declared = {
        name
        for path in (root / "include/shardc/Dialect").rglob("*.td")
        for name in re.findall(r":\$(\w+)", DECLARED.sub("", path.read_text()))
    }

    def is_known(name: str) -> bool:
        dialect = name.split(".")[0]
        return name in declared or name in FOREIGN or f"{dialect}." in FOREIGN or dialect in OWN_DIALECTS

    problems = []
    owners: dict[str, tuple[str, str]] = {}
    used: set[str] = set()
    for relative, text in texts.items():
        room = room_of_file(relative)
        if room == "Dialect":
            continue
        for match in NAMED.finditer(text):
            name = match.group(1)
            if is_known(name):
                continue
            line = text.count("\n", 0, match.start()) + 1
            problems.append(
                f"{relative}:{line}: attribute \"{name}\": use the accessor of the op that declares it, or declare it "
                "in ODS (discardableAttrs of the dialect of its level, and its contracts)"
            )
        for constant, name in CONSTANT.findall(text):
            if not is_known(name):
                owners[constant] = (relative.as_posix(), name)
        used.update(BY_CONSTANT.findall(text))
    problems += [
        f"{file}: attribute '{name}' ({constant}): no dialect declares it"
        for constant, (file, name) in owners.items()
        if constant in used
    ]
    return problems


def check_contracts(root: Path) -> list[str]:
    """What is declared of each level's dialect, what has an accessor, and what is verified, are the same."""
    problems = []
    for dialect, folder in LEVELS.items():
        headers = root / "include/shardc/Dialect" / folder / "IR"
        declared_text = DECLARED.search((headers / f"{folder}Dialect.td").read_text())
        if declared_text is None:
            problems.append(f"{folder}Dialect.td declares no discardable attributes")
            continue
        camel = {
            name: "".join(part.capitalize() for part in name.split("_"))
            for name in re.findall(r":\$(\w+)", declared_text.group(1))
        }
        accessors = set(ACCESSOR.findall((headers / f"{folder}Contracts.h").read_text()))
        verifier = (root / "lib/Dialect" / folder / "IR" / f"{folder}Contracts.cpp").read_text()
        for name, cased in camel.items():
            if cased not in accessors:
                problems.append(f"{folder}Contracts.h: '{dialect}.{name}' has no accessor")
            # Shardings are looked at together with types.
            if not re.search(rf"{{\s*{cased}::name\(\)|mark<{cased}>", verifier) and cased != "Shardings":
                problems.append(f"{folder}Contracts.cpp: '{dialect}.{name}' is not verified")
    return problems


# Where modules are looked for by name.
PYTHON = ("scripts", "python")


def imports_of(tree: ast.Module, package: list[str], known: set[str]) -> set[str]:
    """Modules among `known` that a module of `package` imports, wherever it does."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            members = {f"{name}.{alias.name}" for alias in node.names}
            # A package is read only for names that are its own.
            found.update(members & known)
            if not members <= known:
                found.add(name)
    return found & known


def find_import_cycles(root: Path) -> list[str]:
    """Modules that import one another, each cycle by its first module."""
    paths: dict[str, Path] = {}
    for top in PYTHON:
        for path in sorted((root / top).rglob("*.py")):
            parts = path.relative_to(root / top).with_suffix("").parts
            paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    imports: dict[str, set[str]] = {}
    for name, path in paths.items():
        package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
        imports[name] = imports_of(ast.parse(path.read_text()), package, set(paths)) - {name}
    problems = []
    for first in sorted(paths):
        # Shortest ways from here to modules that come later, and back.
        ways = {first: [first]}
        for module in (queue := [first]):
            for after in sorted(imports[module]):
                if after == first:
                    way = " -> ".join([*ways[module], first])
                    problems.append(f"{paths[first].relative_to(root)}: modules import one another: {way}")
                elif after > first and after not in ways:
                    ways[after] = [*ways[module], after]
                    queue.append(after)
    return problems


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    try:
        layers = read_layers(root / "cmake" / "layers.txt")
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    crossings = 0
    files = 0
    raw_names: list[str] = []
    texts: dict[Path, str] = {}
    for top in ("include/shardc", "lib", "tools", "runtime"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            files += 1
            relative = path.relative_to(root)
            room = room_of_file(relative)
            texts[relative] = path.read_text(errors="replace")
            lines = texts[relative].splitlines()
            raw_names += find_raw_names(relative, lines) + find_tests(relative, lines)
            for number, line in enumerate(lines, start=1):
                match = INCLUDE.match(line)
                target = room_of_include(match.group(1)) if match else None
                if match is None or target is None:
                    continue
                if room not in layers:
                    print(f"{relative}:{number}: room '{room}' is not in cmake/layers.txt")
                    crossings += 1
                    break
                if match.group(1) in NOT_SEEN.get(room, ()):
                    print(
                        f"{relative}:{number}: room '{room}' includes '{match.group(1)}', "
                        "but must not know meshes, shardings and exchanges"
                    )
                    crossings += 1
                if target not in layers[room]:
                    print(
                        f"{relative}:{number}: room '{room}' includes '{match.group(1)}' of "
                        f"'{target}', which cmake/layers.txt does not allow"
                    )
                    crossings += 1
    print(f"{files} files, {crossings} includes that cross a layer")
    rooms = {room for room in layers if "/" not in room}
    problems = raw_names + find_undeclared(root, texts) + check_rooms(root, rooms) + check_contracts(root)
    problems += check_runtime(texts, layers) + find_import_cycles(root)
    if problems:
        print("\n".join(problems))
    return 1 if crossings or problems else 0


if __name__ == "__main__":
    sys.exit(main())
