"""Programs that are compiled once and run on arrays of any shard sizes."""

import gc
import itertools
import os
import random
import resource
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import shardc
from compilations import Compilations

ROWS, RANKS = 24, 4
STEP = f"""
module @step {{
  sdy.mesh @mesh = <["x"={RANKS}]>
  func.func @main(%points: tensor<{ROWS}x2xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}} loc("points"),
                  %weights: tensor<{ROWS}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}} loc("weights"),
                  %offset: tensor<2xf32> loc("offset")) -> (tensor<{ROWS}x2xf32>, tensor<2xf32>) {{
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %wide = stablehlo.broadcast_in_dim %weights, dims = [0] : (tensor<{ROWS}xf32>) -> tensor<{ROWS}x2xf32>
    %more = stablehlo.broadcast_in_dim %offset, dims = [1] : (tensor<2xf32>) -> tensor<{ROWS}x2xf32>
    %0 = stablehlo.multiply %points, %wide : tensor<{ROWS}x2xf32>
    %1 = stablehlo.add %0, %more : tensor<{ROWS}x2xf32>
    %moved = stablehlo.pad %1, %zero, low = [1, 0], high = [-1, 0], interior = [0, 0]
        : (tensor<{ROWS}x2xf32>, tensor<f32>) -> tensor<{ROWS}x2xf32>
    %pairs = stablehlo.add %1, %moved : tensor<{ROWS}x2xf32>
    %sum = stablehlo.reduce(%pairs init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<{ROWS}x2xf32>, tensor<f32>) -> tensor<2xf32>
    return %pairs, %sum : tensor<{ROWS}x2xf32>, tensor<2xf32>
  }}
}}
"""
SOURCE = random.Random(7)
POINTS = np.arange(2 * ROWS, dtype=np.float32).reshape(ROWS, 2) % 11
WEIGHTS = np.arange(ROWS, dtype=np.float32) % 5
OFFSET = np.array([1, -2], np.float32)
CUT = shardc.split(0, "x")
compilations = Compilations()


def expected() -> np.ndarray[Any, Any]:
    rows = POINTS * WEIGHTS[:, None] + OFFSET
    return rows + np.concatenate([np.zeros((1, 2), np.float32), rows[:-1]])


def random_sizes() -> list[int]:
    cuts = sorted(SOURCE.randint(0, ROWS) for _ in range(RANKS - 1))
    return [end - begin for begin, end in zip([0, *cuts], [*cuts, ROWS])]


def cut_in(value: Any, sizes: Sequence[int]) -> shardc.Array:
    return shardc.array(value, shardc.split(0, "x", sizes=sizes), mesh={"x": RANKS})


def check(program: Any, sizes: Sequence[int], weights: Sequence[int]) -> None:
    pairs, total = program(cut_in(POINTS, sizes), cut_in(WEIGHTS, weights), OFFSET)
    assert np.array_equal(np.asarray(pairs), expected()), (sizes, weights)
    assert np.array_equal(np.asarray(total), expected().sum(axis=0)), (sizes, weights)
    assert pairs.sharding.dims[0].sizes == tuple(sizes), pairs


def fails(call: Callable[[], Any], *parts: str) -> None:
    try:
        call()
    except shardc.UsageError as error:
        assert all(part in str(error) for part in parts), str(error)
        return
    raise AssertionError(f"did not fail with {parts}")


def any_sizes(program: Any) -> None:
    for sizes in ([24, 0, 0, 0], [0, 0, 0, 24], [6, 6, 6, 6], [1, 0, 22, 1], *(random_sizes() for _ in range(6))):
        check(program, sizes, sizes)
    # Of two arguments that are cut differently one is moved by the program.
    check(program, [3, 9, 0, 12], [0, 20, 4, 0])
    # What does not say in which sizes it is cut has balanced ones.
    assert np.array_equal(program(POINTS, WEIGHTS, OFFSET)[0], expected())
    assert program.in_shardings[0].dims[0].sizes == (6, 6, 6, 6)


