"""What the table times: one function for each kind of row, from a row's parameters to a ``Case``.

A case is the same computation for each side: a function of JAX (which shardc compiles too) and one of PyTorch, on the same inputs. Nothing here
is tuned for anybody: functions are those that a user of that library would call. ``load(side)`` brings the libraries that a side needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

jax: Any = None
jnp: Any = None
lax: Any = None
torch: Any = None
F: Any = None


def load(side: str) -> None:
    """Import what a side needs: "shardc" and "jax" trace with JAX, "torch" and "inductor" are PyTorch's."""
    global jax, jnp, lax, torch, F
    if side in ("shardc", "jax"):
        import jax
        import jax.numpy as jnp
        from jax import lax
    else:
        import torch
        import torch.nn.functional as F


# --- inputs and cases -----------------------------------------------------------------------------------------------


@dataclass
class Input:
    """An argument: what it holds, and along which dims it is cut (names of mesh axes, as of a PartitionSpec)."""

    make: Callable[[np.random.Generator], np.ndarray]
    cut: tuple = ()
    dtype: str = "float32"


def normal(*shape: int, cut: int | None = None, dtype: str = "float32", scale: float = 1) -> Input:
    return Input(lambda rng: scale * rng.standard_normal(shape, np.float32), along(cut), dtype)


def uniform(*shape: int, low: float = 0, high: float = 1, cut: int | None = None, dtype: str = "float32") -> Input:
    return Input(lambda rng: (low + (high - low) * rng.random(shape, np.float32)), along(cut), dtype)


def integers(*shape: int, below: int, cut: int | None = None) -> Input:
    return Input(lambda rng: rng.integers(0, below, shape), along(cut), "int32")


def zeros(*shape: int, cut: int | None = None, dtype: str = "float32") -> Input:
    return Input(lambda rng: np.zeros(shape, np.float32), along(cut), dtype)


def along(dim: int | None) -> tuple:
    return () if dim is None else (None,) * dim + ("x",)


FREE = "free"
"""Where a result is whatever follows from the inputs."""


@dataclass
class Case:
    """One computation for all sides."""

    inputs: list[Input]
    jax: Callable[..., Any]
    torch: Callable[..., Any] | None = None
    outs: Any = FREE
    """A dim, None, FREE, or a list with one for each result: along which dim results are cut."""
    flops: float = 0
    """Additions and multiplications that the result needs; 0 where memory is the limit."""
    sweeps: float = 1
    """How often all inputs and results have to pass through memory: steps of a loop."""
    bytes: float | None = None
    """What has to pass through memory, where that is not all inputs and results."""
    carry: int = 0
    """So many results take the place of the first arguments in the next step, and are donated."""
    layout: Callable[[list[Any]], list[Any]] | None = None
    """What PyTorch's own layout of the inputs is (weights, channels last); done once."""
    gradients: Sequence[int] = ()
    """``jax`` and ``torch`` are forward; timed are they and the gradients of these arguments, for the last input as cotangent."""
    eager: bool = False
    """torch.compile has nothing to do with it: a loop in Python, or an optimizer that is fused already."""
    tolerance: float = 1e-3
    axes: Callable[[int], dict[str, int]] = field(default=lambda ranks: {"x": ranks})
    on_mesh: Callable[[Any], tuple[Any, Any]] | None = None
    """Of a program that is made for a mesh: ``jax`` and ``outs`` for it."""

    def arrays(self) -> list[np.ndarray]:
        """The inputs, the same in each process; those of 16 bits are in f32 still."""
        rng = np.random.default_rng(7)
        return [np.asarray(given.make(rng), "float32" if given.dtype == "bfloat16" else given.dtype) for given in self.inputs]


OPERATORS: dict[str, Callable[..., Case]] = {}


def operator(make: Callable[..., Case]) -> Callable[..., Case]:
    """Register a kind of row under its name."""
    OPERATORS[make.__name__] = make
    return make


def case(row: dict) -> Case:
    """The case of a row."""
    parameters = {name: value for name, value in row.items() if name not in ("row", "operator", "free", "even")}
    return OPERATORS[row["operator"]](**parameters)


