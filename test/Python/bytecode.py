"""Bytecode as JAX's bindings write it reads as its text does, and what the tools write back is the same to them;
portable artifacts of several versions read as what the bindings make of them.

Usage: bytecode.py CORPUS OPS.mlir
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jaxlib.mlir._mlir_libs._stablehlo as stablehlo
from jax._src.interpreters import mlir
from jaxlib.mlir import ir

# Of longer programs there are shorter ones with the same ops; SHARDC_LARGEST takes more.
LARGEST = int(os.environ.get("SHARDC_LARGEST", "20000"))
VERSIONS = os.environ.get("SHARDC_VERSIONS", "1.0.0 1.17.0").split()
NEWER = "tf32 f8E5M2 f8E4M3 f8E4M3FN f8E5M2FNUZ f8E4M3FNUZ f8E4M3B11FNUZ f8E3M4 f4E2M1FN f6E2M3FN f6E3M2FN f8E8M0FNU".split()
OPT = os.environ["SHARDC_TOOLS"] + "/shard-opt"
GENERIC = ("--mlir-print-op-generic", "--mlir-print-debuginfo")
MARKER = "\n// ---- the next program ----\n"


def parse(source: str | bytes) -> Any:
    """A module, as JAX's bindings read it."""
    with mlir.make_ir_context():
        return ir.Module.parse(source)


def functions(path: Path) -> Iterator[str]:
    """The functions of a test of ops, one module each, without comments."""
    text = "\n".join(line for line in path.read_text().split("\n") if not line.lstrip().startswith("//"))
    head, *rest = re.split(r"(?m)^(?=func\.func)", text)
    yield from (head + function for function in rest)


def run(*arguments: str) -> str:
    result = subprocess.run([OPT, *arguments], capture_output=True, text=True, check=False)
    return result.stdout if result.returncode == 0 else result.stderr


def run_joined(texts: list[str], directory: str, *options: str) -> list[str]:
    """What the tool prints of each of ``texts``, all read by one process; nothing of one that it refuses."""
    joined = f"{directory}/joined.mlir"
    Path(joined).write_text(MARKER.join(texts))
    result = subprocess.run([OPT, joined, f"--split-input-file={MARKER.strip()}", f"--output-split-marker={MARKER.strip()}", *options],
                            capture_output=True, text=True, check=False)
    print(result.stderr[:2000], end="")
    printed = result.stdout.split(MARKER.lstrip())
    assert len(printed) == len(texts), f"{len(printed)} programs printed of {len(texts)}"
    return printed


@dataclass
class Case:
    """A program as bytecode, and as the text that has to read the same.

    ``written``: what JAX prints of what the tool writes back; None of a portable artifact.
    """

    name: str
    text: str
    code: bytes
    written: str | None


def case_of(name: str, module: Any) -> Case:
    code = BytesIO()
    module.operation.write_bytecode(code)
    return Case(name, module.operation.get_asm(enable_debug_info=True, large_elements_limit=None), code.getvalue(), str(module))


def portable_case_of(name: str, module: Any, version: str) -> Case | None:
    """A portable artifact, and what JAX's bindings make of it; None where the version cannot say it."""
    with module.context:
        try:
            # This changes the module.
            artifact = stablehlo.serialize_portable_artifact(ir.Module.parse(str(module)), version, True)
        except ValueError:
            return None
        converted = stablehlo.deserialize_portable_artifact(module.context, artifact)
    # Printed generically, arguments of blocks keep their locations.
    text = converted.operation.get_asm(enable_debug_info=True, large_elements_limit=None, print_generic_op_form=True)
    return Case(f"{name}, artifact of {version}", text, artifact, None)


def check(case: Case, printed: str, directory: str) -> bool:
    """Whether the tool reads the bytecode as its text, of which it has ``printed`` what it read, and JAX what the tool writes back."""
    code, back = f"{directory}/a.mlirbc", f"{directory}/b.mlirbc"
    Path(code).write_bytes(case.code)
    if printed != (got := run(code, *(GENERIC if case.written is None else ()))):
        print(f"{case.name}: bytecode reads as {got[:300]}")
        return False
    if case.written is None:
        return True
    run(code, "--emit-bytecode", "-o", back)
    if str(parse(Path(back).read_bytes())) != case.written:
        print(f"{case.name}: what was written back differs")
        return False
    return True


def newer_code(directory: str) -> str:
    """A file of bytecode whose only type has a code that no MLIR has yet: two programs differ in the code of their type."""
    files = []
    for name in ("f8E8M0FNU", "f6E3M2FN"):
        files.append(f"{directory}/{name}.mlirbc")
        module = parse(f"func.func private @main(tensor<2x{name}>)")
        with open(files[-1], "wb") as file:
            module.operation.write_bytecode(file)
    one, other = (bytearray(Path(file).read_bytes()) for file in files)
    [place] = [at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    one[place] = 60 << 1 | 1
    Path(files[0]).write_bytes(one)
    return files[0]


def main() -> None:
    corpus, ops = Path(sys.argv[1]), Path(sys.argv[2])
    programs = [(path.stem, path.read_text()) for path in sorted(corpus.glob("*.mlir"))]
    programs += [(f"{ops.stem} {number}", text) for number, text in enumerate(functions(ops))]
    # Types for which the bindings' MLIR has codes, and that of the tools has not.
    programs += [(name, f"func.func @main(%a: tensor<2x{name}>) -> tensor<2x{name}> {{ return %a : tensor<2x{name}> }}") for name in NEWER]
    cases: list[Case] = []
    for name, text in programs:
        if len(text) > LARGEST:
            continue
        try:
            module = parse(text)
        except ir.MLIRError:
            # Text that only this project reads: other names for the same, shapes of the local view.
            continue
        cases.append(case_of(name, module))
        cases += filter(None, (portable_case_of(name, module, version) for version in VERSIONS))
    good = bad = artifacts = 0
    with TemporaryDirectory() as directory:
        for portable, options in ((False, ()), (True, GENERIC)):
            alike = [case for case in cases if (case.written is None) == portable]
            for case, printed in zip(alike, run_joined([case.text for case in alike], directory, *options), strict=True):
                same = check(case, printed, directory)
                good += same and not portable
                artifacts += same and portable
                bad += not same
        print("newer:", run(newer_code(directory)).strip().split("error: ")[-1])
    print(f"{good} programs equal, {artifacts} artifacts equal, {bad} not")


main()
