"""`rcv` for tests that start it often: a process that has imported everything forks one for each call.

A call is a process of its own, with its own arguments, environment, folder, streams and exit code; only the
interpreter was started before, and what that reads of the environment (`LC_ALL`, closed streams) is not what
such a test can be about.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.support.captures import ROOT

PATIENCE_S = 60
CLIENT = """#!{python} -ISs
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as call:
    call.connect({place!r})
    told = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ), ""]).encode()
    socket.send_fds(call, [b"%10d" % len(told)], [0, 1, 2])
    call.sendall(told)
    code = call.makefile().read().split()[1:]
os._exit(int(code[0]) if code else 70)
"""


class Forks:
    """The process that forks.  Close it, or use it with `with`."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="rcv-forks-")
        self._place = str(Path(self._folder.name) / "calls")
        words = [sys.executable, "-m", "tests.support.forked", self._place]
        self._process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stdin=subprocess.PIPE)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

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
        env: Mapping[str, str] | None = None,
        before: str = "",
    ) -> Forked:
        """Start `rcv` with these words, after the Python code `before`; the streams stay the caller's."""
        call = socket.socket(socket.AF_UNIX)
        call.settimeout(PATIENCE_S)
        call.connect(self._place)
        told = json.dumps([list(words), str(ROOT), dict(os.environ if env is None else env), before]).encode()
        with open(os.devnull) as nothing:  # noqa: PTH123 - a device
            socket.send_fds(call, [b"%10d" % len(told)], [nothing.fileno(), stdout, stderr])
        call.sendall(told)
        return Forked(call)

    def close(self) -> None:
        """End the process, and wait for that."""
        self._process.terminate()
        self._process.communicate()
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

    def wait(self) -> int:
        """Return the exit code, once it has ended; -1 if it was killed."""
        code = self._lines.read().strip()
        self._lines.close()
        self._call.close()
        return int(code) if code else -1


# -- the process that forks ------------------------------------------------------------------------------


def _serve(place: str) -> None:
    from rcv_py.cli.options.commands import COMMANDS

    for name in COMMANDS:
        import_module(f"rcv_py.cli.commands.{name.replace('-', '_')}")
    signal.signal(signal.SIGCHLD, _bury)
    with socket.socket(socket.AF_UNIX) as calls:
        calls.bind(place)
        calls.listen(64)
        os.write(1, b"ready\n")
        while True:
            call, _ = calls.accept()
            if not os.fork():
                calls.close()
                _answer(call)
            call.close()


def _bury(*_: object) -> None:
    """Take note of those that ended, so that what they took is part of what this process took."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _answer(call: socket.socket) -> None:
    """Be the program that was asked for, to the end."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, streams, _, _ = socket.recv_fds(call, 10, 3)
    words, folder, environment, before = json.loads(_all(call, int(size)))
    for ours, given in enumerate(streams):
        os.dup2(given, ours)
        os.close(given)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv[1:] = words
    call.sendall(b"%d\n" % os.getpid())
    code = 1
    try:
        code = _run(words, before)
    finally:
        call.sendall(b"%d\n" % code)
        os._exit(code)


def _run(words: list[str], before: str) -> int:
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115 - to the end
        for number, mode in enumerate("rww")
    )
    exec(compile(before, "before", "exec"), {"__name__": "before"})
    from rcv_py.cli.main import main

    try:
        code: Any = main(words)
    except SystemExit as stop:
        code = stop.code or 0
    sys.stdout.flush()
    sys.stderr.flush()
    atexit._run_exitfuncs()
    return int(code)


def _all(call: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        data += call.recv(size - len(data))
    return bytes(data)


if __name__ == "__main__":
    _serve(sys.argv[1])