def with_gradients(made: Case, argnums: Sequence[int], cotangent: Input) -> Case:
    """Of a forward case: itself and the gradients of some arguments."""
    made.gradients = argnums
    made.inputs.append(cotangent)
    forward = made.jax

    def both(*args: Any) -> Any:
        *given, dy = args
        chosen = [given[n] for n in argnums]

        def of(*some: Any) -> Any:
            full = list(given)
            for n, value in zip(argnums, some):
                full[n] = value
            return forward(*full)

        y, pull = jax.vjp(of, *chosen)
        return (y, *pull(dy))

    made.jax = both
    made.flops *= 1 + len(argnums)
    made.outs = FREE
    return made


# --- convolutions and products --------------------------------------------------------------------------------------


@operator
def conv(batch: int, size: list[int], channels: int, features: int, window: int, stride: int = 1, groups: int = 1, last: bool = False,
         transposed: bool = False, gradients: bool = False) -> Case:
    dims, same = len(size), (window - 1) // 2
    letters = "HWD"[:dims]
    spec = ("N" + letters + "C", letters + "IO", "N" + letters + "C") if last else ("NC" + letters, "OI" + letters, "NC" + letters)
    image = (batch, *size, channels) if last else (batch, channels, *size)
    kernel = (*[window] * dims, channels // groups, features) if last else (features, channels // groups, *[window] * dims)
    cut = 1 if last else 2

    def f(x: Any, w: Any) -> Any:
        if transposed:
            return lax.conv_transpose(x, w, (stride,) * dims, [(window - 1 - same, window - 1 - same + stride - 1)] * dims, dimension_numbers=spec)
        return lax.conv_general_dilated(x, w, (stride,) * dims, [(same, same)] * dims, dimension_numbers=spec, feature_group_count=groups)

    def g(x: Any, w: Any) -> Any:
        if transposed:
            call = {2: F.conv_transpose2d, 3: F.conv_transpose3d}[dims]
            return call(x, w, stride=stride, padding=same, output_padding=stride - 1)
        return {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}[dims](x, w, stride=stride, padding=same, groups=groups)

    def torch_layout(given: list[Any]) -> list[Any]:
        x, w, *more = given
        if last:
            x, w = x.movedim(-1, 1), w.movedim((-1, -2), (0, 1)).contiguous(memory_format=torch.channels_last if dims == 2 else torch.channels_last_3d)
            more = [dy.movedim(-1, 1) for dy in more]
        if transposed:
            # JAX's kernel runs over the dilated image, PyTorch's over the image: turned, and its first two dims change places.
            w = w.transpose(0, 1).flip(list(range(2, 2 + dims))).contiguous()
        return [x, w, *more]

    def h(x: Any, w: Any) -> Any:
        y = g(x, w)
        return y.movedim(1, -1) if last else y

    out = [s * stride if transposed else (s + stride - 1) // stride for s in size]
    flops = 2 * batch * math.prod(size if transposed else out) * window**dims * channels * features / groups
    made = Case([normal(*image, cut=cut), normal(*kernel, scale=(window**dims * channels / groups) ** -0.5)], f, g if gradients else h, outs=cut,
                flops=flops, layout=torch_layout)
    if gradients:
        made = with_gradients(made, (0, 1), normal(*((batch, *out, features) if last else (batch, features, *out)), cut=cut))
    return made


@operator
def matmul(m: int, k: int, n: int, batch: int = 0, dtype: str = "float32") -> Case:
    cut = 0
    shapes = [(batch, m, k), (batch, k, n)] if batch else [(m, k), (k, n)]
    tolerance = 3e-2 if dtype == "bfloat16" else 1e-3
    return Case([normal(*shapes[0], cut=cut, dtype=dtype), normal(*shapes[1], cut=cut if batch else None, dtype=dtype, scale=k**-0.5)],
                lambda a, b: a @ b, lambda a, b: a @ b, outs=cut, flops=2 * max(batch, 1) * m * k * n, tolerance=tolerance)


@operator
def products(size: int, steps: int) -> Case:
    """Small products that depend on each other: the step of a filter or a recurrent cell, x of 64 rows."""

    def g(x: Any, w: Any) -> Any:
        for _ in range(steps):
            x = torch.tanh(x @ w)
        return x

    return Case([normal(64, size, cut=0), normal(size, size, scale=size**-0.5)], lambda x, w: lax.fori_loop(0, steps, lambda _, x: jnp.tanh(x @ w), x),
                g, outs=0, flops=2 * 64 * size**2 * steps, eager=True)


@operator
def attention(batch: int, queries: int, keys: int, heads: int, features: int, groups: int = 0, causal: bool = False, gradients: bool = False) -> Case:
    groups = groups or heads
    inputs = [normal(batch, queries, heads, features, cut=2), normal(batch, keys, groups, features, cut=2), normal(batch, keys, groups, features, cut=2)]

    def f(q: Any, k: Any, v: Any) -> Any:
        return jax.nn.dot_product_attention(q, k, v, is_causal=causal)

    def g(q: Any, k: Any, v: Any) -> Any:
        y = F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)), is_causal=causal, enable_gqa=groups != heads)
        return y.transpose(1, 2)

    flops = 4 * batch * heads * queries * keys * features * (0.5 if causal else 1)
    made = Case(inputs, f, g, outs=2, flops=flops)
    if gradients:
        made = with_gradients(made, (0, 1, 2), normal(batch, queries, heads, features, cut=2))
        made.flops = 3.5 * flops
    return made


