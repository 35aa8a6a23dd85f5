"""Processors and memory that the system and the container allow this process, and its power."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")
MEMINFO = Path("/proc/meminfo")
LOAD = Path("/proc/loadavg")
SUPPLIES = Path("/sys/class/power_supply")


def cores() -> int:
    """Return the number of processors that this process may use, at least 1."""
    has_affinity = hasattr(os, "sched_getaffinity")  # not on macOS and Windows
    allowed = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    quotas = [int(quota) // int(period) for quota, period in _limits("cpu.max") if quota != "max"]
    return max(1, min([allowed, *quotas]))


def has_spare_core() -> bool:
    """Return whether no more tasks run or want to than there are processors; False if unknown."""
    try:
        running = int(LOAD.read_text().split()[3].partition("/")[0])  # this one included
    except (OSError, LookupError, ValueError):
        return False
    return running <= cores() > 1


def memory() -> int | None:
    """Return the bytes that programs can still take, or may take in this container; None if unknown."""
    return _bytes("MemAvailable:")


def on_battery() -> bool:
    """Return whether a battery of this computer, not of its mouse, is being discharged; False if unknown."""
    return any(
        (_word(supply / "type"), _word(supply / "status")) == ("battery", "discharging")
        and _word(supply / "scope") != "device"
        for supply in SUPPLIES.glob("*")
    )


def _word(file: Path) -> str:
    """Return what a file of the system says in small letters, "" if it says nothing."""
    with suppress(OSError, UnicodeDecodeError):
        return file.read_text().strip().lower()
    return ""


def half_of_memory() -> int | None:
    """Return half of the bytes that the machine, or this container, has; None if unknown."""
    all_of_it = _bytes("MemTotal:")
    return None if all_of_it is None else all_of_it // 2


def _bytes(line_of: str) -> int | None:
    """Return the bytes in a line of the system, limited by this container; None if unknown."""
    limits = [int(limit) for (limit,) in _limits("memory.max") if limit != "max"]
    with suppress(OSError, StopIteration, ValueError):
        lines = MEMINFO.read_text().splitlines()
        limits.append(next(int(line.split()[1]) << 10 for line in lines if line.startswith(line_of)))
    return min(limits, default=None)


def _limits(name: str) -> Iterator[list[str]]:
    """The words of a file in the control group of this process and in its parents (Linux, version 2)."""
    with suppress(OSError, StopIteration):
        own = next(line for line in OWN.read_text().splitlines() if line.startswith("0::"))
        place = CGROUPS / own.removeprefix("0::").lstrip("/")
        for folder in (place, *place.parents):
            with suppress(OSError):
                yield (folder / name).read_text().split()
            if folder == CGROUPS:
                return
