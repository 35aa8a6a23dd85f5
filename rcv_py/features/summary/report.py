"""Sections about the capture itself: what was recorded, and how to get the numbers again."""

import shlex
from collections.abc import Iterator
from itertools import chain
from math import prod

import numpy as np

from rcv_py import __version__
from rcv_py.analysis.health.input_yaml import command_line
from rcv_py.base.text import Message, count, join_texts, plural
from rcv_py.export.report.cells import line_anchor, place_text, text_table
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import Part, Prose, ReportListing, ReportNote, ReportSection, Subheading
from rcv_py.model.resources import AgentFacts, KernelResources
from rcv_py.model.trace import INFERRED

MAX_COMMAND = 70  # characters that may have a comment after them
_TRACE = "the capture"
_REGISTERS = (("vgprs", "VGPR"), ("accum_vgprs", "AGPR"), ("sgprs", "SGPR"))
_COMMANDS = (
    ("report {} --out report.html", "this report"),
    ("triage {}", "the findings"),
    ("check {}", "the capture's health"),
    ("summary {}", "activity, states, occupancy"),
    ("causes {}", "why cycles were spent"),
    ("hotspot {} --by class", "costs by class; also by instruction, source and kind"),
    ("waits {}", "waits and what they waited for"),
    ("loops {}", "loops, phases, iterations"),
    ("occupancy {} --limits", "registers and room for waves"),
    ("export {} --to perfetto --out trace.pftrace", "the timeline for ui.perfetto.dev"),
    ("export {} --to csv --out tables", "every table for a spreadsheet"),
)
_ANCHORS = (
    "Instructions, waves and moments are anchors of this page: #line-1709, #wave-se3-sm1-sl0-wv0, "
    "#wave-se3-sm1-sl0-wv0@126704, #@126704. The window goes to an anchor, or to a place as the tables "
    "print it, with --goto, and with Go to place (Ctrl+G)."
)
_RECORD = (
    "The input file has the settings of this capture, changed where its health needs "
    "it. Choose another file name if the file exists already."
)
Fact = tuple[str, str, str]  # name, value, where it is from


def configuration(inputs: ReportInputs) -> ReportSection:
    """Facts: name, value, and the file it comes from."""
    facts = [fact for fact in _facts(inputs) if fact[1].strip()]
    parts: list[Part] = [text_table(("what", "value", "source"), facts)]
    if inputs.facts is not None:
        parts += [ReportNote(text) for text in inputs.facts.notes]
    return ReportSection("configuration", "Configuration", parts)


def _facts(inputs: ReportInputs) -> Iterator[Fact]:
    trace, facts = inputs.trace, inputs.facts
    yield "Capture", trace.name, _TRACE
    yield "Folder", str(trace.path.absolute()), ""
    yield "Kernel", trace.kernel_name, _TRACE
    yield "Device", trace.target, trace.target_from if trace.target_from == INFERRED else _TRACE
    if facts is not None and facts.agent is not None:
        yield "Device has", _agent(facts.agent), facts.agent.file
    if facts is not None and facts.kernel is not None:
        yield from _launch(facts.kernel)
    if facts is not None and facts.allocated is not None:
        registers = [(facts.allocated.vgprs, "VGPR"), (facts.allocated.sgprs, "SGPR")]
        text = ", ".join(f"{count(value)} {name}" for value, name in registers if value >= 0)
        yield "Registers, allocated", text, facts.allocated.file
    for dispatch in trace.dispatches[:1]:
        size, vgprs, sgprs = _three(dispatch.workgroup_size), dispatch.vgprs, dispatch.sgprs
        taken = Message("workgroup {0}, {1} VGPR, {2} SGPR, LDS {3}", size, vgprs, sgprs, dispatch.lds_size)
        yield "Dispatch", taken, _TRACE
    for fact in inputs.summary.facts:
        if fact.id != "kernel":
            yield fact.name, join_texts(" · ", filter(None, (fact.text, fact.of))), _TRACE
    yield from _times(inputs)
    if facts is not None and facts.command:
        yield "Program", " ".join(facts.command), facts.command_file
    yield "Format", trace.version, _TRACE
    yield "Report by", Message("rcv {0}", __version__), ""


