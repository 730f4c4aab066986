"""Write the .mlir files as portable artifacts, and a function as jax.export does (needs JAX): ``make.py``."""

from pathlib import Path

import jax
import jaxlib.mlir._mlir_libs._stablehlo as stablehlo
from jax import export
from jax._src.interpreters import mlir
from jaxlib.mlir import ir

HERE = Path(__file__).parent

# Serialised by jax.export: bytecode in a flatbuffer.
exported = export.export(jax.jit(lambda x: jax.numpy.tanh(x) + 1))(jax.ShapeDtypeStruct((4,), jax.numpy.float32))
(HERE / "exported.bin").write_bytes(exported.serialize())

for name, version in (
    ("ops", "1.0.0"),
    ("ops", "1.9.0"),
    ("ops", "1.17.0"),
    ("newer", "1.17.0"),
    ("constant", "1.17.0"),
    ("dictionary", "1.17.0"),
):
    with mlir.make_ir_context():
        module = ir.Module.parse((HERE / f"{name}.mlir").read_text())
        artifact = stablehlo.serialize_portable_artifact(module, version, True)
        (HERE / f"{name}-{version}.mlirbc").write_bytes(artifact)
