"""The user's selection as the minimum that identifies a place, its text forms, and the places visited.

```
se3/simd1/slot0/wv0:instruction 118 hit 8@126704  wave, instruction, execution, cycle; any may be absent
instruction 118    line 118    118    @126704  an instruction, in three ways; a cycle
line-118    wave-se3-sm1-sl0-wv0@126704  anchors of a report, with `#` or a whole address in front or not
```

Texts count hits from 1; documents and `Selection` count from 0.  `#7` in texts of older versions is read as
the 8th hit.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from rcv_py.base.record import Value
from rcv_py.base.text import MAX_DIGITS, Message
from rcv_py.model.ids import MAX_SHOWN, WaveId
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow

_N = rf"\d{{1,{MAX_DIGITS}}}"
_NTH = rf"[1-9]\d{{0,{MAX_DIGITS - 1}}}"
_CYCLE = rf"(?:@(?P<cycle>-?{_N}))?"
_FORMS = tuple(
    re.compile(pattern + _CYCLE)
    for pattern in (
        rf"(?P<wave>se{_N}/simd{_N}/slot{_N}/wv{_N})?"
        rf"(?::?(?:instruction|line) (?P<line>{_N})(?:#(?P<hit>{_N})| hit (?P<nth>{_NTH}))?)?",
        rf"(?P<line>{_N})",
        rf"line-(?P<line>{_N})",
        rf"wave-se(?P<se>{_N})-sm(?P<simd>{_N})-sl(?P<slot>{_N})-wv(?P<wid>{_N})",
    )
)
_ANCHOR = re.compile(r".*\.html?#(?P<anchor>.+)", re.DOTALL)
MAX_VISITS = 200


class Selection(Value):
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
        line = "" if self.line is None else f":instruction {self.line}"
        hit = "" if self.hit is None or not line else f" hit {self.hit + 1}"
        return f"{self.wave or ''}{line}{hit}"

    @classmethod
    def parse(cls, text: str) -> Selection:
        """Read the output of `str` (wave, line and hit); raise ValueError for anything else."""
        match = _FORMS[0].fullmatch(text.strip())
        if match is None or match["cycle"]:
            raise ValueError(Message("{0!r} is not a place in a trace", text))
        return _selection(match.groupdict())


class MeasuredPair(Value):
    """Two instructions whose distance is measured; the second is None until the user selects it."""

    first: int  # code row
    last: int | None = None  # code row
    begin: int | None = None  # cycle: start of the chosen execution of the first


class Hover(Value):
    """The item under the mouse, in any view."""

    wave: WaveId | None = None
    line: int | None = None
    time: int | None = None
    source: tuple[int, int] | None = None


class SearchQuery(NamedTuple):
    """A search text for code and labels."""

    text: str = ""
    is_case_sensitive: bool = False
    is_regex: bool = False


class SelectedPlace(Value):
    """A place to select, and the cycle to show; `cycle` is aligned, None: the cycle of the selection."""

    selection: Selection = Selection()
    cycle: int | None = None

    @classmethod
    def parse(cls, text: str) -> SelectedPlace:
        """Read any of the forms above; raise ValueError for anything else."""
        text = text.strip()
        anchor = _ANCHOR.fullmatch(text)
        text = (anchor["anchor"] if anchor else text).removeprefix("#")
        match = next((found for form in _FORMS if (found := form.fullmatch(text))), None) if text else None
        if match is None:
            raise ValueError(Message("{0!r} is not a place in a trace", text[:MAX_SHOWN]))
        parts = match.groupdict()
        return cls(_selection(parts), int(parts["cycle"]) if parts["cycle"] else None)

    def __str__(self) -> str:
        return f"{self.selection}{'' if self.cycle is None else f'@{self.cycle}'}"

    def why_not(self, trace: Trace) -> str:
        """A sentence with the reason why a trace lacks the place; "" if it has it."""
        wave, line = self.selection.wave, self.selection.line
        if wave is not None and trace.waves.row(wave) is None:
            return Message("The capture has no wave {0}.", wave)
        if line is not None and line >= len(trace.code):
            last = len(trace.code) - 1
            return Message("The capture has no instruction {0}; its last one is {1}.", line, last)
        if self.cycle is not None and not trace.span.begin <= self.cycle <= trace.span.end:
            return Message("The capture has no cycle {0}; it is about {1}.", self.cycle, trace.span)
        return ""


def _selection(parts: dict[str, str | None]) -> Selection:
    numbers = {name: int(digits) for name, digits in parts.items() if digits and digits.isdigit()}
    wave = WaveId.parse(str(parts["wave"])) if parts.get("wave") else None
    if "wid" in numbers:
        wave = WaveId(*(numbers[name] for name in ("se", "simd", "slot", "wid")))
    hit = numbers["nth"] - 1 if "nth" in numbers else numbers.get("hit")
    return Selection(wave, numbers.get("line"), hit)


def moved(place: Selection, before: Trace, after: Trace) -> Selection:
    """Return the place in another trace of the same capture, which may have more code and sources.

    An instruction is found by its address in its code object; parts that the other trace lacks are left out.
    """
    line = None if place.line is None else _same_row(place.line, before, after)
    lines = None
    if place.lines is not None:
        first, last = (_same_row(row, before, after) for row in (place.lines[0], place.lines[1] - 1))
        lines = (first, last + 1) if first is not None and last is not None and first <= last else None
    source = None
    if place.source is not None:
        paths = [file.path for file in after.sources]
        path = before.sources[place.source[0]].path
        source = (paths.index(path), place.source[1]) if path in paths else None
    wave = place.wave if place.wave is not None and after.waves.row(place.wave) is not None else None
    return Selection(wave, line, None if line is None else place.hit, source, lines)


def _same_row(row: int, before: Trace, after: Trace) -> int | None:
    old, new = before.code, after.code
    if not 0 <= row < len(old):
        return None
    is_same = (new.address == old.address[row]) & (new.is_label == old.is_label[row])
    rows = np.flatnonzero(is_same & (new.codeobj == old.codeobj[row]))
    return int(rows[0]) if len(rows) else None


class Visit(Value):
    """A selection of the user and its time window."""

    selection: Selection
    window: TimeWindow


class History:
    """Visited places, oldest first, and the index of the current place."""

    def __init__(self) -> None:
        self.visits: list[Visit] = []
        self.position = -1

    def push(self, visit: Visit) -> None:
        """Add a visit and drop later ones; the same selection again only updates its window."""
        if self.visits and self.visits[self.position].selection == visit.selection:
            self.visits[self.position] = visit
            return
        del self.visits[self.position + 1 :]
        self.visits.append(visit)
        del self.visits[:-MAX_VISITS]
        self.position = len(self.visits) - 1

    def replace(self, visit: Visit) -> None:
        """Replace the current visit."""
        if self.visits:
            self.visits[self.position] = visit

    def go(self, position: int) -> Visit | None:
        """Go to the visit at `position`; None if there is none."""
        if not 0 <= position < len(self.visits):
            return None
        self.position = position
        return self.visits[position]

    def can_go(self, by: int) -> bool:
        """Whether there is a visit that many places later, earlier if negative."""
        return 0 <= self.position + by < len(self.visits)
