"""Data of the bars next to the instructions: a table of parts by code line for each mode.

```
mode            lanes  parts, from the left
TOTAL             1    stall, issue, idle
NONHIDDEN         1    stall, issue, idle that nothing hid, then what was hidden
KINDS             1    idle, and the latency by kind of token
REASONS           1    stalled PC samples by reason, and issued samples
CAUSES            1    stall by cause, then idle
LATENCY_STALL     2    latency and idle above, stall below
MEMORY            1    stall, issue, mean memory latency; whiskers of one standard deviation
MEMORY_WAITS      1    median memory latency; a whisker to the 90th percentile
```
Every part is at least 0 and the parts of a line add up to its cost: latency is clipped at 0, stall at the
latency, each hidden part at its own part.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.core.cost_columns import CostColumns, split_cycles
from rcv_py.analysis.core.saturated import sums
from rcv_py.analysis.cost.hotspot import HotspotBins
from rcv_py.analysis.cost.pc_samples import reason_name
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending
from rcv_py.model.code import CodeTable
from rcv_py.model.kinds import KIND_NAME, KIND_TEXT, TokenKind


class Annotation(Enum):
    """A mode of the bars; the value is its name on screen, `heading` its name in a column."""

    TOTAL = "Total latency", "cost"
    NONHIDDEN = "Non-hidden latency", "not hidden"
    KINDS = "Kinds and idle", "kinds"
    CAUSES = "Stall causes", "causes"
    REASONS = "Stall reasons", "reasons"
    LATENCY_STALL = "Latency + stall", "stall below"
    MEMORY = "Memory latency", "memory"
    MEMORY_WAITS = "Memory, by waits", "memory"

    heading: str

    def __new__(cls, title: str, heading: str) -> Annotation:
        mode = object.__new__(cls)
        mode._value_, mode.heading = title, heading
        return mode


class Ingredients(Value):
    """Inputs of the bars; None is not known (yet).

    `hidden` is a HiddenLatency; `causes` has line, cause, stall, idle (several rows a line); `memory` has
    line, mean, std, issue, stall, samples; `waits` has line, median, p90.
    """

    code: CodeTable
    costs: CostColumns
    show_idle: bool = True
    hidden: Any = None
    kinds: HotspotBins | None = None  # one bin a line
    memory: Any = None
    waits: Any = None
    causes: Any = None


class Part(Value):
    """A colour of the bars; `table` names the table it comes from."""

    name: str
    meaning: str
    table: str  # "role", "kind", "reason", "cause", "own_kind"
    key: str | int = ""
    lane: int = 0


class LineBars(Value):
    """One bar a code line and lane, made of parts."""

    mode: Annotation
    parts: tuple[Part, ...]
    value: np.ndarray  # int64 or float64 [parts, code rows], at least 0
    unit: str  # "cycles", "samples", "cycles a time"
    of: str  # the summed or averaged quantity, for a sentence
    lanes: int = 1
    low: np.ndarray | None = None  # float64 [code rows], ends of the whisker; NaN where there is none
    high: np.ndarray | None = None
    is_sum: bool = True  # whether the bars of several lines may be added up

    @property
    def total(self) -> np.ndarray:
        """The length of each line's bar in the first lane; [code rows]."""
        first = np.array([part.lane == 0 for part in self.parts], dtype=bool)
        return self.value[first].sum(axis=0)

    @property
    def largest(self) -> float:
        """The longest bar, whiskers included: the common scale."""
        top = float(self.total.max(initial=0))
        return top if self.high is None else max(top, float(np.nanmax(self.high, initial=0.0)))


STALL = Part("stall", "waited to issue", "role", "stall")
ISSUE = Part("issue", "issued or executed", "role", "issue")
IDLE = Part("idle", "idle time before it", "role", "idle")
FAINT_IDLE = Part("idle", "idle time before it", "role", "line")  # the kinds have greys of their own
HIDDEN = Part("hidden", "hidden by other waves of the same SIMD; an estimate", "role", "hidden")
ISSUED = Part("issued", "samples that did issue", "role", "idle")
MEMORY = Part("memory", "from issue to return", "kind", int(TokenKind.VMEM))
_EACH = "cycles per execution"


