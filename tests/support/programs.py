"""`rcv`, and other programs, as processes of their own."""

import io
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.limits import HANG_S
from tests.support.paths import ROOT

_MAIN = "import sys; from rcv_py.cli.main import main; sys.exit(main(sys.argv[1:]))"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def start(
    words: Sequence[str], *, before: str = "", env: Mapping[str, str] | None = None, **streams: Any
) -> subprocess.Popen[Any]:
    """Start `rcv` with these words, after the Python code `before`; `streams` are those of `Popen`."""
    command = [sys.executable, "-c", f"{before}\n{_MAIN}", *words]
    return subprocess.Popen(command, cwd=ROOT, env=env, **streams)


def finished(
    words: Sequence[str | Path],
    *,
    check: bool = False,
    cwd: Path = ROOT,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, by default in this checkout, and return its exit code and what it printed."""
    return subprocess.run(
        words, cwd=cwd, env=env, capture_output=True, text=True, check=check, timeout=HANG_S
    )


def write_program(folder: Path) -> Path:
    """Write `rcv`, a program that starts this checkout's in any folder, and return its path."""
    path = folder / "rcv"
    environment = f"PYTHONPATH={shlex.quote(str(ROOT))}${{PYTHONPATH:+:$PYTHONPATH}}"
    path.write_text(f'#!/bin/sh\n{environment} exec {shlex.quote(sys.executable)} -m rcv_py "$@"\n')
    path.chmod(0o755)
    return path
