"""How much of the stall of a capture attribution explains, and of how much it names the producer.

*Named* is a share of the stalled cycles in which an instruction can be to blame: all but those of the causes
in `WITHOUT_PRODUCER`, which are what a wait itself takes, sleeping and fetching.  Cycles without an
explanation count as not named.
"""

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.attribution.attribute import Attribution, before_shared_fetch
from rcv_py.analysis.attribution.causes import WITHOUT_PRODUCER
from rcv_py.analysis.attribution.lines import NONE, SALU, VALU
from rcv_py.analysis.attribution.stream import engine_stream
from rcv_py.analysis.attribution.waits import has_partner
from rcv_py.model.trace import Trace
from tests.support.engines import waves_by_engine

SHIFTS = (36, -52, 100, -132, 260, -300, 516, 1028)  # cycles at which partners are there by chance


@dataclass(frozen=True)
class Named:
    """Stalled cycles of a capture by what is said of their producer."""

    stalled: int
    blamable: int  # of causes that have a producer, or not explained
    named: int  # of them: with a producer
    guessed: int  # of them: with one that is called a guess

    @property
    def share(self) -> float:
        """Share of the stalled cycles with someone to blame that have a producer."""
        return self.named / self.blamable

    @property
    def of_all(self) -> float:
        """Share of all stalled cycles that have a producer."""
        return self.named / self.stalled


def named(table: Attribution) -> Named:
    """Return how much of the stall has a producer."""
    stall = table.stall
    blamable = ~np.isin(table.cause, WITHOUT_PRODUCER)
    has = blamable & (table.producer >= 0)
    guessed = np.minimum(table.guessed, stall)
    sums = (int(stall[rows].sum()) for rows in (slice(None), blamable, has))
    return Named(*sums, int(guessed[has].sum()))


def together(trace: Trace) -> tuple[int, int]:
    """Cycles that stall together with another SIMD, and as many as do so by chance."""
    found, chance = 0, 0.0
    for waves in waves_by_engine([trace.reader.read(list(range(len(trace.waves))))]):
        one = engine_stream(trace, waves)
        ledger = before_shared_fetch(one)
        rows = ledger.of_lines(np.isin(one.lines.unit, (NONE, VALU, SALU)))
        left = ledger.left[rows]
        found += int(left[has_partner(one, ledger, rows)].sum())
        chance += np.mean([left[has_partner(one, ledger, rows, shift)].sum() for shift in SHIFTS])
    return found, round(chance)
