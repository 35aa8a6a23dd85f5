"""The numbers of older scripts, by their rules: of both generations of the hotspot scripts, and of counters.

They are for comparison with old notes, not for decisions.  Classes are matched by parts of words, and
occupancy uses a formula that measured captures contradict; `instruction_classes` and `occupancy_limits` are
accurate.  `pmc_l2_analyzer.py` sums everything, counts every read of other than 32 bytes as 64 bytes, and
multiplies by a number of channels; `traffic` is more exact.
"""

import re
from collections import Counter
from collections.abc import Sequence
from enum import Enum

import numpy as np

from rcv_py.base.record import Value
from rcv_py.base.text import Message, number
from rcv_py.model.code import CodeTable, SourceFile
from rcv_py.model.device import PmcTable
from rcv_py.model.resources import KernelResources

UNKNOWN = "<unknown>"
MAX_WAVES = 8


class AnalyzerGeneration(Enum):
    """The architecture whose rules apply."""

    OLD = "old"
    NEW = "new"


class AnalyzerInstruction(Value):
    """A code line with an index above 0."""

    row: int  # of the code table
    text: str
    name: str  # of its class
    stall: int
    total: int  # cycles of latency
    source: str  # the whole chain, UNKNOWN if there is none


class SourceLine(Value):
    """All instructions with the same source text."""

    source: str
    stall: int
    total: int
    dominant: str  # class with most stall
    instructions: tuple[AnalyzerInstruction, ...]  # instructions that stalled, most first

    @property
    def rate(self) -> float:
        """Stall as a percentage of the line's cycles, 0 to 100."""
        return 100 * self.stall / self.total if self.total else 0.0


class Occupancy(Value):
    """Registers and waves; `limits` are (name, used, waves)."""

    arch: int  # registers that the text names
    accum: int
    given: int  # registers divided into the pool
    pool: int
    limits: tuple[tuple[str, int, int], ...]
    waves: int
    bound: str  # the first of the limits with the fewest waves
    next_registers: int  # maximum registers for one more wave, -1: unknown


class AnalyzerLaunch(Value):
    """The chosen row of the kernel-trace table, and a remark about the choice."""

    resources: KernelResources | None = None
    warning: str = ""


class LegacyReport(Value):
    """Everything that the scripts print."""

    instructions: tuple[AnalyzerInstruction, ...]
    total: int
    stall: int
    classes: tuple[tuple[str, int], ...]  # stall by class, most first, without classes that have none
    sources: tuple[SourceLine, ...]  # most stall first
    ranked: tuple[AnalyzerInstruction, ...]  # most stall first
    mix: tuple[tuple[str, int], ...]  # instructions in the program
    target: str
    occupancy: Occupancy
    launch: AnalyzerLaunch


# (words that must all be in the text, class): the first row that matches.
_CLASSES = (
    (("s_waitcnt", "vmcnt"), "VMEM-wait"),
    (("s_waitcnt", "lgkmcnt"), "LDS/SMEM-wait"),
    (("s_waitcnt", "expcnt"), "EXP-wait"),
    (("s_waitcnt",), "waitcnt"),
    (("s_barrier",), "barrier"),
    (("s_wait_idle",), "barrier"),
    *(((word,), "VMEM-load") for word in ("buffer_load", "global_load", "flat_load")),
    *(((word,), "VMEM-store") for word in ("buffer_store", "global_store")),
    *(((word,), "LDS") for word in ("ds_read", "ds_write")),
    *(((word,), "SMEM") for word in ("s_load", "s_store")),
    *(((word,), "MFMA/FMA") for word in ("v_mfma", "v_fma")),
)
_MIX = (
    ("MFMA", ("v_mfma_",)),
    ("buffer_load", ("buffer_load",)),
    ("buffer_store", ("buffer_store",)),
    ("ds_read", ("ds_read", "ds_load")),
    ("ds_write", ("ds_write", "ds_store")),
)
_CDNA4 = ("v_mfma_scale_f32", "v_mfma_f32_16x16x128", "v_mfma_f32_32x32x64")
_REGISTER = re.compile(r"\b([va])(?:(\d+)\b|\[(\d+):\d+\])")
_LDS = {"gfx950": 163_840, "gfx942": 65_536}
_DISPATCH = re.compile(r"dispatch_(\d{1,18})$")


