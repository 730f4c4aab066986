"""What the scripts that compare with XLA and Shardy share: the corpus, and JAX's own MLIR."""

import argparse
import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``--corpus`` and ``--only``."""
    parser.add_argument("--corpus", required=True, help="the folder with manifest.json")
    parser.add_argument("--only", default="", help="programs, by name: a,b")


def read_manifest(corpus: Path) -> list[dict[str, Any]]:
    """The entries that are programs, each with "file" and "data", of a corpus or of test/Execution/corpus."""
    manifest = json.loads((corpus / "manifest.json").read_text())
    if isinstance(manifest, dict):
        return [entry for entry in manifest["entries"] if entry["file"].startswith("mlir/")]
    return [{"kind": "", "file": f"Inputs/{entry['name']}.mlir", "data": f"Inputs/{entry['name']}.npz"} | entry
            for entry in manifest]


def programs(args: argparse.Namespace) -> Iterator[tuple[dict[str, Any], Path, int]]:
    """The entries of the manifest that run on several ranks, their files and how many ranks they have."""
    corpus = Path(args.corpus)
    wanted = set(filter(None, args.only.split(",")))
    for entry in read_manifest(corpus):
        ranks = 1
        for _, size in entry["mesh"]:
            ranks *= size
        if ranks > 1 and (not wanted or entry["name"] in wanted):
            yield entry, corpus / entry["file"], ranks


@contextlib.contextmanager
def parsed(path: Path) -> Iterator[Any]:
    """The program in file ``path`` as a module of JAX's MLIR, within its context. Needs jax."""
    from jax._src.interpreters import mlir as jax_mlir
    from jaxlib.mlir import ir
    with jax_mlir.make_ir_context(), ir.Location.unknown():
        yield ir.Module.parse(path.read_text())
