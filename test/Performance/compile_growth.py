"""How compile time grows with the number of ops, on four ranks (R25 of the reliability goals).

    compile_growth.py [--translate PATH] [--ops 1000,2000,5000,10000] [--kinds elementwise,layers,loops|all] [--assert]
    compile_growth.py [--translate PATH] [--kinds elementwise,layers,loops|all] --sample

`elementwise`: a chain of elementwise ops with a sum over the cut dim after every twenty; `layers`: products of a cut batch with weights, bias, ReLU and a residual;
`loops`: short loops that begin with the same zeros. Others stand below, each with a sentence, and `all` names them all. Prints the
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


def nested(op: str, depth: int) -> str:
    """`depth` ops of `op` within one another, each with an op before the one in it."""
    kind = "tensor<64x16xf32>"
    opened: list[str] = []
    closed: list[str] = []
    lines = ["%zero = stablehlo.constant dense<0> : tensor<i32>", "%one = stablehlo.constant dense<1> : tensor<i32>", "%end = stablehlo.constant dense<2> : tensor<i32>"]
    value = "%arg0"
    for level in range(depth):
        if op == "if":
            opened += [
                f"%b{level} = stablehlo.tanh {value} : {kind}",
                f"%k{level} = stablehlo.constant dense<{level}.5> : tensor<f32>",
                f"%c{level} = stablehlo.compare LT, %arg1, %k{level} : (tensor<f32>, tensor<f32>) -> tensor<i1>",
                f'%i{level} = "stablehlo.if"(%c{level}) ({{',
            ]
            closed = [
                f"stablehlo.return {f'%i{level + 1}' if level + 1 < depth else f'%b{level}'} : {kind}",
                "}, {",
                f"%e{level} = stablehlo.negate %b{level} : {kind}",
                f"stablehlo.return %e{level} : {kind}",
                f"}}) : (tensor<i1>) -> {kind}",
                *closed,
            ]
            value = f"%b{level}"
        else:
            opened += [
                f"%w{level}:2 = stablehlo.while(%n{level} = %zero, %v{level} = {value}) : tensor<i32>, {kind}",
                "cond {",
                f"%c{level} = stablehlo.compare LT, %n{level}, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>",
                f"stablehlo.return %c{level} : tensor<i1>",
                "} do {",
                f"%m{level} = stablehlo.add %n{level}, %one : tensor<i32>",
                f"%b{level} = stablehlo.tanh %v{level} : {kind}",
            ]
            inner = f"%w{level + 1}#1" if level + 1 < depth else f"%b{level}"
            closed = [f"%a{level} = stablehlo.add {inner}, %b{level} : {kind}", f"stablehlo.return %m{level}, %a{level} : tensor<i32>, {kind}", "}", *closed]
            value = f"%b{level}"
    return program(f"%arg0: {kind} {cut()}, %arg1: tensor<f32>", lines + opened + closed, "%i0" if op == "if" else "%w0#1", kind)


def ifs(ops: int) -> str:
    """Conditionals within one another, on f32[64, 16]. Each counts as 20 ops: a program may not nest deeper than 256 brackets."""
    return nested("if", max(ops // 20, 1))


def whiles(ops: int) -> str:
    """Loops within one another, of two steps each; 100 ops each."""
    return nested("while", max(ops // 100, 1))


def branches(ops: int) -> str:
    """Conditionals one after the other; five ops each."""
    kind, lines, value = "tensor<64x16xf32>", [], "%arg0"
    for count in range(max(ops // 5, 1)):
        lines += [
            f'%i{count} = "stablehlo.if"(%arg1) ({{',
            f"  %a{count} = stablehlo.tanh {value} : {kind}",
            f"  stablehlo.return %a{count} : {kind}",
            "}, {",
            f"  stablehlo.return {value} : {kind}",
            f"}}) : (tensor<i1>) -> {kind}",
            f"%s{count} = stablehlo.subtract %i{count}, %arg0 : {kind}",
        ]
        value = f"%s{count}"
    return program(f"%arg0: {kind} {cut()}, %arg1: tensor<i1>", lines, value, kind)


def sorts(ops: int) -> str:
    """Sorts of rows by a comparator of the user's, ten ops each."""
    kind, lines, value = "tensor<64x16xf32>", [], "%arg0"
    for count in range(max(ops // 10, 1)):
        lines += [
            f'%o{count} = "stablehlo.sort"({value}) ({{',
            f"^bb0(%x{count}: tensor<f32>, %y{count}: tensor<f32>):",
            f"  %p{count} = stablehlo.multiply %x{count}, %x{count} : tensor<f32>",
            f"  %q{count} = stablehlo.multiply %y{count}, %y{count} : tensor<f32>",
            f"  %c{count} = stablehlo.compare LT, %p{count}, %q{count} : (tensor<f32>, tensor<f32>) -> tensor<i1>",
            f"  stablehlo.return %c{count} : tensor<i1>",
            f"}}) {{dimension = 1 : i64, is_stable = true}} : ({kind}) -> {kind}",
            f"%s{count} = stablehlo.subtract %o{count}, %arg0 : {kind}",
        ]
        value = f"%s{count}"
    return program(f"%arg0: {kind} {cut()}", lines, value, kind)


def functions(ops: int) -> str:
    """Functions of three ops that call one another, each twice one after the other."""
    kind, texts, lines, value = "tensor<64x16xf32>", [], [], "%arg0"
    for count in range(max(ops // 8, 1)):
        texts.append(
            f"func.func private @f{count}(%x: {kind}) -> {kind} {{\n  %a = stablehlo.tanh %x : {kind}\n  %c = stablehlo.constant dense<{count}.5> : {kind}\n"
            f"  %b = stablehlo.add %a, %c : {kind}\n  return %b : {kind}\n}}\n"
        )
        lines += [f"%u{count} = call @f{count}({value}) : ({kind}) -> {kind}", f"%v{count} = call @f{count}(%u{count}) : ({kind}) -> {kind}"]
        value = f"%v{count}"
    return program(f"%arg0: {kind} {cut()}", lines, value, kind) + "".join(texts)


def constants(ops: int) -> str:
    """Vectors of sixteen different numbers, each added to all rows; three ops each."""
    kind, lines, value = "tensor<64x16xf32>", [], "%arg0"
    for count in range(max(ops // 3, 1)):
        numbers = ", ".join(f"{count + place}.25" for place in range(16))
        lines += [
            f"%c{count} = stablehlo.constant dense<[{numbers}]> : tensor<16xf32>",
            f"%b{count} = stablehlo.broadcast_in_dim %c{count}, dims = [1] : (tensor<16xf32>) -> {kind}",
            f"%v{count} = stablehlo.add {value}, %b{count} : {kind}",
        ]
        value = f"%v{count}"
    return program(f"%arg0: {kind} {cut()}", lines, value, kind)


def results(ops: int) -> str:
    """A result for each op of a chain."""
    kind, lines, values = "tensor<64x16xf32>", [], ["%arg0"]
    for count in range(ops):
        lines.append(f"%v{count} = stablehlo.{'tanh' if count % 2 else 'negate'} {values[-1]} : {kind}")
        values.append(f"%v{count}")
    return program(f"%arg0: {kind} {cut()}", lines, ", ".join(values[1:]), ", ".join([kind] * ops))


def arguments(ops: int) -> str:
    """An argument for each op of a chain."""
    kind, lines, value = "tensor<64x16xf32>", [], "%arg0"
    for count in range(ops):
        lines.append(f"%v{count} = stablehlo.{'add' if count % 2 else 'multiply'} {value}, %arg{count + 1} : {kind}")
        value = f"%v{count}"
    return program(", ".join(f"%arg{count}: {kind} {cut()}" for count in range(ops + 1)), lines, value, kind)


def reshapes(ops: int) -> str:
    """Reshapes and transposes that move all elements, with a sum after every third."""
    square, flat, lines, value = "tensor<64x32x8xf32>", "tensor<64x256xf32>", [], "%arg0"
    for count in range(max(ops // 4, 1)):
        lines += [
            f"%t{count} = stablehlo.transpose {value}, dims = [0, 2, 1] : ({square}) -> tensor<64x8x32xf32>",
            f"%f{count} = stablehlo.reshape %t{count} : (tensor<64x8x32xf32>) -> {flat}",
            f"%r{count} = stablehlo.reshape %f{count} : ({flat}) -> {square}",
            f"%v{count} = stablehlo.add %r{count}, {value} : {square}",
        ]
        value = f"%v{count}"
    return program(f"%arg0: {square} " + '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}', lines, value, square)


def users(ops: int) -> str:
    """A value that many ops read, each for a sum of its own; four ops each."""
    kind, lines = "tensor<64x16xf32>", ["%zero = stablehlo.constant dense<0.0> : tensor<f32>", "%m = stablehlo.tanh %arg0 : tensor<64x16xf32>"]
    values: list[str] = []
    for count in range(max(ops // 4, 1)):
        lines += [
            f"%k{count} = stablehlo.constant dense<{count}.5> : {kind}",
            f"%p{count} = stablehlo.multiply %m, %k{count} : {kind}",
            f"%s{count} = stablehlo.reduce(%p{count} init: %zero) applies stablehlo.add across dimensions = [1] : ({kind}, tensor<f32>) -> tensor<64xf32>",
            f"%v{count} = stablehlo.{'add' if count % 2 else 'maximum'} %s{count}, {values[-1] if values else f'%s{count}'} : tensor<64xf32>",
        ]
        values.append(f"%v{count}")
    return program(f"%arg0: {kind} {cut()}", lines, values[-1], "tensor<64xf32>")


def slices(ops: int) -> str:
    """A value of which many parts are read, two ops each."""
    wide, kind = f"tensor<64x{16 * (ops // 2)}xf32>", "tensor<64x16xf32>"
    lines, value = [f"%m = stablehlo.tanh %arg0 : {wide}"], "%arg1"
    for count in range(ops // 2):
        lines += [f"%p{count} = stablehlo.slice %m [0:64, {16 * count}:{16 * count + 16}] : ({wide}) -> {kind}", f"%v{count} = stablehlo.add {value}, %p{count} : {kind}"]
        value = f"%v{count}"
    return program(f"%arg0: {wide} {cut()}, %arg1: {kind} {cut()}", lines, value, kind)


def concats(ops: int) -> str:
    """A tree of concatenations of pairs, with an op before each."""
    lines, level, columns, count = [], [], 16, 0
    leaves = 1 << max(int(math.log2(max(ops // 3, 2))), 1)
    for leaf in range(leaves):
        lines += [f"%k{leaf} = stablehlo.constant dense<{leaf}.5> : tensor<64x16xf32>", f"%l{leaf} = stablehlo.add %arg0, %k{leaf} : tensor<64x16xf32>"]
        level.append(f"%l{leaf}")
    while len(level) > 1:
        kind, twice = f"tensor<64x{columns}xf32>", f"tensor<64x{2 * columns}xf32>"
        joined = []
        for left, right in zip(level[::2], level[1::2], strict=True):
            lines.append(f"%c{count} = stablehlo.concatenate {left}, {right}, dim = 1 : ({kind}, {kind}) -> {twice}")
            joined.append(f"%c{count}")
            count += 1
        level, columns = joined, 2 * columns
    return program(f"%arg0: tensor<64x16xf32> {cut()}", lines, level[0], f"tensor<64x{columns}xf32>")


def updates(ops: int) -> str:
    """Rows of a table that are written one after the other, at places that are computed; three ops each."""
    rows = max(ops // 3, 1)
    table, kind, lines, value = f"tensor<64x{rows}xf32>", "tensor<64x1xf32>", ["%zero = stablehlo.constant dense<0> : tensor<i32>"], "%arg0"
    for count in range(rows):
        lines += [
            f"%k{count} = stablehlo.constant dense<{count}.5> : {kind}",
            f"%r{count} = stablehlo.add %arg1, %k{count} : {kind}",
            f"%i{count} = stablehlo.constant dense<{count}> : tensor<i32>",
            f"%v{count} = stablehlo.dynamic_update_slice {value}, %r{count}, %zero, %i{count} : ({table}, {kind}, tensor<i32>, tensor<i32>) -> {table}",
        ]
        value = f"%v{count}"
    return program(f"%arg0: {table} {cut()}, %arg1: {kind} {cut()}", lines, value, table)


def cut() -> str:
    """The attribute of an argument whose rows are cut."""
    return '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'


def program(arguments: str, lines: list[str], value: str, kind: str) -> str:
    """The text of a program of these ops."""
    body = "\n  ".join(lines)
    return f'sdy.mesh @mesh = <["x"=4]>\nfunc.func @main({arguments}) -> ({kind}) {{\n  {body}\n  return {value} : {kind}\n}}\n'


KINDS = {
    kind.__name__: kind
    for kind in (
        [elementwise, layers, loops, ifs, whiles, branches, sorts, functions, constants, results, arguments, reshapes, users, slices, concats, updates]
    )
}


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
    if options.kinds == "all":
        options.kinds = ",".join(KINDS)
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
