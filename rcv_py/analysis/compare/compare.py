"""Comparison of two captures: whether they are comparable, whether they differ beyond noise, and where.

Rows are grouped by source lines, basic blocks or instruction classes.

Numbers of whole kernels leave out the instruction that ends a wave: its latency only shows how long the
record of the wave continued.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.compare import verdict as verdicts
from rcv_py.analysis.compare.align import Alignment, Fate, align
from rcv_py.analysis.compare.costs import CaptureCosts, chance
from rcv_py.analysis.compare.deltas import Deltas, Rates, Table, deltas, drawn, rates
from rcv_py.analysis.cost.place_text import line_text
from rcv_py.analysis.program.blocks import blocks
from rcv_py.analysis.program.instruction_classes import InstructionClass, instruction_classes
from rcv_py.analysis.program.matrix_forms import flops_of
from rcv_py.base.record import Record, Value
from rcv_py.base.text import Message, percent, plural, short_kernel

NO_SOURCE = "no source line"
ONLY_A = " (A)"
END = "s_endpgm"
MATRIX, EXECUTED = "FLOP of MFMA or WMMA instructions", "executed instructions"


class Groups(Value):
    """A partition of the rows of a listing."""

    of: np.ndarray  # int64 [rows], the group; -1 does not count
    names: tuple[str, ...]
    texts: tuple[str, ...]  # text of a source line, or meaning of a class; "" otherwise


def by_source(a: CaptureCosts, b: CaptureCosts, alignment: Alignment) -> Groups:
    """Group by the innermost source line in B; removed rows by the line of B with the same text."""
    row_a, row_b = alignment.listing
    (of_a, lines_a), (of_b, lines_b) = _lines(a), _lines(b)
    # Lines of A without a partner come after the lines of B, and rows without a line after both.
    known = {line.key: at for at, line in reversed(list(enumerate(lines_b)))}
    went = [known.get(line.key, len(lines_b) + at) for at, line in enumerate(lines_a)]
    group_a = np.array([*went, len(lines_b) + len(lines_a)])[np.append(of_a, -1)[row_a]]
    group_b = np.append(of_b, -1)[row_b]
    of = np.where(group_b >= 0, group_b, group_a)
    names = [*(line.place for line in lines_b), *(line.place + ONLY_A for line in lines_a), NO_SOURCE]
    texts = [*(line.text for line in (*lines_b, *lines_a)), ""]
    return _dense(np.where(_is_label(a, b, row_a, row_b), -1, of), names, texts)


def by_block(a: CaptureCosts, b: CaptureCosts, alignment: Alignment) -> Groups:
    """Group by the basic block of B; removed rows by the block that most of their block became."""
    row_a, row_b = alignment.listing
    table_a, table_b = blocks(a.code), blocks(b.code)
    went = np.full(len(table_a) + 1, -1, dtype=np.int64)  # the block of B with most paired rows
    rows = np.flatnonzero(alignment.to_b >= 0)
    pair = table_a.of_row[rows].astype(np.int64) << 32 | table_b.of_row[alignment.to_b[rows]]
    pairs, size = np.unique(pair, return_counts=True)
    order = np.argsort(size, kind="stable")
    went[(pairs >> 32)[order]] = (pairs & 0xFFFFFFFF)[order]
    at_a = np.append(table_a.of_row, 0)[row_a]
    mapped = np.where(went[at_a] >= 0, went[at_a], len(table_b) + at_a)
    of = np.where(row_b >= 0, np.append(table_b.of_row, 0)[row_b], mapped).astype(np.int64)
    names = [*table_b.name, *(name + ONLY_A for name in table_a.name)]
    return _dense(of, names, [""] * len(names))


def by_class(a: CaptureCosts, b: CaptureCosts, alignment: Alignment) -> Groups:
    """Group by `InstructionClass`; a pair by its class in B."""
    row_a, row_b = alignment.listing
    of_a, of_b = (np.append(instruction_classes(side.code).astype(np.int64), -1) for side in (a, b))
    of = np.where(row_b >= 0, of_b[row_b], of_a[row_a])
    names = [group.name for group in InstructionClass]
    texts = [group.text for group in InstructionClass]
    return _dense(np.where(_is_label(a, b, row_a, row_b), -1, of), names, texts)


_Grouping = Callable[[CaptureCosts, CaptureCosts, Alignment], Groups]
GROUPS: dict[str, _Grouping] = {"source": by_source, "block": by_block, "class": by_class}


def _dense(of: np.ndarray, names: Sequence[str], texts: Sequence[str]) -> Groups:
    used, dense = np.unique(of, return_inverse=True)
    shift = 1 if len(used) and used[0] < 0 else 0
    names, texts = (tuple(column[at] for at in used[shift:]) for column in (names, texts))
    return Groups(dense.reshape(-1) - shift, names, texts)


def _is_label(a: CaptureCosts, b: CaptureCosts, row_a: np.ndarray, row_b: np.ndarray) -> np.ndarray:
    of_a, of_b = np.append(a.code.is_label, False)[row_a], np.append(b.code.is_label, False)[row_b]
    return np.where(row_b >= 0, of_b, of_a)


class _Line(Value):
    place: str  # path:line
    text: str  # "" if the file was not copied
    key: tuple[str, str]  # identifies it in another build: file name, and text or number


def _lines(side: CaptureCosts) -> tuple[np.ndarray, list[_Line]]:
    """Return the innermost source line of each row (int64, -1 for none), and these lines."""
    code, of = side.code, np.full(len(side.code), -1, dtype=np.int64)
    leaf = code.leaf[code.leaf >= 0]
    place = code.chain_file[leaf].astype(np.int64) << 32 | code.chain_line[leaf]
    pairs, group = np.unique(place, return_inverse=True)
    of[code.leaf >= 0] = group.reshape(-1)
    lines = []
    for pair in pairs.tolist():
        source, line = side.sources[pair >> 32], pair & 0xFFFFFFFF
        text = line_text(side.sources, pair >> 32, line)
        key = source.path.rsplit("/", 1)[-1], text or str(line)
        lines.append(_Line(f"{source.path}:{line}", text, key))
    return of, lines


class _Side(Value):
    """One capture over the listing, without the instruction that ends a wave."""

    value: float  # cycles a wave at the executions of A
    cycles: float
    covered: float  # share of the cycles in rows that can be compared at equal executions
    at_hits: Table  # counts, which add up to the executions of A, and cycles of groups; [g, rows]
    at_waves: Table  # waves and cycles of groups; [g, 1]


def _side(costs: CaptureCosts, rates: Rates, row: np.ndarray) -> _Side:
    """`row` is the code row of each row of the listing, -1 for none."""
    is_end = np.array([text.startswith(END) for text in costs.code.text], dtype=bool)
    works = (row >= 0) & ~np.append(is_end, False)[row]
    used = np.flatnonzero(works & (rates.weight > 0))
    cycles, at_hits, count = rates.cycles[:, works].sum(axis=1), rates.cycles[:, used], rates.count[:, used]
    scale = rates.weight[used] / np.maximum(count.sum(axis=0), 1)
    return _Side(
        float(rates.value[used].sum()),
        float(cycles.sum()),
        float(at_hits.sum()) / max(float(cycles.sum()), 1.0),
        (count * scale, at_hits),
        (costs.waves[:, None].astype(float), cycles[:, None]),
    )


def kernel_delta(
    sides: tuple[CaptureCosts, CaptureCosts],
    both: tuple[Rates, Rates],
    alignment: Alignment,
    rng: np.random.Generator,
    *,
    threshold: float,
    floor: float,
) -> verdicts.KernelDelta:
    """Return the kernel's numbers; noise is at least `threshold` of the launch, and `floor` of the rest."""
    a, b = (_side(*parts) for parts in zip(sides, both, alignment.listing, strict=True))
    row_a, row_b = alignment.listing
    paired = (row_a >= 0) & (row_b >= 0)
    waves = (sides[0].wave_count, sides[1].wave_count)
    work = [float(side.count[:, paired].sum()) / number for side, number in zip(both, waves, strict=True)]
    hits = [float(side.hits.sum()) for side in sides]
    per_wave = (a.cycles / waves[0], b.cycles / waves[1])
    return verdicts.KernelDelta(
        waves=waves,
        hits_per_wave=(hits[0] / waves[0], hits[1] / waves[1]),
        per_wave=per_wave,
        per_hit=(a.cycles / hits[0], b.cycles / hits[1]),
        covered=(a.covered, b.covered),
        work=work[1] / work[0] if work[0] else 1.0,
        at_equal_hits=_ratio((a.value, b.value), drawn(sides, (a.at_hits, b.at_hits), rng), floor),
        a_wave=_ratio(per_wave, drawn(sides, (a.at_waves, b.at_waves), rng), floor),
        equal=(a.value, b.value),
        launch=_launches(sides, alignment.is_same, rng, threshold),
    )


