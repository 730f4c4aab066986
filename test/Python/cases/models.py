"""Whole models as their authors write them: training steps, samplers, filters."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

from cases.harness import RNG, affine, conv, dense, mlp, model, norm, normal, training


@model({2: P(None, "x")})
def resnet():
    """ResNet with batch statistics, momentum SGD, label smoothing; the image's rows are cut."""
    params = {"stem": normal(3, 3, 3, 8, scale=0.2),
              "a": normal(3, 3, 8, 8, scale=0.1), "b": normal(3, 3, 8, 16, scale=0.1),
              "short": normal(1, 1, 8, 16, scale=0.3), "head": dense(16, 10)}
    images, labels = normal(2, 16, 12, 3), np.array([3, 7])

    def batch_norm(x, mean, var):
        m, v = x.mean((0, 1, 2)), x.var((0, 1, 2))
        return (x - m) * lax.rsqrt(v + 1e-5), 0.9 * mean + 0.1 * m, 0.9 * var + 0.1 * v

    def forward(p, s, x):
        y, m0, v0 = batch_norm(conv(x, p["stem"]), *s["stem"])
        y = lax.reduce_window(jax.nn.relu(y), -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        z, m1, v1 = batch_norm(conv(jax.nn.relu(conv(y, p["a"])) + y, p["b"], 2), *s["b"])
        z = jax.nn.relu(z + conv(y, p["short"], 2))
        return affine(p["head"], z.mean((1, 2))), {"stem": (m0, v0), "b": (m1, v1)}

    def step(p, velocity, images, labels, stats):
        def loss(p):
            logits, new = forward(p, stats, images)
            targets = jax.nn.one_hot(labels, 10) * 0.9 + 0.01
            return -(targets * jax.nn.log_softmax(logits)).sum(-1).mean(), (new, logits)

        (value, (new, logits)), grads = jax.value_and_grad(loss, has_aux=True)(p)
        velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, grads)
        p = jax.tree.map(lambda p, v: p - 0.1 * v, p, velocity)
        return value, (logits.argmax(-1) == labels).mean(), p, velocity, new

    stats = {"stem": (np.zeros(8, np.float32), np.ones(8, np.float32)),
             "b": (np.zeros(16, np.float32), np.ones(16, np.float32))}
    return step, (params, jax.tree.map(np.zeros_like, params), images, labels, stats)


@model({2: P(None, "x")})
def transformer():
    """A decoder: scan over layers with remat, rotary positions, tied embedding; the sequence is cut."""
    layers, width, heads, words = 3, 16, 4, 29
    params = {"embed": normal(words, width, scale=0.3),
              "layers": {"qkv": normal(layers, width, 3 * width, scale=0.2),
                         "out": normal(layers, width, width, scale=0.2),
                         "up": normal(layers, width, 4 * width, scale=0.2),
                         "down": normal(layers, 4 * width, width, scale=0.1)}}
    tokens = RNG.integers(0, words, (2, 13))

    def rotary(x):
        half = x.shape[-1] // 2
        angle = jnp.arange(x.shape[1])[:, None] * 10.0 ** -jnp.arange(half)
        sin, cos = jnp.sin(angle)[:, None], jnp.cos(angle)[:, None]
        a, b = x[..., :half], x[..., half:]
        return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], -1)

    @jax.checkpoint
    def layer(x, p):
        q, k, v = (t.reshape(*t.shape[:2], heads, -1) for t in jnp.split(norm(x) @ p["qkv"], 3, -1))
        x = x + jax.nn.dot_product_attention(rotary(q), rotary(k), v, is_causal=True).reshape(x.shape) @ p["out"]
        return x + jax.nn.silu(norm(x) @ p["up"]) @ p["down"], None

    def loss(p, tokens):
        x, _ = lax.scan(layer, p["embed"][tokens[:, :-1]], p["layers"])
        logits = norm(x) @ p["embed"].T
        picked = jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[:, 1:, None], -1)
        return -picked.mean()

    return training(loss, params, tokens)


@model({2: P("x")})
def lstm():
    """An LSTM over time with masked steps; the batch is cut."""
    width = 8
    params = {"w": normal(5 + width, 4 * width, scale=0.3), "b": normal(4 * width), "head": dense(width, 1)}
    series, lengths = normal(6, 11, 5), np.array([11, 4, 7, 1, 11, 0])

    def loss(p, series, lengths):
        def cell(carry, item):
            h, c = carry
            x, live = item
            i, f, g, o = jnp.split(jnp.concatenate([x, h], -1) @ p["w"] + p["b"], 4, -1)
            new = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            out = jax.nn.sigmoid(o) * jnp.tanh(new)
            keep = live[:, None]
            return (jnp.where(keep, out, h), jnp.where(keep, new, c)), jnp.where(keep, out, 0)

        start = jnp.zeros((series.shape[0], width))
        live = jnp.arange(series.shape[1])[:, None] < lengths[None]
        (h, _), outs = lax.scan(cell, (start, start), (series.swapaxes(0, 1), live))
        return (affine(p["head"], h) ** 2).mean() + jnp.abs(outs).sum() / 100

    return training(loss, params, series, lengths)


