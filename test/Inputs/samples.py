"""A few of many points, the same on every machine, where all of them take minutes."""

import zlib
from collections.abc import Hashable, Mapping


def cover(points: Mapping[str, set[Hashable]]) -> list[str]:
    """Names of some of ``points``, in their order, among which each feature that any has is found.

    Taken by the hash of their names: each that has a feature which none before it has.
    """
    seen: set[Hashable] = set()
    kept = set()
    for name in sorted(points, key=lambda name: zlib.crc32(name.encode())):
        if not points[name] <= seen:
            seen |= points[name]
            kept.add(name)
    return [name for name in points if name in kept]
