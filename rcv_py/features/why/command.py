"""`rcv causes`: why waves stalled and idled, by cause, by instruction or by the instruction to blame."""

from collections.abc import Iterator
from dataclasses import dataclass

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

_NUMBERS = tuple(
    TextColumn(field.title, True) for field in (STALL, result.SHARE_OF_STALL, IDLE, result.TIMES)
)
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
            yield from _Printed(trace, table, groups, by).parts()
        else:
            yield waves.why_none("stalls") or nothing(
                "stall and no idle time", options, result.BY[by].nothing
            )

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


@dataclass(frozen=True, eq=False)
class _Printed:
    """The rows of a table by one of its columns, with the largest parts below each."""

    trace: Trace
    table: Attribution
    groups: Attribution
    by: str

    def parts(self) -> Iterator[Part]:
        """A table, and what it explains."""
        table, short = self.table, short_sources(self.trace)
        named = result.keys(self.groups, self.by).tolist()
        rows = [cells for at, key in enumerate(named) for cells in self._cells(at, key, short)]
        yield TextGrid(_CAUSES if self.by == "cause" else _LINES, rows)
        read = Message("{0:,} of ", table.waves) if table.waves < table.of else ""
        yield Message(
            "\n{0} of {1} stalled and {2} of {3} idle cycles explained in {4}{5}.",
            known_percent(table.explained),
            count(table.total_stall),
            known_percent(table.explained_idle),
            count(table.total_idle),
            read,
            plural(table.of, "wave"),
        )
        yield table.assumption

    def _cells(self, at: int, key: int, short: dict[str, str]) -> Iterator[list[str]]:
        yield self._row(self.groups, at, *self._title(key, short), key=key)
        part = self.table.at(result.keys(self.table, self.by) == key)
        for row in range(min(MAX_LISTED, len(part))):
            yield self._row(part, row, *self._below(part, row, short), key=-1)

    def _title(self, key: int, short: dict[str, str]) -> tuple[str, str]:
        if self.by == "cause":
            return CAUSE_TEXT[Cause(key)].name, CAUSE_TEXT[Cause(key)].sentence
        if key < 0:
            return "(no known instruction)", ""
        return self.trace.code.text[key], short_place(source_of(self.trace, key), short)

    def _below(self, part: Attribution, row: int, short: dict[str, str]) -> tuple[str, str]:
        line, blamed = int(part.line[row]), int(part.producer[row])
        text, cause = self.trace.code.text, CAUSE_TEXT[Cause(int(part.cause[row]))].name
        is_guess = bool(part.is_guess[row])
        blames = " ← perhaps {0} {1}" if is_guess else " ← {0} {1}"
        by = Message(blames, blamed, text[blamed]) if blamed >= 0 else ""
        own = f"{line} {text[line]}" if line >= 0 else "(no instruction)"
        if self.by == "cause":
            return "", Message(
                "  {0}{1}{2}{3}", own, beside(self.trace, line), by, beside(self.trace, blamed)
            )
        place = short_place(source_of(self.trace, blamed if self.by == "instruction" else line), short)
        if self.by == "instruction":
            return Message("  {0}{1}", cause, by), place
        blamed_for = "  → perhaps {0}: {1}" if is_guess else "  → {0}: {1}"
        return Message(blamed_for, own, cause), place

    def _row(self, table: Attribution, row: int, *texts: str, key: int) -> list[str]:
        stall, total = int(table.stall[row]), self.table.total_stall
        share = percent(stall, total) if total else ""
        numbers = [count(stall), share, count(int(table.idle[row])), count(int(table.count[row]))]
        return [*([] if self.by == "cause" else [str(key) if key >= 0 else ""]), *numbers, *texts]
