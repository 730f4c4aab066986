"""The pictures of docs/Pictures. scripts/generate_reference.py writes and checks them.

What a picture shows as data is computed here, or read from the tree.
"""

from __future__ import annotations

import re
from itertools import pairwise

from canvas import PLAIN, QUIET, RANKS, SOLID, Canvas
from check_layers import read_layers
from pass_docs import ROOT


def levels_of_rooms() -> list[list[str]]:
    """Rooms of cmake/layers.txt from the lowest level; each includes those of lower levels alone."""
    layers = {room: names - {room} for room, names in read_layers(ROOT / "cmake" / "layers.txt").items()}
    level: dict[str, int] = {}

    def find(room: str) -> int:
        if room not in level:
            level[room] = 1 + max((find(name) for name in layers[room] if name in layers), default=-1)
        return level[room]

    for room in layers:
        find(room)
    return [[room for room in layers if level[room] == number] for number in range(max(level.values()) + 1)]


def rooms() -> str:
    levels = levels_of_rooms()
    canvas = Canvas(860, 58 * len(levels) + 20, "Rooms by level")
    for number, names in enumerate(reversed(levels)):
        y = 14 + number * 58
        width = min(118, 840 / len(names) - 8)
        left = 430 - (width + 8) * len(names) / 2
        for place, name in enumerate(names):
            fill = RANKS[0] if len(names) > 6 else PLAIN  # the level of the stages
            canvas.box(left + place * (width + 8) + 4, y, width, 38, name, size=11, fill=fill)
    return canvas.svg()


