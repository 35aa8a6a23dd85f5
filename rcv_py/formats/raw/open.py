"""Open a raw capture: decode every shader engine, in processes if there is an executor, and combine them.

The result is cached (`kept.py`) and opened from there as long as the files of the capture do not change.  Any
number of first bytes of a stream can be decoded.  So a caller that opens a large capture gets a shorter
capture of its first bytes meanwhile.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from rcv_py import __version__
from rcv_py.base.errors import Cancelled, NotATrace, RcvError, TraceError
from rcv_py.base.problems import Affects, Problems
from rcv_py.base.progress import Report, Stage, checkpoint, silent
from rcv_py.base.text import Message
from rcv_py.formats.input.files import mark_of, read_bytes
from rcv_py.formats.isa.processes import candidates, unanswered
from rcv_py.formats.packed.capture import write_packed
from rcv_py.formats.raw import kept
from rcv_py.formats.raw.assemble import Assembled, assembled, of_one_gpu
from rcv_py.formats.raw.decode import EngineJob, decoded_engine
from rcv_py.formats.raw.engine import Engine, prepare
from rcv_py.formats.raw.files import RawCapture, raw_capture, raw_captures
from rcv_py.formats.raw.objects import forget, objects_of
from rcv_py.formats.raw.options import OFFICIAL, Early, Jobs, OfficialMissing, RawOptions
from rcv_py.formats.raw.spill import Spill
from rcv_py.formats.uiout.load import NO_WAVE, NOT_HERE, ONLY_MARKERS
from rcv_py.formats.uiout.local_sources import sources_of
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveColumns

USUAL = RawOptions()
NO_SPILLS: Mapping[str, Path] = {}
HINT = "Copy its .att files again, or record the trace again."
HINTS = {OFFICIAL: "Leave out --decoder official: the decoder of rcv may read it."}
STAGE = "Decoding shader engines"
STAGE_SHOWN = "The beginning is shown; decoding shader engines"
BEAT = 0.05  # seconds between two checks for cancellation
MAX_THREADS = 4  # of the process that decodes the only stream
QUICK_BYTES = 4 << 20  # of `.att` files: decoding them takes less than a second
LARGE_BYTES = 24 << 20  # of `.att` files: from this size on the beginning is shown first
FIRST_BYTES = 1 << 20  # of all streams together that are decoded first: a picture within a second
LEAST_BYTES = 64 << 10  # of each


def is_quick(capture: RawCapture, options: RawOptions = USUAL) -> bool:
    """Whether opening takes no time: there is little to decode, or the cache holds it."""
    return capture.size <= QUICK_BYTES or kept.is_cached(_key(capture, options))


def open_raw(
    path: Path,
    report: Report = silent,
    jobs: Jobs | None = None,
    options: RawOptions = USUAL,
    early: Early | None = None,
) -> Trace:
    """Open the raw capture that a folder or one of its `.att` files names.

    `early` is called with its beginning if the rest takes a while.  Raises a TraceError if nothing of it can
    be shown.
    """
    capture = _capture(path)
    key = _key(capture, options)
    trace = kept.cached_capture(key)
    if trace is None:
        is_large = capture.size > LARGE_BYTES
        reported = (lambda found: early(_begun(capture, options, found))) if early and is_large else None

        def write(place: Path) -> bool:
            with _spills(capture, place if is_large else None) as spills:
                found = decoded(capture, report, jobs=jobs, options=options, early=reported, spills=spills)
                return _write(found, place) and _key(capture, options) == key  # else its files changed

        trace = kept.keep(key, write)
    return _with_sources(trace, capture, options)


def open_beginning(path: Path, options: RawOptions = USUAL) -> Trace:
    """Open the beginning of a raw capture, which takes no longer for a large one; raise a TraceError."""
    capture = _capture(path)
    trace = kept.cached_capture(_first_key(capture, options))
    if trace is None:
        trace = _begun(capture, options, decoded(capture, options=options, most=_first_bytes(capture)))
    return _with_sources(trace, capture, options)


def _capture(path: Path) -> RawCapture:
    capture = raw_capture(path)
    if capture is None:
        count = len(raw_captures(path))
        why = Message("it holds {0} raw captures", count) if count else "it holds no .att file"
        raise NotATrace(path, why)
    return capture


def _with_sources(trace: Trace, capture: RawCapture, options: RawOptions) -> Trace:
    problems, paths = Problems(trace.problems), [one.path for one in trace.sources]
    sources = sources_of(capture.folder, capture.sidecars, paths, options.source_map, problems)
    path, said = capture.path, tuple(problems)
    return replace(trace, path=path, name=path.name, sources=sources, problems=said)


def _key(capture: RawCapture, options: RawOptions, *more: object) -> str:
    # The disassembler decides the texts: a library installed later must change the key.
    decides: list[object] = [__version__, tuple(map(str, candidates())), options.decoder]
    if options.decoder == OFFICIAL:
        from rcv_py.formats.raw.official import library_path  # noqa: PLC0415 - rarely there

        path = library_path(options.library)
        decides += path, mark_of(Path(path))
    return kept.key_of(capture, *decides, *more)


def _first_key(capture: RawCapture, options: RawOptions) -> str:
    return _key(capture, options, "beginning", _first_bytes(capture))


def _first_bytes(capture: RawCapture) -> int:
    return max(FIRST_BYTES // len(capture.streams), LEAST_BYTES)


@contextmanager
def _spills(capture: RawCapture, beside: Path | None) -> Iterator[dict[str, Path]]:
    """Give files for the columns of each stream until the block ends; none if no folder can hold them."""
    names = [stream.name for stream in capture.streams] if beside is not None else []
    # The next process that writes to the cache removes files of a killed process.
    spills = {name: Path(f"{beside}.{os.getpid()}.{at}.part") for at, name in enumerate(names)}
    try:
        yield spills
    finally:
        for path in spills.values():
            Spill(path).remove()


def _write(found: Assembled, path: Path) -> bool:
    """Write the decoded capture; return whether decoding again gives the same."""
    write_packed(path, found.trace, _ahead(found.columns), is_compressed=False)
    return found.is_sure


def _ahead(columns: Iterable[WaveColumns]) -> Iterator[WaveColumns]:
    """Columns in order; another thread makes the next ones while these are written."""
    coming = iter(columns)
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(next, coming, None)
        while (found := following.result()) is not None:
            following = pool.submit(next, coming, None)
            yield found


def _begun(capture: RawCapture, options: RawOptions, found: Assembled) -> Trace:
    """The beginning as a trace whose waves any process can read."""
    trace = kept.keep(_first_key(capture, options), partial(_write, found))
    return _with_sources(trace, capture, options)


def decoded(
    capture: RawCapture,
    report: Report = silent,
    *,
    jobs: Jobs | None = None,
    options: RawOptions = USUAL,
    early: Callable[[Assembled], None] | None = None,
    most: int = 0,
    spills: Mapping[str, Path] = NO_SPILLS,
) -> Assembled:
    """Decode a capture; raise a TraceError if no shader engine of it can be.

    `early` is called with its beginning as soon as that is decoded.  At most `most` bytes of every stream are
    decoded, all if it is 0.  `spills` are files for columns by the name of their stream.
    """
    parts = [] if early is None else _tasks(capture, options, _first_bytes(capture))
    wholes = _tasks(capture, options, most, spills)
    tasks = [*parts, *wholes]  # short streams first
    first, found = _Engines(parts), _Engines(wholes)
    stage = STAGE
    report(Stage(stage, 0, len(wholes)))
    with jobs([task.size for task in tasks]) if jobs else nullcontext(_Here()) as executor:
        waiting = {executor.submit(decoded_engine, task): task for task in tasks[:1]}
        if len(tasks) > 1:  # the first process compiles the decoder, the next the steps after it
            executor.submit(prepare)
        waiting |= {executor.submit(decoded_engine, task): task for task in tasks[1:]}
        while waiting:
            done = wait(waiting, BEAT, FIRST_COMPLETED).done
            checkpoint()
            for future in done:
                (found if waiting[future].most == most else first).take(waiting.pop(future), future)
            if early is not None and not first.left:
                if first.engines:
                    stage = STAGE_SHOWN
                    early(_put_together(capture, first, is_part=True))
                early = None
            report(Stage(stage, len(wholes) - found.left, len(wholes)))
    found.problems.sort(key=attrgetter("where"))  # streams end in any order
    if not found.engines:
        raise TraceError(
            Message("{0} cannot be decoded: {1}", capture.path, found.problems[0].text),
            hint=HINTS.get(options.decoder, HINT),
        )
    return _put_together(capture, found, is_part=most > 0)


def _tasks(
    capture: RawCapture, options: RawOptions, most: int, spills: Mapping[str, Path] = NO_SPILLS
) -> list[EngineJob]:
    """The streams to decode, the largest first: it takes longest."""
    threads = max(1, min(MAX_THREADS, os.cpu_count() or 1) // len(capture.streams))
    streams = sorted(capture.streams, key=lambda stream: -stream.size)
    return [EngineJob(capture, one, options, most, threads, spills.get(one.name)) for one in streams]


class _Engines:
    """The shader engines that could be decoded; a Problem states why another could not."""

    def __init__(self, tasks: list[EngineJob]) -> None:
        self.left = len(tasks)
        self.engines: list[Engine] = []
        self.problems = Problems()
        self.is_whole = True  # no process was lost

    def take(self, task: EngineJob, future: Future[Engine]) -> None:
        """Take a result; re-raise errors that are not the fault of the file."""
        self.left -= 1
        error = future.exception()
        if error is None:
            self.engines.append(future.result())
        elif isinstance(error, TraceError):
            self.problems.fail(task.stream.name, str(error), error.hint, Affects.WAVES)
        elif isinstance(error, OfficialMissing | Cancelled) or not isinstance(error, RcvError):
            raise error
        else:
            self.is_whole, name = False, task.stream.name
            text = "The process that decoded {0} ended before it was done: {1}"
            hint = "The other shader engines are shown; close other programs and open the capture again."
            self.problems.fail(name, Message(text, name, error), hint, Affects.WAVES)


def _once(capture: RawCapture, engines: Sequence[Engine], problems: Problems) -> list[Engine]:
    """The engines whose streams differ: no two have all at the same cycles.  A Problem reports each copy."""
    size, different = {one.name: one.size for one in capture.streams}, list[Engine]()
    for one in sorted(engines, key=attrgetter("se")):
        alike = [
            twin for twin in different if size[twin.name] == size[one.name] and len(one.stream.occupancy.time)
        ]
        own = read_bytes(capture.folder, one.name) if alike else b""
        twin = next((twin for twin in alike if read_bytes(capture.folder, twin.name) == own), None)
        if twin is None:
            different.append(one)
            continue
        text = "{0} has the same bytes as {1}, so it is a copy and not another shader engine: it is left out."
        problems.fail(one.name, Message(text, one.name, twin.name), HINT, Affects.WAVES)
    return different


def _put_together(capture: RawCapture, found: _Engines, *, is_part: bool) -> Assembled:
    problems, before = Problems(), unanswered()
    capture.report_problems(problems)
    engines = _once(capture, of_one_gpu(found.engines, problems), problems)
    objects = objects_of(capture.folder, capture.codes, capture.sidecars, engines[0].stream.gfxip)
    problems += objects.problems
    problems += found.problems
    if not objects.by_id and not objects.problems:
        text = "No code object lies beside the .att files: instructions have no text, and tokens no place."
        hint = "Copy the *_code_object_id_*.out files of the run into the folder, or a code.json."
        problems.warn(capture.folder.name, text, hint, Affects.CODE, Affects.SOURCE_LINES)
    if is_part:
        text = "This is the beginning of the capture; the rest is being decoded."
        problems.inform(capture.folder.name, text, "Wait for it: totals grow until then.")
    made = assembled(capture.path, engines, objects, problems)
    problems += objects.doubts  # problems with source lines show when these are read
    if made.trace.has_only_markers:
        problems.inform(capture.folder.name, *ONLY_MARKERS, Affects.WAVES, brief=NOT_HERE)
    elif not len(made.trace.waves) and not any(Affects.WAVES in one.affects for one in problems):
        problems.warn(capture.folder.name, *NO_WAVE, Affects.WAVES, Affects.CODE, brief=NOT_HERE)
    is_sure = found.is_whole and all(one.is_sure for one in found.engines) and unanswered() == before
    if not is_sure:
        forget()
    code, said = objects.with_lanes(made.trace.code), tuple(problems)
    trace = replace(made.trace, code=code, problems=said, is_part=is_part)
    return replace(made, trace=trace, is_sure=is_sure)


class _Here(Executor):
    """An executor that makes each call in this process when it is submitted."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        checkpoint()
        try:
            future.set_result(fn(*args, **kwargs))
        except RcvError as error:
            future.set_exception(error)
        return future
