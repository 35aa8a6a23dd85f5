"""Shared code for databases and documents of a run: rows become the columns of a `Profile`."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rcv_py.base.problems import Problems
from rcv_py.base.text import Message, join_texts, percent, plural
from rcv_py.formats.input.columns import frozen, number_column, text_of, whole_number
from rcv_py.formats.input.limits import MAX_COUNT
from rcv_py.formats.rocpd.sampled import SampleRows
from rcv_py.model.device import SpmSeries
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


class CounterPlace(NamedTuple):
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
        self.odd_samples = 0  # streamed values without a time or a name, or that are no counts
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
        self.code.append(code._replace(recording=self.process))

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
            text = Message(
                "Left out of {0}, as no counts of a known counter and time: {1} of streamed counters.",
                file,
                plural(self.odd_samples, "sample"),
            )
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
            found[launch].append(series._replace(array=at.array, wgp=at.wgp))
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