def class_of(text: str) -> str:
    """Return the class of an instruction by parts of its text."""
    plain = text.lower()
    return next((name for words, name in _CLASSES if all(word in plain for word in words)), "other")


def legacy_report(
    code: CodeTable,
    sources: Sequence[SourceFile],
    generation: AnalyzerGeneration,
    launch: AnalyzerLaunch | None = None,
) -> LegacyReport:
    """Return the numbers of a program; only the new generation uses `launch`."""
    launch = launch or AnalyzerLaunch()
    instructions = _instructions(code, sources)
    classes = _stall_by_class(instructions)
    texts = [one.text.lower() for one in instructions]
    target = "gfx950" if any(form in text for text in texts for form in _CDNA4) else "gfx942"
    registers = _registers(texts)
    if generation is AnalyzerGeneration.OLD:
        occupancy = _old_occupancy(*registers, target)
    else:
        occupancy = _new_occupancy(*registers, target, launch.resources)
    return LegacyReport(
        instructions=instructions,
        total=sum(one.total for one in instructions),
        stall=sum(one.stall for one in instructions),
        classes=tuple((name, stall) for name, stall in classes.most_common() if stall),
        sources=_by_source(instructions),
        ranked=tuple(sorted(instructions, key=lambda row: -row.stall)),
        mix=tuple((name, sum(any(word in text for word in words) for text in texts)) for name, words in _MIX),
        target=target,
        occupancy=occupancy,
        launch=launch,
    )


def choose_launch(launches: Sequence[KernelResources], folder: str, kernel: str) -> AnalyzerLaunch:
    """Return the launch that the new generation uses.

    With part of a kernel name, the number at the end of the folder's name must be the dispatch number;
    without a number the first launch is used.  Without a kernel name, the names of kernel and folder must
    overlap.
    """
    rows = [row for row in launches if row.accum_vgprs >= 0 and (not kernel or kernel in row.kernel)]
    number = _DISPATCH.search(folder) if kernel else None
    if number:
        rows = [row for row in rows if row.dispatch == int(number[1])]
    elif not kernel:
        rows = [row for row in rows if row.kernel and (row.kernel in folder or folder in row.kernel)]
    elif len(rows) > 1:
        text = "{0} launches fit, and the folder does not name its dispatch; the first is taken."
        return AnalyzerLaunch(rows[0], Message(text, len(rows)))
    return AnalyzerLaunch(rows[0] if rows else None)


def _instructions(code: CodeTable, sources: Sequence[SourceFile]) -> tuple[AnalyzerInstruction, ...]:
    names = {text: class_of(text) for text in set(code.text)}
    columns = zip(code.number.tolist(), code.stall.tolist(), code.latency.tolist(), strict=True)
    return tuple(
        AnalyzerInstruction(
            row,
            code.text[row],
            names[code.text[row]],
            stall,
            total,
            " -> ".join(f"{sources[file].path}:{line}" for file, line in code.chain(row)) or UNKNOWN,
        )
        for row, (number, stall, total) in enumerate(columns)
        if number > 0
    )


def _by_source(instructions: Sequence[AnalyzerInstruction]) -> tuple[SourceLine, ...]:
    members: dict[str, list[AnalyzerInstruction]] = {}
    for one in instructions:
        members.setdefault(one.source, []).append(one)
    lines = []
    for source, part in members.items():
        stalled = [one for one in part if one.stall > 0]
        dominant = next((name for name, _ in _stall_by_class(stalled).most_common(1)), "")
        ranked = tuple(sorted(stalled, key=lambda row: -row.stall))
        stall, total = sum(one.stall for one in part), sum(one.total for one in part)
        lines.append(SourceLine(source, stall, total, dominant, ranked))
    return tuple(sorted(lines, key=lambda line: -line.stall))


def _stall_by_class(instructions: Sequence[AnalyzerInstruction]) -> Counter[str]:
    classes: Counter[str] = Counter()
    for one in instructions:
        classes[one.name] += one.stall
    return classes


def _registers(texts: Sequence[str]) -> tuple[int, int]:
    """Vector and accumulation registers: the highest first number of a range, plus one."""
    most = {"v": -1, "a": -1}
    for text in set(texts):
        for kind, single, low in _REGISTER.findall(text):
            most[kind] = max(most[kind], number(single or low))
    return most["v"] + 1, most["a"] + 1 if most["a"] > 0 else 0


