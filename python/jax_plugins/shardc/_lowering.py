"""What JAX has to know of the platform ``shardc``, and has no public way to be told.

Everything here that touches names JAX does not promise stands in this file, and each part does without the others: where
a version of JAX lacks a name, what depends on it is left out, and a warning says so once.
"""

import ctypes
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

PLATFORM = "shardc"
_log = logging.getLogger(__name__)


def register_platform(path: Path) -> None:
    """Register the plugin at ``path``, and what JAX's parts need to know of it."""
    from jax._src import xla_bridge

    for part in (_tell_apart, _ask_for_cpu, _allow_donation):
        _try(part)
    xla_bridge.register_plugin(PLATFORM, priority=500, library_path=str(path), options=None)


def _try(part: Callable[[], None]) -> None:
    """Do one part, if this version of JAX has the names that it needs."""
    try:
        part()
    except (AttributeError, ImportError, KeyError, TypeError) as error:
        import jax

        what = (part.__doc__ or part.__name__).splitlines()[0]
        _log.warning("jax %s differs from what shardc knows; left out: %s (%s)", jax.__version__, what, error)


def _tell_apart() -> None:
    """No warning that the platform is experimental."""
    from jax._src import xla_bridge

    xla_bridge._nonexperimental_plugins.add(PLATFORM)


def _ask_for_cpu() -> None:
    """A device of the host beside those of shardc: JAX hands callbacks their operands on it."""
    import jax

    platforms = jax.config.jax_platforms
    if platforms and PLATFORM in platforms.split(",") and "cpu" not in platforms.split(","):
        jax.config.update("jax_platforms", platforms + ",cpu")


def _allow_donation() -> None:
    """Donated arguments."""
    from jax._src.interpreters import mlir

    if PLATFORM not in mlir._platforms_with_donation:
        mlir._platforms_with_donation.append(PLATFORM)
