"""Programs of many fields as their users write them: solvers, samplers, searches, sparse and spectral ones."""

import functools

import jax
import jax.numpy as jnp
import jax.scipy.optimize
import jax.scipy.sparse.linalg
import numpy as np
from jax import lax
from jax.experimental import sparse
from jax.sharding import PartitionSpec as P

from cases.harness import RNG, affine, conv, dense, mlp, model, norm, normal, training


@model({1: P(None, "x")})
def dropout_unet():
    """Segmentation with group norm, dropout from a folded key, transposed convolutions and a Dice loss; rows are cut."""
    params = {
        "down": normal(3, 3, 2, 8, scale=0.3),
        "mid": normal(3, 3, 8, 8, scale=0.15),
        "up": normal(2, 2, 8, 8, scale=0.2),
        "out": normal(1, 1, 16, 3, scale=0.3),
        "g": np.ones(8, np.float32),
        "b": np.zeros(8, np.float32),
    }

    def group_norm(x, g, b):
        n, h, w, c = x.shape
        y = x.reshape(n, h, w, 2, c // 2)
        y = (y - y.mean((1, 2, 4), keepdims=True)) / jnp.sqrt(y.var((1, 2, 4), keepdims=True) + 1e-5)
        return y.reshape(n, h, w, c) * g + b

    def loss(p, x, labels, key, step):
        key = jax.random.fold_in(key, step)
        fine = jax.nn.silu(group_norm(conv(x, p["down"]), p["g"], p["b"]))
        coarse = lax.reduce_window(fine, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        coarse = jax.nn.silu(group_norm(conv(coarse, p["mid"]), p["g"], p["b"]))
        keep = jax.random.bernoulli(key, 0.8, coarse.shape)
        coarse = jnp.where(keep, coarse / 0.8, 0)
        up = lax.conv_transpose(coarse, p["up"], (2, 2), "SAME")
        chance = jax.nn.softmax(conv(jnp.concatenate([fine, up], -1), p["out"]))
        truth = jax.nn.one_hot(labels, 3)
        return 1 - (2 * (chance * truth).sum((1, 2)) / (chance + truth).sum((1, 2))).mean()

    def step(p, x, labels, key, number):
        value, grads = jax.value_and_grad(loss)(p, x, labels, key, number)
        return jax.tree.map(lambda a, g: a - 0.1 * g, p, grads), value

    return step, (params, normal(2, 16, 10, 2), RNG.integers(0, 3, (2, 16, 10)), jax.random.key(3), np.int32(7))


@model({2: P("x"), 3: P("x")})
def masked_lstm():
    """Sequences of several lengths through a scanned LSTM that stands still past each one's end; sequences are cut."""
    params = {"cell": dense(5 + 6, 24), "out": dense(6, 4), "embed": normal(11, 5)}

    def loss(p, words, lengths):
        def step(carry, item):
            h, c = carry
            word, at = item
            i, f, g, o = jnp.split(affine(p["cell"], jnp.concatenate([p["embed"][word], h], -1)), 4, -1)
            new = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            out = jax.nn.sigmoid(o) * jnp.tanh(new)
            live = (at < lengths)[:, None]
            return (jnp.where(live, out, h), jnp.where(live, new, c)), jnp.where(live, out, 0.0)

        zero = jnp.zeros((words.shape[0], 6))
        (h, _), outs = lax.scan(step, (zero, zero), (words.T, jnp.arange(words.shape[1])))
        score = jax.nn.log_softmax(affine(p["out"], outs))
        valid = jnp.arange(words.shape[1])[:, None] < lengths[None, :]
        return -(score[..., 0] * valid).sum() / valid.sum() + (h**2).mean()

    return training(loss, params, RNG.integers(0, 11, (13, 7)), RNG.integers(1, 8, 13).astype(np.int32))


@model({1: P("x"), 2: P("x"), 3: P("x")})
def graph_attention():
    """A graph network as jraph writes it: softmax over each receiver's edges, segment max, mean and sum; edges and nodes are cut."""
    nodes, edges = 17, 41
    params = {"key": dense(6, 8), "value": dense(6, 8), "weight": dense(16, 1), "out": dense(24, 3)}

    def segment_softmax(x, to):
        top = jax.ops.segment_max(x, to, nodes)
        e = jnp.exp(x - top[to])
        return e / jax.ops.segment_sum(e, to, nodes)[to]

    def loss(p, x, source, to, labels):
        k, v = affine(p["key"], x), affine(p["value"], x)
        weight = jax.nn.leaky_relu(affine(p["weight"], jnp.concatenate([k[source], k[to]], -1)))[:, 0]
        message = segment_softmax(weight, to)[:, None] * v[source]
        count = jax.ops.segment_sum(jnp.ones_like(to, jnp.float32), to, nodes)
        most = jax.ops.segment_max(v[source], to, nodes)
        parts = [
            jax.ops.segment_sum(message, to, nodes),
            jnp.where(count[:, None] > 0, most, 0),
            jax.ops.segment_sum(v[source], to, nodes) / jnp.maximum(count, 1)[:, None],
        ]
        out = jax.nn.log_softmax(affine(p["out"], jnp.concatenate(parts, -1)))
        return -jnp.take_along_axis(out, labels[:, None], 1).mean()

    def step(p, x, source, to, labels):
        value, grads = jax.value_and_grad(loss)(p, x, source, to, labels)
        return jax.tree.map(lambda a, g: a - 0.1 * g, p, grads), value

    return step, (
        params,
        normal(nodes, 6),
        RNG.integers(0, nodes, edges),
        RNG.integers(0, nodes, edges),
        RNG.integers(0, 3, nodes),
    )


@model({0: P("x")})
def adaptive_ode():
    """Lotka and Volterra's equations by Runge and Kutta with steps of their own size, in a while loop, for a batch that is cut."""

    def derive(y):
        a, b = y[:, 0], y[:, 1]
        return jnp.stack([a * (1.1 - 0.4 * b), b * (0.1 * a - 0.4)], -1)

    def solve(y):
        def body(state):
            t, h, y, steps = state
            k1 = derive(y)
            k2 = derive(y + h * k1 / 2)
            k3 = derive(y + h * 3 / 4 * k2)
            new = y + h * (2 * k1 + 3 * k2 + 4 * k3) / 9
            k4 = derive(new)
            error = jnp.abs(h * (-5 / 72 * k1 + k2 / 12 + k3 / 9 - k4 / 8)).max()
            good = error < 1e-3
            scale = jnp.clip(0.9 * (1e-3 / (error + 1e-12)) ** (1 / 3), 0.2, 5.0)
            return jnp.where(good, t + h, t), jnp.minimum(h * scale, 2.0 - t), jnp.where(good, new, y), steps + 1

        t, _, y, _steps = lax.while_loop(lambda s: (s[0] < 1.999) & (s[3] < 200), body, (0.0, 0.1, y, 0))
        return y, t

    return solve, (np.abs(normal(11, 2)) + 0.5,)


@model({0: P("x"), 1: P("x")}, rtol=2e-3, atol=2e-3)
def gaussian_evidence():
    """Evidence of a Gaussian process and its gradient, posterior samples, Woodbury with inducing points; points are cut."""

    def kernel(a, b, scale):
        d = ((a[:, None] - b[None]) ** 2).sum(-1)
        return jnp.exp(-d / (2 * scale**2))

    def evidence(scale, x, y):
        k = kernel(x, x, scale) + 0.1 * jnp.eye(x.shape[0])
        low = jnp.linalg.cholesky(k)
        alpha = jax.scipy.linalg.cho_solve((low, True), y)
        return 0.5 * y @ alpha + jnp.log(jnp.diag(low)).sum()

    def fit(x, y, at, key):
        value, slope = jax.value_and_grad(evidence)(1.3, x, y)
        cross, own = kernel(at, x, 1.3), kernel(at, at, 1.3)
        low = jnp.linalg.cholesky(kernel(x, x, 1.3) + 0.1 * jnp.eye(x.shape[0]))
        half = jax.scipy.linalg.solve_triangular(low, cross.T, lower=True)
        cover = own - half.T @ half + 1e-3 * jnp.eye(at.shape[0])
        draw = jnp.linalg.cholesky(cover) @ jax.random.normal(key, (at.shape[0], 2))
        sign, log = jnp.linalg.slogdet(cover)
        few = kernel(x, at, 1.3)
        reduced = jnp.linalg.solve(0.1 * (own + 1e-2 * jnp.eye(at.shape[0])) + few.T @ few, few.T @ y)
        return value, slope, draw, sign, log, reduced, jnp.linalg.cond(cover) > 1

    return fit, (normal(19, 2), normal(19), normal(5, 2), jax.random.key(1))


@model({0: P("x"), 1: P("x"), 2: P("x")})
def sparse_products():
    """Sparse matrices in coordinates (BCOO): products with vectors and matrices, transposed, their gradient; entries are cut."""

    def work(data, at, x):
        a = sparse.BCOO((data, at), shape=(14, 11))
        energy = lambda d, x: ((sparse.BCOO((d, at), shape=(14, 11)) @ x) ** 2).sum()
        gd, gx = jax.grad(energy, (0, 1))(data, x)
        return (
            a @ x,
            a.T @ (a @ x),
            a.todense().sum(0),
            gd,
            gx,
            (a * 2.0) @ x[:, 0],
            sparse.bcoo_reduce_sum(a, axes=(1,)).todense(),
        )

    pairs = np.stack(np.divmod(RNG.choice(14 * 11, 29, replace=False), 11), -1).astype(np.int32)
    return work, (normal(29), pairs, normal(11, 3))


@model({0: P(None, "x")})
def resized_images():
    """jax.image.resize up, down and with antialiasing, by every method, scale_and_translate, map_coordinates; rows are cut."""

    def work(x):
        n, _, _, c = x.shape
        made = [jax.image.resize(x, (n, 23, 9, c), how) for how in ("nearest", "linear", "cubic", "lanczos3")]
        made += [jax.image.resize(x, (n, 7, 5, c), "linear", antialias=anti) for anti in (True, False)]
        moved = jax.image.scale_and_translate(
            x, (n, 12, 12, c), (1, 2), jnp.array([1.2, 0.7]), jnp.array([0.5, -1.0]), "linear"
        )
        y, z = jnp.meshgrid(jnp.linspace(-1.0, 15.0, 9), jnp.linspace(0.0, 12.0, 8), indexing="ij")
        bent = jax.scipy.ndimage.map_coordinates(x[0, :, :, 0], [y + 0.3 * z, z], order=1, mode="nearest")
        slope = jax.grad(lambda x: (jax.image.resize(x, (n, 21, 9, c), "bilinear") ** 2).sum())(x)
        return *made, moved, bent, slope

    return work, (normal(2, 14, 11, 2),)


@model({0: P("x")}, atol=1e-4)
def spectral_poisson():
    """Poisson's equation on a periodic square by jnp.fft, energy in rings of wave numbers, a shifted product; rows are cut."""

    def solve(f):
        n, m = f.shape
        k = jnp.fft.fftfreq(n, 1 / n)[:, None] ** 2 + jnp.fft.rfftfreq(m, 1 / m)[None] ** 2
        spectrum = jnp.fft.rfft2(f)
        u = jnp.fft.irfft2(jnp.where(k > 0, -spectrum / jnp.where(k > 0, k, 1), 0), s=(n, m))
        rings = jnp.bincount(
            jnp.sqrt(k).astype(jnp.int32).ravel(), weights=(jnp.abs(spectrum) ** 2).ravel() / (n * m), length=9
        )
        turned = jnp.fft.fftshift(jnp.fft.fft2(f)).real
        smooth = jax.scipy.signal.fftconvolve(f, jnp.ones((3, 3)) / 9, mode="same")
        return u, rings, turned, smooth

    return solve, (normal(18, 12),)


@model({1: P("x")})
def top_k_beams():
    """Beam search over a recurrent model: top_k of flattened scores, beams reordered, ended ones kept; sentences are cut."""
    params = {"embed": normal(9, 6), "cell": dense(12, 6), "out": dense(6, 9)}

    def search(p, start):
        batch, beams = start.shape[0], 3

        def grow(state, _):
            words, scores, h, done = state
            h = jnp.tanh(affine(p["cell"], jnp.concatenate([p["embed"][words], h], -1)))
            score = jax.nn.log_softmax(affine(p["out"], h))
            stay = jnp.where(jnp.arange(9) == 0, 0.0, -1e9)
            score = scores[..., None] + jnp.where(done[..., None], stay, score)
            best, at = lax.top_k(score.reshape(batch, -1), beams)
            beam, word = at // 9, at % 9
            h = jnp.take_along_axis(h, beam[..., None], 1)
            done = jnp.take_along_axis(done, beam, 1) | (word == 0)
            return (word, best, h, done), (word, beam)

        scores = jnp.broadcast_to(jnp.array([0.0, -1e9, -1e9]), (batch, beams))
        state = (
            jnp.broadcast_to(start[:, None], (batch, beams)),
            scores,
            jnp.zeros((batch, beams, 6)),
            jnp.zeros((batch, beams), bool),
        )
        (_, scores, _, done), (words, from_) = lax.scan(grow, state, None, length=5)

        def trace(beam, step):
            word, before = step
            return jnp.take_along_axis(before, beam, 1), jnp.take_along_axis(word, beam, 1)

        _, sentence = lax.scan(trace, jnp.broadcast_to(jnp.arange(beams), (batch, beams)), (words, from_), reverse=True)
        return sentence, scores, done

    return search, (params, RNG.integers(0, 9, 11).astype(np.int32))


@model({0: P("x"), 1: P("x")})
def tables():
    """Columns as a statistician treats them: unique, searchsorted, interp, histograms, ranks, percentiles, group sums; rows are cut."""

    def work(group, x):
        values, first, inverse, counts = jnp.unique(
            group, size=7, fill_value=-1, return_index=True, return_inverse=True, return_counts=True
        )
        sums = jax.ops.segment_sum(x, inverse, 7)
        order = jnp.argsort(x, stable=True)
        edges = jnp.array([-1.5, -0.5, 0.0, 0.7, 2.0])
        places = [
            jnp.searchsorted(edges, x, side=side, method=how)
            for side, how in (("left", "scan"), ("right", "sort"), ("left", "compare_all"))
        ]
        curve = jnp.interp(x, edges, edges**2, left=-1.0)
        heights, _ = jnp.histogram(x, edges)
        rows, columns = jnp.nonzero(x[:, None] * jnp.array([1.0, -1.0]) > 0.5, size=15, fill_value=-1)
        return (
            values,
            first,
            counts,
            sums,
            order,
            *places,
            curve,
            heights,
            jnp.percentile(x, jnp.array([5.0, 50.0, 80.0])),
            jnp.median(x),
            jax.scipy.stats.rankdata(x),
            rows,
            columns,
            jnp.digitize(x, edges),
            jnp.corrcoef(jnp.stack([x, x**2])),
            jnp.diff(x, n=2),
            jnp.convolve(x, jnp.array([1.0, 2.0, 1.0]), mode="same"),
            jnp.isin(group, jnp.array([1, 3])),
            jnp.trapezoid(x),
            jnp.lexsort((x, group)),
            jnp.partition(x, 4)[:4].sum(),
            jnp.argmax(x),
            jnp.nanmean(jnp.where(x > 1, jnp.nan, x)),
        )

    return work, (RNG.integers(0, 5, 21).astype(np.int32), normal(21))


@model({0: P("x")})
def mapped_branches():
    """cond, switch and loops under vmap, a custom gradient that is clipped, checkpointed blocks, Hessians; rows are cut."""

    @jax.custom_vjp
    def clipped(x):
        return x

    clipped.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -0.1, 0.1),))

    @jax.custom_jvp
    def softplus(x):
        return jnp.log1p(jnp.exp(-jnp.abs(x))) + jnp.maximum(x, 0)

    softplus.defjvp(lambda p, t: (softplus(*p), jax.nn.sigmoid(*p) * t[0]))

    def one(x):
        a = lax.cond(x[0] > 0, lambda x: jnp.sin(x).sum(), lambda x: (x**3).sum(), x)
        b = lax.switch(jnp.int32(jnp.abs(x[1]) * 3), [jnp.sum, jnp.prod, jnp.max, lambda x: x[2]], x)
        c, steps = lax.while_loop(
            lambda s: (s[0] > 0.1) & (s[1] < 30), lambda s: (s[0] * 0.7, s[1] + 1), (jnp.abs(x).sum(), 0)
        )
        return a + b * c, steps

    def work(x):
        values, steps = jax.vmap(one)(x)
        block = jax.checkpoint(
            lambda x: jnp.tanh(clipped(x) * 2) + softplus(x), policy=jax.checkpoint_policies.dots_saveable
        )
        slope = jax.grad(lambda x: (block(block(x)) ** 2).sum())(x)
        twice = jax.vmap(jax.hessian(lambda r: (softplus(r) ** 2).prod()))(x)
        forward = jax.jvp(lambda x: softplus(jnp.sin(x)).sum(0), (x,), (jnp.ones_like(x),))[1]
        return values, steps, slope, twice, forward, jax.vmap(jax.jacfwd(lambda r: jnp.cumsum(r) * r))(x)

    return work, (normal(13, 4),)


