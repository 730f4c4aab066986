"""Check what the table says of one row: table.test."""

import json
import sys
from pathlib import Path

result = json.loads(Path(sys.argv[1]).read_text())
(run,) = result["runs"]
assert set(run) == {"date", "commit", "cpu", "load", "limits", "versions"}, sorted(run)
(row,) = result["rows"]
assert row["agrees"] is True, row["difference"]
assert row["rounds"] >= 3
for side in ("shardc", "jax"):
    assert row[side]["ms"] > 0 and row[side]["peak_mb"] >= 0, row[side]
ratio = row["ratio"]["jax"]
assert 0 < ratio["low"] <= ratio["median"] <= ratio["high"], ratio
# 1,000 numbers are read and written.
assert row["bytes"] == 8000, row["bytes"]
