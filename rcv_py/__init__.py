"""rcv: a viewer and triage tool for AMD GPU instruction-level thread traces."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rcv_py.api import *  # noqa: F403 - all of the API by its names

__version__ = "1.0.0"

_API = (
    *("Answer", "Capture", "CaptureEntry", "Table", "Timeline", "Wave", "find", "library", "open"),
    *("BrokenFile", "ExportError", "MissingFile", "MissingPackage", "NoColumn", "NoRow", "NotATrace"),
    *("RcvError", "TooLarge", "TraceError", "UnequalColumns", "UsageError"),
)


def __getattr__(name: str) -> Any:
    # The analyses take a while to import, which `rcv info` need not wait for.
    if name in _API:
        return getattr(import_module("rcv_py.api"), name)
    raise AttributeError(f"module 'rcv_py' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_API])
