"""The pictures of docs/Pictures. scripts/generate_reference.py writes and checks them.

What a picture shows as data is computed here, or read from the tree; nothing is placed by hand.
"""

from __future__ import annotations

from canvas import PLAIN, RANKS, Canvas
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
            canvas.box(left + place * (width + 8) + 4, y, width, 38, name, size=12, fill=fill)
    return canvas.svg()


PICTURES = {"rooms": rooms}


def draw_all() -> dict[str, str]:
    """Every picture's text by its file in docs."""
    return {f"Pictures/{name}.svg": draw() for name, draw in PICTURES.items()}
