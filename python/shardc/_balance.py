"""Sizes of shards by which all ranks finish together."""

import ctypes
import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from shardc._array import Array
from shardc._distributed import share_integers
from shardc._errors import ShardcError, ShardcWarning, UsageError
from shardc._executable import Executable
from shardc._native import BalanceState, GivenSizes, RankStats
from shardc._program import Program
from shardc._variant import Variant, numbering, outside


@dataclasses.dataclass(frozen=True)
class Balanced:
    """What balance() found."""

    program: Program
    """Bound to the sizes: what it is given otherwise is cut so."""
    arguments: tuple[Any, ...]
    """As they were given, on the devices in these sizes; those that are carried are of the last step."""
    sizes: dict[tuple[int, int], tuple[int, ...]]
    """By (flat argument, dim), of dims that were left open."""
    first_imbalance: float
    """The time of the slowest rank over the mean of all, with the sizes at the beginning."""
    imbalance: float
    """The same with these sizes."""
    moves: int
    """How often other sizes were tried."""
    refused: str | None
    """Why sizes that would have been better cannot be, if that is so."""


class _Balance:
    """shardc_balance of the C API."""

    def __init__(self, executable: Executable) -> None:
        """Raises: UsageError where there is nothing to choose."""
        self._library = executable.engine.library
        balance = ctypes.c_void_p()
        self._library.check(self._library.balance_create(executable.handle, ctypes.byref(balance)))
        self._handle = balance.value
        self._moved = ctypes.c_bool()

    def __del__(self) -> None:
        if "_handle" in self.__dict__:
            self._library.balance_destroy(self._handle)

    def add(self, times: Sequence[float]) -> bool:
        """Take what ranks took of a step; whether other sizes are to be bound."""
        given = (ctypes.c_double * len(times))(*times)
        self._library.check(self._library.balance_add(self._handle, given, len(times), ctypes.byref(self._moved)))
        return self._moved.value

    def settle(self) -> bool:
        """Go to the fastest sizes; whether these are others."""
        self._library.balance_settle(self._handle, ctypes.byref(self._moved))
        return self._moved.value

    def refuse(self) -> None:
        """The sizes cannot be bound."""
        self._library.balance_refuse(self._handle)

    def sizes(self) -> dict[tuple[int, int], tuple[int, ...]]:
        """Those of now, by argument of the program's text, and dim."""
        found = {}
        for number in range(self._library.balance_num_sizes(self._handle)):
            given = GivenSizes()
            self._library.check(self._library.balance_sizes(self._handle, number, ctypes.byref(given)))
            numbers = ctypes.cast(given.sizes, ctypes.POINTER(ctypes.c_int64))
            found[given.argument, given.dim] = tuple(numbers[:given.num_shards])
        return found

    def state(self) -> BalanceState:
        """Its result."""
        state = BalanceState()
        self._library.check(self._library.balance_get_state(self._handle, ctypes.byref(state)))
        return state


def _own_ns(executable: Executable) -> list[int]:
    """How long each rank of this process was at work itself, in all executions since the program was made."""
    library, engine = executable.engine.library, executable.engine
    times = []
    for rank, device in enumerate(engine.devices_of(executable.num_ranks)):
        if engine.is_here(device):
            stats = RankStats()
            library.check(library.program_rank_stats(executable.handle, rank, ctypes.byref(stats)))
            times.append(stats.total_ns - stats.wait_ns)
    return times


def _times(executable: Executable, before: Sequence[int]) -> list[float]:
    """How long each rank was at work itself since then, in nanoseconds; of all processes."""
    mine = [(now - then,) for now, then in zip(_own_ns(executable), before)]
    return [float(time) for time, in share_integers(executable.engine, executable.num_ranks, mine)]


