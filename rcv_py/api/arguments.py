"""What methods take: words out of a few, and waves in every way that a script may hold them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from rcv_py.api.errors import UnequalColumns
from rcv_py.api.table import Table
from rcv_py.base.errors import UsageError
from rcv_py.model.ids import WaveId
from rcv_py.model.trace import Trace

Waves = str | int | WaveId | Table | np.ndarray | Iterable[str | int | WaveId] | None
LoopTable = Literal["loops", "iterations", "phases", "first", "distance", "chains", "barriers"]
OccupancyBy = Literal["se", "kernel", "state"]
Rule = Literal["ours", "reference"]
TableName = Literal["code", "waves", "tokens", "states", "waits", "occupancy", "events", "counters"]
_ONE_WAVE = (str, int, np.integer, WaveId)


def one_of(what: str, word: object, known: Sequence[str]) -> None:
    """Raise UsageError unless the word is one of those."""
    if word not in known:
        raise UsageError(f"{what}={word!r} is not known.", hint=f"There are: {', '.join(known)}.")


def is_population(waves: Waves) -> bool:
    """Whether waves are meant by `working`, `all` or the id of a population."""
    return isinstance(waves, str) and "/" not in waves


def index_rows(trace: Trace, waves: Waves) -> list[int] | None:
    """Return the rows in the wave index of waves that are given one by one, None for all; UsageError."""
    if waves is None:
        return None
    if isinstance(waves, _ONE_WAVE):
        return [index_row(trace, waves)]
    if isinstance(waves, Table):
        return sorted({index_row(trace, name) for name in dict.fromkeys(waves["wave"].tolist())})
    if isinstance(waves, np.ndarray) and waves.dtype == bool:
        if waves.shape != (len(trace.waves),):
            raise UnequalColumns("waves", [len(trace.waves), waves.size])
        return np.flatnonzero(waves).tolist()
    return sorted({index_row(trace, wave) for wave in waves})


def index_row(trace: Trace, wave: str | int | WaveId) -> int:
    """Return the row in the wave index of one wave; raise UsageError if there is none."""
    if not isinstance(wave, int | np.integer):
        return trace.wave_row(str(wave))
    if not 0 <= wave < len(trace.waves):
        raise UsageError(
            f"The capture has no wave number {wave}.",
            hint=f"It has {len(trace.waves):,}, counted from 0.",
        )
    return int(wave)


def check_line(trace: Trace, line: int) -> None:
    """Raise UsageError unless the code has such a row."""
    if not 0 <= line < len(trace.code):
        raise UsageError(
            f"The capture has no instruction {line}.", hint=f"It has {len(trace.code):,}, counted from 0."
        )
