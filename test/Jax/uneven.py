"""What JAX cannot say in equal shards lies in unequal ones inside: nothing is padded."""

import os

os.environ.update(JAX_PLATFORMS="shardc", SHARDC_DEVICES="4")

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((4,), ("x",), axis_types=(AxisType.Auto,))
rows = NamedSharding(mesh, P("x"))


def constrained() -> None:
    """10 rows over 4 devices: 3, 3, 2 and 2, in the program's text too. They leave whole."""
    given = np.linspace(0, 1, 160, dtype="f4").reshape(10, 16)

    @jax.jit
    def of_ten_rows(a):
        return jnp.sin(jax.lax.with_sharding_constraint(a, rows)) * 2

    found = of_ten_rows(given)
    assert found.sharding.is_equivalent_to(NamedSharding(mesh, P()), 2), found.sharding
    np.testing.assert_allclose(found, np.sin(given) * 2, rtol=1e-6)
    text = of_ten_rows.lower(given).compile().as_text()
    assert "sizes = [{3, 3, 2, 2} along" in text and "all_gather" in text and "stablehlo.pad" not in text, text
    print("constraint good")


def asked_for() -> None:
    """Sizes of an axis as an option: arrays come and leave in equal shards."""
    shares = jax.jit(lambda a: jnp.cos(a) + 1, compiler_options={"shardc_sizes": "x=3,1,2,2"})
    given = jax.device_put(np.ones((8, 4), "f4"), rows)
    found = shares(given)
    assert found.sharding.is_equivalent_to(rows, 2), found.sharding
    np.testing.assert_allclose(found, np.cos(1) + 1, rtol=1e-6)
    assert "[0:2, 2:4, 4:6, 6:8] -> [0:3, 3:4, 4:6, 6:8]" in shares.lower(given).compile().as_text()
    print("sizes good")


constrained()
asked_for()
