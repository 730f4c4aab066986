"""Programs with symbolic extents that look through windows: convolutions, pooling, resizes, U-Nets."""

import jax
import jax.numpy as jnp
from declared import program
from jax import lax


@program(["b, n, 3", "5, 3, 4"], [1, None])
def convolution(x, w):
    return lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))


@program(["b, 2*n, 3", "4, 3, 4"], [1, None])
def strided(x, w):
    return lax.conv_general_dilated(x, w, (2,), [(1, 1)], dimension_numbers=("NWC", "WIO", "NWC"))


@program(["b, 2*n, 3"], [1])
def pooled(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 1), (1, 2, 1), "VALID")


@program(["n, 3, 5"], [0], least=4)
def overhanging(x):
    # How many windows there are is rounded: of an even n the last one reaches into padding, of an odd n none does.
    high = [(0, 1), (0, 0), (0, 0)]
    y = lax.reduce_window(-1 - jnp.abs(x), -jnp.inf, lax.max, (3, 1, 1), (2, 1, 1), high)
    return y * (1.0 + jnp.arange(y.shape[0]))[:, None, None]


@program(["n, m, 3", "2, 2, 3, 2"], [0, None], least=6)
def overhanging_convolution(x, w):
    y = lax.conv_general_dilated(x[None], w, (3, 3), [(0, 1), (0, 1)], dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return y + jnp.ones(y.shape)


def images(x, w, strides=(1, 1), padding="SAME"):
    return lax.conv_general_dilated(x, w, strides, padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))


@program(["b, 2*h, 2*w, 3", "3, 3, 3, 4"], [1, None])
def halved(x, w):
    """Both of two extents are even: each is told from the other."""
    return images(x, w, (2, 2), [(1, 1), (1, 1)])


@program(["b, 2*h, 2*w, 2", "3, 3, 2, 4", "3, 3, 4, 2", "b, 2*h, 2*w, 2"], [1, None, None, 1], tolerance=1e-4)
def u_net(x, a, c, y):
    def loss(a, c):
        fine = jax.nn.relu(images(x, a))
        coarse = lax.reduce_window(fine, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return ((images(jnp.repeat(jnp.repeat(coarse, 2, 1), 2, 2) + fine, c) - y) ** 2).mean()

    return jax.value_and_grad(loss, argnums=(0, 1))(a, c)


@program(["b, h, w, 3"], [1])
def windowless_gradient(x):
    """Of one row or column no window is left."""
    pooled = lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return jax.grad(lambda x: (pooled(x) ** 2).sum())(x)


@program(["b, h, w, 3", "3, 3, 3, 4"], [1, None])
def strided_same(x, w):
    """Padding below of one element where an extent is odd, and none where it is even."""
    return images(x, w, (2, 2))


@program(["b, h, w, 3"], [1])
def pooled_same(x):
    return lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")


@program(["b, h, w, 3"], [1])
def averaged_gradient(x):
    """Padding above of two elements where an extent is odd, and one where it is even."""
    pooled = lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return jax.grad(lambda x: (pooled(x) ** 2).sum())(x)


def gradient_of_pooling(init, combine, window, stride, padding="SAME"):
    """The gradient of pooling, of windows that begin a stride apart."""

    def gradient(x):
        dims = (1, *[window] * (x.ndim - 2), 1)
        strides = (1, *[stride] * (x.ndim - 2), 1)
        pooled = lambda x: lax.reduce_window(x, init, combine, dims, strides, padding)
        weights = lambda y: jnp.sin(y) / (1 + jnp.arange(y.shape[1])).reshape(1, -1, *[1] * (y.ndim - 2))
        return jax.grad(lambda x: weights(pooled(x)).sum())(x)

    return gradient


@program(["b, h, w, 2"], [1])
def max_same_gradient(x):
    return gradient_of_pooling(-jnp.inf, lax.max, 3, 2)(x)


@program(["b, h, w, 2"], [1])
def average_same_gradient(x):
    return gradient_of_pooling(0.0, lax.add, 3, 2)(x)


@program(["b, n, 2"], [1])
def max_same_gradient_of_pairs(x):
    return gradient_of_pooling(-jnp.inf, lax.max, 2, 2)(x)


@program(["b, n, 2"], [1])
def average_same_gradient_of_pairs(x):
    return gradient_of_pooling(0.0, lax.add, 2, 2)(x)


@program(["b, n, 2"], [1])
def max_same_gradient_by_three(x):
    return gradient_of_pooling(-jnp.inf, lax.max, 5, 3)(x)


@program(["b, n, 2"], [1])
def average_same_gradient_by_three(x):
    return gradient_of_pooling(0.0, lax.add, 5, 3)(x)


@program(["b, n, 2"], [1])
def max_padded_gradient(x):
    return gradient_of_pooling(-jnp.inf, lax.max, 3, 2, [(0, 0), (1, 1), (0, 0)])(x)


@program(["b, n, 2"], [1])
def average_padded_gradient(x):
    return gradient_of_pooling(0.0, lax.add, 3, 2, [(0, 0), (1, 1), (0, 0)])(x)


@program(["b, n, 2"], [1])
def max_overhanging_gradient(x):
    return gradient_of_pooling(-jnp.inf, lax.max, 2, 2, [(0, 0), (0, 1), (0, 0)])(x)


@program(["b, n, 2"], [1], least=3)
def max_valid_gradient(x):
    return gradient_of_pooling(-jnp.inf, lax.max, 3, 2, "VALID")(x)


@program(["b, n, 2"], [1], least=3)
def average_valid_gradient(x):
    return gradient_of_pooling(0.0, lax.add, 3, 2, "VALID")(x)


@program(["b, 2*n, 3"], [1])
def pooled_gradient(x):
    def pooled(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 1), (1, 2, 1), [(0, 0), (1, 1), (0, 0)])

    return jax.grad(lambda x: jnp.sin(pooled(x)).sum())(x)


