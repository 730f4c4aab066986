"""Calls of a running program to functions of this process: JAX's callbacks."""

import ctypes
import itertools
import json
from collections.abc import Callable, Sequence
from typing import IO, Any

import numpy

from shardc._engine import Pending
from shardc._native import HOST_FN, HostArray, library
from shardc._types import type_of

HostFunction = Callable[..., Sequence[Any]]
"""As the program calls it: arrays in, a sequence of arrays out; ordered ones take and return a token before them."""

_RANK_THREW, _UNSUPPORTED = 4, 77
"""SHARDC_LOST, SHARDC_UNSUPPORTED."""


def _call(functions: Sequence[HostFunction], number: int, is_ordered: bool, where: str, operands: Sequence[Any],
          wanted: Sequence[tuple[str, list[int]]]) -> list[Any]:
    """Call a function; what it returns, of the types (as MLIR spells them) and shapes that are wanted.

    Raises: whatever it raises; LookupError for a function that is not there; ValueError for what it should not return.
    """
    if number >= len(functions):
        raise LookupError(f"the program calls function {number} of the process that traced it, but "
                          f"{len(functions)} are known; compile the function itself, not its export")
    token = (None,) if is_ordered else ()
    results = list(functions[number](*token, *operands))[len(token):]
    if len(results) != len(wanted):
        raise ValueError(f"callback at {where} returned {len(results)} values, expected {len(wanted)}")
    arrays = []
    for result, (kind, shape) in zip(results, wanted):
        array = numpy.asarray(result)
        if array.dtype != type_of(kind) or list(array.shape) != shape:
            raise ValueError(f"callback at {where} returned {array.dtype}{list(array.shape)}, expected {kind}{shape}")
        arrays.append(array)
    return arrays


_contexts: "dict[int, HostContext]" = {}
_numbers = itertools.count(1)


class HostContext:
    """Answers the calls of one execution in this process, on the threads of its devices."""

    def __init__(self, functions: Sequence[HostFunction]) -> None:
        # Of executions that nobody waited for to the end.
        for number, context in list(_contexts.items()):
            if context.pending is not None and context.pending.is_ready():
                _contexts.pop(number, None)
        self.functions = functions
        self.error: BaseException | None = None
        """What a function raised first."""
        self.pending: Pending | None = None
        self.number = next(_numbers)
        _contexts[self.number] = self

    def close(self) -> None:
        """Nobody waits any more; what calls after that, because the wait was interrupted, is still answered."""
        if self.pending is None or self.pending.is_ready():
            _contexts.pop(self.number, None)

    def answer(self, call: Any) -> None:
        """Call what the program calls, and give it the results. Raises: whatever that raises."""
        operands = [_memory(call.operands[number]).copy() for number in range(call.num_operands)]
        places = [call.results[number] for number in range(call.num_results)]
        wanted = [(_type_name(place), place.dims[:place.num_dims]) for place in places]
        where = (call.location or b"").decode()
        results = _call(self.functions, call.index, bool(call.ordered), where, operands, wanted)
        for place, result in zip(places, results):
            _memory(place)[...] = result


def _type_name(array: HostArray) -> str:
    name: bytes = library().element_type_name(array.element_type)
    return name.decode()


def _memory(array: HostArray) -> Any:
    kind, shape = type_of(_type_name(array)), array.dims[:array.num_dims]
    if not array.bytes:
        return numpy.empty(shape, kind)
    return numpy.frombuffer((ctypes.c_char * array.bytes).from_address(array.data), kind).reshape(shape)


@HOST_FN
def host_fn(user: int | None, call: Any, message: int, message_size: int) -> int:
    """The shardc_host_fn of all programs; ``user`` is the number of a HostContext.

    Without one nobody answers: calls without values are left out, others are unsupported.
    """
    context = _contexts.get(user or 0)
    try:
        if user and context is None:
            raise RuntimeError("the execution that calls is over")
        if context is None and not call.contents.num_results:
            return 0
        if context is None:
            where = (call.contents.location or b"").decode()
            _say(f"unsupported: the program calls Python at {where}, which answers where the program is compiled and "
                 "run by shardc.compile in that Python process", message, message_size)
            return _UNSUPPORTED
        context.answer(call.contents)
        return 0
    except BaseException as error:  # whatever a function raises ends the step, on all ranks
        if context is not None:
            context.error = context.error or error
        _say(f"{type(error).__name__}: {error}", message, message_size)
        return _RANK_THREW


def _say(text: str, message: int, message_size: int) -> None:
    data = text.encode()[:max(0, message_size - 1)]
    if message and message_size:
        ctypes.memmove(message, data + b"\0", len(data) + 1)


class HostCalls:
    """Answers one run of ``shard-run --host-calls`` (its HostCalls.h has the protocol)."""

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
            wanted = [(value["type"], value["shape"]) for value in request["results"]]
            try:
                results = _call(self._functions, request["index"], request["ordered"], request["location"], operands,
                                wanted)
                answer = b"ok\n" + b"".join(numpy.ascontiguousarray(array).tobytes() for array in results)
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