def each_gives_its_part(program: Any) -> None:
    """Sizes are those of the shards."""
    for sizes in (random_sizes(), random_sizes()):
        ends = np.cumsum([0, *sizes])
        parts = [POINTS[begin:end] for begin, end in itertools.pairwise(ends)]
        points = shardc.from_local(parts, CUT, mesh={"x": RANKS})
        pairs, _ = program(points, WEIGHTS, OFFSET)
        assert points.sharding.dims[0].sizes == tuple(sizes)
        assert [len(shard.data) for shard in pairs.shards] == sizes
        assert np.array_equal(np.asarray(pairs), expected())


def bound_beforehand(program: Any) -> None:
    bound = program.bind({(0, 0): [2, 0, 11, 11], (1, 0): [2, 0, 11, 11]})
    points, weights, offset = bound.put(POINTS, WEIGHTS, OFFSET)
    assert points.sharding.dims[0].sizes == (2, 0, 11, 11)
    pairs, _ = bound(points, weights, offset)
    assert np.array_equal(np.asarray(pairs), expected())
    check(bound, [5, 5, 5, 9], [5, 5, 5, 9])
    assert program.in_shardings[0].dims[0].sizes == (6, 6, 6, 6)


def mistakes(program: Any) -> None:
    fails(lambda: program.bind({(0, 0): [7, 7, 7, 7]}), "points, dim 0: sizes [7, 7, 7, 7] add up to 28, expected 24")
    fails(lambda: program.bind({(1, 0): [12, 12]}), "weights, dim 0: 2 sizes [12, 12] for 4 shards")
    fails(lambda: program.bind({(1, 0): [12, -12, 12, 12]}), "weights, dim 0: sizes [12, -12, 12, 12]", "negative")
    fails(lambda: program.bind({(1, 0): [1 << 64, 24, 0, 0]}), "weights, dim 0: sizes", "too large")
    fails(lambda: program.bind({(1, 0): [12.5, 11.5, 0, 0]}), "weights, dim 0: sizes [12.5, 11.5, 0, 0]",
          "one is not a whole number")
    fails(lambda: program.bind({(1, 0): []}), "weights, dim 0: no sizes are given")
    fails(lambda: program.bind({(7, 0): [-1, 1, 0, 0]}), "argument 7, dim 0: sizes [-1, 1, 0, 0]", "negative")
    fails(lambda: program.bind({(7, 0): [1, 1, 0, 0]}), "argument 7, dim 0: its sizes were not left open")
    fails(lambda: program.bind({(-1, 0): [1, 1, 0, 0]}), "argument -1, dim 0: its sizes were not left open")
    fails(lambda: program.bind({(0, -2): [1, 1, 0, 0]}), "points, dim -2: its sizes were not left open")
    fails(lambda: program.bind(mesh={"x": 1 << 40}), "axis 'x': 1099511627776 ranks, expected 1 to 65536")
    fails(lambda: program.bind(mesh={"y": 2}), "has no axis 'y'")
    fails(lambda: program.bind({(2, 0): [1, 1, 0, 0]}), "offset, dim 0: its sizes were not left open")
    fails(lambda: program.bind({(0, 1): [1, 1, 0, 0]}), "points, dim 1: its sizes were not left open")
    fails(lambda: shardc.compile(STEP, dynamic="points"), "dynamic='points'", "pairs")
    fails(lambda: shardc.compile(STEP, dynamic=[(0, 0)], sizes={(0, 0): [7, 7, 7, 7]}),
          "points, dim 0: sizes [7, 7, 7, 7] add up to 28")
    fails(lambda: shardc.compile(STEP, dynamic=[(2, 0)]), "dim 0 of argument 2, which is not cut")
    closed = shardc.compile(STEP)
    fails(lambda: closed.bind({(0, 0): [24, 0, 0, 0]}), "no sizes of this program were left open")


