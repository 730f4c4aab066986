"""What is said of artifacts that are damaged or not known: ``damaged.py INPUTS BYTECODE TOOL DIRECTORY``."""

import subprocess
import sys
from pathlib import Path

inputs, bytecode, tool, directory = sys.argv[1:]


def artifact(name: str) -> bytes:
    """The bytes of a portable artifact of version 1.17.0."""
    return (Path(inputs) / f"{name}-1.17.0.mlirbc").read_bytes()


whole = artifact("ops")


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

# Attributes and types by number, which stand for others: of a constant, of a dictionary's entry, of a value.
whole = artifact("constant")
say("open-constant", b"\x1f\x03\x11", b"\x1f\x01\x11")
say("quantised", b"\x05\x29\x03\x09\x05\x09", b"\x05\x31\x03\x09\x05\x09")
whole = artifact("dictionary")
say("no-name", b"\x0d\x03\x1d\x1f", b"\x0d\x03\x13\x1f")
# Our own bytecode, in which the groups of a broadcast with a root from outside are a list of one.
whole = Path(bytecode).read_bytes()
say("two-lists", b"\x05\x01\x19", b"\x05\x01\x09")
say("below-nothing", b"\x1b\x03\x09\x07", b"\x1b\x03\x07\x07")
whole = b"ML\xef\x52"
say("four-bytes", whole, whole)
