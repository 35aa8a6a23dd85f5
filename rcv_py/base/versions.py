"""Versions of the program, Python, system and packages: for `rcv --version` and bug reports."""

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from rcv_py import __version__
from rcv_py.base.text import Message

# By the extra that installs them, "" for required packages; as in pyproject.toml.
PACKAGES = {
    "": ("backports-zstd", "msgspec", "numpy", "orjson", "pyelftools", "regex", "pysimdjson"),
    "window": ("PySide6-Essentials", "pyqtgraph", "pygments", "rocm-llvm-python"),
    "fast": ("numba",),
    "arrow": ("pyarrow",),
    "pandas": ("pandas",),
    "mcp": ("mcp",),
    "cluster": ("distributed",),
}


def versions() -> Iterator[tuple[str, str]]:
    """Yield name and version of the program, of Python, of the system, and of each package.

    For a missing package the version names the extra that installs it.
    """
    yield "rcv", __version__
    yield "Python", f"{platform.python_version()} ({platform.python_implementation()})"
    yield "system", platform.platform()
    for extra, names in PACKAGES.items():
        missing = Message("not installed (pip install 'rcv-py[{0}]')", extra) if extra else "not installed"
        for name in names:
            try:
                yield name, version(name)
            except PackageNotFoundError:
                yield name, missing


def versions_text() -> str:
    """The same as lines: `rcv 1.2.3` first, for programs to parse."""
    return "".join(f"{name} {number}\n" for name, number in versions())
