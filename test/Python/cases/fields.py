"""Programs of fields, volumes and points: weather, fluids, particles, point clouds, long sequences."""

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special
from jax import lax
from jax.sharding import PartitionSpec as P

from cases.harness import RNG, affine, dense, mlp, model, norm, normal, training


@model({2: P(None, "x")})
def spherical_operator():
    """A spherical Fourier operator: Gauss-Legendre latitudes, rfft along longitude, a filter by degree; latitudes are cut."""
    lats, lons, degrees, orders, width = 20, 24, 10, 10, 3
    nodes, weights = np.polynomial.legendre.leggauss(lats)
    table = np.zeros((orders, degrees, lats), np.float32)
    for m in range(orders):
        for d in range(m, degrees):
            scale = np.sqrt((2 * d + 1) / 2 * scipy.special.factorial(d - m) / scipy.special.factorial(d + m))
            table[m, d] = scale * scipy.special.lpmv(m, d, nodes)
    params = {"filter": normal(degrees, width, width, 2, scale=0.3), "skip": dense(width, width), "out": dense(width, 1)}

    def layer(p, x):
        waves = jnp.fft.rfft(x, axis=2, norm="forward")[:, :, :orders]
        modes = jnp.einsum("bkmc,mdk,k->bdmc", waves, table, weights.astype(np.float32))
        mixed = jnp.einsum("bdmc,dce->bdme", modes, p["filter"][..., 0] + 1j * p["filter"][..., 1])
        back = jnp.einsum("bdme,mdk->bkme", mixed, table)
        return jax.nn.gelu(jnp.fft.irfft(back, n=lons, axis=2, norm="forward") + affine(p["skip"], x))

    def loss(p, x, y):
        area = jnp.asarray(weights, jnp.float32)[None, :, None, None]
        return (area * (affine(p["out"], layer(p, layer(p, x))) - y) ** 2).mean()

    return training(loss, params, normal(2, lats, lons, width), normal(2, lats, lons, 1))


@model({2: P(None, None, "x")})
def volume_unet():
    """Segmentation of a volume: 3-D convolutions, pooling, upsampling by resize, instance norm, focal loss; height is cut."""
    dims = ("NDHWC", "DHWIO", "NDHWC")
    params = {"in": normal(3, 3, 3, 1, 6, scale=0.3), "low": normal(3, 3, 3, 6, 8, scale=0.1),
              "high": normal(3, 3, 3, 14, 6, scale=0.1), "out": normal(1, 1, 1, 6, 2, scale=0.3)}

    def conv3(x, w):
        return lax.conv_general_dilated(x, w, (1, 1, 1), "SAME", dimension_numbers=dims)

    def instance_norm(x):
        return (x - x.mean((1, 2, 3), keepdims=True)) * lax.rsqrt(x.var((1, 2, 3), keepdims=True) + 1e-5)

    def loss(p, x, labels):
        fine = jax.nn.leaky_relu(instance_norm(conv3(x, p["in"])))
        low = lax.reduce_window(fine, 0.0, lax.add, (1, 2, 2, 2, 1), (1, 2, 2, 2, 1), "VALID") / 8
        low = jax.nn.leaky_relu(instance_norm(conv3(low, p["low"])))
        up = jax.image.resize(low, (*fine.shape[:4], low.shape[4]), "trilinear")
        high = jax.nn.leaky_relu(conv3(jnp.concatenate([fine, up], -1), p["high"]))
        chance = jax.nn.log_softmax(conv3(high, p["out"]))
        hit = jnp.take_along_axis(chance, labels[..., None], -1)[..., 0]
        return (-((1 - jnp.exp(hit)) ** 2) * hit).mean()

    return training(loss, params, normal(1, 8, 12, 8, 1), RNG.integers(0, 2, (1, 8, 12, 8)))


@model({0: P(None, "x"), 1: P(None, "x"), 2: P(None, "x")})
def semi_lagrangian():
    """Advection backwards along the wind, bilinear where it came from, periodic, ten iterations of a scan; rows are cut."""
    ys, xs = (np.arange(n, dtype=np.float32) for n in (18, 16))

    def step(fields, u, v):
        def turn(fields, _):
            y = (ys[:, None] - 0.7 * v) % len(ys)
            x = (xs[None, :] - 0.7 * u) % len(xs)
            moved = jax.vmap(lambda f: jax.scipy.ndimage.map_coordinates(f, [y, x], order=1, mode="wrap"))(
                jnp.moveaxis(fields, 0, 0))
            return moved, moved.mean((1, 2))

        return lax.scan(turn, fields, None, length=10)

    wind = [np.cos(ys[:, None] / 3 + xs[None] / 4 + shift).astype(np.float32) for shift in (0, 1)]
    return (lambda f, u, v: step(f, u[0], v[0])), (normal(2, 18, 16), wind[0][None], wind[1][None])


