"""A trace: every table of a capture, and its problems."""

import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from rcv_py.base.errors import UsageError
from rcv_py.base.problems import Affects, Problem, Severity
from rcv_py.base.record import Record, Value
from rcv_py.base.text import Message, elide_right, plural, short_kernel
from rcv_py.model import device
from rcv_py.model.architecture import Architecture, architecture_of
from rcv_py.model.code import CodeTable, SourceFile
from rcv_py.model.ids import WaveId
from rcv_py.model.resources import RunFacts
from rcv_py.model.waves import WaveBatch, WaveColumns, WaveIndex
from rcv_py.model.window import TimeWindow

NAMED = 20  # waves with their own sentence in the list of problems
NOT_RUN = "This program has not run: its times and costs are not known."
INFERRED = "inferred from the instructions"  # source of a target that no file names


class WaveReader(Protocol):
    """Reads the waves of an open trace, in any process: picklable, and without state that changes."""

    @property
    def base_clock(self) -> int:
        """The smallest step of time in cycles; tokens that overlap by at most this share a lane."""

    def read(self, rows: list[int]) -> WaveBatch:
        """Read the waves at these rows of the index; the batch lists waves that cannot be read."""

    def columns(self, rows: list[int]) -> WaveColumns:
        """The same as arrays alone."""


class NoWaves(Value):
    """The reader of a trace without waves, and of one that is only written."""

    base_clock: int = 1

    def read(self, rows: list[int]) -> WaveBatch:
        """Return a batch without waves."""
        return WaveBatch.empty()

    def columns(self, rows: list[int]) -> WaveColumns:
        """Raise NotImplementedError: there are none."""
        raise NotImplementedError


class Trace(Record):
    """One capture, without the tokens of waves: `reader` reads them, the wave store keeps them."""

    path: Path
    name: str  # the folder's name
    gfxip: int  # 9, 10, 11, 12: major version of the graphics IP
    target: str  # "gfx950" if known, else "gfx9"
    waves: WaveIndex
    code: CodeTable
    sources: tuple[SourceFile, ...]
    occupancy: device.WaveEvents
    version: str = ""  # of the format, "" if unknown
    has_thread_trace: bool = False
    has_pc_samples: bool = False
    clock: device.Clock = device.Clock()
    reader: WaveReader = NoWaves()
    problems: tuple[Problem, ...] = ()
    events: device.HardwareEvents | None = None
    dispatches: tuple[device.Dispatch, ...] = ()
    counter_names: tuple[str, ...] = ()
    counters: tuple[device.CounterSamples, ...] = ()
    spm: tuple[device.SpmSeries, ...] = ()
    spm_note: str = ""  # how its times were related to the trace, a sentence
    other_simd: tuple[device.OtherSimd, ...] = ()
    shader_data: tuple[device.ShaderData, ...] = ()
    markers: tuple[device.MarkerName, ...] = ()
    marker_layout: tuple[tuple[int, int, int], ...] = ()  # code object, clock bits, clock shift
    marker_payloads: tuple[tuple[int, int, int], ...] = ()  # code object, marker, words
    state_curves: tuple[device.StateCurve, ...] = ()
    target_from: str = ""  # source of the target, as text; "" if only the generation is known
    disassembler: str = ""  # with its version, of the texts of a raw capture that no file gives
    facts: RunFacts | None = None  # from tables of the run, for a capture that includes them
    has_only_costs: bool = False  # a table of costs: instructions have costs, there are no waves or times
    is_static: bool = False  # a compiled program that has not run: no wave, no time, no cost is known
    is_part: bool = False  # it is the beginning of a capture that is still being decoded

    @property
    def architecture(self) -> Architecture:
        """The facts about the GPU."""
        return architecture_of(self.gfxip, self.target)

    def check_line(self, *lines: int) -> None:
        """Raise UsageError unless the program has all of these rows."""
        for line in lines:
            if not 0 <= line < len(self.code):
                hint = Message("Rows, with labels, are 0 to {0:,}.", len(self.code) - 1)
                raise UsageError(Message("The capture has no instruction {0}.", line), hint=hint)

    def within(self, ends: tuple[int, int] | None) -> TimeWindow | None:
        """Return a range of cycles, cut to the capture; a cycle beside it if they do not meet."""
        if ends is None:
            return None
        begin, end = max(ends[0], self.span.begin), min(ends[1], self.span.end)
        beside = ends[0] if ends[0] >= self.span.end else ends[1] - 1  # nothing is there
        return TimeWindow(begin, end) if begin < end else TimeWindow(beside, beside + 1)

    def wave_row(self, name: str) -> int:
        """Return the index row of a wave by its name, such as se0/simd2/slot5/wv3.

        Raise UsageError if it is not the name of a wave of this capture.
        """
        try:
            row = self.waves.row(WaveId.parse(name))
        except ValueError as error:
            hint = "Waves are written like se0/simd2/slot5/wv3."
            raise UsageError(Message("{0}.", error), hint=hint) from error
        if row is None:
            text = Message("The capture has no wave {0}.", name.strip())
            raise UsageError(text, hint="`rcv waves` lists the traced waves.")
        return row

    def wave_problems(self, missing: Mapping[int, str], notes: Mapping[int, str]) -> tuple[Problem, ...]:
        """A problem for each of the first waves that are missing or have notes, and one for all others.

        Both are sentences by row of the wave index.
        """
        found = [*missing.items(), *notes.items()]
        copy = ("Copy the capture again if it was moved.", (Affects.WAVES,))
        named = [
            Problem(Severity.WARNING, self.waves.file[row], text, *(copy if row in missing else ()))
            for row, text in found[:NAMED]
        ]
        if len(found) > NAMED:
            more = plural(len(found) - NAMED, "other wave is", "other waves are")
            text = Message("{0} unreadable or doubtful for such reasons.", more)
            named.append(Problem(Severity.WARNING, "", text))
        return tuple(named)

    @property
    def has_times(self) -> bool:
        """Whether anything in the trace happened at a known time."""
        return bool(len(self.waves) or len(self.occupancy))

    @property
    def has_shader_data(self) -> bool:
        """Whether waves wrote any data; without it there are no scopes of markers."""
        return any(len(data.time) for data in self.shader_data)

    @property
    def has_only_markers(self) -> bool:
        """Whether waves wrote data, and none was traced: markers also come from other units."""
        return self.has_shader_data and not len(self.waves)

    @cached_property
    def span(self) -> TimeWindow:
        """From the first to the last known time."""
        times = [column for column in (self.waves.begin, self.waves.end, self.occupancy.time) if len(column)]
        if not times:
            return TimeWindow(0, 1)
        every = np.concatenate([[column.min(), column.max()] for column in times])
        return TimeWindow(int(every.min()), int(every.max()))

    @cached_property
    def kernel_name(self) -> str:
        """The symbol of the kernel with most traced cycles, or of the only label; "" if unknown."""
        kernel = self.code.main_kernel
        return "" if kernel is None else kernel.demangled

    @property
    def title(self) -> str:
        """The title of the capture: its kernel, dispatch and parent folder."""
        return capture_title(self.path, self.kernel_name)

    def problems_about(self, *data: Affects) -> tuple[Problem, ...]:
        """The problems that explain missing data of any of these kinds."""
        return tuple(problem for problem in self.problems if not set(data).isdisjoint(problem.affects))

    @property
    def unread(self) -> tuple[Problem, ...]:
        """The problems of waves that ran; a brief problem says that none did."""
        return tuple(problem for problem in self.problems_about(Affects.WAVES) if not problem.brief)


