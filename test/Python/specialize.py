"""Static versions of bound programs: made in the background, taken where they give the same bits."""

import time
from typing import Any

import numpy as np
import shardc
from shardc import _native, _program

ROWS = 48
STEP = f"""
module @step {{
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%state: tensor<{ROWS}x2xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>, tf.aliasing_output = 0 : i32}},
                  %weights: tensor<{ROWS}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}})
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
runs: list[int] = []


def cut(value: Any, sizes: list[int]) -> shardc.Array:
    return shardc.array(value, shardc.split(0, "x", sizes=sizes), mesh={"x": 2})


def train(program: Any, sizes: list[int], until: dict[str, int]) -> int:
    """Steps until so many static programs are there; every one is right. How many there were."""
    state, weights, expected, end = cut(STATE, sizes), cut(WEIGHTS, sizes), STATE, time.monotonic() + 600
    for step in range(1_000_000):
        before = state
        state, total = program(state, weights)
        expected = expected + WEIGHTS[:, None]
        assert before.is_deleted(), "donated, also while programs are compared"
        assert np.array_equal(np.asarray(state), expected) and np.array_equal(total, expected.sum(axis=0)), step
        assert state.sharding.dims[0].sizes == tuple(sizes)
        found = program.specialized
        if all(found[name] >= number for name, number in until.items()):
            return step
        assert time.monotonic() < end, found
        time.sleep(0.001)
    raise AssertionError


def executed(program: Any, sizes: list[int]) -> int:
    """Which program a call runs."""
    library = _native.library()
    execute = library.execute
    library.execute = lambda handle, *rest: (runs.append(handle), execute(handle, *rest))[1]
    program(cut(STATE, sizes), cut(WEIGHTS, sizes))[1].block_until_ready()
    library.execute = execute
    return runs[-1]


program = shardc.compile(STEP, dynamic="all", specialize=2)
assert program.specialized == {"compiled": 0, "taken": 0, "refused": 0}
before = executed(program, [24, 24])
assert train(program, [24, 24], {"taken": 1}) >= 7
assert executed(program, [24, 24]) != before, "the static one runs"
assert program.specialized == {"compiled": 1, "taken": 1, "refused": 0}
train(program, [40, 8], {"taken": 2, "compiled": 2})
train(program, [0, 48], {"compiled": 3})
for _ in range(20):
    program(cut(STATE, [0, 48]), cut(WEIGHTS, [0, 48]))
assert program.specialized == {"compiled": 3, "taken": 2, "refused": 0}, "two at most"
# Sizes that do not come again cost no compilation.
for first in range(1, 20):
    program(cut(STATE, [first, ROWS - first]), cut(WEIGHTS, [first, ROWS - first]))
assert program.specialized["compiled"] == 3

# Other bits: what was bound goes on.
real = _program.same_bits
_program.same_bits = lambda one, other: not real(one, other)
program = shardc.compile(STEP, dynamic="all", specialize=2)
before = executed(program, [24, 24])
train(program, [24, 24], {"refused": 1})
for _ in range(20):
    program(cut(STATE, [24, 24]), cut(WEIGHTS, [24, 24]))
assert program.specialized == {"compiled": 1, "taken": 0, "refused": 1}
assert executed(program, [24, 24]) == before
_program.same_bits = real

# A static program that cannot be made is none.
program = shardc.compile(STEP, dynamic="all", specialize=1)
program._variants[0].options.append(("no-such-option", "1"))
train(program, [24, 24], {"refused": 1})

# Not asked for: nothing is compiled.
program = shardc.compile(STEP, dynamic="all")
for _ in range(20):
    program(cut(STATE, [30, 18]), cut(WEIGHTS, [30, 18]))
assert program.specialized == {"compiled": 0, "taken": 0, "refused": 0}
try:
    shardc.compile(STEP, dynamic="all", specialize=-1)
except shardc.UsageError as error:
    assert "specialize=-1" in str(error)
else:
    raise AssertionError
print("all good")
