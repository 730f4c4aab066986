"""Where the tools are, and how they are called."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from shardc._errors import error_for


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


def run_tool(name: str, arguments: Sequence[str]) -> str:
    """Run a tool and return its standard output.

    Raises: a ShardcError with the tool's own diagnostic where it does not end with 0.
    """
    result = subprocess.run([find_tool(name), *arguments], capture_output=True, text=True, check=False)
    if result.returncode:
        raise error_for(result.returncode, result.stderr.strip())
    return result.stdout
