"""Decode one `.att` file to one `Engine`, in any process, with its Problems."""

import re
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from rcv_py.base.problems import Affects, Problems
from rcv_py.base.progress import checkpoint
from rcv_py.base.record import Value
from rcv_py.base.runs import borders, distinct, ranges
from rcv_py.base.text import Message, plural
from rcv_py.formats.input.files import read_bytes, read_start
from rcv_py.formats.isa.processes import unanswered
from rcv_py.formats.raw import stitch as stitching
from rcv_py.formats.raw.engine import Engine, FoundCode, Walk, engine_of, entries_of, known, texts_of
from rcv_py.formats.raw.files import RawCapture, StreamFile
from rcv_py.formats.raw.objects import AddressMap, Load, Objects, Places, address_map, forget, objects_of
from rcv_py.formats.raw.options import OFFICIAL, RawOptions
from rcv_py.formats.raw.spill import RecordStore, Spill
from rcv_py.formats.sqtt.decode import decode_streamed
from rcv_py.formats.sqtt.records import DecodedStream, WaveRecords, with_state
from rcv_py.model.kinds import WaveState

HOLE = re.compile(rb"\0{256,}")  # no stream has as many zeros: padding of the hardware takes 35 bytes at most
COMPARED_WAVES = 8  # that begin at an address which several kernels claim
RECORD_AGAIN = "Record with a larger --att-buffer-size, or fewer shader engines."


class EngineJob(Value):
    """Input of a process that decodes one shader engine."""

    capture: RawCapture
    stream: StreamFile
    options: RawOptions
    most: int = 0  # bytes of the stream that are decoded; 0: all
    threads: int = 1  # that may work at once
    spill: Path | None = None  # file for columns until all shader engines are decoded

    @property
    def size(self) -> int:
        """Bytes that are decoded."""
        return min(self.most or self.stream.size, self.stream.size)


def decoded_engine(job: EngineJob) -> Engine:
    """Decode a shader engine; raise a TraceError if nothing in its file can be used."""
    problems = Problems()
    before = unanswered()
    folder, name, is_part = job.capture.folder, job.stream.name, job.size < job.stream.size
    data = read_start(folder, name, job.size) if is_part else read_bytes(folder, name)
    checkpoint()
    with closing(RecordStore(None if job.spill is None else job.spill.parent)) as store:
        stream = decode_streamed(data, store.add, name)
        stream = replace(stream, waves=store.waves())
        if not is_part:
            _report_holes(name, data, problems)
        del data
        objects = objects_of(folder, job.capture.codes, job.capture.sidecars, stream.gfxip)
        checkpoint()
        fits = partial(_explained, stream, objects)
        loads = address_map(stream.code_objects, objects.extents, entries_of(stream), fits)
        if job.options.decoder == OFFICIAL:
            found = _official(job, stream, loads, objects, problems)
        else:
            code, walk = _walk(stream, loads, objects)
            places = Places(code.number.astype(np.int64), code.address)
            found = FoundCode(stream, places, code.text, walk, where=loads)
        if not is_part:  # whose waves are cut off
            _report_stream(name, found.stream, problems)
        spill = None if job.spill is None else Spill(job.spill)
        engine = engine_of(
            name, job.stream.se, found, objects.programs_at, columns=spill, threads=job.threads
        )
    _report_code(engine, problems)
    is_sure = unanswered() == before
    if not is_sure:
        forget()
    return replace(
        engine,
        problems=tuple(problems),
        is_sure=is_sure,
        doubts=loads.doubts,
        claims=loads.claims,
        disassemblers=objects.disassemblers,
    )


def _last(stream: DecodedStream) -> int:
    return max(int(times.max(initial=0)) for times in (stream.waves.end, stream.occupancy.time))


def _official(
    job: EngineJob, ours: DecodedStream, loads: AddressMap, objects: Objects, problems: Problems
) -> FoundCode:
    """The output of AMD's decoder for the file; its input has our load addresses of code objects."""
    from rcv_py.formats.raw import official as amd  # noqa: PLC0415 - rarely there

    library, name = amd.library_path(job.options.library), job.stream.name
    found = amd.official(amd.OfficialJob(job.capture, job.stream, library, loads))
    if _last(found.stream) > amd.LATEST >= _last(ours):
        template = "The official decoder loses its place in {0}: it gives times beyond {1:,} cycles."
        lost = Message(template, name, amd.LATEST)
        hint = "Leave out --decoder official: the decoder of rcv reads it."
        problems.fail(name, lost, hint, Affects.WAVES)
    return FoundCode(
        stream=replace(found.stream, version=ours.version, cu=ours.cu, simds=ours.simds),
        code=found.pcs,
        texts=texts_of(found.pcs, objects.programs_at(found.pcs)),
        walk=known(found.stream.waves, found.row),
        where=found.pcs,
        hidden=found.hidden,
    )


def _walk(
    stream: DecodedStream, where: AddressMap, objects: Objects
) -> tuple[stitching.StitchedPrograms, Walk]:
    """All instructions of the programs that waves run, and the walk that matches tokens to them."""
    waves = stream.waves
    entry, breaks = where.find(waves.entry), where.find(waves.break_address)
    numbers, addresses = (np.concatenate(parts) for parts in zip(entry, breaks, strict=True))
    first, _ = distinct(numbers, addresses)
    code = stitching.listing(stitching.programs_at(objects.program, numbers[first], addresses[first]))
    checkpoint()
    begins, goes_on = code.rows(*entry), code.rows(*breaks)

    def walk(rows: np.ndarray) -> tuple[WaveRecords, np.ndarray]:
        count = np.diff(waves.break_first)[rows]
        starts = stitching.StreamStarts(begins[rows], goes_on[ranges(waves.break_first[:-1][rows], count)])
        found = stitching.stitch(waves.at(rows), code, starts, stream.gfxip, stream.excludes_barrier_waits)
        return with_barrier_waits(*found, code) if stream.excludes_barrier_waits else found

    return code, walk


