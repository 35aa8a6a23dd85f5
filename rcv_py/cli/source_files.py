"""Which source file somebody means by a name on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from rcv_py.base.errors import UsageError
from rcv_py.base.numbers import MAX_DIGITS
from rcv_py.base.paths import short_paths
from rcv_py.model.code import SourceFile

_TOLD = 5


def find_place(sources: Sequence[SourceFile], text: str) -> tuple[int, int]:
    """Return the file and the line (0: none) of `kernel.py`, `kernels/kernel.py` or `kernel.py:62`.

    A path may be given from its end.  Raise UsageError if no file or several fit.
    """
    path, _, number = text.rpartition(":")
    fits = _fitting(sources, text)
    line = 0
    if not fits and path and number.isascii() and number.isdigit() and len(number) <= MAX_DIGITS:
        fits, line = _fitting(sources, path), int(number)
    if not fits:
        names = list(short_paths(source.path for source in sources).values())
        raise UsageError(f"No instruction comes from a file {text!r}.", hint=_listed("There are", names))
    if len(fits) > 1:
        names = list(short_paths(sources[file].path for file in fits).values())
        raise UsageError(f"{text} names {len(fits):,} files.", hint=_listed("Add a folder:", names))
    lines = sources[fits[0]].lines
    if line and lines is not None and line > len(lines):
        raise UsageError(f"{path} has no line {line:,}.", hint=f"The last one is {len(lines):,}.")
    return fits[0], line


def _fitting(sources: Sequence[SourceFile], path: str) -> list[int]:
    exact = [file for file, source in enumerate(sources) if source.path == path]
    if exact:
        return exact
    wanted = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    if not wanted:
        return []
    return [
        file
        for file, source in enumerate(sources)
        if [part for part in source.path.replace("\\", "/").split("/") if part not in ("", ".")][
            -len(wanted) :
        ]
        == wanted
    ]


def _listed(start: str, names: list[str]) -> str:
    shown = ", ".join(names[:_TOLD])
    more = f" and {len(names) - _TOLD:,} others" if len(names) > _TOLD else ""
    return f"{start} {shown}{more}." if names else "No instruction has a source place."
