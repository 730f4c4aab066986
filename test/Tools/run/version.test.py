"""What is built has the version of the file VERSION, and no other file repeats it.

usage: version.test.py ROOT TOOLS WORK
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path


def main() -> int:
    root, tools, work = (Path(argument) for argument in sys.argv[1:])
    version = (root / "VERSION").read_text().strip()
    work.mkdir(parents=True, exist_ok=True)

    runtime = ctypes.CDLL(str(tools.parent / "lib" / "libshardrt.so"))
    runtime.shardrt_version.restype = ctypes.c_char_p
    assert runtime.shardrt_version().decode() == version, runtime.shardrt_version()

    artifact = work / "program.so"
    subprocess.run([tools / "shard-translate", root / "test/Inputs/add_scaled.mlir", "-o", artifact], check=True)
    assert f'"shardc {version}"'.encode() in artifact.read_bytes(), "the artifact names another version"

    # Comments may have it as an example.
    repeated = [
        f"{path.relative_to(root)}: {line.strip()}"
        for folder in ("cmake", "include", "lib", "python", "runtime", "tools")
        for path in (root / folder).rglob("*")
        if path.suffix in {".cmake", ".cpp", ".h", ".in", ".py", ".toml", ".txt"}
        for line in path.read_text().splitlines()
        if version in line.partition("//")[0] and not line.strip().startswith(("/**", "*", "#"))
    ]
    repeated += [line for line in (root / "pyproject.toml").read_text().splitlines() if version in line]
    assert not repeated, repeated
    return 0


if __name__ == "__main__":
    sys.exit(main())
