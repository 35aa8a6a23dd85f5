"""`rcv waves`: where and when waves lived, and what they did meanwhile."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from rcv_py.analysis.core.occupancy import Residencies, residencies
from rcv_py.analysis.cost.place_text import NO_PLACE
from rcv_py.analysis.timeline.token_details import state_cycles
from rcv_py.analysis.timeline.wave_places import traced_waves, waves_of_kernels, waves_of_unit
from rcv_py.analysis.waves.populations import ALL, POPULATION_HEAD, population_rows, populations, ran_text
from rcv_py.base.text import count, percent, plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import counted_batches, in_order, nothing, window_of
from rcv_py.cli.options.wave_options import WavesOptions
from rcv_py.cli.report import Column, csv_text, json_text, print_table
from rcv_py.cli.wave_choice import ChosenWaves, choose_waves, missing_text
from rcv_py.formats.open import open_trace
from rcv_py.formats.uiout.names import demangled
from rcv_py.model.columns import of_rows
from rcv_py.model.kinds import WaveState
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave
from rcv_py.model.window import TimeWindow

SCHEMA = "rcv.waves/1"
POPULATIONS_SCHEMA = "rcv.waves.populations/1"
RESIDENT_SCHEMA = "rcv.waves.resident/1"
STATES = (WaveState.EXEC, WaveState.WAIT, WaveState.STALL, WaveState.IDLE)
_NAMES = ("wave", "se", "sa", "cu", "simd", "slot")  # numbers that are names
_ELASTIC = {"kernel": "right"}
_LIFE = ("begin", "end", "cycles")
_HEAD = ("wave", "cu", "kernel", *_LIFE, "tokens", *(state.name.lower() for state in STATES))
_POPULATIONS = (
    Column("id"),
    Column("works"),
    *(Column(name, True) for name in ("waves", "cut", "executions", "instructions", "cycles", "share")),
    Column("name", elastic="right"),
)
_RESIDENT = ("se", "sa", "cu", "simd", "slot", "begin", "end", "workgroup")
_RESIDENT_HEAD = (*_RESIDENT, "cycles", "kernel", "wave")


def run(arguments: WavesOptions) -> int:
    """Print the waves of a capture as text, CSV or JSON."""
    trace = open_trace(arguments.folder)
    if arguments.populations:
        return _show_populations(trace, arguments)
    chosen = None if arguments.waves in (None, ALL) else choose_waves(trace, arguments)
    rows = list(_resident(trace, arguments) if arguments.resident else _traced(trace, arguments, chosen))
    shown = in_order(rows, arguments)[: arguments.top or None]
    head = _RESIDENT_HEAD if arguments.resident else _HEAD
    if arguments.csv:
        sys.stdout.write(csv_text(head, [list(row.values()) for row in shown]))
    elif arguments.json:
        schema = RESIDENT_SCHEMA if arguments.resident else SCHEMA
        document = {"capture": trace.name, "within": arguments.within, "of": len(rows), "rows": shown}
        waves = None if chosen is None else chosen.about()
        print(json_text(schema, document, about(arguments, trace, waves=waves)))
    elif not rows:
        there = len(trace.occupancy) if arguments.resident else len(trace.waves)
        none = "The capture does not say when waves began and ended."
        none = none if arguments.resident else "The capture has no traced waves."
        print(nothing("wave", arguments, "") if there else none)
    else:
        columns = [Column(name, name not in ("wave", "kernel"), _ELASTIC.get(name, "")) for name in head]
        print_table(columns, [[_cell(name, row[name]) for name in head] for row in shown])
        print(f"\n{len(shown):,} of {plural(len(rows), 'wave')}; times in cycles.")
        if chosen is not None:
            print(f"Shown are {chosen.choice.text}.")
    return 0


def _show_populations(trace: Trace, arguments: WavesOptions) -> int:
    """Print the ways that waves took through the code."""
    found = populations(trace, counted_batches(trace, None))
    rows = population_rows(found)
    shown = in_order(rows, arguments)[: arguments.top or None]
    if arguments.csv:
        sys.stdout.write(csv_text(POPULATION_HEAD, [list(row.values()) for row in shown]))
    elif arguments.json:
        document = {
            "capture": trace.name,
            "read": found.read,
            "traced": len(trace.waves),
            "instructions_ran": found.ran,
            "instructions": found.of,
            "of": len(rows),
            "rows": shown,
        }
        print(json_text(POPULATIONS_SCHEMA, document, about(arguments, trace)))
    elif not rows:
        print(missing_text(0, len(trace.waves)) or "The capture has no traced waves.")
    else:
        print_table(_POPULATIONS, [_population_cells(row) for row in shown])
        print(f"\n{ran_text(found)}; cycles are lives of waves. --waves takes an id, working or all.")
        if found.read < len(trace.waves):
            print(missing_text(found.read, len(trace.waves)))
    return 0


def _population_cells(row: dict[str, Any]) -> list[str]:
    numbers = [count(row["waves"]), count(row["cut"]), f"{row['instructions']:,.1f}".removesuffix(".0")]
    numbers += [count(row["reached"]), count(row["cycles"]), percent(row["share"], 1)]
    return [row["id"], "yes" if row["is_working"] else "no", *numbers, row["name"]]


def _cell(name: str, value: Any) -> str:
    if value is None:
        return NO_PLACE
    if value == -1:
        return ""
    return str(value) if name in _NAMES or isinstance(value, str) else count(value)


def states_within(wave: Wave, window: TimeWindow | None) -> tuple[int, ...] | None:
    """Return the cycles in each state, None if the wave has no record of its states.

    Without a window all that was recorded counts, also what lasts beyond the end of the wave's life.
    """
    if not len(wave.states):
        return None
    if window is not None:
        return state_cycles(wave, window.begin, window.end)
    end = wave.states.start + wave.states.duration
    return state_cycles(wave, int(wave.states.start.min()), int(end.max()))


def _is_seen(asked: tuple[int, int] | None, begin: int, end: int) -> bool:
    return asked is None or (begin < asked[1] and end > asked[0])


def _traced(trace: Trace, arguments: WavesOptions, own: ChosenWaves | None) -> Iterator[dict[str, Any]]:
    """The waves whose instructions were traced, with the cycles they spent in each state."""
    index = trace.waves
    chosen = waves_of_unit(trace, None if arguments.unit_of is None else trace.wave_row(arguments.unit_of))
    chosen = waves_of_kernels(trace, chosen, arguments.without_kernel)
    chosen = chosen[~np.isin(index.se[chosen], arguments.without_se)]
    inside = [row for row in chosen.tolist() if _is_seen(arguments.within, index.begin[row], index.end[row])]
    if own is not None and own.rows is not None:
        inside = [row for row in inside if row in own.rows]
    read = {wave.row: wave for batch in counted_batches(trace, set(inside)) for wave in batch.waves}
    for row in inside:
        begin, end = int(index.begin[row]), int(index.end[row])
        wave = read.get(row)
        cycles = None if wave is None else states_within(wave, window_of(arguments.within))
        yield {
            "wave": str(index.id(row)),
            "cu": int(index.cu[row]),
            "kernel": _kernel(trace, int(index.kernel[row])),
            "begin": begin,
            "end": end,
            "cycles": end - begin,
            "tokens": None if wave is None else len(wave.tokens),
            **{state.name.lower(): None if cycles is None else cycles[state] for state in STATES},
        }


def _resident(trace: Trace, arguments: WavesOptions) -> Iterator[dict[str, Any]]:
    """Every wave of the occupancy record."""
    lives = shown_lives(trace, residencies(trace.occupancy), arguments)
    waves = traced_waves(trace, lives)
    columns = {name: getattr(lives, name).tolist() for name in _RESIDENT}
    for at, (kernel, wave) in enumerate(zip(lives.kernel.tolist(), waves.tolist(), strict=True)):
        row = {name: values[at] for name, values in columns.items()}
        yield {
            **row,
            "cycles": row["end"] - row["begin"],
            "kernel": _kernel(trace, kernel),
            "wave": str(trace.waves.id(wave)) if wave >= 0 else "",
        }


def shown_lives(trace: Trace, lives: Residencies, arguments: WavesOptions) -> Residencies:
    """Leave out engines, kernels, and what lived outside of the range."""
    hidden = [number for number, name in trace.occupancy.names.items() if name in arguments.without_kernel]
    kept = ~np.isin(lives.se, arguments.without_se) & ~np.isin(lives.kernel, hidden)
    if arguments.within is not None:
        kept &= (lives.begin < arguments.within[1]) & (lives.end > arguments.within[0])
    if arguments.unit_of is not None:
        row, index = trace.wave_row(arguments.unit_of), trace.waves
        for name in ("se", "sa", "cu"):
            kept &= getattr(lives, name) == getattr(index, name)[row]
    return of_rows(lives, kept)


def _kernel(trace: Trace, number: int) -> str:
    return demangled(trace.occupancy.names.get(number, "")) if number >= 0 else ""
