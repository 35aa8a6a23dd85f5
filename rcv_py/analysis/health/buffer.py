"""Detection of a record that was cut off.  The files have no flag for it, but a cut leaves signs.

```
wave a  ──────────────── s_endpgm
wave b  ────────────────────────────|        no s_endpgm, and several stop at one clock:
wave c       ───────────────────────|        the trace buffer was full
wave d                 start ········        occupancy has its start, or even its end, but there is no file
```
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.core.occupancy import residencies
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, added, by_field, stacked
from rcv_py.analysis.core.saturated import Sums
from rcv_py.analysis.health.note import HealthNote, Setting, number
from rcv_py.analysis.health.traced_units import engine_mask, missing_lives, traced_lives
from rcv_py.analysis.program.branches import ends_of
from rcv_py.analysis.waves.barriers import last_ends
from rcv_py.base.problems import Severity
from rcv_py.base.record import Value
from rcv_py.base.runs import ends_run
from rcv_py.base.text import count
from rcv_py.model.kinds import EventKind
from rcv_py.model.trace import Trace

# Waves whose record ends this close to the last event of their shader engine were cut, not finished:
# on a busy compute unit something is recorded every few cycles.
SAME_CLOCK = 256  # cycles
LARGER_BUFFER = "0x40000000"  # 1 GB: four times the largest default; rocprofv3 takes 1 MB to 2 GB
SLOWEST_COUNTERS = 16  # of att_activity: counters share the buffer


class Cut(Value):
    """Signs of a record that was cut off; numbers of waves, and of hardware events."""

    unfinished: int  # traced waves whose last instruction is not s_endpgm
    of: int  # traced waves that were checked
    at_once: int  # unfinished waves that stopped at the last clock of their shader engine
    without_file: int  # waves on a traced SIMD without a wave file
    split_workgroups: int  # workgroups with a file for some waves but not for all; 0 if not recorded
    no_end: int  # waves with a recorded start but no end, on any compute unit
    no_start: int  # waves with a recorded end but no start
    losses: int  # number of times that the trace unit lost packets
    stalls: int  # number of times that it stalled the shader engine because it could not write


_TOO_LOW = "Totals, executions and durations are too low, and what happened after the cut is missing."
# Statements about a record: the first case with a sign is taken.
# fmt: off
_CASES = (
    (("unfinished", "without_file"), Severity.ERROR, "The record was cut off", _TOO_LOW),
    (("losses",), Severity.ERROR, "The trace lost packets", _TOO_LOW),
    (("no_end",), Severity.WARNING, "Waves were still running when the recording ended",
        "Occupancy after that moment is a guess, and the tail of the kernel may be missing."),
    (("stalls",), Severity.WARNING, "The trace unit stalled the shader engine",
        "Some stall comes from the recording, not from the kernel."),
)
# fmt: on
_SIGNS = {
    "unfinished": "waves without s_endpgm",
    "at_once": "of them stopped at one clock",
    "without_file": "waves on traced SIMDs without a file",
    "split_workgroups": "workgroups with some waves missing",
    "no_end": "waves seen to start but not to end",
    "no_start": "waves seen to end but not to start",
    "losses": "times that packets were lost",
    "stalls": "times that the trace unit stalled",
}


def cut(trace: Trace, ends: Ends | None) -> Cut:
    """Return the signs of a cut; if no waves were read, `unfinished` comes from code.json's totals."""
    if ends is None:  # every whole wave runs s_endpgm once, so the others were cut
        code, is_end = trace.code, ends_of(trace.code)
        of, at_once = int(np.count_nonzero(trace.waves.size > 0)), 0
        is_known = is_end.any() and code.hits.any()
        unfinished = max(0, of - int(code.hits[is_end].sum())) if is_known else 0
    else:
        unfinished, of, at_once, _ = ends
    lives = residencies(trace.occupancy)
    without_file, split = _without_file(trace, ends)
    kinds = np.zeros(0) if trace.events is None else trace.events.kind
    return Cut(
        unfinished=unfinished,
        of=of,
        at_once=at_once,
        without_file=without_file,
        split_workgroups=split,
        no_end=int(np.count_nonzero(lives.is_open_end)),
        no_start=int(np.count_nonzero(lives.is_open_start)),
        losses=int(np.count_nonzero(kinds == EventKind.PACKET_LOSS)),
        stalls=int(np.count_nonzero(kinds == EventKind.TT_STALL_BEGIN)),
    )


