"""Why one instruction was late, over all its executions: one row per cause, with its producers."""

from __future__ import annotations

from typing import NamedTuple

from rcv_py.analysis.attribution.attribute import Attribution
from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.core.saturated import total
from rcv_py.base.runs import ascending


class Blamed(NamedTuple):
    """An instruction that made another one late."""

    line: int  # code row
    cycles: int  # stalled and idle
    is_guess: bool  # one of several candidates


class LineCause(NamedTuple):
    """Cycles of one cause, over all executions of an instruction."""

    cause: Cause
    stall: int  # cycles
    idle: int  # cycles before it
    blamed: tuple[Blamed, ...]  # most cycles first

    @property
    def cycles(self) -> int:
        """Stalled and idle cycles."""
        return self.stall + self.idle


def causes_of(table: Attribution, line: int) -> tuple[LineCause, ...]:
    """Return the causes of the cycles that a code row was late, most cycles first.

    Their sums of stall and idle equal the sums of the row.
    """
    own = table.at(table.line == line)
    found = []
    for cause in ascending(own.cause).tolist():
        part = own.at(own.cause == cause)
        known = part.at(part.producer >= 0)
        columns = (known.producer, known.cycles, known.is_guess)
        rows = sorted(zip(*(one.tolist() for one in columns), strict=True), key=lambda row: (-row[1], row[0]))
        stall, idle = total(part.stall), total(part.idle)
        blamed = tuple(Blamed(*row) for row in rows)
        found.append(LineCause(cause=Cause(cause), stall=stall, idle=idle, blamed=blamed))
    return tuple(sorted(found, key=lambda one: (-one.cycles, one.cause)))