@model({0: P("x")})
def farthest_points():
    """PointNet++: farthest point sampling, a ball query, grouping, a shared network, its maximum, with the gradient; points are cut."""
    params = [dense(3, 16), dense(16, 8)]

    def sample(points, count):
        def turn(i, carry):
            far, chosen = carry
            far = jnp.minimum(far, jnp.sum((points - points[chosen[i - 1]]) ** 2, -1))
            return far, chosen.at[i].set(jnp.argmax(far).astype(jnp.int32))

        start = (jnp.full(points.shape[0], 1e10), jnp.zeros(count, jnp.int32))
        return lax.fori_loop(1, count, turn, start)[1]

    def features(points, params):
        centres = points[sample(lax.stop_gradient(points), 9)]
        apart = jnp.sum((centres[:, None] - points[None]) ** 2, -1)
        inside = apart < 1.5
        order = jnp.argsort(jnp.where(inside, jnp.arange(points.shape[0])[None], points.shape[0]), -1)[:, :6]
        group = points[order] - centres[:, None]
        kept = jnp.take_along_axis(inside, order, 1)
        return jnp.where(kept[..., None], mlp(params, group), -1e9).max(1), centres

    def loss(points, params):
        values, centres = features(points, params)
        return (values**2).mean() + (centres**2).mean()

    return (lambda points, params: (features(points, params), jax.value_and_grad(loss, (0, 1))(points, params))), (
        normal(37, 3), params)


@model({2: P(None, "x")})
def selective_scan():
    """A Mamba block: input-dependent state space by an associative scan, a causal depthwise convolution, gates; time is cut."""
    width, inner, states = 6, 8, 4
    params = {"in": dense(width, 2 * inner), "conv": normal(4, 1, inner, scale=0.4), "select": dense(inner, 1 + 2 * states),
              "dt": dense(1, inner), "a": np.log(np.tile(np.arange(1, states + 1, dtype=np.float32), (inner, 1))),
              "d": np.ones(inner, np.float32), "out": dense(inner, width)}

    def block(p, x):
        h, gate = jnp.split(affine(p["in"], x), 2, -1)
        h = lax.conv_general_dilated(h, p["conv"], (1,), [(3, 0)], dimension_numbers=("NWC", "WIO", "NWC"),
                                     feature_group_count=inner)
        h = jax.nn.silu(h)
        dt, b, c = jnp.split(affine(p["select"], h), [1, 1 + states], -1)
        dt = jax.nn.softplus(affine(p["dt"], dt))
        decay = jnp.exp(-dt[..., None] * jnp.exp(p["a"]))
        drive = (dt * h)[..., None] * b[:, :, None]
        _, state = lax.associative_scan(lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1]), (decay, drive), axis=1)
        y = jnp.einsum("btis,bts->bti", state, c) + p["d"] * h
        return affine(p["out"], y * jax.nn.silu(gate))

    def loss(p, x, y):
        for _ in range(2):
            x = x + block(p, norm(x))
        return ((x - y) ** 2).mean()

    return training(loss, params, normal(2, 26, width), normal(2, 26, width))


@model({0: P(None, "x")})
def lattice_boltzmann():
    """D2Q9 with bounce-back walls and a moving lid, twenty steps of a scan; rows are cut."""
    e = np.array([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]])
    w = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4, np.float32)
    opposite = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])
    walls = np.zeros((17, 15), bool)
    walls[0] = walls[:, 0] = walls[:, -1] = True

    def equilibrium(rho, u):
        eu = jnp.einsum("qd,dxy->qxy", e.astype(np.float32), u)
        return w[:, None, None] * rho * (1 + 3 * eu + 4.5 * eu**2 - 1.5 * (u**2).sum(0))

    def turn(f, _):
        rho = f.sum(0)
        u = jnp.einsum("qd,qxy->dxy", e.astype(np.float32), f) / rho
        u = u.at[1, -1].set(0.05)
        out = f - (f - equilibrium(rho, u)) / 0.8
        out = jnp.where(walls, f[opposite], out)
        return jnp.stack([jnp.roll(out[q], tuple(e[q]), (0, 1)) for q in range(9)]), (rho.sum(), (u**2).sum())

    return (lambda f: lax.scan(turn, f, None, length=20)), (
        np.broadcast_to(w[:, None, None], (9, 17, 15)).astype(np.float32) * (1 + 0.01 * np.abs(normal(9, 17, 15))),)


