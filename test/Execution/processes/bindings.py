"""Starts ranks of artifacts, as a launcher does, with sizes that cannot be: each says so in one line, with code 2.

    bindings.py SHARD-RUN SUM ROWS

SUM is cut in sizes that are left open, ROWS has an open extent.
"""

import os
import subprocess
import sys
import time

SUM = "--sizes=0:0=1,11,0"
ROWS = "--shapes=0=9"
# The sizes of all ranks, or of one of them, and what is wrong with it.
DIFFERENT = "argument 1, dim 0: ranks bring different sizes: ranks 0, 2: [4, 4, 4]; rank 1: [5, 7, 0]"
BAD = [
    ("--sizes=0:0=5,5,5", "--sizes: argument 0, dim 0: sizes [5, 5, 5] add up to 15, expected 12"),
    ("--sizes=0:0=5,7", "--sizes: argument 0, dim 0: 2 sizes [5, 7] for 3 shards"),
    ("--sizes=9:0=4,4,4", "--sizes=9:0=4,4,4: the program has 2 arguments, and none is '9'"),
    ("--sizes=0:1=1,1,1", "--sizes=0:1=1,1,1: the program was compiled for the sizes of dim 1 of argument 0"),
    ("--mesh=x=4", 'was compiled for the mesh <["x"=3]>, but --mesh gives x=4'),
]
BAD_ROWS = [
    ("--shapes=0=0", "there are 0 rows"),
    ("--shapes=0=9223372036854775807", "argument 0, dim 0: 9223372036854775807 elements, expected at most 2^48"),
    ("--shapes=0=300000000000000", "argument 0, dim 0: 300000000000000 elements, expected at most 2^48"),
    ("", "argument 0, dim 0: how many elements it has was left open"),
]


def check(tool: str, artifact: str, transport: str, sizes: list[list[str]], said: str) -> None:
    job = f"bindings-{os.getpid()}-{time.monotonic_ns()}"
    environment = {**os.environ, "WORLD_SIZE": "3", "LOCAL_WORLD_SIZE": "3", "MASTER_ADDR": "127.0.0.1", "TORCHELASTIC_RUN_ID": job}
    ranks = []
    for rank, options in enumerate(sizes):
        command = [tool, artifact, f"--transport={transport}", *options]
        ranks.append(
            subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)}
            )
        )
    outputs = [rank.communicate(timeout=60) for rank in ranks]
    for rank, (printed, text) in zip(ranks, outputs, strict=True):
        assert rank.returncode == 2, (sizes, rank.returncode, text)
        assert not printed, printed
        assert text.count("error:") == 1, text
        assert said in text, (said, text)


def main() -> None:
    tool, total, rows = sys.argv[1:]
    for transport in ("shm", "tcp"):
        more = ["--sizes=1:0=4,4,4", "--sizes=1:0=5,7,0", "--sizes=1:0=4,4,4"]
        check(tool, total, transport, [[SUM, option] for option in more], DIFFERENT)
    for artifact, good, list_ in ((total, SUM, BAD), (rows, ROWS, BAD_ROWS)):
        for bad, said in list_:
            check(tool, artifact, "shm", [[bad] if bad else []] * 3, said)
            # Of one rank alone: the others say whose it is.
            for at in (0, 1):
                sizes = [[good]] * 3
                sizes[at] = [bad] if bad else []
                check(tool, artifact, "tcp", sizes, said)


if __name__ == "__main__":
    main()
