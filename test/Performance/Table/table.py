"""Operators and whole programs beside JAX and PyTorch on the same cores, in one run: the table of what is ahead, level and behind.

    ./run bench --table [--only=softmax,sort] [--ranks=1,2,4] [--peers=jax,torch,inductor] [--json=FILE] [--drawn=SEED]
    ./run bench --table --page=FILE.json            print a result as a page
    ./run bench --table --compare OLD.json NEW.json what changed between two results

A row is an operator at a size (rows.json, which does not change with the code; --drawn=SEED draws sizes around them), at some ranks: one rank with all
cores, and 2 and 4 ranks on the same cores. JAX has as many virtual devices as there are ranks, with the same cuts, PyTorch all cores, eager ("torch")
and through torch.compile ("inductor"). Inputs are the same, arrays stay in each side's process and form: shardc's are `shardc.Array`s that the
Python package's engine computes on, JAX's on its devices, PyTorch's tensors. A step is a call in Python and the wait for its results. Freed memory is kept by
all processes, so that page faults flatter nobody.

Sides take turns, a round each; rounds go on until the 90 % interval of the median of paired ratios is within 4 %, or until --seconds are over: then the row
is undecided. A ratio is a peer's time over shardc's: above 1 shardc is ahead. `share` is the time that memory or arithmetic alone would need at the peak
rates of machine-limits.cpp, measured in the same run, over shardc's time. `passes` is what its kernels read and write, each buffer once a kernel, over what a step has
to read and write at least. Values are compared with JAX's: a row that differs says so, and is no win.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
ROOT = HERE.parent.parent.parent
PEERS = ("jax", "torch", "inductor")
PROGRAMS = ("corpus", "training")
"""Operators whose rows are whole programs."""
WITHIN, LEAST_ROUNDS = 0.04, 7

# --- statistics ---------------------------------------------------------------------------------------------------------


def interval(values: list[float], confidence: float = 0.9) -> tuple[float, float, float]:
    """The median, and the interval that holds the true one with `confidence`, from order statistics: nothing is assumed of how values are spread."""
    ordered, n = np.sort(values), len(values)
    tail, below = (1 - confidence) / 2, 0.0
    rank = 0
    while rank < n // 2 and below + math.comb(n, rank) / 2**n <= tail:
        below += math.comb(n, rank) / 2**n
        rank += 1
    # With fewer than five values not even the extremes are enough.
    return float(np.median(ordered)), float(ordered[max(rank - 1, 0)]), float(ordered[n - max(rank, 1)])


def verdict(median: float, low: float, high: float) -> str:
    """Nothing within the spread is called a win."""
    if low > 1:
        return "ahead"
    if high < 1:
        return "behind"
    return "level" if high <= median * (1 + WITHIN) and low >= median * (1 - WITHIN) else "undecided"


def is_decided(ratios: list[float]) -> bool:
    median, low, high = interval(ratios)
    return low >= median * (1 - WITHIN) and high <= median * (1 + WITHIN)


# --- rows ---------------------------------------------------------------------------------------------------------------


def drawn(row: dict, rng: random.Random) -> dict:
    """The row at sizes around its own: those under `free` any number, those under `even` multiples of 4, which JAX can cut."""

    def change(value: Any, is_even: bool) -> Any:
        if isinstance(value, list):
            return [change(inner, is_even) for inner in value]
        size = max(1, round(value * rng.uniform(0.6, 1.3)))
        return max(4, 4 * round(size / 4)) if is_even else size

    made = dict(row)
    for name in row.get("free", []):
        made[name] = change(row[name], False)
    for name in row.get("even", []):
        made[name] = change(row[name], True)
    return made


def chosen_rows(options: argparse.Namespace) -> list[dict]:
    rows = json.loads((HERE / "rows.json").read_text())
    if options.drawn is not None:
        rows = [drawn(row, random.Random(f"{options.drawn}:{row['row']}")) for row in rows if row.get("free") or row.get("even")]
    if options.rows:
        rows = [row for row in rows if row["row"] in options.rows.split(",")]
    if options.only:
        wanted = options.only.split(",")
        rows = [row for row in rows if any(row["row"].startswith(word) or f"-{word}" in row["row"] or word == row["operator"] for word in wanted)]
    return rows


# --- sides --------------------------------------------------------------------------------------------------------------


class Side:
    """A library in processes of its own."""

    def __init__(self, name: str, python: str, address: str, cache: Path) -> None:
        keep = {"MALLOC_MMAP_THRESHOLD_": str(1 << 40), "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "1"}
        caches = {"TORCHINDUCTOR_CACHE_DIR": str(cache / "inductor"), "TORCHINDUCTOR_COMPILE_THREADS": "1", "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": ""}
        path = os.pathsep.join(filter(None, [str(ROOT / "python"), os.environ.get("PYTHONPATH")]))
        self.name = name
        self.process = subprocess.Popen([python, str(HERE / "worker.py"), name, address], stdin=subprocess.PIPE, text=True,
                                        env={**os.environ, **keep, **caches, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"})

    def process_for(self, listener: socket.socket, row: dict, ranks: int) -> tuple[Connection, int]:
        """Let it start a process for a row; the line to that and its number. Raises: RuntimeError if the side is gone."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps({"row": row, "ranks": ranks}) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise RuntimeError(f"{self.name}: its process ended") from None
        while self.process.poll() is None:
            try:
                plug = listener.accept()[0]
                process, _, _ = struct.unpack("3i", plug.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
                return Connection(plug.detach()), process
            except TimeoutError:
                pass
        raise RuntimeError(f"{self.name}: its process ended")

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


class Runner:
    """The other end of a process that times one row on one side."""

    def __init__(self, side: Side, listener: socket.socket, row: dict, ranks: int, patience: float) -> None:
        self.line, self.process = side.process_for(listener, row, ranks)
        self.patience = patience
        self.said = self.receive()
        self.turns: list[dict] = []

    def receive(self) -> dict:
        """What the process says next; an error if it ended, or says nothing for too long: then it is ended."""
        try:
            if not self.line.poll(self.patience):
                os.kill(self.process, signal.SIGKILL)
                return {"error": f"silent for {self.patience:g} s"}
            found: dict = self.line.recv()
            return found
        except (EOFError, ConnectionResetError):
            return {"error": "the process ended"}

    @property
    def is_ready(self) -> bool:
        return "facts" in self.said

    def turn(self, seconds: float) -> None:
        try:
            self.line.send(seconds)
            found = self.receive()
        except BrokenPipeError:
            found = {"error": "the process ended"}
        if "error" in found:
            self.said = found
        else:
            self.turns.append(found)

    def median(self, name: str) -> float:
        return statistics.median(turn[name] for turn in self.turns)


def difference(ours: list[dict], theirs: list[dict]) -> float:
    """The largest difference of samples, over the mean magnitude of the result or that of the element, if that is larger; nan where shapes differ."""
    worst = 0.0
    for mine, other in zip(ours, theirs):
        if mine["size"] != other["size"]:
            return math.nan
        a, b = mine["sample"], other["sample"]
        if not np.array_equal(np.isfinite(a), np.isfinite(b)):
            return math.nan
        a, b = a[np.isfinite(a)], b[np.isfinite(b)]
        if a.size:
            worst = max(worst, float((np.abs(a - b) / np.maximum(np.abs(b), max(other["scale"], 1e-30))).max()))
    return worst


# --- a row --------------------------------------------------------------------------------------------------------------


def limit_seconds(facts: dict, dtype: str, limits: dict) -> float:
    """What memory or arithmetic alone would need."""
    written, moved, flops = facts["written"], facts["bytes"], facts["flops"]
    bandwidth = limits["read"] if written < 0.05 * moved else limits["copy"]
    return max(moved / bandwidth, flops / (limits["flops_f64"] if dtype == "float64" else limits["flops_f32"]))


def time_row(row: dict, ranks_list: list[int], sides: dict[str, Side], listener: socket.socket, options: argparse.Namespace, limits: dict) -> list[dict]:
    """Time one row at some ranks, all sides in turns; PyTorch's processes are asked once for all ranks."""
    dtype = row.get("dtype", "float32")
    runners: dict[tuple[str, int], Runner] = {}
    for name, side in sides.items():
        for ranks in ranks_list if name in ("shardc", "jax") else [0]:
            runners[name, ranks] = Runner(side, listener, row, ranks, options.patience)
    found: list[dict] = []
    if options.verbose:
        for (name, ranks), runner in runners.items():
            print(name, ranks, {key: round(value, 3) for key, value in runner.said.get("facts", {}).items()}, runner.said.get("usual_ms"), file=sys.stderr)
    begin = time.monotonic()
    ready = {key: runner for key, runner in runners.items() if runner.is_ready}
    order = list(ready)

    def of(name: str, ranks: int) -> Runner | None:
        return ready.get((name, ranks if name in ("shardc", "jax") else 0))

    def ratios(name: str, ranks: int) -> list[float]:
        ours, peer = of("shardc", ranks), of(name, ranks)
        return [b["ms"] / a["ms"] for a, b in zip(ours.turns, peer.turns)] if ours and peer else []

    def done() -> bool:
        for ranks in ranks_list:
            every = [r for name in PEERS if (r := ratios(name, ranks))]
            # The better peer decides.
            if every and not is_decided(min(every, key=statistics.median)):
                return False
        return True

    rounds = 0
    while order and not options.prepare and any(name == "shardc" for name, _ in order):
        for place in range(len(order)):
            ready[order[(place + rounds) % len(order)]].turn(options.turn)
        order = [key for key in order if ready[key].is_ready]
        ready = {key: ready[key] for key in order}
        rounds += 1
        over = time.monotonic() - begin > options.seconds
        if rounds >= (3 if over else LEAST_ROUNDS) and (over or done()):
            break
    for ranks in ranks_list:
        result: dict[str, Any] = {"row": row["row"], "operator": row["operator"], "ranks": ranks, "rounds": rounds, "parameters": {k: v for k, v in row.items() if k not in ("row", "operator", "free", "even")}}
        for name in sides:
            runner = runners[name, ranks if name in ("shardc", "jax") else 0]
            if not runner.is_ready:
                result.setdefault("absent", {})[name] = runner.said.get("absent") or runner.said.get("error")
                if options.verbose and "trace" in runner.said:
                    print(runner.said["trace"], file=sys.stderr)
                continue
            facts = runner.said["facts"]
            result[name] = {"compile_s": facts["compile_s"], "peak_mb": facts["peak_mb"]}
            if runner.turns:
                result[name] |= {"ms": runner.median("ms"), "cpu_ms": runner.median("cpu_ms"), "faults": runner.median("faults")}
        ours, theirs = of("shardc", ranks), of("jax", ranks)
        if ours and theirs:
            apart = difference(ours.said["digests"], theirs.said["digests"])
            if (peer := of("torch", ranks)) and not math.isinf(ours.said["facts"]["tolerance"]):
                # Told, not judged: layouts differ where they are PyTorch's own.
                result["torch_difference"] = difference(theirs.said["digests"], peer.said["digests"])
            result["difference"], result["agrees"] = apart, bool(apart <= ours.said["facts"]["tolerance"])
        if ours and ours.turns:
            facts = ours.said["facts"]
            result["bytes"], result["flops"] = facts["bytes"], facts["flops"]
            if limits and row["operator"] not in PROGRAMS:
                result["share"] = limit_seconds(facts, dtype, limits) / (result["shardc"]["ms"] / 1e3)
            if facts["sweeps"] == 1 and row["operator"] not in PROGRAMS and not math.isnan(facts["kernel_bytes"]):
                result["passes"] = facts["kernel_bytes"] / max(facts["bytes"], 1)
            result["ratio"] = {name: dict(zip(("median", "low", "high"), interval(r))) for name in PEERS if len(r := ratios(name, ranks)) >= 3}
            if result["ratio"]:
                better = min(result["ratio"], key=lambda name: result["ratio"][name]["median"])
                result["better"] = better
                result["verdict"] = verdict(*(result["ratio"][better][key] for key in ("median", "low", "high")))
                if not result.get("agrees", True):
                    result["verdict"] = "differs"
        found.append(result)
    for (name, ranks), runner in runners.items():
        if options.verbose:
            print(name, ranks, [(round(t["ms"], 2), round(t["cpu_ms"], 2), round(t["faults"], 1)) for t in runner.turns], file=sys.stderr)
        runner.line.close()
    return found


# --- results ------------------------------------------------------------------------------------------------------------


def cpu_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def vectors() -> str:
    flags = Path("/proc/cpuinfo").read_text()
    return next((name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2"), ("asimd", "NEON")) if f" {flag} " in flags), "")


def about_run(limits: dict, sides: dict[str, str]) -> dict:
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    return {"date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), "commit": commit, "cpu": f"{cpu_name()}, {os.cpu_count()} cores, {vectors()}",
            "load": round(os.getloadavg()[0], 1), "limits": limits, "versions": sides}


def version_of(python: str, module: str) -> str | None:
    run = subprocess.run([python, "-c", f"from importlib.metadata import version; print(version('{module}'))"], capture_output=True, text=True, check=False)
    return run.stdout.strip() or None


def cell(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


HEAD = f"{'row':28}{'ranks':>6}{'shardc':>10}{'jax':>10}{'torch':>10}{'inductor':>10}  {'ratio':>6} {'interval':>13} {'share':>6} {'passes':>6} {'MB':>7}  verdict"


def line_of(row: dict) -> str:
    cells = "".join(f"{cell(row.get(name, {}).get('ms'), '10.3f'):>10}" for name in ("shardc", *PEERS))
    ratio = row.get("ratio", {}).get(row.get("better"), {})
    spread = f"{ratio['low']:.2f} … {ratio['high']:.2f}" if ratio else "-"
    words = row.get("verdict", "-") + (f" ({row['better']})" if "better" in row else "")
    if row.get("absent", {}).get("shardc"):
        words = f"shardc: {row['absent']['shardc']}"
    return (f"{row['row']:28}{row['ranks']:>6}{cells}  {cell(ratio.get('median'), '6.2f'):>6} {spread:>13} {cell(row.get('share'), '6.2f'):>6} "
            f"{cell(row.get('passes'), '6.1f'):>6} {cell(row.get('shardc', {}).get('peak_mb'), '7.0f'):>7}  {words}")


def geometric_mean(values: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values))) if values else math.nan


def summary(rows: list[dict]) -> list[str]:
    lines = []
    for ranks, is_program in sorted({(row["ranks"], row["operator"] in PROGRAMS) for row in rows}):
        decided = [row for row in rows if row["ranks"] == ranks and (row["operator"] in PROGRAMS) == is_program and row.get("ratio")]
        if decided:
            count = {name: sum(row["verdict"] == name for row in decided) for name in ("ahead", "level", "behind", "undecided", "differs")}
            mean = geometric_mean([row["ratio"][row["better"]]["median"] for row in decided])
            lines.append(f"{ranks} rank{'s' * (ranks > 1)}, {'programs' if is_program else 'operators'}: {len(decided)} rows, geometric mean {mean:.2f}; " + ", ".join(f"{n} {name}" for name, n in count.items() if n))
    return lines


def page(result: dict) -> str:
    """The result as a page in Markdown."""
    lines = ["| row | ranks | shardc ms | JAX | torch | inductor | ratio | 90 % | share | passes | MB | |", "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for row in result["rows"]:
        ratio = row.get("ratio", {}).get(row.get("better"), {})
        cells = [row["row"], str(row["ranks"]), *(cell(row.get(name, {}).get("ms"), ".3g") for name in ("shardc", *PEERS)), cell(ratio.get("median"), ".2f"),
                 f"{ratio['low']:.2f} … {ratio['high']:.2f}" if ratio else "-", cell(row.get("share"), ".2f"), cell(row.get("passes"), ".1f"),
                 cell(row.get("shardc", {}).get("peak_mb"), ".0f"), row.get("verdict", "-" if "shardc" not in row.get("absent", {}) else "not run")]
        lines.append("| " + " | ".join(cells) + " |")
    runs = ["", "Runs:", ""]
    for number, run in enumerate(result["runs"]):
        limits = run["limits"]
        rates = (f"{limits['flops_f32'] / 1e9:.0f} Gflop/s f32, {limits['flops_f64'] / 1e9:.0f} f64; GB/s: copy {limits['copy'] / 1e9:.1f}, read {limits['read'] / 1e9:.1f}, "
                 f"update {limits['update'] / 1e9:.1f}" if limits else "limits not measured")
        rows = sum(row.get("run") == number for row in result["rows"])
        if rows:
            runs.append(f"- {run['date']}, commit {run['commit']}, {run['cpu']}, load {run['load']}: {rows} rows; {rates}; " + ", ".join(f"{k} {v}" for k, v in run["versions"].items() if v))
    return "\n".join([*summary(result["rows"]), "", *lines, *runs]) + "\n"


def compare(old: dict, new: dict) -> str:
    """Rows whose ratio to a peer that both have moved by more than both intervals."""
    before = {(row["row"], row["ranks"]): row for row in old["rows"]}
    lines, same, changes = [], 0, []
    for row in new["rows"]:
        was = before.get((row["row"], row["ranks"]))
        peers = [name for name in PEERS if was and name in was.get("ratio", {}) and name in row.get("ratio", {})]
        if not was or not peers or was["parameters"] != row["parameters"]:
            continue
        peer = row["better"] if row["better"] in peers else peers[0]
        a, b = was["ratio"][peer], row["ratio"][peer]
        changes.append(b["median"] / a["median"])
        if a["low"] <= b["high"] and b["low"] <= a["high"]:
            same += 1
            continue
        lines.append(f"{row['row']:28}{row['ranks']:>6} {a['median']:7.2f} -> {b['median']:5.2f} ({peer}) {was['shardc']['ms']:9.3f} -> {row['shardc']['ms']:.3f} ms  "
                     f"{'faster' if b['median'] > a['median'] else 'SLOWER'}")
    return "\n".join([*lines, f"{len(lines)} rows changed, {same} within the spread, geometric mean of changes {geometric_mean(changes):.3f}"])


def merge(path: Path, run: dict, rows: list[dict]) -> dict:
    """Put rows into a result file, in place of what it had of them."""
    result = json.loads(path.read_text()) if path.exists() else {"runs": [], "rows": []}
    if not result["runs"] or result["runs"][-1] != run:
        result["runs"].append(run)
    for row in rows:
        row["run"] = len(result["runs"]) - 1
        places = [n for n, other in enumerate(result["rows"]) if (other["row"], other["ranks"]) == (row["row"], row["ranks"])]
        if places:
            result["rows"][places[0]] = row
        else:
            result["rows"].append(row)
    path.write_text(json.dumps(result, indent=1) + "\n")
    return result


def measured_limits(options: argparse.Namespace) -> dict:
    if not Path(options.limits).exists():
        return {}
    return json.loads(subprocess.run([options.limits], capture_output=True, text=True, check=True).stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows whose name has one of these words, or of these operators")
    parser.add_argument("--rows", default="", help="rows by their whole names")
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--peers", default="jax,torch,inductor")
    parser.add_argument("--torch", default=os.environ.get("SHARDC_TORCH_PYTHON", sys.executable), help="a Python that has PyTorch")
    parser.add_argument("--seconds", type=float, default=8, help="of rounds, at most, a row")
    parser.add_argument("--patience", type=float, default=120, help="seconds that a side may be silent, compiling or in a turn, before it is ended and absent")
    parser.add_argument("--turn", type=float, default=0.03, help="seconds of a side's steps in a round")
    parser.add_argument("--drawn", type=int, metavar="SEED", help="sizes drawn around those of rows.json")
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "table.json", help="the result; rows of earlier runs stay in it")
    parser.add_argument("--limits", default=str(ROOT / "build" / "bin" / "machine-limits"))
    parser.add_argument("--no-limits", action="store_true", help="do not measure the machine's peak rates")
    parser.add_argument("--prepare", action="store_true", help="compile and compare values, without timing: torch.compile keeps what it compiled")
    parser.add_argument("--list", action="store_true", help="print names of rows")
    parser.add_argument("--page", type=Path, metavar="FILE", help="print a result as a page")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("OLD", "NEW"))
    parser.add_argument("--verbose", action="store_true", help="where a side fails, say where")
    options = parser.parse_args()
    if options.page:
        print(page(json.loads(options.page.read_text())), end="")
        return 0
    if options.compare:
        print(compare(*(json.loads(path.read_text()) for path in options.compare)))
        return 0
    rows = chosen_rows(options)
    if options.list or not rows:
        print("\n".join(row["row"] for row in rows) or "no such row")
        return 0 if rows else 2
    versions = {"jax": version_of(sys.executable, "jax"), "torch": version_of(options.torch, "torch")}
    names = ["shardc", *(name for name in options.peers.split(",") if name in PEERS and versions["jax" if name == "jax" else "torch"])]
    limits = {} if options.no_limits or options.prepare else measured_limits(options)
    if limits:
        print(f"{cpu_name()}: {limits['flops_f32'] / 1e9:.0f} Gflop/s f32, {limits['flops_f64'] / 1e9:.0f} f64; GB/s: copy {limits['copy'] / 1e9:.1f}, "
              f"read {limits['read'] / 1e9:.1f}, update {limits['update'] / 1e9:.1f}", flush=True)
    run, found = about_run(limits, versions), []
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        address = str(Path(folder) / "table")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen()
            listener.settimeout(1)
            sides = {name: Side(name, options.torch if name in ("torch", "inductor") else sys.executable, address, ROOT / "build" / "bench-cache") for name in names}
            print(HEAD, flush=True)
            for row in rows:
                results = time_row(row, [int(r) for r in options.ranks.split(",")], sides, listener, options, limits)
                for result in results:
                    print(line_of(result), flush=True)
                    for name, why in result.get("absent", {}).items():
                        if name != "shardc" and not why.startswith(("no function", "nothing for")):
                            print(f"    {name}: {why}")
                    if result.get("agrees") is False:
                        print(f"    differs from JAX by {result['difference']:.2g}")
                        status = 1
                found += results
                if not options.prepare:
                    merge(options.json, run, results)
            for side in sides.values():
                side.close()
    print("\n".join(summary(found)))
    return status


if __name__ == "__main__":
    sys.exit(main())
