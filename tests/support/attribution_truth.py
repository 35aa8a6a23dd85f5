"""How often attribution is right where the truth is known: cycles by cause, against the simulator.

`python -m tests.support.attribution_truth` prints the tables; `--markdown` as they stand in
`docs/attribution.md`.  Three numbers a cause, all of stalled cycles:

* precision: of the cycles given to a cause, the share in which it really kept the instruction.  Causes
  overlap, and the simulator counts each: cycles in which two would have been enough are right for either.
  A wait is right if what it waited for is of the true kind.
* found: of the cycles of stalls that a cause decided (the one that would have kept them longest), the share
  given to it.
* producer: of the cycles with a producer in stalls the cause decided, the share with the true instruction;
  of barriers the true wave.

Which cause was true is told in the terms of the attribution by the simulator's own reading of instructions.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from rcv_py.analysis.attribution.attribute import by_engine, engine_stream, stalls
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, WAITS, Cause
from rcv_py.analysis.attribution.gaps import gaps
from rcv_py.analysis.attribution.ledger import Claims
from rcv_py.analysis.attribution.stream import Stream
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave
from rcv_py.synth.isa import meaning
from rcv_py.synth.truth import Cause as True_
from rcv_py.synth.truth import Truth
from rcv_py.synth.variants import SAMPLES
from tests.support import workgroup_truth

PLAIN = ("matmul_small", "reduction", "vector_add", "gfx11", "gfx12")
ADVERSE = ("rivals", "untold", "straggler", "combined", "ceiling", "crowded")
NAMES = (*PLAIN, *ADVERSE)

_PLAIN_CAUSES = {
    True_.NONE: Cause.UNEXPLAINED,
    True_.UNTOLD: Cause.UNEXPLAINED,
    True_.FETCH: Cause.FETCH,
    True_.BARRIER: Cause.BARRIER,
    True_.ARBITER: Cause.ARBITRATION,
    True_.OWN_UNIT: Cause.UNIT_BUSY,
    True_.DRAIN: Cause.DRAIN,
    True_.LAUNCH: Cause.LAUNCH,
}
_QUEUES = {
    "matrix": Cause.MATRIX_BUSY,
    "vmem": Cause.MEMORY_QUEUE,
    "lds": Cause.LDS_QUEUE,
    "smem": Cause.SCALAR_QUEUE,
}
# What a cause claims, in the simulator's terms.
HELD = {
    **{cause: (True_.COUNTER,) for cause in Cause if cause.name.startswith("WAIT_")},
    **dict.fromkeys((Cause.OWN, Cause.NOP, Cause.SLEEP), (True_.SLEEP,)),
    **dict.fromkeys((Cause.MATRIX_RESULT, Cause.REGISTER), (True_.DEPENDENCY,)),
    **dict.fromkeys(_QUEUES.values(), (True_.PIPE,)),
    **{ours: (true,) for true, ours in _PLAIN_CAUSES.items() if true is not True_.NONE},
}
# In gaps a change of unit is a moment of arbitration there, and what precedes the first is fetch or launch.
IN_GAPS = {
    Cause.LAUNCH: (True_.LAUNCH, True_.FETCH),
    Cause.SWITCH: (True_.ARBITER,),
    Cause.REGISTER: (True_.ARBITER,),
    Cause.FETCH: (True_.FETCH,),
    Cause.DRAIN: (True_.DRAIN,),
    Cause.ARBITRATION: (True_.ARBITER,),
}


@dataclass(frozen=True)
class Measured:
    """Cycles of some captures; measurements can be added."""

    stall: Counter[tuple[Cause, Cause]] = field(default_factory=Counter)  # (decided by, given to)
    held: Counter[Cause] = field(default_factory=Counter)  # given to a cause that held the instruction
    untold: Counter[Cause] = field(default_factory=Counter)  # given wrongly where nothing in the file tells
    blamed: Counter[tuple[Cause, bool]] = field(
        default_factory=Counter
    )  # with a producer, whether it is true
    nobody: Counter[bool] = field(default_factory=Counter)  # barriers without producer: was the last untraced
    idle: Counter[tuple[True_, Cause]] = field(default_factory=Counter)

    def __add__(self, other: Measured) -> Measured:
        return Measured(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))

    def given(self, cause: Cause) -> int:
        """Stalled cycles given to a cause."""
        return sum(n for (_, ours), n in self.stall.items() if ours is cause)

    def decided(self, cause: Cause) -> int:
        """Stalled cycles of stalls that a cause decided."""
        return sum(n for (true, _), n in self.stall.items() if true is cause)

    def precision(self, cause: Cause) -> float:
        """Share of what is given to a cause in which it held the instruction; 1 if nothing is given."""
        return self.good(cause) / self.given(cause) if self.given(cause) else 1.0

    def good(self, cause: Cause) -> int:
        """Cycles given to a cause that held the instruction; of waits those of the true kind."""
        return self.stall[cause, cause] if cause in WAITS else self.held[cause]

    def found(self, cause: Cause) -> float:
        """Share of the stalls a cause decided that is given to it; 1 if there are none."""
        return self.stall[cause, cause] / self.decided(cause) if self.decided(cause) else 1.0

    def right(self) -> float:
        """Share of all explained cycles whose cause held the instruction."""
        told = [cause for cause in Cause if cause is not Cause.UNEXPLAINED]
        return sum(map(self.good, told)) / max(1, sum(map(self.given, told)))

    def right_idle(self) -> float:
        """Share of the idle cycles whose cause is the true one."""
        good = sum(n for (true, ours), n in self.idle.items() if true in IN_GAPS.get(ours, ()))
        return good / max(1, sum(self.idle.values()))

    def producers(self, *causes: Cause) -> float:
        """Share of the cycles with a producer (of these causes, or all) that have the true one."""
        mine = {key: n for key, n in self.blamed.items() if not causes or key[0] in causes}
        return sum(n for (_, good), n in mine.items() if good) / max(1, sum(mine.values()))

    def has_producers(self, cause: Cause) -> bool:
        """Whether any cycles of a cause have a producer."""
        return any(key[0] is cause for key in self.blamed)


def measured(name: str, folder: Path, seed: int = 0) -> Measured:
    """Simulate a capture, attribute it, and compare token by token."""
    truth = SAMPLES[name].write(folder, seed)
    trace = open_trace(folder)
    found = Measured()
    for waves in by_engine([trace.reader.read(list(range(len(trace.waves))))]):
        one = engine_stream(trace, waves)
        claims = stalls(one, trace.gfxip).claims()
        decided = _decided(trace, truth, waves, one, claims)
        _count(found, truth, waves, claims, decided)
        _count_blamed(found, truth, waves, one, claims, is_decided=decided == claims.cause)
        cause = _column(truth, waves, "gap_cause").astype(np.int64)
        idle = gaps(one).claims()
        for (true, ours), n in _sums(cause[idle.token], idle.cause, idle.cycles).items():
            found.idle[True_(true), Cause(ours)] += n
    return found


def _column(truth: Truth, waves: list[Wave], name: str) -> np.ndarray:
    keys = [(wave.id.se, wave.id.simd, wave.id.slot, wave.id.wid) for wave in waves]
    return np.concatenate([getattr(truth.waves[key], name) for key in keys])


def _sums(first: np.ndarray, second: np.ndarray, cycles: np.ndarray) -> dict[tuple[int, int], int]:
    key, place = np.unique(first.astype(np.int64) * 64 + second, return_inverse=True)
    sums = np.bincount(place.reshape(-1), weights=cycles, minlength=len(key)).astype(int).tolist()
    return {divmod(number, 64): n for number, n in zip(key.tolist(), sums, strict=True)}


def _decided(trace: Trace, truth: Truth, waves: list[Wave], one: Stream, claims: Claims) -> np.ndarray:
    """Return the true cause of the stall of each claim, as the number of a Cause, int64."""
    cause = _column(truth, waves, "cause").astype(np.int64)
    blamed = _column(truth, waves, "blamed").astype(np.int64)
    row_of_blamed = one.line - _column(truth, waves, "instruction") + blamed
    keys = {(int(one.line[at]), int(cause[at]), int(row_of_blamed[at])) for at in claims.token.tolist()}
    names = {key: _true_name(trace, *key) for key in keys}
    columns = zip(
        one.line[claims.token].tolist(),
        cause[claims.token].tolist(),
        row_of_blamed[claims.token].tolist(),
        strict=True,
    )
    return np.array([names[key] for key in columns], dtype=np.int64)


def _count(found: Measured, truth: Truth, waves: list[Wave], claims: Claims, decided: np.ndarray) -> None:
    cause = _column(truth, waves, "cause").astype(np.int64)
    for (true, ours), n in _sums(decided, claims.cause, claims.cycles).items():
        found.stall[Cause(true), Cause(ours)] += n
    held = _column(truth, waves, "held")
    is_untold = cause == True_.UNTOLD
    both, place = np.unique(claims.token * 64 + claims.cause, return_inverse=True)
    cycles = np.bincount(place.reshape(-1), weights=claims.cycles).astype(np.int64)
    for number in np.unique(both % 64).tolist():
        mine = both % 64 == number
        token = both[mine] // 64
        really = np.minimum(held[token][:, list(HELD.get(Cause(number), ()))].sum(axis=1), cycles[mine])
        if Cause(number) not in WAITS:  # those are held for a counter: which kind it was decides
            found.held[Cause(number)] += int(really.sum())
        wrong = np.where(is_untold[token], cycles[mine] - really, 0)
        found.untold[Cause(number)] += int(wrong.sum())


@cache
def _unit(text: str, generation: int) -> tuple[str, bool]:
    what = meaning(text, generation)
    return what.unit, what.is_store


def _true_name(trace: Trace, line: int, cause: int, blamed: int) -> Cause:
    """The true cause in the terms of the attribution, by the simulator's reading of instructions."""
    true, text, generation = True_(cause), trace.code.text[line], trace.gfxip
    if true is True_.SLEEP:
        return next(
            (own for name, own in (("s_nop", Cause.NOP), ("s_sleep", Cause.SLEEP)) if text.startswith(name)),
            Cause.OWN,
        )
    if true is True_.PIPE:
        return _QUEUES[_unit(text, generation)[0]]
    if true is True_.DEPENDENCY:
        is_matrix = _unit(trace.code.text[blamed], generation)[0] == "matrix"
        return Cause.MATRIX_RESULT if is_matrix else Cause.REGISTER
    if true is True_.COUNTER:
        return _true_wait(trace.code.text[blamed], generation)
    return _PLAIN_CAUSES[true]


