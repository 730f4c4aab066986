"""lit configuration: every .mlir and .test file under test/ is a shell test.

Tools come from the build tree first, then from LLVM's own directory (FileCheck,
not, split-file, mlir-opt). Features, for REQUIRES and UNSUPPORTED:

    numpy    %python can import numpy
    jax      %python can import jax
    safetensors
             %python can import safetensors
    gmpy2    %python can import gmpy2 and mpmath: multiple precision
    x86, arm the machine that runs the tests
    shell    always; scripts that need bash call it by name
    ptxas    a CUDA toolkit assembles kernels (ptxas and fatbinary)
    nvcc     ... and compiles CUDA C++
    nvdisasm machine code can be read: a toolkit's, or of the package
             nvidia-cuda-nvdisasm that ./run test installs
    stablehlo-suite
             StableHLO's own test programs stand beside the tree
    jax-suite, jax-tests-packages
             a checkout of JAX stands beside the tree; %python has what its
             tests import
    openmpi, mpich
             the library's mpirun is there, and was when the tools were built
    ruff, mypy
             %python has them: what looks at Python

``--param tier=ir`` leaves the tests that look at IR and diagnostics and run no
program; ``--param every=N`` each N-th test; ``--param times=FILE`` adds what each takes
of the processors to FILE. ``--param races=1`` runs programs with shard-run-tsan
(``./run test races``).
"""

import os
import platform
import shutil
import subprocess
import sys

# lit hands tests to its workers by the names of their classes: they are in a module.
sys.path.insert(0, os.path.join(config.shardc_source_dir, "test"))
from selection import Selection

config.name = "shardc"
config.test_format = Selection(lit_config.params.get("tier"), int(lit_config.params.get("every", "1")), lit_config.params.get("times"))
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "Unit", "Performance"]
config.test_source_root = os.path.join(config.shardc_source_dir, "test")
config.test_exec_root = os.path.join(config.shardc_build_dir, "test")

config.environment["PATH"] = os.pathsep.join(
    [config.shardc_tools_dir, config.llvm_tools_dir, os.environ.get("PATH", "")]
)
for name in ("HOME", "TMPDIR", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Artifacts are signed with a key of the tests' own.
config.environment["XDG_CONFIG_HOME"] = os.path.join(config.shardc_build_dir, "test", "config")
# A test compiles what it is about: nothing is found in the cache of compiled programs.
config.environment["SHARDC_CACHE_DIR"] = ""

# Tests that need NumPy or JAX run with the Python that ./run test sets up, or else
# with one that has at least NumPy: Debian's own, where another is first on the path.
def modules_of(python: str) -> list[str]:
    """Which of NumPy, JAX, safetensors, ruff, mypy, gmpy2 (with mpmath) and what JAX's tests need ``python`` can import."""
    find = ("import importlib.util as u; print(*(m for m in ('numpy', 'jax', 'safetensors', 'ruff', 'mypy') if u.find_spec(m)), "
            "'gmpy2' if u.find_spec('gmpy2') and u.find_spec('mpmath') else '', "
            "'jax-tests-packages' if all(map(u.find_spec, ('jax', 'pytest', 'absl', 'hypothesis', 'scipy'))) else '')")
    try:
        found = subprocess.run([python, "-c", find], capture_output=True, text=True, check=False)
    except OSError:
        return []
    return found.stdout.split()


own_python = os.path.join(config.shardc_source_dir, ".venv", "bin", "python")
pythons = {python: modules_of(python) for python in (own_python, config.python, "/usr/bin/python3")}
config.python = max(pythons, key=lambda python: (len(pythons[python]), python == config.python))
config.available_features.update(pythons[config.python])

# Tests name their tools by absolute path, so that an installed tool of the same
# name never stands in for the one just built.
for tool in ("shard-fuzz", "shard-lsp-server", "shard-opt", "shard-reduce", "shard-run", "shard-run-planted", "shard-translate"):
    path = os.path.join(config.shardc_tools_dir, tool)
    if tool == "shard-run" and "races" in lit_config.params:
        path += "-tsan"
    config.substitutions.append((r"(?<![-\w/.%])" + tool + r"(?![-\w/.])", path))
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%shardc_root", config.shardc_source_dir))
config.substitutions.append(("%shardc_build", config.shardc_build_dir))
config.substitutions.append(("%shardc_tools", config.shardc_tools_dir))
config.substitutions.append(("%llvm_cmake_dir", os.path.join(os.path.dirname(config.llvm_tools_dir), "lib", "cmake")))
config.substitutions.append(
    ("%npz", f"{config.python} {os.path.join(config.test_source_root, 'Inputs', 'npz.py')}")
)

config.available_features.add("arm" if platform.machine() in ("aarch64", "arm64") else "x86")
# What code for x86-64-v4 needs to be run, not only made.
if os.path.exists("/proc/cpuinfo"):
    with open("/proc/cpuinfo") as processors:
        flags = set(processors.read().split())
    if {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= flags:
        config.available_features.add("avx512")

for library in ("openmpi", "mpich"):
    part = os.path.join(config.shardc_build_dir, "lib", f"shardrt_mpi_{library}.so")
    if shutil.which(f"mpirun.{library}") and os.path.exists(part):
        config.available_features.add(library)

# StableHLO's own test programs are no part of this tree: beside it, or where the environment says.
stablehlo_suite = os.environ.get("SHARDC_STABLEHLO_TESTS", os.path.join(os.path.dirname(config.shardc_source_dir), "shared", "stablehlo-tests"))
if os.path.isdir(os.path.join(stablehlo_suite, "data")):
    config.available_features.add("stablehlo-suite")
config.substitutions.append(("%stablehlo_suite", stablehlo_suite))
jax_suite = os.environ.get("SHARDC_JAX_TESTS", os.path.join(os.path.dirname(config.shardc_source_dir), "shared", "jax-tests"))
if os.path.isdir(os.path.join(jax_suite, "tests")):
    config.available_features.add("jax-suite")
config.substitutions.append(("%jax_suite", jax_suite))

# Where shardc looks for it as well. Without it such tests are reported as not run.
cuda_folders = [os.path.join(os.environ[name], "bin") for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT") if os.environ.get(name)]
if all(shutil.which(tool, path=os.pathsep.join([*cuda_folders, os.environ.get("PATH", "")])) for tool in ("ptxas", "fatbinary")):
    config.available_features.add("ptxas")
sys.path.insert(0, os.path.join(config.shardc_source_dir, "scripts"))
from sass.cubin import find_nvdisasm, find_tool

if find_nvdisasm():
    config.available_features.add("nvdisasm")
if find_tool("nvcc"):
    config.available_features.add("nvcc")
