"""From one `.att` file to one `Engine`, in any process, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from rcv_py.base.problems import Affects, Problems
from rcv_py.base.progress import checkpoint
from rcv_py.base.records import dataclass
from rcv_py.base.runs import distinct
from rcv_py.base.text import plural
from rcv_py.formats.input.files import read_bytes
from rcv_py.formats.raw.addresses import AddressMap, address_map
from rcv_py.formats.raw.engine import (
    Engine,
    Places,
    Where,
    engine_of,
    entries_of,
    used,
)
from rcv_py.formats.raw.files import CodeFile, StreamFile
from rcv_py.formats.raw.objects import Objects, objects_of
from rcv_py.formats.raw.options import OFFICIAL, RawOptions
from rcv_py.formats.raw.stitch import Starts, listing, programs_at, stitch
from rcv_py.formats.sqtt.decode import decode
from rcv_py.formats.sqtt.records import Stream, WaveRecords

RECORD_AGAIN = "Record with a larger --att-buffer-size, or fewer shader engines."


@dataclass(frozen=True, slots=True)
class EngineJob:
    """What a process needs to decode one shader engine."""

    folder: Path
    stream: StreamFile
    codes: tuple[CodeFile, ...]
    sidecars: frozenset[str]
    options: RawOptions


def decoded_engine(job: EngineJob) -> Engine:
    """Decode a shader engine; raise a TraceError if nothing in its file can be used."""
    problems = Problems()
    objects = objects_of(job.folder, job.codes, job.sidecars)
    data = read_bytes(job.folder, job.stream.name)
    checkpoint()
    stream = decode(data, job.stream.name)
    checkpoint()
    loads = address_map(stream.code_objects, objects.extents, entries_of(stream))
    where: Where = loads
    if job.options.decoder == OFFICIAL:
        stream, code, row, where = _official(job, stream, loads)
    else:
        waves, code, row = walk(stream, loads, objects)
        stream = replace(stream, waves=waves)
    _tell_stream(job.stream.name, stream, problems)
    _tell_code(job.stream.name, stream.waves.token_first, row, problems)
    return engine_of(
        job.stream.name,
        job.stream.se,
        stream,
        code=code,
        row=row,
        where=where,
        programs=objects.programs_at(used(code, row)[0]),
        problems=problems,
    )


def _official(job: EngineJob, ours: Stream, loads: AddressMap) -> tuple[Stream, Places, np.ndarray, Where]:
    """What AMD's decoder says of the file; what lies where is told by us."""
    from rcv_py.formats.raw.official import OfficialJob, library_path, official  # noqa: PLC0415 - rarely there

    found = official(
        OfficialJob(
            folder=job.folder,
            stream=job.stream,
            codes=job.codes,
            sidecars=job.sidecars,
            library=library_path(job.options.library),
            loads=loads,
        )
    )
    return (
        replace(found.stream, version=ours.version, cu=ours.cu, simds=ours.simds),
        found.pcs.places,
        found.row,
        found.pcs,
    )


def walk(stream: Stream, where: AddressMap, objects: Objects) -> tuple[WaveRecords, Places, np.ndarray]:
    """Walk the tokens of all waves beside their programs.

    Return the waves as the programs correct them, all instructions, and the row of these for each token, -1
    where none fits.
    """
    waves = stream.waves
    entry, breaks = where.find(waves.entry), where.find(waves.break_address)
    numbers, addresses = (np.concatenate(parts) for parts in zip(entry, breaks, strict=True))
    first, _ = distinct(numbers, addresses)
    code = listing(programs_at(objects.by_id, numbers[first], addresses[first]))
    checkpoint()
    starts = Starts(code.rows(*entry), code.rows(*breaks))
    found = stitch(waves, code, starts, stream.gfxip, stream.excludes_barrier_waits)
    checkpoint()
    return found.waves, Places(code.number.astype(np.int64), code.address), found.row


def _tell_stream(name: str, stream: Stream, problems: Problems) -> None:
    if stream.lost_at >= 0:
        problems.fail(
            name,
            f"{name} makes no sense from byte {stream.lost_at:,} on; what is before it is shown.",
            "Copy the file again; if it is whole, its GPU may be one that is not known.",
            Affects.WAVES,
        )
    elif stream.is_truncated:
        problems.warn(
            name,
            f"{name} ends within a token, as if it was cut off; the last cycles are missing.",
            "Copy the file again, or record with a larger --att-buffer-size.",
        )
    if stream.has_lost_data:
        problems.warn(
            name,
            f"The trace unit lost data while it wrote {name}; what lies around is incomplete.",
            RECORD_AGAIN,
        )
    open_waves = int(np.count_nonzero(~stream.waves.is_complete))
    if open_waves:
        problems.inform(
            name,
            f"The end of {plural(open_waves, 'wave')} is not in {name}; they are shown to their last token.",
            RECORD_AGAIN,
        )


def _tell_code(name: str, first: np.ndarray, row: np.ndarray, problems: Problems) -> None:
    lost = row < 0
    count = int(np.count_nonzero(lost))
    if not count:
        return
    waves = int(np.count_nonzero(np.add.reduceat(lost, first[:-1][np.diff(first) > 0])))
    of = plural(len(lost), "token")
    if count == len(lost):
        problems.warn(
            name,
            f"No instruction is known for the {of} of {name}: no code object beside it fits where its waves"
            " begin.",
            "Copy the code objects (*_code_object_id_*.out) of the run beside it.",
            Affects.CODE,
        )
    else:
        problems.warn(
            name,
            f"{count:,} of {of} of {name}, in {plural(waves, 'wave')}, could not be matched with"
            " instructions; they have times and no code.",
            "The rest of these waves is right; costs of instructions lack what was not matched.",
        )
