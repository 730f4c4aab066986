"""Check the table's arithmetic on values whose interval is known: table.test."""

import random
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Table"))
import table

# Of five values both extremes: each lies on one side of the median with probability 1/32.
assert table.interval([5, 1, 4, 2, 3]) == (3, 1, 5)
# Of 20, tables of the sign test leave out five on each side: 0.0207 lie beyond them, with the sixth 0.0577.
assert table.interval(list(range(1, 21))) == (10.5, 6, 15), table.interval(list(range(1, 21)))
# The interval holds the true median in at least 90 of 100 cases.
rng = random.Random(1)
held = 0
for _ in range(2000):
    _, low, high = table.interval([rng.expovariate(1) for _ in range(15)])
    held += low <= 0.6931 <= high
assert 0.89 < held / 2000 < 0.99, held

assert table.verdict(1.2, 1.1, 1.3) == "ahead"
assert table.verdict(0.8, 0.7, 0.9) == "behind"
assert table.verdict(1.0, 0.97, 1.03) == "level"
assert table.verdict(1.0, 0.9, 1.2) == "undecided"

# A step of bf16 (2^-7) at an element that is many times the mean is no more than one at the mean; differences below the mean count as parts of it.
mean = {"size": 4, "sample": np.array([8.0, 1.0, 0.0, np.inf]), "scale": 1.0}
assert table.difference([{"size": 4, "sample": np.array([8.0625, 1.0, 0.0, np.inf])}], [mean]) == 0.0625 / 8
assert table.difference([{"size": 4, "sample": np.array([8.0, 1.0, 0.5, np.inf])}], [mean]) == 0.5
assert np.isnan(table.difference([{"size": 4, "sample": np.array([8.0, 1.0, np.inf, np.inf])}], [mean]))
assert np.isnan(table.difference([{"size": 3, "sample": np.array([8.0, 1.0, 0.0])}], [mean]))

row = {"row": "a", "columns": 100, "rows": 64, "shape": [8, 9], "free": ["columns", "shape"], "even": ["rows"]}
once, again = (table.drawn(row, random.Random("1:a")) for _ in range(2))
assert once == again and once["rows"] % 4 == 0 and 60 <= once["columns"] <= 130, once
print("all as expected")