def draws(kind):
    """What jax.random draws without a search, with keys of one kind."""

    def work(x, key):
        keys = iter(jax.random.split(key, 40))
        n = x.shape[0]
        made = [
            jax.random.normal(next(keys), (n, 3)) + x[:, None],
            jax.random.uniform(next(keys), (n,), minval=-1) * x,
            jax.random.randint(next(keys), (n, 2), 0, 100),
            jax.random.truncated_normal(next(keys), -1, 2, (n,)),
            jax.random.categorical(next(keys), jnp.outer(x, jnp.arange(4.0))),
            jax.random.gumbel(next(keys), (n,)),
            jax.random.laplace(next(keys), (n,)),
            jax.random.cauchy(next(keys), (n,)),
            jax.random.rademacher(next(keys), (n,)),
            jax.random.permutation(next(keys), x),
            jax.random.choice(next(keys), x, (5,), replace=False),
            jax.random.choice(next(keys), n, (6,), p=jax.nn.softmax(x)),
            jax.random.orthogonal(next(keys), 3),
            jax.random.multivariate_normal(next(keys), jnp.zeros(3), jnp.eye(3) + 0.2, (n,)),
            jax.random.bits(next(keys), (n,), "uint16"),
            jax.random.ball(next(keys), 3, shape=(n,)),
            jax.random.geometric(next(keys), 0.3, (n,)),
            jax.random.triangular(next(keys), 0.0, 0.3, 1.0, (n,)),
            jax.random.bernoulli(next(keys), 0.3, (n,)),
        ]
        return *made, jax.vmap(lambda k: jax.random.normal(k, (2,)))(jax.random.split(next(keys), n))

    return work, (normal(13), jax.random.key(11, impl=kind))


