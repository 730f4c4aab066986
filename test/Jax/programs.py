#!/usr/bin/env python3
"""Run programs of other packages, unchanged, on shardc's devices and on JAX's own, and compare what they print.

usage: programs.py [--devices N] [NAME...]

Each program of the folder ``programs`` prints names and numbers. Its comments say what packages of PyPI it needs
(``# needs: flax optax``) and, where not 1e-3, by what part of the larger a number may differ (``# tolerance: 0.05``).
Prints a table, and ends with 1 where a program fails or differs, with 77 where none could be run.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).resolve().parent / "programs"
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?|nan|inf")


def comment(text: str, key: str, otherwise: str) -> str:
    """Return what stands behind ``# key:``."""
    found = re.search(rf"^# {key}: (.*)$", text, re.MULTILINE)
    return found.group(1) if found else otherwise


def is_installed(package: str) -> bool:
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def run(program: Path, platform: str, devices: int) -> tuple[str, float]:
    """Return what a program prints, and seconds. Raises: RuntimeError with the end of stderr."""
    environment = os.environ | {
        "JAX_PLATFORMS": platform, "SHARDC_DEVICES": str(devices), "PYTHONPATH": str(ROOT / "python"),
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}"}
    began = time.perf_counter()
    done = subprocess.run([sys.executable, program], env=environment, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr.strip()[-600:]}")
    return done.stdout, time.perf_counter() - began


def difference(ours: str, theirs: str) -> float:
    """Return the largest difference of two numbers over the larger; infinity where names differ."""
    if NUMBER.sub("#", ours) != NUMBER.sub("#", theirs):
        return float("inf")
    worst = 0.0
    for a, b in zip(map(float, NUMBER.findall(ours)), map(float, NUMBER.findall(theirs)), strict=True):
        if a != b:
            part = abs(a - b) / max(abs(a), abs(b))
            worst = max(worst, part if part == part else float("inf"))
    return worst


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", type=int, default=4, help="devices of each platform (4)")
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs, without .py; none: all")
    arguments = parser.parse_args()
    programs = sorted(PROGRAMS.glob("*.py"))
    if arguments.names:
        programs = [PROGRAMS / f"{name}.py" for name in arguments.names]
    passed = failed = 0
    print(f"{'program':24} {'largest difference':>18} {'shardc s':>9} {'JAX s':>7}")
    for program in programs:
        text = program.read_text()
        if missing := [name for name in comment(text, "needs", "").split() if not is_installed(name)]:
            print(f"{program.stem:24} not run: no {', '.join(missing)}")
            continue
        try:
            ours, our_seconds = run(program, "shardc", arguments.devices)
            theirs, their_seconds = run(program, "cpu", arguments.devices)
        except RuntimeError as error:
            failed += 1
            print(f"{program.stem:24} FAILED: {error}")
            continue
        worst = difference(ours, theirs)
        is_close = worst <= float(comment(text, "tolerance", "1e-3")) and bool(NUMBER.search(ours))
        passed, failed = passed + is_close, failed + (not is_close)
        print(f"{program.stem:24} {worst:18.2g} {our_seconds:9.1f} {their_seconds:7.1f}{'' if is_close else '  DIFFERS'}", flush=True)
        if not is_close:
            print(ours, theirs, sep="---\n")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0 if passed else 77


if __name__ == "__main__":
    sys.exit(main())