def _rounded(value: int, to: int) -> int:
    return -(-value // to) * to


def _old_occupancy(arch: int, accum: int, target: str) -> Occupancy:
    is_unified = target == "gfx950"
    sizes = (_rounded(arch, 8), _rounded(accum, 8))
    pool = 512 if is_unified else 256
    given = sum(sizes) if is_unified else max(sizes)
    waves = min(MAX_WAVES, pool // max(1, given))
    step = pool // (waves + 1) if waves < MAX_WAVES else -1
    limits = (("VGPR", given, waves),)
    return Occupancy(
        arch, accum, given=given, pool=pool, limits=limits, waves=waves, bound="VGPR", next_registers=step
    )


def _new_occupancy(arch: int, accum: int, target: str, launch: KernelResources | None) -> Occupancy:
    combined = arch + accum
    if launch is not None:
        listed, more = max(0, launch.vgprs), max(0, launch.accum_vgprs)
        combined = max(arch, listed) + max(accum, more) if accum else max(arch, listed + more)
    given = _rounded(combined, 8)
    limits = [("VGPR", given, 512 // max(1, given))]
    if launch is not None and launch.lds > 0:
        waves = -(-launch.threads // 64) or 1
        limits.append(("LDS", launch.lds, max(1, _LDS[target] // launch.lds * waves // 4)))
    if launch is not None and launch.sgprs > 0:
        limits.append(("SGPR", launch.sgprs, 800 // _rounded(launch.sgprs, 16)))
    capped = tuple((name, used, min(MAX_WAVES, waves)) for name, used, waves in limits)
    name, _, waves = min(capped, key=lambda limit: limit[2])
    step = 512 // (waves + 1) if name == "VGPR" and waves < MAX_WAVES else -1
    return Occupancy(
        arch, accum, given=given, pool=512, limits=capped, waves=waves, bound=name, next_registers=step
    )


CHANNELS = 2  # its default factor


class OriginalNumbers(Value):
    """Sums over all matching dispatches; None where a counter is missing."""

    dispatches: int  # distinct ids
    hits: float | None
    misses: float | None
    l1_reads: float | None
    reads: float | None
    reads_32: float
    dram_reads: float
    channels: int
    ideal: float  # bytes a dispatch, 0 if not given

    @property
    def hit_rate(self) -> float:
        """Hits as a share of all lookups, 0 to 1."""
        whole = (self.hits or 0) + (self.misses or 0)
        return (self.hits or 0) / whole if whole else 0.0

    @property
    def partial(self) -> float:
        """Reads of 32 bytes as a share of all reads, 0 to 1."""
        return self.reads_32 / self.reads if self.reads else 0.0

    @property
    def read(self) -> float:
        """Bytes read, by its estimate."""
        return (64 * ((self.reads or 0) - self.reads_32) + 32 * self.reads_32) * self.channels

    @property
    def over_fetch(self) -> float:
        """Bytes read over the ideal bytes; 0 without the ideal."""
        whole = self.ideal * self.dispatches
        return self.read / whole if whole else 0.0


def original_numbers(
    table: PmcTable, kernel: str = "", channels: int = CHANNELS, ideal: float = 0.0
) -> OriginalNumbers:
    """Return the sums over the dispatches whose kernel has `kernel` in its name."""
    fits = np.array([kernel in one.kernel for one in table.dispatches], dtype=bool)
    ids = {one.number for one, is_one in zip(table.dispatches, fits, strict=True) if is_one}

    def total(name: str) -> float | None:
        if name not in table.counters:
            return None
        rows = (table.counter == table.counters.index(name)) & fits[table.of[table.execution]]
        return float(table.value[rows].sum()) if rows.any() else None

    return OriginalNumbers(
        dispatches=len(ids),
        hits=total("TCC_HIT_sum"),
        misses=total("TCC_MISS_sum"),
        l1_reads=total("TCP_TCC_READ_REQ_sum"),
        reads=total("TCC_EA0_RDREQ_sum"),
        reads_32=total("TCC_EA0_RDREQ_32B_sum") or 0.0,
        dram_reads=total("TCC_EA0_RDREQ_DRAM_sum") or 0.0,
        channels=channels,
        ideal=ideal,
    )
