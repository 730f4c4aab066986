"""Chains of updates and conditionals, and a table with many readers, drawn by a seed: `write SEED` prints the program, `check SEED FILE` compares its results with what lists of Python say."""

from __future__ import annotations

import itertools
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "Inputs"))
from npz import read

ROWS, COLUMNS, UPDATES, DEPTH, READERS, WIDTH = 8, 40, 60, 24, 36, 4
PLACE, THRESHOLD = 3, 17.5  # the second and third argument
TABLE = f"tensor<{ROWS}x{COLUMNS}xf32>"
Rows = list[list[float]]


class Program:
    """Text, and beside it the values of what it says."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.early: list[str] = []

    def constant(self, name: str, number: float, kind: str) -> None:
        self.early.append(f"%{name} = stablehlo.constant dense<{number}> : {kind}")


def updates(program: Program, stream: random.Random) -> tuple[str, Rows, str, Rows]:
    """Sixty updates that overlap, at places that are known or not; the last table, and a sum of two older ones."""
    tables: list[tuple[str, Rows]] = [("%arg0", [[float(row * COLUMNS + column) for column in range(COLUMNS)] for row in range(ROWS)])]
    older = (stream.randrange(5, 15), stream.randrange(30, 50))
    for number in range(UPDATES):
        width = stream.randint(1, 3)
        kind = f"tensor<{ROWS}x{width}xf32>"
        first = stream.randrange(COLUMNS - width - PLACE)
        added = float(stream.randint(-9, 9))
        program.constant(f"k{number}", added, kind)
        # From this table, from one before, or from what is there at the beginning.
        back = stream.choice([0, 0, 1, min(number, 4), number])
        name, rows = tables[-1 - back]
        lines = program.early if back == number else program.lines
        lines.append(f"%p{number} = stablehlo.slice {name} [0:{ROWS}, {first}:{first + width}] : ({TABLE}) -> {kind}")
        lines.append(f"%s{number} = stablehlo.subtract %k{number}, %p{number} : {kind}")
        part = [[added - rows[row][first + column] for column in range(width)] for row in range(ROWS)]
        target = stream.randrange(COLUMNS - width - PLACE)
        program.constant(f"c{number}", target, "tensor<i32>")
        if is_known := stream.random() < 0.7:
            place = f"%c{number}"
        else:
            place = f"%d{number}"
            program.lines.append(f"{place} = stablehlo.add %c{number}, %place : tensor<i32>")
        program.lines.append(
            f"%t{number} = stablehlo.dynamic_update_slice {tables[-1][0]}, %s{number}, %zero, {place} : ({TABLE}, {kind}, tensor<i32>, tensor<i32>) -> {TABLE}"
        )
        table = [list(row) for row in tables[-1][1]]
        for row in range(ROWS):
            for column in range(width):
                table[row][target + (0 if is_known else PLACE) + column] = part[row][column]
        tables.append((f"%t{number}", table))
    one, other = (tables[number] for number in older)
    program.lines.append(f"%older = stablehlo.add {one[0]}, {other[0]} : {TABLE}")
    total = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(one[1], other[1], strict=True)]
    return tables[-1][0], tables[-1][1], "%older", total


def readers(program: Program) -> tuple[str, Rows]:
    """A computed table of which many parts are read: each less what is there so far."""
    kind = f"tensor<{ROWS}x{WIDTH}xf32>"
    program.lines.append(f"%squares = stablehlo.multiply %arg0, %arg0 : {TABLE}")
    squares = [[float(row * COLUMNS + column) ** 2 for column in range(COLUMNS)] for row in range(ROWS)]
    value, rows = "%nothing", [[0.0] * (WIDTH) for _ in range(ROWS)]
    program.constant("nothing", 0.0, kind)
    for number in range(READERS):
        program.lines.append(f"%g{number} = stablehlo.slice %squares [0:{ROWS}, {number}:{number + WIDTH}] : ({TABLE}) -> {kind}")
        program.lines.append(f"%r{number} = stablehlo.subtract %g{number}, {value} : {kind}")
        value, rows = f"%r{number}", [[squares[row][number + column] - rows[row][column] for column in range(WIDTH)] for row in range(ROWS)]
    return value, rows


def conditionals(program: Program) -> tuple[str, Rows]:
    """Conditionals within one another: the deepest whose number is below the argument gives the result."""
    opened: list[str] = []
    closed: list[str] = []
    value = "%arg0"
    for level in range(DEPTH):
        opened += [
            f"%one{level} = stablehlo.constant dense<1.0> : {TABLE}",
            f"%b{level} = stablehlo.add {value}, %one{level} : {TABLE}",
            f"%l{level} = stablehlo.constant dense<{level}.0> : tensor<f32>",
            f"%q{level} = stablehlo.compare LT, %l{level}, %threshold : (tensor<f32>, tensor<f32>) -> tensor<i1>",
            f'%i{level} = "stablehlo.if"(%q{level}) ({{',
        ]
        inner = f"%i{level + 1}" if level + 1 < DEPTH else f"%b{level}"
        closed = [
            f"stablehlo.return {inner} : {TABLE}",
            "}, {",
            f"%e{level} = stablehlo.multiply %b{level}, %b{level} : {TABLE}",
            f"stablehlo.return %e{level} : {TABLE}",
            f"}}) : (tensor<i1>) -> {TABLE}",
            *closed,
        ]
        value = f"%b{level}"
    program.lines += opened + closed
    # The level that is not below the argument, of which as many additions as its number and one were squared.
    steps = next(level for level in range(DEPTH) if level >= THRESHOLD) + 1
    return "%i0", [[float(row * COLUMNS + column + steps) ** 2 for column in range(COLUMNS)] for row in range(ROWS)]


def main() -> int:
    program = Program()
    name, table, older, total = updates(program, random.Random(int(sys.argv[2])))
    last, half = readers(program)
    chosen, rows = conditionals(program)
    if sys.argv[1] == "write":
        body = "\n  ".join(program.early + program.lines)
        print(f"""sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: {TABLE} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}, %arg1: tensor<1xi32>, %arg2: tensor<1xf32>) -> ({TABLE}, {TABLE}, {TABLE}, tensor<{ROWS}x{WIDTH}xf32>) {{
  %place = stablehlo.reshape %arg1 : (tensor<1xi32>) -> tensor<i32>
  %threshold = stablehlo.reshape %arg2 : (tensor<1xf32>) -> tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  {body}
  return {name}, {older}, {chosen}, {last} : {TABLE}, {TABLE}, {TABLE}, tensor<{ROWS}x{WIDTH}xf32>
}}""")
        return 0
    results = read(sys.argv[3])
    assert len(results) == 4, list(results)
    for number, expected in enumerate((table, total, rows, half)):
        got = results[f"out{number}"]
        wrong = [place for place, (a, b) in enumerate(zip(got, itertools.chain.from_iterable(expected), strict=True)) if a != b]
        if wrong:
            print(f"result {number}: {len(wrong)} elements differ, first {divmod(wrong[0], len(expected[0]))}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
