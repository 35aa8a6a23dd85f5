"""Return memory to the system: settings of the C library, for long sessions, and of Python's collector."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # few commands need it
    import ctypes

_LARGE_BLOCK = 1 << 20  # bytes: a block of this size or more is a separate mapping, returned when it is freed
_ARENAS = 2  # heaps of the C library; it makes up to eight per processor, each with its own holes
_KEPT = 8 << 20  # bytes at the end of a heap that stay: the next small blocks are not paged in anew
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # names of mallopt's parameters
_spares: list[Callable[[], None]] = []  # each releases memory


def return_large_blocks() -> None:
    """Return freed arrays to the system at once; does nothing if the C library is not glibc.

    By default the threshold grows with the largest block freed so far, up to 32 MB, and batches of waves that
    stay would be scattered between temporary arrays: 1.2 GB resident for 0.5 GB in use.
    """
    with suppress(OSError, AttributeError):
        library = _library()
        library.mallopt(_MMAP_THRESHOLD, _LARGE_BLOCK)
        library.mallopt(_TRIM_THRESHOLD, _KEPT)  # else 128 kB, once the other parameter is set
        library.mallopt(_ARENA_MAX, _ARENAS)


def is_spare(let_go: Callable[[], None]) -> None:
    """Register a call for `trim`: it releases memory that is kept only for more of the same work."""
    _spares.append(let_go)


def trim() -> None:
    """Release spare memory, and return free memory to the system; the latter only with glibc."""
    for let_go in _spares:
        let_go()
    with suppress(OSError, AttributeError):
        _library().malloc_trim(0)


def _library() -> ctypes.CDLL:
    if not sys.platform.startswith("linux"):
        raise OSError("not glibc")
    import ctypes  # noqa: PLC0415 - of a window

    return ctypes.CDLL(None)


@contextmanager
def without_garbage() -> Iterator[None]:
    """Collect no garbage while the block runs, and move the objects it made into the oldest generation.

    Objects of imports stay: fifty thousand, which the next young collection would scan for ten milliseconds.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if gc.get_count()[0] > gc.get_threshold()[0]:
                gc.freeze()
                gc.unfreeze()  # into the oldest generation
            gc.enable()


def begin_start() -> None:
    """Disable garbage collection: a starting program makes no garbage."""
    gc.disable()


def end_start() -> None:
    """Exclude the objects of the start from garbage collection: they live as long as the first window.

    For a process that collects the rest itself in the thread of its windows; no other thread may.
    Frozen objects in cycles are not freed before `gc.unfreeze`.
    """
    gc.freeze()