@model({0: P("x")}, atol=1e-4)
def drawn_by_threefry():
    """jax.random's distributions from its usual keys; samples are cut."""
    return draws("threefry2x32")


@model({0: P("x")}, atol=1e-4)
def drawn_by_philox():
    """jax.random's distributions from keys of the rbg kind (the generator of StableHLO); samples are cut."""
    return draws("rbg")


@model({0: P("x")}, atol=1e-4)
def drawn_by_rejection():
    """Distributions that draw until they accept, a loop for each sample; samples are cut."""

    def work(x, key):
        ka, kb, kc = jax.random.split(key, 3)
        return (
            jax.random.gamma(ka, jnp.abs(x) + 0.5),
            jax.random.poisson(kb, jnp.abs(x) * 4),
            jax.random.binomial(kc, 10.0, jax.nn.sigmoid(x)),
        )

    return work, (normal(13), jax.random.key(5))


@model({0: P("x")}, rtol=1e-3, atol=1e-3)
def chains():
    """Hamiltonian Monte Carlo of many chains: leapfrog in a loop, accepted by chance, diagnostics over chains; chains are cut."""

    def energy(q):
        return 0.5 * (q[0] ** 2 + 4 * (q[1] - 0.3 * q[0] ** 2) ** 2)

    def sample(start, key):
        slope = jax.vmap(jax.grad(energy))

        def move(q, key):
            ka, kb = jax.random.split(key)
            p = jax.random.normal(ka, q.shape)

            def leap(_, state):
                q, p = state
                p = p - 0.05 * slope(q)
                q = q + 0.1 * p
                return q, p - 0.05 * slope(q)

            new, moved = lax.fori_loop(0, 4, leap, (q, p))
            gain = jax.vmap(energy)(q) + 0.5 * (p**2).sum(-1) - jax.vmap(energy)(new) - 0.5 * (moved**2).sum(-1)
            take = jnp.log(jax.random.uniform(kb, gain.shape)) < gain
            q = jnp.where(take[:, None], new, q)
            return q, (q, take)

        _, (seen, taken) = lax.scan(move, start, jax.random.split(key, 6))
        within, between = seen.var(0).mean(0), seen.mean(0).var(0)
        return seen[-1], taken.mean(), jnp.sqrt((within + between) / within)

    return sample, (normal(12, 2), jax.random.key(4))


