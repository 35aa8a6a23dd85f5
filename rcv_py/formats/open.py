"""Open the trace at a path, or summarize the captures below it."""

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path

import numpy as np

from rcv_py.base.errors import TraceError
from rcv_py.base.problems import Affects, Problem, Problems, Severity
from rcv_py.base.progress import Report, silent
from rcv_py.base.text import short_kernel
from rcv_py.formats.capture_cache import CaptureCache
from rcv_py.formats.locate import MAX_DEPTH, CaptureForm, locate, shape_of
from rcv_py.formats.raw.options import Early, Jobs, RawOptions, chosen
from rcv_py.formats.uiout.clock import lives_of, read_clock
from rcv_py.formats.uiout.code import read_code
from rcv_py.formats.uiout.folder import INDEX as INDEX_FILE
from rcv_py.formats.uiout.folder import WAVE_NAME, listing
from rcv_py.formats.uiout.index import aligned, read_index, rescued_index, times_of
from rcv_py.formats.uiout.load import NOT_LISTED, open_folder
from rcv_py.formats.uiout.local_sources import located
from rcv_py.model.code import CodeTable
from rcv_py.model.trace import UNKNOWN, CaptureEntry, Origin, Trace
from rcv_py.model.waves import WaveIndex

DECODED = re.compile(r"ui_output_agent_(?P<agent>\d{1,18})_dispatch_(?P<dispatch>\d{1,18})", re.ASCII)


def open_trace(
    path: Path, cache: CaptureCache | None = None, jobs: Jobs | None = None, options: RawOptions | None = None
) -> Trace:
    """Open the capture at `path`: its folder, a file inside it, a packed capture, or the only one below it.

    `cache` keeps captures as long as their files do not change; None opens it anew.  `jobs` and `options` are
    for raw files (`open_capture`).  Raises a TraceError with the problem as text and the remedy as hint.
    """
    found = locate(Path(path)).capture()
    opener = partial(open_capture, found, jobs=jobs, options=options)
    is_usual = (options or chosen()) == RawOptions()
    return cache.trace(found, opener) if cache is not None and is_usual else opener()


def open_capture(
    path: Path,
    report: Report = silent,
    jobs: Jobs | None = None,
    options: RawOptions | None = None,
    early: Early | None = None,
) -> Trace:
    """Open the capture that `locate` found at a path, in any form; raise a TraceError.

    `jobs` gives processes that decode raw files; None: decode in this process.  `options` control how these
    are read, and where sources are; None: from the environment.  `early` is called with the beginning of a
    large capture, which can be shown while the rest is decoded.
    """
    shape, options = shape_of(path), options or chosen()
    if shape is CaptureForm.DECODED:
        return located(open_folder(path, report), options.source_map)
    if shape is CaptureForm.PACKED:
        from rcv_py.formats.packed.capture import open_packed  # noqa: PLC0415 - captures are folders mostly

        return located(open_packed(path), options.source_map)
    if shape is CaptureForm.COMPILED:
        from rcv_py.formats.compiled import open_compiled  # noqa: PLC0415 - it reads code objects

        return open_compiled(path, options)
    if shape is CaptureForm.LISTED:
        from rcv_py.formats.listed.open import open_listed  # noqa: PLC0415 - captures are folders mostly

        return located(open_listed(path), options.source_map)
    from rcv_py.formats.raw.open import open_raw  # noqa: PLC0415 - decoders take long to import

    return open_raw(path, report, jobs, options, early)


def find_captures(path: Path, depth: int = MAX_DEPTH) -> tuple[CaptureEntry, ...]:
    """Return the facts of the capture at `path`, or of each capture up to `depth` folders below; sorted.

    Reads the index and the code of each; `locate(path).captures(depth)` only lists them.
    """
    return tuple(map(capture_entry, locate(Path(path)).captures(depth)))


def capture_entry(path: Path) -> CaptureEntry:
    """Return the facts of one capture; the note of an unreadable capture has the reason.  Never raises."""
    try:
        entry, origin = _ENTRIES[shape_of(path)](path), origin_of(path)
    except TraceError as error:
        entry, origin = CaptureEntry(path=path, name=path.name, kernel="", note=str(error)), _named(path)
    return entry._replace(agent=origin.agent, dispatch=origin.dispatch, recorded=_date(origin.recorded))


def _named(path: Path) -> Origin:
    named = DECODED.match(path.absolute().name)
    return UNKNOWN if named is None else Origin(int(named["agent"]), int(named["dispatch"]))


def _folder_entry(path: Path) -> CaptureEntry:
    problems = Problems()
    files = listing(path)
    try:
        index = read_index(files, problems)
    except TraceError:
        index = rescued_index(files, problems)
        if not len(index.waves):
            raise
    code = read_code(files, index.gfxip, problems).table
    is_sampled = index.has_pc_samples or code.samples is not None
    why = _why_none(is_sampled, bool(index.shader_data))
    if not (is_sampled or index.shader_data) and any(files.matching(WAVE_NAME)):
        why = NOT_LISTED[0]
    entry = _entry(path, len(index.waves), code, problems, why)
    waves, lives = index.waves, lives_of(times_of(index.waves))
    if len(lives) > 1:  # on the common clock, as in an open capture
        waves = aligned(waves, read_clock(files, lives, Problems()).offsets)
    return entry._replace(cycles=_lived(waves), size=int(index.waves.size.sum()))


