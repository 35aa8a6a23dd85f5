"""`rcv compare`: whether B takes more cycles than A, where, and what of it is noise."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from rcv_py.analysis.compare.changes import Change, changes, numbers, sides
from rcv_py.analysis.compare.compare import Comparison, compare
from rcv_py.analysis.compare.costs import CaptureCosts, explained_costs
from rcv_py.analysis.compare.verdict import Verdict
from rcv_py.analysis.waves.populations import WORKING
from rcv_py.base.markdown import md_code, md_table, md_text
from rcv_py.base.paths import short_paths
from rcv_py.base.text import count, plural
from rcv_py.cli.answer import Answer, Facts, Part, Shown, limited
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.opening import batches, opened, pooled
from rcv_py.cli.options.look_options import CompareOptions
from rcv_py.cli.terminal import bold
from rcv_py.model.trace import Trace
from rcv_py.results.compare import (
    CHANGES,
    NUMBERS,
    UNITS,
    change_table,
    facts,
    frame_table,
    listing_table,
    view_facts,
    widest,
)
from rcv_py.results.places import with_short_places

POOL_BYTES = 32_000_000  # more than this is read by several processes
MAX_IN_JUNIT = 10  # rows beyond noise in a message
_TRIPS = {"regression": (Verdict.MORE,), "difference": (Verdict.MORE, Verdict.FEWER)}
_METRICS = {"cost": "latency and idle", "latency": "latency", "stall": "stall"}


def run(options: CompareOptions) -> Answer:
    """Compare two captures; the exit code is 3 if the gate trips."""
    paths = [path for path in (options.folder, options.other, options.twin) if path is not None]
    traces = [opened(options, path) for path in paths]
    wanted = options.waves or WORKING
    a, b, *more = (_costs(trace, wanted) for trace in traces)
    found = compare(
        a,
        b,
        options.seed,
        measure=options.metric,
        least=None if options.least is None else options.least / 100,
        twin=more[0] if more else None,
    )
    about = {"traces": traces, "waves": _waves(wanted, traces, [a, b, *more])}
    code = _gate(options.fail_on, found)
    if options.by in ("listing", "flame"):
        return _view(found, traces[1], options, about, code)
    return _ranking(found, options, about, code)


def _gate(fail_on: str | None, found: Comparison) -> int:
    if fail_on is None:
        return ExitCode.DONE
    if found.verdict is Verdict.NOT_COMPARABLE:
        print(f"rcv: The gate cannot decide. {found.judgement.sentence}", file=sys.stderr)
        print("     Record the same kernel with the same input for both sides.", file=sys.stderr)
        return ExitCode.USAGE
    return ExitCode.GATE if found.verdict in _TRIPS[fail_on] else ExitCode.DONE


def _costs(trace: Trace, wanted: str) -> CaptureCosts:
    """Costs of the waves that are asked for, by default of those that work."""
    is_large = int(trace.waves.size.sum()) > POOL_BYTES
    return explained_costs(trace, pooled(trace) if is_large else batches(trace), wanted)


def _waves(wanted: str, traces: Sequence[Trace], costs: Sequence[CaptureCosts]) -> dict[str, Any]:
    """What the document says of the waves whose costs are compared, of all sides together."""
    traced = sum(len(trace.waves) for trace in traces)
    texts = zip(("A", "B", "twin"), costs, strict=False)
    return {
        "chosen": wanted,
        "counted": sum(side.wave_count for side in costs),
        "read": traced - sum(side.missing for side in costs),
        "traced": traced,
        "text": "; ".join(f"{name}: {side.selection or 'all waves'}" for name, side in texts),
    }


# -- what changed, ranked -------------------------------------------------------------------------------


def _ranking(found: Comparison, options: CompareOptions, about: dict[str, Any], code: int) -> Answer:
    rows = changes(found, options.by) if found.kernel is not None else ()
    kept = [row for row in rows if row.is_real or not options.beyond_noise]
    shown = limited(change_table(found, kept, options.by), options)
    real = [row for row in rows if row.is_real]

    def text() -> Iterator[Part]:
        yield bold(found.judgement.sentence, sys.stdout)
        yield from (*found.notes, "")
        yield Facts([*sides(found), *numbers(found)])
        if found.kernel is not None and len(shown):
            yield from ("", Shown(shown))
            unit = plural(len(rows), UNITS[options.by], "classes" if options.by == "class" else "")
            yield (
                f"\n{len(shown):,} of {unit}, {len(real):,} beyond noise. Cycles are "
                f"{_METRICS[found.measure]} a wave, both at the executions of A."
            )

    is_tripped = code == ExitCode.GATE
    return Answer(
        schema="rcv.compare/2",
        document=lambda: facts(found, rows, options.by) | {"rows": shown.rows()},
        csv=shown.csv,
        text=text,
        forms={
            "markdown": lambda: _markdown(found, real, options) + "\n",
            "junit": lambda: _junit(found, real, is_failed=is_tripped) + "\n",
        },
        about=about,
        code=code,
    )


def _markdown(found: Comparison, real: Sequence[Change], options: CompareOptions) -> str:
    """The verdict, the numbers, and the rows beyond noise."""
    facts = [f"- {md_text(name)}: {md_text(value)}" for name, value in (*sides(found), *numbers(found))]
    parts = [f"**{md_text(found.judgement.sentence)}**", *(f"> {md_text(note)}" for note in found.notes)]
    parts.append("\n".join(facts))
    if found.kernel is not None and not real:
        parts.append(f"No {UNITS[options.by]} is beyond noise.")
    elif found.kernel is not None:
        shown, fields = real[: options.top or None], CHANGES[options.by]
        head = ((UNITS[options.by], False), *((fields[name].title, True) for name in NUMBERS))
        of = f"\n{len(shown):,} of {len(real):,} beyond noise; cycles a wave, both at the executions of A."
        parts.append("\n".join([*md_table(head, map(_cells, shown)), of]))
    return "\n\n".join(parts)


def _cells(row: Change) -> list[str]:
    name = f"{md_text(row.name)} {md_code(row.text)}" if row.text else md_text(row.name)
    ratio = "" if row.ratio is None else f"{100 * row.ratio:+.1f} %"
    cycles = (f"{row.cost_a:,.1f}", f"{row.cost_b:,.1f}", f"{row.delta:+,.1f}")
    noise = f"{row.noise:,.1f}" if row.is_noise_known else "unknown"
    return [name, count(row.hits_a), count(row.hits_b), *cycles, ratio, noise]


def _junit(found: Comparison, real: Sequence[Change], *, is_failed: bool) -> str:
    """One test case: failed if the gate trips, skipped if nothing can be said, passed otherwise."""
    is_open = found.verdict is Verdict.NOT_COMPARABLE
    rows = [
        f"{row.name} {row.text}: {row.cost_a:,.1f} to {row.cost_b:,.1f} cycles a wave (±{row.noise:,.1f})"
        for row in real[:MAX_IN_JUNIT]
    ]
    text = escape("\n".join([found.judgement.sentence, *found.notes, *rows]))
    sentence, name = map(quoteattr, (found.judgement.sentence, f"{found.a.name} to {found.b.name}"))
    inside = f"<system-out>{text}</system-out>"
    if is_open:
        inside = f"<skipped message={sentence}/>{inside}"
    elif is_failed:
        inside = f'<failure type="regression" message={sentence}>{text}</failure>'
    counts = f'tests="1" failures="{int(is_failed and not is_open)}" errors="0" skipped="{int(is_open)}"'
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="rcv compare" {counts}>\n'
        f'<testcase classname="rcv.compare" name={name}>{inside}</testcase>\n</testsuite>'
    )


# -- both programs side by side, and the differences as frames ------------------------------------------


def _view(
    found: Comparison, trace: Trace, options: CompareOptions, about: dict[str, Any], code: int
) -> Answer:
    """Both programs, or the frames of B with cycles a wave in both; no frame is of A alone."""
    if options.by == "listing":
        name, table, sides = "rows", listing_table(found), [found.a, found.b]
        table = table[found.rows.is_real] if options.beyond_noise else table
        shown = limited(table, options)
    else:
        name, table, sides = "frames", frame_table(found, trace), [found.b]
        shown = widest(table, options.top) if "top" in options.given else table
    short = short_paths(source.path for side in sides for source in side.sources)
    return Answer(
        schema=f"rcv.compare.{options.by}/2",
        document=lambda: view_facts(found, table) | {name: shown.rows()},
        csv=shown.csv,
        text=lambda: [found.judgement.sentence, "", Shown(with_short_places(shown, short))],
        about=about,
        code=code,
    )
