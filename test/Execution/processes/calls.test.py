"""Answers the calls of a program whose ranks are processes: calls.test.py SHARD-RUN MODEL."""

import json
import os
import subprocess
import sys
from array import array


def answer(requests: "os.PathLike[str] | int", answers: int, fails: int) -> list[tuple[int, int]]:
    """Answers until the other side closes: all numbers plus one. Returns which function which rank called."""
    calls = []
    with os.fdopen(requests, "rb") as source, os.fdopen(answers, "wb") as sink:
        while line := source.readline():
            request = json.loads(line)
            calls.append((request["index"], request["rank"]))
            size = request["operands"][0]["shape"][0]
            values = array("f", source.read(4 * size))
            try:
                if len(calls) == fails:
                    sink.write(b"error 9\nas wished")
                else:
                    sink.write(b"ok\n" + array("f", [value + 1 for value in values]).tobytes())
                sink.flush()
            except BrokenPipeError:
                break
    return calls


def run(options: list[str], fails: int = -1) -> tuple[list[tuple[int, int]], int, str, str]:
    to_tool, answers = os.pipe()
    requests, from_tool = os.pipe()
    command = [*sys.argv[1:], *options, "--input=8xf32=1,2,3,4,5,6,7,8", f"--host-calls={to_tool},{from_tool}"]
    tool = subprocess.Popen(command, pass_fds=(to_tool, from_tool), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    os.close(to_tool)
    os.close(from_tool)
    calls = answer(requests, answers, fails)
    out, err = tool.communicate(timeout=60)
    return calls, tool.returncode, out, err


def main() -> None:
    for options in (["--processes=4"], ["--processes=4", "--transport=tcp"], []):
        for _ in range(3):
            calls, code, out, err = run(options)
            assert code == 0, err
            assert sorted(calls) == [(0, 0), (1, 0), (1, 1), (1, 2), (1, 3)], calls
            assert out.split().count("9") == 2, out
    # What one of them gets, all know.
    calls, code, out, err = run(["--processes=4"], fails=3)
    assert code == 4 and err.count("as wished") == 1, (code, err)


main()
