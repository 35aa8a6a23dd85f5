"""When memory is given back: by the C library, since a viewer lives for hours, and by Python's collector."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # few commands need it
    import ctypes

_LARGE_BLOCK = 1 << 20  # bytes: from here on a block is a mapping of its own, returned when it is freed
_ARENAS = 2  # heaps of the C library; it makes up to eight a processor, each with its own holes
_KEPT = 8 << 20  # bytes at the end of a heap that stay: the next small blocks are not paged in anew
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # names of mallopt's parameters
_spares: list[Callable[[], None]] = []  # each lets go of something


def return_large_blocks() -> None:
    """Have freed arrays go back to the system at once; does nothing where the C library is not glibc.

    By default the threshold grows with the largest block freed so far, up to 32 MB, and batches of waves that
    stay would be scattered between temporary arrays that do not: 1.2 GB resident for 0.5 GB in use.
    """
    with suppress(OSError, AttributeError):
        library = _library()
        library.mallopt(_MMAP_THRESHOLD, _LARGE_BLOCK)
        library.mallopt(_TRIM_THRESHOLD, _KEPT)  # without it 128 kB, once the other one is set
        library.mallopt(_ARENA_MAX, _ARENAS)


def is_spare(let_go: Callable[[], None]) -> None:
    """Have `trim` call this: it lets go of what is kept only because more of the same work may come."""
    _spares.append(let_go)


def trim() -> None:
    """Let go of what is spare, and return what is free; the latter only where the C library is glibc."""
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
    """Look for no garbage while the block runs, nor, right behind it, among all that it made.

    What imports make stays: fifty thousand objects, which the next collection of young ones would look at for
    ten milliseconds.  They are old at once.
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
    """Look for no garbage: while a program starts, nothing that it makes is garbage."""
    gc.disable()


def end_start() -> None:
    """Never look for garbage among what the start made: it lives as long as the program.

    For a process that shows one window, which looks for the rest itself, in its own thread: nobody else may.
    What is frozen is never given back.
    """
    gc.freeze()
