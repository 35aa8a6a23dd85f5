"""Two captures compared: can they be, is there a difference beyond noise, and where."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from rcv_py.analysis.compare.align import Alignment, Fate, align
from rcv_py.analysis.compare.costs import CaptureCosts
from rcv_py.analysis.compare.deltas import Deltas, Rates, deltas, rates
from rcv_py.analysis.compare.grouped import GROUPS, Groups
from rcv_py.analysis.compare.verdict import (
    ASSUMED,
    LEAST_ALONE,
    LEAST_TWIN,
    Judgement,
    KernelDelta,
    Verdict,
    judge,
    refuse,
    work_notes,
)
from rcv_py.analysis.compare.whole import whole, work_of
from rcv_py.analysis.program.blocks import blocks
from rcv_py.base.text import percent, plural, short_kernel

ALIKE = 0.6  # share of executions in paired rows, of the side with less, for kernels of different names
NO_TWIN = "the twin is not a capture of the build of A"
OWN_TWIN = "The twin is capture A itself and tells nothing about noise: it is left out."
SAME_PROBLEM = 0.02  # the matrix operations of two launches of one problem differ by no more
COVERED = 0.98  # below it the share that could not be compared is worth a note
NO_COSTS = "{} has no executed instructions with cycles"


@dataclass(frozen=True, eq=False)
class Comparison:
    """A is the baseline, B what is compared with it; rows are those of `align.listing`."""

    a: CaptureCosts
    b: CaptureCosts
    measure: str  # of compare.costs.MEASURES
    align: Alignment
    judgement: Judgement
    kernel: KernelDelta | None  # None if nothing can be compared
    notes: tuple[str, ...]
    rates: tuple[Rates, Rates]
    twin: Comparison | None = field(default=None)
    noise_of: CaptureCosts | None = None  # the twin that was asked, also where it could not be used

    @property
    def verdict(self) -> Verdict:
        """What may be said of the whole."""
        return self.judgement.verdict

    @property
    def listing(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows of A and of B, -1 where one side has nothing."""
        return self.align.listing

    @cached_property
    def fate(self) -> np.ndarray:
        """What became of each row of the listing, uint8 (`Fate`)."""
        row_b = self.listing[1]
        removed = np.uint8(Fate.REMOVED)
        return np.where(row_b >= 0, np.append(self.align.fate_b, removed)[row_b], removed)

    @cached_property
    def hits(self) -> tuple[np.ndarray, np.ndarray]:
        """Executions in all waves of A and of B, over the listing; int64."""
        row_a, row_b = self.listing
        return (np.append(self.a.sums("hits"), 0)[row_a], np.append(self.b.sums("hits"), 0)[row_b])

    @cached_property
    def rows(self) -> Deltas:
        """The differences of single instructions."""
        return deltas((self.a, self.b), self.rates, self.hits, None, self._twin_rows)

    def grouped(self, name: str) -> tuple[Groups, Deltas]:
        """The differences by `source`, `block` or `class`."""
        groups = GROUPS[name](self.a, self.b, self.align)
        twin = None
        if self._twin_rows is not None:
            used = groups.of >= 0
            twin = np.bincount(groups.of[used], self._twin_rows[used], minlength=len(groups.names))
        return groups, deltas((self.a, self.b), self.rates, self.hits, groups.of, twin)

    @cached_property
    def _twin_rows(self) -> np.ndarray | None:
        """What the twin differs from A by in each row of this listing, cycles a wave; None without a twin."""
        if self.twin is None:
            return None
        of_a = np.zeros(len(self.a.code) + 1)
        row_a = self.twin.listing[0]
        change = self.twin.rates[1].value - self.twin.rates[0].value
        of_a[row_a[row_a >= 0]] = change[row_a >= 0]
        return of_a[self.listing[0]]


