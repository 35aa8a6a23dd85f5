"""What was recorded, and where each fact is from: folder, kernel, device, launch, registers, versions."""

from __future__ import annotations

from collections.abc import Iterator

from rcv_py import __version__
from rcv_py.base.text import count, nanoseconds, plural
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import Cell, Heading, Note, Part, Section, Table
from rcv_py.model.resources import AgentFacts, KernelResources
from rcv_py.model.trace import INFERRED

TRACE, INDEX = "the capture", "the index of waves"
_REGISTERS = (("vgprs", "VGPR"), ("accum_vgprs", "AGPR"), ("sgprs", "SGPR"))

Fact = tuple[str, str, str]  # name, value, where it is from


def configuration(inputs: ReportInputs) -> Section:
    """Facts in three columns: what, value, told by."""
    rows = tuple(
        (Cell(name), Cell(value), Cell(source)) for name, value, source in _facts(inputs) if value.strip()
    )
    parts: list[Part] = [Table((Heading("what"), Heading("value"), Heading("told by")), rows)]
    if inputs.facts is not None:
        parts += [Note(text) for text in inputs.facts.notes]
    return Section("configuration", "Configuration", tuple(parts))


def _facts(inputs: ReportInputs) -> Iterator[Fact]:
    trace, facts = inputs.trace, inputs.facts
    yield "Capture", trace.name, TRACE
    yield "Folder", str(trace.path.absolute()), ""
    yield "Kernel", trace.kernel_name, TRACE
    yield "Device", trace.target, trace.target_from if trace.target_from == INFERRED else TRACE
    if facts is not None and facts.agent is not None:
        yield "Device has", _agent(facts.agent), facts.agent.file
    if facts is not None and facts.kernel is not None:
        yield from _launch(facts.kernel)
    yield from _dispatch(inputs)
    yield from _waves(inputs)
    if facts is not None and facts.command:
        yield "Program", " ".join(facts.command), facts.command_file
    yield "Format", trace.version, TRACE
    yield "Report by", f"rcv {__version__}", ""


def _agent(one: AgentFacts) -> str:
    parts = [f"{count(one.cus)} compute units" if one.cus else ""]
    parts.append(f"{one.simds_per_cu} SIMDs each" if one.simds_per_cu else "")
    parts.append(f"{one.waves_per_simd} waves a SIMD" if one.waves_per_simd else "")
    parts.append(f"waves of {one.wave_size} lanes" if one.wave_size else "")
    return ", ".join(filter(None, parts))


def _launch(one: KernelResources) -> Iterator[Fact]:
    """What the table of launches tells; grids are counted in threads there."""
    if min(one.grid) > 0:
        groups = ""
        if min(one.workgroup) > 0:
            n = 1
            for threads, size in zip(one.grid, one.workgroup, strict=True):
                n *= -(-threads // size)
            groups = f", {plural(n, 'workgroup')}"
        yield "Grid", f"{_three(one.grid)} threads{groups}", one.file
    if min(one.workgroup) > 0:
        yield "Workgroup", f"{_three(one.workgroup)} threads", one.file
    named = [(getattr(one, field), name) for field, name in _REGISTERS]
    yield "Registers", ", ".join(f"{count(value)} {name}" for value, name in named if value >= 0), one.file
    if one.lds >= 0:
        yield "LDS", f"{count(one.lds)} bytes a workgroup", one.file
    if one.scratch >= 0:
        yield "Scratch", f"{count(one.scratch)} bytes a lane", one.file


def _dispatch(inputs: ReportInputs) -> Iterator[Fact]:
    for one in inputs.trace.dispatches[:1]:
        size = _three(one.workgroup_size)
        text = f"workgroup {size}, {one.vgprs} VGPR, {one.sgprs} SGPR, LDS {one.lds_size}"
        yield "Dispatch", text, TRACE


def _three(numbers: tuple[int, int, int]) -> str:
    return " × ".join(map(count, numbers))


def _waves(inputs: ReportInputs) -> Iterator[Fact]:
    trace = inputs.trace
    for fact in inputs.summary.facts:
        if fact.id != "kernel":
            yield fact.name, " · ".join(filter(None, (fact.text, fact.of))), TRACE
    if trace.clock.shader_hz:
        yield "Shader clock", f"{trace.clock.shader_hz / 1e9:.3f} GHz", "clock samples of the capture"
    if trace.has_times:
        yield "Time span", _span(inputs), INDEX
    tokens = sum(len(batch.line) for batch in inputs.batches)
    if tokens:
        yield "Instructions executed", f"{count(tokens)} in {plural(len(inputs.waves), 'wave')}", "wave files"


def _span(inputs: ReportInputs) -> str:
    span = inputs.trace.span
    ns = inputs.ns(span.width)
    return f"cycles {span}, {count(span.width)} cycles" + (f", {nanoseconds(ns)}" if ns is not None else "")
