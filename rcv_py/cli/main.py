"""`rcv`: finds the command, runs it, and turns what goes wrong into a sentence and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import TextIO

from rcv_py.base.errors import RcvError
from rcv_py.cli.arguments import parse

DONE, BUG, USAGE, STOPPED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code: 0 done, 1 a bug, 2 the user can put it right.

    A command may have codes of its own, such as 3 for a gate that tripped.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # names of files need not be text
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(words)
        sys.stdout.flush()
        return code
    except RcvError as error:
        _complain(error, sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return STOPPED
    except BrokenPipeError:
        _silence(sys.stdout)
        return DONE  # whoever reads, for example `head`, has had enough
    except Exception:  # the last place that can say which words lead to the bug
        traceback.print_exc()
        print(f"rcv: this is a bug. Please report it with: rcv {' '.join(words)}", file=sys.stderr)
        return BUG


def _run(words: list[str]) -> int:
    arguments = parse(words)
    command = import_module(f"rcv_py.cli.commands.{arguments.command}")
    return int(command.run(arguments) or DONE)


def _complain(error: RcvError, stream: TextIO) -> None:
    print(f"rcv: {error}", file=stream)
    if error.hint:
        print(f"     {error.hint}", file=stream)


def _silence(stream: TextIO) -> None:
    """Point a closed pipe at nothing, or the interpreter complains when it flushes at the end."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, stream.fileno())
    os.close(nothing)


if __name__ == "__main__":
    sys.exit(main())
