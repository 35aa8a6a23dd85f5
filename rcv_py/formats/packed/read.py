"""Open a packed capture: read its tables; waves are unpacked on request."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rcv_py.base.errors import NotATrace, TraceError
from rcv_py.base.text import Message
from rcv_py.formats.input.columns import LIMIT, bounds, whole_number
from rcv_py.formats.input.files import is_inside, parse_json
from rcv_py.formats.packed import npy, records
from rcv_py.formats.packed.archive import Archive
from rcv_py.formats.packed.npy import Unreadable
from rcv_py.formats.packed.stored import Notes, StoredWaves
from rcv_py.formats.packed.write import FORMAT, MANIFEST, TABLES, TRACE
from rcv_py.model.code import CodeTable
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import UNKNOWN, Origin, Trace
from rcv_py.model.waves import WaveIndex

JSON_BYTES = 128 << 20
JSON_RECORDS = 4 << 20  # records and lists in it, which take far more memory than their text


def open_packed(path: Path) -> Trace:
    """Open a packed capture; raise a TraceError, one sentence, if it is none or is damaged."""
    archive = Archive(path)
    if MANIFEST not in archive.members:
        raise NotATrace(path, "it is an archive, but not one that `rcv pack` wrote; unpack it first")
    try:
        return _trace(archive, _json(archive, MANIFEST))
    except (Unreadable, ValueError) as error:
        raise archive.broken(str(error)) from error


def is_packed_archive(path: Path) -> bool:
    """Whether an archive is a packed capture, by its contents."""
    try:
        return MANIFEST in Archive(path).members
    except TraceError:
        return False


def origin_of(path: Path) -> Origin:
    """Return the origin of a packed capture; raise a TraceError if it is none or is damaged."""
    archive = Archive(path)
    try:
        said = _json(archive, MANIFEST).get("origin")
        origin: Origin = UNKNOWN if said is None else records.read(Origin, said, ())
        if max(origin.agent, origin.dispatch, origin.recorded) >= LIMIT:
            raise Unreadable("it names a launch of a number that is too large")
        return origin
    except (Unreadable, ValueError) as error:
        raise archive.broken(str(error)) from error


def _json(archive: Archive, name: str) -> dict[str, Any]:
    text = bytes(archive.read(name))
    if len(text) > JSON_BYTES or text.count(b"{") + text.count(b"[") > JSON_RECORDS:
        raise Unreadable(Message("its {0} is larger than in any capture", name))
    data = parse_json(text, name)
    if not isinstance(data, dict):
        raise Unreadable(Message("its {0} is no table", name))
    return data


def _trace(archive: Archive, manifest: dict[str, Any]) -> Trace:
    version = whole_number(manifest.get("format"), 0)
    if version != FORMAT:
        raise NotATrace(
            archive.path,
            Message(
                "its format is {0}, and this program reads {1}; open it with a newer one", version, FORMAT
            ),
        )
    columns = npy.unpacked(archive.read(TABLES), max(0, whole_number(manifest.get("columns"), 0)))
    facts = manifest.get("facts")
    said = _json(archive, TRACE)
    trace: Trace = records.read(
        Trace,
        said,
        columns,
        path=archive.path,
        reader=None,  # set later, once the size of the code is known
        facts=None if facts is None else records.read(RunFacts, facts, ()),
    )
    _check_waves(trace.waves)
    _check_code(trace.code, len(trace.sources))
    for events in (trace.occupancy, trace.events):
        if events is not None and np.any(events.time[1:] < events.time[:-1]):
            raise Unreadable("its events are not in order")
    reader = StoredWaves(
        archive.path,
        base_clock=trace.architecture.base_clock,
        lines=len(trace.code),
        is_narrow=manifest.get("is_narrow") is True,
        missing=_notes(manifest.get("missing")),
        notes=_notes(manifest.get("notes")),
    )
    return replace(trace, reader=reader)


def _notes(rows: object) -> Notes:
    if not isinstance(rows, list):
        return ()
    pairs = [row for row in rows if isinstance(row, list) and len(row) == 2]
    return tuple((row, text) for row, text in pairs if type(row) is int and isinstance(text, str))


def _check_waves(index: WaveIndex) -> None:
    """Raise Unreadable unless wave ids are unique and ascend, and no wave ends before it begins."""
    key = np.column_stack([index.se, index.simd, index.slot, index.wid]).astype(np.int64)
    steps = np.diff(key, axis=0)
    heads = steps[np.arange(len(steps)), (steps != 0).argmax(axis=1)] if len(steps) else steps
    if np.any(heads <= 0) or bounds(key.reshape(-1))[0] < 0 or np.any(index.end < index.begin):
        raise Unreadable("its waves are not in order")
    if len(index.file) != len(index) or bounds(index.size)[0] < 0:
        raise Unreadable("its waves are not described")
    if not all(map(is_inside, set(index.file))):
        raise Unreadable("it names files outside of itself")


def _check_code(code: CodeTable, sources: int) -> None:
    """Raise Unreadable if lines refer to missing rows."""
    rows, links = len(code), len(code.chain_file)
    if len(code.number) != rows or len(code.chain_line) != links or len(code.chain_first) != rows + 1:
        raise Unreadable("its instructions differ in number")
    first = code.chain_first
    if first[0] != 0 or first[-1] != links or np.any(np.diff(first) < 0):
        raise Unreadable("its source places are of other instructions")
    for column, low, stop in (
        (code.chain_file, 0, sources),
        (code.chain_line, 0, 1 << 31),
        (code.kernel, -1, len(code.kernels)),
        *((column, 0, 1 << 60) for column in (code.hits, code.latency, code.stall, code.idle)),
    ):
        least, most = bounds(column)
        if len(column) and (least < low or most >= stop):
            raise Unreadable("its instructions name something that is not there")
    if any(not 0 <= kernel.first <= kernel.stop <= rows for kernel in code.kernels):
        raise Unreadable("a kernel has instructions that are not there")
