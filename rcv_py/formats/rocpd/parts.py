"""Shared code for databases and documents of a run: rows become the columns of a `Profile`.

PC samples are collected chunk by chunk, and counted by instruction.  The meaning of a sample's fields:
`rocprofiler_pc_sampling_record_stochastic_v0_t` of ROCprofiler-SDK.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.base.problems import Problems
from rcv_py.base.record import Value
from rcv_py.base.runs import distinct
from rcv_py.base.text import Message, elide_right, join_texts, percent, plural
from rcv_py.formats.input.columns import LIMIT, frozen, number_column, text_of, whole_number
from rcv_py.formats.input.limits import INSTRUCTION_LETTERS, MAX_COUNT, SOURCE_LETTERS
from rcv_py.model.device import SpmSeries
from rcv_py.model.kinds import StallReason
from rcv_py.model.profile import (
    Agent,
    CounterValues,
    GraphLaunch,
    KernelSymbol,
    Launches,
    LoadedCode,
    PcSamples,
    Profile,
)

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


# number, kernel, agent, begin, end, LDS, scratch, three sizes of the workgroup and of the grid, graph, node
LaunchRows = list[tuple[Any, ...]]
Table = Mapping[str, Any]
ENGINES = 4  # shader engines of an XCC, if a profile lacks the number
_RAW = re.compile(r"[^\0\n]{1,1000}\.(?:att|out|hsaco)")
_SIZES = {
    "cus": "cu_count", "simds_per_cu": "simd_per_cu", "waves_per_simd": "max_waves_per_simd",
    "wave_size": "wave_front_size", "engines": "num_shader_banks", "dies": "num_xcc",
}  # fmt: skip


def is_raw_name(name: object) -> bool:
    """Whether a text is the name of a raw trace or of a code object."""
    return isinstance(name, str) and bool(_RAW.fullmatch(name))


class CounterPlace(Value):
    """Place of a streamed counter."""

    engine: int  # shader engine of the GPU, or the XCC of a counter per XCC
    instance: int
    is_xcc: bool
    array: int = -1  # shader array of the engine
    wgp: int = -1  # work-group processor of the array


class Records:
    """Records read so far, from all processes of a file.  Keys of rows are valid within their process."""

    def __init__(self) -> None:
        self.process = -1  # number of the current one
        self.command = ""
        self.agents: list[Agent] = []
        self.code: list[LoadedCode] = []
        self.kernels: list[KernelSymbol] = []
        self.launches: LaunchRows = []
        self.values: list[tuple[int, int, str, Any]] = []  # row of the launch, execution, counter, value
        self.odd_samples = 0  # streamed values without a time or a name, or that are not counts
        self.passes: Counter[int] = Counter()  # executions by row of the launch
        self.durations: list[int] = []  # nanoseconds by number of the execution, 0 if unknown
        self.files: list[str] = []
        self.agent_row: dict[Any, int] = {}
        self.kernel_row: dict[Any, int] = {}
        self.launch_of: dict[Any, Any] = {}
        self.samples = SampleRows()
        self.graphs: list[GraphLaunch] = []
        self._streamed: dict[tuple[int, str, CounterPlace], dict[int, float]] = {}

    def add_execution(self, launch: int, begin: object, end: object) -> int:
        """Add an execution of a launch, by its row; return its number."""
        self.passes[launch] += 1
        first = whole_number(begin, 0)
        self.durations.append(max(whole_number(end, 0) - first, 0) if first > 0 else 0)
        return len(self.durations) - 1

    def stream(self, launch: int, counter: str, place: CounterPlace, time: object, value: object) -> None:
        """Add a sample of a streamed counter; parts of a sample add up."""
        at = whole_number(time, -1)
        if counter and at >= 0 and isinstance(value, int | float) and 0 <= value < MAX_COUNT:
            series = self._streamed.setdefault((launch, counter, place), {})
            series[at] = series.get(at, 0.0) + value
        else:
            self.odd_samples += value is not None

    def add_agent(self, id: object, name: object, product: object, is_gpu: bool, more: Table) -> None:
        """Add a device with the data of the profiler's table."""
        self.agent_row[self.process, id] = len(self.agents)
        lds = whole_number(more.get("lds_size_in_kb"), -1)
        self.agents.append(
            Agent(
                id=whole_number(id, -1),
                name=text_of(name) or text_of(more.get("name")),
                product=text_of(product) or text_of(more.get("product_name")),
                is_gpu=is_gpu,
                lds=lds * 1024 if lds >= 0 else -1,
                **{field: whole_number(more.get(key), -1) for field, key in _SIZES.items()},
            )
        )

    def add_code(self, id: int, agent: int, uri: object, *place: int) -> None:
        """Add a code object; address, size and delta are -1 if unknown."""
        address, size, delta = place
        code = LoadedCode(id, agent, text_of(uri), address=address, size=size, delta=delta)
        self.code.append(replace(code, recording=self.process))

    def add_kernel(self, id: object, symbol: object, name: object, numbers: Sequence[object]) -> None:
        """Add a kernel; `numbers` are its code object, VGPRs, AccVGPRs, SGPRs, LDS and scratch."""
        self.kernel_row[self.process, id] = len(self.kernels)
        shown = (text_of(name) or text_of(symbol)).removesuffix(" [clone .kd]").removesuffix(".kd")
        names = ("code_object", "vgprs", "accum_vgprs", "sgprs", "lds", "scratch")
        known = {name: whole_number(one, -1) for name, one in zip(names, numbers, strict=True)}
        plain = text_of(symbol).removesuffix(".kd")
        self.kernels.append(KernelSymbol(whole_number(id, -1), shown, plain, recording=self.process, **known))

    def profile(self, path: Path, form: str, problems: Problems) -> Profile:
        """Return the records as a profile of this form."""
        counters, values = self._counter_values(path.name, problems)
        launches = _launches(self.launches, self.kernel_row, self.agent_row)
        launches = replace(launches, samples=frozen(self.samples.launched(len(launches))))
        names = [kernel.name for kernel in self.kernels]
        samples = self.samples.samples(self.code, launches.kernel, names)
        if samples is not None and samples.invalid:
            problems.warn(path.name, invalid_samples(samples))
        return Profile(
            path=path,
            form=form,
            version="",
            command=self.command,
            agents=tuple(self.agents),
            code=tuple(self.code),
            kernels=tuple(self.kernels),
            launches=launches,
            counters=counters,
            values=values,
            spm=self._spm(),
            executions=sum(max(self.passes[row], 1) for row in range(len(self.launches))),
            samples=samples,
            graphs=tuple(self.graphs),
            files=tuple(dict.fromkeys(self.files)),
            problems=tuple(problems),
        )

    def _counter_values(self, file: str, problems: Problems) -> tuple[tuple[str, ...], CounterValues]:
        """The names of counters and their values; a Problem tells how many are left out."""
        number: dict[str, int] = {}
        kept = [
            (launch, execution, number.setdefault(name, len(number)), float(value))
            for launch, execution, name, value in self.values
            if name and isinstance(value, int | float) and 0 <= value < MAX_COUNT
        ]
        first = {one[:3]: one for one in reversed(kept)}  # a sum is there once, whatever adds up
        sums = {at for name, at in number.items() if name.endswith("_sum")}
        kept = [one for one in kept if one[2] not in sums or first[one[:3]] is one]
        recorded = sum(value is not None for *_, value in self.values)
        if recorded > len(kept):
            gone, every = plural(recorded - len(kept), "value"), f"{recorded:,}"
            text = "Left out of {0}, as repeated or no counts of a known counter: {1} of {2}."
            problems.warn(file, Message(text, file, gone, every))
        if self.odd_samples:
            template = "Left out of {0}, as no counts of a known counter and time: {1} of streamed counters."
            text = Message(template, file, plural(self.odd_samples, "sample"))
            problems.warn(file, text)
        *rows, value = zip(*kept, strict=True) if kept else ((), (), (), ())
        launch, execution, counter = (frozen(np.array(row, dtype=np.int32)) for row in rows)
        lasts = frozen(number_column(self.durations, 0))
        value_of = frozen(np.array(value, dtype=np.float64))
        return tuple(number), CounterValues(launch, execution, counter, value_of, lasts)

    def _spm(self) -> dict[int, tuple[SpmSeries, ...]]:
        """Streamed counters by the number of their launch, each series by time."""
        found: defaultdict[int, list[SpmSeries]] = defaultdict(list)
        for (launch, name, at), values in self._streamed.items():
            ordered = sorted(values)
            time = frozen(np.array(ordered, dtype=np.int64))
            value = frozen(np.array([values[one] for one in ordered], dtype=np.float64))
            series = SpmSeries(name, at.engine, at.instance, time=time, value=value, is_xcc=at.is_xcc)
            found[launch].append(replace(series, array=at.array, wgp=at.wgp))
        return {launch: tuple(series) for launch, series in found.items()}


