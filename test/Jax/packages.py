"""Packages that know devices by their names take shardc's: whether they were loaded before the devices or after."""

import os
import subprocess
import sys
from pathlib import Path

FAKE = """
import enum
class types:
    class Impl(enum.Enum):
        JAX = "jax"
        WARP = "warp"
def _resolve_impl(device):
    if device.platform == "cpu":
        return types.Impl.WARP
    raise ValueError(f"Unsupported device: {device}")
"""
ORDERS = {"after": "import jax; jax.devices(); from mujoco.mjx._src import io",
          "before": "from mujoco.mjx._src import io; import jax; jax.devices()"}
ASKED = """
print(io._resolve_impl(jax.devices()[0]).value, io._resolve_impl(jax.devices("cpu")[0]).value)
"""


def main(folder: Path) -> None:
    """Asks a package that stands for MJX which implementation it takes. Its own choice for others stays."""
    package = folder / "mujoco" / "mjx" / "_src"
    package.mkdir(parents=True)
    for place in (package, package.parent, package.parent.parent):
        (place / "__init__.py").touch()
    (package / "io.py").write_text(FAKE)
    environment = os.environ | {"JAX_PLATFORMS": "shardc", "PYTHONPATH": f"{os.environ['PYTHONPATH']}:{folder}"}
    for order, text in ORDERS.items():
        done = subprocess.run([sys.executable, "-c", text + ASKED], env=environment, text=True, capture_output=True, check=False)
        assert done.stdout.split() == ["jax", "warp"], (order, done.stdout, done.stderr[-500:])
    # A version that decides in another way is warned of, and loads.
    (package / "io.py").write_text("")
    done = subprocess.run([sys.executable, "-c", ORDERS["after"]], env=environment, text=True, capture_output=True, check=False)
    assert done.returncode == 0 and "may refuse its devices" in done.stderr, done.stderr[-500:]
    print("packages good")


main(Path(sys.argv[1]))
