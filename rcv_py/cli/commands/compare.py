"""`rcv compare`: whether B takes more cycles than A, where, and what of it is noise."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from rcv_py.analysis.compare.changes import Change, changes, numbers, sides
from rcv_py.analysis.compare.compare import Comparison, compare
from rcv_py.analysis.compare.costs import CaptureCosts, explained_costs
from rcv_py.analysis.compare.verdict import Verdict
from rcv_py.analysis.waves.populations import WORKING
from rcv_py.base.errors import UsageError
from rcv_py.base.text import plural
from rcv_py.cli.about import about
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.opening import batches
from rcv_py.cli.options.cost_options import CompareOptions
from rcv_py.cli.pooled import pooled
from rcv_py.cli.report import bold, json_text, print_facts
from rcv_py.cli.results import ordered, print_csv, print_shown
from rcv_py.cli.views.compare_summary import junit, markdown
from rcv_py.cli.views.compare_views import VIEWS
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.results.compare import UNITS, change_table, facts
from rcv_py.results.table import Table

POOL_BYTES = 32_000_000  # more than this is read by several processes
_TRIPS = {"regression": (Verdict.MORE,), "difference": (Verdict.MORE, Verdict.FEWER)}


def run(arguments: CompareOptions) -> int:
    """Print the comparison as text, CSV, JSON, Markdown or JUnit; 3 if the gate trips."""
    paths = [path for path in (arguments.folder, arguments.other, arguments.twin) if path is not None]
    traces = [open_trace(path, cache=arguments.cache) for path in paths]
    wanted = arguments.waves or WORKING
    a, b, *more = (_costs(trace, wanted) for trace in traces)
    found = compare(
        a,
        b,
        arguments.seed,
        measure=arguments.measure,
        least=None if arguments.least is None else arguments.least / 100,
        twin=more[0] if more else None,
    )
    waves = _chosen_waves(wanted, traces, [a, b, *more])
    if arguments.by in VIEWS:
        VIEWS[arguments.by](found, traces, arguments)
        return _gate(arguments.fail_on, found)
    rows = changes(found, arguments.by) if found.kernel is not None else ()
    kept = [row for row in rows if row.is_real or not arguments.beyond_noise]
    shown = ordered(change_table(found, kept, arguments.by), arguments).head(arguments.top)
    if arguments.csv:
        print_csv(shown)
    elif arguments.json:
        document = facts(found, rows, arguments.by) | {"rows": shown.rows()}
        print(json_text("rcv.compare/1", document, about(arguments, *traces, waves=waves)))
    elif arguments.markdown:
        print(markdown(found, rows, arguments.by, arguments.top))
    elif arguments.junit:
        is_failed = arguments.fail_on is not None and found.verdict in _TRIPS[arguments.fail_on]
        print(junit(found, rows, is_failed=is_failed))
    else:
        _print(arguments, found, rows, shown)
    return _gate(arguments.fail_on, found)


def _gate(fail_on: str | None, found: Comparison) -> int:
    if fail_on is None:
        return 0
    if found.verdict is Verdict.NOT_COMPARABLE:
        raise UsageError(
            f"The gate cannot decide. {found.judgement.sentence}",
            hint="Record the same kernel with the same input for both sides.",
        )
    return ExitCode.GATE if found.verdict in _TRIPS[fail_on] else ExitCode.DONE


def _costs(trace: Trace, wanted: str) -> CaptureCosts:
    """Costs of the waves that are asked for, by default of those that work."""
    is_large = int(trace.waves.size.sum()) > POOL_BYTES
    return explained_costs(trace, pooled(trace) if is_large else batches(trace), wanted)


def _chosen_waves(wanted: str, traces: Sequence[Trace], sides: Sequence[CaptureCosts]) -> dict[str, Any]:
    """What the document says of the waves whose costs are compared, of all sides together."""
    traced = sum(len(trace.waves) for trace in traces)
    names = ("A", "B", "twin")
    return {
        "chosen": wanted,
        "counted": sum(side.wave_count for side in sides),
        "read": traced - sum(side.missing for side in sides),
        "traced": traced,
        "text": "; ".join(
            f"{name}: {side.selection or 'all waves'}" for name, side in zip(names, sides, strict=False)
        ),
    }


def _print(arguments: CompareOptions, found: Comparison, rows: Sequence[Change], shown: Table) -> None:
    print(bold(found.judgement.sentence, sys.stdout))
    for note in found.notes:
        print(note)
    print()
    print_facts([*sides(found), *numbers(found)])
    if found.kernel is None or not len(shown):
        return
    print()
    print_shown(shown)
    real = sum(row.is_real for row in rows)
    unit = plural(len(rows), UNITS[arguments.by], "classes" if arguments.by == "class" else "")
    print(
        f"\n{len(shown):,} of {unit}, {real:,} beyond noise. Cycles are {_MEASURES[found.measure]} a wave, "
        "both at the executions of A."
    )


_MEASURES = {"cost": "latency and idle", "latency": "latency", "stall": "stall"}
