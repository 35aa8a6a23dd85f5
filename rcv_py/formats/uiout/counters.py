"""se<S>_perfcounter.json and spm.json: hardware counters streamed with the trace."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from rcv_py.base.problems import Affects, Problem, Severity
from rcv_py.formats.input.columns import frozen
from rcv_py.formats.input.files import try_json
from rcv_py.formats.uiout.folder import Listing
from rcv_py.formats.uiout.shapes import number_rows, numbered, tell_skipped
from rcv_py.model.device import CounterSamples, SpmSeries

NAME = re.compile(r"se(\d{1,4})_perfcounter\.json")
SPM = "spm.json"
_AFFECTS = (Affects.COUNTERS,)
_COLUMNS = 7  # time, four values, cu, bank


def read_counters(
    folder: Path, listing: Listing, offsets: Mapping[int, int], problems: list[Problem]
) -> tuple[CounterSamples, ...]:
    """Return the samples of every shader engine that has a file, sorted by engine; times are aligned."""
    found = []
    for match in listing.matching(NAME):
        data = try_json(folder, match.group(), problems, _AFFECTS)
        table, skipped = number_rows(data.get("data") if isinstance(data, dict) else data, _COLUMNS, _COLUMNS)
        tell_skipped(problems, match.group(), skipped, "sample")
        if not len(table) and data is not None:
            _tell_none(problems, match.group())
        elif len(table):
            se = int(match[1])
            found.append(_samples(se, table, offsets.get(se, 0)))
    return tuple(sorted(found, key=lambda samples: samples.se))


def _samples(se: int, table: np.ndarray, offset: int) -> CounterSamples:
    return CounterSamples(
        se,
        frozen(table[:, 0] + offset),
        frozen(np.clip(table[:, 1:5], -(1 << 31), (1 << 31) - 1).astype(np.int32)),
        frozen(np.clip(table[:, 5], -1, 32767).astype(np.int16)),
        frozen(np.clip(table[:, 6], -1, 32767).astype(np.int16)),
    )


def read_spm(folder: Path, listing: Listing, problems: list[Problem]) -> tuple[SpmSeries, ...]:
    """Return the series of spm.json in file order; the time deltas are summed up, not aligned."""
    if SPM not in listing:
        return ()
    data = try_json(folder, SPM, problems, _AFFECTS)
    series, skipped = [], 0
    for counter, place, instance, rows, is_xcc in _places(data):
        table, bad = number_rows(rows, 2, 2)
        skipped += bad
        if len(table):
            time, value = np.cumsum(table[:, 0]), table[:, 1].astype(np.float64)
            series.append(SpmSeries(counter, place, instance, frozen(time), frozen(value), is_xcc))
    if not series and data is not None:
        _tell_none(problems, SPM)
    tell_skipped(problems, SPM, skipped, "sample")
    return tuple(series)


def _tell_none(problems: list[Problem], name: str) -> None:
    hint = "Nothing was counted, or recording was cut short; record the trace again."
    text = f"{name} holds no counter sample that can be used."
    problems.append(Problem(Severity.INFO, name, text, hint, _AFFECTS))


def _places(data: object) -> Iterator[tuple[str, int, int, object, bool]]:
    if not isinstance(data, dict):
        return
    for counter, about in data.items():
        values = about.get("values") if isinstance(about, dict) else None
        names = about.get("dimensions") if isinstance(about, dict) else None
        is_xcc = isinstance(names, list) and names[:1] == ["XCC"]
        for place, instances in numbered(values):
            for instance, rows in numbered(instances):
                yield counter, place, instance, rows, is_xcc
