"""`rcv waits`: what each wait waited for, and the memory latency that waits show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rcv_py.analysis.attribution.wait_costs import WAITS, WaitSummary
from rcv_py.analysis.program.code_match import why_not_known
from rcv_py.analysis.waits.load_order import LOAD_ORDER
from rcv_py.analysis.whatif.experiments import sample
from rcv_py.analysis.whatif.hoist import predicted_moves
from rcv_py.base.text import Message, count, percent, plural, short_place
from rcv_py.cli import answer
from rcv_py.cli.opening import ChosenWaves, choose_waves
from rcv_py.features.whatif.result import signed
from rcv_py.features.why import waits_result as result
from rcv_py.features.why.options import WaitsOptions
from rcv_py.features.why.waits_result import WAITS as WAIT_ROWS
from rcv_py.results.common import known
from rcv_py.results.places import short_sources
from rcv_py.results.table import ResultTable
from rcv_py.work.whatif import player_of

MAX_LISTED = 4  # producers of a wait that the text shows
_COUNTS = "Counts of waits in between change with them; `rcv whatif --help` says what predictions assume."
_COLUMNS = (
    answer.TextColumn("#", True),
    *(answer.TextColumn(field.title, True) for field in (result.TIMES, result.STALL, result.SHARE_OF_STALL)),
    answer.TextColumn("latency", True),
    answer.TextColumn("instruction", elastic="right"),
    answer.TextColumn("source", elastic="left"),
)


def run(options: WaitsOptions) -> answer.CommandAnswer:
    """List the waits of a capture, the latencies, or the inverted waits."""
    if options.inverted:
        return _inverted(options)
    waves = choose_waves(options, (WAITS,))
    trace, summary = waves.trace, waves.of(WAITS)
    table, rows = _rows(waves, summary, options)
    shown = table[rows]

    def document() -> dict[str, Any]:
        sums = known(result.totals(summary), summary.waves > 0 and len(trace.code) > 0)
        facts = {"wave": options.wave, "waves": summary.waves, "totals": sums}
        if options.latency:
            return facts | {"latency": result.latency_documents(shown)}
        return facts | {"waits": result.wait_documents(trace, summary, rows, answer.max_nested(options))}

    def text() -> Iterator[answer.Part]:
        if summary.waves:
            yield from answer.heading(waves)
        if not len(rows):
            yield _why_none(waves, summary, options)
        elif options.latency:
            yield answer.TextTable(shown, trace)
            instructions = plural(len(table), "instruction")
            of = Message("\n{0:,} of {1} in {2}", len(shown), instructions, _waves(waves, summary))
            yield Message("{0}, cycles from issue to result.", of)
            yield ("Exact: a wait stalled until the result arrived.  Bounds: the result had arrived before.")
        else:
            yield from _waits(waves, summary, rows)

    return answer.CommandAnswer(
        schema=result.SCHEMA,
        document=document,
        csv=shown.csv if options.latency else lambda: result.flat_table(trace, summary, rows).csv(),
        text=text,
        of=waves,
    )


def _inverted(options: WaitsOptions) -> answer.CommandAnswer:
    waves = choose_waves(options, (LOAD_ORDER,))
    trace, found = waves.trace, waves.of(LOAD_ORDER)
    attempt = predicted_moves(player_of(trace, sample(trace)), found) if len(found) else None
    table = result.load_table(trace, found, attempt)[result.load_rows(found, options.line)]
    facts = {"wave": options.wave, **result.load_facts(found, attempt)}

    def footer(shown: ResultTable) -> Iterator[str]:
        moves = plural(len(table), "move")
        yield Message("\n{0:,} of {1}.  At most: of all cycles of waves.", len(shown), moves)
        if attempt is not None and (moved := attempt.together) is not None:
            shares = signed(moved.share), f"{signed(moved.low)} … {signed(moved.high)}"
            yield Message("All moves tried: predicted {0} ({1}) of the span of the traced units.", *shares)
            yield _COUNTS
        if why := why_not_known(trace):
            yield why

    why_none = waves.why_none("waits") or ("" if len(found) else why_not_known(trace))
    return answer.listing(
        options, waves, table, result.SCHEMA, lambda: facts, footer=footer, why_none=why_none
    )


def _rows(waves: ChosenWaves, summary: WaitSummary, options: WaitsOptions) -> tuple[ResultTable, np.ndarray]:
    line = options.line
    if options.latency:
        table, rows = result.latency_table(waves.trace, summary), np.arange(len(summary.latency))
        rows = rows if line is None else np.flatnonzero(summary.latency.line == line)
    else:
        table, rows = result.wait_table(waves.trace, summary), result.waits_about(summary, line)
    if options.sort:
        rows = rows[table[rows].order(options.sort, descending=not options.ascending)]
    return table, rows[: options.top or None]


def _waves(waves: ChosenWaves, summary: WaitSummary) -> str:
    """How many waves were read, and the total if some could not be read."""
    of, read = len(waves.trace.waves) if waves.rows is None else len(waves.rows), summary.waves
    return plural(read, "wave") if read == of else Message("{0:,} of {1}", read, plural(of, "wave"))


def _waits(waves: ChosenWaves, summary: WaitSummary, rows: np.ndarray) -> Iterator[answer.Part]:
    short, table = short_sources(waves.trace), summary.blocking
    waits = result.wait_documents(waves.trace, summary, rows)
    yield answer.TextGrid(_COLUMNS, [cells for wait in waits for cells in _cells(wait, short)])
    total, part = int(table.stall.sum()), int(table.stall[rows].sum())
    share = Message("{0} of ", percent(part, total)) if total else ""
    of, read = plural(len(table), "wait"), _waves(waves, summary)
    yield Message("\n{0:,} of {1}: {2}{3} cycles of stall in {4}.", len(rows), of, share, count(total), read)
    yield (
        "Stall is charged to the operation that ended the wait, with the turn that a wait takes by itself, "
        "which `rcv causes` lists apart. Latency is the median."
    )
    if guessed := int(table.guessed.sum()):
        yield Message("Perhaps: in {0} cycles another operation of the wait fits as well.", count(guessed))


def _cells(wait: dict[str, Any], short: dict[str, str]) -> Iterator[list[str]]:
    yield _row(wait, wait["text"], short)
    for producer in wait["producers"][:MAX_LISTED]:
        is_guess = 0 < producer["stall"] <= 2 * producer["guessed"]
        text = Message("  ← perhaps {0}" if is_guess else "  ← {0}", producer["text"])
        yield _row(producer, text, short, producer["latency"]["median"])
    more = len(wait["producers"]) - MAX_LISTED
    if more > 0:
        yield ["", "", "", "", "", Message("  ← and {0}", plural(more, "more instruction")), ""]


def _row(place: dict[str, Any], text: str, short: dict[str, str], median: float | None = None) -> list[str]:
    return [
        str(place["instruction"]),
        count(place["hits"]),
        count(place["stall"]),
        result.SHARE_OF_STALL.text(place.get("share_of_stall", place.get("share_of_wait_stall"))),
        "" if median is None else f"{median:,.0f}",
        text,
        short_place(place["source"], short),
    ]


def _why_none(waves: ChosenWaves, summary: WaitSummary, options: WaitsOptions) -> str:
    if waves.rows is not None and not waves.rows and len(waves.trace.waves) == waves.read:
        return answer.nothing("wave", options, "No wave touches this range.")
    return waves.why_none("waits") or answer.nothing("wait", options, WAIT_ROWS.nothing)
