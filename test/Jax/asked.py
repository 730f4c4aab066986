"""Scripts of people who have the package installed and did not ask for its devices go on as without it; who asks by name gets them."""

import os
import subprocess
import sys

REPORT = """
import sys
import jax
{before}
print(jax.default_backend(), [device.platform for device in jax.devices()], sorted(jax.extend.backend.backends()))
print("loaded" if "libshardc" in open("/proc/self/maps").read() else "not loaded", file=sys.stderr)
{after}
"""


def run(before: str = "import jax.extend", after: str = "", **environment: str) -> tuple[str, str]:
    """Return what a script prints and says."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "SHARDC_"))}
    script = REPORT.format(before=before, after=after)
    done = subprocess.run([sys.executable, "-c", script], env=clean | environment, text=True, capture_output=True, check=False)
    return done.stdout.strip(), done.stderr.strip()


# Not asked for: JAX's own choice, no library in the process, not a word; whatever the variables of the devices say.
for given in ({}, {"SHARDC_DEVICES": "4"}, {"SHARDC_DEVICES": "many"}, {"SHARDC_PJRT_LIBRARY": "/nowhere/libshardc_pjrt.so"}, {"JAX_PLATFORMS": "cpu"}):
    assert run(**given) == ("cpu ['cpu'] ['cpu']", "not loaded"), (given, run(**given))

# Asked for, as the default, or beside it, by the environment or by the script.
add = "print(sorted({device.platform for device in (jax.device_put(1.0, jax.devices('shardc')[1]) + 1).devices()}))"
two = {"SHARDC_DEVICES": "2"}
assert run(JAX_PLATFORMS="shardc", **two) == ("shardc ['shardc', 'shardc'] ['cpu', 'shardc']", "loaded")
assert run("import jax.extend; jax.config.update('jax_platforms', 'shardc')", **two)[0] == "shardc ['shardc', 'shardc'] ['cpu', 'shardc']"
assert run(after=add, JAX_PLATFORMS="cpu,shardc", **two) == ("cpu ['cpu'] ['cpu', 'shardc']\n['shardc']", "loaded")
assert run(JAX_PLATFORM_NAME="shardc", **two)[0] == "shardc ['shardc', 'shardc'] ['cpu', 'shardc']"

# Asked for, and not there, or no plugin: the exception that the script ends with says so.
for library, text in (("/nowhere/libshardc_pjrt.so", "'shardc': there is no /nowhere/libshardc_pjrt.so (SHARDC_PJRT_LIBRARY)"),
                      (__file__, f"'shardc': {__file__} cannot be loaded: ")):
    out, err = run(JAX_PLATFORMS="shardc", SHARDC_PJRT_LIBRARY=library)
    assert not out and text in err.splitlines()[-1] and "Exception when calling" not in err, err

# Asked for with something that cannot be: the variable, what it has, and what it may have.
for name, value, text in (("SHARDC_DEVICES", "0", "SHARDC_DEVICES=0: expected a number from 1 on"),
                          ("SHARDC_DEVICES", "many", "SHARDC_DEVICES=many: expected a number from 1 on"),
                          ("SHARDC_DEVICES", "100000", "100000 devices; expected 1 to 65536"),
                          ("SHARDC_THREADS", "all", "SHARDC_THREADS=all: expected a number from 0 on"),
                          ("SHARDC_TIMEOUT_MS", "soon", "SHARDC_TIMEOUT_MS=soon: expected a number from -1 on")):
    out, err = run(JAX_PLATFORMS="shardc", **{name: value})
    assert not out and f"INVALID_ARGUMENT: {text}" in err.replace("an engine of ", ""), (name, value, err)
print("all good")
