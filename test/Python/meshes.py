"""Programs that are compiled once and run on any number of ranks. Prints "all good" if all holds."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import shardc
from compilations import Compilations

ROWS = 11
SMOOTH = f"""
module @smooth {{
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%points: tensor<{ROWS}x2xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}} loc("points"),
                  %offset: tensor<2xf32> loc("offset")) -> (tensor<{ROWS}x2xf32>, tensor<2xf32>) {{
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %more = stablehlo.broadcast_in_dim %offset, dims = [1] : (tensor<2xf32>) -> tensor<{ROWS}x2xf32>
    %0 = stablehlo.multiply %points, %more : tensor<{ROWS}x2xf32>
    %moved = stablehlo.pad %0, %zero, low = [1, 0], high = [-1, 0], interior = [0, 0]
        : (tensor<{ROWS}x2xf32>, tensor<f32>) -> tensor<{ROWS}x2xf32>
    %1 = stablehlo.add %0, %moved : tensor<{ROWS}x2xf32>
    %sum = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<{ROWS}x2xf32>, tensor<f32>) -> tensor<2xf32>
    return %1, %sum : tensor<{ROWS}x2xf32>, tensor<2xf32>
  }}
}}
"""
POINTS = np.arange(2 * ROWS, dtype=np.float32).reshape(ROWS, 2) % 7
OFFSET = np.array([3, -2], np.float32)
compilations = Compilations()


def expected() -> np.ndarray[Any, Any]:
    rows = POINTS * OFFSET
    return rows + np.concatenate([np.zeros((1, 2), np.float32), rows[:-1]])


def check(program: Any, points: Any = POINTS) -> Any:
    pairs, total = program(points, OFFSET)
    assert np.array_equal(np.asarray(pairs), expected())
    assert np.array_equal(np.asarray(total), expected().sum(axis=0))
    return pairs


def fails(call: Callable[[], Any], *parts: str) -> None:
    try:
        call()
    except shardc.UsageError as error:
        assert all(part in str(error) for part in parts), str(error)
        return
    raise AssertionError(f"did not fail with {parts}")


def any_number(program: Any) -> None:
    check(program)  # two ranks, until somebody says otherwise
    for ranks in (1, 2, 3, 4, 5, 12):
        bound = program.bind(mesh={"x": ranks})
        assert [len(places.dims[0].sizes) for places in bound.in_shardings[:1]] == [ranks]
        check(bound)
        # As many shards as the arrays have, the first of them with all rows; and what they have beside a binding.
        sizes = [ROWS - 1, *[0] * (ranks - 2), 1] if ranks > 1 else [ROWS]
        mine = shardc.array(POINTS, shardc.split(0, "x", sizes=sizes), mesh={"x": ranks})
        assert check(bound, mine).sharding.dims[0].sizes == tuple(sizes)
        check(program.bind({(0, 0): sizes[::-1]}, mesh={"x": ranks}))
    # From a bound program to another number, fewer and more.
    check(program.bind(mesh={"x": 5}).bind(mesh={"x": 1}).bind(mesh={"x": 3}))


def mistakes(program: Any) -> None:
    fails(lambda: program.bind(mesh={"y": 3}), "the program's mesh is {'x': 2}, and has no axis 'y'")
    for size in (0, -3, 65537, 1 << 62, 1 << 64):
        fails(lambda size=size: program.bind(mesh={"x": size}), f"axis 'x': {size} ranks, expected 1 to 65536")
    for other in (2.5, "3", None):
        fails(lambda other=other: program.bind(mesh={"x": other}), f"axis 'x': {other!r} is not a number of ranks")
    fails(lambda: program.bind({(0, 0): [5, 6]}, mesh={"x": 3}), "points, dim 0: 2 sizes [5, 6] for 3 shards")
    fails(lambda: program.bind({(0, 0): [5, 5, 5]}, mesh={"x": 3}), "points, dim 0: sizes [5, 5, 5] add up to 15, expected 11")
    fails(lambda: program.bind({(1, 0): [1, 1, 0]}, mesh={"x": 3}), "offset, dim 0: its sizes were not left open")
    fails(lambda: shardc.compile(SMOOTH, symbolic_mesh=3), "symbolic_mesh=3: expected an axis of the mesh")
    fails(lambda: shardc.compile(SMOOTH, dynamic="all").bind(mesh={"x": 3}), "axis \"x\": 3 ranks, but the program was compiled for 2")
    try:
        shardc.compile(SMOOTH, symbolic_mesh="z")
    except shardc.UsageError as error:
        assert 'symbolic-mesh option names axis "z", but mesh @mesh has "x"=2' in str(error), error
    else:
        raise AssertionError("an axis that is not there was left open")


def saved(program: Any) -> None:
    program.save("meshes.so")
    loaded = shardc.load("meshes.so")
    Path("meshes.so").unlink()
    for ranks in (1, 3, 6):
        check(loaded.bind(mesh={"x": ranks}))


def of_jax() -> None:
    """A training step on 1 to 5 ranks from one compilation; derivatives and other shapes are compiled for the mesh."""
    try:
        import jax
        import jax.numpy as jnp
        from jax.sharding import PartitionSpec as P
    except ImportError:
        return

    def loss(params: Any, x: Any, y: Any) -> Any:
        return ((jnp.tanh(x @ params["w"] + params["b"]) @ params["o"] - y) ** 2).mean()

    def step(params: Any, x: Any, y: Any) -> Any:
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    def same(have: Any, want: Any) -> None:
        for one, other in zip(jax.tree.leaves(have), jax.tree.leaves(want), strict=True):
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=2e-5, atol=2e-5)

    random = np.random.default_rng(0)
    shapes = {"w": (6, 8), "b": (8,), "o": (8, 2)}
    params = {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    x, y = (random.standard_normal((37, width)).astype(np.float32) for width in (6, 2))
    compilations.count = 0
    # Nobody says how many ranks there are: two.
    program = shardc.compile(jax.jit(step), params, x, y, in_shardings=(None, shardc.split(0, "x", sizes=[30, 7]), P("x")),
                             symbolic_mesh="x")
    want = step(params, x, y)
    same(program(params, x, y), want)
    for ranks in (1, 2, 3, 4, 5):
        same(program.bind(mesh={"x": ranks})(params, x, y), want)
    assert compilations.count == 1, compilations.count
    bound = program.bind(mesh={"x": 3})
    same(bound(params, x[:20], y[:20]), step(params, x[:20], y[:20]))
    assert compilations.count == 2, compilations.count
    value = shardc.compile(jax.jit(loss), params, x, y, in_shardings=(None, P("x"), P("x")), symbolic_mesh="x")
    same(jax.grad(value.bind(mesh={"x": 3}))(params, x, y), jax.grad(loss)(params, x, y))

    def layer(w: Any, x: Any) -> Any:
        return jnp.tanh(x @ w)

    both = shardc.compile(jax.jit(layer), params["w"], x, mesh={"d": 2, "m": 2}, in_shardings=(P(None, "m"), P("d")),
                          symbolic_mesh=["d", "m"])
    for mesh in ({"d": 3, "m": 1}, {"d": 1, "m": 4}, {"m": 3}):
        same(both.bind(mesh=mesh)(params["w"], x), layer(params["w"], x))


def main() -> None:
    program = shardc.compile(SMOOTH, symbolic_mesh="x")
    compilations.begin()
    any_number(program)
    assert compilations.count == 0, compilations.count
    mistakes(program)
    saved(program)
    of_jax()
    assert program.bind(mesh={"x": 3}).report(POINTS, OFFSET)["ranks"] == 3
    print("all good")


if __name__ == "__main__":
    os.chdir(os.environ.get("TMPDIR", "/tmp"))
    main()
