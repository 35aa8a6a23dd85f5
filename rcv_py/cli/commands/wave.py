"""`rcv wave`: what one wave did, and its instructions as they ran."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from rcv_py.analysis.core.cost_columns import wave_lines
from rcv_py.analysis.core.token_columns import of_waves
from rcv_py.analysis.cost.hotspot import counted_rows
from rcv_py.analysis.cost.place_text import NO_PLACE, source_of
from rcv_py.base.csv_text import csv_text
from rcv_py.base.paths import short_place
from rcv_py.base.text import count, nanoseconds, percent, plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import wave_of, window_of
from rcv_py.cli.options.wave_options import WaveOptions
from rcv_py.cli.report import Column, json_text, print_facts, print_table
from rcv_py.formats.open import open_trace
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave
from rcv_py.model.window import TimeWindow
from rcv_py.results.places import short_sources
from rcv_py.results.waves import STATES, states_within

SCHEMA = "rcv.wave/1"
_HEAD = ("token", "start", "stall", "issue", "idle", "kind", "line", "text", "source")
_WORDS = ("kind", "text", "source")
_ELASTIC = {"text": "right", "source": "left"}


def run(arguments: WaveOptions) -> int:
    """Print one wave as text, CSV or JSON."""
    trace = open_trace(arguments.folder, cache=arguments.cache)
    wave = wave_of(trace, arguments.wave)
    part = window_of(arguments.within) or TimeWindow(wave.begin, wave.end)
    if arguments.csv:
        sys.stdout.write(csv_text(_HEAD, [list(row.values()) for row in _tokens(trace, wave, part)]))
    elif arguments.json:
        more = {"instructions": list(_tokens(trace, wave, part))} if arguments.tokens else {}
        document = _document(trace, wave, part, arguments) | more
        print(json_text(SCHEMA, document, about(arguments, trace)))
    else:
        _print(trace, wave, part, arguments)
    return 0


def _document(trace: Trace, wave: Wave, part: TimeWindow, arguments: WaveOptions) -> dict[str, Any]:
    cycles = states_within(wave, window_of(arguments.within))
    whole = wave_lines(wave, len(trace.code))
    return {
        "capture": trace.name,
        "wave": str(wave.id),
        "cu": wave.cu,
        "begin": wave.begin,
        "end": wave.end,
        "cycles": wave.end - wave.begin,
        "within": [part.begin, part.end],
        "states": {state.name.lower(): None if cycles is None else cycles[state] for state in STATES},
        "tokens": len(wave.tokens),
        "latency": int(whole.latency.sum()),
        "stall": int(whole.stall.sum()),
        "idle": int(whole.idle.sum()),
        "counted": len(counted_rows(trace.waves, None, window_of(arguments.clock))),
        "of": len(trace.waves),
    }


def _tokens(trace: Trace, wave: Wave, part: TimeWindow) -> Iterator[dict[str, Any]]:
    """The instructions that touch the range, in order of their starts."""
    piece = of_waves([wave])
    inside = (piece.start < part.end) & (piece.start + np.maximum(piece.duration, 1) > part.begin)
    text = trace.code.text
    for row in np.flatnonzero(inside).tolist():
        kind, line = int(piece.kind[row]), int(piece.line[row])
        yield {
            "token": row,
            "start": int(piece.start[row]),
            "stall": int(piece.stall[row]),
            "issue": int(piece.busy[row]),
            "idle": int(piece.idle[row]),
            "kind": TokenKind(kind).name if kind in TokenKind._value2member_map_ else str(kind),
            "line": line if line >= 0 else None,
            "text": text[line] if 0 <= line < len(text) else "",
            "source": source_of(trace, line),
        }


def _print(trace: Trace, wave: Wave, part: TimeWindow, arguments: WaveOptions) -> None:
    found = _document(trace, wave, part, arguments)
    real = trace.clock.ns(found["cycles"])
    lasted = f"{count(found['cycles'])} cycles" + ("" if real is None else f", {nanoseconds(real)}")
    known = {name: value for name, value in found["states"].items() if value is not None}
    whole = sum(known.values())
    shares = ", ".join(f"{name.upper()} {percent(value, max(1, whole))}" for name, value in known.items())
    states = (
        f"{shares}, of {count(whole)} recorded cycles" if known else f"{NO_PLACE} the wave has no timeline"
    )
    print(f"{wave.id}")
    facts = [
        ("life", f"{count(wave.begin)} to {count(wave.end)}, {lasted}"),
        ("place", f"compute unit {wave.cu}" if wave.cu >= 0 else ""),
        ("instructions", count(found["tokens"])),
        ("states", states),
        ("counted", f"{found['counted']:,} of {plural(found['of'], 'wave')}" if arguments.clock else ""),
    ]
    print_facts([(name, value) for name, value in facts if value])
    if arguments.tokens:
        short = short_sources(trace)
        rows = [
            [
                _cell(name, value)
                for name, value in (row | {"source": short_place(row["source"], short)}).items()
            ]
            for row in _tokens(trace, wave, part)
        ]
        print()
        print_table([Column(name, name not in _WORDS, _ELASTIC.get(name, "")) for name in _HEAD], rows)


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    return str(value) if name in (*_WORDS, "line", "token") else count(value)
