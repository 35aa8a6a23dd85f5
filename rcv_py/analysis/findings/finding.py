"""A finding: a named pattern, what it can cost at most, where it is seen, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rcv_py.base.text import count, percent
from rcv_py.model.ids import WaveId

SIMD_CYCLES = "cycles in which a SIMD held a traced wave"
WAVE_CYCLES = "cycles that traced waves lived"
DEVICE_CYCLES = "cycles from the first start of a wave to the last end"
SAMPLES = "PC samples"

# How findings are listed: ranked by what is at stake, or behind those, as a frame or a warning for all.
RANKED, CONTEXT, CAUTION = "ranked", "context", "caution"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A place where a finding can be seen; `kind` says which of the other fields are meant.

    line: a code row; wave: a wave; token: one execution, by wave, row of its token, begin and end;
    window: a range of time; source: a source place.
    """

    kind: str
    text: str
    line: int = -1  # code row
    wave: WaveId | None = None
    token: int = -1  # row of the wave's tokens
    begin: int = 0  # cycles, aligned
    end: int = 0
    source: tuple[int, int] | None = None  # index into Trace.sources, 1-based line

    @property
    def place(self) -> str:
        """Where, in a few words: `line 62`, a wave, or a range of cycles."""
        if self.kind == "line":
            return f"line {self.line}"
        if self.kind == "window":
            return f"cycles {count(self.begin)} to {count(self.end)}"
        if self.kind == "source":
            return self.text
        if self.kind == "wave":
            return f"{self.wave}"
        line = f" line {self.line}" if self.line >= 0 else ""
        return f"{self.wave}{line} at {count(self.begin)} to {count(self.end)}"

    def __str__(self) -> str:
        return self.place if self.kind == "source" or not self.text else f"{self.place}: {self.text}"

    def as_json(self) -> dict[str, Any]:
        """Plain values; what the kind does not use is left out."""
        found: dict[str, Any] = {"kind": self.kind, "text": self.text}
        if self.line >= 0:
            found["line"] = self.line
        if self.wave is not None:
            found["wave"] = str(self.wave)
        if self.kind == "token":
            found["token"] = self.token
        if self.kind in ("token", "window"):
            found |= {"begin": self.begin, "end": self.end}
        if self.source is not None:
            found["source"] = {"file": self.source[0], "line": self.source[1]}
        return found


@dataclass(frozen=True, slots=True)
class Finding:
    """One pattern in one capture."""

    name: str  # of the pattern: short, stable, for scripts and filters
    title: str  # one line for people
    cycles: int  # at stake
    is_upper_bound: bool  # no change of this alone can win more than `cycles`; else it is a cost, not a gain
    share: float  # of `of`, 0 to 1
    sentence: str  # what is seen, with numbers
    remedy: str  # what to do
    evidence: tuple[Evidence, ...] = ()
    assumption: str = ""  # what is taken for granted, and how sure it is
    exposed: int = 0  # cycles in which nothing happened, summed over waves; `cycles` is at most this
    attributed: int = 0  # stalled and idle cycles of all waves, whether covered by others or not
    unit: str = SIMD_CYCLES  # what `share` is a share of
    rank: str = RANKED

    @property
    def stake(self) -> str:
        """`at most 8,296 cycles (4.7 %)`, or what else the number is."""
        if not self.cycles:
            return ""
        unit = "samples" if self.unit == SAMPLES else "cycles"
        bound = "at most" if self.is_upper_bound else "about"
        return f"{bound} {count(self.cycles)} {unit} ({percent(round(self.share * 1_000_000), 1_000_000)})"

    def as_json(self) -> dict[str, Any]:
        """Plain values, in a stable order."""
        names = (
            "name",
            "title",
            "rank",
            "cycles",
            "is_upper_bound",
            "share",
            "unit",
            "exposed",
            "attributed",
        )
        found = {name: getattr(self, name) for name in names}
        found["share"] = round(self.share, 6)
        found |= {name: getattr(self, name) for name in ("sentence", "remedy", "assumption")}
        return found | {"evidence": [one.as_json() for one in self.evidence]}


@dataclass(frozen=True, slots=True)
class KeyNumber:
    """A number that frames all findings."""

    id: str
    name: str
    text: str
    of: str = ""
    meaning: str = ""


@dataclass(frozen=True, eq=False)
class Findings:
    """All findings of a capture, ranked; what they are measured against, and how much was looked at."""

    numbers: tuple[KeyNumber, ...]
    findings: tuple[Finding, ...]
    hidden: int  # how many were below the threshold
    waves: int  # looked at
    of: int  # traced waves
    resident: int  # cycles in which a SIMD held a wave, summed over SIMDs
    bubbles: int  # of these, cycles in which none of them issued and no unit of the SIMD worked
    assumption: str
    why: str = ""  # why there is nothing, or what is missing
    no_issue: int = 0  # of the resident cycles those in which no wave of the SIMD issued

    @property
    def headline(self) -> str:
        """The first finding in one line, or why there is none."""
        if self.findings:
            first = self.findings[0]
            return f"{first.title}: {first.stake}" if first.stake else first.title
        return self.why or "Nothing stands out."

    @property
    def partial(self) -> str:
        """How much was looked at, "" if all of it was."""
        return f"{self.waves:,} of {self.of:,} waves" if self.waves < self.of else ""