@model({0: P("x"), 1: P("x")})
def particle_in_cell():
    """Charges deposited on a grid by scatter, the field by fft, gathered back, leapfrog; particles are cut."""
    cells = 16

    def turn(carry, _):
        x, v = carry
        cell = jnp.floor(x).astype(jnp.int32)
        part = x - cell
        rho = jnp.zeros(cells).at[cell % cells].add(1 - part).at[(cell + 1) % cells].add(part)
        k = 2 * np.pi * np.fft.rfftfreq(cells).astype(np.float32)
        waves = jnp.fft.rfft(rho - rho.mean())
        field = jnp.fft.irfft(jnp.where(k > 0, -1j * waves / jnp.where(k > 0, k, 1), 0), n=cells).astype(jnp.float32)
        push = field[cell % cells] * (1 - part) + field[(cell + 1) % cells] * part
        v = v - 0.02 * push
        return ((x + 0.1 * v) % cells, v), (rho, (v**2).sum())

    return (lambda x, v: lax.scan(turn, (x, v), None, length=8)), (
        RNG.uniform(0, cells, 45).astype(np.float32), normal(45))


@model({0: P("x")})
def multigrid():
    """V-cycles for Poisson's equation: damped Jacobi, full weighting, bilinear prolongation, to a tolerance; rows are cut."""

    def laplace(u, h):
        p = jnp.pad(u, 1)
        return (4 * u - p[2:, 1:-1] - p[:-2, 1:-1] - p[1:-1, 2:] - p[1:-1, :-2]) / h**2

    def smooth(u, f, h):
        for _ in range(3):
            u = u + 0.2 * h**2 * (f - laplace(u, h))
        return u

    def cycle(u, f, h):
        u = smooth(u, f, h)
        if u.shape[0] <= 3:
            return smooth(smooth(u, f, h), f, h)
        r = jnp.pad(f - laplace(u, h), 1)
        rows = (r[1:-2:2] + 2 * r[2:-1:2] + r[3::2]) / 4
        coarse = ((rows[:, 1:-2:2] + 2 * rows[:, 2:-1:2] + rows[:, 3::2]) / 4)[: u.shape[0] // 2, : u.shape[1] // 2]
        e = cycle(jnp.zeros_like(coarse), coarse, 2 * h)
        fine = jnp.zeros_like(u).at[1::2, 1::2].set(e)
        fine = lax.conv_general_dilated(fine[None, None], jnp.asarray([[[[0.25, 0.5, 0.25], [0.5, 1, 0.5], [0.25, 0.5, 0.25]]]]),
                                        (1, 1), "SAME")[0, 0]
        return smooth(u + fine, f, h)

    def solve(f):
        h = 1 / (f.shape[0] + 1)

        def go(carry):
            return (jnp.abs(f - laplace(carry[0], h)).max() > 1e-1) & (carry[1] < 12)

        return lax.while_loop(go, lambda c: (cycle(c[0], f, h), c[1] + 1), (jnp.zeros_like(f), 0))

    return solve, (normal(31, 31),)


@model({2: P("x"), 3: P("x"), 4: P("x")})
def attention_by_edges():
    """Edges attend over their receivers: a softmax by segments, several heads, edge updates, training; edges are cut."""
    nodes, edges, width, heads = 19, 61, 8, 2
    params = {"q": dense(width, width), "k": dense(width, width), "v": dense(width, width), "e": dense(3, width), "out": dense(width, 1)}

    def loss(p, senders, receivers, attributes, x, y):
        for _ in range(2):
            q, k, v = (affine(p[n], x).reshape(nodes, heads, -1) for n in "qkv")
            e = affine(p["e"], attributes).reshape(edges, heads, -1)
            score = (q[receivers] * (k[senders] + e)).sum(-1) / 2
            top = jax.ops.segment_max(score, receivers, nodes)
            weight = jnp.exp(score - lax.stop_gradient(jnp.where(jnp.isfinite(top), top, 0))[receivers])
            total = jax.ops.segment_sum(weight, receivers, nodes)
            out = jax.ops.segment_sum(weight[..., None] * v[senders], receivers, nodes)
            x = x + (out / jnp.maximum(total, 1e-6)[..., None]).reshape(nodes, width)
        return ((affine(p["out"], x)[:, 0] - y) ** 2).mean()

    step, (p, state) = training(loss, params)
    return step, (p, state, RNG.integers(0, nodes - 2, edges), RNG.integers(0, nodes - 2, edges), normal(edges, 3),
                  normal(nodes, width), normal(nodes))


@model({0: P("x"), 1: P("x")})
def smoothed_particles():
    """Smoothed particle hydrodynamics: density and pressure of all pairs within reach, two steps with a gradient; particles are cut."""

    def forces(x):
        gap = x[:, None] - x[None]
        r2 = (gap**2).sum(-1)
        kernel = jnp.where(r2 < 1, (1 - r2) ** 3, 0)
        rho = kernel.sum(1)
        pressure = 0.5 * (rho - 1)
        slope = jnp.where(r2 < 1, -6 * (1 - r2) ** 2, 0)
        pair = (pressure / rho**2)[:, None] + (pressure / rho**2)[None]
        return -((pair * slope)[..., None] * gap).sum(1), rho

    def run(x, v):
        for _ in range(2):
            force, rho = forces(x)
            v = v + 0.01 * force
            x = x + 0.01 * v
        return x, v, rho

    return (lambda x, v: (run(x, v), jax.grad(lambda x: (run(x, v)[0] ** 2).sum())(x))), (normal(41, 3), normal(41, 3))


@model({2: P(None, "x")})
def perceiver():
    """Few latents attend to many tokens, among themselves, and are asked at other places; tokens are cut."""
    width, heads = 8, 2
    names = ["q0", "k0", "v0", "q1", "k1", "v1", "q2", "k2", "v2"]
    params = {n: dense(width, width) for n in names} | {"latents": normal(5, width), "ask": normal(7, width), "out": dense(width, 2)}

    def attend(p, n, to, of):
        q, k, v = (affine(p[f"{name}{n}"], x).reshape(*x.shape[:2], heads, -1) for name, x in (("q", to), ("k", of), ("v", of)))
        return to + jax.nn.dot_product_attention(q, k, v).reshape(to.shape)

    def loss(p, tokens, y):
        z = jnp.broadcast_to(p["latents"], (tokens.shape[0], 5, width))
        z = attend(p, 1, attend(p, 0, z, norm(tokens)), z)
        asked = attend(p, 2, jnp.broadcast_to(p["ask"], (tokens.shape[0], 7, width)), z)
        return ((affine(p["out"], asked) - y) ** 2).mean()

    return training(loss, params, normal(2, 29, width), normal(2, 7, 2))


@model({0: P(None, "x"), 1: P(None, "x")})
def spectral_flow():
    """Navier-Stokes by a pseudospectral method, dealiased, Runge-Kutta in a scan, and the gradient of its last energy; rows are cut."""
    n = 16
    k = np.fft.fftfreq(n, 1 / n).astype(np.float32)
    kx, ky = np.meshgrid(k, k[: n // 2 + 1], indexing="ij")
    k2 = kx**2 + ky**2
    keep = (np.abs(kx) < n / 3) & (np.abs(ky) < n / 3)

    def rate(w):
        psi = jnp.where(k2 > 0, w / jnp.where(k2 > 0, k2, 1), 0)
        u, v, wx, wy = (jnp.fft.irfft2(z, s=(n, n)) for z in (1j * ky * psi, -1j * kx * psi, 1j * kx * w, 1j * ky * w))
        return keep * -jnp.fft.rfft2(u * wx + v * wy) - 1e-2 * k2 * w

    def run(field, force):
        def turn(w, _):
            a = rate(w)
            b = rate(w + 0.005 * a)
            return w + 0.01 * (b + jnp.fft.rfft2(force)), jnp.abs(w).sum()

        last, trace = lax.scan(turn, jnp.fft.rfft2(field), None, length=5)
        return jnp.fft.irfft2(last, s=(n, n)), trace

    return (lambda f, g: (run(f[0], g[0]), jax.grad(lambda f: (run(f, g[0])[0] ** 2).sum())(f[0]))), (
        normal(1, n, n), normal(1, n, n, scale=0.1))
