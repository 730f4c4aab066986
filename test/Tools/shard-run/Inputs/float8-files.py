"""Write, or read back, an archive of arrays of 8-bit floats and narrow integers as ml_dtypes stores them.

    float8-files.py write FILE | float8-files.py write-one FILE | float8-files.py print FILE
"""

import sys

import ml_dtypes
import numpy as np

NAMES = ("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "int4", "uint4")

if sys.argv[1] == "write-one":
    np.savez(sys.argv[2], in0=np.array([1, 2, 4], ml_dtypes.float8_e4m3fn))
elif sys.argv[1] == "write":
    arrays = {f"in{i}": np.array([1, 2, 4], getattr(ml_dtypes, name)) for i, name in enumerate(NAMES)}
    np.savez(sys.argv[2], **arrays)
else:
    with np.load(sys.argv[2]) as archive:
        for i, name in enumerate(NAMES):
            print(name, archive[f"out{i}"].view(getattr(ml_dtypes, name)).astype(np.float32).tolist())