@model({2: P(None, "x")})
def bidirectional_gru():
    """A GRU forwards and backwards, over the time that is cut."""
    width = 6
    params = {"f": {"x": dense(3, 3 * width), "h": dense(width, 3 * width)},
              "b": {"x": dense(3, 3 * width), "h": dense(width, 3 * width)}}
    series = normal(2, 9, 3)

    def run(p, xs, reverse):
        def cell(h, x):
            a, b = jnp.split(affine(p["x"], x), [2 * width], -1), jnp.split(affine(p["h"], h), [2 * width], -1)
            z, r = jnp.split(jax.nn.sigmoid(a[0] + b[0]), 2, -1)
            h = z * h + (1 - z) * jnp.tanh(a[1] + r * b[1])
            return h, h

        return lax.scan(cell, jnp.zeros((xs.shape[1], width)), xs, reverse=reverse)[1]

    def loss(p, series):
        xs = series.swapaxes(0, 1)
        return (run(p["f"], xs, False) * run(p["b"], xs, True)).sum()

    return training(loss, params, series)


@model({2: P(None, "x")})
def unet():
    """A U-Net with group norm, strided and transposed convolutions and skips; the rows are cut."""
    params = {"in": normal(3, 3, 2, 8, scale=0.2), "down": normal(3, 3, 8, 16, scale=0.1),
              "mid": normal(3, 3, 16, 16, scale=0.1), "up": normal(2, 2, 16, 8, scale=0.2),
              "out": normal(3, 3, 16, 1, scale=0.1)}
    images, masks = normal(1, 20, 12, 2), (normal(1, 20, 12, 1) > 0).astype(np.float32)

    def group_norm(x, groups=4):
        n, h, w, c = x.shape
        y = x.reshape(n, h, w, groups, c // groups)
        mean, var = y.mean((1, 2, 4), keepdims=True), y.var((1, 2, 4), keepdims=True)
        return ((y - mean) * lax.rsqrt(var + 1e-5)).reshape(x.shape)

    def loss(p, x, masks):
        a = jax.nn.silu(group_norm(conv(x, p["in"])))
        b = jax.nn.silu(group_norm(conv(a, p["down"], 2)))
        b = b + jax.nn.silu(conv(b, p["mid"]))
        c = lax.conv_transpose(b, p["up"], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        logits = conv(jnp.concatenate([a, c], -1), p["out"])
        dice = 1 - 2 * (jax.nn.sigmoid(logits) * masks).sum() / (jax.nn.sigmoid(logits).sum() + masks.sum() + 1)
        return dice + jnp.mean(jnp.maximum(logits, 0) - logits * masks + jnp.log1p(jnp.exp(-jnp.abs(logits))))

    return training(loss, params, images, masks)


@model({2: P("x"), 3: P("x"), 4: P("x")})
def graph_net():
    """GraphNet blocks: nodes, edges (segment sums, softmax and max over them) and globals; nodes and edges are cut."""
    nodes, edges, width = 23, 57, 8
    params = {"edge": [dense(2 * width + 3, width), dense(width, width)], "node": [dense(2 * width, width), dense(width, width)],
              "attend": dense(width, 1), "head": dense(2 * width, 1)}
    x = normal(nodes, width)
    senders, receivers = RNG.integers(0, nodes, edges), np.sort(RNG.integers(0, nodes - 2, edges))
    features = normal(edges, 3)

    def loss(p, x, senders, receivers, features):
        for _ in range(2):
            message = mlp(p["edge"], jnp.concatenate([x[senders], x[receivers], features], -1))
            score = affine(p["attend"], message)[:, 0]
            top = jax.ops.segment_max(score, receivers, nodes)
            weight = jnp.exp(score - jnp.where(jnp.isfinite(top), top, 0)[receivers])
            weight = weight / jax.ops.segment_sum(weight, receivers, nodes)[receivers]
            gathered = jax.ops.segment_sum(message * weight[:, None], receivers, nodes, indices_are_sorted=True)
            x = x + mlp(p["node"], jnp.concatenate([x, gathered], -1))
        pooled = jnp.concatenate([x.mean(0), x.max(0)])
        return (affine(p["head"], pooled) ** 2).sum()

    return training(loss, params, x, senders, receivers, features)


@model({2: P(None, "x")})
def fourier_operator():
    """FNO: spectral convolutions in two dims, with their gradient; the rows are cut."""
    width, modes = 4, 3
    params = {"lift": dense(1 + 2, width), "r": normal(2, width, width, 2 * modes, modes, scale=0.2),
              "i": normal(2, width, width, 2 * modes, modes, scale=0.2),
              "skip": [dense(width, width), dense(width, width)], "head": dense(width, 1)}
    field, target = normal(2, 12, 10, 1), normal(2, 12, 10, 1)

    def spectral(x, w):
        f = jnp.fft.rfft2(x, axes=(1, 2))
        low = jnp.einsum("bxyi,ioxy->bxyo", f[:, :modes, :modes], w[:, :, :modes])
        high = jnp.einsum("bxyi,ioxy->bxyo", f[:, -modes:, :modes], w[:, :, modes:])
        out = jnp.zeros_like(f).at[:, :modes, :modes].set(low).at[:, -modes:, :modes].set(high)
        return jnp.fft.irfft2(out, s=x.shape[1:3], axes=(1, 2))

    def loss(p, x, target):
        grid = jnp.stack(jnp.meshgrid(jnp.linspace(0, 1, 12), jnp.linspace(0, 1, 10), indexing="ij"), -1)
        y = affine(p["lift"], jnp.concatenate([x, jnp.broadcast_to(grid, (2, 12, 10, 2))], -1))
        for n in range(2):
            y = jax.nn.gelu(spectral(y, lax.complex(p["r"][n], p["i"][n])) + affine(p["skip"][n], y))
        error = affine(p["head"], y) - target
        return jnp.mean(jnp.linalg.norm(error.reshape(2, -1), axis=1) / jnp.linalg.norm(target.reshape(2, -1), axis=1))

    return training(loss, params, field, target)


@model({2: P("x")})
def point_cloud():
    """A point net: k nearest neighbours, edge convolution, max over neighbours, farthest points; points are cut."""
    points, k = 40, 5
    params = {"edge": [dense(6, 16), dense(16, 16)], "head": dense(16, 4)}
    cloud, label = normal(points, 3), np.array(2)

    def farthest(x, count):
        def pick(i, state):
            chosen, distance = state
            distance = jnp.minimum(distance, ((x - x[chosen[i - 1]]) ** 2).sum(-1))
            return chosen.at[i].set(jnp.argmax(distance)), distance

        return lax.fori_loop(1, count, pick, (jnp.zeros(count, int), jnp.full(x.shape[0], jnp.inf)))[0]

    def loss(p, x, label):
        squares = (x**2).sum(-1)
        distance = squares[:, None] - 2 * x @ x.T + squares[None]
        _, near = lax.top_k(-lax.stop_gradient(distance), k)
        edges = jnp.concatenate([jnp.broadcast_to(x[:, None], (points, k, 3)), x[near] - x[:, None]], -1)
        features = mlp(p["edge"], edges).max(1)
        kept = features[farthest(lax.stop_gradient(x), 8)]
        return -jax.nn.log_softmax(affine(p["head"], kept.max(0)))[label]

    return training(loss, params, cloud, label)


@model({1: P(None, "x")})
def diffusion():
    """A sampler: fori_loop over noise levels with random numbers, a convolutional denoiser; the rows are cut."""
    params = {"a": normal(3, 3, 3, 8, scale=0.2), "b": normal(3, 3, 8, 2, scale=0.2), "time": dense(8, 8)}
    start = normal(2, 13, 8, 2)

    def denoise(p, x, t):
        angles = t * 10.0 ** -jnp.arange(4)
        time = affine(p["time"], jnp.concatenate([jnp.sin(angles), jnp.cos(angles)]))
        level = jnp.broadcast_to(t / 10, (*x.shape[:3], 1)).astype(x.dtype)
        return conv(jax.nn.silu(conv(jnp.concatenate([x, level], -1), p["a"]) + time), p["b"])

    def sample(p, x, key):
        betas = jnp.linspace(1e-2, 0.2, 10)
        alphas = 1 - betas
        bars = jnp.cumprod(alphas)

        def step(i, state):
            x, key = state
            t = 9 - i
            key, now = jax.random.split(key)
            noise = jnp.where(t > 0, jax.random.normal(now, x.shape), 0)
            mean = (x - betas[t] / jnp.sqrt(1 - bars[t]) * denoise(p, x, t)) / jnp.sqrt(alphas[t])
            return mean + jnp.sqrt(betas[t]) * noise, key

        x, key = lax.fori_loop(0, 10, step, (x, key))
        return jnp.clip(x, -3, 3), key

    return sample, (params, start, jax.random.key(4))


@model({2: P("x")})
def normalising_flow():
    """Coupling layers and mixing by LU factors, inverted by triangular solves; the samples are cut."""
    dims = 6
    params = [{"lower": normal(dims, dims, scale=0.2), "upper": normal(dims, dims, scale=0.2),
               "diagonal": normal(dims, scale=0.1), "net": [dense(dims // 2, 8), dense(8, dims)]} for _ in range(2)]
    samples = normal(14, dims)

    def factors(p):
        return jnp.tril(p["lower"], -1) + jnp.eye(dims), jnp.triu(p["upper"], 1) + jnp.diag(jnp.exp(p["diagonal"]))

    def loss(ps, z):
        total = 0.0
        for p in ps:
            a, b = jnp.split(z, 2, -1)
            shift, scale = jnp.split(mlp(p["net"], a), 2, -1)
            scale = jnp.tanh(scale)
            z = jnp.concatenate([a, b * jnp.exp(scale) + shift], -1)
            lower, upper = factors(p)
            z = jax.scipy.linalg.solve_triangular(lower, z.T, lower=True)
            z = jax.scipy.linalg.solve_triangular(upper, z).T
            total += scale.sum(-1) - p["diagonal"].sum() + jnp.linalg.slogdet(lower @ upper)[1] * 0.1
        return -(jax.scipy.stats.norm.logpdf(z).sum(-1) + total).mean()

    return training(loss, params, samples)


@model({2: P("x")})
def kalman():
    """A Kalman filter and its smoother by scans; gradient of the likelihood; the series of a batch are cut."""
    state, seen = 4, 2
    params = {"F": (0.9 * np.eye(state) + 0.05 * normal(state, state)).astype(np.float32), "H": normal(seen, state),
              "q": normal(state, scale=0.1), "r": normal(seen, scale=0.1)}
    series = normal(5, 9, seen)

    def one(p, zs):
        q, r = jnp.diag(jnp.exp(p["q"])), jnp.diag(jnp.exp(p["r"]))

        def step(carry, z):
            m, c = carry
            m, c = p["F"] @ m, p["F"] @ c @ p["F"].T + q
            s = p["H"] @ c @ p["H"].T + r
            gain = jax.scipy.linalg.solve(s, p["H"] @ c, assume_a="pos").T
            error = z - p["H"] @ m
            density = jax.scipy.stats.multivariate_normal.logpdf(error, jnp.zeros(seen), s)
            return (m + gain @ error, c - gain @ p["H"] @ c), (density, m, c)

        (_, _), (density, means, spreads) = lax.scan(step, (jnp.zeros(state), jnp.eye(state)), zs)

        def back(carry, item):
            m, c = item
            gain = jnp.linalg.solve(p["F"] @ c @ p["F"].T + q, p["F"] @ c).T
            new = m + gain @ (carry - p["F"] @ m)
            return new, new

        _, smooth = lax.scan(back, means[-1], (means, spreads), reverse=True)
        return density.sum() - 0.01 * (smooth**2).sum()

    return training(lambda p, series: -jax.vmap(one, (None, 0))(p, series).mean(), params, series)


@model({1: P("x")}, rtol=1e-3, atol=1e-4)
def neural_ode():
    """jax.experimental.ode's adaptive solver, with the adjoint; the batch is cut."""
    from jax.experimental.ode import odeint

    params = [dense(3, 8), dense(8, 2)]
    states = normal(7, 2)

    def loss(p, start):
        def field(x, t, p):
            return mlp(p, jnp.concatenate([x, jnp.full((*x.shape[:-1], 1), t)], -1))

        path = odeint(field, start, jnp.linspace(0.0, 1.0, 4), p, rtol=1e-4, atol=1e-5)
        return (path[-1] ** 2).mean(), path

    return lambda p, start: jax.value_and_grad(loss, has_aux=True)(p, start), (params, states)


@model({2: P(None, "x")})
def mixture_of_experts():
    """Top-2 routing with capacity (one hot dispatch), auxiliary loss; the tokens are cut."""
    width, experts, capacity = 8, 4, 6
    params = {"gate": normal(width, experts), "up": normal(experts, width, 16, scale=0.3), "down": normal(experts, 16, width, scale=0.3)}
    tokens = normal(1, 14, width)

    def loss(p, x):
        gates = jax.nn.softmax(x @ p["gate"])
        top, chosen = lax.top_k(gates, 2)
        top = top / top.sum(-1, keepdims=True)
        hot = jax.nn.one_hot(chosen, experts)
        place = (jnp.cumsum(hot.reshape(1, -1, experts), 1).reshape(hot.shape) - 1) * hot
        fits = (place < capacity) * hot
        slots = jax.nn.one_hot(place.sum(-1).astype(int), capacity) * fits.sum(-1, keepdims=True)
        dispatch = jnp.einsum("bske,bskc->bsec", hot, slots)
        combine = jnp.einsum("bsk,bske,bskc->bsec", top, hot, slots)
        inside = jnp.einsum("bsec,bsd->ebcd", dispatch, x)
        outside = jnp.einsum("ebch,ehd->ebcd", jax.nn.relu(jnp.einsum("ebcd,edh->ebch", inside, p["up"])), p["down"])
        y = jnp.einsum("bsec,ebcd->bsd", combine, outside)
        return (y**2).mean() + experts * (gates.mean((0, 1)) * hot.mean((0, 1, 2))).sum()

    return training(loss, params, tokens)


@model({2: P("x")})
def sorted_experts():
    """Routing by sorting tokens and ragged matrix products."""
    width, experts = 8, 4
    params = {"gate": normal(width, experts), "up": normal(experts, width, 16, scale=0.3), "down": normal(experts, 16, width, scale=0.3)}
    tokens = normal(14, width)

    def loss(p, x):
        gates = jax.nn.softmax(x @ p["gate"])
        chosen = gates.argmax(-1)
        order = jnp.argsort(chosen)
        counts = jnp.bincount(chosen, length=experts)
        hidden = jax.nn.relu(lax.ragged_dot(x[order], p["up"], counts))
        out = lax.ragged_dot(hidden, p["down"], counts)
        y = jnp.zeros_like(x).at[order].set(out) * jnp.take_along_axis(gates, chosen[:, None], 1)
        return (y**2).mean()

    return training(loss, params, tokens)


@model({0: P("x")}, rtol=1e-3, atol=1e-4)
def krylov():
    """GMRES, CG and BiCGSTAB on an operator that is a stencil; the rows are cut."""
    right = normal(14, 9)

    def operator(x):
        padded = jnp.pad(x, 1)
        near = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
        return 5 * x - near

    def skewed(x):
        return operator(x) + 0.3 * (jnp.roll(x, 1, 0) - x)

    def solve(b):
        a, _ = jax.scipy.sparse.linalg.cg(operator, b, maxiter=30, tol=1e-5)
        c, _ = jax.scipy.sparse.linalg.gmres(skewed, b, restart=10, maxiter=4, tol=1e-5)
        d, _ = jax.scipy.sparse.linalg.bicgstab(skewed, b, maxiter=30, tol=1e-5)
        return a, c, d

    return lambda b: (*solve(b), jax.grad(lambda b: (solve(b)[0] ** 2).sum())(b)), (right,)


@model({0: P("x")})
def poisson():
    """A periodic Poisson solver by FFT and one with walls by sine transforms; the rows are cut."""

    def solve(f):
        n, m = f.shape
        kx, ky = jnp.fft.fftfreq(n) * 2 * jnp.pi, jnp.fft.rfftfreq(m) * 2 * jnp.pi
        square = 2 * (2 - jnp.cos(kx)[:, None] - jnp.cos(ky)[None])
        hat = jnp.fft.rfft2(f) / jnp.where(square == 0, 1, square)
        periodic = jnp.fft.irfft2(hat.at[0, 0].set(0), s=f.shape)
        odd = jnp.concatenate([jnp.zeros((1, m)), f, jnp.zeros((1, m)), -f[::-1]])
        walls = jnp.fft.ifft(jnp.fft.fft(odd, axis=0) / (1 + jnp.arange(2 * n + 2)[:, None]), axis=0).real[1 : n + 1]
        shifted = jnp.fft.fftshift(jnp.abs(jnp.fft.fftn(f)) ** 2)
        return periodic, walls, shifted

    return solve, (normal(12, 9),)


@model({0: P("x")}, rtol=1e-9, atol=1e-11, x64=True)
def shallow_water():
    """Shallow water in float64: Runge-Kutta, limited fluxes, a scan of steps that keeps some; the rows are cut."""

    def minmod(a, b):
        return jnp.where(a * b > 0, jnp.where(jnp.abs(a) < jnp.abs(b), a, b), 0)

    def flux_difference(h, u, axis):
        def slopes(q):
            return minmod(q - jnp.roll(q, 1, axis), jnp.roll(q, -1, axis) - q)

        left = [q + 0.5 * slopes(q) for q in (h, u)]
        right = [jnp.roll(q - 0.5 * slopes(q), -1, axis) for q in (h, u)]
        speed = jnp.maximum(jnp.abs(left[1]) + jnp.sqrt(left[0]), jnp.abs(right[1]) + jnp.sqrt(right[0]))
        mass = 0.5 * (left[0] * left[1] + right[0] * right[1]) - 0.5 * speed * (right[0] - left[0])
        return mass - jnp.roll(mass, 1, axis)

    def rate(state):
        h, u, v = state
        dh = -flux_difference(h, u, 0) - flux_difference(h, v, 1)
        du = -0.5 * (jnp.roll(h, -1, 0) - jnp.roll(h, 1, 0)) + 0.1 * v
        dv = -0.5 * (jnp.roll(h, -1, 1) - jnp.roll(h, 1, 1)) - 0.1 * u
        return dh, du, dv

    def run(h, u, v):
        def step(state, _):
            half = jax.tree.map(lambda s, r: s + 0.05 * r, state, rate(state))
            new = jax.tree.map(lambda s, r: s + 0.1 * r, state, rate(half))
            return new, new[0].sum()

        def block(state, _):
            state, sums = lax.scan(step, state, None, length=3)
            return state, (state[0], sums)

        return lax.scan(block, (h, u, v), None, length=2)

    return run, (1 + 0.1 * RNG.random((14, 9)), *(0.1 * RNG.standard_normal((14, 9)) for _ in range(2)))


@model({2: P("x")}, rtol=1e-3, atol=1e-4)
def particles():
    """Molecular dynamics: neighbours in a periodic box, forces as a gradient, velocity Verlet, a thermostat."""

    def energy(x, box):
        d = x[:, None] - x[None]
        d = d - box * jnp.round(d / box)
        r2 = (d**2).sum(-1) + 10.0 * jnp.eye(x.shape[0])
        inside = r2 < 6.25
        s6 = jnp.where(inside, 1 / jnp.where(inside, r2, 1), 0) ** 3
        return 0.5 * (4 * (s6**2 - s6)).sum()

    def run(box, key, x, v):
        def step(carry, key):
            x, v, f = carry
            x = jnp.mod(x + 0.002 * v + 0.5 * 0.002**2 * f, box)
            new = -jax.grad(energy)(x, box)
            v = (v + 0.001 * (f + new)) * 0.99 + 0.01 * jax.random.normal(key, v.shape)
            return (x, v, new), energy(x, box)

        start = (x, v, -jax.grad(energy)(x, box))
        return lax.scan(step, start, jax.random.split(key, 4))

    grid = np.stack(np.meshgrid(*[np.arange(3)] * 3, indexing="ij"), -1).reshape(-1, 3) * 1.2 + 0.3
    return run, (np.float32(3.6), jax.random.key(0), (grid + 0.05 * normal(27, 3)).astype(np.float32), normal(27, 3))


@model({2: P(None, "x")}, rtol=3e-2, atol=3e-2)
def vision_transformer():
    """Patches by a convolution, class token, attention with dropout, mixup of labels in bfloat16; the rows are cut."""
    width = 16
    params = {"patch": normal(4, 4, 3, width, scale=0.2), "token": normal(1, 1, width), "position": normal(1, 13, width),
              "qkv": normal(width, 3 * width, scale=0.2), "out": normal(width, width, scale=0.2), "head": dense(width, 5)}

    def loss(p, images, labels, key):
        p = jax.tree.map(lambda a: a.astype(jnp.bfloat16), p)
        x = lax.conv_general_dilated(images.astype(jnp.bfloat16), p["patch"], (4, 4), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = x.reshape(x.shape[0], -1, width)
        x = jnp.concatenate([jnp.broadcast_to(p["token"], (x.shape[0], 1, width)), x], 1) + p["position"]
        q, k, v = jnp.split((norm(x) @ p["qkv"]).reshape(*x.shape[:2], 4, -1), 3, -1)
        y = jax.nn.dot_product_attention(q, k, v).reshape(x.shape) @ p["out"]
        keep = jax.random.bernoulli(key, 0.8, y.shape)
        x = x + jnp.where(keep, y / 0.8, 0)
        logits = affine(p["head"], x[:, 0]).astype(jnp.float32)
        return -(jax.nn.one_hot(labels, 5) * jax.nn.log_softmax(logits)).sum(-1).mean()

    return training(loss, params, normal(2, 16, 12, 3), np.array([1, 4]), jax.random.key(3))


@model({1: P("x"), 2: P("x")}, rtol=2e-3, atol=2e-4)
def gaussian_process():
    """Exact regression: a kernel matrix, Cholesky, gradient of the likelihood, a prediction; the points are cut."""

    def kernel(p, a, b):
        d = ((a[:, None] - b[None]) ** 2).sum(-1)
        return jnp.exp(p["height"]) * (1 + jnp.sqrt(3 * d + 1e-6)) * jnp.exp(-jnp.sqrt(3 * d + 1e-6) * jnp.exp(p["scale"]))

    def fit(p, x, y, new):
        def loss(p):
            factor = jax.scipy.linalg.cho_factor(kernel(p, x, x) + 0.1 * jnp.eye(x.shape[0]), lower=True)
            alpha = jax.scipy.linalg.cho_solve(factor, y)
            return 0.5 * y @ alpha + jnp.log(jnp.diag(factor[0])).sum(), alpha

        (value, alpha), grads = jax.value_and_grad(loss, has_aux=True)(p)
        return value, grads, kernel(p, new, x) @ alpha

    return fit, ({"height": np.float32(0.1), "scale": np.float32(-0.3)}, normal(15, 2), normal(15), normal(4, 2))


@model({2: P("x")})
def variational_autoencoder():
    """A VAE with reparametrisation, KL, importance-weighted bound and clipping by tree norms; the batch is cut."""
    params = {"encoder": [dense(12, 16), dense(16, 6)], "decoder": [dense(3, 16), dense(16, 12)]}

    def loss(p, x, key):
        mean, log_var = jnp.split(mlp(p["encoder"], x), 2, -1)
        noise = jax.random.normal(key, (5, *mean.shape))
        z = mean + jnp.exp(0.5 * log_var) * noise
        logits = mlp(p["decoder"], z)
        likely = -(jnp.logaddexp(0, logits) - x * logits).sum(-1)
        prior = -0.5 * (z**2).sum(-1) + 0.5 * (noise**2 + log_var).sum(-1)
        return -(jax.scipy.special.logsumexp(likely + prior, axis=0) - jnp.log(5.0)).mean()

    return training(loss, params, (normal(9, 12) > 0).astype(np.float32), jax.random.key(9))


@model({1: P("x")}, rtol=1e-3, atol=1e-4)
def physics_informed():
    """A network whose own derivatives make the loss: Hessians by forward over reverse; points are cut."""
    params = [dense(2, 12), dense(12, 12), dense(12, 1)]

    def net(p, x):
        for q in p[:-1]:
            x = jnp.tanh(affine(q, x))
        return affine(p[-1], x)[0]

    def loss(p, x):
        def residual(x):
            hessian = jax.hessian(net, 1)(p, x)
            gradient = jax.grad(net, 1)(p, x)
            return hessian[0, 0] + hessian[1, 1] + net(p, x) * gradient[0] - jnp.sin(x[1])

        return (jax.vmap(residual)(x) ** 2).mean()

    return lambda p, x: jax.value_and_grad(loss)(p, x), (params, normal(11, 2))


@model({1: P("x")})
def beam_search():
    """Autoregressive decoding with a cache in a while loop, top-k of beams, gathered states; the batch is cut."""
    words, width, steps, beams = 17, 8, 6, 3
    params = {"embed": normal(words, width), "w": normal(width, width, scale=0.5), "u": normal(width, width, scale=0.5)}
    context = normal(5, width)

    def decode(p, context):
        batch = context.shape[0]

        def body(state):
            i, tokens, scores, h, cache = state
            h = jnp.tanh(p["embed"][tokens[:, :, i]] @ p["w"] + h @ p["u"])
            cache = lax.dynamic_update_slice(cache, h[:, :, None], (0, 0, i, 0))
            seen = jnp.where(jnp.arange(steps) <= i, jnp.einsum("bkd,bktd->bkt", h, cache), -jnp.inf)
            h = h + jnp.einsum("bkt,bktd->bkd", jax.nn.softmax(seen), cache)
            total = scores[:, :, None] + jax.nn.log_softmax(h @ p["embed"].T)
            scores, picked = lax.top_k(total.reshape(batch, -1), beams)
            parent, word = picked // words, picked % words
            tokens = jnp.take_along_axis(tokens, parent[:, :, None], 1).at[:, :, i + 1].set(word)
            h = jnp.take_along_axis(h, parent[:, :, None], 1)
            cache = jnp.take_along_axis(cache, parent[:, :, None, None], 1)
            return i + 1, tokens, scores, h, cache

        scores = jnp.where(jnp.arange(beams) == 0, 0.0, -jnp.inf) + jnp.zeros((batch, 1))
        h = jnp.broadcast_to(context[:, None], (batch, beams, width))
        start = (0, jnp.zeros((batch, beams, steps + 1), int), scores, h, jnp.zeros((batch, beams, steps, width)))
        done = lax.while_loop(lambda s: (s[0] < steps) & jnp.any(s[2][:, 0] > -40), body, start)
        return done[1], done[2]

    return decode, (params, context)


@model({2: P("x")})
def state_space():
    """A diagonal state space model as an associative scan over the time that is cut, complex, with its gradient."""
    width = 6
    params = {"decay": normal(width), "angle": normal(width), "in": normal(width, scale=0.5), "out": normal(width, 2)}

    def loss(p, signal):
        step = jnp.exp(lax.complex(-jnp.exp(p["decay"]), p["angle"]))
        inputs = lax.complex(signal[:, None] * p["in"], jnp.zeros((signal.shape[0], width)))

        def join(a, b):
            return a[0] * b[0], b[0] * a[1] + b[1]

        _, states = lax.associative_scan(join, (jnp.broadcast_to(step, inputs.shape), inputs))
        return ((states.real @ p["out"]) ** 2).mean()

    return training(loss, params, normal(19))


@model({0: P("x"), 1: P("x")})
def reinforcement():
    """PPO with generalised advantages by a reversed scan, shuffled minibatches in a scan of updates; steps are cut."""
    params = {"body": [dense(4, 8), dense(8, 8)], "policy": dense(8, 3), "value": dense(8, 1)}

    def heads(p, x):
        h = jnp.tanh(mlp(p["body"], x))
        return jax.nn.log_softmax(affine(p["policy"], h)), affine(p["value"], h)[..., 0]

    def update(seen, rewards, actions, p, key):
        logits, values = heads(p, seen)
        old = jnp.take_along_axis(logits, actions[:, None], 1)[:, 0]

        def back(next_, item):
            reward, value, following = item
            new = reward + 0.9 * following - value + 0.9 * 0.95 * next_
            return new, new

        _, advantage = lax.scan(back, 0.0, (rewards, values, jnp.append(values[1:], 0.0)), reverse=True)
        goal = advantage + values
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)

        def minibatch(p, rows):
            def loss(p):
                logits, values = heads(p, seen[rows])
                ratio = jnp.exp(jnp.take_along_axis(logits, actions[rows][:, None], 1)[:, 0] - old[rows])
                gain = jnp.minimum(ratio * advantage[rows], jnp.clip(ratio, 0.8, 1.2) * advantage[rows])
                entropy = -(jnp.exp(logits) * logits).sum(-1)
                return (0.5 * (values - goal[rows]) ** 2 - gain - 0.01 * entropy).mean()

            value, grads = jax.value_and_grad(loss)(p)
            return jax.tree.map(lambda a, g: a - 0.05 * g, p, grads), value

        return lax.scan(minibatch, p, jax.random.permutation(key, seen.shape[0]).reshape(4, -1))

    return update, (normal(12, 4), normal(12), RNG.integers(0, 3, 12), params, jax.random.key(5))


@model({0: P("x")}, rtol=1e-3, atol=1e-3)
def spectra():
    """Dynamical systems of a batch: eigenvalues, Schur and Hessenberg forms, exponentials, roots, null spaces."""

    def analyse(a):
        values, vectors = jnp.linalg.eig(a)
        growth = jnp.sort(values.real, axis=-1)
        residual = jnp.abs(jnp.matmul(a.astype(values.dtype), vectors) - vectors * values[:, None, :]).max()
        left = lax.linalg.eig(a, compute_left_eigenvectors=True, compute_right_eigenvectors=False)[1]
        apart = jnp.abs(jnp.einsum("nji,njk->nik", left.conj(), vectors) * (1 - jnp.eye(a.shape[-1]))).max()
        form, basis = lax.linalg.schur(a)
        rebuilt = basis @ form @ basis.swapaxes(-1, -2)
        first = a[0]
        reduced, turned = jax.scipy.linalg.hessenberg(first, calc_q=True)
        root = jax.scipy.linalg.sqrtm(first @ first.T + jnp.eye(5)).real
        _, d, e, _ = lax.linalg.tridiagonal(a + a.swapaxes(-1, -2))
        q, r, order = jax.scipy.linalg.qr(first, pivoting=True)
        return (growth, residual, apart, rebuilt, turned @ reduced @ turned.T, root, jax.scipy.linalg.expm(first / 10),
                d.sum(-1), (e**2).sum(-1), q @ r - first[:, order])

    return analyse, (normal(5, 5, 5),)
