"""What a measurement is, and the one table all of them go into."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asks for."""

    full: bool = False  # also what takes minutes or gigabytes
    only: str = ""  # a part of the names of the measurements to run


@dataclass(frozen=True, slots=True)
class Row:
    """One measured number beside its limit; the limit holds for 2 cores without a GPU."""

    name: str
    measured: float
    limit: float | None  # None: for information
    unit: str = ""
    digits: int = 2

    @property
    def is_ok(self) -> bool:
        return self.limit is None or self.measured <= self.limit

    def cells(self) -> tuple[str, str, str, str]:
        verdict = "" if self.limit is None else "ok" if self.is_ok else "OVER"
        limit = "" if self.limit is None else f"≤ {self._text(self.limit)}"
        return self.name, self._text(self.measured), limit, verdict

    def _text(self, value: float) -> str:
        return f"{value:,.{self.digits}f} {self.unit}".rstrip()


Measure = Callable[[Options], Iterable[Row]]
MEASURES: dict[str, Measure] = {}


def measure(name: str) -> Callable[[Measure], Measure]:
    """Function decorator: register a measurement; it yields rows, each as soon as it is known."""

    def register(function: Measure) -> Measure:
        MEASURES[name] = function
        return function

    return register


def discover() -> dict[str, Measure]:
    """Import every module of this package and return the measurements."""
    import bench  # noqa: PLC0415 - the package is only known to exist here

    for module in pkgutil.iter_modules(bench.__path__):
        if module.name != "__main__":
            importlib.import_module(f"bench.{module.name}")
    return MEASURES


HEADER = ("measurement", "measured", "limit", "")


def lines(rows: Iterable[Row]) -> Iterable[str]:
    """The table as text, line by line: numbers right-aligned."""
    widths = (60, 14, 14, 4)
    for cells in (HEADER, *(row.cells() for row in rows)):
        yield " ".join(f"{cell:{way}{width}}" for cell, way, width in zip(cells, "<>><", widths, strict=True))