@model({0: P("x"), 1: P("x")}, rtol=1e-3, atol=1e-3)
def transport():
    """Optimal transport between two clouds (Sinkhorn in the log domain until it rests), and its gradient; points are cut."""

    def cost(a, b):
        return ((a[:, None] - b[None]) ** 2).sum(-1)

    def distance(a, b):
        c = cost(a, b)

        def body(_, state):
            f, g = state
            f = -0.3 * jax.nn.logsumexp((g[None] - c) / 0.3 - jnp.log(b.shape[0]), axis=1)
            g = -0.3 * jax.nn.logsumexp((f[:, None] - c) / 0.3 - jnp.log(a.shape[0]), axis=0)
            return f, g

        f, g = lax.fori_loop(0, 12, body, (jnp.zeros(a.shape[0]), jnp.zeros(b.shape[0])))
        return f.mean() + g.mean()

    return lambda a, b: jax.value_and_grad(distance, (0, 1))(a, b), (normal(13, 2), normal(11, 2))


@model({1: P("x")})
def contrastive():
    """Two towers, all pairs of a batch, a queue of momentum keys, EMA weights, cosine schedule and Lion; samples are cut."""
    params = {"image": [dense(7, 8), dense(8, 6)], "text": [dense(5, 8), dense(8, 6)], "heat": np.float32(1.0)}

    def unit(x):
        return x / jnp.linalg.norm(x, axis=-1, keepdims=True)

    def loss(p, image, text, queue):
        a, b = unit(mlp(p["image"], image)), unit(mlp(p["text"], text))
        logits = jnp.exp(p["heat"]) * jnp.concatenate([a @ b.T, a @ queue.T], 1)
        at = jnp.arange(a.shape[0])
        both = -jax.nn.log_softmax(logits)[at, at].mean() - jax.nn.log_softmax(a @ b.T, axis=0)[at, at].mean()
        return both, b

    def step(p, image, text, queue, slow, m, count):
        (value, keys), grads = jax.value_and_grad(loss, has_aux=True)(p, image, text, queue)
        rate = 1e-2 * 0.5 * (1 + jnp.cos(jnp.pi * count / 100))
        p = jax.tree.map(lambda a, g, m: a - rate * (jnp.sign(0.9 * m + 0.1 * g) + 0.01 * a), p, grads, m)
        m = jax.tree.map(lambda m, g: 0.99 * m + 0.01 * g, m, grads)
        slow = jax.tree.map(lambda s, a: 0.99 * s + 0.01 * a, slow, p)
        queue = jnp.concatenate([queue, lax.stop_gradient(keys)])[-queue.shape[0] :]
        return p, slow, m, queue, value

    zero = jax.tree.map(np.zeros_like, params)
    return step, (params, normal(11, 7), normal(11, 5), normal(16, 6), params, zero, np.int32(20))


