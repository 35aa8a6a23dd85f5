"""Processes for tests that start them often: one that has imported everything forks for each call.

A call of `rcv` is a process of its own, with its own arguments, environment, folder, streams and exit code;
only the interpreter was started before, and what that reads of the environment (`LC_ALL`, closed streams) is
not what such a test can be about.

What `multiprocessing` spawns in a process of tests is forked, too (`fork_what_is_spawned`): it has the same
open files under the same numbers, reads the same bytes, and is our child, whom nobody else buries.  Only what
it would import is there already; a test about that takes the fixture `real_starts`.
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import gc
import json
import multiprocessing.util
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from tests.support.limits import HANG_S
from tests.support.paths import ROOT

SPAWNED = "--multiprocessing-fork"  # the last word of what multiprocessing starts
MOST_FILES = 64  # that are given to a process
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # of <linux/prctl.h>
CLIENT = """#!{python} -ISs
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as call:
    call.connect({place!r})
    asked = dict(words=sys.argv[1:], folder=os.getcwd(), environment=dict(os.environ), numbers=[0, 1, 2])
    told = json.dumps(asked).encode()
    socket.send_fds(call, [b"%10d" % len(told)], [0, 1, 2])
    call.sendall(told)
    code = call.makefile().read().split()[1:]
os._exit(int(code[0]) if code else 70)
"""


class Forks:
    """The process that forks.  Close it, or use it with `with`."""

    def __init__(self, place: str = "") -> None:
        """Start it, unless there is one already that is called at a place."""
        self._adopting = threading.Lock()
        self._prepared: set[str] = set()
        self._place = place
        if not place:
            self._start()

    def _start(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="rcv-forks-")
        self._place = str(Path(self._folder.name) / "calls")
        words = [sys.executable, "-m", "tests.support.forked", self._place]
        self._process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        assert self._process.stdout is not None
        with self._process.stdout as told:
            assert told.readline() == b"ready\n"

    def prepare(self, module: str) -> None:
        """Have a module imported, once, so that what is forked has it."""
        if module not in self._prepared:
            with self._call({"module": module}, {}) as call:
                assert call.makefile().readline() == "done\n"
            self._prepared.add(module)

    def program(self, folder: Path) -> Path:
        """Write `rcv`, a program that does what it is asked in a forked process, and return its path."""
        path = folder / "rcv"
        path.write_text(CLIENT.format(python=sys.executable, place=self._place))
        path.chmod(0o755)
        return path

    def start(
        self,
        words: Sequence[str],
        *,
        stdout: int,
        stderr: int,
        stdin: int | None = None,
        env: Mapping[str, str] | None = None,
        before: str = "",
        forks: bool = False,
    ) -> Forked:
        """Start `rcv` with these words, after the Python code `before`; the streams stay the caller's.

        What it spawns starts Python, unless it `forks`.
        """
        environment = dict(os.environ if env is None else env)
        asked = {"words": list(words), "folder": str(ROOT), "environment": environment}
        with open(os.devnull) as nothing:  # noqa: PTH123 - a device
            streams = {0: nothing.fileno() if stdin is None else stdin, 1: stdout, 2: stderr}
            return Forked(self._call({**asked, "code": before, "forks": forks}, streams))

    def spawn(self, program: str, numbers: Sequence[int]) -> int:
        """Start a child of this process that runs Python code, with open files of ours; return its id."""
        streams = {number: number for number in (0, 1, 2, *numbers)}
        asked = {"words": None, "folder": str(Path.cwd()), "environment": dict(os.environ), "code": program}
        with self._adopting, adopting(), self._call(asked, streams) as call:
            return int(call.makefile().readline())

    def _call(self, asked: Mapping[str, Any], streams: Mapping[int, int]) -> socket.socket:
        """Ask for something, with open files: their numbers there, and here."""
        call = socket.socket(socket.AF_UNIX)
        call.settimeout(HANG_S)
        call.connect(self._place)
        told = json.dumps({**asked, "numbers": list(streams)}).encode()
        socket.send_fds(call, [b"%10d" % len(told)], list(streams.values()))
        call.sendall(told)
        return call

    def close(self) -> None:
        """End the process, and wait for that."""
        self._process.terminate()
        self._process.wait(HANG_S)
        self._folder.cleanup()

    def __enter__(self) -> Forks:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Forked:
    """A process that was forked."""

    def __init__(self, call: socket.socket) -> None:
        self._call = call
        self._lines = call.makefile()
        self.pid = int(self._lines.readline())

    def wait(self, timeout_s: float = HANG_S) -> int:
        """Return the exit code, once it has ended; -1 if it was killed."""
        self._call.settimeout(timeout_s)
        code = self._lines.read().strip()
        self._lines.close()
        self._call.close()
        return int(code) if code else -1


_first = threading.Lock()  # several threads may want them first
_shared: list[Forks] = []


def shared_forks() -> Forks:
    """Those of this process, started when they are first wanted, with the environment of the run."""
    with _first:
        if not _shared:
            _shared.append(Forks())
        return _shared[0]


def end_forks() -> None:
    """End what `shared_forks` started."""
    while _shared:
        _shared.pop().close()


_really_start = multiprocessing.util.spawnv_passfds


def fork_what_is_spawned() -> None:
    """Fork the processes that this one spawns from now on, where Linux lets us adopt them."""
    if sys.platform.startswith("linux"):
        multiprocessing.util.spawnv_passfds = _spawned


def really_start() -> None:
    """Start Python for each process that this one spawns from now on."""
    multiprocessing.util.spawnv_passfds = _really_start


def _spawned(path: str | bytes, words: Sequence[str], numbers: Sequence[int]) -> int:
    """Start what multiprocessing asks for; programs that are not its usual ones start as ever."""
    program = [os.fsdecode(word) for word in (path, *words)]
    if program[:1] + program[2:3] + program[4:] != [sys.executable, "-c", SPAWNED]:
        return _really_start(path, words, numbers)
    return shared_forks().spawn(program[3], numbers)


@contextmanager
def adopting() -> Iterator[None]:
    """Become the parent of processes below this one whose own parent ends meanwhile."""
    control = ctypes.CDLL(None).prctl
    control(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        control(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


# -- the process that forks ------------------------------------------------------------------------------


def _serve(place: str) -> None:
    from rcv_py.cli.options.commands import COMMANDS

    for name in COMMANDS:
        import_module(f"rcv_py.cli.commands.{name.replace('-', '_')}")
    with socket.socket(socket.AF_UNIX) as calls:
        calls.bind(place)
        calls.listen(64)
        os.write(1, b"ready\n")
        _fork_for(calls)


def _fork_for(calls: socket.socket) -> NoReturn:
    """Answer calls, each in a process of its own."""
    gc.freeze()  # what is looked at is copied
    signal.signal(signal.SIGCHLD, _bury)
    while True:
        call, _ = calls.accept()
        size, given, _, _ = socket.recv_fds(call, 10, MOST_FILES)
        asked = json.loads(_all(call, int(size)))
        if "module" in asked:
            import_module(asked["module"])
            gc.freeze()
            call.sendall(b"done\n")
        elif not os.fork():
            calls.close()
            _answer(call, given, **asked)
        call.close()
        for one in given:
            os.close(one)


def _fork_from_here(call: socket.socket) -> None:
    """Have what this process spawns from now on forked from a copy of it as it is, which ends with it.

    That is a process below this one, as it must be: only what comes from below can be adopted.
    """
    place = f"\0rcv-forks-{os.getpid()}"  # not in the file system, where nobody would remove it
    with socket.socket(socket.AF_UNIX) as calls:
        calls.bind(place)
        calls.listen(64)
        if not os.fork():
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            call.close()  # whoever hears it waits until nobody has it
            with open(os.devnull, "r+b") as nothing:  # noqa: PTH123 - a device
                for number in (0, 1, 2):
                    os.dup2(nothing.fileno(), number)
            _fork_for(calls)
    _shared[:] = [Forks(place)]
    fork_what_is_spawned()


def _bury(*_: object) -> None:
    """Take note of those that ended, so that what they took is part of what this process took."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _answer(
    call: socket.socket,
    given: list[int],
    *,
    words: list[str] | None,
    folder: str,
    environment: dict[str, str],
    numbers: list[int],
    code: str = "",
    forks: bool = False,
) -> NoReturn:
    """Be the program that was asked for, to the end."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    if words is None:
        _be_adopted(call)
        _take(given, numbers)
        really_start()  # only whoever was asked to fork has a process below it that does
        _be_spawned(code)
    _take(given, numbers)
    sys.argv[1:] = words
    exec(compile(code, "before", "exec"), {"__name__": "before"})
    if forks:
        _fork_from_here(call)
    call.sendall(b"%d\n" % os.getpid())
    ended = 1
    try:
        ended = _run(words)
    finally:
        call.sendall(b"%d\n" % ended)
        os._exit(ended)


def _take(given: list[int], numbers: list[int]) -> None:
    """Have the files that were given under the numbers that they had."""
    above = [fcntl.fcntl(one, fcntl.F_DUPFD, max(numbers) + 1) for one in given]
    for one in given:
        os.close(one)
    for one, number in zip(above, numbers, strict=True):
        os.dup2(one, number)
        os.close(one)


def _be_adopted(call: socket.socket) -> None:
    """Go on in a child whose parent ends, so that it becomes that of whoever asked, and say which it is."""
    parent = os.getpid()
    if os.fork():
        os._exit(0)
    while os.getppid() == parent:
        time.sleep(0.0002)
    call.sendall(b"%d\n" % os.getpid())
    call.close()


def _be_spawned(program: str) -> NoReturn:
    """Run what multiprocessing has a new Python run, with nothing open but what it was given."""
    sys.modules["__main__"] = ModuleType("__main__")
    sys.argv[:] = ["-c", SPAWNED]
    code: Any = 1
    try:
        exec(compile(program, "<string>", "exec"), {"__name__": "__main__"})
        code = 0
    except SystemExit as stop:
        code = stop.code or 0
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]  # there is an exception
    finally:
        with suppress(BaseException):
            _wind_up()
        os._exit(code if isinstance(code, int) else 1)


def _wind_up() -> None:
    """Wait for threads, call what was left for the end, and flush, as Python does when it ends."""
    threading._shutdown()  # type: ignore[attr-defined]  # it has no public name
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()


def _run(words: list[str]) -> int:
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115 - to the end
        for number, mode in enumerate("rww")
    )
    from rcv_py.cli.main import main

    try:
        code: Any = main(words)
    except SystemExit as stop:
        code = stop.code or 0
    _wind_up()
    return int(code)


def _all(call: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        data += call.recv(size - len(data))
    return bytes(data)


if __name__ == "__main__":
    _serve(sys.argv[1])
