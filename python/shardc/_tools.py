"""Where the tools are, and how they are called."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shardc._errors import error_for
from shardc._host import HostCalls, HostFunction
from shardc._native import find_native_library, native_folders


def find_tool(name: str) -> str:
    """The path of a tool: in ``$SHARDC_TOOLS``, in this package, in the build directory of its tree, or on the path.

    Raises: FileNotFoundError with what was looked at.
    """
    places = [folder / "bin" for folder in native_folders()]
    for place in places:
        if os.access(place / name, os.X_OK):
            return str(place / name)
    found = shutil.which(name)
    if found and not _is_command_of_package(found):
        return found
    looked = ", ".join(map(str, places))
    raise FileNotFoundError(f"{name} is neither in {looked} nor on the path; build it with ./run build, "
                            "or name its directory in SHARDC_TOOLS")


def _is_command_of_package(path: str) -> bool:
    """Whether a command is Python that looks for the tool, as an installed package has it."""
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def find_library() -> str:
    """The path of the runtime, ``libshardrt.so``: beside the tools, or named by ``$SHARDC_RUNTIME``.

    Raises: FileNotFoundError with what was looked at.
    """
    return find_native_library("libshardrt.so", "SHARDC_RUNTIME")


def _environment() -> dict[str, str]:
    """Of tools: they find LLVM's linker on the path, where this package has one."""
    brought = Path(__file__).resolve().parent / "bin"
    paths = [os.environ.get("PATH") or os.defpath, *([str(brought)] if brought.is_dir() else [])]
    return {**os.environ, "PATH": os.pathsep.join(paths)}


def _become(name: str) -> int:
    """Be a tool: what the commands of an installed package do."""
    try:
        os.execve(find_tool(name), [name, *sys.argv[1:]], _environment())
    except OSError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 7


def shard_opt() -> int:
    """The command of this name."""
    return _become("shard-opt")


def shard_run() -> int:
    """The command of this name."""
    return _become("shard-run")


def shard_translate() -> int:
    """The command of this name."""
    return _become("shard-translate")


def run_tool(name: str, arguments: Sequence[str], host: HostCalls | None = None) -> str:
    """Run a tool and return its standard output.

    Args:
        host: answers the calls of the program that ``shard-run`` runs; None: there are none.

    Raises: a ShardcError with the tool's own diagnostic where it does not end with 0; its cause is what a callback
    raised.
    """
    if host is not None:
        return _run_with_calls(name, arguments, host)
    result = subprocess.run([find_tool(name), *arguments], capture_output=True, text=True, check=False,
                            env=_environment())
    if result.returncode:
        raise error_for(result.returncode, result.stderr.strip())
    return result.stdout


def run_program(program: Path, inputs: Path, options: Sequence[str],
                functions: Sequence[HostFunction]) -> dict[str, Any]:
    """Run a model or an artifact with ``shard-run`` on the arrays of an archive; its report.

    Raises: as run_tool().
    """
    printed = run_tool("shard-run", [str(program), f"--inputs=@{inputs}", "--report=json", *options],
                       HostCalls(functions) if functions else None)
    report: dict[str, Any] = json.loads(printed)
    return report


def _run_with_calls(name: str, arguments: Sequence[str], host: HostCalls) -> str:
    their_answers, answers = os.pipe()
    requests, their_requests = os.pipe()
    command = [find_tool(name), *arguments, f"--host-calls={their_answers},{their_requests}"]
    with (os.fdopen(requests, "rb") as reader, os.fdopen(answers, "wb") as writer,
          subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=_environment(),
                           pass_fds=(their_answers, their_requests)) as process):
        os.close(their_answers)
        os.close(their_requests)
        printed: list[str] = []
        collector = threading.Thread(target=lambda: printed.extend(process.communicate()))
        collector.start()
        try:
            # In this thread: callbacks are the caller's own code.
            host.serve(reader, writer)
        except BaseException:
            process.kill()
            raise
        finally:
            collector.join()
    if process.returncode:
        raise error_for(process.returncode, printed[1].strip()) from host.error
    return printed[0]
