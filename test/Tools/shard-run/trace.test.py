"""Check traces of shard-run, and that reports agree with them: trace.test.py SHARD_RUN FOLDER.

FOLDER has the programs of the corpus. Hidden communication is computed anew from the trace of each: of a site's executions the time that work
covered, over that and the time in calls.
"""

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

STEPS = 3

# Blocks large enough to travel round a ring while others are computed with.
RING = """
spmd.mesh @mesh = <["x"=4]>
#q = affine_map<(h, q, k, d, e) -> (h, q, d)>
#k = affine_map<(h, q, k, d, e) -> (h, k, d)>
#v = affine_map<(h, q, k, d, e) -> (h, k, e)>
#o = affine_map<(h, q, k, d, e) -> (h, q, e)>
#r = affine_map<(h, q, k, d, e) -> (h, q)>
!t = tensor<2x4096x16xf32>
!l = tensor<2x4096xf32>
func.func @main(%q: !t {SH}, %k: !t {SH}, %v: !t {SH}) -> (!t {SH}) {
  %o, %max, %sum = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #o, #r, #r] score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (!t, !t, !t) -> (!t, !l, !l)
  return %o : !t
}
""".replace("SH", "spmd.sharding = #spmd.sharding<@mesh, [{}, {\"x\"}, {}]>")
# Rows on three ranks, one of which has none; a sum of each rank's rows; and a product of what all have.
PRODUCT = """
spmd.mesh @mesh = <["x"=3]>
func.func @main(%a: tensor<300x128xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [200, 0, 100]}, {}]>}, %b: tensor<128x64xf32>)
    -> (tensor<300x64xf32>, tensor<300xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<300x128xf32>, tensor<128x64xf32>) -> tensor<300x64xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<300x128xf32>, tensor<f32>) -> tensor<300xf32>
  return %0, %1 : tensor<300x64xf32>, tensor<300xf32>
}
"""
PHASES = {"X", "M", "b", "e"}


def check(condition: bool, what: str) -> None:
    if not condition:
        sys.exit(f"trace: {what}")


def is_near(a: float, b: float) -> bool:
    """Whether two times in milliseconds are the same, microseconds rounded to three places."""
    return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-5)


