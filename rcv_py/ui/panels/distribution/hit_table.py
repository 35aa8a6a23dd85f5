"""Hits of a code line as columns of a table."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.cost.distribution import MEASURE_TEXT, NEVER, LineHits
from rcv_py.model.waves import WaveIndex
from rcv_py.ui.table.table_model import Column, grouped


def hit_columns(waves: WaveIndex, hits: LineHits, rows: np.ndarray, measure: str) -> tuple[Column, ...]:
    """Return the columns of these hits; the measure that they are sorted by comes first."""
    numbers = {
        name: Column(name, name, hits.measure(name)[rows], _text, True, width=68, tip=_sentence(name))
        for name in ("latency", "stall", "idle", "since")
    }
    names = tuple(str(waves.id(int(row))) for row in hits.wave[rows])
    return (
        numbers.pop(measure),
        Column("wave", "wave", names, width=176, tip="Shader engine, SIMD, slot and which wave of the slot."),
        Column("hit", "hit", hits.hit[rows], grouped, True, width=44, tip="Which hit of its wave, from 0."),
        Column("start", "start", hits.start[rows], grouped, True, width=82, tip="Cycle of its start."),
        *numbers.values(),
        Column("token", "token", hits.token[rows], grouped, True, width=60, tip="Token of the wave, from 0."),
    )


def _sentence(name: str) -> str:
    text = MEASURE_TEXT[name]
    return f"{text[:1].upper()}{text[1:]}."


def _text(value: int) -> str:
    return "" if value == NEVER else grouped(value)
