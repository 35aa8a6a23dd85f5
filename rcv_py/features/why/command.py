"""`rcv causes`: why waves stalled and idled, by cause, by instruction or by the instruction to blame."""

from collections.abc import Iterator

import numpy as np

from rcv_py.analysis.attribution.attribute import ATTRIBUTION, Attribution
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.cost.place_text import beside, source_of
from rcv_py.base.text import Message, count, known_percent, percent, plural, short_place
from rcv_py.cli.answer import CommandAnswer, Part, TextColumn, TextGrid, heading, max_nested, nothing
from rcv_py.cli.opening import choose_waves
from rcv_py.features.why import result
from rcv_py.features.why.options import CausesOptions
from rcv_py.model.trace import Trace
from rcv_py.results.common import IDLE, STALL
from rcv_py.results.places import short_sources

MAX_LISTED = 3  # parts of a row that the text shows
_NUMBERS = tuple(TextColumn(one.title, True) for one in (STALL, result.SHARE_OF_STALL, IDLE, result.TIMES))
_CAUSES = (*_NUMBERS, TextColumn("cause"), TextColumn("because", elastic="right"))
_LINES = (
    TextColumn("#", True),
    *_NUMBERS,
    TextColumn("instruction", elastic="right"),
    TextColumn("source", elastic="left"),
)


def run(options: CausesOptions) -> CommandAnswer:
    """List the causes, instructions or producers of a capture."""
    waves = choose_waves(options, (ATTRIBUTION,))
    trace, by = waves.trace, options.by
    table = waves.of(ATTRIBUTION)
    if options.line is not None:
        table = table.at((table.line == options.line) | (table.producer == options.line))
    groups = result.grouped(table, by)
    if options.sort:
        every = result.cause_table(trace, groups, by, table.total_stall)
        groups = result.in_order(groups, every, options.sort, descending=not options.ascending)
    groups = groups.at(np.arange(len(groups))[: options.top or None])

    def text() -> Iterator[Part]:
        yield from heading(waves)
        if len(table):
            yield from _parts(trace, table, groups, by)
        else:
            none = nothing("stall and no idle time", options, result.BY[by].nothing)
            yield waves.why_none("stalls") or none

    return CommandAnswer(
        schema=result.SCHEMA,
        document=lambda: {
            "by": by,
            **result.facts(table),
            "rows": result.documents(trace, table, groups, by, max_nested(options)),
        },
        csv=lambda: result.flat_table(trace, table, groups, by).csv(),
        text=text,
        of=waves,
    )


def _parts(trace: Trace, table: Attribution, groups: Attribution, by: str) -> Iterator[Part]:
    """A table with the largest parts below each row, and what it explains."""
    short, rows = short_sources(trace), []
    for at, key in enumerate(result.keys(groups, by).tolist()):
        rows.append(_row(groups, at, table.total_stall, by, key, *_title(trace, by, key, short)))
        part = table.at(result.keys(table, by) == key)
        for row in range(min(MAX_LISTED, len(part))):
            rows.append(_row(part, row, table.total_stall, by, -1, *_below(trace, part, row, by, short)))
    yield TextGrid(_CAUSES if by == "cause" else _LINES, rows)
    yield Message(
        "\n{0} of {1} stalled and {2} of {3} idle cycles explained in {4}{5}.",
        known_percent(table.explained),
        count(table.total_stall),
        known_percent(table.explained_idle),
        count(table.total_idle),
        Message("{0:,} of ", table.waves) if table.waves < table.of else "",
        plural(table.of, "wave"),
    )
    yield table.assumption


def _title(trace: Trace, by: str, key: int, short: dict[str, str]) -> tuple[str, str]:
    if by == "cause":
        return CAUSE_TEXT[Cause(key)].name, CAUSE_TEXT[Cause(key)].sentence
    if key < 0:
        return "(no known instruction)", ""
    return trace.code.text[key], short_place(source_of(trace, key), short)


def _below(trace: Trace, part: Attribution, row: int, by: str, short: dict[str, str]) -> tuple[str, str]:
    line, blamed = int(part.line[row]), int(part.producer[row])
    text, cause = trace.code.text, CAUSE_TEXT[Cause(int(part.cause[row]))].name
    is_guess = bool(part.is_guess[row])
    blames = " ← perhaps {0} {1}" if is_guess else " ← {0} {1}"
    by_it = Message(blames, blamed, text[blamed]) if blamed >= 0 else ""
    own = f"{line} {text[line]}" if line >= 0 else "(no instruction)"
    if by == "cause":
        return "", Message("  {0}{1}{2}{3}", own, beside(trace, line), by_it, beside(trace, blamed))
    place = short_place(source_of(trace, blamed if by == "instruction" else line), short)
    if by == "instruction":
        return Message("  {0}{1}", cause, by_it), place
    return Message("  → perhaps {0}: {1}" if is_guess else "  → {0}: {1}", own, cause), place


def _row(table: Attribution, row: int, total: int, by: str, key: int, *texts: str) -> list[str]:
    stall = int(table.stall[row])
    numbers = [count(stall), percent(stall, total), count(int(table.idle[row])), count(int(table.count[row]))]
    return [*([] if by == "cause" else [str(key) if key >= 0 else ""]), *numbers, *texts]