DISPATCH = re.compile(r"_dispatch_(\d+)(?:_(.+))?$")
RAW_DISPATCH = re.compile(r"_shader_engine_\d+_(\d+)(?:_(.+))?\.att$")  # of a file that names a raw capture
_COMPILED = re.compile(r"\.[a-z]\w*(?:\.\d+)*[/\\](?:gfx[^/\\]*|gpu(?:@\d+)?)$")  # of a kernel below its file
KERNEL_LETTERS = 40  # of a title


def capture_title(path: Path, kernel: str) -> str:
    """Return the kernel, if known, the dispatch, and the parent folder of the capture.

    If the folder or file names no dispatch, a user chose its name: then this name is used.
    """
    name = path.name.removesuffix(".rcvz")
    dispatch = DISPATCH.search(name) or RAW_DISPATCH.search(name)
    names: tuple[str | None, ...] = (name,)
    if dispatch:
        names = (Message("dispatch {0}", dispatch[1]), dispatch[2], path.parent.name)
    elif _COMPILED.search(str(path.parent)) and name == path.name:
        kernel, names = kernel or name, (path.parent.name, path.parent.parent.name)
    return " · ".join(filter(None, (elide_right(short_kernel(kernel), KERNEL_LETTERS), *names)))


class CaptureEntry(NamedTuple):
    """A capture found below a folder, described without opening its waves; -1 is an unknown number."""

    path: Path
    name: str
    kernel: str  # short name, "" if unknown
    waves: int = 0
    instructions: int = -1  # code rows, without labels
    executed: int = -1  # of them with hits
    mapped: int = 0  # of them with a source place
    hits: int = -1  # sum of hit counts
    latency: int = -1  # cycles
    note: str = ""  # why it is a placeholder or cannot be opened; "" if neither
    about: str = ""  # from names of raw files: process, agent, dispatch, shader engines, size
    agent: int = -1
    dispatch: int = -1
    cycles: int = -1  # from the first begin to the last end of its waves
    size: int = -1  # bytes of its files of waves, or of its only file
    recorded: str = ""  # when its files were written, local time, such as 2026-11-23 13:05:10
    is_part: bool = False  # not decoded yet: the kernel comes from its beginning, numbers are unknown

    @property
    def title(self) -> str:
        """The title, as for an open capture."""
        return capture_title(self.path, self.kernel)


class Origin(NamedTuple):
    """Recorder and time of a capture, from names and dates of its files; -1: unknown number."""

    agent: int = -1
    dispatch: int = -1
    recorded: int = -1  # when its files were written, seconds since 1970, UTC


UNKNOWN = Origin()
