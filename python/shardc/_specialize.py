"""Static versions of bound programs, made in the background and taken where they give the same bits."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from shardc._array import Array
from shardc._errors import ShardcError
from shardc._executable import Executable
from shardc._sharding import Layout

Key = tuple[Layout, ...]
"""The shardings of arguments: what identifies a binding."""


class _Binding:
    """A binding that is used."""

    def __init__(self) -> None:
        self.uses = 0
        self.thread: threading.Thread | None = None
        self.made: Executable | None = None
        """Compiled, and not compared yet."""
        self.is_over = False
        """It gave other bits, or could not be compiled."""


class Specials:
    """Static versions of one program, ``most`` at most: those that were used last."""

    USES = 8
    """After this many calls a binding is worth a compilation."""
    MOST_COUNTED = 256

    def __init__(self, most: int, compile_for: Callable[[Executable], Executable]) -> None:
        """``compile_for``: the static version of a bound program."""
        self.most, self._compile_for = most, compile_for
        self.taken: dict[Key, Executable] = {}
        """By the layouts of arguments, in the order of their last use."""
        self.num_compiled = 0
        self.num_refused = 0
        """Those that gave other bits, or could not be compiled."""
        self._bindings: dict[Key, _Binding] = {}
        self._lock = threading.Lock()

    def known_for(self, layouts: Sequence[Layout]) -> Executable | None:
        """The static version for arguments that lie so, if one has been taken."""
        key = tuple(layouts)
        with self._lock:
            if (known := self.taken.pop(key, None)) is not None:
                self.taken[key] = known
            return known

    def candidate_for(self, executable: Executable) -> Executable | None:
        """Count a use of a binding; its static version, if that is made and is to be compared now."""
        key = tuple(executable.layouts)
        with self._lock:
            binding = self._bindings.pop(key, None) or _Binding()
            self._bindings[key] = binding
            if len(self._bindings) > self.MOST_COUNTED:
                self._bindings.pop(next(iter(self._bindings)))
            binding.uses += 1
            is_busy = any(other.thread is not None or other.made is not None for other in self._bindings.values())
            if binding.uses >= self.USES and not is_busy and not binding.is_over:
                # One at a time. Python waits for the thread before it ends, and with it the engine.
                binding.thread = threading.Thread(target=self._make, args=(binding, executable))
                binding.thread.start()
            made, binding.made = binding.made, None
            return made

    def _make(self, binding: _Binding, executable: Executable) -> None:
        made = None
        try:
            made = self._compile_for(executable)
            if made.layouts != executable.layouts or \
                    [place.layout for place in made.results] != [place.layout for place in executable.results]:
                made = None
        except ShardcError:
            pass
        finally:
            with self._lock:
                self.num_compiled += 1
                binding.thread, binding.made = None, made
                if made is None:
                    binding.is_over = True
                    self.num_refused += 1

    def take(self, made: Executable, are_equal: bool) -> None:
        """From here on ``made`` stands for its binding, if what it gave was the same."""
        key = tuple(made.layouts)
        with self._lock:
            if not are_equal:
                self.num_refused += 1
                if key in self._bindings:
                    self._bindings[key].is_over = True
                return
            self._bindings.pop(key, None)
            self.taken[key] = made
            if len(self.taken) > self.most:
                self.taken.pop(next(iter(self.taken)))


def same_bits(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether arrays that lie alike hold the same bits on each rank."""
    def bits(array: Array) -> list[bytes]:
        return [numpy.ascontiguousarray(shard.data).tobytes() for shard in array.shards]

    return all(bits(a) == bits(b) for a, b in zip(one, other, strict=True))
