"""Open a ui_output folder: index, code and device tables; wave files are not opened."""

from pathlib import Path

import numpy as np
from msgspec.structs import replace

from rcv_py.base.errors import NotATrace, TraceError
from rcv_py.base.problems import Affects, Problems, Severity
from rcv_py.base.progress import Report, Stage, silent
from rcv_py.base.text import Message, plural
from rcv_py.formats.input.files import try_json
from rcv_py.formats.uiout import occupancy, side_files
from rcv_py.formats.uiout.clock import lives_of, read_clock
from rcv_py.formats.uiout.code import read_code
from rcv_py.formats.uiout.folder import CODE, INDEX, WAVE_NAME, FolderFiles, listing
from rcv_py.formats.uiout.index import Index, aligned, placed, read_index, rescued_index, times_of
from rcv_py.formats.uiout.run_files import exact_target
from rcv_py.formats.uiout.waves import WaveFiles
from rcv_py.model.architecture import architecture_of
from rcv_py.model.code import CodeTable
from rcv_py.model.device import HardwareEvents
from rcv_py.model.kinds import EventKind, TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveIndex

_STAGES = 6
_LOSSES = (EventKind.PACKET_LOSS, EventKind.TT_STALL_BEGIN)
NO_WAVE = (
    "No wave ran on the traced compute unit, so there are no instructions to show.",
    "Choose another --att-target-cu, more engines in --att-shader-engine-mask, or a larger grid.",
)
NOT_LISTED = (
    "filenames.json lists no wave, although wave files lie beside it; they are not read.",
    "Decode again; without filenames.json the waves are found by the names of their files.",
)
ONLY_MARKERS = (
    "This capture holds markers and no instructions: scopes have times on all compute units.",
    "Trace a compute unit with its instructions to see what happens inside of a scope.",
)
NOT_HERE = "Not in this capture."  # what most panels say then


def open_folder(path: Path, report: Report = silent) -> Trace:
    """Open a capture folder; raise a TraceError if nothing in it can be shown."""
    problems = Problems()
    files = listing(path)
    report(Stage("Reading the index", 0, _STAGES))
    index = _index(files, problems)
    report(Stage("Reading the code", 1, _STAGES))
    code = read_code(files, index.gfxip, problems)
    report(Stage("Reading occupancy", 2, _STAGES))
    has_occupancy = occupancy.FILE in files
    raw = try_json(path, occupancy.FILE, problems, Affects.OCCUPANCY) if has_occupancy else None
    rows = occupancy.wave_rows(raw, problems)
    times = [*times_of(index.waves), *((se, table[:, 0]) for se, table in rows.items())]
    clock = read_clock(files, lives_of(times), problems)
    offsets = dict(clock.offsets)
    resident, events, dispatches = occupancy.read_occupancy(raw, rows, offsets, problems)
    waves = placed(aligned(index.waves, offsets), resident)
    resident = replace(resident, **waves.extent)
    report(Stage("Reading sources", 3, _STAGES))
    sources = side_files.read_sources(files, code.paths, problems)
    report(Stage("Reading counters", 4, _STAGES))
    counters = side_files.read_counters(files, offsets, problems)
    spm = side_files.read_spm(files, problems)
    first_simd = dict(zip(waves.se[::-1].tolist(), waves.simd[::-1].tolist(), strict=True))
    other = side_files.read_other_simd(files, index.other_simd, first_simd, offsets, problems)
    shader = side_files.read_shader_data(files, index.shader_data, offsets, problems)
    # With all waves we count states better than the writer, whose engines' clocks are not aligned.
    curves = side_files.read_state_curves(files, problems) if np.any(waves.size == 0) else ()
    report(Stage("Reading counters", _STAGES, _STAGES))
    gfxip = index.gfxip or code.gfxip or 9
    is_empty = not (len(waves) or len(resident) or len(code.table))
    if is_empty and any(problem.severity is not Severity.INFO for problem in problems):
        why = problems[0].text.rstrip(".")
        raise NotATrace(path, Message("it holds no waves, no occupancy and no code ({0})", why))
    is_sampled = index.has_pc_samples or code.table.samples is not None
    has_markers = any(len(one.time) for one in shader)
    if not len(waves):
        none = NOT_LISTED if any(files.matching(WAVE_NAME)) else NO_WAVE
        _explain_no_wave(code.table, problems, none, is_sampled=is_sampled, has_markers=has_markers)
    _diagnose(code.table, waves, events, problems)
    is_lacking = bool(len(waves)) and not len(resident) if has_occupancy else True
    if is_lacking and not is_sampled and occupancy.FILE not in {problem.where for problem in problems}:
        template = "{0} is missing: what ran on the other compute units is not known."
        if has_occupancy:
            template = "{0} lists no wave: what ran on the other compute units is not known."
        problems.warn(
            occupancy.FILE,
            Message(template, occupancy.FILE),
            "Copy the whole capture folder, or decode again.",
            Affects.OCCUPANCY,
        )
    target, target_source = exact_target(path, gfxip, set(code.mnemonics))
    return Trace(
        path=path,
        name=path.name,
        version=index.version,
        gfxip=gfxip,
        target=target,
        target_from=target_source,
        has_thread_trace=index.has_thread_trace,
        has_pc_samples=is_sampled,
        waves=waves,
        code=code.table,
        sources=sources,
        occupancy=resident,
        clock=clock,
        reader=WaveFiles(
            folder=path,
            index=waves,
            offset_of_se=offsets,
            row_of_number=code.table.row_of_number,
            matrix=code.table.kind == TokenKind.MATRIX,
            labels=code.table.is_label,
            base_clock=architecture_of(gfxip, target).base_clock,
        ),
        problems=tuple(problems),
        events=events,
        dispatches=dispatches,
        counter_names=index.counter_names,
        counters=counters,
        spm=spm,
        other_simd=other,
        shader_data=shader,
        markers=code.markers,
        marker_layout=code.layout,
        marker_payloads=code.payloads,
        state_curves=curves,
    )


