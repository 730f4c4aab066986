"""A plugin of pytest for suite.py: picks tests, and writes a line of JSON as each begins and ends.

SHARDC_JAX_RECORD names the file to write, SHARDC_JAX_DONE one with the names of tests to leave out. SHARDC_JAX_EVERY keeps
each test whose name's hash is a multiple of it, or with "10+3" leaves 3: the same ones wherever and whenever. With SHARDC_JAX_ALONE nothing is
compiled for JAX's own CPU client.
"""

import hashlib
import json
import os
from typing import Any

import pytest


def chosen(name: str, every: str) -> bool:
    """Whether a hash of ``name`` is a multiple of ``every``: "10", or leaves 3: "10+3"."""
    count, _, offset = every.partition("+")
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % int(count) == int(offset or "0")


def name_of(nodeid: str) -> str:
    """``lax_test.py::LaxTest::testAdd`` wherever the file lies."""
    path, _, rest = nodeid.partition("::")
    return f"{os.path.basename(path)}::{rest}"


class Recorder:
    def __init__(self) -> None:
        self.every = os.environ.get("SHARDC_JAX_EVERY", "1")
        with open(os.environ["SHARDC_JAX_DONE"]) as file:
            self.done = set(file.read().split("\n"))
        self.file = os.open(os.environ["SHARDC_JAX_RECORD"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def write(self, **line: Any) -> None:
        os.write(self.file, (json.dumps(line) + "\n").encode())

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.write(unreadable=str(report.longrepr)[-1500:])

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        names = [name_of(item.nodeid) for item in items]
        self.write(collected=[name for name in names if chosen(name, self.every)])
        items[:] = [item for item, name in zip(items, names) if chosen(name, self.every) and name not in self.done]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.write(begin=name_of(nodeid))

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.outcome != "passed":
            crash = getattr(report.longrepr, "reprcrash", None)
            text = crash.message if crash else str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr or "")
            self.write(end=name_of(report.nodeid), outcome=report.outcome, when=report.when, text=text[:3000],
                       seconds=round(report.duration, 2))

    def pytest_sessionfinish(self) -> None:
        self.write(finished=True)


def forbid_cpu() -> None:
    """Make JAX's CPU client fail where it is to compile."""
    from jax._src import compiler

    original = compiler.backend_compile_and_load

    def compile_elsewhere(backend: Any, *arguments: Any, **options: Any) -> Any:
        if backend.platform == "cpu":
            raise RuntimeError("a program is compiled for JAX's own CPU client")
        return original(backend, *arguments, **options)

    compiler.backend_compile_and_load = compile_elsewhere


def believe_in(device: str) -> None:
    """Let JAX's tests take the platform for another one. Their flag is not read from the environment."""
    from jax._src import config

    original = config.string_flag

    def string_flag(name: str, default: Any, *arguments: Any, **options: Any) -> Any:
        return original(name, device if name == "jax_test_dut" else default, *arguments, **options)

    config.string_flag = string_flag


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Recorder())
    if device := os.environ.get("JAX_TEST_DUT"):
        believe_in(device)
    if os.environ.get("SHARDC_JAX_ALONE"):
        forbid_cpu()
