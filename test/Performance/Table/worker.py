"""One side of the table: imports its library once, and forks a process for each row, which answers the table's requests.

    worker.py SIDE ADDRESS        (started by table.py)

A process for each row and side: memory is its own, and what one leaves behind does not help or hinder another. All live at the same time and are asked in
turns; whoever is not asked sleeps.
"""

from __future__ import annotations

import ctypes
import gc
import json
import math
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import operators
import programs  # noqa: F401
from operators import FREE, Case

# --- a process' memory --------------------------------------------------------------------------------------------------


def status_mb(name: str) -> float:
    """Return VmRSS, VmHWM, … of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 1024
    return 0


def forget_peak() -> None:
    """Give back what is free, and count the peak anew from here."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")


# --- steps --------------------------------------------------------------------------------------------------------------


def as_tuple(results: Any) -> tuple:
    return tuple(results) if isinstance(results, (tuple, list)) else (results,)


def traced(case: Case, mesh: Any) -> tuple[Any, list[Any]]:
    """The case as a jitted function on a mesh, and the arguments' shardings."""
    import jax
    from jax.sharding import NamedSharding, PartitionSpec

    def sharding(cut: Any) -> Any:
        if cut == FREE:
            return None
        return NamedSharding(mesh, PartitionSpec(*(operators.along(cut) if cut is None or isinstance(cut, int) else cut)))

    function, given = case.on_mesh(mesh) if case.on_mesh else (case.jax, case.outs)
    outs = tuple(map(sharding, given)) if isinstance(given, list) else sharding(given)
    f = jax.jit(function, out_shardings=outs, donate_argnums=tuple(range(case.carry)), keep_unused=True)
    return f, [sharding(given.cut) for given in case.inputs]


def kernel_bytes(text: str) -> float:
    """Return what kernels of all ranks read and write in a step, by their code; NaN where data decides that."""
    from shardc._tools import find_tool

    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.mlir"
        model.write_text(text)
        command = [find_tool("shard-run"), str(model), "--report=json", f"--trace={folder}/trace.json", "--no-cache"]
        report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return report["ranks"] * sum(math.nan if kernel["bytes"] is None else kernel["bytes"] for kernel in report["kernels"])


def shardc_step(case: Case, ranks: int) -> tuple[Callable[..., tuple], list[Any], Callable[[Any], np.ndarray], dict]:
    """A step through shardc's engine in this process; its arrays stay on its devices."""
    import jax
    import shardc
    from jax.sharding import AbstractMesh

    axes = case.axes(ranks)
    f, shardings = traced(case, AbstractMesh(tuple(axes.values()), tuple(axes)))
    values = [value.astype(jax.numpy.dtype(given.dtype), copy=False) for value, given in zip(case.arrays(), case.inputs)]
    shapes = [jax.ShapeDtypeStruct(value.shape, value.dtype, sharding=where) for value, where in zip(values, shardings)]
    begin = time.perf_counter()
    text = f.trace(*shapes).lower(lowering_platforms=("cpu",)).as_text()
    lowered = time.perf_counter()
    program = shardc.compile(text, gather=False)
    facts = {"lower_s": lowered - begin, "compile_s": time.perf_counter() - lowered, "kernel_bytes": kernel_bytes(text)}

    def step(*arguments: Any) -> tuple:
        results = as_tuple(program(*arguments))
        results[0].block_until_ready()
        return results

    given = sum(value.nbytes for value in values)
    forget_peak()
    facts |= {"given": given, "base_mb": status_mb("VmRSS") - given / 2**20}
    arguments = program.put(*values)
    del values
    return step, list(arguments) if isinstance(arguments, tuple) else [arguments], np.asarray, facts


