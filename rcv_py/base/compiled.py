"""Functions that walk over millions of tokens: compiled by numba where there is one, else plain Python.

This is imported when something is walked over, never earlier: importing numba takes a third of a second.
Machine code is kept in the user's cache folder; where that cannot be written, every process compiles again.

The same text runs in three ways: compiled, as plain Python, and, in tests, compiled with indexes checked.  So

- a `kernel` is called from Python, a `part` by kernels and parts alone;
- both get one- or two-dimensional arrays and whole numbers, allocate nothing, and write into arrays they got;
- compiled code checks no index: each is shown to be in range by a comparison beside it, and none is negative;
- whole numbers stay below 2^63 in size, and what is read from an array goes through `int`: compiled, an
  unsigned number beside a signed one would become a float.
"""

from __future__ import annotations

import gc
import hashlib
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, wraps
from pathlib import Path
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")


def _numba() -> ModuleType | None:
    try:
        import numba  # noqa: PLC0415 - optional
    except ImportError:
        return None
    return numba


NUMBA = _numba()
IS_COMPILED = NUMBA is not None
PLAIN = {"no_cfunc_wrapper": True, "error_model": "numpy", "_nrt": False}  # nothing that no kernel needs


def part(function: Callable[P, R]) -> Callable[P, R]:
    """Function decorator: a function that becomes part of every kernel that calls it."""
    return NUMBA.njit(function, forceinline=True, no_cpython_wrapper=True, **PLAIN) if NUMBA else function


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Function decorator: compiled when it is first called, other threads run beside it."""
    return _Compiled(function).called() if NUMBA else _plain(function)


class _Compiled:
    """A kernel with kept machine code; without, if what is kept cannot be read or written."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._code: Callable[..., Any] | None = None
        self._is_kept = True

    def called(self) -> Callable[..., Any]:
        @wraps(self._function)
        def call(*values: Any) -> Any:
            code = self._code
            if code is None:
                code = self._code = self._made()
            try:
                return _quickly(code, values)
            except Exception:  # of compiling, for a kernel raises nothing: a full disk, a file that is cut
                if not self._is_kept:
                    raise
                self._is_kept = False
                self._code = self._made()
                return self._code(*values)

        return call

    def _made(self) -> Callable[..., Any]:
        assert NUMBA is not None
        code = NUMBA.njit(self._function, nogil=True, **PLAIN)
        if self._is_kept:
            _keep(code, cache_folder(Path(self._function.__code__.co_filename).parent))
        return code


def _quickly(code: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    """Call a function that may have to be compiled: without collecting garbage, of which that leaves none.

    It is compiled in a thread, whose stack begins empty: where the callers' happens to end near the border of
    a piece of memory, Python 3.11 gives that piece back and takes it hundreds of thousands of times.
    """
    if getattr(code, "signatures", None):
        return code(*values)
    collects = gc.isenabled()
    gc.disable()
    try:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(code, *values).result()
    finally:
        if collects:
            gc.enable()


def _keep(code: Any, folder: Path) -> None:
    """Let a function keep its machine code in our folder, and those of other programs where theirs is."""
    assert NUMBA is not None
    before = NUMBA.config.CACHE_DIR
    try:
        NUMBA.config.CACHE_DIR = before or str(folder)
        code.enable_caching()
    except (OSError, RuntimeError):
        return  # nowhere to write
    finally:
        NUMBA.config.CACHE_DIR = before


@cache
def cache_folder(room: Path) -> Path:
    """Return where machine code of a room is kept: a folder of the user's own, another one for other sources.

    Numba compares the file of a kernel with what it kept, and not the files of its parts.
    """
    sources = hashlib.sha256()
    for file in (Path(__file__), *sorted(room.glob("*.py"))):
        sources.update(file.read_bytes())
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base else Path.home() / ".cache") / "rcv" / "kernels" / sources.hexdigest()[:16]


def _plain(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function see its arrays as memory: its numbers are Python's, and never wrap."""

    @wraps(function)
    def call(*values: P.args, **named: P.kwargs) -> R:
        seen = [one.data if isinstance(one, np.ndarray) else one for one in values]
        return function(*seen, **named)  # type: ignore[arg-type]

    return call
