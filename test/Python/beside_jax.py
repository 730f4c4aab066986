"""Whole programs, compiled, and compared with JAX on meshes, in uneven and empty shards, and on one rank.

    beside_jax.py [--meshes N] [--share N] [--dynamic] [--reproducible] [NAME...]
"""

import os
import sys

# Programs that name mesh axes run on so many devices of JAX's own.
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=12"

import cases.arrays
import cases.corners
import cases.derivatives
import cases.equations
import cases.fields
import cases.loops
import cases.models
import cases.parallel
import cases.programs
import cases.regions
import cases.sequences
import cases.structures  # noqa: F401
from cases.harness import main

if __name__ == "__main__":
    sys.exit(main())