def _true_wait(text: str, generation: int) -> Cause:
    unit, is_store = _unit(text, generation)
    if unit == "vmem":
        return Cause.WAIT_ATOMIC if "atomic" in text else Cause.WAIT_STORE if is_store else Cause.WAIT_LOAD
    if unit == "lds":
        return Cause.WAIT_CROSS_LANE if "permute" in text else Cause.WAIT_LDS
    return Cause.WAIT_SCALAR


def _count_blamed(
    found: Measured, truth: Truth, waves: list[Wave], one: Stream, claims: Claims, *, is_decided: np.ndarray
) -> None:
    """Compare instructions, of barriers waves: the simulator's number and the row differ by a constant."""
    number, blamed = (_column(truth, waves, name).astype(np.int64) for name in ("instruction", "blamed"))
    true, ours = blamed[claims.token], claims.producer
    both = np.flatnonzero((true >= 0) & (ours >= 0) & is_decided)
    good = number[ours[both]] == true[both]
    for (cause, is_good), n in _sums(claims.cause[both], good, claims.cycles[both]).items():
        found.blamed[Cause(cause), bool(is_good)] += n
    rows = np.flatnonzero(claims.cause == Cause.BARRIER)
    last = _column(truth, waves, "blamed_wave")[claims.token[rows]]
    names = np.array([(wave.id.simd, wave.id.slot, wave.id.wid) for wave in waves])
    is_traced = (last[:, None, :] == names[None, :, :]).all(axis=2).any(axis=1)
    has = ours[rows] >= 0
    is_last = (names[one.owner[np.maximum(ours[rows], 0)]] == last).all(axis=1)
    for is_good, n in zip(is_last[has].tolist(), claims.cycles[rows[has]].tolist(), strict=True):
        found.blamed[Cause.BARRIER, is_good] += n
    for is_there, n in zip(is_traced[~has].tolist(), claims.cycles[rows[~has]].tolist(), strict=True):
        found.nobody[not is_there] += n


