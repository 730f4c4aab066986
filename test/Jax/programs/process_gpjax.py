"""A Gaussian process of GPJax, its hyperparameters fitted by Optax, and one with inducing points."""
# needs: gpjax optax
# tolerance: 3e-3

import gpjax as gpx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax as ox

jax.config.update("jax_enable_x64", True)
x = jr.uniform(jr.key(0), (60, 1), minval=-3.0, maxval=3.0).sort(axis=0)
y = jnp.sin(4 * x) + jnp.cos(2 * x) + 0.3 * jr.normal(jr.key(1), x.shape)
data = gpx.Dataset(X=x, y=y)
posterior = gpx.gps.Prior(mean_function=gpx.mean_functions.Zero(), kernel=gpx.kernels.RBF()) * gpx.likelihoods.Gaussian()
fitted, history = gpx.fit(model=posterior, objective=lambda m, d: -gpx.objectives.conjugate_mll(m, d), train_data=data,
                          optim=ox.adam(0.05), num_iters=60, key=jr.key(2), verbose=False)
print("losses", *(float(v) for v in history[::15]))
test = jnp.linspace(-3, 3, 9)[:, None]
predicted = fitted.likelihood(fitted.predict(test, data))
mean = predicted.mean() if callable(predicted.mean) else predicted.mean
print("mean", *(float(v) for v in mean))