def _index(files: FolderFiles, problems: Problems) -> Index:
    """The index of the folder, or one made from the names of its wave files."""
    try:
        return read_index(files, problems)
    except TraceError as error:
        rescued = rescued_index(files, problems)
        if not len(rescued.waves) and INDEX not in files:
            raise NotATrace(files.path) from error
        problems.warn(
            INDEX,
            Message("{0} Waves found by the names of their files: {1:,}.", error, len(rescued.waves)),
            "Copy the whole capture folder again.",
            *(() if len(rescued.waves) else (Affects.WAVES,)),
        )
        return rescued


def _explain_no_wave(
    code: CodeTable, problems: Problems, why: tuple[str, str], *, is_sampled: bool, has_markers: bool
) -> None:
    if is_sampled:
        report_only_samples(INDEX, problems)
    elif has_markers:
        problems.inform(INDEX, *ONLY_MARKERS, Affects.WAVES, brief=NOT_HERE)
    else:
        affects = (Affects.WAVES,) if len(code) else (Affects.WAVES, Affects.CODE)
        problems.warn(INDEX, *why, *affects, brief=NOT_HERE if why is NO_WAVE else "")


def _diagnose(code: CodeTable, waves: WaveIndex, events: HardwareEvents | None, problems: Problems) -> None:
    if len(waves) and not len(code) and CODE not in {problem.where for problem in problems}:
        text = "{0} has no instructions: executions have no text and no totals."
        hint = "Decode again, with the code objects (.out) beside the .att files."
        problems.fail(CODE, Message(text, CODE), hint, Affects.CODE)
    if len(code):
        report_no_lines(code, CODE, problems)
    lost = np.flatnonzero(waves.size == 0)
    if len(lost):
        name = waves.file[lost[0]]
        text = "Wave files that are missing or empty: {0:,} of {1:,}, such as {2}."
        text = Message(text, len(lost), len(waves), name)
        affects = (Affects.WAVES,) if len(lost) == len(waves) else ()
        problems.fail(name, text, "Copy the whole capture folder; the other waves are shown.", *affects)
    losses = 0 if events is None else int(np.isin(events.kind, _LOSSES).sum())
    if losses:
        times = plural(losses, "time")
        text = "The trace unit stalled or lost packets {0}; what lies around is incomplete."
        hint = "Record with a larger --att-buffer-size, or fewer shader engines."
        problems.warn(occupancy.FILE, Message(text, times), hint)


def report_only_samples(where: str, problems: Problems) -> None:
    """Add the Problem of a capture of PC samples alone."""
    problems.inform(
        where,
        "This capture holds PC samples and no thread trace: there are no waves and no times.",
        "Read the ISA listing, the sources and the summary; record with --att for timelines.",
        Affects.WAVES,
        Affects.OCCUPANCY,
        brief="PC samples say neither wave nor time.",
    )


def report_no_lines(code: CodeTable, where: str, problems: Problems) -> None:
    """Add a Problem if no instruction has a source line."""
    if not code.mapped_rows:
        problems.inform(
            where,
            "No instruction has a source line: the kernel was built without debug information.",
            "Build with -g (hipcc), or keep line information on in the compiler that made the kernel.",
            Affects.SOURCE_LINES,
        )
