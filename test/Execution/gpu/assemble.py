"""Assemble the kernels of programs and look at what ptxas says of them.

    assemble.py NAME... --corpus DIR --archs sm_80,sm_90a [--count INSTRUCTION=NUMBER ...]

Exits 1 where ptxas refuses a kernel or one spills registers, or an instruction does not stand as often in a program's PTX as
it should. Prints a line a program and GPU: kernels, most registers. A NAME that ends in .mlir is a file.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def find_ptxas() -> str:
    """Where shardc looks for it as well."""
    import os
    import shutil

    folders = [str(Path(os.environ[name]) / "bin") for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT") if os.environ.get(name)]
    return shutil.which("ptxas", path=os.pathsep.join([*folders, os.environ["PATH"]])) or "ptxas"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--corpus", type=Path, default=Path())
    parser.add_argument("--count", action="append", default=[], metavar="INSTRUCTION=NUMBER")
    parser.add_argument("--archs", default="sm_80")
    parser.add_argument("--shard-translate", default="shard-translate")
    options = parser.parse_args()
    failed = False
    for name in options.names:
        for arch in options.archs.split(","):
            with tempfile.TemporaryDirectory() as folder:
                ptx = Path(folder) / "kernels.ptx"
                model = name if name.endswith(".mlir") else str(options.corpus / f"{name}.mlir")
                command = [options.shard_translate, model, "--target=cuda", f"--arch={arch}",
                           "--emit=ptx", "-o", str(ptx)]
                subprocess.run(command, check=True)
                said = subprocess.run([find_ptxas(), f"-arch={arch}", "-v", "-o", f"{folder}/kernels.cubin", str(ptx)],
                                      capture_output=True, text=True, check=False)
                text = ptx.read_text()
            registers = [int(n) for n in re.findall(r"Used (\d+) registers", said.stderr)]
            spills = sum(int(n) for n in re.findall(r"(\d+) bytes spill", said.stderr))
            print(f"{name} {arch}: {len(registers)} kernels, at most {max(registers, default=0)} registers, "
                  f"{spills} bytes of spills")
            for pair in options.count:
                instruction, number = pair.rsplit("=", 1)
                if (count := text.count(instruction)) != int(number):
                    print(f"{name} {arch}: {count} of {instruction}, expected {number}")
                    failed = True
            if said.returncode or spills or not registers:
                print(said.stderr if said.returncode else f"{name} spills")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
