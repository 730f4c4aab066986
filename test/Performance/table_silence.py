"""A process that never answers is ended, and its side is absent from the row: table.test."""

import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "Table"))
import table

SILENT = "import socket, sys, time; plug = socket.socket(socket.AF_UNIX); plug.connect(sys.argv[1]); time.sleep(100000)"


class Deaf(table.Side):
    """A side whose process connects, and then hangs."""

    def __init__(self, address: str) -> None:
        self.name = "deaf"
        self.process = subprocess.Popen([sys.executable, "-c", SILENT, address], stdin=subprocess.PIPE, text=True)


with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
    address = str(Path(folder) / "table")
    listener.bind(address)
    listener.listen()
    listener.settimeout(1)
    side = Deaf(address)
    runner = table.Runner(side, listener, {"row": "any"}, 1, patience=0.1)
    assert runner.process == side.process.pid
    assert not runner.is_ready and runner.said["error"] == "silent for 0.1 s", runner.said
    assert side.process.wait() == -signal.SIGKILL
print("ended")
