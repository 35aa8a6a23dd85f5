"""`rcv loops`: iterations of loops, phases of waves, and what costs cycles in and around them."""

from collections.abc import Iterator

from rcv_py.analysis.iterations.loop_summary import PHASES
from rcv_py.base.text import Message, known_percent, plural
from rcv_py.cli.answer import CommandAnswer, listing
from rcv_py.cli.opening import choose_waves
from rcv_py.features.loops.options import LoopsOptions
from rcv_py.features.loops.result import ASKED, ASKED_BY, SCHEMA, TABLES, Inputs, facts, iterations_of_loop
from rcv_py.features.loops.static_result import SCHEMA as PROGRAM_SCHEMA
from rcv_py.features.loops.static_result import loop_table
from rcv_py.results.table import ResultTable


def run(options: LoopsOptions) -> CommandAnswer:
    """List one of the tables of loops."""
    waves = choose_waves(options, (*ASKED, *ASKED_BY.get(options.by, ())))
    if waves.trace.is_static and options.by == "loops" and options.loop is None:
        table = loop_table(waves.trace)
        note = Message("\n{0}", table.spec.note)
        return listing(options, waves.trace, table, PROGRAM_SCHEMA, footer=lambda _: note)
    assert waves.answers is not None
    inputs = Inputs(waves.answers, waves.rows)
    if options.loop is None:
        table = TABLES[options.by][1](inputs)
    else:
        of = None if options.iterations_of is None else waves.trace.wave_row(options.iterations_of)
        table = iterations_of_loop(inputs, *options.loop, of, only_outliers=options.outliers)
    return listing(
        options,
        waves,
        table,
        SCHEMA,
        lambda: {"wave": options.wave, "show": options.by} | facts(inputs) | {"total_rows": len(table)},
        footer=lambda shown: _footer(inputs, shown, len(table), options),
        why_none=waves.why_none("loops"),
    )


def _footer(inputs: Inputs, shown: ResultTable, of: int, options: LoopsOptions) -> Iterator[str]:
    loops = inputs.loops
    rows, waves = plural(of, "row"), plural(loops.waves, "wave")
    yield Message("\n{0:,} of {1} in {2}. {3}", len(shown), rows, waves, shown.spec.note)
    if options.by != "loops":
        return
    table, phases = loops.loops.table, loops.phases
    if len(phases):
        head, branch = int(table.head[phases.loop]), int(table.branch[phases.loop])
        yield Message("Loop {0} to {1}, {2}:", head, branch, plural(len(phases), "wave"))
        for name, share, stall in zip(PHASES, phases.shares, phases.stall_shares, strict=True):
            text = "  {0:<9} {1:5.1f} % of their time, {2} of it stalled"
            yield Message(text, name, 100 * share, known_percent(stall))
    if phases.without:
        yield Message("{0} did not run this loop twice.", plural(phases.without, "wave"))
    if outliers := len(loops.loops.outliers):
        yield Message("{0} took much longer than others: see --by iterations.", plural(outliers, "iteration"))