def jax_step(case: Case, ranks: int) -> tuple[Callable[..., tuple], list[Any], Callable[[Any], np.ndarray], dict]:
    """A step through JAX, on as many virtual devices as there are ranks."""
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={ranks}"
    import jax

    axes = case.axes(ranks)
    mesh = jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=(jax.sharding.AxisType.Auto,) * len(axes))
    f, shardings = traced(case, mesh)
    values = [value.astype(jax.numpy.dtype(given.dtype), copy=False) for value, given in zip(case.arrays(), case.inputs)]
    begin = time.perf_counter()
    lowered = f.lower(*(jax.ShapeDtypeStruct(value.shape, value.dtype, sharding=where) for value, where in zip(values, shardings)))
    middle = time.perf_counter()
    compiled = lowered.compile()
    facts = {"lower_s": middle - begin, "compile_s": time.perf_counter() - middle}
    given = sum(value.nbytes for value in values)
    forget_peak()
    facts |= {"given": given, "base_mb": status_mb("VmRSS") - given / 2**20}
    arguments = [jax.device_put(value, where) for value, where in zip(values, shardings)]
    # Devices of one process may use what is NumPy's in place: it stays until the process ends.

    def step(*given: Any) -> tuple:
        return as_tuple(jax.block_until_ready(compiled(*given)))

    return step, arguments, np.asarray, facts


def torch_step(case: Case, is_compiled: bool) -> tuple[Callable[..., tuple], list[Any], Callable[[Any], np.ndarray], dict]:
    """A step through PyTorch, eager or compiled, with all cores."""
    import torch

    if case.torch is None:
        raise LookupError("no function of PyTorch")
    if is_compiled and case.eager:
        raise LookupError("nothing for torch.compile")
    begin = time.perf_counter()
    facts = {"base_mb": status_mb("VmRSS")}
    arguments = []
    for value, given in zip(case.arrays(), case.inputs):
        tensor = torch.from_numpy(value.astype("int64") if value.dtype == np.uint32 else value)
        arguments.append(tensor.bfloat16() if given.dtype == "bfloat16" else tensor)
    if case.layout:
        arguments = case.layout(arguments)
    forward = torch.compile(case.torch, dynamic=False) if is_compiled else case.torch
    chosen = case.gradients

    def with_gradients(*given: Any) -> tuple:
        *inputs, dy = given
        y = forward(*inputs)
        return (y.detach(), *torch.autograd.grad(y, [inputs[n] for n in chosen], dy))

    def inference(*given: Any) -> tuple:
        with torch.inference_mode():
            return as_tuple(forward(*given))

    for n in chosen:
        arguments[n].requires_grad_(True)
    step = with_gradients if chosen else (lambda *given: as_tuple(forward(*given))) if case.carry else inference
    if is_compiled:
        step(*arguments)
    facts["compile_s"] = time.perf_counter() - begin
    return step, arguments, lambda t: t.detach().float().numpy() if t.dtype == torch.bfloat16 else t.detach().resolve_conj().numpy(), facts


# --- values -------------------------------------------------------------------------------------------------------------


def digest(value: np.ndarray) -> dict:
    """What two sides compare of a result: elements all over it, and their mean magnitude."""
    flat = np.asarray(value).reshape(-1)
    places = np.linspace(0, max(flat.size - 1, 0), min(flat.size, 20011)).astype(int)
    sample = flat[places]
    sample = sample.astype("complex128").view("float64") if sample.dtype.kind == "c" else sample.astype("float64")
    finite = sample[np.isfinite(sample)]
    return {"size": flat.size, "sample": sample, "scale": float(np.abs(finite).mean()) if finite.size else 0.0}


