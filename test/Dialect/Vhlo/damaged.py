"""What is said of artifacts that are damaged or not known: ``damaged.py ARTIFACT TOOL DIRECTORY``."""

import subprocess
import sys
from pathlib import Path

artifact, tool, directory = sys.argv[1:]
whole = Path(artifact).read_bytes()


def say(name: str, old: bytes, new: bytes) -> None:
    """Prints the error for the artifact with ``new`` in the place of ``old``, which has as many bytes."""
    assert len(old) == len(new) and old in whole
    path = Path(directory) / f"{name}.mlirbc"
    path.write_bytes(whole.replace(old, new))
    result = subprocess.run([tool, path], capture_output=True, text=True, check=False)
    print(f"{name}: code {result.returncode}:", result.stderr.strip().replace(f"{directory}/", ""))


say("op", b"tanh_v2", b"tanh_v9")
say("without-attributes", b"tuple_v1", b"tuple_v2")
# Another op's attributes: of other kinds.
say("kinds", b"sort_v1\0", b"iota_v1\0")
say("region", b"\0tanh_v2", b"\0case_v1")
say("dialect", b"vhlo\0", b"mhlo\0")
say("newer", b"StableHLO_v1.17.0\0", b"StableHLO_v1.99.0\0")
whole = whole.replace(b"StableHLO_v1.17.0", b"StableHLO_v1.99.0")
say("newer-op", b"tanh_v2", b"tanh_v9")
whole = whole.replace(b"StableHLO_v1.99.0", b"StableHLO_v0.19.0")
say("older-op", b"tanh_v2", b"tanh_v9")
