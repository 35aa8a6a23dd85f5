"""What processes of a pool are asked to do in tests; they import this and not pytest."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable

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
