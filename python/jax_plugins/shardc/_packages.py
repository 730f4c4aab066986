"""Packages of others that choose by a device's name, and have no public way to be told of another one."""

import importlib.abc
import importlib.machinery
import logging
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

_log = logging.getLogger(__name__)


def teach(platform: str) -> None:
    """Tell these packages of ``platform``, once: those that are loaded now, others when they are."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, _Finder(platform))
    for name in _CHANGES:
        if name in sys.modules:
            _change(sys.modules[name], platform)


def _change(module: ModuleType, platform: str) -> None:
    try:
        _CHANGES[module.__name__](module, platform)
    except (AttributeError, TypeError) as error:
        _log.warning("%s differs from what shardc knows, and may refuse its devices (%s)", module.__name__, error)


def _choose_jax(module: Any, platform: str) -> None:
    """MuJoCo's MJX, and Brax on it: the implementation by JAX, which is for any device, where nobody names one."""
    original, chosen = module._resolve_impl, module.types.Impl.JAX

    def resolve(device: Any) -> Any:
        return chosen if device.platform == platform else original(device)

    module._resolve_impl = resolve


_CHANGES: dict[str, Callable[[Any, str], None]] = {"mujoco.mjx._src.io": _choose_jax}


class _Finder(importlib.abc.MetaPathFinder):
    """Finds what the other finders find, and has it changed after it was loaded."""

    def __init__(self, platform: str) -> None:
        self._platform = platform

    def find_spec(self, fullname: str, path: Sequence[str] | None,
                  target: ModuleType | None = None) -> importlib.machinery.ModuleSpec | None:
        if fullname not in _CHANGES:
            return None
        found = (finder.find_spec(fullname, path, target) for finder in sys.meta_path if finder is not self)
        spec = next((spec for spec in found if spec), None)
        if spec and spec.loader:
            loader: Any = spec.loader
            load = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                load(module)
                _change(module, self._platform)

            loader.exec_module = exec_module
        return spec