def all_measured(names: tuple[str, ...] = NAMES) -> dict[str, Measured]:
    """Return the measurements of some captures by name."""
    with tempfile.TemporaryDirectory() as folder:
        return {name: measured(name, Path(folder) / name) for name in names}


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def by_cause(found: Measured) -> list[tuple[str, ...]]:
    """Rows of the table of causes, the head first."""
    rows: list[tuple[str, ...]] = [("cause", "cycles", "precision", "found", "producer")]
    for cause in Cause:
        if cause is not Cause.UNEXPLAINED and (found.given(cause) or found.decided(cause)):
            numbers = (_percent(found.precision(cause)), _percent(found.found(cause)))
            given, decided = found.given(cause), found.decided(cause)
            producers = _percent(found.producers(cause)) if found.has_producers(cause) else "–"
            rows.append(
                (
                    CAUSE_TEXT[cause].name,
                    f"{given:,}",
                    numbers[0] if given else "–",
                    numbers[1] if decided else "–",
                    producers,
                )
            )
    return rows


def by_capture(found: dict[str, Measured]) -> list[tuple[str, ...]]:
    """Rows of the table of captures, the head first."""
    rows: list[tuple[str, ...]] = [
        ("capture", "stalled", "explained", "of that right", "idle right", "producer")
    ]
    for name, one in found.items():
        whole = sum(one.stall.values())
        told = 1 - one.given(Cause.UNEXPLAINED) / max(1, whole)
        shares = (told, one.right(), one.right_idle(), one.producers())
        rows.append((name, f"{whole:,}", *map(_percent, shares)))
    return rows