class Timed:
    """One row on this side."""

    def __init__(self, side: str, row: dict, ranks: int) -> None:
        begin = time.perf_counter()
        self.case = operators.case(row)
        if side not in ("torch", "inductor") and any(given.dtype == "float64" for given in self.case.inputs):
            operators.jax.config.update("jax_enable_x64", True)
        if side in ("torch", "inductor"):
            made = torch_step(self.case, side == "inductor")
        else:
            made = (shardc_step if side == "shardc" else jax_step)(self.case, ranks)
        self.step, self.arguments, to_numpy, self.facts = made
        prepared = time.perf_counter()
        results = self.step(*self.arguments)
        carry = self.case.carry if side not in ("torch", "inductor") else 0
        self.carry = carry
        arrays = [to_numpy(result) for result in results]
        self.digests = [digest(value) for value in arrays]
        self.facts |= {"flops": self.case.flops, "sweeps": self.case.sweeps, "tolerance": self.case.tolerance}
        self.facts["bytes"] = self.moved(arrays) if side in ("shardc", "jax") else 0
        self.facts["written"] = sum(value.nbytes for value in arrays)
        del arrays
        self.accept(results)
        del results
        forget_peak()
        self.facts["first_s"] = time.perf_counter() - prepared
        # Until the heap is as large as a step needs it.
        for _ in range(12):
            faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            took = self.once()
            if resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults < 16 or took > 1:
                break
        self.usual = statistics.median(self.once() for _ in range(3))
        self.facts["ready_s"] = time.perf_counter() - begin
        self.facts["peak_mb"] = status_mb("VmHWM") - self.facts["base_mb"]

    def moved(self, results: list[np.ndarray]) -> float:
        """What has to pass through memory in a step."""
        if self.case.bytes is not None:
            return self.case.bytes
        return self.case.sweeps * (self.facts["given"] + sum(result.nbytes for result in results))

    def accept(self, results: tuple) -> None:
        """State is carried on."""
        if self.carry:
            self.arguments[: self.carry] = results[: self.carry]

    def once(self) -> float:
        """Seconds of a step."""
        begin = time.perf_counter()
        results = self.step(*self.arguments)
        took = time.perf_counter() - begin
        self.accept(results)
        return took

    def turn(self, seconds: float) -> dict:
        """Steps for about so long: their median in ms, page faults and processor ms of each."""
        steps = max(1, min(2000, round(seconds / max(self.usual, 1e-7))))
        before = resource.getrusage(resource.RUSAGE_SELF)
        times = [self.once() for _ in range(steps)]
        after = resource.getrusage(resource.RUSAGE_SELF)
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return {"ms": 1e3 * statistics.median(times), "faults": (after.ru_minflt - before.ru_minflt) / steps, "cpu_ms": 1e3 * processor / steps}


def is_any_other_running() -> bool:
    """Whether a thread of this process other than the caller runs or is about to. Processor time would not say: of a thread on another core it grows by the tick, 4 ms apart."""
    for task in Path("/proc/self/task").iterdir():
        if task.name == str(threading.get_native_id()):
            continue
        try:
            if (task / "stat").read_text().rsplit(")", 1)[1].split()[0] == "R":
                return True
        except (FileNotFoundError, ProcessLookupError):  # it ended meanwhile
            continue
    return False


def rest() -> None:
    """Wait until no other thread of this process runs: OpenMP's spin for some milliseconds after a step, on a core that is the next side's."""
    still = 0
    for _ in range(200):
        still = 0 if is_any_other_running() else still + 1
        if still == 3:
            return
        time.sleep(0.0005)


def serve(side: str, address: str, row: dict, ranks: int) -> None:
    """Answer the table about one row until it hangs up."""
    with socket.socket(socket.AF_UNIX) as plug:
        plug.connect(address)
        line = Connection(plug.detach())
    with line:
        try:
            timed = Timed(side, row, ranks)
            line.send({"facts": timed.facts, "digests": timed.digests, "usual_ms": 1e3 * timed.usual})
        except LookupError as error:
            line.send({"absent": str(error)})
            return
        except Exception as error:
            line.send({"error": f"{type(error).__name__}: {str(error).strip().splitlines()[-1] if str(error).strip() else ''}", "trace": traceback.format_exc()})
            return
        while True:
            try:
                seconds = line.recv()
            except EOFError:
                return
            found = timed.turn(seconds)
            rest()
            line.send(found)


def main() -> None:
    side, address = sys.argv[1:]
    operators.load(side)
    if side == "shardc":
        import shardc  # noqa: F401
    for text in sys.stdin:
        request = json.loads(text)
        if os.fork() == 0:
            # What the table hangs up on ends at once, whatever threads it has.
            try:
                serve(side, address, request["row"], request["ranks"])
            finally:
                os._exit(0)
        while True:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    break
            except ChildProcessError:
                break


if __name__ == "__main__":
    main()
