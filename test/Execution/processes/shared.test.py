"""Reads a trace of several processes: shared.test.py TRACE RANKS."""

import json
import sys


def main() -> None:
    path, ranks = sys.argv[1], int(sys.argv[2])
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    spans: dict[int, list[tuple[float, float]]] = {}
    halos: dict[int, int] = {}
    for event in events:
        if event["ph"] == "X" and event["cat"] == "step":
            spans.setdefault(event["pid"], []).append((event["ts"], event["ts"] + event["dur"]))
        if event["ph"] == "X" and event["cat"] == "communication":
            halos[event["pid"]] = halos.get(event["pid"], 0) + 1
            assert all(peer in range(ranks) and peer != event["pid"] for peer in event["args"]["peers"]), event
    assert sorted(spans) == list(range(ranks)) and all(len(steps) == 3 for steps in spans.values()), spans
    assert sorted(halos) == list(range(ranks)), halos
    # Clocks of one host are one, and a barrier stands between steps: none begins before all have ended the last one.
    for number in range(2):
        ended = max(steps[number][1] for steps in spans.values())
        assert ended <= min(steps[number + 1][0] for steps in spans.values()), spans


main()
