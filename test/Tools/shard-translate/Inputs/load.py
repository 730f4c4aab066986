"""Load an artifact as a C program does: load.py LIBRARY FUNCTION ARTIFACT prints the status, and why or how many ranks."""

import ctypes
import sys

library, function, artifact = sys.argv[1:]
runtime = ctypes.CDLL(library, ctypes.RTLD_GLOBAL)
program, said = ctypes.c_void_p(), ctypes.create_string_buffer(1024)
status = getattr(runtime, function)(artifact.encode(), ctypes.byref(program), said, len(said))
runtime.shardrt_program_num_ranks.restype = ctypes.c_int64
print(f"{status}, " + (said.value.decode() if status else f"{runtime.shardrt_program_num_ranks(program)} ranks"))