def _explained(stream: DecodedStream, objects: Objects, entry: int, load: Load) -> int:
    """How many tokens of the longest waves from an address on a code object explains, if it lies there."""
    rows = np.flatnonzero(stream.waves.entry == np.uint64(entry))
    rows = rows[np.argsort(-np.diff(stream.waves.token_first)[rows], kind="stable")[:COMPARED_WAVES]]
    waves = stream.waves.at(rows)
    code, walk = _walk(replace(stream, waves=waves), AddressMap((load,)), objects)
    if not len(rows) or not len(code):
        return 0
    waves, row = walk(np.arange(len(rows)))
    return stitching.explained(waves.token_first, row, code)


def _report_holes(name: str, data: bytes, problems: Problems) -> None:
    if holes := [hole.span() for hole in HOLE.finditer(data)]:
        zeros, first = sum(end - begin for begin, end in holes), holes[0][0]
        text = "{0} has holes of {1:,} zero bytes, from byte {2:,} on: waves are lost and times are wrong."
        problems.fail(name, Message(text, name, zeros, first), "Copy the file again.", Affects.WAVES)


def _report_stream(name: str, stream: DecodedStream, problems: Problems) -> None:
    if stream.lost_at >= 0:
        at = stream.lost_at
        text = "{0} makes no sense from byte {1:,} on; what is before it is shown."
        hint = "Copy the file again; if it is whole, its GPU may be one that is not known."
        problems.fail(name, Message(text, name, at), hint, Affects.WAVES)
    elif stream.is_truncated:
        text = "{0} ends within a token, as if it was cut off; the last cycles are missing."
        hint = "Copy the file again, or record with a larger --att-buffer-size."
        problems.warn(name, Message(text, name), hint)
    if stream.has_lost_data:
        lost = Message("The trace unit lost data while it wrote {0}; what lies around is incomplete.", name)
        problems.warn(name, lost, RECORD_AGAIN)
    if open_waves := int(np.count_nonzero(~stream.waves.is_complete)):
        waves = plural(open_waves, "wave")
        ends = Message("The end of {0} is not in {1}; they are shown to their last token.", waves, name)
        problems.inform(name, ends, RECORD_AGAIN)


def _report_code(engine: Engine, problems: Problems) -> None:
    name, of = engine.name, plural(engine.tokens, "token")
    if engine.lost and engine.lost == engine.tokens:
        text = (
            "No instruction is known for the {0} of {1}: no code object beside it fits where its waves begin."
        )
        hint = "Copy the code objects (*_code_object_id_*.out) of the run beside it."
        problems.warn(name, Message(text, of, name), hint, Affects.CODE)
    elif engine.lost:
        text = (
            "{0:,} of {1} of {2}, in {3}, could not be matched with instructions; they have times "
            "and no code."
        )
        lost = Message(text, engine.lost, of, name, plural(engine.lost_waves, "wave"))
        hint = "The rest of these waves is right; costs of instructions lack what was not matched."
        problems.warn(name, lost, hint)


def with_barrier_waits(
    waves: WaveRecords, row: np.ndarray, program: stitching.StitchedPrograms
) -> tuple[WaveRecords, np.ndarray]:
    """Return the waves with a token for each s_barrier_wait that left none, and the row of each token.

    Such a wait lasts from the end of the token before to the start of the next, without a stall; the wave
    waits meanwhile.
    """
    later, line = _silent(waves, row, program)
    if not len(later):
        return waves, row
    begin = waves.time[later - 1] + waves.duration[later - 1]
    lasts = np.maximum(waves.time[later] - begin, 0)
    first = waves.token_first
    wave = np.searchsorted(first, later, side="right") - 1
    owner = np.repeat(first[:-1], np.diff(waves.break_first))
    added = np.searchsorted(later, owner + waves.break_token, side="right")
    since_begin = begin - waves.begin[wave]
    changed = replace(
        waves,
        token_first=first + borders(np.bincount(wave, minlength=len(waves))),
        time=np.insert(waves.time, later, begin),
        kind=np.insert(waves.kind, later, stitching.IMMED),
        stall=np.insert(waves.stall, later, 0),
        duration=np.insert(waves.duration, later, lasts),
        flags=np.insert(waves.flags, later, 0),
        break_token=waves.break_token + added - np.searchsorted(later, owner, side="right"),
        **with_state(waves, wave, since_begin, lasts, WaveState.WAIT),
    )
    return changed, np.insert(row, later, line)


def _silent(
    waves: WaveRecords, row: np.ndarray, program: stitching.StitchedPrograms
) -> tuple[np.ndarray, np.ndarray]:
    """The tokens before which an s_barrier_wait left none, and its row."""
    is_wait = np.append(program.traits & stitching.IS_BARRIER_WAIT > 0, False)  # -1: no line
    if not is_wait.any():
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
    leads = np.append(is_wait[program.after] | is_wait[program.target], False)
    token = np.flatnonzero(leads[row[:-1]])
    jumps = (waves.kind[token] == stitching.JUMP) & (program.category[row[token]] == stitching.BRANCH)
    line = np.where(jumps, program.target[row[token]], program.after[row[token]])
    later = row[token + 1]
    breaks = np.repeat(waves.token_first[:-1], np.diff(waves.break_first)) + waves.break_token
    ends = np.concatenate((waves.token_first - 1, breaks))  # tokens that the next one does not follow
    silent = is_wait[line] & (later >= 0) & (later != line) & ~np.isin(token, ends)
    return token[silent] + 1, line[silent]
