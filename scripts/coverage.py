#!/usr/bin/env python3
"""Print how many lines of each room the tests ran, and write a page with every line.

usage: coverage.py BUILD --llvm DIR

BUILD is configured with the preset `coverage`; its folder `profiles` holds what the
programs wrote. The page is BUILD/report/index.html.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def room_of(path: Path) -> str | None:
    """``lib/Rules`` and ``include/shardc/Rules`` are Rules; None for what is not ours to cover."""
    if not path.is_relative_to(ROOT):
        return None
    parts = path.relative_to(ROOT).parts
    if parts[0] == "lib":
        return parts[1]
    if parts[:2] == ("include", "shardc"):
        return parts[2]
    return parts[0] if parts[0] in ("runtime", "tools") and "test" not in parts else None


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--llvm", type=Path, default=Path("/usr/lib/llvm-22/bin"), help="where llvm-cov is")
    options = parser.parse_args()
    build = options.build.resolve()

    profiles = sorted((build / "profiles").glob("*.profraw"))
    if not profiles:
        print(f"{build}/profiles: no profile; run programs of this build first", file=sys.stderr)
        return 1
    merged = build / "coverage.profdata"
    names = build / "profiles.txt"
    names.write_text("".join(f"{path}\n" for path in profiles))
    subprocess.run([options.llvm / "llvm-profdata", "merge", "-sparse", "-f", names, "-o", merged], check=True)

    programs = [path for path in (build / "bin").iterdir() if path.is_file()] + [build / "lib" / "libshardrt.so"]
    objects = [argument for path in programs[1:] for argument in ("-object", str(path))]
    common = [str(programs[0]), *objects, f"-instr-profile={merged}"]
    exported = subprocess.run([options.llvm / "llvm-cov", "export", "-summary-only", *common],
                              check=True, stdout=subprocess.PIPE, text=True)
    lines: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for file in json.loads(exported.stdout)["data"][0]["files"]:
        room = room_of(Path(file["filename"]))
        if room:
            summary = file["summary"]["lines"]
            lines[room][0] += summary["covered"]
            lines[room][1] += summary["count"]
    print(f"{'room':16} {'lines':>8} {'run':>8} {'%':>6}")
    for room, (covered, count) in sorted(lines.items()):
        print(f"{room:16} {count:8} {covered:8} {100 * covered / max(count, 1):6.1f}")

    page = build / "report"
    subprocess.run([options.llvm / "llvm-cov", "show", "-format=html", f"-output-dir={page}",
                    "-ignore-filename-regex=(/usr/|/test/|build-coverage/)", *common], check=True)
    print(f"{page}/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