# --- norms, softmax, losses -----------------------------------------------------------------------------------------


@operator
def norm(kind: str, shape: list[int], groups: int = 32, gradients: bool = False) -> Case:
    """layer and rms: of the last dim; group, instance, batch: of NCHW."""
    cut = 0 if kind in ("layer", "rms") else 2
    channels = shape[-1] if kind in ("layer", "rms") else shape[1]

    def standard(x: Any, dims: tuple[int, ...]) -> Any:
        mean = jnp.mean(x, dims, keepdims=True)
        return (x - mean) * lax.rsqrt(jnp.mean(jnp.square(x - mean), dims, keepdims=True) + 1e-5)

    def f(x: Any, scale: Any, bias: Any) -> Any:
        wide = (-1,) if kind in ("layer", "rms") else (1, -1, 1, 1)
        scale, bias = scale.reshape(wide), bias.reshape(wide)
        if kind == "rms":
            return x * lax.rsqrt(jnp.mean(jnp.square(x), -1, keepdims=True) + 1e-5) * scale
        if kind == "layer":
            return standard(x, (-1,)) * scale + bias
        if kind == "group":
            parts = x.reshape(shape[0], groups, channels // groups, *shape[2:])
            return standard(parts, (2, 3, 4)).reshape(x.shape) * scale + bias
        return standard(x, {"instance": (2, 3), "batch": (0, 2, 3)}[kind]) * scale + bias

    def g(x: Any, scale: Any, bias: Any) -> Any:
        if kind == "rms":
            return F.rms_norm(x, (channels,), scale, 1e-5)
        if kind == "layer":
            return F.layer_norm(x, (channels,), scale, bias, 1e-5)
        if kind == "group":
            return F.group_norm(x, groups, scale, bias, 1e-5)
        if kind == "instance":
            return F.instance_norm(x, weight=scale, bias=bias, eps=1e-5)
        return F.batch_norm(x, None, None, scale, bias, training=True, eps=1e-5)

    made = Case([normal(*shape, cut=cut), normal(channels), normal(channels)], f, g, outs=cut)
    if gradients:
        made = with_gradients(made, (0, 1) if kind == "rms" else (0, 1, 2), normal(*shape, cut=cut))
    return made


@operator
def softmax(rows: int, columns: int, log: bool = False, gradients: bool = False, dtype: str = "float32") -> Case:
    made = Case([normal(rows, columns, cut=0, dtype=dtype)], lambda x: (jax.nn.log_softmax if log else jax.nn.softmax)(x, -1),
                lambda x: (torch.log_softmax if log else torch.softmax)(x, -1), outs=0, tolerance=2e-2 if dtype == "bfloat16" else 1e-3)
    return with_gradients(made, (0,), normal(rows, columns, cut=0)) if gradients else made


@operator
def cross_entropy(rows: int, classes: int, gradients: bool = False) -> Case:
    def f(x: Any, labels: Any) -> Any:
        return -jnp.take_along_axis(jax.nn.log_softmax(x), labels[:, None], -1)[:, 0]

    made = Case([normal(rows, classes, cut=0), integers(rows, below=classes, cut=0)], f, lambda x, labels: F.cross_entropy(x, labels, reduction="none"), outs=0,
                layout=lambda given: [given[0], given[1].long(), *given[2:]])
    return with_gradients(made, (0,), normal(rows, cut=0)) if gradients else made


# --- elementwise functions and reductions -----------------------------------------------------------------------------


@operator
def function(name: str, size: int, dtype: str = "float32") -> Case:
    """A function of each element."""
    of_jax = {"gelu": lambda x: jax.nn.gelu(x, approximate=False), "silu": lambda x: jax.nn.silu(x), "tanh": lambda x: jnp.tanh(x), "erf": lambda x: lax.erf(x),
              "exp": lambda x: jnp.exp(x), "log": lambda x: jnp.log(x), "sin": lambda x: jnp.sin(x), "pow": lambda x: jnp.power(x, 1.7), "relu": lambda x: jax.nn.relu(x),
              "sqrt": lambda x: jnp.sqrt(x), "sigmoid": lambda x: jax.nn.sigmoid(x)}
    of_torch = {"gelu": lambda x: F.gelu(x), "silu": lambda x: F.silu(x), "pow": lambda x: torch.pow(x, 1.7), "relu": lambda x: torch.relu(x)}
    g = of_torch.get(name, lambda x: getattr(torch, name)(x))
    positive = name in ("log", "pow", "sqrt")
    given = uniform(size, low=0.1, high=4, cut=0, dtype=dtype) if positive else normal(size, cut=0, dtype=dtype, scale=2)
    return Case([given], of_jax[name], g, outs=0, tolerance=2e-2 if dtype == "bfloat16" else 1e-3)


@operator
def chain(size: int, links: int) -> Case:
    """Additions, multiplications and a minimum of three arrays, one after the other."""

    def both(x: Any, y: Any, z: Any, minimum: Any) -> Any:
        for _ in range(links):
            x = minimum(x * y + z, y) * 0.5 + x
        return x

    return Case([normal(size, cut=0) for _ in range(3)], lambda *a: both(*a, minimum=jnp.minimum), lambda *a: both(*a, minimum=torch.minimum), outs=0)


@operator
def reduce(name: str, shape: list[int], dims: list[int] | None = None, cut: int = 0) -> Case:
    """sum, max, mean, var, prod of some dims; argmax and cumsum of one."""
    axis = None if dims is None else tuple(dims) if name not in ("argmax", "cumsum") else dims[0]
    left = None if dims is None or (name != "cumsum" and cut in dims) else cut if name == "cumsum" else cut - sum(d < cut for d in dims)

    def f(x: Any) -> Any:
        return getattr(jnp, name)(x, axis)

    def g(x: Any) -> Any:
        if name == "max":
            return torch.amax(x, axis if axis is not None else ())
        if name == "var":
            return torch.var(x, axis, correction=0)
        return getattr(torch, name)(x) if axis is None else getattr(torch, name)(x, axis)

    return Case([normal(*shape, cut=cut)], f, g, outs=left, tolerance=1e-2)


# --- order ------------------------------------------------------------------------------------------------------------


@operator
def sort(shape: list[int], dim: int = -1, indices: bool = False, cut: int = 0) -> Case:
    f = (lambda x: jnp.argsort(x, dim)) if indices else (lambda x: jnp.sort(x, dim))
    g = (lambda x: torch.argsort(x, dim=dim, stable=True)) if indices else (lambda x: torch.sort(x, dim)[0])
    return Case([normal(*shape, cut=cut)], f, g, outs=cut)


@operator
def top_k(rows: int, columns: int, k: int) -> Case:
    return Case([normal(rows, columns, cut=0)], lambda x: tuple(lax.top_k(x, k)), lambda x: tuple(torch.topk(x, k)), outs=[0, 0])


# --- moving data --------------------------------------------------------------------------------------------------------


@operator
def transpose(shape: list[int], order: list[int], dtype: str = "float32", cut: int = 0) -> Case:
    """Each rank's own part: the cut goes along. Arrays are contiguous before and after."""
    return Case([normal(*shape, cut=cut, dtype=dtype)], lambda x: jnp.transpose(x, order), lambda x: x.permute(order).contiguous(), outs=order.index(cut))


@operator
def concat(shapes: list[list[int]], dim: int) -> Case:
    cut = 1 if dim == 0 else 0
    return Case([normal(*shape, cut=cut) for shape in shapes], lambda *a: jnp.concatenate(a, dim), lambda *a: torch.cat(a, dim), outs=cut)


@operator
def pad(shape: list[int], low: int, high: int) -> Case:
    """Zeros around the last two dims."""
    width = [(0, 0)] * (len(shape) - 2) + [(low, high)] * 2
    return Case([normal(*shape, cut=0)], lambda x: jnp.pad(x, width), lambda x: F.pad(x, (low, high) * 2), outs=0)


@operator
def cut_out(shape: list[int], low: int, high: int) -> Case:
    """What is left without borders of the last two dims: a slice, copied."""
    inner = (..., slice(low, -high), slice(low, -high))
    return Case([normal(*shape, cut=0)], lambda x: x[inner], lambda x: x[inner].contiguous(), outs=0)


@operator
def gather(rows: int, columns: int, taken: int) -> Case:
    """Rows of a table that each rank holds; indices are cut."""
    return Case([normal(rows, columns), integers(taken, below=rows, cut=0)], lambda x, i: x[i], lambda x, i: x[i], outs=0,
                layout=lambda given: [given[0], given[1].long()], bytes=2 * 4 * taken * columns + 4 * taken)


@operator
def embedding(words: int, features: int, batch: int, tokens: int) -> Case:
    """An embedding and the gradient of its table."""
    made = Case([normal(words, features), integers(batch, tokens, below=words, cut=0)], lambda w, i: w[i], lambda w, i: F.embedding(i, w), outs=0,
                layout=lambda given: [given[0], given[1].long(), *given[2:]])
    made = with_gradients(made, (0,), normal(batch, tokens, features, cut=0))
    made.bytes = 4 * features * (3 * batch * tokens + words)
    return made


@operator
def segment(name: str, rows: int, columns: int, segments: int) -> Case:
    """Sum or maximum of rows by number; results are cut too."""

    def f(x: Any, i: Any) -> Any:
        return getattr(jax.ops, f"segment_{name}")(x, i, segments)

    def g(x: Any, i: Any) -> Any:
        if name == "sum":
            return torch.zeros(segments, columns).index_add_(0, i, x)
        return torch.full((segments, columns), -math.inf).index_reduce_(0, i, x, "amax")

    return Case([normal(rows, columns, cut=0), integers(rows, below=segments, cut=0)], f, g, outs=0, layout=lambda given: [given[0], given[1].long()])


@operator
def scatter_add(size: int, updates: int) -> Case:
    """Single numbers added where indices say."""
    return Case([normal(size), integers(updates, below=size, cut=0), normal(updates, cut=0)], lambda x, i, u: x.at[i].add(u),
                lambda x, i, u: x.index_add(0, i, u), outs=None, layout=lambda given: [given[0], given[1].long(), given[2]])


# --- Fourier transforms, windows, images ----------------------------------------------------------------------------------


@operator
def fft(batch: int, size: list[int], real: bool = False) -> Case:
    dims = tuple(range(1, 1 + len(size)))
    points = batch * math.prod(size)
    flops = (2.5 if real else 5) * points * math.log2(math.prod(size))
    if real:
        return Case([normal(batch, *size, cut=0)], lambda x: jnp.fft.rfftn(x, axes=dims), lambda x: torch.fft.rfftn(x, dim=dims), outs=0, flops=flops)
    return Case([normal(batch, *size, cut=0), normal(batch, *size, cut=0)], lambda a, b: jnp.fft.fftn(lax.complex(a, b), axes=dims),
                lambda a, b: torch.fft.fftn(torch.complex(a, b), dim=dims), outs=0, flops=flops)


@operator
def pool(name: str, batch: int, channels: int, size: list[int], window: int, stride: int, gradients: bool = False) -> Case:
    """max or mean of windows, NCHW, no padding."""

    def f(x: Any) -> Any:
        form = (1, 1, window, window), (1, 1, stride, stride), "VALID"
        if name == "max":
            return lax.reduce_window(x, -jnp.inf, lax.max, *form)
        return lax.reduce_window(x, 0.0, lax.add, *form) / window**2

    made = Case([normal(batch, channels, *size, cut=1)], f, lambda x: (F.max_pool2d if name == "max" else F.avg_pool2d)(x, window, stride), outs=1)
    if gradients:
        made = with_gradients(made, (0,), normal(batch, channels, *[(s - window) // stride + 1 for s in size], cut=1))
    return made


@operator
def resize(batch: int, channels: int, size: list[int], to: list[int]) -> Case:
    """Bilinear, NCHW."""
    return Case([normal(batch, channels, *size, cut=1)], lambda x: jax.image.resize(x, (batch, channels, *to), "bilinear"),
                lambda x: F.interpolate(x, to, mode="bilinear", antialias=any(t < s for t, s in zip(to, size))), outs=1)


# --- random numbers, optimizers -----------------------------------------------------------------------------------------


@operator
def random_bits(size: int) -> Case:
    """Threefry's, as JAX has them; PyTorch's generator is another."""
    return Case([Input(lambda rng: np.array([1, 2]), (), "uint32")], lambda key: jax.random.bits(jax.random.wrap_key_data(key), (size,)),
                lambda key: torch.randint(-(2**31), 2**31, (size,), dtype=torch.int32), outs=0, tolerance=math.inf)


@operator
def dropout(size: int) -> Case:
    def f(x: Any, key: Any) -> Any:
        return jnp.where(jax.random.bernoulli(jax.random.wrap_key_data(key), 0.9, x.shape), x / 0.9, 0)

    return Case([normal(size, cut=0), Input(lambda rng: np.array([1, 2]), (), "uint32")], f, lambda x, key: F.dropout(x, 0.1), outs=0, tolerance=math.inf)


@operator
def adam(shapes: list[list[int]], repeat: int = 1) -> Case:
    """A step of Adam, parameters and moments updated in place; every parameter is cut along its first dim."""
    shapes = shapes * repeat
    count = len(shapes)
    inputs = [normal(*s, cut=0) for s in shapes] + [zeros(*s, cut=0) for s in shapes * 2] + [zeros()] + [normal(*s, cut=0) for s in shapes]

    def f(*given: Any) -> Any:
        p, m, v, (step,), g = given[:count], given[count : 2 * count], given[2 * count : 3 * count], given[3 * count : 3 * count + 1], given[3 * count + 1 :]
        step = step + 1
        m = [0.9 * a + 0.1 * b for a, b in zip(m, g)]
        v = [0.999 * a + 0.001 * b * b for a, b in zip(v, g)]
        one, two = 1 - 0.9**step, 1 - 0.999**step
        p = [a - 1e-3 * (b / one) / (jnp.sqrt(c / two) + 1e-8) for a, b, c in zip(p, m, v)]
        return (*p, *m, *v, step)

    kept = SimpleNamespace(optimizer=None)

    def of_torch(*given: Any) -> Any:
        # The library's own, whose moments are its own too.
        if kept.optimizer is None:
            for p, g in zip(given[:count], given[3 * count + 1 :]):
                p.requires_grad_(True).grad = g
            kept.optimizer = torch.optim.Adam(given[:count], 1e-3, fused=True)
        kept.optimizer.step()
        return tuple(p.detach() for p in given[:count])

    return Case(inputs, f, of_torch, outs=[0] * 3 * count + [None], carry=3 * count + 1, eager=True)


# --- stencils -------------------------------------------------------------------------------------------------------------


@operator
def stencil(points: int, size: list[int], steps: int) -> Case:
    """A periodic stencil of 5, 9 (2-D) or 7, 27 (3-D) points, as people write it: rolled arrays."""
    dims = len(size)

    def shifts() -> list[tuple[int, ...]]:
        import itertools

        every = [s for s in itertools.product((-1, 0, 1), repeat=dims) if any(s)]
        return every if points in (9, 27) else [s for s in every if sum(map(abs, s)) == 1]

    def step(x: Any, roll: Any) -> Any:
        total = None
        for s in shifts():
            axes = [d for d in range(dims) if s[d]]
            moved = roll(x, [s[d] for d in axes], axes)
            total = moved if total is None else total + moved
        return x + (0.4 / len(shifts())) * (total - len(shifts()) * x)

    def f(x: Any) -> Any:
        return lax.fori_loop(0, steps, lambda _, x: step(x, lambda a, s, d: jnp.roll(a, tuple(s), tuple(d))), x)

    def g(x: Any) -> Any:
        for _ in range(steps):
            x = step(x, lambda a, s, d: torch.roll(a, s, d))
        return x

    return Case([normal(*size, cut=0)], f, g, outs=0, sweeps=steps)


# --- linear algebra ---------------------------------------------------------------------------------------------------------


@operator
def linear(name: str, batch: int, size: int) -> Case:
    """LU, Cholesky and QR factors, or the solution of triangular or general systems, of matrices dealt out to the ranks."""

    def given(rng: np.random.Generator) -> np.ndarray:
        a = rng.standard_normal((batch, size, size), np.float32) * size**-0.5
        if name == "cholesky":
            return a @ a.transpose(0, 2, 1) + np.eye(size, dtype=np.float32)
        return np.tril(a) + 2 * np.eye(size, dtype=np.float32) if name == "triangular_solve" else a + 2 * np.eye(size, dtype=np.float32)

    of_jax = {"lu": lambda a, b: lax.linalg.lu(a)[0], "cholesky": lambda a, b: jnp.linalg.cholesky(a), "qr": lambda a, b: jnp.abs(jnp.linalg.qr(a)[1]),
              "triangular_solve": lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True, lower=True), "solve": lambda a, b: jnp.linalg.solve(a, b)}
    of_torch = {"lu": lambda a, b: torch.linalg.lu_factor(a)[0], "cholesky": lambda a, b: torch.linalg.cholesky(a), "qr": lambda a, b: torch.abs(torch.linalg.qr(a)[1]),
                "triangular_solve": lambda a, b: torch.linalg.solve_triangular(a, b, upper=False), "solve": lambda a, b: torch.linalg.solve(a, b)}
    share = {"lu": 2 / 3, "cholesky": 1 / 3, "qr": 4 / 3, "triangular_solve": 1, "solve": 8 / 3}[name]
    return Case([Input(given, along(0)), normal(batch, size, size, cut=0)], of_jax[name], of_torch[name], outs=0, flops=share * batch * size**3, eager=True)


# --- points, calls ------------------------------------------------------------------------------------------------------------


@operator
def neighbours(points: int, queries: int, k: int) -> Case:
    """The k nearest of points in space, and the mean of their values; with k = 0 the sum of values within a radius."""

    def f(p: Any, q: Any, values: Any) -> Any:
        distances = jnp.sum((q[:, None, :] - p[None, :, :]) ** 2, axis=-1)
        if k == 0:
            return jnp.where(distances < 0.25, 1.0, 0.0) @ values
        return jnp.mean(values[lax.top_k(-distances, k)[1]], axis=1)

    def g(p: Any, q: Any, values: Any) -> Any:
        distances = torch.cdist(q, p)
        if k == 0:
            return (distances < 0.5).float() @ values
        return values[torch.topk(distances, k, largest=False)[1]].mean(1)

    return Case([normal(points, 3, cut=0), normal(queries, 3, cut=0), normal(points, 4, cut=0)], f, g, outs=0, flops=9 * points * queries, tolerance=2e-2)


@operator
def tiny(size: int, steps: int) -> Case:
    """Steps of few numbers, each with one sum over all ranks."""

    def g(x: Any) -> Any:
        for _ in range(steps):
            x = x - x.mean()
        return x

    return Case([normal(size, cut=0)], lambda x: lax.fori_loop(0, steps, lambda _, x: x - jnp.mean(x) * 0.5, x), lambda x: g(x), outs=0, eager=True, tolerance=1)


@operator
def call(size: int) -> Case:
    """What one call costs that has next to nothing to do."""
    return Case([normal(size, cut=0)], lambda x: x + 1, lambda x: x + 1, outs=0)