_NO_ROWS = {
    Annotation.MEMORY: "No streamed level counters: record SQ_INST_LEVEL_VMEM or SQ_INST_LEVEL_LDS.",
    Annotation.MEMORY_WAITS: "No wait in this capture shows when a memory operation came back.",
}


def why_not(mode: Annotation, has: Ingredients) -> str:
    """Return a sentence on why a mode cannot be shown, "" if it can."""
    code = has.code
    if mode is Annotation.REASONS:
        missing = code.stall_reasons is None or not code.stall_reasons.size
        return "This capture holds no PC samples with stall reasons." if missing else ""
    if code.is_sampled and mode is not Annotation.TOTAL:
        return "This capture holds PC samples and no cycles; record a thread trace."
    needs = {
        Annotation.NONHIDDEN: (has.hidden, "Hidden latency is not computed yet."),
        Annotation.KINDS: (has.kinds, "The waves are not read yet."),
        Annotation.CAUSES: (has.causes, "Causes of stalls are not computed yet."),
        Annotation.MEMORY: (has.memory, "Memory latency is not computed yet."),
        Annotation.MEMORY_WAITS: (has.waits, "Memory latency by waits is not computed yet."),
    }
    value, sentence = needs.get(mode, (True, ""))
    if value is None:
        return sentence
    if mode in (Annotation.MEMORY, Annotation.MEMORY_WAITS) and not len(value.line):
        return getattr(value, "reason", "") or _NO_ROWS[mode]
    return ""


def annotation(mode: Annotation, has: Ingredients) -> LineBars:
    """Return the bars of a mode, or of TOTAL if `why_not` gives a reason against it."""
    if why_not(mode, has):
        mode = Annotation.TOTAL
    return _MAKERS[mode](has)


_Shown = list[tuple[Part, np.ndarray]]


def _bars(mode: Annotation, has: Ingredients, shown: _Shown, unit: str, of: str) -> LineBars:
    nothing = np.zeros(len(has.code), dtype=np.int64)
    value = np.stack([nothing, *(column for _, column in shown)])[1:] * ~has.code.is_label
    lanes = 1 + max((part.lane for part, _ in shown), default=0)
    return LineBars(mode, tuple(part for part, _ in shown), value, unit=unit, of=of, lanes=lanes)


def _total(has: Ingredients) -> LineBars:
    costs = has.costs
    idle, stall, issue = split_cycles(costs.latency, costs.stall, costs.idle, has.show_idle)
    shown = [(STALL, stall), (ISSUE, issue)]
    if has.show_idle and not has.code.is_sampled:
        shown.append((IDLE, idle))
    return _bars(Annotation.TOTAL, has, shown, "samples" if has.code.is_sampled else "cycles", costs.label)


def _nonhidden(has: Ingredients) -> LineBars:
    code = has.code
    idle, stall, issue = split_cycles(code.latency, code.stall, code.idle, has.show_idle)
    hidden = has.hidden.parts(code, has.show_idle)
    seen = [(STALL, stall - hidden[1]), (ISSUE, issue - hidden[2]), (IDLE, idle - hidden[0])]
    return _bars(Annotation.NONHIDDEN, has, [*seen, (HIDDEN, sum(hidden))], "cycles", "Sum (all waves)")


def _kinds(has: Ingredients) -> LineBars:
    assert has.kinds is not None
    shown = [
        (Part(KIND_NAME[kind], KIND_TEXT[kind], "kind", int(kind)), np.maximum(0, has.kinds.cycles[:, kind]))
        for kind in TokenKind
        if has.kinds.cycles[:, kind].any()
    ]
    if has.show_idle:
        shown.append((FAINT_IDLE, np.maximum(0, has.code.idle)))
    return _bars(Annotation.KINDS, has, shown, "cycles", "Sum (loaded waves)")


