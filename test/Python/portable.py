"""Compile the portable artifacts of a corpus and compare with its stored outputs."""

import json
import sys
from pathlib import Path

import numpy

import shardc

corpus = Path(sys.argv[1])
entries = json.loads((corpus / "manifest.json").read_text())["entries"]
for entry in sorted((e for e in entries if "portable" in e), key=lambda e: e["name"]):
    data = numpy.load(corpus / entry["data"])
    inputs = [data[f"in{i}"] for i in range(sum(name.startswith("in") for name in data.files))]
    program = shardc.compile((corpus / entry["portable"]).read_bytes(), *inputs)
    numpy.testing.assert_allclose(program(*inputs), data["out0"], rtol=entry["rtol"], atol=entry["atol"])
    print(entry["name"], "equal", flush=True)
