"""AMD's own decoder, if the user has installed it: where it is, and the process that it works in.

This program ships no part of it.  Its output becomes the same records that our decoder makes, so that both
can be compared.  The process decodes one shader engine after the other, because it takes longer to start and
to read code objects than to decode; a crash ends only that process, and one shader engine is missing.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic
from typing import IO
from weakref import finalize

from rcv_py.base.errors import BrokenFile, RcvError
from rcv_py.base.progress import checkpoint
from rcv_py.base.text import Message
from rcv_py.formats.isa.processes import BEAT
from rcv_py.formats.raw import official_calls
from rcv_py.formats.raw.official_calls import LIBRARY, VARIABLES, OfficialJob
from rcv_py.formats.raw.official_records import Official
from rcv_py.formats.raw.options import OfficialMissing

WHEELS = ("_rocm_sdk_core", "_rocm_sdk_devel", "_rocm_profiler")  # packages with a folder `lib`
SECONDS = 1800.0  # for one shader engine; plain decoding takes some
LATEST = 1 << 40  # cycles: a later time comes of tokens that the library does not know


def library_path(given: str = "") -> str:
    """Return the path of the library or a name for the system loader; raise OfficialMissing without one."""
    if given:
        path = Path(given)
        found = path / LIBRARY if path.is_dir() else path
        if not found.is_file():
            raise OfficialMissing(
                Message("{0} is no decoder library.", given), hint=Message("Name the file {0}.", LIBRARY)
            )
        return str(found)
    for place in _places():
        names = (LIBRARY, f"{LIBRARY}.*") if sys.platform == "linux" else (LIBRARY,)
        for name in names:
            found_here = sorted(place.glob(name)) if place.is_dir() else []
            if found_here:
                return str(found_here[-1])
        if place.is_file():
            return str(place)
    try:
        ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise OfficialMissing(
            "AMD's trace decoder is not installed.",
            hint=Message(
                "Install it, name {0} in {1}, or leave out --decoder official.", LIBRARY, VARIABLES[0]
            ),
            detail=repr(error),
        ) from error
    return LIBRARY


def _places() -> Iterator[Path]:
    """Files and folders where it may be, in the search order of AMD's tools."""
    yield from (Path(os.environ[name]) for name in VARIABLES if os.environ.get(name))
    yield from map(Path, filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)))
    yield from (Path(os.environ[name]) / "lib" for name in ("ROCM_HOME", "ROCM_PATH") if os.environ.get(name))
    for wheel in WHEELS:
        if spec := find_spec(wheel):
            yield from (Path(place) / "lib" for place in spec.submodule_search_locations or ())
    yield Path("/opt/rocm/lib")


def official(job: OfficialJob) -> Official:
    """Have the library decode a shader engine in another process; raise TraceError if it does not."""
    if getattr(sys, "frozen", False) or not sys.executable:
        raise OfficialMissing("The official decoder needs a Python to run in.", hint="Install rcv with pip.")
    answer = _process_of(job).answer(job)
    if isinstance(answer, RcvError):
        raise answer
    assert isinstance(answer, Official)
    return answer


class _LibraryProcess:
    """A process that decodes shader engines with the library, until this process ends."""

    def __init__(self) -> None:
        program = f"from {official_calls.__name__} import serve; serve()"
        paths = f"import sys; sys.path[:0] = {[path for path in sys.path if path]!r}; "
        self._said = TemporaryFile()  # noqa: SIM115 - as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-c", paths + program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
        )
        self._threads = ThreadPoolExecutor(1)
        self.close = finalize(self, _close, os.getpid(), self._process, self._said, self._threads)

    @property
    def is_there(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def answer(self, job: OfficialJob) -> object:
        """Return its answer; raise BrokenFile if it ends instead, Cancelled if the work is cancelled."""
        asked = self._threads.submit(self._ask, job)
        end = monotonic() + SECONDS
        try:
            while not wait([asked], BEAT).done and monotonic() < end:
                checkpoint()
        finally:
            if not asked.done():
                self._process.kill()
        try:
            return asked.result()
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            code = self._process.wait()
            ending = Message("signal {0}", -code) if code < 0 else Message("status {0}", code)
            self._said.seek(0)
            raise BrokenFile(
                job.stream.name,
                Message("the official decoder ended while it read it ({0})", ending),
                self._said.read(4000).decode("utf-8", "replace"),
            ) from error

    def _ask(self, job: OfficialJob) -> object:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump(job, self._process.stdin)
        self._process.stdin.flush()
        return pickle.load(self._process.stdout)


def _close(
    owner: int, process: subprocess.Popen[bytes], said: IO[bytes], threads: ThreadPoolExecutor
) -> None:
    if owner != os.getpid():  # a copy of the process that started it
        return
    process.kill()
    threads.shutdown()
    for pipe in (process.stdin, process.stdout, said):
        assert pipe is not None
        with suppress(OSError):  # what was not sent
            pipe.close()
    process.wait()


_processes: dict[object, _LibraryProcess] = {}  # the last one


def _process_of(job: OfficialJob) -> _LibraryProcess:
    """The process for this library and environment, a new one if it ended."""
    try:
        about = Path(job.library).stat()
    except OSError:  # a name for the system loader
        about = None
    mark = about and (about.st_size, about.st_mtime_ns)
    key = os.getpid(), job.library, mark, tuple(sorted(os.environ.items()))
    found = _processes.get(key)
    if found is None or not found.is_there:
        for old in _processes.values():
            old.close()
        _processes.clear()
        found = _processes[key] = _LibraryProcess()
    return found
