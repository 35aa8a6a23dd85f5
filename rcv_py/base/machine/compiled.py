"""Functions that walk over millions of tokens: compiled if numba is installed, else plain Python.

Numba is imported with the first walk that is compiled, which takes a third of a second.  Machine code is kept
in the user's cache folder; if that cannot be written, every process compiles again.

The same text runs in three ways: compiled, as plain Python, and, in tests, compiled with indexes checked.  So

- a `kernel` is called from Python, a `part` by kernels and parts alone;
- both get one- or two-dimensional arrays, whole numbers and NamedTuples of these, allocate nothing, and
  write into arrays they got;
- compiled code checks no index: a comparison next to each keeps it in range, and none is negative;
- integers stay below 2^63 in size, and values read from an array go through `int`: compiled, an
  unsigned number with a signed one would become a float.
"""

import gc
import hashlib
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from functools import cache, wraps
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from types import FunctionType
from typing import IO, Any, ParamSpec, TypeVar

import numpy as np

from rcv_py.base.machine import user_folders

P = ParamSpec("P")
R = TypeVar("R")
IS_COMPILED = find_spec("numba") is not None  # unless it cannot be imported
PLAIN = {  # nothing that kernels do not need, because compiling is slow
    "no_cfunc_wrapper": True,
    "error_model": "numpy",
    "no_rewrites": True,
    "_nrt": False,
}

# Plain Python walks over so many numbers of a call in 10 ms, and of all calls in a second.  A compiler is
# loaded in a third of a second, and compiles for three if no machine code is kept.
FEW, FEW_IN_ALL = 30_000, 3_000_000
WAITS_S = 30.0  # for another process that compiles, at most
BEAT_S = 0.02
_FOLDER_LOCK = Lock()  # of the threads that set or read numba's folder, which is one for the process


def part(function: Callable[P, R]) -> Callable[P, R]:
    """Function decorator: a function that becomes part of every kernel that calls it."""
    _PARTS[function] = _compiled_part
    return function


def prefetch(array: Any, at: int) -> None:
    """In a kernel, load an element into the cache that is needed soon; it may lie beyond the array."""


def kernel(function: Callable[P, R], *, begins_plain: bool = False) -> Callable[P, R]:
    """Function decorator: compiled on first call, runs without the GIL.

    `begins_plain`: plain Python takes calls with FEW numbers, until they had FEW_IN_ALL in this process.
    """
    return _Compiled(function, begins_plain).called() if IS_COMPILED else _plain(function)


@cache
def numba_module() -> Any:
    """Return numba; None if this Python or this numpy is too new for it."""
    with suppress(ImportError):
        import numba  # noqa: PLC0415 - a third of a second

        return numba
    return None


def _compiled_part(function: Callable[..., Any]) -> Any:
    made: Any = numba_module().njit(_with_parts(function), forceinline=True, no_cpython_wrapper=True, **PLAIN)
    # It is compiled once, and not again for each literal argument of a call.
    unliteral, found = numba_module().types.unliteral, made.get_call_template
    made.get_call_template = lambda values, named: found(tuple(map(unliteral, values)), named)
    return made


