"""How often attribution is right where the truth is known: cycles by cause, against the simulator.

`python -m tests.support.attribution_truth` prints the table for several captures.  Precision is the share of
the cycles given to a cause that the simulator spent for it; recall the share of the simulator's cycles that
got the cause.  The simulator names one cause a stall, the longest; a stall with two costs precision.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rcv_py.analysis.attribution.attribute import by_engine, engine_stream, stalls
from rcv_py.analysis.attribution.causes import Cause, CauseText
from rcv_py.analysis.attribution.gaps import gaps
from rcv_py.analysis.attribution.ledger import Claims
from rcv_py.analysis.attribution.stream import Stream
from rcv_py.formats.open import open_trace
from rcv_py.model.waves import Wave
from rcv_py.synth.truth import Cause as True_
from rcv_py.synth.truth import Truth
from rcv_py.synth.variants import SAMPLES

NAMES = ("matmul_tiled", "reduction", "vector_add", "kernels", "gfx11", "gfx12")

# Which of our causes mean which of the simulator's.  A change of unit is a moment of arbitration there, and
# what precedes the first instruction is fetch or launch.
MEANS = {
    **{cause: {True_.COUNTER} for cause in Cause if cause.name.startswith("WAIT_")},
    Cause.OWN: {True_.SLEEP},
    Cause.NOP: {True_.SLEEP},
    Cause.SLEEP: {True_.SLEEP},
    Cause.BARRIER: {True_.BARRIER},
    Cause.MATRIX_RESULT: {True_.DEPENDENCY},
    Cause.REGISTER: {True_.DEPENDENCY},
    Cause.MATRIX_BUSY: {True_.PIPE},
    Cause.MEMORY_QUEUE: {True_.PIPE},
    Cause.LDS_QUEUE: {True_.PIPE},
    Cause.SCALAR_QUEUE: {True_.PIPE},
    Cause.ARBITRATION: {True_.ARBITER},
    Cause.UNIT_BUSY: {True_.ARBITER},
    Cause.FETCH: {True_.FETCH},
    Cause.DRAIN: {True_.DRAIN},
}
MEANS_IN_GAPS = MEANS | {
    Cause.LAUNCH: {True_.LAUNCH, True_.FETCH},
    Cause.SWITCH: {True_.ARBITER},
    Cause.REGISTER: {True_.ARBITER},
}


@dataclass(frozen=True)
class Measured:
    """Cycles of one capture."""

    stall: Counter[tuple[True_, Cause]]
    idle: Counter[tuple[True_, Cause]]
    blamed: Counter[tuple[Cause, bool]]  # cause, whether the producer is the true one; where both name one

    def right(self, *, is_idle: bool = False) -> float:
        """Share of cycles whose cause is the true one."""
        table, means = (self.idle, MEANS_IN_GAPS) if is_idle else (self.stall, MEANS)
        good = sum(n for (true, ours), n in table.items() if true in means.get(ours, ()))
        return good / max(1, sum(table.values()))

    def precision(self, ours: Cause) -> float:
        """Of the stalled cycles given to a cause, the share that is right; 1 if there are none."""
        mine = {true: n for (true, one), n in self.stall.items() if one is ours}
        good = sum(n for true, n in mine.items() if true in MEANS.get(ours, ()))
        return good / sum(mine.values()) if mine else 1.0

    def recall(self, true: True_) -> float:
        """Of the stalled cycles of a true cause, the share that was found; 1 if there are none."""
        its = {ours: n for (one, ours), n in self.stall.items() if one is true}
        good = sum(n for ours, n in its.items() if true in MEANS.get(ours, ()))
        return good / sum(its.values()) if its else 1.0

    def producers(self, *causes: Cause) -> float:
        """Of the stalled cycles with a producer (of these causes, or all), the share with the true one."""
        mine = {key: n for key, n in self.blamed.items() if not causes or key[0] in causes}
        return sum(n for (_, good), n in mine.items() if good) / max(1, sum(mine.values()))


def measured(name: str, folder: Path, seed: int = 0) -> Measured:
    """Simulate a capture, attribute it, and compare token by token."""
    truth = SAMPLES[name].write(folder, seed)
    trace = open_trace(folder)
    found = Measured(Counter(), Counter(), Counter())
    for waves in by_engine([trace.reader.read(list(range(len(trace.waves))))]):
        one = engine_stream(trace, waves)
        claims = stalls(one, trace.gfxip).claims()
        _count(found.stall, _column(truth, waves, "cause"), claims)
        _count(found.idle, _column(truth, waves, "gap_cause"), gaps(one).claims())
        _count_blamed(found.blamed, truth, waves, one, claims)
    return found


def _column(truth: Truth, waves: list[Wave], name: str) -> np.ndarray:
    keys = [(wave.id.se, wave.id.simd, wave.id.slot, wave.id.wid) for wave in waves]
    return np.concatenate([getattr(truth.waves[key], name) for key in keys])


def _count(table: Counter[tuple[True_, Cause]], true: np.ndarray, claims: Claims) -> None:
    key, place = np.unique(true[claims.token].astype(np.int64) * 64 + claims.cause, return_inverse=True)
    cycles = np.bincount(place.reshape(-1), weights=claims.cycles)
    for number, n in zip(key.tolist(), cycles.tolist(), strict=True):
        table[True_(number // 64), Cause(number % 64)] += int(n)


def _count_blamed(
    table: Counter[tuple[Cause, bool]], truth: Truth, waves: list[Wave], one: Stream, claims: Claims
) -> None:
    """Compare instructions: of one wave's kernel the simulator's number and the row differ by a constant."""
    number, blamed = (_column(truth, waves, name).astype(np.int64) for name in ("instruction", "blamed"))
    true, ours = blamed[claims.token], claims.producer
    both = np.flatnonzero((true >= 0) & (ours >= 0))
    good = number[ours[both]] == true[both]
    for cause, is_good, n in zip(
        claims.cause[both].tolist(), good.tolist(), claims.cycles[both].tolist(), strict=True
    ):
        table[Cause(cause), is_good] += n


def main(names: list[str]) -> None:
    """Print precision, recall and producers of some captures."""
    from rcv_py.analysis.attribution.causes import CAUSE_TEXT

    for name in names or NAMES:
        with tempfile.TemporaryDirectory() as folder:
            found = measured(name, Path(folder) / name)
        print(
            f"{name}: {100 * found.right():.2f} % of {sum(found.stall.values()):,} stalled cycles and "
            f"{100 * found.right(is_idle=True):.2f} % of {sum(found.idle.values()):,} idle cycles have the "
            f"true cause; {100 * found.producers():.2f} % of blamed cycles the true producer"
        )
        for cause in sorted({ours for _, ours in found.stall}):
            text: CauseText = CAUSE_TEXT[cause]
            n = sum(n for (_, ours), n in found.stall.items() if ours is cause)
            producers = (
                f"{100 * found.producers(cause):6.1f} %" if any(k[0] is cause for k in found.blamed) else ""
            )
            precision = f"{100 * found.precision(cause):6.1f} %"
            print(f"  {text.name:26} {n:>12,}  precision {precision}  producer {producers}")
        for true in sorted({true for true, _ in found.stall}):
            n = sum(n for (one, _), n in found.stall.items() if one is true)
            print(f"    true {true.name.lower():12} {n:>12,}  recall {100 * found.recall(true):6.1f} %")


if __name__ == "__main__":
    main(sys.argv[1:])