def _causes(has: Ingredients) -> LineBars:
    table, n = has.causes, len(has.code)
    inside = np.flatnonzero((table.line >= 0) & (table.line < n))
    line, cause, stall = table.line[inside], table.cause[inside], table.stall[inside]
    shown = []
    for one in map(Cause, ascending(cause[stall > 0]).tolist()):
        part = Part(*CAUSE_TEXT[one][:2], "cause", int(one))
        shown.append((part, sums(line, np.where(cause == one, stall, 0), n)))
    if has.show_idle:
        shown.append((FAINT_IDLE, sums(line, table.idle[inside], n)))
    return _bars(Annotation.CAUSES, has, shown, "cycles", "Sum (loaded waves)")


def _reasons(has: Ingredients) -> LineBars:
    code = has.code
    assert code.stall_reasons is not None
    shown = [
        (Part(reason_name(at), "why it did not issue", "reason", at), code.stall_reasons[:, at])
        for at in np.flatnonzero(code.stall_reasons.any(axis=0)).tolist()
    ]
    if code.samples_issued is not None:
        shown.append((ISSUED, code.samples_issued))
    return _bars(Annotation.REASONS, has, shown, "samples", "PC samples")


def _latency_stall(has: Ingredients) -> LineBars:
    costs = has.costs
    idle, stall, issue = split_cycles(costs.latency, costs.stall, costs.idle, has.show_idle)
    latency = Part("latency", "stall and issue, in the colour of its kind", "own_kind")
    above = [(latency, stall + issue), *([(IDLE, idle)] if has.show_idle else [])]
    below = Part("stall", "waited to issue", "role", "stall", lane=1)
    return _bars(Annotation.LATENCY_STALL, has, [*above, (below, stall)], "cycles", costs.label)


def _memory(has: Ingredients) -> LineBars:
    names = ("stall", "issue", "mean", "std")
    *columns, deviation = (_spread(has, has.memory.line, getattr(has.memory, name)) for name in names)
    value = np.maximum(0.0, np.nan_to_num(np.stack(columns)))
    ends = value.sum(axis=0)
    deviation = np.where(deviation > 0, deviation, np.nan)
    of = "means by level counters, whisker one standard deviation"
    low, high, kinds = np.maximum(0.0, ends - deviation), ends + deviation, (STALL, ISSUE, MEMORY)
    return LineBars(Annotation.MEMORY, kinds, value, unit=_EACH, of=of, low=low, high=high, is_sum=False)


def _memory_waits(has: Ingredients) -> LineBars:
    median, high = (_spread(has, has.waits.line, column) for column in (has.waits.median, has.waits.p90))
    is_known = np.isfinite(median) & np.isfinite(high)
    value = np.maximum(0.0, np.nan_to_num(median))[None]
    low, high = (np.where(is_known, column, np.nan) for column in (median, high))
    name, of = Annotation.MEMORY_WAITS, "medians by waits, whisker to the 90th percentile"
    return LineBars(name, (MEMORY,), value, unit=_EACH, of=of, low=low, high=high, is_sum=False)


def _spread(has: Ingredients, line: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Return values of some lines as a column of all lines, NaN elsewhere."""
    n = len(has.code)
    column = np.full(n, np.nan)
    inside = np.flatnonzero((line >= 0) & (line < n))[::-1]  # the first row of a line is kept
    column[line[inside]] = value[inside]
    return column


_MAKERS = {
    Annotation.TOTAL: _total,
    Annotation.NONHIDDEN: _nonhidden,
    Annotation.KINDS: _kinds,
    Annotation.CAUSES: _causes,
    Annotation.REASONS: _reasons,
    Annotation.LATENCY_STALL: _latency_stall,
    Annotation.MEMORY: _memory,
    Annotation.MEMORY_WAITS: _memory_waits,
}