def some_dims() -> None:
    program = shardc.compile(STEP, dynamic=[(0, 0)], sizes={(0, 0): [0, 8, 8, 8], (1, 0): [24, 0, 0, 0]})
    assert program.in_shardings[0].dims[0].sizes == (0, 8, 8, 8)
    assert program.in_shardings[1].dims[0].sizes == (24, 0, 0, 0)
    assert np.array_equal(program(POINTS, WEIGHTS, OFFSET)[0], expected())
    check(program, [4, 4, 8, 8], [24, 0, 0, 0])


def follows() -> None:
    """An argument that nobody cuts has the sharding of what it is added to, whatever that is."""
    text = STEP.replace(f"%weights: tensor<{ROWS}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{\"x\"}}]>}}",
                        f"%weights: tensor<{ROWS}xf32>")
    program = shardc.compile(text, dynamic="all")
    for sizes in ([0, 20, 4, 0], random_sizes()):
        bound = program.bind({(0, 0): sizes})
        assert bound.in_shardings[1].dims[0].sizes == tuple(sizes)
        check(program, sizes, sizes)
    fails(lambda: program.bind({(1, 0): [24, 0, 0, 0]}), "weights, dim 0: its sizes were not left open")


def saved(program: Any) -> None:
    program.save("binding.so")
    loaded = shardc.load("binding.so")
    Path("binding.so").unlink()
    check(loaded, [24, 0, 0, 0], [0, 0, 0, 24])


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def many_sizes(program: Any) -> None:
    """A loop whose samples differ each time compiles nothing, opens no file, and leaves memory as it is."""
    compilations.count = 0
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    before = 0
    for call in range(1200):
        if call == 200:
            gc.collect()
            before = resident()
        sizes = random_sizes()
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
            bound = program.bind({(0, 0): sizes, (1, 0): sizes})
            if call % 25 == 0:
                check(bound, sizes, sizes)
            if call % 25 == 5:
                check(program, sizes, sizes)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    gc.collect()
    assert resident() - before < 4 << 20, resident() - before
    assert compilations.count == 0
    assert resource.getrusage(resource.RUSAGE_CHILDREN) == children


def of_jax() -> None:
    """A function's arguments are named as its author named them; another global extent compiles, once."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return

    def step(cloud: Any, params: Any) -> Any:
        return jnp.cumsum(cloud["points"], axis=0) @ params

    cloud = {"points": POINTS}
    params = np.ones((2, 3), np.float32)
    program = shardc.compile(jax.jit(step), cloud, params, mesh={"x": RANKS}, in_shardings=(CUT, None), dynamic="all")
    wanted = np.cumsum(POINTS, axis=0) @ params
    compilations.count = 0
    for sizes in ([24, 0, 0, 0], [1, 2, 3, 18], random_sizes()):
        result = program({"points": cut_in(POINTS, sizes)}, params)
        assert np.allclose(np.asarray(result), wanted), sizes
    assert compilations.count == 0
    shorter = program({"points": cut_in(POINTS[:20], [5, 10, 5, 0])}, params)
    assert np.allclose(np.asarray(shorter), wanted[:20])
    program({"points": cut_in(POINTS[:20], [0, 10, 5, 5])}, params)
    assert compilations.count == 1, compilations.count
    fails(lambda: program.bind({(0, 0): [7, 7, 7, 7]}), "cloud['points'], dim 0: sizes [7, 7, 7, 7] add up to 28")


def main() -> None:
    program = shardc.compile(STEP, dynamic="all")
    compilations.begin()
    any_sizes(program)
    each_gives_its_part(program)
    bound_beforehand(program)
    assert compilations.count == 0, compilations.count
    mistakes(program)
    some_dims()
    follows()
    saved(program)
    many_sizes(program)
    of_jax()
    assert program.report(cut_in(POINTS, [24, 0, 0, 0]), WEIGHTS, OFFSET)["ranks"] == RANKS
    program.check(cut_in(POINTS, [0, 4, 0, 20]), WEIGHTS, OFFSET)
    print("all good")


if __name__ == "__main__":
    os.chdir(os.environ.get("TMPDIR", "/tmp"))
    main()
