"""Bytecode as JAX's bindings write it reads as its text does, and what the tools write back is the same to them;
portable artifacts of several versions read as what the bindings make of them.

Usage: bytecode.py CORPUS OPS.mlir
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
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


def check(name: str, module: Any, directory: str) -> bool:
    """Whether both forms of ``module`` are the same to the tool, and its bytecode to JAX."""
    text, code, back = (f"{directory}/{part}" for part in ("a.mlir", "a.mlirbc", "b.mlirbc"))
    Path(text).write_text(module.operation.get_asm(enable_debug_info=True, large_elements_limit=None))
    with open(code, "wb") as file:
        module.operation.write_bytecode(file)
    if run(text) != (got := run(code)):
        print(f"{name}: bytecode reads as {got[:300]}")
        return False
    run(code, "--emit-bytecode", "-o", back)
    if str(parse(Path(back).read_bytes())) != str(module):
        print(f"{name}: what was written back differs")
        return False
    return True


def check_portable(name: str, module: Any, version: str, directory: str) -> bool | None:
    """Whether a portable artifact reads as what JAX's bindings make of it; None where the version cannot say it."""
    text, code = f"{directory}/a.mlir", f"{directory}/a.mlirbc"
    with module.context:
        try:
            # This changes the module.
            artifact = stablehlo.serialize_portable_artifact(ir.Module.parse(str(module)), version, True)
        except ValueError:
            return None
        converted = stablehlo.deserialize_portable_artifact(module.context, artifact)
    Path(code).write_bytes(artifact)
    # Printed generically, arguments of blocks keep their locations.
    Path(text).write_text(converted.operation.get_asm(
        enable_debug_info=True, large_elements_limit=None, print_generic_op_form=True))
    options = ("--mlir-print-op-generic", "--mlir-print-debuginfo")
    if run(text, *options) != (got := run(code, *options)):
        print(f"{name}: artifact of {version} reads as {got[:300]}")
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
    good = bad = artifacts = 0
    with TemporaryDirectory() as directory:
        for name, text in programs:
            if len(text) > LARGEST:
                continue
            try:
                module = parse(text)
            except ir.MLIRError:
                # Text that only this project reads: other names for the same, shapes of the local view.
                continue
            if check(name, module, directory):
                good += 1
            else:
                bad += 1
            for version in VERSIONS:
                same = check_portable(name, module, version, directory)
                artifacts += same is True
                bad += same is False
        print("newer:", run(newer_code(directory)).strip().split("error: ")[-1])
    print(f"{good} programs equal, {artifacts} artifacts equal, {bad} not")


main()
