"""How often attribution is right where the truth is known: cycles by cause, against the simulator.

`python -m tests.support.attribution_truth` prints the tables; `--markdown` as they stand in
`docs/attribution.md`.  Three numbers a cause, all of stalled cycles:

* precision: of the cycles given to a cause, the share in which it really kept the instruction.  Causes
  overlap, and the simulator counts each: cycles in which two would have been enough are right for either.
  A wait is right if what it waited for is of the true kind.
* found: of the cycles of stalls that a cause decided (the one that would have kept them longest), the share
  given to it.
* named: of the cycles with a producer that is named and not called a guess, the share in which this very
  instruction truly held the wave back, whatever the cause; of barriers, in which the true wave is named.
* guessed: the same of the producers that are called a guess.

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

from rcv_py.analysis.attribution.attribute import stalls
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, WAITS, WITHOUT_PRODUCER, Cause
from rcv_py.analysis.attribution.issue import gaps
from rcv_py.analysis.attribution.ledger import Claims
from rcv_py.analysis.attribution.stream import TokenStream, engine_stream
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave
from rcv_py.synth.capture import SimulatedCause as True_
from rcv_py.synth.capture import Truth
from rcv_py.synth.isa import meaning
from tests.support import workgroup_truth
from tests.support.engines import waves_by_engine
from tests.support.samples import write_sample

PLAIN = ("matmul_small", "reduction", "vector_add", "gfx11", "gfx12")
ADVERSE = (
    *("rivals", "untold", "straggler", "combined", "ceiling", "crowded", "groups_512", "groups_1024"),
    *("ping_pong", "mixed_populations"),
)
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
    blamed: Counter[tuple[Cause, bool, bool]] = field(
        default_factory=Counter
    )  # with a producer: (cause, whether it is called a guess, whether it is true)
    doubted: Counter[tuple[Cause, bool]] = field(
        default_factory=Counter
    )  # of waits whose producer is called a guess: (cause, whether the cause is true)
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

    def named(self, *causes: Cause, is_guess: bool = False) -> tuple[int, int]:
        """Cycles with a producer (of these causes, or all), and those of them with a true one."""
        mine = {
            key: n
            for key, n in self.blamed.items()
            if (not causes or key[0] in causes) and key[1] == is_guess
        }
        return sum(mine.values()), sum(n for (_, _, good), n in mine.items() if good)

    def producers(self, *causes: Cause, is_guess: bool = False) -> float:
        """Share of the cycles with a producer that have a true one; 1 if there are none."""
        whole, good = self.named(*causes, is_guess=is_guess)
        return good / whole if whole else 1.0

    def certain(self, cause: Cause) -> float:
        """Precision without the waits that say themselves that something else may have ended them."""
        doubted = self.doubted[cause, True] + self.doubted[cause, False]
        given = self.given(cause) - doubted
        return (self.good(cause) - self.doubted[cause, True]) / given if given else 1.0


def measured(name: str, folder: Path, seed: int = 0) -> Measured:
    """Simulate a capture, attribute it, and compare token by token."""
    truth = write_sample(name, folder, seed)
    trace = open_trace(folder)
    found = Measured()
    for waves in waves_by_engine([trace.reader.read(list(range(len(trace.waves))))]):
        one = engine_stream(trace, waves)
        claims = stalls(one).claims()
        decided = _decided(trace, truth, waves, one, claims)
        _count(found, truth, waves, claims, decided)
        _count_blamed(found, truth, waves, one, claims)
        cause = _column(truth, waves, "gap_cause").astype(np.int64)
        idle = gaps(one).claims()
        for (true, ours), n in _sums(cause[idle.token], idle.cause, idle.cycles).items():
            found.idle[True_(true), Cause(ours)] += n
    return found


def _column(truth: Truth, waves: list[TracedWave], name: str) -> np.ndarray:
    keys = [(wave.id.se, wave.id.simd, wave.id.slot, wave.id.wid) for wave in waves]
    return np.concatenate([getattr(truth.waves[key], name) for key in keys])


def _sums(first: np.ndarray, second: np.ndarray, cycles: np.ndarray) -> dict[tuple[int, int], int]:
    key, place = np.unique(first.astype(np.int64) * 64 + second, return_inverse=True)
    sums = np.bincount(place.reshape(-1), weights=cycles, minlength=len(key)).astype(int).tolist()
    return {divmod(number, 64): n for number, n in zip(key.tolist(), sums, strict=True)}


def _decided(
    trace: Trace, truth: Truth, waves: list[TracedWave], one: TokenStream, claims: Claims
) -> np.ndarray:
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


def _count(
    found: Measured, truth: Truth, waves: list[TracedWave], claims: Claims, decided: np.ndarray
) -> None:
    cause = _column(truth, waves, "cause").astype(np.int64)
    for (true, ours), n in _sums(decided, claims.cause, claims.cycles).items():
        found.stall[Cause(true), Cause(ours)] += n
    doubted = np.flatnonzero(claims.is_guess & np.isin(claims.cause, WAITS))
    is_true = decided[doubted] == claims.cause[doubted]
    for (ours, good), n in _sums(claims.cause[doubted], is_true, claims.cycles[doubted]).items():
        found.doubted[Cause(ours), bool(good)] += n
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
    found: Measured, truth: Truth, waves: list[TracedWave], one: TokenStream, claims: Claims
) -> None:
    """Compare instructions: is the one that is named among those that truly held the wave back?

    Nobody is to blame for what a wait itself takes, for what the program asks for and for fetching.
    """
    number, holder = _column(truth, waves, "instruction").astype(np.int64), _column(truth, waves, "holder")
    apart = (Cause.BARRIER, Cause.NOP, *WITHOUT_PRODUCER)
    rows = np.flatnonzero((claims.producer >= 0) & ~np.isin(claims.cause, apart))
    token, ours = claims.token[rows], number[claims.producer[rows]]
    good = (holder[token] == ours[:, None]).any(axis=1)
    key = claims.is_guess[rows] * 2 + good
    for (cause, which), n in _sums(claims.cause[rows], key, claims.cycles[rows]).items():
        found.blamed[Cause(cause), which >= 2, which % 2 == 1] += n
    _count_barriers(found, truth, waves, one, claims)


def _count_barriers(
    found: Measured, truth: Truth, waves: list[TracedWave], one: TokenStream, claims: Claims
) -> None:
    """Compare waves: the one that came last, or another that came in the same cycle."""
    rows = np.flatnonzero(claims.cause == Cause.BARRIER)
    token, ours = claims.token[rows], claims.producer[rows]
    last = _column(truth, waves, "blamed_wave")[token]
    names = np.array([(wave.id.simd, wave.id.slot, wave.id.wid) for wave in waves])
    is_traced = (last[:, None, :] == names[None, :, :]).all(axis=2).any(axis=1)
    has = ours >= 0
    is_last = (names[one.owner[np.maximum(ours, 0)]] == last).all(axis=1)
    is_last |= _came_at_once(one, token, ours, last, names)
    for is_good, n in zip(is_last[has].tolist(), claims.cycles[rows[has]].tolist(), strict=True):
        found.blamed[Cause.BARRIER, False, is_good] += n
    for is_there, n in zip(is_traced[~has].tolist(), claims.cycles[rows[~has]].tolist(), strict=True):
        found.nobody[not is_there] += n


def _came_at_once(
    one: TokenStream, token: np.ndarray, ours: np.ndarray, last: np.ndarray, names: np.ndarray
) -> np.ndarray:
    """Whether the named wave came to the barrier in the same cycle as the true one, bool."""
    place = {tuple(name): at for at, name in enumerate(names.tolist())}
    barriers = np.flatnonzero(one.lines.is_barrier[one.line])
    owner = one.owner[barriers]
    nth = np.arange(len(barriers)) - np.searchsorted(owner, owner)
    arrival = dict(
        zip(zip(owner.tolist(), nth.tolist(), strict=True), one.start[barriers].tolist(), strict=True)
    )
    nth_of = dict(zip(barriers.tolist(), nth.tolist(), strict=True))
    found = []
    for at, blamed, true in zip(token.tolist(), ours.tolist(), last.tolist(), strict=True):
        mine = (int(one.owner[blamed]), nth_of.get(at, -1))
        theirs = (place.get(tuple(true), -1), nth_of.get(at, -1))
        found.append(blamed >= 0 and mine in arrival and arrival[mine] == arrival.get(theirs))
    return np.array(found, dtype=bool)


def all_measured(names: tuple[str, ...] = NAMES) -> dict[str, Measured]:
    """Return the measurements of some captures by name."""
    with tempfile.TemporaryDirectory() as folder:
        return {name: measured(name, Path(folder) / name) for name in names}


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def by_cause(found: Measured) -> list[tuple[str, ...]]:
    """Rows of the table of causes, the head first."""
    rows: list[tuple[str, ...]] = [("cause", "cycles", "precision", "found", "named", "guessed")]
    for cause in Cause:
        given, decided = found.given(cause), found.decided(cause)
        if cause is Cause.UNEXPLAINED or not (given or decided):
            continue
        rows.append(
            (
                CAUSE_TEXT[cause].name,
                f"{given:,}",
                _percent(found.precision(cause)) if given else "–",
                _percent(found.found(cause)) if decided else "–",
                _share_of(found.named(cause)),
                _share_of(found.named(cause, is_guess=True)),
            )
        )
    whole = sum(map(found.given, Cause)) - found.given(Cause.UNEXPLAINED)
    told = (_share_of(found.named()), _share_of(found.named(is_guess=True)))
    rows.append(("all", f"{whole:,}", _percent(found.right()), "–", *told))
    return rows


def _share_of(cycles: tuple[int, int]) -> str:
    whole, good = cycles
    return f"{_percent(good / whole)} of {whole:,}" if whole else "–"


def by_capture(found: dict[str, Measured]) -> list[tuple[str, ...]]:
    """Rows of the table of captures, the head first."""
    rows: list[tuple[str, ...]] = [
        ("capture", "stalled", "explained", "of that right", "idle right", "named right", "guessed right")
    ]
    for name, one in found.items():
        whole = sum(one.stall.values())
        told = 1 - one.given(Cause.UNEXPLAINED) / max(1, whole)
        guessed = one.named(is_guess=True)
        shares = (told, one.right(), one.right_idle(), one.producers())
        last = _percent(guessed[1] / guessed[0]) if guessed[0] else "–"
        rows.append((name, f"{whole:,}", *map(_percent, shares), last))
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
        print(markdown(rows) if "--markdown" in words else as_text(rows), end="\n\n")
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
        print("", markdown(rows) if "--markdown" in words else as_text(rows), sep="\n")


def as_text(rows: list[tuple[str, ...]]) -> str:
    """A table with its columns below each other."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


if __name__ == "__main__":
    main(sys.argv[1:])