def run(shard_run: str, model: Path, *options: str) -> tuple[dict, dict]:
    """Return report and trace of a program."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.json"
        command = [shard_run, str(model), f"--repeat={STEPS}", "--report=json", f"--trace={file}", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        check(done.returncode == 0, f"shard-run failed on {model.name}:\n{done.stderr}")
        return json.loads(done.stdout), json.loads(file.read_text())


def check_form(trace: dict, ranks: int) -> None:
    """All that viewers ask for: known phases, times, tracks with names, and slices of a track beside or inside one another."""
    names = {}
    slices: dict[tuple, list] = {}
    for event in trace["traceEvents"]:
        check(event["ph"] in PHASES and event["pid"] in range(ranks) and event["tid"] in (0, 1), f"odd event {event}")
        if event["ph"] == "M":
            names[event["name"], event["pid"], event["tid"]] = event["args"]
            continue
        check(event["ts"] >= 0 and event["name"] and event["cat"], f"odd event {event}")
        if event["ph"] == "X":
            check(event["dur"] >= 0, f"odd event {event}")
            slices.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"], event))
    for rank in range(ranks):
        check(names["process_name", rank, 0] == {"name": f"rank {rank}"}, f"rank {rank} has no name")
        check(names["thread_name", rank, 0] == {"name": "compute"}, f"rank {rank} has no compute track")
        check(names["thread_name", rank, 1] == {"name": "communication"}, f"rank {rank} has no communication track")
    for track, found in slices.items():
        stack: list[float] = []
        for begin, end, event in sorted(found, key=lambda entry: (entry[0], -entry[1])):
            while stack and stack[-1] <= begin + 1e-3:
                stack.pop()
            check(not stack or end <= stack[-1] + 1e-3, f"{event['name']} of track {track} overlaps another slice: {event}")
            stack.append(end)
    begun = sorted(event["id"] for event in trace["traceEvents"] if event["ph"] == "b")
    ended = sorted(event["id"] for event in trace["traceEvents"] if event["ph"] == "e")
    check(begun == ended == sorted(set(begun)), "bars that begin and do not end")


def check_sites(report: dict, trace: dict) -> None:
    """The report is the sum of the trace."""
    ranks, sites = report["ranks"], report["communication"]
    events = [event for event in trace["traceEvents"] if event.get("cat") == "communication"]
    totals = {"ms": 0.0, "wait_ms": 0.0, "hidden_ms": 0.0, "bytes": 0}
    for number, site in enumerate(sites):
        mine = [event["args"] for event in events if event["args"]["site"] == number]
        releases = [event["args"] for event in trace["traceEvents"] if event.get("cat") == "release" and event["args"]["site"] == number]
        check(all(event["name"] == site["kind"] for event in events if event["args"]["site"] == number), "kinds differ")
        check(len(releases) in (0, len(mine)), f"site {number} ran {len(mine)} times, and was released {len(releases)}")
        of_step = {key: sum(args.get(name, 0) for args in mine + releases) / (ranks * STEPS) / 1e3
                   for key, name in (("ms", "in_calls"), ("wait_ms", "waiting"), ("hidden_ms", "hidden"))}
        moved = sum(args["bytes"] for args in mine) / STEPS
        check(len(mine) == site["count"] * ranks * STEPS, f"site {number} ran {site['count']} times, not {len(mine) / ranks / STEPS}")
        check(moved == site["bytes"], f"site {number} moves {site['bytes']} bytes, {moved} in the trace")
        for key, value in of_step.items():
            check(is_near(value, site[key]), f"site {number}: {key} is {site[key]}, {value} in the trace")
            totals[key] += value
        totals["bytes"] += moved
        share = of_step["hidden_ms"] / max(of_step["ms"] + of_step["hidden_ms"], 1e-12)
        check(abs(share - site["hidden"]) < 1e-3, f"site {number}: hidden is {site['hidden']}, {share} in the trace")
        for args in mine:
            check(args["posted"] <= args["waited_for"] <= args["done"], f"order of {args}")
            check(set(args["peers"]) <= set(range(ranks)), f"peers of {args}")
            check(args["bytes"] == 0 or args["peers"], f"bytes from nobody: {args}")
            check(args["waiting"] <= args["in_calls"] + 1e-3, f"waits longer than it lasts: {args}")
            # Readings of the clock that stand beside each other, a microsecond apart at the most.
            check(args["hidden"] <= args["waited_for"] - args["posted"] + 1, f"hides more than there is: {args}")
    for key, value in totals.items():
        check(is_near(value, report["communication_total"][key]), f"total {key}: {report['communication_total'][key]}, not {value}")
    share = totals["hidden_ms"] / max(totals["ms"] + totals["hidden_ms"], 1e-12)
    check(abs(share - report["communication_total"]["hidden"]) < 1e-3, "total hidden")


def check_program(shard_run: str, model: Path, kernel: str | None, options: tuple[str, ...]) -> None:
    report, trace = run(shard_run, model, *options)
    check_form(trace, report["ranks"])
    check_sites(report, trace)
    check(trace["otherData"]["steps"] == STEPS and trace["otherData"]["dropped"] == 0, "steps")
    kernels = [event for event in trace["traceEvents"] if event.get("cat") == "kernel"]
    steps = [event for event in trace["traceEvents"] if event.get("cat") == "step"]
    check(len(steps) == STEPS * report["ranks"], f"{len(steps)} steps")
    check(kernel is None or any(event["name"] == kernel for event in kernels), f"{model.name} has no {kernel}")
    check(not any(event["name"].endswith("_site") for event in kernels), f"{model.name}: communication is no kernel")
    for kernel in report["kernels"]:
        mine = [event for event in kernels if (event["name"], event["args"]["location"]) == (kernel["name"], kernel["location"])]
        check(len(mine) == round(kernel["count"] * STEPS * report["ranks"]), f"{kernel} ran {len(mine)} times")
        check(is_near(sum(event["dur"] for event in mine) / (STEPS * report["ranks"]) / 1e3, kernel["ms"]), f"{kernel} took another time")
    check(all(event["args"]["location"].rpartition(":")[2].isdigit() for event in kernels), f"{model.name}: a kernel without a line")
    bars = [event for event in trace["traceEvents"] if event.get("cat") == "under way"]
    check(model.name != "ring.mlir" or bool(bars), "nothing is under way while a ring computes")
    check(model.name != "ring.mlir" or any(event.get("cat") == "release" for event in trace["traceEvents"]), "a ring waits for its readers at each step")


def check_work(shard_run: str, folder: Path) -> None:
    """Bytes and operations of kernels are those of the mathematics, and the report's shares those of the machine that is named."""
    model = folder / "product.mlir"
    model.write_text(PRODUCT)
    machine = "--machine=generic,flops=1e12,memory_bandwidth=1e9"
    for options in ((), ("--dynamic=0:0", "--sizes=0:0=200,0,100"), ("--threads=2",)):
        report, _ = run(shard_run, model, machine, *options)
        found = {kernel["name"]: kernel for kernel in report["kernels"]}
        # Of all ranks: 300 rows; each rank reads all of the other factor, but for the one that has nothing to do with it, whose kernel may count it.
        product = found["dot_general"]
        factor = 128 * 64 * 4
        rows = 300 * (128 + 64) * 4
        check(product["count"] == 1, f"the product runs {product['count']} times")
        check(rows + 2 * factor <= round(3 * product["bytes"]) <= rows + 3 * factor, f"{options}: a product of {product['bytes']} bytes")
        least = 2 * 300 * 128 * 64
        check(least <= round(3 * product["operations"]) <= 1.1 * least, f"{options}: a product of {product['operations']} operations, not {least}")
        sums = found["reduce"]
        check(round(3 * sums["bytes"]) in (300 * 129 * 4, 300 * 130 * 4), f"{options}: sums of {sums['bytes']} bytes")
        # Vectors, and tiles of rows, are counted whole.
        check(300 * 127 <= round(3 * sums["operations"]) <= 1.6 * 300 * 128, f"{options}: sums of {sums['operations']} operations")
        for kernel in report["kernels"]:
            check(math.isclose(kernel["memory_share"] * kernel["ms"], kernel["bytes"] / 1e6), f"share of {kernel}")
            check(math.isclose(kernel["arithmetic_share"] * kernel["ms"], kernel["operations"] / 1e9), f"share of {kernel}")
            check(kernel["share"] == max(kernel["memory_share"], kernel["arithmetic_share"]), f"share of {kernel}")
        check(report["kernels"] == sorted(report["kernels"], key=lambda kernel: -kernel["ms"]), "kernels are not in order")


def main() -> int:
    shard_run, corpus = sys.argv[1], Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        ring = Path(folder) / "ring.mlir"
        ring.write_text(RING)
        check_work(shard_run, Path(folder))
        for model, kernel, *options in ((ring, "pair_step"), (ring, "pair_step", "--sizes=0:1=4000,0,90,6", "--threads=2"),
                                        (corpus / "attn_causal_vjp.mlir", "pair_step", "--mesh=sp=3"),
                                        (corpus / "vit_train.mlir", "dot_general"),
                                        (corpus / "heat2d_dirichlet_uneven.mlir", None),
                                        (corpus / "mlp_dp_tp_train.mlir", "dot_general", "--threads=2")):
            check_program(shard_run, model, kernel, tuple(options))
    return 0


if __name__ == "__main__":
    sys.exit(main())
