"""PC samples: stall reasons, samples on the rows of a program, and beside the cycles of a thread trace.

A thread trace has every cycle of the waves of a few compute units; samples show a wave anywhere on the GPU
at a moment.  Where the traced units are like the rest, an instruction has the same share of both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.cost.place_text import source_of
from rcv_py.base.record import Record, Value
from rcv_py.base.text import Message, percent, plural, short_kernel
from rcv_py.base.text import count as count_text
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import ColumnTable
from rcv_py.model.kinds import StallReason
from rcv_py.model.trace import Trace

if TYPE_CHECKING:
    from rcv_py.model.profile import PcSamples


class StallReasons(Record):
    """PC samples of some code lines."""

    issued: int  # samples whose instruction issued
    stalled: int  # samples whose instruction did not
    count: np.ndarray  # int64 [k], stalled samples by reason, including unknown reasons
    unsure: int = 0  # samples whose method does not record it: host traps

    @property
    def samples(self) -> int:
        """All samples: the whole of the shares."""
        return self.issued + self.stalled + self.unsure

    @property
    def sentence(self) -> str:
        """How many samples there are, and how many of them stalled."""
        if self.unsure == self.samples:
            return Message("{0}; host traps do not record which of them stalled", count_text(self.samples))
        share = percent(self.stalled, self.issued + self.stalled)
        text = "{0}, {1} of them stalled ({2})"
        return Message(text, count_text(self.samples), count_text(self.stalled), share)

    @property
    def unknown(self) -> int:
        """Stalled samples without any entry in the table of reasons."""
        return max(0, self.stalled - int(self.count.sum()))

    def ranked(self) -> tuple[tuple[int, int], ...]:
        """(reason, samples) of the reasons that occur, the most frequent first."""
        order = np.argsort(-self.count, kind="stable")
        return tuple((int(reason), int(self.count[reason])) for reason in order if self.count[reason] > 0)


def stall_reasons(code: CodeTable, rows: slice | None = None) -> StallReasons:
    """Return the samples of the code rows (None: all); zeros if there are no samples."""
    rows = slice(None) if rows is None else rows
    table = code.stall_reasons
    count = np.zeros(len(StallReason), dtype=np.int64) if table is None else table[rows].sum(axis=0)
    issued, stalled, unsure = (
        0 if column is None else int(column[rows].sum())
        for column in (code.samples_issued, code.samples_stalled, code.samples_unsure)
    )
    return StallReasons(issued, stalled, count.astype(np.int64), unsure)


def reason_name(reason: int) -> str:
    """Return the name of a reason, or its number if unknown."""
    is_known = 0 <= reason < len(StallReason)
    return StallReason(reason).text if is_known else Message("reason {0}", reason)


def reason_meaning(reason: int) -> str:
    """Return the meaning of a reason, "" if unknown."""
    return StallReason(reason).meaning if 0 <= reason < len(StallReason) else ""


SURE = 3.0  # standard errors: beyond, a difference is not chance
NOTABLE = 0.01  # of the whole: smaller differences are not named
SAME_TEXTS = 0.9  # of the texts that both know, for the same code


class RowSamples(ColumnTable):
    """PC samples by row of the code table; `of` is the row that stands for each row: itself if unique."""

    samples: np.ndarray  # int64 [n]
    issued: np.ndarray  # int64 [n]
    reasons: np.ndarray  # int64 [n, k], samples that did not issue, by StallReason
    lanes: np.ndarray  # float64 [n], mean active lanes, NaN if unknown
    waves: np.ndarray  # float64 [n], mean waves on the sampled unit, NaN if unknown
    of: np.ndarray  # int64 [n]
    elsewhere: int = 0  # samples of other code
    why: str = ""  # why none is here, a sentence


class SamplesOfRun(Value):
    """PC samples on the rows of a capture."""

    rows: RowSamples | None  # None: there are none
    file: Path | None = None  # where they come from, None: the capture
    all: int = 0  # samples of the file, including invalid ones
    invalid: Mapping[str, int] = {}  # by reason
    why: str = ""  # why nothing is known, a sentence


class SampledShares(ColumnTable):
    """Rows with samples or traced cycles, most samples first; shares are NaN without a thread trace."""

    row: np.ndarray  # int64, code row
    sampled: np.ndarray  # float64, share of the samples
    traced: np.ndarray  # float64, share of the cycles of latency and idle time of the traced waves
    sure: np.ndarray  # int8, beyond chance 1: more samples than the trace explains, -1: fewer; else 0
    agreement: float  # sum of the smaller of both shares; NaN without a trace
    expected: float  # the agreement that so many samples of the traced shares have on average; NaN without


def own_samples(code: CodeTable) -> RowSamples | None:
    """Return the samples that a capture has itself, None without any."""
    if code.samples is None:
        return None
    n, nothing = len(code), np.zeros(len(code), dtype=np.int64)
    unknown = np.full(n, np.nan)
    reasons = np.zeros((n, 1), dtype=np.int64) if code.stall_reasons is None else code.stall_reasons
    return RowSamples(
        samples=code.samples,
        issued=nothing if code.samples_issued is None else code.samples_issued,
        reasons=reasons,
        lanes=unknown if code.sample_lanes is None else code.sample_lanes,
        waves=unknown if code.sample_waves is None else code.sample_waves,
        of=np.arange(n),
    )


def placed_samples(samples: PcSamples, trace: Trace) -> RowSamples:
    """Return the samples of a file on the rows of a trace: of the same code at the same address.

    Code objects have the same number in both, unless texts say otherwise.  A file without addresses is placed
    by instruction and source line; then one row stands for all equal ones.
    """
    code = trace.code
    has_places = bool(len(samples)) and bool((samples.code_object >= 0).all())
    row, of = (_by_place if has_places else _by_text)(samples, trace)
    found = summed(samples, row, len(code))
    placed = int(found.samples.sum())
    why = "" if placed else _why_none(samples, trace)
    return replace(found, of=of, elsewhere=int(samples.samples.sum()) - placed, why=why)


def grouped(found: RowSamples, first: np.ndarray) -> RowSamples:
    """Return the samples with the row `first[i]`, int64 [n], standing for row i."""
    rows = summed(found, first, len(first))
    return replace(rows, of=first[found.of], elsewhere=found.elsewhere, why=found.why)


def summed(samples: PcSamples | RowSamples, row: np.ndarray, size: int) -> RowSamples:
    """Return the samples by row, `row[i]` of instruction i, int64 [n]; -1 is none."""
    here = row >= 0
    at, count = row[here], samples.samples[here]

    def total(column: np.ndarray) -> np.ndarray:
        return np.bincount(at, column[here], size).astype(np.int64)

    def mean(column: np.ndarray) -> np.ndarray:
        known = ~np.isnan(column[here])
        weight = np.bincount(at[known], count[known], size)
        value = np.bincount(at[known], (column[here] * count)[known], size)
        return np.where(weight > 0, value / np.maximum(weight, 1), np.nan)

    return RowSamples(
        samples=total(samples.samples),
        issued=total(samples.issued),
        reasons=np.stack([total(column) for column in samples.reasons.T], axis=1),
        lanes=mean(samples.lanes),
        waves=mean(samples.waves),
        of=np.arange(size),
    )


def _why_none(samples: PcSamples, trace: Trace) -> str:
    kernels = [short_kernel(kernel) for kernel in dict.fromkeys(samples.kernel) if kernel]
    mine = short_kernel(trace.kernel_name)
    if kernels and mine and mine not in kernels:
        return Message("No sample is of {0}; the samples are of {1}.", mine, ", ".join(kernels[:3]))
    text = "None of {0} lies in the code of the trace: the samples are of another build."
    return Message(text, plural(int(samples.samples.sum()), "PC sample"))


def _by_place(samples: PcSamples, trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """The code row of each sampled instruction, -1 for none, and each row standing for itself; int64."""
    code = trace.code
    rows = np.flatnonzero(~code.is_label)
    keys = zip(code.codeobj[rows].tolist(), code.address[rows].tolist(), strict=True)
    place = dict(zip(keys, rows.tolist(), strict=True))
    found = np.full(len(samples), -1, dtype=np.int64)
    numbers = sorted({codeobj for codeobj, _ in place})
    of_samples = np.unique(np.stack([samples.recording, samples.code_object]), axis=1)
    for recording, codeobj in of_samples.T.tolist():
        mine = np.flatnonzero((samples.recording == recording) & (samples.code_object == codeobj))
        for candidate in sorted(numbers, key=lambda number: number != codeobj):
            at = [place.get((candidate, offset), -1) for offset in samples.offset[mine].tolist()]
            if _is_same(samples, mine, code, at, is_number=candidate == codeobj):
                found[mine] = at
                break
    return found, np.arange(len(code))


def _is_same(
    samples: PcSamples, mine: np.ndarray, code: CodeTable, at: Sequence[int], *, is_number: bool
) -> bool:
    """Whether sampled instructions are these code rows: by their texts, else by number and kernel."""
    pairs = [(one, row) for one, row in zip(mine.tolist(), at, strict=True) if row >= 0]
    texts = [(samples.text[one], code.text[row]) for one, row in pairs if samples.text[one]]
    if texts:
        same = sum(a.split() == b.split() for a, b in texts)
        return same >= SAME_TEXTS * sum(bool(samples.text[one]) for one in mine.tolist())
    named = [(samples.kernel[one], code.kernel[row]) for one, row in pairs if samples.kernel[one]]
    same = sum(_is_kernel(name, code, int(kernel)) for name, kernel in named)
    return is_number and bool(pairs) and 2 * same >= len(named)


def _is_kernel(name: str, code: CodeTable, kernel: int) -> bool:
    if kernel < 0:
        return True
    one = code.kernels[kernel]
    return short_kernel(name) in (short_kernel(one.demangled), short_kernel(one.name))


def _by_text(samples: PcSamples, trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """The same by instruction and source line, and the first row of equal ones for each row."""
    code = trace.code
    first: dict[tuple[str, str], int] = {}
    of = np.arange(len(code))
    for row in np.flatnonzero(~code.is_label).tolist():
        key = " ".join(code.text[row].split()), source_of(trace, row)
        of[row] = first.setdefault(key, row)
    keys = (
        (" ".join(text.split()), source.partition(" -> ")[0])
        for text, source in zip(samples.text, samples.source, strict=True)
    )
    rows = [first.get(key, -1) for key in keys]
    is_other = [
        row >= 0 and bool(name) and not _is_kernel(name, code, int(code.kernel[row]))
        for row, name in zip(rows, samples.kernel, strict=True)
    ]
    return np.where(is_other, -1, np.array(rows, dtype=np.int64)), of


def sampled_shares(code: CodeTable, found: RowSamples) -> SampledShares:
    """Return the share of each row of the samples, and of the traced cycles if there are any.

    A difference counts beyond three standard errors of a share of so many samples, and one percent of the
    whole.  Samples count as independent, which samples of one moment are not quite.
    """
    cost = np.where(code.is_label, 0, code.latency + code.idle)
    cycles = np.bincount(found.of, cost, len(code))
    samples, total, traced_total = found.samples, int(found.samples.sum()), float(cycles.sum())
    sampled = samples / max(total, 1)
    has_both = bool(total and traced_total)
    traced = cycles / traced_total if has_both else np.full(len(code), np.nan)
    rows = np.flatnonzero((samples > 0) | (has_both & (cycles > 0)))
    rows = rows[np.lexsort((rows, -np.nan_to_num(traced[rows]), -samples[rows]))]
    difference = np.nan_to_num(sampled - traced)
    larger = np.clip(np.fmax(sampled, traced), 0, 1)
    error = np.sqrt(larger * (1 - larger) / max(total, 1))
    is_sure = has_both & (np.abs(difference) > SURE * error) & (np.abs(difference) >= NOTABLE)
    sure = np.where(is_sure, np.sign(difference), 0).astype(np.int8)
    agreement = expected = np.nan
    if has_both:
        agreement = float(np.minimum(sampled, traced).sum())
        # The mean deviation of a share of so many samples is sqrt(2 / pi) standard errors.
        expected = 1 - float(np.sqrt(traced * (1 - traced) / (2 * np.pi * total)).sum())
    return SampledShares(rows, sampled[rows], traced[rows], sure[rows], agreement, expected)
