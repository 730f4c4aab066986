"""Whole programs, compiled, and compared with JAX on one rank and on four uneven ones.

    beside_jax.py [NAME...]
"""

import sys

import cases.fields
import cases.loops
import cases.models
import cases.programs  # noqa: F401
from cases.harness import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
