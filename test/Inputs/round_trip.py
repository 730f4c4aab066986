"""Round trips of whole programs: ``round_trip.py TOOL FOLDER...``.

For each ``*.mlir`` of the folders: T1 = print(parse(text)), T2 = print(parse(T1))
and T3 = print(parse(generic(text))) must be equal, and T1 must be the text itself
but for what ``normalise`` takes out, and for those that were edited by hand. Exit status 1 and one line for each failure.
"""

import pathlib
import re
import sys

from shard_opt import ShardOpt

EDITED = {"serialised_sdy", "sm_odd_groups"}


def run(tool: ShardOpt, text: str, *flags: str) -> str:
    """Returns what ``tool`` prints for ``text``; raises RuntimeError with its first error."""
    code, printed, said = tool.run(text, *flags)
    if code != 0:
        raise RuntimeError((said.strip().splitlines() or ["no message"])[0])
    return printed


def normalise(text: str) -> str:
    """Takes out what the print may change: i1 blobs, blanks, empty lines."""
    text = re.sub(r'dense<"0x[0-9A-Fa-f]+">( : tensor<[0-9x]*xi1>)', r"dense<bits>\1", text)
    lines = (re.sub(r" +", " ", line.strip()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def check(tool: ShardOpt, path: pathlib.Path) -> str | None:
    """Returns what is wrong with ``path``, or nothing."""
    text = path.read_text()
    flags = ["--mlir-print-debuginfo"] if "loc(" in text else []
    try:
        once = run(tool, text, *flags)
        if run(tool, once, *flags) != once:
            return "a second round trip prints something else"
        generic = run(tool, text, "--mlir-print-op-generic", *flags)
        if run(tool, generic, *flags) != once:
            return "the generic form reads as something else"
    except RuntimeError as error:
        return str(error)
    if path.stem not in EDITED and normalise(once) != normalise(text):
        return "the print differs from the program's text"
    return None


def main() -> int:
    tool, *folders = sys.argv[1:]
    paths = sorted(path for folder in folders for path in pathlib.Path(folder).glob("*.mlir"))
    if not paths:
        print("no programs found", file=sys.stderr)
        return 1
    shard_opt = ShardOpt(tool)
    results = [check(shard_opt, path) for path in paths]
    shard_opt.close()
    failures = [(path, result) for path, result in zip(paths, results) if result]
    for path, result in failures:
        print(f"{path.name}: {result}", file=sys.stderr)
    print(f"{len(paths) - len(failures)} of {len(paths)} programs round-trip")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
