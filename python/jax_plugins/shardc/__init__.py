"""shardc's devices for JAX: ``JAX_PLATFORMS=shardc SHARDC_DEVICES=8 python train.py``.

JAX finds this module by itself and calls :func:`initialize` before its first use of any device.
``docs/Reference/jax.md`` has the environment variables and the compile options.
"""

import os
from pathlib import Path
from typing import Any

__all__ = ["initialize", "library"]

_NAME = "libshardc_pjrt.so"
_PLATFORM = "shardc"


def library() -> Path | None:
    """The plugin: beside this package, or in the build directory of the tree that it lies in; None if it is in neither.

    ``SHARDC_PJRT_LIBRARY`` names another one.
    """
    return next((place for place in _places() if place.is_file()), None)


def _places() -> list[Path]:
    """Where the plugin may be."""
    if named := os.environ.get("SHARDC_PJRT_LIBRARY"):
        return [Path(named).absolute()]
    here = Path(__file__).resolve()
    tree = here.parents[3]
    build = Path(os.environ.get("SHARDC_BUILD_DIR", "build"))
    return [here.parent / _NAME, here.parents[2] / "shardc" / "lib" / _NAME, tree / build / "lib" / _NAME]


def _is_asked_for() -> bool:
    """Whether ``jax_platforms``, of the environment or the script, names the platform, or ``JAX_PLATFORM_NAME``.

    Without these JAX starts every platform that it knows of, and makes one of them the default: whoever only has this
    package installed would compute elsewhere than before, or not at all where these devices cannot be had.
    """
    import jax

    config: Any = jax.config
    return _PLATFORM in [*(config.jax_platforms or "").split(","), os.environ.get("JAX_PLATFORM_NAME", "").lower()]


def initialize() -> None:
    """Tell JAX of the platform ``shardc``, if it is asked for; else JAX goes on as if this package were not there."""
    if not _is_asked_for():
        return
    from . import _lowering

    path = library()
    if path is None:
        places = _places()
        if len(places) == 1:
            why = f"there is no {places[0]} (SHARDC_PJRT_LIBRARY)"
        else:
            folders = ", ".join(str(place.parent) for place in places)
            why = f"{_NAME} is in none of {folders}: build the tree (./run build) or install the wheel"
        _lowering.register_failure(why)
    else:
        _lowering.register_platform(path)
