"""rcv: a viewer and triage tool for AMD GPU instruction-level thread traces."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rcv_py.api import Capture as Capture
    from rcv_py.api import RcvError as RcvError
    from rcv_py.api import Table as Table
    from rcv_py.api import find as find
    from rcv_py.api import library as library
    from rcv_py.api import open as open

__version__ = "0.1.0"

_API = ("Capture", "RcvError", "Table", "find", "library", "open")


def __getattr__(name: str) -> Any:
    # The analyses take a while to import, which `rcv info` need not wait for.
    if name in _API:
        return getattr(import_module("rcv_py.api"), name)
    raise AttributeError(f"module 'rcv_py' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_API])
