"""Collect PC samples from any file of rocprofv3, chunk by chunk, and count them by instruction.

The meaning of a sample's fields: `rocprofiler_pc_sampling_record_stochastic_v0_t` of ROCprofiler-SDK.
"""

from collections.abc import Sequence

import numpy as np

from rcv_py.base.runs import distinct
from rcv_py.base.text import elide_right
from rcv_py.formats.input.columns import LIMIT, frozen, number_column
from rcv_py.formats.input.limits import INSTRUCTION_LETTERS, SOURCE_LETTERS
from rcv_py.model.kinds import StallReason
from rcv_py.model.profile import LoadedCode, PcSamples

MAX_REASONS = 32  # known stall reasons, and room for younger ones
UNSURE = -1  # of `issued`: the method does not record it
_WORD = 4  # bytes, to which instructions are aligned
_LANES = (1 << 64) - 1
_REASONS = {  # names of the header; numbers as in StallReason
    "NONE": StallReason.NONE, "NO_INSTRUCTION_AVAILABLE": StallReason.FETCH,
    "ALU_DEPENDENCY": StallReason.ALU_DEPENDENCY, "WAITCNT": StallReason.WAITCNT,
    "INTERNAL_INSTRUCTION": StallReason.INTERNAL, "BARRIER_WAIT": StallReason.BARRIER,
    "ARBITER_NOT_WIN": StallReason.ARBITER_LOST, "ARBITER_WIN_EX_STALL": StallReason.PIPE_STALLED,
    "OTHER_WAIT": StallReason.OTHER, "SLEEP_WAIT": StallReason.SLEEPING,
}  # fmt: skip


def reason_of(value: object) -> object:
    """Return the number of a stall reason that may be given by its name; others are returned as they are."""
    if not isinstance(value, str):
        return value
    name = value.strip().rpartition("NOT_ISSUED_REASON_")[2]
    return int(_REASONS.get(name, MAX_REASONS)) if name else None


Place = tuple[int, int, int]  # recording, code object, offset


class SampleRows:
    """Samples read so far."""

    def __init__(self) -> None:
        self._chunks: list[np.ndarray] = []
        self.text: dict[Place, tuple[str, str]] = {}  # instruction, and its source places

    def name(self, place: Place, text: object, source: object) -> None:
        """Remember the text of an instruction; the first counts."""
        if place not in self.text and isinstance(text, str):
            where = elide_right(source, SOURCE_LETTERS) if isinstance(source, str) else ""
            self.text[place] = elide_right(text.strip(), INSTRUCTION_LETTERS), where

    def locate(self, place: Place, source: str) -> None:
        """Remember the source places of an instruction that has none yet."""
        text, known = self.text.get(place, ("", ""))
        self.text[place] = text, known or elide_right(source, SOURCE_LETTERS)

    def add(self, recording: int, launch: Sequence[int], *columns: Sequence[object]) -> None:
        """Add samples of a process by their launch, the row of it, -1 if unknown.

        The columns are as a file has them, of equal length, None where unknown: code object, offset, whether
        it issued (0, 1 or UNSURE), reason, EXEC of either sign, waves.
        """
        code_object, offset, issued, reason, lanes, waves = columns
        place = (
            np.full(len(launch), recording),
            number_column(code_object, -1),
            number_column(offset, LIMIT),
        )
        why = (number_column(issued, 2), number_column(reason, 0))
        more = (_lanes(lanes), number_column(waves, -1))
        self._chunks.append(np.stack((*place, np.array(launch, dtype=np.int64), *why, *more)))

    def launched(self, launches: int) -> np.ndarray:
        """Return the number of samples by row of the launch; int64 [launches]."""
        of = [chunk[3][chunk[3] >= 0] for chunk in self._chunks]
        return np.bincount(np.concatenate([np.zeros(0, dtype=np.int64), *of]), minlength=launches)

    def samples(
        self, code: Sequence[LoadedCode], kernel: np.ndarray, kernels: Sequence[str], has_places: bool = True
    ) -> PcSamples | None:
        """Return the samples by instruction, None if there are none.

        `kernel` is the row of `kernels` by launch, int64, -1 if unknown.  Without `has_places` offsets
        are mere numbers of instructions.
        """
        if not self._chunks:
            return None
        every = np.concatenate(self._chunks, axis=1)
        why, reasons = _why_invalid(every, code, has_places)
        recording, codeobj, offset, launch, issued, reason, lanes, waves = every[:, why < 0]
        first, row = distinct(recording, codeobj, offset)
        size = len(first)
        kernel = np.where(launch >= 0, np.append(kernel, -1)[np.maximum(launch, -1)], -1)
        counts = np.bincount(row, minlength=size)
        order = np.lexsort((offset[first], codeobj[first], recording[first], -counts))
        by_reason = np.bincount((row * MAX_REASONS + reason)[issued == 0], minlength=size * MAX_REASONS)
        by_reason = by_reason.reshape(size, MAX_REASONS)
        width = max(len(StallReason), int(np.flatnonzero(by_reason.any(axis=0)).max(initial=0)) + 1)
        recording, codeobj, offset = (column[first[order]] for column in (recording, codeobj, offset))
        places = zip(recording.tolist(), codeobj.tolist(), offset.tolist(), strict=True)
        texts = [self.text.get(place, ("", "")) for place in places]
        named = _most(row, kernel, size)[order].tolist()
        return PcSamples(
            recording=frozen(recording),
            code_object=frozen(codeobj),
            offset=frozen(offset.astype(np.uint64)),
            samples=frozen(counts[order]),
            issued=frozen(np.bincount(row[issued == 1], minlength=size)[order]),
            reasons=frozen(by_reason[order, :width]),
            lanes=frozen(_mean(row, lanes, size)[order]),
            waves=frozen(_mean(row, np.where(waves > 0, waves, -1), size)[order]),
            kernel=tuple(kernels[at] if at >= 0 else "" for at in named),
            text=tuple(text for text, _ in texts),
            source=tuple(source for _, source in texts),
            invalid={text: count for at, text in enumerate(reasons) if (count := int((why == at).sum()))},
        )


