"""`--waves`: whose costs a table sums, and what its heading says of them.

The waves that do not count still occupy units and cover cycles; so all of them are read.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, TextIO

from rcv_py.analysis.core.cost_columns import all_lines
from rcv_py.analysis.findings.engine_choice import only
from rcv_py.analysis.waves.populations import ALL, WORKING, Populations, WaveChoice, populations, wave_choice
from rcv_py.base.errors import UsageError
from rcv_py.base.text import count, plural
from rcv_py.cli.chosen import counted
from rcv_py.cli.opening import batches
from rcv_py.cli.options.cost_options import FlameOptions, IsaOptions
from rcv_py.cli.options.shared import WithWaves
from rcv_py.model.code import CodeTable
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch


@dataclass(frozen=True, eq=False)
class ChosenWaves:
    """All waves that could be read, and which of them count."""

    trace: Trace
    batches: tuple[WaveBatch, ...]
    found: Populations
    choice: WaveChoice

    @property
    def rows(self) -> frozenset[int] | None:
        """Rows of the wave index that count, None for all."""
        return self.choice.rows

    @property
    def counted(self) -> tuple[WaveBatch, ...]:
        """The waves that count."""
        return self.batches if self.rows is None else only(self.batches, self.rows)

    @property
    def code(self) -> CodeTable:
        """The program with the totals of the waves that count; those of code.json if all do."""
        if self.rows is None and self.found.read == len(self.trace.waves):
            return self.trace.code
        return all_lines(self.batches, len(self.trace.code), self.rows).on(self.trace.code)

    @property
    def missing(self) -> str:
        """Which waves could not be read, a sentence; "" if all could."""
        return missing_text(self.found.read, len(self.trace.waves))

    @property
    def heading(self) -> str:
        """Which waves the table is of, and which are missing; "" if it is of all."""
        is_part = self.rows is not None or (self.found.read and not self.found.has_working)
        hint = "" if self.choice.name == ALL or self.rows is None else "; --waves all sums all of them"
        parts = [f"Of {self.choice.text}{hint}." if is_part and self.choice.name != ALL else "", self.missing]
        return " ".join(filter(None, parts))

    def touching(self, clock: tuple[int, int] | None) -> Collection[int] | None:
        """Rows of the waves that count and touch a clock range."""
        inside = counted(self.trace, clock)
        return self.rows if inside is None else inside if self.rows is None else self.rows & inside

    def about(self) -> dict[str, Any]:
        """What a JSON document says of the choice."""
        return wave_facts(self.choice, len(self.trace.waves))


def choose_waves(trace: Trace, arguments: WithWaves, read: Iterable[WaveBatch] | None = None) -> ChosenWaves:
    """Read all waves (or take `read`) and choose those of `--waves`; raise UsageError for an unknown name.

    Without the option the usual ones of the command: those that work, or all of them.
    """
    kept = tuple(batches(trace) if read is None else read)
    found = populations(trace, kept)
    name = arguments.waves or arguments.usual_waves or WORKING
    return ChosenWaves(trace, kept, found, wave_choice(found, name))


def counted_trace(trace: Trace, arguments: WithWaves) -> tuple[Trace, ChosenWaves | None]:
    """Return a trace with the totals of the waves of `--waves`, for tables that count all by default.

    Without the option, and of all waves, totals are those of code.json; then no wave is read.
    """
    if arguments.waves in (None, ALL):
        return trace, None
    if not len(trace.waves):
        refuse(arguments, "the capture has no traced waves.")
    chosen = choose_waves(trace, arguments)
    return replace(trace, code=chosen.code), chosen


def refuse(arguments: WithWaves, why: str) -> None:
    """Raise UsageError if some waves are asked for where it cannot be honoured; `why` is a sentence."""
    if arguments.waves not in (None, ALL):
        raise UsageError(f"--waves cannot be honoured here: {why}", hint="Leave --waves out.")


def print_heading(chosen: ChosenWaves) -> None:
    """Print which waves a table is of, if it is not of all of them."""
    if chosen.heading:
        print(f"{chosen.heading}\n")


def missing_text(read: int, of: int) -> str:
    """Return that some waves could not be read, a sentence; "" if all could."""
    if read >= of:
        return ""
    gone = of - read
    files = "its file is" if gone == 1 else "their files are"
    return f"{count(gone)} of {plural(of, 'traced wave')} could not be read: {files} missing or damaged."


def told_batches(trace: Trace, arguments: FlameOptions | IsaOptions) -> tuple[WaveBatch, ...]:
    """Read all waves, and say which could not be read: above a table, of what programs read on stderr."""
    found = tuple(batches(trace))
    lost = missing_text(sum(len(batch.waves) for batch in found), len(trace.waves))
    if lost and arguments.waves in (None, ALL):  # of chosen waves the heading says it
        is_table = not {"json", "csv", "folded"} & arguments.given
        print(
            f"{lost} What needs them is of the others.\n" if is_table else f"rcv: {lost}", file=_to(is_table)
        )
    return found


def _to(is_table: bool) -> TextIO:
    return sys.stdout if is_table else sys.stderr


def wave_facts(choice: WaveChoice, traced: int) -> dict[str, Any]:
    """Return what a JSON document says of the waves that it is of."""
    return {
        "chosen": choice.name,
        "counted": choice.waves,
        "read": choice.of,
        "traced": traced,
        "text": choice.text,
    }
