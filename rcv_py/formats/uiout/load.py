"""Opens a ui_output folder: index, code and device tables; wave files stay closed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rcv_py.base.errors import NotATrace, TraceError
from rcv_py.base.problems import Affects, Problem, Severity
from rcv_py.base.progress import Report, Stage, silent
from rcv_py.formats.uiout import occupancy
from rcv_py.formats.uiout.clock import read_clock
from rcv_py.formats.uiout.code import Code, read_code
from rcv_py.formats.uiout.counters import read_counters, read_spm
from rcv_py.formats.uiout.diagnostics import diagnostics
from rcv_py.formats.uiout.folder import INDEX, Listing, listing
from rcv_py.formats.uiout.index import Index, read_index, rescued_index
from rcv_py.formats.uiout.othersimd import read_other_simd
from rcv_py.formats.uiout.places import aligned, placed
from rcv_py.formats.uiout.shaderdata import read_shader_data
from rcv_py.formats.uiout.snapshots import read_sources
from rcv_py.formats.uiout.target import exact_target
from rcv_py.formats.uiout.waves import WaveFiles
from rcv_py.formats.uiout.wstates import read_state_curves
from rcv_py.model.kinds import TokenKind
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveIndex

_STAGES = 6


def open_folder(path: Path, report: Report = silent, rule: ReferenceRule = ReferenceRule.OURS) -> Trace:
    """Open a capture folder; raise a TraceError if nothing in it can be shown.

    `rule` chooses how the clocks of the shader engines are aligned.
    """
    problems: list[Problem] = []
    files = listing(path)
    report(Stage("Reading the index", 0, _STAGES))
    index = _index(files, problems)
    report(Stage("Reading the code", 1, _STAGES))
    code = read_code(files, index.gfxip, problems)
    report(Stage("Reading occupancy", 2, _STAGES))
    raw = occupancy.load(path, files, problems)
    engines = {*occupancy.engines_of(raw), *np.unique(index.waves.se).tolist()}
    clock = read_clock(path, files, engines, problems, rule)
    offsets = dict(clock.offsets)
    device = occupancy.read_occupancy(raw, offsets, problems)
    waves = placed(aligned(index.waves, offsets), device.waves)
    report(Stage("Reading sources", 3, _STAGES))
    sources = read_sources(path, files, code.paths, problems)
    report(Stage("Reading counters", 4, _STAGES))
    counters = read_counters(path, files, offsets, problems)
    spm = read_spm(path, files, problems)
    other = read_other_simd(path, index.other_simd, _traced_simd(waves), offsets, problems)
    shader = read_shader_data(path, index.shader_data, offsets, problems)
    # Whoever has all waves counts their states better than the writer, whose engines' clocks are not aligned.
    curves = read_state_curves(path, files, problems) if np.any(waves.size == 0) else ()
    report(Stage("Reading counters", _STAGES, _STAGES))
    gfxip = index.gfxip or code.gfxip or 9
    if not (len(waves) or len(device.waves) or len(code.table)):
        raise NotATrace(path, "it holds no waves, no occupancy and no code" + _first(problems))
    problems += diagnostics(files, index, code.table, waves, device)
    target, told_by = exact_target(path, gfxip, set(code.mnemonics))
    return Trace(
        path=path,
        name=path.name,
        version=index.version,
        gfxip=gfxip,
        target=target,
        target_from=told_by,
        has_thread_trace=index.has_thread_trace,
        has_pc_samples=index.has_pc_samples or code.table.samples_issued is not None,
        waves=waves,
        code=code.table,
        sources=sources,
        occupancy=device.waves,
        clock=clock,
        reader=_reader(path, waves, offsets, code, gfxip),
        problems=tuple(problems),
        events=device.events,
        dispatches=device.dispatches,
        counter_names=index.counter_names,
        counters=counters,
        spm=spm,
        other_simd=other,
        shader_data=shader,
        markers=code.markers,
        marker_layout=code.layout,
        marker_payloads=code.payloads,
        state_curves=curves,
        extra=index.extra,
    )


def _index(files: Listing, problems: list[Problem]) -> Index:
    """The index of the folder, or one made from the names of its wave files."""
    try:
        return read_index(files, problems)
    except TraceError as error:
        rescued = rescued_index(files, problems)
        if not len(rescued.waves) and INDEX not in files:
            raise NotATrace(files.path) from error
        problems.append(
            Problem(
                Severity.WARNING,
                INDEX,
                f"{error} Waves found by the names of their files: {len(rescued.waves):,}.",
                "Copy the whole capture folder again.",
                () if len(rescued.waves) else (Affects.WAVES,),
            )
        )
        return rescued


def _reader(path: Path, waves: WaveIndex, offsets: dict[int, int], code: Code, gfxip: int) -> WaveFiles:
    table = code.table
    return WaveFiles(
        path,
        waves,
        offsets,
        table.row_of_number,
        table.kind == TokenKind.MATRIX,
        table.is_label,
        4 if gfxip <= 9 else 1,
    )


def _traced_simd(waves: WaveIndex) -> dict[int, int]:
    """The first SIMD of which each shader engine has waves."""
    return dict(zip(waves.se[::-1].tolist(), waves.simd[::-1].tolist(), strict=True))


def _first(problems: list[Problem]) -> str:
    return f" ({problems[0].text.rstrip('.')})" if problems else ""