def confusion(found: Measured, least: float = 0.0005) -> list[tuple[str, ...]]:
    """What stalls that a cause decided were given to: largest first, shares below `least` left out."""
    rows: list[tuple[str, ...]] = [("decided by", "cycles", "given to")]
    for true in Cause:
        whole = found.decided(true)
        if not whole:
            continue
        parts = sorted(((n, ours) for (one, ours), n in found.stall.items() if one is true), reverse=True)
        told = ", ".join(
            f"{CAUSE_TEXT[ours].name} {_percent(n / whole)}" for n, ours in parts if n >= least * whole
        )
        name = "nothing the file tells" if true is Cause.UNEXPLAINED else CAUSE_TEXT[true].name
        rows.append((name, f"{whole:,}", told))
    return rows


def markdown(rows: list[tuple[str, ...]]) -> str:
    """A table as Markdown."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def main(words: list[str]) -> None:
    """Print the tables."""
    names = tuple(word for word in words if not word.startswith("-")) or NAMES
    found = all_measured(names)
    whole = sum(found.values(), Measured())
    wrong = sum(whole.untold.values()) - whole.untold[Cause.UNEXPLAINED]
    untold = whole.decided(Cause.UNEXPLAINED)
    for rows in (by_capture(found), by_cause(whole), confusion(whole)):
        print(markdown(rows) if "--markdown" in words else _text(rows), end="\n\n")
    if untold:
        left = whole.stall[Cause.UNEXPLAINED, Cause.UNEXPLAINED] / untold
        print(
            f"Of {untold:,} cycles of stalls that nothing in the file explains {_percent(left)} stay "
            f"unexplained, {_percent(wrong / untold)} are given to a cause that did not hold them."
        )
    if whole.nobody:
        share = whole.nobody[True] / sum(whole.nobody.values())
        print(f"Of barriers without a producer {_percent(share)} had a last wave that was not traced.")
    if names == NAMES:
        with tempfile.TemporaryDirectory() as folder:
            rows = workgroup_truth.table(workgroup_truth.by_size(Path(folder)))
        print("", markdown(rows) if "--markdown" in words else _text(rows), sep="\n")


def _text(rows: list[tuple[str, ...]]) -> str:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


if __name__ == "__main__":
    main(sys.argv[1:])
