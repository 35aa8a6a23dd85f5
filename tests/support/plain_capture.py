"""A capture as plain Python lists, read with json alone: what independent sums are made of.

Nothing of rcv is imported here, on purpose: numbers derived from this share no code with what they check.
"""

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

_FILE = re.compile(r"se(\d+)_sm(\d+)_sl(\d+)_wv(\d+)\.json")
LABEL = (";", "label")


@dataclass
class Token:
    """One execution; times are on the common axis."""

    time: int
    kind: int
    stall: int
    duration: int
    line: int
    gap: int  # idle cycles in front of it

    @property
    def issue(self) -> int:
        """When it could go on."""
        return self.time + self.stall

    @property
    def end(self) -> int:
        """When it was over."""
        return self.time + self.duration


@dataclass
class PlainWave:
    """One traced wave."""

    se: int
    simd: int
    slot: int
    number: int
    begin: int
    end: int
    tokens: list[Token]
    timeline: list[list[int]]
    waits: list[tuple[int, list[int]]]  # line of a wait, lines that it waited for
    cu: int

    @property
    def name(self) -> str:
        """As commands write it."""
        return f"se{self.se}/simd{self.simd}/slot{self.slot}/wv{self.number}"


@dataclass(frozen=True)
class Stay:
    """A wave in a slot, traced or not."""

    se: int
    cu: int
    simd: int
    slot: int
    begin: int
    end: int
    kernel: str


@dataclass
class Plain:
    """What is in the files."""

    code: list[list[object]]
    waves: list[PlainWave]
    stays: list[Stay]  # of all waves that were on the device

    @property
    def lives(self) -> list[tuple[int, int, int]]:
        """Shader engine, begin, end of all waves."""
        return [(stay.se, stay.begin, stay.end) for stay in self.stays]

    def text(self, line: int) -> str:
        """The instruction."""
        return str(self.code[line][0])

    def by_line(self) -> dict[int, list[Token]]:
        """All executions of each line."""
        found: dict[int, list[Token]] = defaultdict(list)
        for wave in self.waves:
            for token in wave.tokens:
                found[token.line].append(token)
        return found

    def simds(self) -> dict[tuple[int, int], list[PlainWave]]:
        """The waves of each SIMD."""
        found: dict[tuple[int, int], list[PlainWave]] = defaultdict(list)
        for wave in self.waves:
            found[wave.se, wave.simd].append(wave)
        return found


@cache
def plain(folder: Path) -> Plain:
    """Read a capture of the plain kind: format 3.0, rows numbered in order."""
    code = json.loads((folder / "code.json").read_text())["code"]
    assert [row[2] for row in code] == list(range(len(code)))
    shift = _offsets(folder)
    waves = [
        _wave(path, match, shift)
        for path in sorted(folder.iterdir())
        if (match := _FILE.fullmatch(path.name)) is not None
    ]
    return Plain(code, waves, _stays(folder, shift))


def _wave(path: Path, match: re.Match[str], shift: dict[int, int]) -> PlainWave:
    se, simd, slot, number = map(int, match.groups())
    wave = json.loads(path.read_text())["wave"]
    add = shift.get(se, 0)
    tokens, before = [], wave["begin"]
    for time, kind, stall, duration, line in wave["instructions"] or []:
        tokens.append(Token(time + add, kind, stall, duration, line, max(0, time - before)))
        before = max(before, time + duration)
    waits = [(line, [place for place, _ in named]) for line, named in wave["waitcnt"] or []]
    begin, end = wave["begin"] + add, wave["end"] + add
    timeline = wave["timeline"] or []
    return PlainWave(se, simd, slot, number, begin, end, tokens, timeline, waits, wave["cu"])


def _offsets(folder: Path) -> dict[int, int]:
    """Cycles to add to the times of each shader engine, so that all count from the same moment."""
    document = json.loads((folder / "realtime.json").read_text())
    ends = {}
    for name, samples in document.items():
        if name.startswith("SE") and samples:
            ends[int(name[2:])] = (min(samples), max(samples))
    if len(ends) < 2:
        return {}
    ticks = sum(last[1] - first[1] for first, last in ends.values())
    cycles = sum(last[0] - first[0] for first, last in ends.values())
    rate = Fraction(ticks, cycles)
    origin = {se: first[1] - first[0] * rate for se, (first, _) in ends.items()}
    return {se: round((value - min(origin.values())) / rate) for se, value in origin.items()}


def _stays(folder: Path, shift: dict[int, int]) -> list[Stay]:
    """Every wave in occupancy.json."""
    found = []
    document = json.loads((folder / "occupancy.json").read_text())
    names = document["dispatches"]
    for key, events in document.items():
        if not key.isdigit():
            continue
        se, add = int(key), shift.get(int(key), 0)
        begun: dict[tuple[int, int, int], tuple[int, int]] = {}
        for time, cu, simd, slot, is_start, of in events or []:
            if is_start:
                begun[cu, simd, slot] = time, of
            else:
                begin, dispatch = begun.pop((cu, simd, slot))
                found.append(Stay(se, cu, simd, slot, begin + add, time + add, names[str(dispatch)]))
    return found
