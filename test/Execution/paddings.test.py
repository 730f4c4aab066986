"""Compare the results of Inputs/paddings.mlir, for an input that counts its elements, with NumPy's definitions."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "Inputs"))
from npz import read

ROWS, COLUMNS = 12, 10


def source(position: int, size: int, mode: str) -> int:
    """Return which element numpy.pad puts at `position`, negative ones before the first."""
    if mode == "wrap":
        return position % size
    if mode == "edge":
        return min(max(position, 0), size - 1)
    if mode == "reflect":
        position %= 2 * size - 2
        return min(position, 2 * size - 2 - position)
    position %= 2 * size
    return min(position, 2 * size - 1 - position)


def window(mode: str, first_row: int, first_column: int) -> list[float]:
    """Return a ROWS x COLUMNS window of the padded tensor."""
    return [float(source(first_row + i, ROWS, mode) * COLUMNS + source(first_column + j, COLUMNS, mode))
            for i in range(ROWS) for j in range(COLUMNS)]


def main() -> int:
    results = read(sys.argv[1])
    expected = [window("wrap", -3, 2), window("wrap", 1, 0)]
    for mode in ("wrap", "edge", "reflect", "symmetric"):
        expected += [window(mode, 2, 1), window(mode, -2, -4)]
    assert len(results) == len(expected), list(results)
    for number, values in enumerate(expected):
        got = results[f"out{number}"]
        if got != values:
            print(f"result {number}: expected {values}\ngot {got}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