def _launches(
    sides: tuple[CaptureCosts, CaptureCosts], is_same_isa: bool, rng: np.random.Generator, threshold: float
) -> verdicts.LaunchDelta | None:
    """Compare both launches; None unless both durations are known."""
    a, b = (side.launch for side in sides)
    if a is None or b is None or a.doubt or b.doubt:
        return None
    value = b.duration / a.duration
    ratio = verdicts.Ratio(value, max(threshold, value * float(np.hypot(chance(a, rng), chance(b, rng)))))
    return verdicts.LaunchDelta(a, b, ratio, work_of(sides, is_same_isa))


def work_of(
    sides: tuple[CaptureCosts, CaptureCosts], is_same_isa: bool
) -> tuple[verdicts.WorkPerWave, verdicts.WorkPerWave] | None:
    """Return the work of a wave of each side, in the best unit that both have.

    Matrix operations do not depend on tiling; executed instructions are comparable only for equal programs.
    """
    flops = [side.hits @ flops_of(side.code) for side in sides]
    unit, amounts = MATRIX, flops
    if not all(amount.any() for amount in flops):
        if not is_same_isa or any(amount.any() for amount in flops):
            return None
        unit, amounts = EXECUTED, [side.hits.sum(axis=1) for side in sides]
    each = [amount / np.maximum(side.waves, 1) for amount, side in zip(amounts, sides, strict=True)]
    a, b = (verdicts.WorkPerWave(float(work.min()), float(work.max()), unit) for work in each)
    return a, b


