"""`rcv units`: for how long each unit of a compute unit was busy."""

from __future__ import annotations

from rcv_py.analysis.timeline.wave_places import place_name, waves_of_unit
from rcv_py.base.errors import UsageError
from rcv_py.base.text import count, plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import counted_batches, window_of
from rcv_py.cli.options.wave_options import UnitsOptions
from rcv_py.cli.report import json_text
from rcv_py.cli.results import print_csv, print_result
from rcv_py.cli.wave_choice import missing_text
from rcv_py.formats.open import open_trace
from rcv_py.results.units import units

SCHEMA = "rcv.units/1"


def run(arguments: UnitsOptions) -> int:
    """Print the units of a compute unit as text, CSV or JSON."""
    trace = open_trace(arguments.folder, cache=arguments.cache)
    if not len(trace.waves):
        raise UsageError(f"{trace.name} has no traced waves.", hint="Record a thread trace of the kernel.")
    row = 0 if arguments.of is None else trace.wave_row(arguments.of)
    chosen, index = waves_of_unit(trace, row), trace.waves
    waves = [wave for batch in counted_batches(trace, set(chosen.tolist())) for wave in batch.waves]
    window = window_of(arguments.within) or trace.span
    place = place_name(trace, *(int(column[row]) for column in (index.se, index.sa, index.cu)))
    table = units(trace, waves, window)
    lost = missing_text(len(waves), len(chosen))
    if arguments.csv:
        print_csv(table)
    elif arguments.json:
        document = {
            "capture": trace.name,
            "place": place,
            "waves": len(waves),
            "within": [window.begin, window.end],
            "missing": lost,
            "rows": table.rows(),
        }
        print(json_text(SCHEMA, document, about(arguments, trace)))
    else:
        print(f"{place}, {plural(len(waves), 'wave')}")
        if lost:
            print(lost)
        if not waves:
            return 0
        print_result(table, trace)
        what = "cycles of issue" if trace.gfxip <= 9 else "cycles of execution"
        print(
            f"\nOf {count(window.width)} cycles; {what} that no other instruction of the unit covered twice."
        )
    return 0
