"""Where the tools are, and how they are called."""

import os
import shutil
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

from shardc._errors import error_for
from shardc._host import HostCalls


def find_tool(name: str) -> str:
    """The path of a tool: in ``$SHARDC_TOOLS``, in the build directory of this tree, or on the path.

    Raises: FileNotFoundError with what was looked at.
    """
    places = []
    if directory := os.environ.get("SHARDC_TOOLS"):
        places.append(Path(directory))
    places.append(Path(__file__).resolve().parents[2] / "build" / "bin")
    for place in places:
        if os.access(place / name, os.X_OK):
            return str(place / name)
    if found := shutil.which(name):
        return found
    looked = ", ".join(map(str, places))
    raise FileNotFoundError(f"{name} is neither in {looked} nor on the path; build it with ./run build, "
                            "or name its directory in SHARDC_TOOLS")


def find_library() -> str:
    """The path of the runtime, ``libshardrt.so``: beside the tools, or named by ``$SHARDC_RUNTIME``.

    Raises: FileNotFoundError with what was looked at.
    """
    if given := os.environ.get("SHARDC_RUNTIME"):
        return given
    tools = Path(find_tool("shard-run")).resolve().parent
    places = [tools.parent / "lib" / "libshardrt.so", tools / "libshardrt.so"]
    for place in places:
        if place.exists():
            return str(place)
    looked = ", ".join(map(str, places))
    raise FileNotFoundError(f"libshardrt.so is not in {looked}; name it in SHARDC_RUNTIME")


def run_tool(name: str, arguments: Sequence[str], host: HostCalls | None = None) -> str:
    """Run a tool and return its standard output.

    Args:
        host: answers the calls of the program that ``shard-run`` runs; None: there are none.

    Raises: a ShardcError with the tool's own diagnostic where it does not end with 0; its cause is what a callback
    raised.
    """
    if host is not None:
        return _run_with_calls(name, arguments, host)
    result = subprocess.run([find_tool(name), *arguments], capture_output=True, text=True, check=False)
    if result.returncode:
        raise error_for(result.returncode, result.stderr.strip())
    return result.stdout


def _run_with_calls(name: str, arguments: Sequence[str], host: HostCalls) -> str:
    their_answers, answers = os.pipe()
    requests, their_requests = os.pipe()
    command = [find_tool(name), *arguments, f"--host-calls={their_answers},{their_requests}"]
    with (os.fdopen(requests, "rb") as reader, os.fdopen(answers, "wb") as writer,
          subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
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