def _compiled_prefetch(_: Callable[..., Any]) -> Any:
    types: Any = numba_module().types
    from llvmlite import ir  # type: ignore[import-untyped]  # noqa: PLC0415 - as numba
    from numba.extending import intrinsic  # noqa: PLC0415

    @intrinsic
    def prefetch(context: Any, array: Any, at: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            data = context.make_array(signature.args[0])(context, builder, values[0]).data
            number, place = ir.IntType(32), builder.gep(data, [values[1]])
            kind = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
            named = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
            builder.call(named, [place, number(0), number(3), number(1)])  # to read it, in all caches, data
            return context.get_dummy_value()

        return types.void(array, at), emit

    return prefetch


_PARTS: dict[Callable[..., Any], Callable[[Callable[..., Any]], Any]] = {prefetch: _compiled_prefetch}


@cache
def _made_part(function: Callable[..., Any]) -> Any:
    """Return what a part is in machine code: one object for all kernels."""
    return _PARTS[function](function)


def _with_parts(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls parts in machine code."""
    from dis import get_instructions  # noqa: PLC0415 - as numba

    named = {one.argval for one in get_instructions(function) if one.opname == "LOAD_GLOBAL"}
    known = function.__globals__
    functions = {name: one for name in named if isinstance(one := known.get(name), FunctionType)}
    parts = {name: _made_part(one) for name, one in functions.items() if one in _PARTS}
    made = FunctionType(function.__code__, known | parts, function.__name__)
    made.__module__, made.__qualname__ = function.__module__, function.__qualname__
    return made


class _Compiled:
    """A kernel with cached machine code; without it if the cache cannot be read or written."""

    def __init__(self, function: Callable[..., Any], begins_plain: bool) -> None:
        self._function = function
        self._left = FEW_IN_ALL if begins_plain else 0  # numbers that plain Python still takes
        self._code: Callable[..., Any] | None = None
        self._known: set[tuple[Any, ...]] = set()  # types of arguments that it was called with
        self._is_kept = True

    def called(self) -> Callable[..., Any]:
        plain = _plain(self._function)

        @wraps(self._function)
        def call(*values: Any) -> Any:
            if self._left > 0 and (size := _size(values)) <= FEW:
                self._left -= size
                return plain(*values)
            if numba_module() is None:
                return plain(*values)
            types = _types(values)
            if self._code is not None and types in self._known:
                return self._code(*values)
            try:
                return self._first(types, values)
            except Exception:  # from compiling, since kernels raise nothing: a full disk, a truncated file
                if not self._is_kept:
                    raise
                self._is_kept = False
                self._code = None
                return self._first(types, values)

        return call

    def _first(self, types: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
        """Call it with arguments whose types may need compilation."""
        with _FOLDER_LOCK:
            chosen = numba_module().config.CACHE_DIR  # by the user
        folder = Path(chosen) if chosen else cache_folder(Path(self._function.__code__.co_filename).parent)
        code = self._code
        if code is None:
            code = numba_module().njit(_with_parts(self._function), nogil=True, **PLAIN)
            if self._is_kept:
                _keep(code, folder)
            self._code = code  # only now, else another thread would compile it and keep nothing
        with _alone(folder, self._function.__qualname__) if self._is_kept else nullcontext():
            result = _quickly(code, values)
        self._known.add(types)
        return result


def _size(value: Any) -> int:
    """Return how many numbers an argument has."""
    if isinstance(value, tuple):
        return sum(map(_size, value))
    return value.size if isinstance(value, np.ndarray) else 1


def _types(value: Any) -> Any:
    """What decides the numba types of arguments, which take longer to find and to compare."""
    if isinstance(value, tuple):
        return (type(value), *map(_types, value))
    if isinstance(value, np.ndarray):
        flags = value.flags
        return value.dtype.str, value.ndim, flags.c_contiguous, flags.f_contiguous, flags.writeable
    return type(value)


@contextmanager
def _alone(folder: Path, name: str) -> Iterator[None]:
    """Let one process at a time compile functions of a name: the others then load its cached code.

    Numba numbers the cached versions of a function, and two concurrent writers may use the same number.
    """
    lock: IO[bytes] | None = None
    if sys.platform != "win32":
        with suppress(OSError):
            lock = (folder / f"{name}.lock").open("ab")
    end = monotonic() + WAITS_S
    try:
        with suppress(OSError):  # files cannot be locked: then every process compiles
            while lock is not None and monotonic() < end and not user_folders.is_locked_here(lock):
                sleep(BEAT_S)
        yield
    finally:
        if lock is not None:
            lock.close()


def _quickly(code: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    """Call a function that must be compiled, without garbage collection, since compiling leaves no garbage.

    It is compiled in a thread, whose stack begins empty: if the caller's stack ends near the border of a
    memory chunk, Python 3.11 frees and allocates that chunk hundreds of thousands of times.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(code, *values).result()
    finally:
        if collects:
            gc.enable()


def _keep(code: Any, folder: Path) -> None:
    """Let a function cache its machine code in a folder; functions of other programs keep theirs."""
    config = numba_module().config
    with _FOLDER_LOCK, suppress(OSError, RuntimeError):  # no writable folder
        before = config.CACHE_DIR
        try:
            config.CACHE_DIR = str(folder)
            code.enable_caching()
        finally:
            config.CACHE_DIR = before


@cache
def cache_folder(room: Path) -> Path:
    """Return the user's folder for machine code of a package; it depends on the sources.

    Numba compares only the file of a kernel with its cache, not the files of its parts.
    """
    sources = hashlib.sha256()
    for file in (Path(__file__), *sorted(room.glob("*.py"))):
        sources.update(file.read_bytes())
    return user_folders.cache_folder("kernels") / sources.hexdigest()[:16]


def _plain(function: Callable[P, R]) -> Callable[P, R]:
    """Pass arrays to a function as memoryviews: their numbers are Python's, and never wrap."""

    @wraps(function)
    def call(*values: P.args, **named: P.kwargs) -> R:
        return function(*map(_memory, values), **named)

    return call


def _memory(value: Any) -> Any:
    if isinstance(value, tuple):  # a NamedTuple
        return type(value)(*map(_memory, value))
    return value.data if isinstance(value, np.ndarray) else value