def _launches(rows: LaunchRows, kernel_row: Mapping[Any, int], agent_row: Mapping[Any, int]) -> Launches:
    columns: Sequence[tuple[Any, ...]] = list(zip(*rows, strict=True)) or [()] * 15
    id, kernel, agent, begin, end, lds, scratch = columns[:7]
    sizes = [np.maximum(number_column(one, 0), 0) for one in columns[7:13]]
    first = np.maximum(number_column(begin, 0), 0)
    last = np.where(first > 0, np.maximum(number_column(end, 0), first), first)
    return Launches(
        dispatch=frozen(number_column(id, -1)),
        kernel=frozen(np.array([kernel_row.get(one, -1) for one in kernel], dtype=np.int32)),
        agent=frozen(np.array([agent_row.get(one, -1) for one in agent], dtype=np.int32)),
        begin=frozen(first),
        end=frozen(last),
        lds=frozen(number_column(lds, -1)),
        scratch=frozen(number_column(scratch, -1)),
        workgroup=frozen(np.stack(sizes[:3], axis=1)),
        grid=frozen(np.stack(sizes[3:], axis=1)),
        recording=frozen(np.array([process for process, _ in kernel], dtype=np.int64)),
        graph=frozen(np.maximum(number_column(columns[13], 0), 0)),
        node=frozen(number_column(columns[14], -1)),
        samples=np.zeros(len(rows), dtype=np.int64),
    )


def invalid_samples(samples: PcSamples) -> str:
    """Return a sentence on how many of the samples are invalid, and why."""
    why = join_texts(", ", (Message("{0:,} {1}", count, reason) for reason, count in samples.invalid.items()))
    invalid, every = sum(samples.invalid.values()), plural(samples.all, "PC sample")
    share = percent(invalid, samples.all)
    return Message("{0:,} of {1} ({2}) are invalid and left out: {3}.", invalid, every, share, why)
