"""A process that runs commands for the server and keeps the captures it opened.

Commands run in processes because a process can be stopped at any moment, prints to a stream of its own, and
cannot take the server with it.
"""

from __future__ import annotations

import io
import os
import shlex
import signal
import traceback
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

from rcv_py.base.errors import RcvError
from rcv_py.base.lifeline import end_with_parent
from rcv_py.cli.arguments import parse
from rcv_py.formats.kept import KEPT

BUG, USAGE = 1, 2


class _Leave(SystemExit):
    """Somebody stops this process; unlike the exits of argparse nothing answers it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """How a command ended: exit code, what it printed, and the sentence if it failed."""

    code: int
    text: str = ""
    error: str = ""
    hint: str = ""


def serve(connection: Connection) -> None:
    """Answer command lines from the other end until it closes."""
    end_with_parent()
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the server, which stops us
    if hasattr(os, "setpgrp"):
        os.setpgrp()  # so that processes started by a command can be stopped with it
    KEPT.start()
    with suppress(EOFError, OSError):
        while True:
            connection.send(perform(connection.recv()))


def perform(words: list[str]) -> Answer:
    """Run one command line, and return what it printed; nothing but being stopped gets out of here."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            arguments = parse(words)
            command = import_module(f"rcv_py.cli.commands.{arguments.command}")
            code = int(command.run(arguments) or 0)
    except RcvError as error:
        return Answer(USAGE, error=str(error), hint=error.hint)
    except _Leave:
        raise
    except SystemExit:
        return Answer(USAGE, error=_refusal(err.getvalue()))
    except Exception as error:  # the last place that can say which words lead to the bug
        traceback.print_exc()
        line = shlex.join(["rcv", *words])
        return Answer(BUG, error=f"This is a bug of rcv ({error!r}).", hint=f"Please report it with: {line}")
    return Answer(code, out.getvalue(), _complaint(err.getvalue()) if code == USAGE else "")


def _refusal(usage: str) -> str:
    """The sentence in what argparse prints: `rcv hotspot: error: argument --by: …`."""
    text = usage.strip().rpartition("error: ")[2] or "the arguments do not fit"
    return f"{text[:1].upper()}{text[1:]}."


def _complaint(text: str) -> str:
    """What a command said of the parts that failed."""
    lines = (line.strip().removeprefix("rcv: ") for line in text.splitlines())
    return " ".join(line for line in lines if line)


def _leave(*_: Any) -> None:
    raise _Leave(BUG)
