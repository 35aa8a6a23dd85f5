"""`rcv waves`: where and when waves lived, and what they did meanwhile."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.core.occupancy import Residencies, residencies
from rcv_py.analysis.cost.place_text import NO_PLACE
from rcv_py.analysis.timeline.wave_places import waves_of_kernels, waves_of_unit
from rcv_py.analysis.waves.populations import ALL, populations, ran_text
from rcv_py.base.text import plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import counted_batches, nothing, window_of
from rcv_py.cli.options.wave_options import WavesOptions
from rcv_py.cli.report import json_text
from rcv_py.cli.results import ordered, print_csv, print_result
from rcv_py.cli.wave_choice import ChosenWaves, choose_waves, missing_text
from rcv_py.formats.open import open_trace
from rcv_py.formats.uiout.names import demangled
from rcv_py.model.columns import of_rows
from rcv_py.model.trace import Trace
from rcv_py.results import waves as results
from rcv_py.results.table import Table

SCHEMA = "rcv.waves/1"
POPULATIONS_SCHEMA = "rcv.waves.populations/1"
RESIDENT_SCHEMA = "rcv.waves.resident/1"


def run(arguments: WavesOptions) -> int:
    """Print the waves of a capture as text, CSV or JSON."""
    trace = open_trace(arguments.folder, cache=arguments.cache)
    if arguments.populations:
        return _show_populations(trace, arguments)
    chosen = None if arguments.waves in (None, ALL) else choose_waves(trace, arguments)
    whole = _resident(trace, arguments) if arguments.resident else _traced(trace, arguments, chosen)
    shown = ordered(whole, arguments).head(arguments.top)
    if arguments.csv:
        print_csv(shown)
    elif arguments.json:
        schema = RESIDENT_SCHEMA if arguments.resident else SCHEMA
        document = {
            "capture": trace.name,
            "within": arguments.within,
            "of": len(whole),
            "rows": shown.rows(),
        }
        waves = None if chosen is None else chosen.about()
        print(json_text(schema, document, about(arguments, trace, waves=waves)))
    elif not len(whole):
        there = len(trace.occupancy) if arguments.resident else len(trace.waves)
        print(nothing(whole.spec.noun, arguments, "") if there else whole.spec.nothing)
    else:
        print_result(shown, trace, unknown=NO_PLACE)
        print(f"\n{len(shown):,} of {plural(len(whole), 'wave')}; times in cycles.")
        if chosen is not None:
            print(f"Shown are {chosen.choice.text}.")
    return 0


def _show_populations(trace: Trace, arguments: WavesOptions) -> int:
    """Print the ways that waves took through the code."""
    found = populations(trace, counted_batches(trace, None))
    whole = results.population_table(found)
    shown = ordered(whole, arguments).head(arguments.top)
    if arguments.csv:
        print_csv(shown)
    elif arguments.json:
        facts = {"capture": trace.name, **results.population_facts(trace, found), "of": len(whole)}
        print(json_text(POPULATIONS_SCHEMA, {**facts, "rows": shown.rows()}, about(arguments, trace)))
    elif not len(whole):
        print(missing_text(0, len(trace.waves)) or whole.spec.nothing)
    else:
        print_result(shown, trace)
        print(f"\n{ran_text(found)}; cycles are lives of waves. --waves takes an id, working or all.")
        if found.read < len(trace.waves):
            print(missing_text(found.read, len(trace.waves)))
    return 0


def _is_seen(asked: tuple[int, int] | None, begin: int, end: int) -> bool:
    return asked is None or (begin < asked[1] and end > asked[0])


def _traced(trace: Trace, arguments: WavesOptions, own: ChosenWaves | None) -> Table:
    """The waves whose instructions were traced, with the cycles they spent in each state."""
    index = trace.waves
    chosen = waves_of_unit(trace, None if arguments.unit_of is None else trace.wave_row(arguments.unit_of))
    chosen = waves_of_kernels(trace, chosen, arguments.without_kernel)
    chosen = chosen[~np.isin(index.se[chosen], arguments.without_se)]
    inside = [row for row in chosen.tolist() if _is_seen(arguments.within, index.begin[row], index.end[row])]
    if own is not None and own.rows is not None:
        inside = [row for row in inside if row in own.rows]
    read = {wave.row: wave for batch in counted_batches(trace, set(inside)) for wave in batch.waves}
    kernels = [_kernel(trace, int(index.kernel[row])) for row in inside]
    return results.waves(trace, inside, read, window_of(arguments.within), kernels)


def _resident(trace: Trace, arguments: WavesOptions) -> Table:
    """Every wave of the occupancy record."""
    lives = shown_lives(trace, residencies(trace.occupancy), arguments)
    return results.resident(trace, lives, [_kernel(trace, kernel) for kernel in lives.kernel.tolist()])


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
