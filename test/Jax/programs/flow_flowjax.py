"""A normalizing flow of flowjax (Equinox, Optax), fitted to samples, and its densities."""
# needs: flowjax

import jax
import jax.numpy as jnp
from flowjax.bijections import RationalQuadraticSpline
from flowjax.distributions import Normal
from flowjax.flows import block_neural_autoregressive_flow, coupling_flow, masked_autoregressive_flow
from flowjax.train import fit_to_data

x = jax.random.normal(jax.random.key(0), (256, 2))
x = jnp.stack([x[:, 0], x[:, 0] ** 2 / 2 + 0.3 * x[:, 1]], 1)
base = Normal(jnp.zeros(2))
for name, flow in (("coupling", coupling_flow(jax.random.key(1), base_dist=base, transformer=RationalQuadraticSpline(knots=4, interval=4), nn_width=16, flow_layers=2)),
                   ("masked", masked_autoregressive_flow(jax.random.key(2), base_dist=base, nn_width=16, flow_layers=2)),
                   ("block", block_neural_autoregressive_flow(jax.random.key(3), base_dist=base, nn_block_dim=4, flow_layers=1))):
    flow, losses = fit_to_data(jax.random.key(4), flow, x, max_epochs=3, batch_size=64, show_progress=False)
    print(name, *losses["train"], *losses["val"], float(flow.log_prob(x[:20]).mean()))
    if name != "block":
        print(*map(float, flow.sample(jax.random.key(5), (100,)).mean(0)))
