"""A place as people hand it on: a wave, a line, an execution, a moment; also an anchor of a report.

```
se3/simd1/slot0/wv0:line 118#7@126704    wave, line, the 8th time it ran there, cycle; any may be absent
line 118    118    @126704               a line; a line; a cycle
line-118    wave-se3-sm1-sl0-wv0@126704  anchors of a report, with `#` or a whole address in front or not
```
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rcv_py.model.ids import MOST_SHOWN, WaveId
from rcv_py.model.trace import Trace
from rcv_py.state.selection import Selection

MOST_DIGITS = 18
_N = rf"\d{{1,{MOST_DIGITS}}}"
_CYCLE = rf"(?:@(?P<cycle>-?{_N}))?"
_FORMS = tuple(
    re.compile(pattern + _CYCLE)
    for pattern in (
        rf"(?P<wave>se{_N}/simd{_N}/slot{_N}/wv{_N})?(?::?line (?P<line>{_N})(?:#(?P<hit>{_N}))?)?",
        rf"(?P<line>{_N})",
        rf"line-(?P<line>{_N})",
        rf"wave-se(?P<se>{_N})-sm(?P<simd>{_N})-sl(?P<slot>{_N})-wv(?P<wid>{_N})",
    )
)
_ANCHOR = re.compile(r".*\.html?#(?P<anchor>.+)", re.DOTALL)

NOWHERE = Selection()


@dataclass(frozen=True, slots=True)
class Place:
    """What to select, and the cycle to show; `cycle` is aligned, None: wherever the selection is."""

    selection: Selection = NOWHERE
    cycle: int | None = None

    @classmethod
    def parse(cls, text: str) -> Place:
        """Read any of the forms above; raise ValueError for anything else."""
        text = text.strip()
        anchor = _ANCHOR.fullmatch(text)
        text = (anchor["anchor"] if anchor else text).removeprefix("#")
        match = next((found for form in _FORMS if (found := form.fullmatch(text))), None) if text else None
        if match is None:
            raise ValueError(f"{text[:MOST_SHOWN]!r} is not a place in a trace")
        parts = match.groupdict()
        numbers = {name: int(parts[name]) for name in ("line", "hit", "cycle") if parts.get(name)}
        selection = Selection(_wave(parts), numbers.get("line"), numbers.get("hit"))
        return cls(selection, numbers.get("cycle"))

    def __str__(self) -> str:
        return f"{self.selection}{'' if self.cycle is None else f'@{self.cycle}'}"

    def why_not(self, trace: Trace) -> str:
        """Why a trace has no such place, as a sentence; "" if it has."""
        wave, line = self.selection.wave, self.selection.line
        if wave is not None and trace.waves.row(wave) is None:
            return f"The capture has no wave {wave}."
        if line is not None and line >= len(trace.code):
            return f"The capture has no line {line}; its last one is {len(trace.code) - 1}."
        if self.cycle is not None and not trace.span.begin <= self.cycle <= trace.span.end:
            return f"The capture has no cycle {self.cycle}; it is about {trace.span}."
        return ""


def _wave(found: dict[str, str | None]) -> WaveId | None:
    if found.get("wave"):
        return WaveId.parse(str(found["wave"]))
    parts = [found.get(name) for name in ("se", "simd", "slot", "wid")]
    return None if None in parts else WaveId(*(int(str(part)) for part in parts))
