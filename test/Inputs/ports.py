"""Ports for tests that tell processes where to meet."""

from __future__ import annotations

import socket

_held: list[socket.socket] = []


def free_port() -> int:
    """A port of 127.0.0.1 at which nobody listens. It is held until this process ends, so no other program is given it, and no connection begins at it
    (one that began there, to a listener that is not there yet, would meet itself); who says SO_REUSEADDR may listen there all the same."""
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.bind(("127.0.0.1", 0))
    _held.append(one)
    return int(one.getsockname()[1])