def _lived(waves: WaveIndex) -> int:
    """Cycles from the first begin to the last end of waves, -1 without any."""
    return int(waves.end.max() - waves.begin.min()) if len(waves) else -1


def _raw_entry(path: Path) -> CaptureEntry:
    """Facts of a raw capture; for one that takes long to decode only the kernel, from its beginning."""
    from rcv_py.formats.raw.files import raw_capture  # noqa: PLC0415 - as other decoders
    from rcv_py.formats.raw.open import is_quick, open_beginning  # noqa: PLC0415 - as other decoders

    raw = raw_capture(path)
    if raw is None or is_quick(raw, chosen()):
        entry = _opened_entry(path)
    else:
        code = open_beginning(path, chosen()).code
        entry = CaptureEntry(path=path, name=path.name, kernel=_kernel(code), is_part=True)
    return entry if raw is None else entry._replace(about=raw.text, size=raw.size)


def _listed_entry(path: Path) -> CaptureEntry:
    entry = _opened_entry(path)
    return entry if entry.hits <= 0 else entry._replace(note="Costs without times.")


def _opened_entry(path: Path) -> CaptureEntry:
    trace = open_capture(path)
    problems = [problem for problem in trace.problems if problem.severity is not Severity.INFO]
    lost = [one.text for one in problems if Affects.WAVES in one.affects and one.severity is Severity.ERROR]
    why = next(iter(lost), _why_none(trace.has_pc_samples, trace.has_shader_data))
    entry = _entry(path, len(trace.waves), trace.code, problems, why)
    return entry._replace(cycles=_lived(trace.waves), size=path.stat().st_size if path.is_file() else -1)


def origin_of(path: Path) -> Origin:
    """Return the origin of a capture from names and dates of its files, for a packed file as it says.

    Raises TraceError if a packed capture is damaged.
    """
    shape, file = shape_of(path), path
    if shape is CaptureForm.PACKED:
        from rcv_py.formats.packed.capture import origin_of as told  # noqa: PLC0415 - captures are folders mostly

        origin = told(path)
        return origin if origin.recorded >= 0 else origin._replace(recorded=_changed(path))
    if shape is CaptureForm.RAW:
        from rcv_py.formats.raw.files import raw_capture  # noqa: PLC0415 - as other decoders

        if (raw := raw_capture(path)) is not None:
            return Origin(raw.agent, raw.dispatch, _changed(raw.folder / raw.streams[0].name))
    elif shape is CaptureForm.COMPILED:
        from rcv_py.formats.compiled import file_of  # noqa: PLC0415 - most captures are folders

        file = file_of(path) or path
    elif shape is CaptureForm.DECODED:
        file = path / INDEX_FILE
    return _named(path)._replace(recorded=_changed(file))


def _changed(path: Path) -> int:
    """Modification time of a file, seconds since 1970, -1 if unknown."""
    with suppress(OSError):
        return int(path.stat().st_mtime)
    return -1


def _date(seconds: int) -> str:
    """A moment in local time, "" if unknown."""
    with suppress(OSError, ValueError, OverflowError):
        return f"{datetime.fromtimestamp(seconds):%Y-%m-%d %H:%M:%S}" if seconds >= 0 else ""
    return ""


def _kernel(code: CodeTable) -> str:
    return "" if code.main_kernel is None else short_kernel(code.main_kernel.demangled)


def _why_none(is_sampled: bool, has_markers: bool) -> str:
    if is_sampled or has_markers:
        return "PC samples only." if is_sampled else "Markers only."
    return "No wave ran on the traced compute unit; record with another --att-target-cu or a larger grid."


def _entry(
    path: Path, waves: int, code: CodeTable, problems: Sequence[Problem], why_none: str
) -> CaptureEntry:
    lines = ~code.is_label
    return CaptureEntry(
        path=path,
        name=path.name,
        kernel=_kernel(code),
        waves=waves,
        instructions=int(np.count_nonzero(lines)),
        executed=int(np.count_nonzero(code.hits[lines])),
        mapped=code.mapped_rows,
        hits=int(code.hits.sum()),
        latency=int(code.latency.sum()),
        note=why_none if not waves else problems[0].text if problems else "",
    )


def _compiled_entry(path: Path) -> CaptureEntry:
    """Facts of a kernel without disassembling it: a library has thousands."""
    from rcv_py.formats.compiled import file_of, kernel_label  # noqa: PLC0415 - most captures are folders

    file = file_of(path) or path
    return CaptureEntry(
        path=path,
        name=file.name,
        kernel=short_kernel(kernel_label(path).rpartition(" (")[0]),
        size=file.stat().st_size if file.is_file() else -1,
        mapped=-1,
        note="Compiled, not run.",
    )


_ENTRIES = {
    CaptureForm.COMPILED: _compiled_entry,
    CaptureForm.DECODED: _folder_entry,
    CaptureForm.RAW: _raw_entry,
    CaptureForm.PACKED: _opened_entry,
    CaptureForm.LISTED: _listed_entry,
}
