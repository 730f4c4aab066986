"""Assemble the kernels of programs and look at what ptxas says of them.

    assemble.py NAME... --corpus DIR --archs sm_80,sm_90a [--count INSTRUCTION=NUMBER ...] [--machine INSTRUCTION=NUMBER ...] [--flag=FLAG ...]

Exits 1 where ptxas refuses a kernel, warns of one, or one spills registers, or an instruction does not stand as often in a
program's PTX (--count), or in its machine code (--machine, where a disassembler is found), as it should. Prints a line a program and GPU: kernels, most registers. A NAME that ends in .mlir is a file.
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


def machine_code(cubin: Path) -> str:
    """What a disassembler says of `cubin`; empty where there is none: a toolkit's, or the one in the triton package."""
    import importlib.util
    import os
    import shutil

    folders = [str(Path(os.environ[name]) / "bin") for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT") if os.environ.get(name)]
    if (triton := importlib.util.find_spec("triton")) and triton.origin:
        folders.append(str(Path(triton.origin).parent / "backends/nvidia/bin"))
    tool = shutil.which("cuobjdump", path=os.pathsep.join([*folders, os.environ["PATH"]]))
    if not tool:
        return ""
    return subprocess.run([tool, "-sass", str(cubin)], capture_output=True, text=True, check=True).stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--corpus", type=Path, default=Path())
    parser.add_argument("--count", action="append", default=[], metavar="INSTRUCTION=NUMBER")
    parser.add_argument("--machine", action="append", default=[], metavar="INSTRUCTION=NUMBER")
    parser.add_argument("--flag", action="append", default=[], help="of shard-translate")
    parser.add_argument("--archs", default="sm_80")
    parser.add_argument("--shard-translate", default="shard-translate")
    options = parser.parse_args()
    if not any(flag.startswith("--precision") for flag in options.flag):
        options.flag.append("--precision=highest")
    failed = False
    for name in options.names:
        for arch in options.archs.split(","):
            with tempfile.TemporaryDirectory() as folder:
                ptx = Path(folder) / "kernels.ptx"
                model = name if name.endswith(".mlir") else str(options.corpus / f"{name}.mlir")
                command = [options.shard_translate, model, "--target=cuda", "--kernels=generated", f"--arch={arch}", *options.flag,
                           "--emit=ptx", "-o", str(ptx)]
                subprocess.run(command, check=True)
                said = subprocess.run([find_ptxas(), f"-arch={arch}", "-v", "-o", f"{folder}/kernels.cubin", str(ptx)],
                                      capture_output=True, text=True, check=False)
                text = ptx.read_text()
                code = machine_code(Path(folder) / "kernels.cubin") if options.machine and not said.returncode else ""
            registers = [int(n) for n in re.findall(r"Used (\d+) registers", said.stderr)]
            spills = sum(int(n) for n in re.findall(r"(\d+) bytes spill", said.stderr))
            print(f"{name} {arch}: {len(registers)} kernels, at most {max(registers, default=0)} registers, "
                  f"{spills} bytes of spills")
            wanted = [(text, pair) for pair in options.count] + [(code, pair) for pair in options.machine if code]
            for where, pair in wanted:
                instruction, number = pair.rsplit("=", 1)
                if (count := where.count(instruction)) != int(number):
                    print(f"{name} {arch}: {count} of {instruction}, expected {number}")
                    failed = True
            # Such as of products that it puts one behind the other (C7510). Not C7519: of a depth of one step it begins
            # the only product anew, where that sets its sums to zero.
            warns = re.search(r"warning|potential performance loss|\(C75(?!19)", said.stderr, re.IGNORECASE)
            if said.returncode or spills or warns or not registers:
                print(said.stderr if said.returncode or warns else f"{name} spills")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