@model({0: P("x")})
def conjugate_newton():
    """jax.scipy's own solvers: BFGS, cg, gmres, bicgstab on a matrix that is cut by rows."""

    def work(a, b):
        square = a @ a.T / 13 + jnp.eye(13)
        product = lambda x: square @ x
        best = jax.scipy.optimize.minimize(
            lambda x: ((x - b[:4]) ** 2).sum() + (x**4).sum(), jnp.zeros(4), method="BFGS"
        )
        return (
            jax.scipy.sparse.linalg.cg(product, b, maxiter=30)[0],
            jax.scipy.sparse.linalg.gmres(product, b, restart=8)[0],
            jax.scipy.sparse.linalg.bicgstab(product, b, maxiter=30)[0],
            best.x,
        )

    return work, (normal(13, 13), normal(13))


@model({2: P("x")})
def speech():
    """A CTC loss over log-mel frames of a short-time Fourier transform, depthwise convolutions; utterances are cut."""
    params = {"mel": np.abs(normal(17, 10, scale=0.2)), "deep": normal(5, 1, 10, scale=0.4), "out": dense(10, 6)}

    def loss(p, wave, labels):
        frames = jnp.stack([wave[:, i : i + 32] for i in range(0, wave.shape[1] - 31, 16)], 1) * jnp.hanning(32)
        power = jnp.abs(jnp.fft.rfft(frames)) ** 2
        x = jnp.log(power @ jnp.abs(p["mel"]) + 1e-3)
        x = lax.conv_general_dilated(
            x, p["deep"], (1,), "SAME", dimension_numbers=("NHC", "HIO", "NHC"), feature_group_count=10
        )
        score = jax.nn.log_softmax(affine(p["out"], jax.nn.relu(norm(x))))
        wide = jnp.full((labels.shape[0], 2 * labels.shape[1] + 1), 0).at[:, 1::2].set(labels)
        skip = jnp.pad((wide[:, 2:] != wide[:, :-2]) & (wide[:, 2:] != 0), ((0, 0), (2, 0)))

        def step(alpha, now):
            one = jnp.pad(alpha[:, :-1], ((0, 0), (1, 0)), constant_values=-1e30)
            two = jnp.where(skip, jnp.pad(alpha[:, :-2], ((0, 0), (2, 0)), constant_values=-1e30), -1e30)
            return jnp.logaddexp(jnp.logaddexp(alpha, one), two) + jnp.take_along_axis(now, wide, 1), None

        first = jnp.where(jnp.arange(wide.shape[1]) < 2, jnp.take_along_axis(score[:, 0], wide, 1), -1e30)
        alpha, _ = lax.scan(step, first, score[:, 1:].swapaxes(0, 1))
        return -jnp.logaddexp(alpha[:, -1], alpha[:, -2]).mean()

    return training(loss, params, normal(9, 144), RNG.integers(1, 6, (9, 3)).astype(np.int32))


