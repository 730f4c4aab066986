"""Verify the partitions of a corpus' programs by the interpreter, and measure what that takes.

    partitions.py [NAME...] [--corpus DIR] [--shard-opt PROGRAM] [--most SECONDS] [--smaller N]

Each program is brought to its local view on the mesh in its file (``shard-opt``), which is compared with its text
(``--spmd-verify-partition``). Prints a line a program: ops of the text, processor time of the verification (reading
both texts included), the same for 500 ops, and what it said. Exits 1 where a partition is refused, or where one of
``--most`` seconds for 500 ops is exceeded; what is not verified says why and fails nothing. With ``--smaller``, of each
program the copy that programs of many elements are verified by: dims of N elements at most, where ops let them.
"""

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
STAGES = ("--spmd-import", "--spmd-raise", "--spmd-propagate", "--spmd-partition", "--spmd-communicate")
OPEN = re.compile(r"@main\(.*tensor<[0-9x]*\?")
OP = re.compile(r"(?:^|= )\"?(?:stablehlo|chlo|sdy|func|call|spmd|local|pairs|kernel)[.\s]", re.MULTILINE)


def processor_time() -> float:
    """Seconds that children of this process have computed so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def first_line(text: str, kind: str) -> str | None:
    """What the first diagnostic of a kind says."""
    found = re.search(rf"{kind}: (.*)", text)
    return found.group(1) if found else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--corpus", type=Path, default=HERE)
    parser.add_argument("--shard-opt", default="shard-opt")
    parser.add_argument("--most", type=float, default=2.0)
    parser.add_argument("--smaller", type=int)
    options = parser.parse_args()
    entries = json.loads((options.corpus / "manifest.json").read_text())
    entries = entries["entries"] if isinstance(entries, dict) else entries
    verified = unknown = wrong = slow = 0
    print(f"{'program':36} {'ops':>5} {'s':>6} {'s/500':>6}")
    with tempfile.TemporaryDirectory() as scratch:
        local, small = Path(scratch) / "local.mlir", Path(scratch) / "small.mlir"
        for entry in entries:
            text = options.corpus / entry.get("file", f"Inputs/{entry['name']}.mlir")
            has_data = "file" not in entry or "data" in entry
            if text.suffix != ".mlir" or not has_data or (options.names and entry["name"] not in options.names):
                continue
            if OPEN.search(text.read_text()):
                print(f"{entry['name']:36} has open sizes")
                unknown += 1
                continue
            if options.smaller:
                subprocess.run([options.shard_opt, text, f"--spmd-shrink=most={options.smaller}", "-o", small], check=True)
                whole = subprocess.run([options.shard_opt, text], capture_output=True, text=True, check=True).stdout
                if small.read_text() == whole:
                    print(f"{entry['name']:36} has no smaller copy")
                    unknown += 1
                    continue
                text = small
            made = subprocess.run([options.shard_opt, text, *STAGES, "-o", local], capture_output=True, text=True, check=False)
            if made.returncode != 0:
                said = first_line(made.stderr, "error") or first_line(made.stderr, "unsupported")
                print(f"{entry['name']:36} not brought to its local view: {said}")
                wrong += 1
                continue
            before = processor_time()
            run = subprocess.run([options.shard_opt, local, f"--spmd-verify-partition=global={text}", "-o", "/dev/null"],
                                 capture_output=True, text=True, check=False)
            seconds = processor_time() - before
            ops = len(OP.findall(text.read_text()))
            each = seconds * 500 / max(ops, 500)
            said = "verified"
            if run.returncode != 0:
                wrong += 1
                said = f"REFUSED: {first_line(run.stderr, 'error')}"
            elif remark := first_line(run.stderr, "remark"):
                unknown += 1
                said = remark
            else:
                verified += 1
            if each > options.most:
                slow += 1
            print(f"{entry['name']:36} {ops:5} {seconds:6.2f} {each:6.2f}  {said}", flush=True)
    print(f"{verified} verified, {unknown} not known, {wrong} refused, {slow} above {options.most} s for 500 ops")
    return 1 if wrong or slow else 0


if __name__ == "__main__":
    sys.exit(main())