@program(["b, 4*h, 4*w, 2", "3, 3, 2, 4", "3, 3, 4, 4", "3, 3, 4, 2"], [1, None, None, None], tolerance=2e-4)
def u_net_deep(x, a, b, c):
    def up(x):
        return jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)

    def loss(a, b, c):
        d0 = jax.nn.relu(images(x, a))
        d1 = jax.nn.relu(images(d0, b, (2, 2), [(1, 1), (1, 1)]))
        d2 = lax.reduce_window(d1, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        u1 = up(d2) + d1
        u0 = up(u1) + d0
        return ((images(u0, c) - x) ** 2).mean()

    return jax.value_and_grad(loss, (0, 1, 2))(a, b, c)


@program(["b, h, w, 2", "3, 3, 2, 4", "3, 3, 4, 2"], [1, None, None], least=2, tolerance=2e-4)
def u_net_odd(x, a, c):
    """Extents of any parity: half up, cropped."""
    h, w = x.shape[1], x.shape[2]
    d = jax.nn.relu(images(x, a, (2, 2), [(1, 1), (1, 1)]))
    u = jnp.repeat(jnp.repeat(d, 2, 1), 2, 2)[:, :h, :w]
    return images(u, c) + x


@program(["b, n, 2"], [1], least=4)
def avg_same_gradient3(x):
    def f(x):
        return (lax.reduce_window(x, 0.0, lax.add, (1, 4, 1), (1, 3, 1), "SAME") ** 2).sum()

    return jax.grad(f)(x)


@program(["b, n, 4"], [1], least=4)
def max_pool_stride3_grad(x):
    return jax.grad(lambda x: (lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 1), (1, 3, 1), "VALID") ** 2).sum())(x)


@program(["b, n, 4"], [1], least=4)
def dilated_window(x):
    return lax.reduce_window(x, 0.0, lax.add, (1, 3, 1), (1, 2, 1), [(0, 0), (2, 1), (0, 0)], base_dilation=(1, 1, 1), window_dilation=(1, 2, 1))


@program(["b, n, 3", "4, 3, 2"], [1, None])
def transposed_conv(x, w):
    return lax.conv_transpose(x, w, (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))


@program(["b, n, 3", "3, 3, 2"], [1, None])
def transposed_conv_valid(x, w):
    return lax.conv_transpose(x, w, (2,), "VALID", dimension_numbers=("NWC", "WIO", "NWC"))


@program(["b, h, w, 3"], [1], least=2)
def pyramid(x):
    """Half of an extent of any parity and twice that, cropped: 2 * ceil(h / 2) is h + 1 where h is odd alone."""
    h, w = x.shape[1], x.shape[2]
    half = lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "SAME") / 4
    return half, x - jnp.repeat(jnp.repeat(half, 2, 1), 2, 2)[:, :h, :w]


