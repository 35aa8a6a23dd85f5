"""What processes of a pool are asked to do in tests; they import this and not pytest."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

import numpy as np

from rcv_py.base.errors import NotATrace
from tests.support.busy_forever import stay


class Odd(Exception):
    """Cannot be pickled and read again."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__("odd")


def bug() -> None:
    """Fail in a way that nobody expects."""
    raise ZeroDivisionError("a bug")


def sentence() -> None:
    """Fail with a sentence."""
    raise NotATrace("x")


def odd() -> None:
    """Fail with what cannot cross a process border."""
    raise Odd(1, 2)


def array() -> dict[str, object]:
    """A result with an array in it."""
    return {"column": np.arange(1000, dtype=np.int32), "text": "t"}


def modules() -> list[str]:
    """What the process has imported."""
    return sorted(sys.modules)


def interrupt() -> str:
    """Do what Ctrl+C does."""
    os.kill(os.getpid(), signal.SIGINT)
    return "still here"


class EndsAtUnpickling:
    """What unpickles it is asked to end while it imports Qt, or declares a class."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return {"import": import_qt, "class": declare}[self.what], ()


class _Asks:
    """Asks this process to end when it is declared as a field, or a module is looked for."""

    def __init__(self, name: str = "") -> None:
        self.name = name

    def __set_name__(self, owner: type, name: str) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == self.name:
            os.kill(os.getpid(), signal.SIGTERM)
        return None


def import_qt() -> str:
    """Import Qt's bindings; this process is asked to end when they import something of Python."""
    from rcv_py.base.machine import ending
    from tests.support.limits import HANG_S
    from tests.support.processes import wait_until

    ending.GRACE_S = HANG_S  # on a busy machine the rest of the import takes longer than a second
    sys.meta_path.insert(0, _Asks("PySide6.support"))
    import_module("PySide6.QtCore")
    wait_until(lambda: False, "being ended")
    return "still here"


def declare() -> str:
    """Declare a class; this process is asked to end meanwhile."""
    return type("Declared", (), {"field": _Asks()}).__name__


DEEDS: dict[str, Callable[..., object]] = {
    "pid": os.getpid,
    "die": lambda: os._exit(1),
    "bug": bug,
    "sentence": sentence,
    "odd": odd,
    "array": array,
    "unsendable": threading.Lock,
    "stay": stay,
    "modules": modules,
    "nice": lambda: os.nice(0),
    "interrupt": interrupt,
}


def answer(what: str, *more: object) -> object:
    """Do in a process what its test asks for; a text that asks for nothing comes back."""
    return DEEDS[what](*more) if what in DEEDS else what