def balanced(size: int, shards: int) -> list[int]:
    """Boundaries of a balanced cut: the first shards hold one element more."""
    bounds = [0]
    for shard in range(shards):
        bounds.append(bounds[-1] + size // shards + (shard < size % shards))
    return bounds


def terms() -> str:
    """Ten rows on four ranks, and what a window of three rows needs of the second."""
    canvas = Canvas(720, 190, "Shards, boundaries and a halo")
    bounds, left, cell, top = balanced(10, 4), 60, 60, 60
    for rank in range(4):
        begin, end = bounds[rank], bounds[rank + 1]
        canvas.box(
            left + begin * cell, top, (end - begin) * cell, 44, f"shard of rank {rank}", fill=RANKS[rank], size=12
        )
    for bound in bounds:
        canvas.line(left + bound * cell, top - 16, left + bound * cell, top, stroke=SOLID[0], width=2)
        canvas.text(left + bound * cell, top - 22, str(bound), fill=SOLID[0], bold=True)
    canvas.text(left + 5 * cell, 18, "boundaries", fill=SOLID[0], bold=True)
    begin, end = bounds[1], bounds[2]
    canvas.box(left + begin * cell, 122, (end - begin) * cell, 22, f"owned [{begin}, {end})", fill=RANKS[1], size=12)
    for place in (begin - 1, end):
        canvas.box(left + place * cell, 122, cell, 22, "halo", fill="white", dashed=True, size=12)
    canvas.line(left + (begin - 1) * cell, 156, left + (end + 1) * cell, 156, stroke=SOLID[3], width=2)
    canvas.text(
        left + (begin + end) / 2 * cell,
        174,
        f"needed by a window of 3 rows: [{begin - 1}, {end + 1})",
        12,
        fill=SOLID[3],
    )
    return canvas.svg()


def grid(canvas: Canvas, left: float, top: float, cell: float, owners: list[list[int]], label: bool = True) -> None:
    """A matrix whose elements have the colours of their owners; -1: nobody's."""
    for row, line in enumerate(owners):
        for column, owner in enumerate(line):
            fill = RANKS[owner % len(RANKS)] if owner >= 0 else "white"
            text = str(owner) if label and owner >= 0 else ""
            canvas.box(left + column * cell, top + row * cell, cell, cell, text, fill=fill, size=11, stroke=QUIET)


def owner_of(bounds: list[int], index: int) -> int:
    return next(shard for shard in range(len(bounds) - 1) if bounds[shard] <= index < bounds[shard + 1])


def sharding() -> str:
    """A mesh of 4 by 2, and a matrix of 10 by 6 cut along both axes, evenly and unevenly."""
    canvas = Canvas(760, 345, "A mesh of eight ranks, and two shardings of a matrix")
    canvas.text(95, 24, 'mesh <["x"=4, "y"=2]>', mono=True, size=12)
    for x in range(4):
        for y in range(2):
            rank = 2 * x + y
            canvas.box(55 + y * 50, 50 + x * 50, 40, 40, str(rank), fill=RANKS[rank], bold=True)
    canvas.text(35, 150, "x", bold=True)
    canvas.text(100, 270, "y", bold=True)
    columns = balanced(6, 2)
    uneven = [0, 5, 5, 8, 10]
    for left, rows, name in (
        (250, balanced(10, 4), '[{"x"}, {"y"}]'),
        (520, uneven, '[{"x" sizes [5, 0, 3, 2]}, {"y"}]'),
    ):
        canvas.text(left + 81, 24, name, mono=True, size=12)
        owners = [[2 * owner_of(rows, i) + owner_of(columns, j) for j in range(6)] for i in range(10)]
        grid(canvas, left, 40, 27, owners)
    canvas.text(331, 332, "balanced: 3, 3, 2, 2 rows", 12)
    canvas.text(601, 332, "uneven: ranks 2 and 3 hold nothing", 12)
    return canvas.svg()


def halo() -> str:
    """The table of the first example of docs/Concepts/Halo.md."""
    page = (ROOT / "docs" / "Concepts" / "Halo.md").read_text()
    found = re.search(r"halo_exchange .*?: \[(.*?)\] -> \[(.*?)\]", page)
    assert found
    owned, needed = ([tuple(map(int, part.split(":"))) for part in table.split(", ")] for table in found.groups())
    size = owned[-1][1]
    canvas = Canvas(760, 84 + 50 * len(owned), "Owned and needed intervals of a convolution on four ranks")
    left, unit = 90, 18.0

    def at(index: int) -> float:
        return left + (index + 1) * unit

    for index in range(0, size + 1, 8):
        canvas.text(at(index), 26, str(index), 12)
        canvas.line(at(index), 32, at(index), 44 + 50 * len(owned), stroke="#d0d7de", dashed=True)
    for rank, (mine, wanted) in enumerate(zip(owned, needed, strict=True)):
        y = 46 + rank * 50
        canvas.text(left - 8, y + 22, f"rank {rank}", 13, anchor="end")
        canvas.box(
            at(mine[0]), y, (mine[1] - mine[0]) * unit, 26, f"owned {mine[0]}:{mine[1]}", fill=RANKS[rank], size=12
        )
        for place in [*range(wanted[0], mine[0]), *range(mine[1], wanted[1])]:
            inside = 0 <= place < size
            fill = RANKS[owner_of([mine[0] for mine in owned] + [size], place)] if inside else "white"
            canvas.box(at(place), y, unit, 26, "" if inside else "0", fill=fill, dashed=True, size=11)
        canvas.line(at(wanted[0]), y + 33, at(wanted[1]), y + 33, stroke=SOLID[rank], width=2.5)
    y = 62 + 50 * len(owned)
    canvas.text(
        left,
        y,
        "Line: needed. Dashed: the halo, in the colour of the rank that owns it; 0 is the fill outside of the domain.",
        12,
        anchor="start",
    )
    return canvas.svg()


def binding() -> str:
    """Three bindings of one program: what a window of three needs where shards have other sizes."""
    bindings = ([4, 4, 4, 4], [7, 1, 0, 8], [0, 16, 0, 0])
    size, unit, left = 16, 26.0, 190
    canvas = Canvas(760, 118 + 96 * len(bindings), "One program bound to three vectors of sizes")
    canvas.text(20, 26, "the artifact", bold=True, anchor="start")
    canvas.box(left, 10, size * unit, 26, "needed = positions [-1, 1, 1] (given boundaries, 0:3)", mono=True, size=12)
    for number, sizes in enumerate(bindings):
        y = 62 + 96 * number
        canvas.arrow(left + size * unit / 2, y - 24 if number == 0 else y - 14, left + size * unit / 2, y - 4)
        canvas.text(20, y + 18, "--sizes=0:0=", 12, anchor="start", mono=True)
        canvas.text(20, y + 36, ",".join(map(str, sizes)), 12, anchor="start", mono=True)
        begin = 0
        for rank, shard in enumerate(sizes):
            end = begin + shard
            if shard:
                canvas.box(left + begin * unit, y, shard * unit, 26, f"rank {rank}", fill=RANKS[rank], size=12)
                low, high = max(begin - 1, 0), min(end + 1, size)
                height = y + 34 + 8 * (rank % 2)
                canvas.line(left + low * unit, height, left + high * unit, height, stroke=SOLID[rank], width=2.5)
            begin = end
    y = 84 + 96 * len(bindings)
    canvas.text(
        20,
        y,
        "Line: what a rank needs. Tables, plans of exchanges and places of buffers follow from sizes; the code is one.",
        12,
        anchor="start",
    )
    return canvas.svg()


def balance() -> str:
    """Rows whose work grows, in equal shards and in those of equal work, and how long each rank takes."""
    ranks, rows, unit, left = 4, 24, 14.0, 120
    ends = [sum(range(end)) for end in range(rows + 1)]
    equal_work = [min(range(rows + 1), key=lambda row: abs(ends[row] - ends[-1] * cut / ranks))
                  for cut in range(ranks + 1)]
    canvas = Canvas(760, 296, "Equal shards, and shards of equal work")
    canvas.text(left + rows * unit / 2, 20, "rows of causal attention: the later, the more work", 12)
    canvas.text(620, 20, "own time of each rank", 12)
    for number, (what, bounds) in enumerate((("equal shards", balanced(rows, ranks)), ("balanced", equal_work))):
        y = 40 + 124 * number
        canvas.text(20, y + 17, what, 12, anchor="start")
        times = [ends[end] - ends[begin] for begin, end in pairwise(bounds)]
        for rank, (begin, end) in enumerate(pairwise(bounds)):
            canvas.box(left + begin * unit, y, (end - begin) * unit, 26, f"rank {rank}", fill=RANKS[rank], size=11)
            canvas.box(490, y + 22 * rank, 480 * times[rank] / ends[-1], 18, fill=RANKS[rank])
        imbalance = max(times) * ranks / sum(times)
        canvas.text(left, y + 56, f"imbalance {imbalance:.2f}: slowest / mean", 12, anchor="start")
    canvas.text(20, 284, "Between: times of steps, boundaries that follow from them, a binding.", 12, anchor="start")
    return canvas.svg()


def ring() -> str:
    """Which block each rank has at each ring step, and when each pair of blocks is computed."""
    ranks = 4
    canvas = Canvas(760, 290, "A ring of four ranks")
    canvas.text(190, 22, "keys that a rank has", bold=True)
    for step in range(ranks):
        canvas.text(112 + step * 62, 46, f"step {step}", 12)
    for rank in range(ranks):
        canvas.text(72, 82 + rank * 52, f"rank {rank}", anchor="end")
        for step in range(ranks):
            block = (rank + step) % ranks
            canvas.box(84 + step * 62, 58 + rank * 52, 56, 40, f"block {block}", fill=RANKS[block], size=12)
            if step + 1 < ranks and rank:
                canvas.line(
                    142 + (step + 0) * 62,
                    74 + rank * 52,
                    146 + step * 62,
                    82 + (rank - 1) * 52 + 12,
                    stroke=QUIET,
                    dashed=True,
                )
    canvas.text(560, 22, "step at which a pair of blocks is computed", bold=True)
    for block in range(ranks):
        canvas.text(492 + block * 52, 46, f"keys {block}", 12)
    for rank in range(ranks):
        canvas.text(456, 82 + rank * 52, f"queries {rank}", 12, anchor="end")
        for block in range(ranks):
            canvas.box(466 + block * 52, 58 + rank * 52, 52, 40, str((block - rank) % ranks), fill=RANKS[block])
    canvas.text(380, 282, "Each colour is a block of keys. Dashed: where a block goes next.", 12)
    return canvas.svg()


def causal_pairs(rows_of_rank: list[list[int]]) -> list[int]:
    return [sum(row + 1 for row in rows) for rows in rows_of_rank]


def zigzag() -> str:
    """A causal mask of 16 tokens on four ranks: pairs that each computes, in order and in zigzag order."""
    tokens, ranks = 16, 4
    part = tokens // (2 * ranks)
    natural = [list(range(rank * 2 * part, (rank + 1) * 2 * part)) for rank in range(ranks)]
    ends = [
        [*range(rank * part, (rank + 1) * part), *range(tokens - (rank + 1) * part, tokens - rank * part)]
        for rank in range(ranks)
    ]
    canvas = Canvas(760, 330, "Causal attention on four ranks, in order and in zigzag order")
    for left, rows_of_rank, name in ((60, natural, "in order"), (430, ends, "in zigzag order")):
        owner = {row: rank for rank, rows in enumerate(rows_of_rank) for row in rows}
        canvas.text(left + 104, 22, name, bold=True)
        grid(
            canvas,
            left,
            34,
            13,
            [[owner[i] if j <= i else -1 for j in range(tokens)] for i in range(tokens)],
            label=False,
        )
        pairs = causal_pairs(rows_of_rank)
        mean = sum(pairs) / ranks
        for rank, count in enumerate(pairs):
            y = 252 + rank * 18
            canvas.text(left - 4, y + 11, f"rank {rank}", 11, anchor="end")
            canvas.box(left, y, count * 2.6, 14, fill=RANKS[rank])
            canvas.text(
                left + count * 2.6 + 5, y + 11, f"{count} pairs, {count / mean:.2f} of the mean", 11, anchor="start"
            )
        canvas.text(left + 214, 130, "queries", 11, anchor="start", fill=QUIET)
        canvas.text(left + 104, 247, "", 11)
    return canvas.svg()


def communication() -> str:
    """What a rank does when, with communication on the spot, and after the communicate stage."""
    canvas = Canvas(760, 220, "A rank before and after the communicate stage")
    wait, work = "#f4cccc", "#cfe2f3"
    before = [
        ("exchange u", 90, wait),
        ("op", 60, work),
        ("exchange u", 90, wait),
        ("op", 60, work),
        ("reduce a", 76, wait),
        ("op", 60, work),
        ("reduce b", 76, wait),
        ("op", 50, work),
    ]
    after = [("op", 60, work), ("op", 60, work), ("op", 60, work), ("op", 50, work), ("reduce a + b", 100, wait)]
    for y, name, parts in ((30, "before", before), (120, "after", after)):
        canvas.text(70, y + 24, name, bold=True, anchor="end")
        x = 80.0
        for text, width, fill in parts:
            canvas.box(x, y, width, 38, text, fill=fill, size=12)
            x += width
    canvas.line(80, 176, 200, 176, arrow=True, stroke=SOLID[7], width=2)
    canvas.text(140, 194, "exchange u, under way", 12, fill=SOLID[7])
    canvas.line(200, 158, 200, 184, dashed=True)
    canvas.text(206, 180, "waited for here", 12, anchor="start")
    canvas.text(
        410,
        212,
        "Red: the rank waits. Blue: it computes. Equal exchanges are one; reductions travel together, late.",
        12,
    )
    return canvas.svg()


def gather() -> str:
    """Rows that two ranks ask for by index, and which of them travel."""
    bounds, wanted = [0, 4, 8], [[1, 6, 6, 2], [5, 1, 7, 0]]
    canvas = Canvas(760, 300, "Rows asked for by index")
    for rank in range(2):
        top = 30 + rank * 130
        canvas.text(90, top + 54, f"rank {rank}", bold=True, anchor="end")
        canvas.text(160, top - 8, "indices", 12)
        for place, index in enumerate(wanted[rank]):
            canvas.box(110 + place * 26, top, 24, 24, str(index), fill=RANKS[owner_of(bounds, index)], size=12)
        canvas.text(340, top - 8, f"rows that it owns: {bounds[rank]} to {bounds[rank + 1] - 1}", 12)
        for place, row in enumerate(range(bounds[rank], bounds[rank + 1])):
            canvas.box(260 + place * 42, top, 40, 24, f"row {row}", fill=RANKS[rank], size=11)
        remote = sorted({index for index in wanted[rank] if owner_of(bounds, index) != rank})
        canvas.text(600, top - 8, "rows that travel to it, once each", 12)
        for place, row in enumerate(remote):
            canvas.box(560 + place * 42, top, 40, 24, f"row {row}", fill=RANKS[owner_of(bounds, row)], size=11)
        canvas.text(160, top + 46, "result", 12)
        for place, row in enumerate(wanted[rank]):
            canvas.box(110 + place * 42, top + 54, 40, 24, f"row {row}", fill=RANKS[owner_of(bounds, row)], size=11)
    canvas.text(
        380, 286, "The plan says whose rows the indices name. Row 6 is asked for twice by rank 0, and sent once.", 12
    )
    return canvas.svg()


def chain(
    canvas: Canvas,
    x: float,
    y: float,
    width: float,
    texts: list[str],
    step: float = 44,
    height: float = 30,
    fill: str = PLAIN,
    mono: bool = False,
) -> None:
    """Boxes one below the other, with arrows."""
    for number, text in enumerate(texts):
        canvas.box(x, y + number * step, width, height, text, fill=fill, size=12, mono=mono)
        if number:
            canvas.arrow(x + width / 2, y + number * step - step + height, x + width / 2, y + number * step)


def attention() -> str:
    canvas = Canvas(760, 330, "From plain StableHLO to a ring")
    canvas.text(120, 20, "the program", bold=True)
    chain(
        canvas,
        30,
        32,
        180,
        [
            "dot_general (q, k)",
            "select (mask)",
            "reduce maximum",
            "subtract, exponential",
            "reduce add",
            "divide",
            "dot_general (p, v)",
        ],
        step=40,
    )
    canvas.line(210, 160, 290, 160, arrow=True)
    canvas.text(250, 150, "raise", 12)
    canvas.text(380, 20, "one op", bold=True)
    canvas.box(290, 110, 180, 100, "pairs.all_pairs\nscore region: mask\nband: key <= query", fill=RANKS[0], size=12)
    canvas.line(470, 160, 550, 160, arrow=True)
    canvas.text(510, 150, "partition", 12)
    canvas.text(640, 20, "on each rank", bold=True)
    chain(
        canvas,
        550,
        60,
        180,
        ["pair_step, own block", "wait for next block", "pair_step", "wait for next block", "pair_step, last block"],
        step=46,
        fill=RANKS[1],
    )
    canvas.text(640, 310, "state: maximum, sum, accumulator", 11)
    return canvas.svg()


def whole_dims() -> str:
    """A dim that is cut is sorted: another dim is cut meanwhile."""
    canvas = Canvas(760, 240, "A sort along a dim that is cut")
    rows = [[j // 2 for j in range(8)] for _ in range(8)]
    columns = [[i // 2 for _ in range(8)] for i in range(8)]
    for left, owners, name in (
        (30, rows, "lines are cut"),
        (305, columns, "each rank has whole lines"),
        (580, rows, "lines are cut again"),
    ):
        canvas.text(left + 76, 22, name, bold=True, size=12)
        grid(canvas, left, 34, 19, owners)
    for left in (186, 461):
        canvas.arrow(left, 110, left + 115, 110)
        canvas.text(left + 58, 100, "all-to-all", 12)
    canvas.line(320, 204, 445, 204, arrow=True)
    canvas.text(382, 222, "sort, on each rank by itself", 12)
    return canvas.svg()


def importing() -> str:
    canvas = Canvas(760, 300, "What import takes and leaves")
    left = [
        "functions, calls, composites",
        "dynamic shapes",
        "custom calls of LAPACK and others",
        "sdy.sharding, sdy.sharding_constraint",
        "sdy.manual_computation",
        "mhlo.sharding, xla.sdy.* (older)",
    ]
    right = ["one function, @main", "static shapes", "ops", "spmd.sharding, spmd.constrain", "spmd.manual"]
    targets = [0, 1, 2, 3, 4, 3]
    for number, text in enumerate(left):
        canvas.box(20, 40 + number * 42, 280, 30, text, size=12)
        canvas.line(300, 55 + number * 42, 480, 65 + targets[number] * 48, arrow=True, stroke=QUIET)
    for number, text in enumerate(right):
        canvas.box(480, 50 + number * 48, 260, 30, text, fill=RANKS[0], size=12)
    canvas.text(160, 24, "as JAX prints it", bold=True)
    canvas.text(610, 24, "behind --spmd-import", bold=True)
    return canvas.svg()


def propagation() -> str:
    """Factors of a convolution, and how an axis on one dim reaches others."""
    canvas = Canvas(760, 250, "Factors of a convolution")
    tensors = [
        ("image", ["n", "h + kh - 1", "w + kw - 1", "c"]),
        ("kernel", ["kh", "kw", "c", "o"]),
        ("result", ["n", "h", "w", "o"]),
    ]
    canvas.line(318, 74, 318, 168, stroke=SOLID[0], width=2, dashed=True)
    for row, (name, dims) in enumerate(tensors):
        canvas.text(110, 60 + row * 66, name, bold=True, anchor="end")
        for place, dim in enumerate(dims):
            cut = dim.split()[0] == "h"
            canvas.box(130 + place * 130, 36 + row * 66, 116, 38, dim, fill=RANKS[0] if cut else PLAIN, mono=True)
            if cut:
                canvas.text(130 + place * 130 + 58, 30 + row * 66, 'axis "x"', 11, fill=SOLID[0], bold=True)
    canvas.text(
        380,
        232,
        'The image is cut along "x" in h. The result has the factor h too, so it is cut alike. The kernel stays whole.',
        12,
    )
    return canvas.svg()


def checkpoints() -> str:
    """An array of 12 rows, saved by four ranks and read by three."""
    canvas = Canvas(760, 260, "Saved on four ranks, read on three")
    unit, left = 52, 110

    def bars(y: float, bounds: list[int], name: str) -> None:
        canvas.text(left - 10, y + 22, name, anchor="end", size=12)
        for rank in range(len(bounds) - 1):
            width = (bounds[rank + 1] - bounds[rank]) * unit
            canvas.box(
                left + bounds[rank] * unit,
                y,
                width,
                34,
                f"rank {rank}: {bounds[rank]}:{bounds[rank + 1]}",
                fill=RANKS[rank],
                size=12,
            )

    saved, read = balanced(12, 4), balanced(12, 3)
    bars(24, saved, "step 30")
    canvas.box(left, 110, 12 * unit, 36, "state.safetensors: rows 0 to 11, in order", size=12)
    canvas.text(left - 10, 132, "file", anchor="end", size=12)
    bars(196, read, "resumed")
    for rank in range(4):
        x = left + (saved[rank] + saved[rank + 1]) / 2 * unit
        canvas.arrow(x, 58, x, 110)
    for rank in range(3):
        x = left + (read[rank] + read[rank + 1]) / 2 * unit
        canvas.arrow(x, 146, x, 196)
    canvas.text(
        left + 6 * unit, 250, "Each rank writes its box to its place, and reads the box that it needs then.", 12
    )
    return canvas.svg()


def threads() -> str:
    """Sixteen rows on two ranks, tiles of each on three threads."""
    canvas = Canvas(760, 250, "Ranks and their threads")
    for rank in range(2):
        left = 60 + rank * 370
        canvas.text(left + 130, 22, f"rank {rank}: rows {rank * 12} to {rank * 12 + 11}", bold=True)
        canvas.box(left - 10, 32, 280, 184, fill="white", stroke=QUIET)
        bounds = balanced(12, 3)
        for thread in range(3):
            for row in range(bounds[thread], bounds[thread + 1]):
                canvas.box(left + 76, 40 + row * 14, 184, 12, fill=RANKS[thread + 4 * rank], stroke=QUIET)
            canvas.text(
                left + 70, 40 + (bounds[thread] + bounds[thread + 1]) * 7 + 4, f"thread {thread}", 12, anchor="end"
            )
    canvas.line(330, 124, 420, 124, arrow=True, stroke=SOLID[7])
    canvas.line(420, 140, 330, 140, arrow=True, stroke=SOLID[7])
    canvas.text(375, 112, "exchanges", 12, fill=SOLID[7])
    canvas.text(
        380, 240, "Axes cut tensors over ranks; threads share what a rank computes. Exchanges are the rank's own.", 12
    )
    return canvas.svg()


def gpu() -> str:
    canvas = Canvas(760, 330, "From linalg on buffers to kernels")
    canvas.box(250, 14, 260, 40, "linalg on buffers, in one arena\n(as on the CPU)", size=12)
    canvas.arrow(380, 54, 380, 84)
    canvas.text(390, 74, "form-gpu-kernels", 12, anchor="start", mono=True)
    canvas.box(250, 84, 260, 30, "gpu.launch, and host code around", fill=RANKS[0], size=12)
    canvas.arrow(300, 114, 180, 150)
    canvas.arrow(460, 114, 580, 150)
    canvas.text(380, 140, "call-runtime, call-device", 12, mono=True)
    canvas.box(50, 150, 260, 30, "gpu.module @shardc_kernels", fill=RANKS[1], size=12)
    canvas.box(450, 150, 260, 30, "host: shardrt_launch, sites, loops", fill=RANKS[2], size=12)
    canvas.arrow(130, 180, 100, 220)
    canvas.arrow(230, 180, 260, 220)
    canvas.box(20, 220, 170, 44, "PTX, cubin, fatbin\n(ptxas)", fill=RANKS[1], size=12)
    canvas.box(200, 220, 170, 44, "functions of the host\n(emulated device)", fill=RANKS[1], size=12)
    canvas.arrow(580, 180, 580, 220)
    canvas.box(450, 220, 260, 44, "LLVM IR, object file", fill=RANKS[2], size=12)
    for x in (105, 285, 580):
        canvas.arrow(x, 264, 380 + (x - 380) / 4, 292)
    canvas.box(270, 292, 220, 30, "one artifact", size=12, bold=True)
    return canvas.svg()


def pipeline() -> str:
    """A schedule of loads and products: each stage is loaded once it is empty, and multiplied once it is full."""
    stages, tiles, latency, product = 4, 10, 5, 2
    loads: list[tuple[int, int]] = []
    products: list[tuple[int, int]] = []
    for tile in range(tiles):
        empty = products[tile - stages][1] if tile >= stages else 0
        issue = max(empty, loads[-1][0] + 1 if loads else 0)
        loads.append((issue, issue + latency))
        begin = max(loads[tile][1], products[-1][1] if products else 0)
        products.append((begin, begin + product))
    unit, left = 22.5, 146
    canvas = Canvas(760, 300, "The software pipeline of a product")
    canvas.text(left - 8, 28, "producer loads", anchor="end", size=12, bold=True)
    for stage in range(stages):
        canvas.text(left - 8, 58 + stage * 36, f"stage {stage}", anchor="end", size=12)
    for tile, (begin, end) in enumerate(loads):
        stage = tile % stages
        canvas.box(
            left + begin * unit,
            40 + stage * 36,
            (end - begin) * unit,
            28,
            f"tile {tile}",
            fill=RANKS[stage],
            size=11,
            dashed=True,
        )
        full, done = products[tile]
        canvas.box(left + full * unit, 40 + stage * 36, (done - full) * unit, 28, fill="#d0d7de")
    canvas.text(left - 8, 222, "consumers multiply", anchor="end", size=12, bold=True)
    for tile, (begin, end) in enumerate(products):
        canvas.box(left + begin * unit, 204, (end - begin) * unit, 30, str(tile), fill=RANKS[tile % stages], size=12)
    canvas.line(left, 246, 750, 246, arrow=True)
    canvas.text(745, 262, "time", 12, anchor="end")
    canvas.text(
        380,
        286,
        "Dashed: a TMA copy is under way; its end completes the stage's full mbarrier. "
        "Grey: in use until the empty mbarrier.",
        12,
    )
    return canvas.svg()


def stages() -> str:
    """The way of a 3x3 convolution of 32 rows on four ranks."""
    canvas = Canvas(760, 470, "The way of a convolution through the stages")
    steps = [
        ("the program", 'stablehlo.convolution: 32x8 -> 32x8, rows cut along "x"'),
        ("import", 'spmd.mesh <["x"=4]>; spmd.sharding on arguments'),
        ("propagate", 'spmd.shardings on every op: the result is cut along "x" as well'),
        ("partition", "local.halo_exchange [0:8, ...] -> [-1:9, ...]; convolution: 10x8 -> 8x8"),
        ("communicate", "exchanges merged, moved, verified"),
        ("lower", "kernel.run_site 0; linalg.generic; then vector loops; then LLVM"),
        ("link", "model.so: shardc_main, tables, metadata"),
        ("run", "each rank: shardrt_exchange(site 0), then its own 8 rows"),
    ]
    for number, (stage, text) in enumerate(steps):
        y = 16 + number * 56
        fill = RANKS[0] if number < 3 else RANKS[1] if number < 7 else RANKS[2]
        canvas.box(20, y, 130, 36, stage, fill=fill, bold=True)
        canvas.box(170, y, 570, 36, text, fill="white", mono=True, size=12)
        if number:
            canvas.arrow(85, y - 20, 85, y)
    canvas.text(745, 14 + 2 * 56 + 52, "global view above, local view below", 11, anchor="end", fill=QUIET)
    return canvas.svg()


def kernels() -> str:
    canvas = Canvas(760, 280, "A product in tiles of registers")
    canvas.text(130, 22, "left operand", bold=True, size=12)
    canvas.box(50, 60, 160, 160, fill=PLAIN)
    canvas.box(50, 110, 160, 30, "rows", fill=RANKS[1], size=11)
    canvas.text(380, 22, "right operand", bold=True, size=12)
    canvas.box(300, 60, 160, 160, fill=PLAIN)
    canvas.box(350, 60, 56, 160, "columns,\nin vectors", fill=RANKS[2], size=11)
    canvas.text(630, 22, "result", bold=True, size=12)
    canvas.box(550, 60, 160, 160, fill=PLAIN)
    canvas.box(600, 110, 56, 30, "tile", fill=RANKS[0], size=12)
    canvas.text(255, 146, "x", 22)
    canvas.text(505, 146, "=", 22)
    canvas.text(
        380,
        252,
        "A tile of the result stays in vector registers for the whole depth. Schedule picks its size.",
        12,
    )
    canvas.text(380, 270, "Nest says what an op reads and writes; the EmitNest files write the loops.", 12)
    return canvas.svg()


def transport() -> str:
    canvas = Canvas(760, 300, "One exchange over the four calls of a transport")
    lanes = (200, 560)
    for rank, x in enumerate(lanes):
        canvas.text(x, 22, f"rank {rank}", bold=True)
        canvas.line(x, 32, x, 290, stroke=QUIET)
        for y, call in (
            (50, "post my block"),
            (110, "open the other's"),
            (160, "copy what I need"),
            (205, "close it"),
            (250, "finish mine"),
        ):
            canvas.box(x - 75, y, 150, 28, call, fill=RANKS[rank], size=12)
    for source, target, dashed in ((0, 1, False), (1, 0, False)):
        near, far = lanes[source], lanes[target]
        sign = 1 if far > near else -1
        canvas.line(near + sign * 75, 64, far - sign * 75, 120, arrow=True, stroke=SOLID[source], dashed=dashed)
        canvas.line(near + sign * 75, 219, far - sign * 75, 260, arrow=True, stroke=SOLID[source], dashed=True)
    canvas.text(380, 70, "published", 12)
    canvas.text(380, 228, "read", 12)
    return canvas.svg()


def processes() -> str:
    canvas = Canvas(760, 250, "Two processes of two devices each, one array")
    rows = [[5, 4], [3, 5]]
    total = sum(map(sum, rows))
    unit = 640 / total
    canvas.text(380, 218, f"x: one array of {total} rows on a mesh of 4 devices; nobody holds all of it", 12)
    canvas.text(380, 238, "from_local(): the processes exchange sizes, rows stay where they are", 12)
    start = 0
    for process, shards in enumerate(rows):
        left = 60 + process * 340
        canvas.box(left, 30, 300, 76, stroke=QUIET)
        canvas.text(left + 150, 22, f"process {process}: x.shards are {shards[0]} and {shards[1]} rows", bold=True)
        for place, size in enumerate(shards):
            rank = 2 * process + place
            x = left + 15 + place * 140
            canvas.box(x, 48, 130, 40, f"device {rank}\n{size} rows", fill=RANKS[rank], size=12)
            canvas.box(60 + start * unit, 160, size * unit, 34, f"{start}:{start + size}", fill=RANKS[rank], size=12)
            canvas.line(x + 65, 88, 60 + (start + size / 2) * unit, 158, arrow=True, stroke=SOLID[rank])
            start += size
    canvas.line(364, 60, 396, 60, arrow=True)
    canvas.line(396, 76, 364, 76, arrow=True)
    return canvas.svg()


def raising() -> str:
    canvas = Canvas(760, 250, "Raise, from ops to expressions and back")
    steps = [
        ("StableHLO", "dot, exp,\nreduce, divide", PLAIN),
        ("Reader", "tensors to\nexpressions", RANKS[0]),
        ("Algebra", "Exp[s] Sum^-1 v\nnormal form", RANKS[1]),
        ("Match ...", "attention,\ngradient, pairs", RANKS[1]),
        ("Writer, Emit", "expressions\nto ops", RANKS[0]),
        ("one op", "pairs.all_pairs", PLAIN),
    ]
    for number, (name, text, fill) in enumerate(steps):
        x = 12 + number * 125
        canvas.text(x + 54, 74, name, bold=True)
        canvas.box(x, 84, 108, 56, text, fill=fill, size=12)
        if number:
            canvas.arrow(x - 17, 112, x, 112)
    canvas.text(
        380,
        30,
        "before: masks and scores out of loops (SinkMasks, RecomputeScores); rings as attention (RaiseRings)",
        12,
    )
    canvas.line(687, 142, 687, 190)
    canvas.line(687, 190, 66, 190)
    canvas.arrow(66, 190, 66, 142)
    canvas.text(380, 208, "ExpandAllPairs: back to plain StableHLO, the reference", 12)
    canvas.text(380, 236, "What is found is found in the normal form, so spelling does not matter.", 12)
    return canvas.svg()


PICTURES = {
    "attention": attention,
    "balance": balance,
    "binding": binding,
    "checkpoints": checkpoints,
    "communication": communication,
    "gather": gather,
    "gpu": gpu,
    "halo": halo,
    "import": importing,
    "kernels": kernels,
    "pipeline": pipeline,
    "processes": processes,
    "propagation": propagation,
    "raise": raising,
    "ring": ring,
    "rooms": rooms,
    "sharding": sharding,
    "stages": stages,
    "terms": terms,
    "threads": threads,
    "transport": transport,
    "whole-dims": whole_dims,
    "zigzag": zigzag,
}


def draw_all() -> dict[str, str]:
    """Every picture's text by its file in docs."""
    return {f"Pictures/{name}.svg": draw() for name, draw in PICTURES.items()}
