"""Calls of a running program to functions of this process: JAX's callbacks."""

import json
from collections.abc import Callable, Sequence
from typing import IO, Any

import numpy

from shardc._types import type_of

HostFunction = Callable[..., Sequence[Any]]

class HostCalls:
    """Answers one run of ``shard-run --host-calls`` (its HostCalls.h has the protocol).

    Args:
        functions: by number, as the program calls them: arrays in, a sequence of arrays out; ordered ones take and
            return a token before them.
    """

    def __init__(self, functions: Sequence[HostFunction]) -> None:
        self._functions = functions
        self.error: BaseException | None = None
        """What a function raised first."""

    def serve(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        """Answer until the other side closes ``requests``."""
        while line := requests.readline():
            request = json.loads(line)
            operands = []
            for value in request["operands"]:
                kind = type_of(value["type"])
                count = int(numpy.prod(value["shape"], dtype=numpy.int64))
                data = requests.read(count * kind.itemsize)
                operands.append(numpy.frombuffer(data, kind).reshape(value["shape"]))
            try:
                results = self._call(request, operands)
                answer = b"ok\n" + b"".join(results)
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:  # whatever a function raises ends the step, on all ranks
                self.error = self.error or error
                text = f"{type(error).__name__}: {error}".encode()[:100000]
                answer = b"error %d\n" % len(text) + text
            try:
                answers.write(answer)
                answers.flush()
            except BrokenPipeError:
                return

    def _call(self, request: dict[str, Any], operands: list[Any]) -> list[bytes]:
        number, where = request["index"], request["location"]
        if number >= len(self._functions):
            raise LookupError(f"the program calls function {number} of the process that traced it, but "
                              f"{len(self._functions)} are known; compile the function itself, not its export")
        token = (None,) if request["ordered"] else ()
        results = list(self._functions[number](*token, *operands))[len(token):]
        wanted = request["results"]
        if len(results) != len(wanted):
            raise ValueError(f"callback at {where} returned {len(results)} values, expected {len(wanted)}")
        parts = []
        for result, value in zip(results, wanted, strict=True):
            array = numpy.asarray(result)
            if array.dtype != type_of(value["type"]) or list(array.shape) != value["shape"]:
                raise ValueError(f"callback at {where} returned {array.dtype}{list(array.shape)}, expected "
                                 f"{value['type']}{value['shape']}")
            parts.append(numpy.ascontiguousarray(array).tobytes())
        return parts
