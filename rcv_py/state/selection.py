"""Where the user is, as the least that finds the place again."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rcv_py.model.ids import WaveId

_PLACE = re.compile(r"(?P<wave>se\d+/simd\d+/slot\d+/wv\d+)?(:line (?P<line>\d{1,18})(#(?P<hit>\d{1,18}))?)?")


@dataclass(frozen=True, slots=True)
class Selection:
    """A wave, a code line, the n-th time that wave ran the line, and a source place; any may be absent.

    `line` is a row of the code table, `hit` counts from 0, `source` is (index into Trace.sources, 1-based
    line).  `lines` is a marked range of code rows [first, stop), as a hotspot bar selects it.
    """

    wave: WaveId | None = None
    line: int | None = None
    hit: int | None = None
    source: tuple[int, int] | None = None
    lines: tuple[int, int] | None = None

    def __str__(self) -> str:
        line = "" if self.line is None else f":line {self.line}"
        hit = "" if self.hit is None or not line else f"#{self.hit}"
        return f"{self.wave or ''}{line}{hit}"

    @classmethod
    def parse(cls, text: str) -> Selection:
        """Read back what `str` wrote (wave, line and hit); raise ValueError for anything else."""
        match = _PLACE.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"{text!r} is not a place in a trace")
        wave, line, hit = match["wave"], match["line"], match["hit"]
        return cls(
            WaveId.parse(wave) if wave else None,
            None if line is None else int(line),
            None if hit is None else int(hit),
        )


@dataclass(frozen=True, slots=True)
class Hover:
    """What the mouse is over, in whatever view."""

    wave: WaveId | None = None
    line: int | None = None
    time: int | None = None
    source: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What the user searches for in code text and labels."""

    text: str = ""
    is_case_sensitive: bool = False
    is_regex: bool = False
