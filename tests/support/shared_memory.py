"""What there is of memory that processes share."""

import gc
from collections.abc import Collection
from pathlib import Path


def blocks() -> list[str]:
    """The blocks that this process can see, by number, after those that nobody needs have gone."""
    gc.collect()
    maps = Path("/proc/self/maps")
    lines = maps.read_text().splitlines() if maps.exists() else []
    return [line.split()[4] for line in lines if "memfd:rcv" in line]


def mappings(before: Collection[str] = ()) -> int:
    """How many there are, besides those that tests before left."""
    return sum(block not in before for block in blocks())


def names() -> set[str]:
    """Shared memory with a name, as we or multiprocessing would give it one."""
    return {path.name for path in Path("/dev/shm").iterdir() if path.name.startswith(("rcv", "psm_"))}