@program(["b, n, 2"], [1])
def half_up_gradient(x):
    """The gradient of pooling has n + 1 elements in front of windows one apart, and 2 * ceil(n / 2) is another extent."""

    def loss(x):
        half = lax.reduce_window(x, 0.0, lax.add, (1, 2, 1), (1, 2, 1), "SAME") / 2
        return ((x - jnp.repeat(jnp.sin(half), 2, 1)[:, : x.shape[1]]) ** 2).sum()

    return jax.grad(loss)(x)


@program(["b, h, w, 2", "3, 3, 2, 4", "3, 3, 4, 4", "3, 3, 4, 2"], [1, None, None, None], tolerance=1e-3)
def halves_rounded_up(x, a, b, c):
    """A U-Net of h, ceil(h / 2) and ceil(h / 4) rows: pooled SAME, repeated and cropped."""

    def up(x, like):
        return jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)[:, : like.shape[1], : like.shape[2]]

    def pool(x):
        return lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "SAME") / 4

    def loss(a, b, c):
        first = jnp.tanh(images(x, a))
        second = jnp.tanh(images(pool(first), b))
        joined = up(pool(second), second) + second
        return ((images(up(joined, first) + first, c) - x) ** 2).mean()

    return jax.value_and_grad(loss, (0, 1, 2))(a, b, c)


@program(["b, 8*n, 2", "4, 2, 4", "4, 4, 8", "4, 8, 4", "4, 4, 2"], [1, None, None, None, None], tolerance=1e-3)
def autoencoder(x, a, b, c, d):
    """Of three ranks what is moved by rounding alone differs from one placeholder to another."""

    def conv(x, w):
        return lax.conv_general_dilated(x, w, (2,), [(1, 1)], dimension_numbers=("NWC", "WIO", "NWC"))

    def transposed(x, w):
        return lax.conv_transpose(x, w, (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))

    def loss(a, b, c, d):
        z = jnp.tanh(conv(jnp.tanh(conv(x, a)), b))
        return ((transposed(jnp.tanh(transposed(z, c)), d) - x) ** 2).mean()

    return jax.value_and_grad(loss, (0, 1, 2, 3))(a, b, c, d)


@program(["b, n, 2", "3, 2, 4", "3, 4, 4", "3, 8, 2"], [1, None, None, None], least=4, constraints=["n >= 4"], tolerance=1e-3)
def halves_rounded_down(x, a, b, c):
    """A U-Net of n, n // 2 and n // 4 rows, which has 2 (n // 2) and 2 (n // 4) rows as well."""

    def conv(x, w):
        return lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))

    def pool(x):
        return lax.reduce_window(x, 0.0, lax.add, (1, 2, 1), (1, 2, 1), "VALID") / 2

    def up(x, size):
        x = jnp.repeat(x, 2, 1)
        return jnp.pad(x, ((0, 0), (0, size - x.shape[1]), (0, 0)))

    def loss(a, b, c):
        first = jnp.tanh(conv(x, a))
        second = jnp.tanh(conv(pool(first), b))
        joined = up(pool(second), second.shape[1]) + second
        return ((conv(jnp.concatenate([up(joined, x.shape[1]), first], -1), c) - x) ** 2).mean()

    return jax.value_and_grad(loss, (0, 1, 2))(a, b, c)


def valid_windows(x, w, stride):
    """A convolution without padding."""
    return lax.conv_general_dilated(x, w, (stride,), "VALID", dimension_numbers=("NWC", "WIO", "NWC"))


def valid_maxima(x, window, stride):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, window, 1), (1, stride, 1), "VALID")


@program(["b, n, 3", "3, 3, 4", "5, 3, 2", "4, 3, 2"], [1, None, None, None], least=5, constraints=["n >= 5"])
def windows_of_any(x, a, b, c):
    """Of windows of 2, 3, 4 and 5, 2 apart, some are as many where n is odd, and others where it is even."""
    maxima, threes = valid_maxima(x, 2, 2), valid_windows(x, a, 2)
    joined = maxima[:, : threes.shape[1]] + threes[:, :, :3]
    by_three = valid_windows(x, a, 3), valid_windows(x, b, 3), valid_maxima(x, 4, 3)
    return joined, valid_windows(x, b, 2), valid_windows(x, c, 2), *by_three, x[:, ::2], x[:, 1::2], x[:, 2::2]


