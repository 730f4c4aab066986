"""shardc's devices for JAX: ``JAX_PLATFORMS=shardc SHARDC_DEVICES=8 python train.py``.

JAX finds this module by itself and calls :func:`initialize` before its first use of any device.
``docs/Reference/jax.md`` has the environment variables and the compile options.
"""

import os
from pathlib import Path

__all__ = ["initialize", "library"]

_NAME = "libshardc_pjrt.so"


def library() -> Path | None:
    """The plugin: beside this package, or in the build directory of the tree that it lies in; None if it is in neither.

    ``SHARDC_PJRT_LIBRARY`` names another one.
    """
    if named := os.environ.get("SHARDC_PJRT_LIBRARY"):
        return Path(named)
    here = Path(__file__).resolve()
    tree = here.parents[3]
    build = Path(os.environ.get("SHARDC_BUILD_DIR", "build"))
    places = [here.parent / _NAME, here.parents[2] / "shardc" / "lib" / _NAME, tree / build / "lib" / _NAME]
    return next((place for place in places if place.is_file()), None)


def initialize() -> None:
    """Tell JAX of the platform ``shardc``. Without the library nothing happens: JAX goes on without it."""
    path = library()
    if path is None:
        return
    from . import _lowering

    _lowering.register_platform(path)