def _times(inputs: ReportInputs) -> Iterator[Fact]:
    trace = inputs.trace
    if trace.clock.shader_hz:
        rate = Message("{0:.3f} GHz", trace.clock.shader_hz / 1e9)
        yield "Shader clock", rate, "clock samples of the capture"
    if trace.has_times:
        width = trace.span.width
        text = Message("cycles {0}, {1} cycles, {2}", trace.span, count(width), trace.clock.duration(width))
        yield "Time span", text, "the index of waves"
    tokens = int(inputs.lives.tokens.sum())
    if tokens:
        text = Message("{0} in {1}", count(tokens), plural(inputs.waves, "wave"))
        yield "Instructions executed", text, "wave files"


def _agent(agent: AgentFacts) -> str:
    texts = "{0} compute units", "{0} SIMDs each", "{0} waves per SIMD", "waves of {0} lanes"
    sizes = agent.cus, agent.simds_per_cu, agent.waves_per_simd, agent.wave_size
    return ", ".join(Message(text, count(size)) for text, size in zip(texts, sizes, strict=True) if size)


def _launch(kernel: KernelResources) -> Iterator[Fact]:
    """The table of launches counts grids in threads."""
    grid, workgroup = kernel.grid, kernel.workgroup
    if min(grid) > 0:
        groups = ""
        if min(workgroup) > 0:
            n = prod(-(-threads // size) for threads, size in zip(grid, workgroup, strict=True))
            groups = Message(", {0}", plural(n, "workgroup"))
        yield "Grid", Message("{0} threads{1}", _three(grid), groups), kernel.file
    if min(workgroup) > 0:
        yield "Workgroup", Message("{0} threads", _three(workgroup)), kernel.file
    registers = [(getattr(kernel, field), name) for field, name in _REGISTERS]
    text = ", ".join(f"{count(value)} {name}" for value, name in registers if value >= 0)
    yield "Registers, as listed", text, kernel.file
    if kernel.lds >= 0:
        yield "LDS", Message("{0} bytes per workgroup", count(kernel.lds)), kernel.file
    if kernel.scratch >= 0:
        yield "Scratch", Message("{0} bytes per lane", count(kernel.scratch)), kernel.file


def _three(sizes: tuple[int, int, int]) -> str:
    return " × ".join(map(count, sizes))


def how_to(inputs: ReportInputs) -> ReportSection:
    """Commands that print the numbers of this report, open its places, and record the kernel again."""
    path = shlex.quote(str(inputs.trace.path.absolute()))
    program = inputs.facts.command if inputs.facts is not None else ()
    record = command_line(shlex.join(program)) if program else command_line()
    yaml = f"rcv check {path} --yaml > input.yaml"
    parts = (
        _listing([(Message("rcv {0}", command.format(path)), text) for command, text in _COMMANDS]),
        Subheading("Open a place in the window"),
        Prose(_ANCHORS),
        _listing(_places(inputs, path)),
        Subheading("Record it again"),
        Prose(_RECORD),
        _listing([(yaml, "the file below How far to trust it"), (record, "")]),
    )
    return ReportSection("how", "How to get these numbers again", parts)


def _places(inputs: ReportInputs, path: str) -> list[tuple[str, str]]:
    """How to open the costliest instruction, and the first wave."""
    commands = [(f"rcv view {path}", "the window")]
    costs = inputs.costs.cost
    if costs.any():
        anchor = line_anchor(int(costs.argmax()))
        commands.append((f"rcv view {path} --goto {anchor}", "the most expensive instruction"))
    waves = inputs.lives
    explained = np.isin(waves.row, inputs.counted).nonzero()[0][:1].tolist()
    for at in explained:
        place = place_text(inputs.trace.waves.id(int(waves.row[at])), cycle=int(waves.begin[at]))
        commands.append((f"rcv view {path} --goto {place}", "a wave and a moment of it"))
    return commands


def _listing(commands: list[tuple[str, str]]) -> ReportListing:
    """Commands with their purpose: after them, or above long ones."""
    width = max(len(command) for command, _ in commands)
    if width <= MAX_COMMAND:
        lines: Iterator[str] = (f"{line.ljust(width)}  # {text}" if text else line for line, text in commands)
    else:
        lines = chain.from_iterable((f"# {text}", line) if text else (line,) for line, text in commands)
    return ReportListing(tuple(lines))