def buffer(trace: Trace, ends: Ends | None = None) -> HealthNote | None:
    """Return a note if the record was cut off."""
    signs = cut(trace, ends)
    numbers = {name: getattr(signs, name) for name in _SIGNS}
    case = next((case for case in _CASES if any(numbers[name] for name in case[0])), None)
    if case is None:
        return None
    _, severity, title, consequence = case
    texts, of = {"unfinished": "{0} of {1}"}, count(signs.of)
    evidence = (number(_SIGNS[name], n, texts.get(name, "{0}"), of) for name, n in numbers.items() if n)
    settings: dict[str, Setting] = {"att_buffer_size": LARGER_BUFFER}
    engines, waves = np.unique(trace.waves.se, return_counts=True)
    if len(engines) > 1:
        settings["att_shader_engine_mask"] = engine_mask(engines[[np.argmax(waves)]])
    if trace.counters and trace.architecture.has_trace_counters:
        settings["att_activity"] = SLOWEST_COUNTERS
    return HealthNote(
        name="buffer",
        severity=severity,
        title=title,
        evidence=tuple(evidence),
        consequence=consequence,
        remedy="Record again with a larger buffer, which all shader engines share, or fewer of them; if "
        "memory for it cannot be had, trace one shader engine and fewer counters.",
        settings=settings,
    )


class Ends(NamedTuple):
    """Ends of the records of the waves that were read."""

    unfinished: int  # waves whose last instruction is not an end of the program
    of: int  # waves
    at_once: int  # unfinished waves that stopped at the last clock of their shader engine
    files: Sums  # se << 40 | workgroup, where it is known, and waves


class _Stops(Value):
    """Times at which the records of some waves stop."""

    waves: int
    unfinished: np.ndarray  # int64 [n, 2], engine and cycle at which the record stops
    latest: np.ndarray  # int64 [engines, 2], engine and last cycle of any of its waves
    files: Sums


def _map(trace: Trace, parcel: Parcel) -> _Stops:
    tokens = parcel.own
    ends = np.append(ends_of(trace.code), True)  # entry -1: an unknown line proves nothing
    has, last = np.diff(tokens.first) > 0, np.maximum(tokens.first[1:] - 1, 0)
    line = tokens.line[last] if len(tokens) else np.zeros(len(has), dtype=np.int64)
    line = np.where((line >= 0) & (line < len(ends) - 1), line, len(ends) - 1)
    stops = np.column_stack([tokens.engines, last_ends(tokens)])
    names = [wave.id.se << 40 | wave.workgroup for wave in tokens.waves if wave.workgroup >= 0]
    files = np.unique(np.array(names, dtype=np.int64), return_counts=True)
    return _Stops(len(stops), stops[~(has & ends[line])], _latest([stops]), files)


def _latest(parts: Sequence[np.ndarray]) -> np.ndarray:
    stops = np.concatenate([np.zeros((0, 2), dtype=np.int64), *parts])
    ordered = stops[np.lexsort(stops.T[::-1])]
    return ordered[ends_run(ordered[:, 0])]


_MERGE = by_field(_Stops, waves=sum, unfinished=stacked(2), latest=_latest, files=added(1))


def _finish(trace: Trace, part: _Stops) -> Ends:
    if not ends_of(trace.code).any():
        return Ends(0, part.waves, 0, part.files)
    engine, stop = part.unfinished.T
    latest = part.latest[np.searchsorted(part.latest[:, 0], engine), 1]
    at_once = int(np.count_nonzero(stop >= latest - SAME_CLOCK))
    return Ends(len(stop), part.waves, at_once, part.files)


ENDS = Reduction(_map, _MERGE, _finish)


def _without_file(trace: Trace, ends: Ends | None) -> tuple[int, int]:
    """Number of waves that began and ended on a traced SIMD but have no file, and of workgroups split so."""
    if not len(trace.occupancy) or not len(trace.waves):
        return 0, 0
    lives = residencies(trace.occupancy)
    complete = traced_lives(trace, lives) & ~lives.is_open_start & ~lives.is_open_end
    lost = missing_lives(lives, complete, trace.waves)
    if not lost:
        return 0, 0
    need = Counter((lives.se[complete].astype(np.int64) << 40 | lives.workgroup[complete]).tolist())
    files = () if ends is None else zip(*(column.tolist() for column in ends.files), strict=True)
    return lost, sum(have < need[name] for name, have in files)