@model({0: P("x"), 1: P("x")})
def bits_and_clocks():
    """Integers as a game or a codec has them: hashes, shifts, populations, packed bits, Game of Life, run lengths; rows are cut."""

    def work(x, board):
        h = x.astype(jnp.uint32)
        h = (h ^ (h >> 16)) * jnp.uint32(0x45D9F3B)
        h = h ^ (h << 5) ^ lax.population_count(h) ^ lax.clz(h)
        packed = jnp.packbits(board, axis=1)
        around = sum(
            jnp.roll(board.astype(jnp.int32), (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j
        )
        alive = (around == 3) | (board & (around == 2))
        change = jnp.concatenate([jnp.ones(1, bool), x[1:] // 9 != x[:-1] // 9])
        run = jnp.cumsum(change) - 1
        lengths = jax.ops.segment_sum(jnp.ones_like(x), run, 24)
        bits = lax.bitcast_convert_type(x.astype(jnp.float32), jnp.int32)
        return (
            h,
            packed,
            jnp.unpackbits(packed, axis=1),
            alive,
            run,
            lengths,
            bits,
            x // 7,
            x % 7,
            lax.rem(x, jnp.int32(7)),
            jnp.left_shift(1, x % 31),
            jnp.gcd(x, 12),
            lax.reduce(x, jnp.int32(0), lax.bitwise_xor, (0,)),
            x.astype(jnp.int8),
            jnp.bitwise_count(x),
            lax.cumlogsumexp(x / 9.0),
            lax.cummax(x, reverse=True),
            jnp.flip(x),
            jnp.tri(5)[x % 5],
            jnp.einsum("i,i->", x, x),
        )

    return work, (RNG.integers(-40, 40, 19).astype(np.int32), RNG.random((14, 16)) < 0.4)


@model({0: P(None, "x")})
def volumes():
    """Medical volumes: 3-D convolution with dilation, instance norm, trilinear up-sampling, total variation; depth is cut."""
    weights = [normal(3, 3, 3, 1, 4, scale=0.3), normal(3, 3, 3, 4, 2, scale=0.2)]
    spatial = functools.partial(lax.conv_general_dilated, dimension_numbers=("NDHWC", "DHWIO", "NDHWC"))

    def loss(w, x):
        y = spatial(x, w[0], (1, 1, 1), "SAME", rhs_dilation=(2, 1, 1))
        y = jax.nn.leaky_relu((y - y.mean((1, 2, 3), keepdims=True)) / (y.std((1, 2, 3), keepdims=True) + 1e-3))
        y = spatial(y, w[1], (2, 2, 2), "SAME")
        y = jax.image.resize(y, (*x.shape[:4], 2), "trilinear")
        tv = sum(jnp.abs(jnp.diff(y, axis=i)).mean() for i in (1, 2, 3))
        return ((y[..., :1] - x) ** 2).mean() + 0.1 * tv

    return lambda x, w: jax.value_and_grad(loss)(w, x), (normal(1, 13, 8, 6, 1), weights)


@model({0: P("x"), 1: P("x")}, rtol=1e-9, atol=1e-9, x64=True)
def molecules():
    """Lennard and Jones's forces in double precision with periodic images, Verlet steps, a histogram of distances; atoms are cut."""

    def energy(q):
        d = q[:, None] - q[None]
        d = d - 4.0 * jnp.round(d / 4.0)
        r = (d**2).sum(-1) + jnp.eye(q.shape[0])
        near = (r < 3.0) & ~jnp.eye(q.shape[0], dtype=bool)
        return 0.5 * jnp.where(near, 4e-3 * (r**-6 - r**-3), 0.0).sum()

    def run(q, v):
        def step(state, _):
            q, v = state
            v = v - 0.005 * jax.grad(energy)(q)
            q = (q + 0.01 * v) % 4.0
            return (q, v), energy(q) + 0.5 * (v**2).sum()

        (q, v), energies = lax.scan(step, (q, v), None, length=5)
        apart = jnp.sqrt(((q[:, None] - q[None]) ** 2).sum(-1) + 1e-9)
        return q, v, energies, jnp.histogram(apart, bins=6, range=(0, 4))[0]

    grid = np.stack(np.meshgrid(*[np.arange(3) * 1.3] * 3), -1).reshape(-1, 3)[:17].astype(np.float64)
    return run, (grid, 0.1 * RNG.standard_normal((17, 3)))