def _ratio(value: tuple[float, float], spread: float, floor: float) -> verdicts.Ratio:
    ratio = value[1] / value[0] if value[0] else 1.0
    return verdicts.Ratio(ratio, max(floor, ratio * spread))


ALIKE = 0.6  # least share of executions in paired rows, on the worse side, if kernel names differ
NO_REPLICATE = "the replicate is not a capture of the build of A"
OWN_REPLICATE = "The replicate is capture A itself, which shows no noise: it is left out."
SAME_PROBLEM = 0.02  # largest difference in matrix operations of two launches of the same problem
COVERED = 0.98  # below it a note states the share that could not be compared
NO_COSTS = "{} has no executed instructions with cycles"


class Comparison(Record):
    """Comparison of B with the baseline A; rows are the rows of `align.listing`."""

    a: CaptureCosts
    b: CaptureCosts
    measure: str  # of compare.costs.MEASURES
    align: Alignment
    judgement: verdicts.Judgement
    rates: tuple[Rates, Rates]
    kernel: verdicts.KernelDelta | None = None  # None if nothing can be compared
    notes: tuple[str, ...] = ()
    replicate: Comparison | None = None
    noise_of: CaptureCosts | None = None  # the replicate that was given, even if unusable

    @property
    def verdict(self) -> verdicts.Verdict:
        """The verdict on the whole kernel."""
        return self.judgement.verdict

    @property
    def listing(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows of A and of B, -1 where a side has none."""
        return self.align.listing

    @cached_property
    def fate(self) -> np.ndarray:
        """The `Fate` of each row of the listing, uint8."""
        row_b = self.listing[1]
        removed = np.uint8(Fate.REMOVED)
        return np.where(row_b >= 0, np.append(self.align.fate_b, removed)[row_b], removed)

    @property
    def fate_texts(self) -> list[str]:
        """The same in a word."""
        return [Fate(fate).name.lower() for fate in self.fate.tolist()]

    @cached_property
    def hits(self) -> tuple[np.ndarray, np.ndarray]:
        """Executions in all waves of A and of B, over the listing; int64."""
        row_a, row_b = self.listing
        return (np.append(self.a.sums("hits"), 0)[row_a], np.append(self.b.sums("hits"), 0)[row_b])

    @cached_property
    def rows(self) -> Deltas:
        """The differences of single instructions."""
        return deltas((self.a, self.b), self.rates, self.hits, None, self._replicate_rows)

    def grouped(self, name: str) -> tuple[Groups, Deltas]:
        """The differences by `source`, `block` or `class`."""
        groups = GROUPS[name](self.a, self.b, self.align)
        replicate = None
        if self._replicate_rows is not None:
            used = groups.of >= 0
            replicate = np.bincount(groups.of[used], self._replicate_rows[used], minlength=len(groups.names))
        return groups, deltas((self.a, self.b), self.rates, self.hits, groups.of, replicate)

    @cached_property
    def _replicate_rows(self) -> np.ndarray | None:
        """Difference of the replicate from A in each row of this listing, cycles a wave; None without."""
        if self.replicate is None:
            return None
        of_a = np.zeros(len(self.a.code) + 1)
        row_a = self.replicate.listing[0]
        change = self.replicate.rates[1].value - self.replicate.rates[0].value
        of_a[row_a[row_a >= 0]] = change[row_a >= 0]
        return of_a[self.listing[0]]


def compare(
    a: CaptureCosts,
    b: CaptureCosts,
    seed: int = 0,
    *,
    measure: str = "cost",
    threshold: float | None = None,
    replicate: CaptureCosts | None = None,
) -> Comparison:
    """Compare B with the baseline A.

    `seed` seeds the bootstrap; `threshold` is the share of the kernel's cycles below which a difference is
    never reported, by default less with a replicate than without; `replicate` is another capture of the build
    of A, whose difference from A is noise.
    """
    given = replicate
    if replicate is not None:  # two runs never agree in every wave group to the cycle
        columns = ("hits", "latency", "stall", "idle")
        is_equal = (np.array_equal(getattr(a, name), getattr(replicate, name)) for name in columns)
        if a.code.text == replicate.code.text and all(is_equal):
            replicate = None
    if threshold is None:
        threshold = verdicts.MIN_ALONE if replicate is None else verdicts.MIN_REPLICATE
    alignment = align(a.code, b.code)
    both = rates(a, b, alignment, measure, blocks(b.code))
    why = _why_not(a, b, alignment)
    noise = None
    if replicate is not None and not why:
        noise = compare(a, replicate, seed, measure=measure, threshold=threshold)
    if noise is not None and (noise.kernel is None or not noise.align.is_same):
        why = NO_REPLICATE
    refused = verdicts.refuse(why)
    found = Comparison(a, b, measure, align=alignment, judgement=refused, rates=both, noise_of=given)
    if why:
        return found
    rng = np.random.default_rng(seed)
    is_assumed = replicate is None and (a.is_by_wave or b.is_by_wave)
    floor = max(threshold, verdicts.ASSUMED if is_assumed else 0.0)
    kernel = kernel_delta((a, b), both, alignment, rng, threshold=threshold, floor=floor)
    if noise is not None and noise.kernel is not None:
        kernel = kernel.beyond(noise.kernel)
    judgement = verdicts.judge(kernel, alignment.is_same)
    own = (OWN_REPLICATE,) if given is not replicate else ()
    notes = tuple(filter(None, (judgement.beside, *_notes(a, b, kernel, is_assumed=is_assumed), *own)))
    return replace(found, judgement=judgement, kernel=kernel, notes=notes, replicate=noise)


def _why_no_waves(side: CaptureCosts, name: str) -> str:
    if side.missing:
        text = "the files of all {0} of {1} are missing or damaged, and totals of instructions show no noise"
        return Message(text, plural(side.missing, "traced wave"), name)
    return Message("{0} has no traced waves, and totals of instructions show no noise", name)


def _why_not(a: CaptureCosts, b: CaptureCosts, alignment: Alignment) -> str:
    for side, name in ((a, "A"), (b, "B")):
        if not side.wave_count:
            return _why_no_waves(side, name)
        if not side.hits.any() or not side.column("cost").any():
            return NO_COSTS.format(name)
    if a.architecture.gfxip != b.architecture.gfxip:
        return Message("A is of gfx{0} and B of gfx{1}", a.architecture.gfxip, b.architecture.gfxip)
    alike = min(_paired_share(a, alignment.to_b), _paired_share(b, alignment.to_a))
    if _is_same_problem(a, b):
        return ""
    if a.kernel != b.kernel and alike < ALIKE:
        text = "different kernels, {0}, with {1} of executions in common"
        return Message(text, _kernels(a, b), percent(alike, 1))
    return "" if alike else "no executed instruction of one has a counterpart in the other"


def _is_same_problem(a: CaptureCosts, b: CaptureCosts) -> bool:
    """Whether both launches do the same matrix operations, within 2 %, as tilings of one problem do."""
    work = work_of((a, b), is_same_isa=False)
    if work is None or a.launch is None or b.launch is None:
        return False
    of_a, of_b = work[0].times(a.launch.waves_per_engine), work[1].times(b.launch.waves_per_engine)
    is_even = all(side.high <= (1 + SAME_PROBLEM) * side.low for side in (of_a, of_b))
    return is_even and abs(of_b.middle / max(of_a.middle, 1) - 1) <= SAME_PROBLEM


def _kernels(a: CaptureCosts, b: CaptureCosts) -> str:
    return " and ".join(short_kernel(side.kernel) or "one without a name" for side in (a, b))


def _paired_share(side: CaptureCosts, to: np.ndarray) -> float:
    hits = side.sums("hits")
    return float(hits[to >= 0].sum() / max(hits.sum(), 1))


def _notes(a: CaptureCosts, b: CaptureCosts, kernel: verdicts.KernelDelta, *, is_assumed: bool) -> list[str]:
    notes = list(verdicts.work_notes(kernel))
    if a.kernel != b.kernel:
        notes.insert(0, Message("The kernels have different names: {0}.", _kernels(a, b)))
    for side, name in ((a, "A"), (b, "B")):
        if side.launch is not None and side.launch.doubt:
            notes.append(Message("The launches are not compared: in {0} {1}.", name, side.launch.doubt))
        if side.missing:
            do = "do" if side.missing > 1 else "does"
            text = "{0} of {1} could not be read and {2} not count."
            notes.append(Message(text, plural(side.missing, "wave"), name, do))
        if side.selection:
            notes.append(Message("Cycles of {0} belong to {1}.", name, side.selection))
    alone = [name for side, name in ((a, "A"), (b, "B")) if side.is_by_wave]
    if is_assumed:
        text = (
            "{0} {1} one workgroup only, so {2} is assumed to be noise; a replicate, another "
            "capture of the build of A, would show it."
        )
        have = "have" if len(alone) > 1 else "has"
        notes.append(Message(text, " and ".join(alone), have, percent(verdicts.ASSUMED, 1)))
    covered = min(kernel.covered)
    if covered < COVERED:
        template = (
            "{0} of the cycles are in instructions that only one capture executed; they do not "
            "count at equal executions."
        )
        notes.append(Message(template, percent(1 - covered, 1)))
    return notes
