"""Sizes by which all ranks finish together. What ranks take is planted: no clock is looked at, but in the last part."""

import itertools
import re
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import shardc
from shardc import _balance

ROWS, RANKS = 240, 3
STEP = f"""
module @step {{
  sdy.mesh @mesh = <["x"={RANKS}]>
  func.func @main(%state: tensor<{ROWS}x2xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>, tf.aliasing_output = 0 : i32}} loc("state"),
                  %weights: tensor<{ROWS}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}} loc("weights"))
      -> (tensor<{ROWS}x2xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}, tensor<2xf32>) {{
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %wide = stablehlo.broadcast_in_dim %weights, dims = [0] : (tensor<{ROWS}xf32>) -> tensor<{ROWS}x2xf32>
    %next = stablehlo.add %state, %wide : tensor<{ROWS}x2xf32>
    %sum = stablehlo.reduce(%next init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<{ROWS}x2xf32>, tensor<f32>) -> tensor<2xf32>
    return %next, %sum : tensor<{ROWS}x2xf32>, tensor<2xf32>
  }}
}}
"""
STATE = np.arange(2 * ROWS, dtype=np.float32).reshape(ROWS, 2) % 7
WEIGHTS = np.arange(ROWS, dtype=np.float32) % 3
Times = Callable[[Sequence[int]], list[float]]


def fails(call: Callable[[], Any], *parts: str) -> None:
    try:
        call()
    except shardc.UsageError as error:
        assert error.code == 2, error
        assert all(part in str(error) for part in parts), error
    else:
        raise AssertionError(f"nothing was refused: {parts}")


def planted(times: Times) -> None:
    """From here on ranks take what ``times`` says of their sizes."""
    real = _balance._times

    def taken(executable: Any, before: Sequence[int]) -> list[float]:
        measured = real(executable, before)
        assert len(measured) == RANKS and min(measured) > 0, measured
        return times(executable.arguments[0].sharding.dims[0].sizes)

    _balance._times = taken


def slow(paces: Sequence[float]) -> Times:
    return lambda sizes: [1e6 * pace * size for pace, size in zip(paces, sizes)]


def dense(work: Sequence[float]) -> Times:
    def times(sizes: Sequence[int]) -> list[float]:
        ends = np.cumsum([0, *sizes])
        return [1e6 * float(sum(work[begin:end])) for begin, end in itertools.pairwise(ends)]

    return times


def imbalance(times: Sequence[float]) -> float:
    return max(times) * len(times) / sum(times)


def check_steps(program: Any, times: Times, steps: int) -> None:
    """Other sizes are found, every step is right, and state is carried through all of them."""
    planted(times)
    found = shardc.balance(program, STATE, WEIGHTS, steps=steps, carry={0: 0})
    sizes = found.sizes[0, 0]
    assert found.sizes == {(0, 0): sizes, (1, 0): sizes} and sum(sizes) == ROWS, found.sizes
    assert imbalance(times(sizes)) < 1.05, (sizes, times(sizes))
    assert abs(found.imbalance - imbalance(times(sizes))) < 1e-6, found
    assert found.moves > 0 and found.first_imbalance > 1.2 and found.refused is None, found
    state, weights = found.arguments
    assert state.sharding.dims[0].sizes == weights.sharding.dims[0].sizes == sizes, (state, weights)
    assert np.array_equal(np.asarray(state), STATE + steps * WEIGHTS[:, None])
    # What is bound takes NumPy's arrays in these sizes, and what was moved as it lies.
    assert found.program.put(STATE, WEIGHTS)[0].sharding.dims[0].sizes == sizes
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        next_state, total = found.program(state, weights)
    expected = STATE + (steps + 1) * WEIGHTS[:, None]
    assert np.array_equal(np.asarray(next_state), expected)
    assert np.array_equal(np.asarray(total), expected.sum(axis=0))


real_times = _balance._times
program = shardc.compile(STEP, dynamic="all")
for times in (slow([1, 2, 1]), slow([1, 1, 4]), dense(range(ROWS)), dense([9.0] * 40 + [1.0] * (ROWS - 40))):
    check_steps(program, times, 16)
    _balance._times = real_times

# Without carry all steps are the first one, and what is donated is not given up.
planted(slow([1, 2, 1]))
mine = shardc.array(STATE, shardc.split(0, "x", sizes=[200, 20, 20]), mesh={"x": RANKS})
found = shardc.balance(program, mine, WEIGHTS)
assert not mine.is_deleted() and np.array_equal(np.asarray(mine), STATE)
assert np.array_equal(np.asarray(found.arguments[0]), STATE)
assert found.first_imbalance > 2, found
_balance._times = real_times

# Sizes that are refused: the last good ones stay, and it is said.
planted(slow([1, 2, 1]))
real_bind = shardc._program.Variant._bind


def refuses(self: Any, bound: Any) -> Any:
    if any(sizes != (80, 80, 80) for _, sizes in bound):
        raise shardc.UsageError(2, "argument 0, dim 0: not these")
    return real_bind(self, bound)


shardc._program.Variant._bind = refuses
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    found = shardc.balance(program, STATE, WEIGHTS, carry={0: 0})
assert found.refused == "argument 0, dim 0: not these" and set(found.sizes.values()) == {(80, 80, 80)}, found
assert [re.sub(":.*", "", str(warning.message)) for warning in said] == ["balance"], said
assert Path(said[0].filename).name == "balance.py", said[0]
assert np.array_equal(np.asarray(found.arguments[0]), STATE + 10 * WEIGHTS[:, None])
shardc._program.Variant._bind = real_bind
_balance._times = real_times

# By the clock: it comes to an end, and results are right.
found = shardc.balance(program, STATE, WEIGHTS, steps=30, carry={0: 0})
assert sum(found.sizes[0, 0]) == ROWS and found.imbalance >= 1, found
assert np.array_equal(np.asarray(found.arguments[0]), STATE + 30 * WEIGHTS[:, None])

fails(lambda: shardc.balance(shardc.compile(STEP), STATE, WEIGHTS), "no dim that is cut was left open", "dynamic")
alone = shardc.compile(STEP, mesh={"x": 1}, dynamic="all")
fails(lambda: shardc.balance(alone, STATE, WEIGHTS), "one rank")
fails(lambda: shardc.balance(program, STATE, WEIGHTS, steps=0), "steps=0")
fails(lambda: shardc.balance(program, STATE, WEIGHTS, carry={2: 0}), "no result 2")
fails(lambda: shardc.balance(program, STATE, WEIGHTS, carry={0: 7}), "no argument 7")
fails(lambda: shardc.balance(program, STATE, WEIGHTS, carry={1: 0}), "result 1", "argument 0")
fails(lambda: shardc.balance(program, STATE), "1 arrays are given")
print("all good")