class _Steps:
    """A program on its arguments, with other sizes now and then."""

    def __init__(self, program: Program, variant: Variant, given: Sequence[Any],
                 carry: Sequence[tuple[int, int]]) -> None:
        self.program, self.variant, self.carry = program, variant, carry
        self.arrays = list(given)
        self.move(variant.executable_for(given))

    def move(self, executable: Executable) -> None:
        """From here on arguments lie as this takes them."""
        self.executable = executable
        for number, place in enumerate(executable.arguments):
            if place.neutral is None:
                self.put(executable, number)

    def put(self, executable: Executable, number: int) -> None:
        """Have an argument lie as this takes it."""
        value, place = self.arrays[number], executable.arguments[number]
        if isinstance(value, Array) and not value.is_addressable and value._layout is not place.layout:
            # Other processes have parts of what this one needs.
            value = value.gather()
        self.arrays[number] = self.program._put(executable, value, place, None)

    def bind(self, sizes: Mapping[tuple[int, int], Sequence[int]]) -> None:
        """Take these sizes. Raises: ShardcError where they cannot be."""
        self.move(self.variant._bind(tuple((place, tuple(values)) for place, values in sizes.items())))

    def step(self) -> list[float]:
        """Make one; what each rank took."""
        before = _own_ns(self.executable)
        results = self.program._run(self.variant, self.arrays, True, self.executable, lends=True)
        for result in results:
            result.block_until_ready()
        for result, argument in self.carry:
            self.arrays[argument] = results[result]
        for _, argument in self.carry:
            self.put(self.executable, argument)
        return _times(self.executable, before)


def balance(program: Program, *arguments: Any, steps: int = 10, carry: Mapping[int, int] | None = None,
            **named: Any) -> Balanced:
    """Run a program whose sizes were left open, and choose sizes by which all its ranks finish together.

    Each rank's own time is taken, without what it waits for others, in each step; other sizes are bound, which compiles
    nothing, and arguments move to where these want them; at the end the fastest sizes are taken (docs/Concepts/
    Balance.md). Of several processes all call this.

    Args:
        program: compiled with ``dynamic``.
        arguments: as for a call, also by name. None is given up, also where the program declares it.
        steps: how many are made. The first with new sizes is not counted, and short ones count together: of ten steps
            that take 20 ms or more, five sizes are tried.
        carry: by flat result: the flat argument that it is in the next step. Without it all steps are the same one.

    Returns: the program, bound to the sizes, the arguments in them, and what was found.
    Raises: UsageError for a program of one rank, or without open sizes that are cut; as a call.
    """
    if steps < 1:
        raise UsageError(2, f"steps={steps}: expected a number from 1 on")
    variant, leaves, _ = program._prepare(arguments, named)
    place_of = numbering(variant.source)
    executable = variant.executable_for(variant.kept(leaves))
    chooses = _Balance(executable)
    pairs = []
    for result, argument in (carry or {}).items():
        number = place_of(argument)
        if not 0 <= result < len(executable.results) or number is None or \
                not 0 <= number < len(executable.arguments):
            raise UsageError(2, f"carry: there is no result {result}, or no argument {argument}")
        gives, takes = executable.results[result], executable.arguments[number]
        if gives.shape != takes.shape or gives.dtype != takes.dtype:
            raise UsageError(2, f"carry: result {result} is {gives.dtype}{list(gives.shape)}, but argument {argument} "
                                f"is {takes.dtype}{list(takes.shape)}")
        pairs.append((result, number))
    run = _Steps(program, variant, variant.kept(leaves), pairs)
    refused: str | None = None

    def take() -> None:
        nonlocal refused
        try:
            run.bind(chooses.sizes())
        except ShardcError as error:
            refused = error.diagnostic
            chooses.refuse()
            warnings.warn(f"balance: sizes are refused, so the last ones stay: {refused}", ShardcWarning,
                          stacklevel=outside())
            run.bind(chooses.sizes())

    for _ in range(steps):
        if chooses.add(run.step()):
            take()
    if chooses.settle():
        take()
    sizes, state = chooses.sizes(), chooses.state()
    all_leaves = list(leaves)
    numbers = variant.numbers or range(len(all_leaves))
    for number, value in zip(numbers, run.arrays):
        if isinstance(value, Array) and not (variant.is_key and variant.is_key[number]):
            all_leaves[number] = value
    tree = variant.source.in_tree
    moved = tuple(all_leaves) if tree is None else tree.unflatten(all_leaves)[0]
    by_flat = {(numbers[number], dim): values for (number, dim), values in sizes.items()}
    return Balanced(program.bind(by_flat), moved, by_flat, state.first_imbalance, state.imbalance, state.moves, refused)
