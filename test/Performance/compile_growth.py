"""How compile time grows with the number of ops, on four ranks (R25 of the reliability goals).

    compile_growth.py [--translate PATH] [--ops 1000,2000,5000,10000] [--kinds elementwise,layers,loops] [--assert]
    compile_growth.py [--translate PATH] [--kinds elementwise,layers,loops] --sample

`elementwise`: a chain of elementwise ops with a sum over the cut dim after every twenty; `layers`: products of a cut batch with weights, bias, ReLU and a residual;
`loops`: short loops that begin with the same zeros. Prints the
processor time of shard-translate, and by which power of the number of ops it grows since the line before. --assert: code 1 where 10,000 ops take more than 10 s, or time grows faster than n log n
from the first to the last. --sample: what a test can ask on a machine that does other things, of 250 and 2,000 ops; code 1 where time grows faster than halfway between n log n and n².
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "Inputs"))
from growth_of_time import growth, processor_time


def elementwise(ops: int) -> str:
    """A chain of elementwise ops on f32[64, 64], cut in rows; every twentieth is a sum of all, added to each."""
    lines, value, count = [], "%arg0", 0
    lines.append("%zero = stablehlo.constant dense<0.0> : tensor<f32>")
    kinds = ["add", "multiply", "maximum", "subtract"]
    while count < ops:
        if count % 20 == 17:
            lines.append(f"%s{count} = stablehlo.reduce({value} init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<f32>")
            lines.append(f"%b{count} = stablehlo.broadcast_in_dim %s{count}, dims = [] : (tensor<f32>) -> tensor<64x64xf32>")
            lines.append(f"%v{count} = stablehlo.add {value}, %b{count} : tensor<64x64xf32>")
            value = f"%v{count}"
            count += 3
        else:
            lines.append(f"%v{count} = stablehlo.{kinds[count % 4]} {value}, %arg0 : tensor<64x64xf32>")
            value = f"%v{count}"
            count += 1
    return program("%arg0: tensor<64x64xf32> " + cut(), lines, value, "tensor<64x64xf32>")


def layers(ops: int) -> str:
    """Layers of five ops on a batch of 64 by 32 features, all with the same weights."""
    lines, value, kind = ["%zero = stablehlo.constant dense<0.0> : tensor<64x32xf32>"], "%arg0", "tensor<64x32xf32>"
    for layer in range(ops // 5):
        lines += [
            f"%d{layer} = stablehlo.dot_general {value}, %arg1, contracting_dims = [1] x [0] : ({kind}, tensor<32x32xf32>) -> {kind}",
            f"%b{layer} = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<32xf32>) -> {kind}",
            f"%a{layer} = stablehlo.add %d{layer}, %b{layer} : {kind}",
            f"%m{layer} = stablehlo.maximum %a{layer}, %zero : {kind}",
            f"%r{layer} = stablehlo.add %m{layer}, {value} : {kind}",
        ]
        value = f"%r{layer}"
    return program(f"%arg0: {kind} {cut()}, %arg1: tensor<32x32xf32>, %arg2: tensor<32xf32>", lines, value, kind)


def loops(ops: int) -> str:
    """Loops of five steps on f32[64, 16], cut in rows, that all begin with the same zeros; eight ops each."""
    kind = "tensor<64x16xf32>"
    state = f"tensor<i32>, {kind}"
    lines = [f"%zeros = stablehlo.constant dense<0.0> : {kind}"]
    lines += [f"%{name} = stablehlo.constant dense<{number}> : tensor<i32>" for name, number in [("first", 0), ("one", 1), ("last", 5)]]
    value = "%arg0"
    for loop in range(ops // 8):
        lines += [
            f"%w{loop}:2 = stablehlo.while(%i{loop} = %first, %a{loop} = %zeros) : {state}",
            "cond {",
            f"  %c{loop} = stablehlo.compare LT, %i{loop}, %last : (tensor<i32>, tensor<i32>) -> tensor<i1>",
            f"  stablehlo.return %c{loop} : tensor<i1>",
            "} do {",
            f"  %n{loop} = stablehlo.add %i{loop}, %one : tensor<i32>",
            f"  %s{loop} = stablehlo.add %a{loop}, {value} : {kind}",
            f"  %t{loop} = stablehlo.tanh %s{loop} : {kind}",
            f"  stablehlo.return %n{loop}, %t{loop} : {state}",
            "}",
            f"%r{loop} = stablehlo.subtract %w{loop}#1, {value} : {kind}",
        ]
        value = f"%r{loop}"
    return program(f"%arg0: {kind} {cut()}", lines, value, kind)


def cut() -> str:
    """The attribute of an argument whose rows are cut."""
    return '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'


def program(arguments: str, lines: list[str], value: str, kind: str) -> str:
    """The text of a program of these ops."""
    body = "\n  ".join(lines)
    return f'sdy.mesh @mesh = <["x"=4]>\nfunc.func @main({arguments}) -> {kind} {{\n  {body}\n  return {value} : {kind}\n}}\n'


KINDS = {"elementwise": elementwise, "layers": layers, "loops": loops}


def compile_time(translate: str, folder: str, kind: str, ops: int) -> float:
    """Seconds of processor time that shard-translate takes for a program of this kind."""
    model = Path(folder) / f"{kind}.mlir"
    model.write_text(KINDS[kind](ops))
    return processor_time([translate, "--no-cache", str(model), "-o", f"{folder}/{kind}.so"])


def sample(translate: str, kinds: list[str]) -> int:
    """Says how time grows from 250 to 2,000 ops; 1 where that is too fast."""
    is_any_fast = False
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds:
            found = growth(lambda ops, kind=kind: compile_time(translate, folder, kind, ops), 250, 2000)
            print(f"{kind}: {found}", flush=True)
            is_any_fast |= found.is_fast
    return int(is_any_fast)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--translate", default="build/bin/shard-translate")
    parser.add_argument("--ops", default="1000,2000,5000,10000")
    parser.add_argument("--kinds", default="elementwise,layers,loops")
    parser.add_argument("--assert", action="store_true", dest="asserts")
    parser.add_argument("--sample", action="store_true")
    options = parser.parse_args()
    if options.sample:
        return sample(options.translate, options.kinds.split(","))
    counts = [int(count) for count in options.ops.split(",")]
    problems = []
    print("| program | ops | processor s | grows as ops to the |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kinds.split(","):
            times: list[float] = []
            for count in counts:
                times.append(compile_time(options.translate, folder, kind, count))
                power = math.log(times[-1] / times[-2]) / math.log(count / counts[len(times) - 2]) if len(times) > 1 else float("nan")
                print(f"| {kind} | {count} | {times[-1]:.2f} | {'' if len(times) == 1 else f'{power:.2f}'} |", flush=True)
                if count == 10_000 and times[-1] > 10:
                    problems.append(f"{kind}: {count} ops take {times[-1]:.1f} s")
            allowed = counts[-1] * math.log(counts[-1]) / (counts[0] * math.log(counts[0]))
            if times[-1] / times[0] > allowed:
                problems.append(f"{kind}: {counts[-1]} ops take {times[-1] / times[0]:.1f} times as long as {counts[0]}, n log n allows {allowed:.1f}")
    for problem in problems:
        print(problem)
    return int(options.asserts and bool(problems))


if __name__ == "__main__":
    sys.exit(main())