@program(["b, n, 3", "3, 3, 3", "4, 3, 3"], [1, None, None], least=16, constraints=["n >= 16"], tolerance=1e-3)
def windows_of_any_gradient(x, a, b):
    """Convolutions one behind the other and beside one another, pooled; JAX exports gradients of rows that all are in windows."""

    def windows(x, w):
        reach = w.shape[0]
        return valid_windows(x[:, : (x.shape[1] - reach) // 2 * 2 + reach], w, 2)

    def loss(x, a, b):
        deep = windows(jnp.tanh(windows(x, a)), b)
        means = lax.reduce_window(x, 0.0, lax.add, (1, 4, 1), (1, 2, 1), "VALID") / 4
        return (deep**2).mean() + sum(jnp.sin(y).sum() for y in (windows(x, b), valid_maxima(x, 2, 2), valid_maxima(x, 3, 2), means))

    return jax.grad(loss, (0, 1, 2))(x, a, b)


def sums(x, window, stride):
    return lax.reduce_window(x, 0.0, lax.add, (window, 1), (stride, 1), "VALID")


@program(["n, 2"], [0], least=4)
def half_beside_windows(x):
    n = x.shape[0]
    return x[::2][: n // 2] * 2, sums(x, 3, 2)


@program(["n, 2"], [0], least=4)
def halves_beside_windows(x):
    """Of any n (n + 1) / 2 is one more than (n - 1) / 2, and n / 2 is one of the two: each is cut to the next."""
    n, threes = x.shape[0], sums(x, 3, 2)
    return x[::2][: n // 2] + x[1::2], x[1::2][: threes.shape[0]] + threes, sums(x, 4, 2)


@program(["n, 2"], [0], least=4)
def halves_beside_windows_gradient(x):
    """Windows of 2 are padded to n + 1 elements, which beside an odd n is twice a half rounded up."""
    n = x.shape[0]

    def loss(x):
        parts = x[::2][: n // 2] - x[1::2], sums(x, 2, 2), sums(x, 3, 2)
        return sum((part * jnp.cos(part)).sum() for part in parts)

    return jax.grad(loss)(x)


@program(["n, 2"], [0], least=6)
def thirds_beside_windows(x):
    n = x.shape[0]
    parts = lambda x: (x[::3][: n // 3] * 3, x[1::3][: n // 3], x[2::3], sums(x, 4, 3), sums(x, 5, 3))
    return parts(x), jax.grad(lambda x: sum((part * jnp.cos(part)).sum() for part in parts(x)))(x)


@program(["n, 3"], [0], least=3, constraints=["n >= 3"])
def pooled_backwards(x):
    """The last row of n is n - 1; windows two apart are (n - 1) / 2, and twice as many are n - 1 for odd n alone."""
    back = x + 2 * jnp.flip(x, 0)
    pooled = lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (3, 1), (2, 1), "VALID")
    return back, pooled(back), pooled(jnp.flip(x, 0)), jnp.take(x, jnp.arange(9) - 2, 0, mode="clip"), x[-1]


@program(["n, 3"], [0], least=8, constraints=["n >= 8"])
def rolled_windows(x):
    """Windows of 3 read n under a second, lesser number, where windows of 2 are as well: a roll that is cut to it has all of its rows."""
    maxima = lambda x, window, stride: lax.reduce_window(x, -jnp.inf, lax.max, (window, 1), (stride, 1), "VALID")

    def pooled(x):
        thirds = lax.reduce_window(x, -jnp.inf, lax.max, (2, 1), (3, 1), [(1, 0), (0, 0)])
        return [
            value for rows in (x, thirds) for value in (maxima(jnp.roll(rows, -3, 0), 3, 2), maxima(rows, 2, 2), maxima(jnp.pad(rows, ((1, 2), (0, 0))), 3, 2))
        ]

    loss = lambda x: sum(jnp.sin(jnp.where(jnp.isfinite(value), value, 0)).sum() for value in pooled(x))
    return *pooled(x), jax.grad(loss)(x)
