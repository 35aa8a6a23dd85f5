"""What a process of the server does: it runs commands, and keeps the captures that they opened.

Commands run in processes because a process can be stopped at any moment, prints to a stream of its own, and
cannot take the server with it.
"""

from __future__ import annotations

import io
import shlex
import traceback
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace

import orjson

from rcv_py.base.errors import RcvError
from rcv_py.cli.arguments import parse
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.main import run_command
from rcv_py.cli.mcp.answers import Outcome, fitted
from rcv_py.formats.capture_cache import CaptureCache

CAPTURES = 8  # that a process keeps open


class CommandRunner:
    """Runs command lines; each process has one of its own."""

    def __init__(self) -> None:
        self._cache: CaptureCache | None = None  # made in the process

    def __call__(self, words: list[str], max_kb: int) -> Outcome:
        """Run one command line; its document is shortened to `max_kb` KB, 0: not.

        What goes wrong is told by the outcome; nothing but being stopped gets out of here.
        """
        self._cache = self._cache or CaptureCache(CAPTURES)
        out, err = io.StringIO(), io.StringIO()
        try:
            with redirect_stdout(out), redirect_stderr(err):
                options = replace(parse(words), cache=self._cache)
                code = run_command(options)
        except RcvError as error:
            return Outcome(ExitCode.USAGE, error=str(error), hint=error.hint)
        except SystemExit:
            return Outcome(ExitCode.USAGE, error=_refusal(err.getvalue()))
        except Exception as error:  # the last place that can say which words lead to the bug
            traceback.print_exc()
            line = shlex.join(["rcv", *words])
            sentence, hint = f"This is a bug of rcv ({error!r}).", f"Please report it with: {line}"
            return Outcome(ExitCode.BUG, error=sentence, hint=hint)
        return _outcome(code, out.getvalue(), err.getvalue(), max_kb)


def _outcome(code: int, printed: str, complaints: str, max_kb: int) -> Outcome:
    error = _complaint(complaints) if code == ExitCode.USAGE else ""
    try:
        document, cut = fitted(orjson.loads(printed), max_kb)
    except orjson.JSONDecodeError:  # a command without JSON prints the names of its files
        return Outcome(code, text=printed, error=error)
    return Outcome(code, document, error=error, cut=tuple(cut))


def _refusal(usage: str) -> str:
    """The sentence in what argparse prints: `rcv hotspot: error: argument --by: …`."""
    text = usage.strip().rpartition("error: ")[2] or "the arguments do not fit"
    return f"{text[:1].upper()}{text[1:]}."


def _complaint(text: str) -> str:
    """What a command said of the parts that failed."""
    lines = (line.strip().removeprefix("rcv: ") for line in text.splitlines())
    return " ".join(line for line in lines if line)