def _lanes(values: Sequence[object]) -> np.ndarray:
    """The number of lanes that are on, int64, -1 if unknown."""
    masks = [value if isinstance(value, int) else None for value in values]
    on = {mask: -1 if mask is None else (mask & _LANES).bit_count() for mask in set(masks)}
    return np.array([on[mask] for mask in masks], dtype=np.int64)


def _mean(row: np.ndarray, value: np.ndarray, size: int) -> np.ndarray:
    """The mean of the known values of each row, float64, NaN without one."""
    known = value >= 0
    count = np.bincount(row[known], minlength=size)
    return np.where(count > 0, np.bincount(row[known], value[known], size) / np.maximum(count, 1), np.nan)


def _most(row: np.ndarray, value: np.ndarray, size: int) -> np.ndarray:
    """The most frequent known value of each row, int64, -1 without one."""
    found = np.full(size, -1, dtype=np.int64)
    known = value >= 0
    (rows, values), count = np.unique(np.stack([row[known], value[known]]), axis=1, return_counts=True)
    order = np.argsort(count, kind="stable")
    found[rows[order]] = values[order]  # the last assignment wins
    return found


def _why_invalid(
    every: np.ndarray, code: Sequence[LoadedCode], has_places: bool
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The reason why each sample cannot be counted, -1 if it can; int64, and the reasons."""
    recording, codeobj, offset, _, issued, reason, *_ = every
    first, at = distinct(recording, codeobj)
    reach = {(one.recording, one.id): one.reach for one in code}
    listing = {one.recording for one in code}
    keys = list(zip(recording[first].tolist(), codeobj[first].tolist(), strict=True))
    end = np.array([reach.get(key, 0) or LIMIT for key in keys], dtype=np.int64)
    is_missing = np.array([key[0] in listing and key not in reach for key in keys], dtype=bool)
    wrong = (
        (
            "outside of every known code object",
            (has_places & (codeobj <= 0)) | (offset < 0) | (offset >= LIMIT),
        ),
        ("in a code object that the file does not list", has_places & is_missing[at]),
        ("beyond the end of the code object", has_places & (offset >= end[at])),
        ("inside an instruction word", has_places & (offset % _WORD != 0)),
        ("neither issued nor stalled", (issued < UNSURE) | (issued > 1)),
        ("with an unknown stall reason", (issued == 0) & ((reason < 0) | (reason >= MAX_REASONS))),
    )
    why = np.select([is_wrong for _, is_wrong in wrong], list(range(len(wrong))), default=-1)
    return why.astype(np.int64), tuple(name for name, _ in wrong)
