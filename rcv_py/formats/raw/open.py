"""Opens a raw capture: every shader engine is decoded, by processes if somebody gives some, and put together.

What comes of it is kept (`kept.py`), and opened from there at once for as long as its files stay the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rcv_py import __version__
from rcv_py.base.errors import Cancelled, NotATrace, RcvError, TraceError
from rcv_py.base.problems import Affects, Problems
from rcv_py.base.progress import Report, Stage, checkpoint, silent
from rcv_py.formats.isa.candidates import candidates
from rcv_py.formats.packed.write import write_packed
from rcv_py.formats.raw import kept
from rcv_py.formats.raw.assemble import Assembled, assembled
from rcv_py.formats.raw.decode import EngineJob, decoded_engine
from rcv_py.formats.raw.engine import Engine
from rcv_py.formats.raw.files import RawCapture, raw_capture, raw_captures
from rcv_py.formats.raw.objects import objects_of
from rcv_py.formats.raw.options import Jobs, OfficialMissing, RawOptions
from rcv_py.formats.raw.sidecar import read_sidecar
from rcv_py.formats.raw.sources import sources_of
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch, WaveColumns

USUAL = RawOptions()
STAGE = "Decoding shader engines"
BEAT = 0.05  # seconds between two looks whether somebody still waits
QUICK_BYTES = 4 << 20  # of `.att` files: decoding them takes less than a second


def is_quick(capture: RawCapture, options: RawOptions = USUAL) -> bool:
    """Whether opening takes no time: there is little to decode, or it was decoded before."""
    return capture.size <= QUICK_BYTES or kept.is_kept(_key(capture, options))


def open_raw(
    path: Path, report: Report = silent, jobs: Jobs | None = None, options: RawOptions = USUAL
) -> Trace:
    """Open the raw capture that a folder or one of its `.att` files names.

    Raises a TraceError if nothing of it can be shown.
    """
    capture = raw_capture(path)
    if capture is None:
        several = len(raw_captures(path))
        raise NotATrace(path, f"it holds {several} raw captures" if several else "it holds no .att file")
    key = _key(capture, options)
    trace = kept.kept(key) or kept.keep(key, partial(_write, capture, report, jobs, options))
    problems = Problems(trace.problems)
    sources = sources_of(
        capture.folder, capture.sidecars, [one.path for one in trace.sources], options.source_map, problems
    )
    return replace(
        trace, path=capture.path, name=capture.path.name, sources=sources, problems=tuple(problems)
    )


def _key(capture: RawCapture, options: RawOptions) -> str:
    # What disassembles decides the texts: a library that is installed later must count.
    return kept.key_of(capture, __version__, tuple(map(str, candidates())), options.decoder, options.library)


def _write(capture: RawCapture, report: Report, jobs: Jobs | None, options: RawOptions, path: Path) -> None:
    found = decoded(capture, report, jobs, options)
    write_packed(path, found.trace, found.columns, is_compressed=False)


def decoded(
    capture: RawCapture, report: Report = silent, jobs: Jobs | None = None, options: RawOptions = USUAL
) -> Assembled:
    """Decode a capture; raise a TraceError if no shader engine of it can be."""
    problems = Problems()
    capture.tell(problems)
    objects = objects_of(capture.folder, capture.codes, capture.sidecars)
    problems += objects.problems
    engines = _engines(capture, report, jobs, options, problems)
    if not engines:
        raise TraceError(
            f"{capture.path} cannot be decoded: {problems[-1].text}",
            hint="Copy its .att files again, or record the trace again.",
        )
    if not objects.by_id and not objects.problems:
        problems.warn(
            capture.folder.name,
            "No code object lies beside the .att files: instructions have no text, and tokens no place.",
            "Copy the *_code_object_id_*.out files of the run into the folder, or a code.json.",
            Affects.CODE,
            Affects.SOURCE_LINES,
        )
    return assembled(
        capture.path,
        engines,
        sidecar=read_sidecar(capture.folder, capture.sidecars, problems),
        sources=objects.sources,
        names=objects.names,
        target=objects.target,
        reader=_NoWaves(),
        problems=problems,
    )


def _engines(
    capture: RawCapture, report: Report, jobs: Jobs | None, options: RawOptions, problems: Problems
) -> list[Engine]:
    """The shader engines that can be decoded; the others become Problems."""
    tasks = [
        EngineJob(capture.folder, stream, capture.codes, capture.sidecars, options)
        for stream in sorted(capture.streams, key=lambda stream: -stream.size)
    ]
    found: list[Engine] = []
    report(Stage(STAGE, 0, len(tasks)))
    with (jobs or _here)([task.stream.size for task in tasks]) as executor:
        futures = {executor.submit(decoded_engine, task): task for task in tasks}
        left = set(futures)
        while left:
            done, left = wait(left, BEAT, FIRST_COMPLETED)
            checkpoint()
            for future in done:
                name = futures[future].stream.name
                error = future.exception()
                if error is None:
                    found.append(future.result())
                elif isinstance(error, TraceError):
                    problems.fail(name, str(error), error.hint, Affects.WAVES)
                elif isinstance(error, OfficialMissing | Cancelled) or not isinstance(error, RcvError):
                    raise error
                else:
                    _tell_lost(name, error, problems)
            report(Stage(STAGE, len(tasks) - len(left), len(tasks)))
    return found


def _tell_lost(name: str, error: RcvError, problems: Problems) -> None:
    problems.fail(
        name,
        f"The process that decoded {name} ended before it was done: {error}",
        "The other shader engines are shown; close other programs and open the capture again.",
        Affects.WAVES,
    )


class _Here(Executor):
    """Makes a call in this process when it is submitted."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        checkpoint()
        try:
            future.set_result(fn(*args, **kwargs))
        except RcvError as error:
            future.set_exception(error)
        return future


@contextmanager
def _here(sizes: list[int]) -> Iterator[Executor]:
    yield _Here()


class _NoWaves:
    """The reader of a trace that is only written: its waves are handed over as columns."""

    base_clock = 1

    def read(self, rows: list[int]) -> WaveBatch:
        return WaveBatch.empty()

    def columns(self, rows: list[int]) -> WaveColumns:
        raise NotImplementedError