def compare(
    a: CaptureCosts,
    b: CaptureCosts,
    seed: int = 0,
    *,
    measure: str = "cost",
    least: float | None = None,
    twin: CaptureCosts | None = None,
) -> Comparison:
    """Compare B with the baseline A.

    `seed` is that of the bootstrap; `least` the share of the kernel's cycles below which a difference is
    never told, by default less with a twin than without; `twin` another capture of the build of A, whose
    difference from A is noise.
    """
    asked, twin = twin, None if twin is not None and _is_one(a, twin) else twin
    if least is None:
        least = LEAST_ALONE if twin is None else LEAST_TWIN
    found = align(a.code, b.code)
    both = rates(a, b, found, measure, blocks(b.code))
    why = _why_not(a, b, found)
    if why:
        return Comparison(a, b, measure, found, refuse(why), None, (), both, noise_of=asked)
    pair = None if twin is None else compare(a, twin, seed, measure=measure, least=least)
    if pair is not None and (pair.kernel is None or not pair.align.is_same):
        return Comparison(a, b, measure, found, refuse(NO_TWIN), None, (), both, noise_of=asked)
    rng = np.random.default_rng(seed)
    kernel = whole((a, b), both, found, rng, least, twin=None if pair is None else pair.kernel)
    judgement = judge(kernel, found.is_same)
    notes = _notes(a, b, kernel, pair)
    if judgement.beside:
        notes = (judgement.beside, *notes)
    if asked is not twin:
        notes = (*notes, OWN_TWIN)
    return Comparison(a, b, measure, found, judgement, kernel, notes, both, pair, asked)


def _is_one(a: CaptureCosts, twin: CaptureCosts) -> bool:
    """Whether two captures are the same record: two runs never agree in every wave group to the cycle."""
    return a.code.text == twin.code.text and all(
        np.array_equal(getattr(a, name), getattr(twin, name)) for name in ("hits", "latency", "stall", "idle")
    )


def _why_not(a: CaptureCosts, b: CaptureCosts, found: Alignment) -> str:
    for side, name in ((a, "A"), (b, "B")):
        if not side.hits.any() or not side.column("cost").any():
            return NO_COSTS.format(name)
    if a.isa != b.isa:
        return f"A is of {a.isa} and B of {b.isa}"
    alike = min(_paired_share(a, found.to_b), _paired_share(b, found.to_a))
    if _is_same_problem(a, b):
        return ""
    if a.kernel != b.kernel and alike < ALIKE:
        return f"different kernels, {_kernels(a, b)}, with {percent(alike, 1)} of executions in common"
    return "" if alike else "no executed instruction of one has a counterpart in the other"


def _is_same_problem(a: CaptureCosts, b: CaptureCosts) -> bool:
    """Whether both launches do the same matrix operations, to 2 %: then other tiles have other programs."""
    work = work_of((a, b), is_same_isa=False)
    if work is None or a.launch is None or b.launch is None:
        return False
    one, other = work[0].times(a.launch.waves_per_engine), work[1].times(b.launch.waves_per_engine)
    is_even = all(side.high <= (1 + SAME_PROBLEM) * side.low for side in (one, other))
    return is_even and abs(other.middle / max(one.middle, 1) - 1) <= SAME_PROBLEM


def _kernels(a: CaptureCosts, b: CaptureCosts) -> str:
    return " and ".join(short_kernel(side.kernel) or "one without a name" for side in (a, b))


def _paired_share(side: CaptureCosts, to: np.ndarray) -> float:
    hits = side.sums("hits")
    return float(hits[to >= 0].sum() / max(hits.sum(), 1))


def _notes(a: CaptureCosts, b: CaptureCosts, kernel: KernelDelta, twin: Comparison | None) -> tuple[str, ...]:
    notes = list(work_notes(kernel))
    if a.kernel != b.kernel:
        notes.insert(0, f"The kernels have different names: {_kernels(a, b)}.")
    notes += [
        f"The launch of {name} began before the trace or did not end in it, so launches are not compared."
        for side, name in ((a, "A"), (b, "B"))
        if side.launch is not None and side.launch.is_cut
    ]
    notes += [
        f"{plural(side.missing, 'wave')} of {name} could not be read and "
        f"{'do' if side.missing > 1 else 'does'} not count."
        for side, name in ((a, "A"), (b, "B"))
        if side.missing
    ]
    notes += [
        f"Cycles of {name} are those of {side.selection}."
        for side, name in ((a, "A"), (b, "B"))
        if side.selection
    ]
    alone = [name for side, name in ((a, "A"), (b, "B")) if side.is_by_wave]
    if alone and twin is None:
        which = " and ".join(alone)
        notes.append(
            f"{which} {'have' if len(alone) > 1 else 'has'} one workgroup only, so {percent(ASSUMED, 1)} is "
            "assumed to be noise; a twin, another capture of the build of A, would tell."
        )
    covered = min(kernel.covered)
    if covered < COVERED:
        notes.append(
            f"{percent(1 - covered, 1)} of the cycles are in instructions that only one capture executed; "
            "they do not count at equal executions."
        )
    return tuple(notes)
