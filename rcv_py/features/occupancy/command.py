"""`rcv occupancy`: how many waves were resident, by shader engine, kernel or state, or what limits them."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from msgspec.structs import replace

from rcv_py.analysis.health.traced_units import APART, lasted
from rcv_py.base.errors import UsageError
from rcv_py.base.text import DASH, Message, join_texts, plural, some
from rcv_py.cli.answer import CommandAnswer, Csv, Part, TextTable, listing
from rcv_py.cli.opening import answers, check_engine, facts_of, opened
from rcv_py.features.occupancy import result
from rcv_py.features.occupancy.options import OccupancyOptions
from rcv_py.model.kinds import state_name
from rcv_py.model.trace import Trace
from rcv_py.results.table import ResultTable
from rcv_py.work.occupancy import OccupancyRow, limits_of, mixed_rows, occupancy_rows

MAX_NAMES = 8  # of rows in an error
_NO_TIMES = "The capture does not say when waves began and ended."
_NO_STATES = "No wave with a timeline could be read, so states are not known."


def run(options: OccupancyOptions) -> CommandAnswer:
    """List mean, peak, tail and ramp of the curves, or the limits; as CSV the curves themselves."""
    trace = opened(options)
    if options.limits or trace.is_static:
        return _limits(trace, options)
    by = options.by
    check_engine(trace, options.se, "traced" if by == "state" else "resident")
    rows = _only(occupancy_rows(trace, by, lambda of: answers(trace, (of,)).of(of), options.se), options.only)
    names, mixed = [row.name for row in rows], mixed_rows(trace, by, options.se)
    table = result.curve_table(by, names, [row.numbers for row in rows], mixed)

    def document() -> dict[str, Any]:
        ids = [{"ids": list(row.ids)} if row.ids else {} for row in rows]
        documents = [{by: row[by], **own, **row} for row, own in zip(table.rows(), ids, strict=True)]
        return {"by": by, "ns_per_cycle": trace.clock.ns(1.0), "rows": documents}

    def csv() -> Csv:  # without the sum of all
        steps = result.step_table([row.name for row in rows[1:]], [row.steps for row in rows[1:]])
        return (by, "cycle", "waves"), steps.csv()[1]

    why_none = "" if rows else _NO_STATES if by == "state" else _NO_TIMES
    footer = partial(_footer, trace, by, rows, APART if rows[mixed] else "")
    answer = listing(options, trace, table, result.SCHEMA, footer=footer, why_none=why_none, unknown=DASH)
    return replace(answer, document=document, csv=csv)


def _only(rows: list[OccupancyRow], names: list[str] | None) -> list[OccupancyRow]:
    known = {state_name(row.name) for row in rows}
    wanted = {state_name(name) for name in names or ()}
    for name in sorted(wanted - known):
        hint = Message("Rows: {0}.", some(sorted(known), MAX_NAMES))
        raise UsageError(Message("There is no row {0!r}.", name), hint=hint)
    return [row for at, row in enumerate(rows) if not wanted or not at or state_name(row.name) in wanted]


def _footer(trace: Trace, by: str, rows: list[OccupancyRow], why: str, _: ResultTable) -> tuple[str, ...]:
    cycles = rows[0].numbers.end - rows[0].numbers.begin
    took = join_texts(", ", filter(None, (lasted(cycles, why), trace.clock.duration(cycles), why)))
    what, of = "Traced" if by == "state" else "Resident", plural(len(rows) - 1, result.BY[by][0])
    return (
        Message("\n{0} waves of {1} in {2}. Mean and peak are waves;", what, of, took),
        "the tail is the share of the time after the last moment with more than half of the peak;",
        "the ramp is cycles until nine tenths of it; shares are of the wave cycles of all.",
    )


def _limits(trace: Trace, options: OccupancyOptions) -> CommandAnswer:
    """What limits the waves of a SIMD, for the kernel with most traced cycles."""
    facts = facts_of(trace, options)
    limits = limits_of(trace, facts)
    table = result.limit_table(limits)

    def text() -> Iterator[Part]:
        if not len(trace.code):
            yield "The capture has no instructions, so what its kernel takes is not known."
        else:
            yield from (TextTable(table, trace), "")
            why = ", as many as it has room for; nothing else binds"
            if limits.binding is not None:
                why = Message(" of this kernel, bound by {0}", limits.binding.name)
            yield Message("A SIMD of {0} can hold {1}{2}.", trace.target, plural(limits.waves, "wave"), why)
        if limits.next_step:
            yield limits.next_step
        seen = limits.resident
        if seen.simds:
            peak, simds = plural(seen.peak, "wave"), plural(seen.simds, "SIMD")
            text = "Traced: at most {0} on a SIMD at a time, {1:.1f} on average, on {2}."
            yield Message(text, peak, seen.mean, simds)
        yield from (Message("Note: {0}", note) for note in limits.notes)
        if facts.files:
            yield Message("Tables of the run: {0}.", ", ".join(facts.files))

    return CommandAnswer(
        schema=result.LIMITS_SCHEMA,
        document=lambda: result.limit_document(trace, limits),
        csv=table.csv,
        text=text,
        of=trace,
        about={"files": facts.files},
    )
