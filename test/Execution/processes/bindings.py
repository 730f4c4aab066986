"""Starts ranks of an artifact, as a launcher does, which bring different sizes: each says so, with code 2.

    bindings.py SHARD-RUN ARTIFACT
"""

import os
import subprocess
import sys
import time

SAID = "argument 1, dim 0: ranks bring different sizes: ranks 0, 2: [4, 4, 4]; rank 1: [5, 7, 0]"


def check(tool: str, artifact: str, transport: str) -> None:
    job = f"bindings-{os.getpid()}-{time.monotonic_ns()}"
    environment = {**os.environ, "WORLD_SIZE": "3", "LOCAL_WORLD_SIZE": "3", "MASTER_ADDR": "127.0.0.1", "TORCHELASTIC_RUN_ID": job}
    ranks = []
    for rank in range(3):
        sizes = ["--sizes=0:0=1,11,0", f"--sizes=1:0={'5,7,0' if rank == 1 else '4,4,4'}"]
        command = [tool, artifact, f"--transport={transport}", *sizes]
        ranks.append(
            subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)}
            )
        )
    said = [rank.communicate(timeout=60) for rank in ranks]
    for rank, (printed, text) in zip(ranks, said, strict=True):
        assert rank.returncode == 2, (rank.returncode, text)
        assert not printed, printed
        assert text.count("error:") == 1, text
        assert SAID in text, text


def main() -> None:
    for transport in ("shm", "tcp"):
        check(*sys.argv[1:], transport)


if __name__ == "__main__":
    main()
