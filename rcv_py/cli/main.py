"""`rcv`: finds the command, runs it, and turns errors into a sentence and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from errno import EBADF, EDQUOT, EIO, ENOSPC
from importlib import import_module
from typing import TYPE_CHECKING

from rcv_py.base.errors import RcvError
from rcv_py.base.machine.ending import Terminated, ends_tidily
from rcv_py.base.text import Message, translated, visible
from rcv_py.cli.arguments import parse, speaking
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.options.commands import MODULES
from rcv_py.cli.options.option import Options
from rcv_py.cli.terminal import SIGNS, complain, on_a_terminal, outlets, silence
from rcv_py.tuning.memory import without_garbage
from rcv_py.tuning.processors import start_one_numpy_thread

if TYPE_CHECKING:  # they import numpy, which not every command needs
    from rcv_py.cli.answer import CommandAnswer
    from rcv_py.formats.capture_cache import CaptureCache

ENDED = "Ended from outside; no half-written file is left."
_FULL = (ENOSPC, EDQUOT, EIO, EBADF)  # what writing anywhere can meet: a full disk, a closed output


def main(argv: Sequence[str] | None = None, cache: CaptureCache | None = None) -> int:
    """Run a command line and return its exit code (see `rcv_py.cli.exit_codes`).

    `cache` keeps the captures that it opens, for the next command of this process.
    """
    _prepare_streams()
    start_one_numpy_thread()
    words = list(sys.argv[1:] if argv is None else argv)
    with outlets(), ExitStack() as spoken:  # messages of errors, too
        return _exit_code(words, cache, spoken)


def _exit_code(words: list[str], cache: CaptureCache | None, spoken: ExitStack) -> int:
    try:
        with ends_tidily():
            return _run(spoken.enter_context(speaking(words)), cache)
    except RcvError as error:
        complain(str(error), error.hint)
        return ExitCode.USAGE
    except KeyboardInterrupt as error:
        is_ended = isinstance(error, Terminated)
        if is_ended:
            complain(ENDED)
        return ExitCode.ENDED if is_ended else ExitCode.STOPPED
    except Exception as error:  # the last place that knows the words that lead to the bug
        if isinstance(error, OSError) and error.errno in _FULL:
            silence(sys.stdout)
            complain(Message("The output cannot be written: {0}.", error.strerror))
            return ExitCode.USAGE
        from traceback import print_exc  # noqa: PLC0415 - after a bug alone

        print_exc()
        said = translated("this is a bug. Please report it with:")
        print(f"rcv: {said} rcv {visible(' '.join(words))}", file=sys.stderr)
        return ExitCode.BUG


def _prepare_streams() -> None:
    """Prepare output streams that accept any character, and replace those that were closed before the start.

    Nothing can be read from these, messages to them are dropped, and an answer to them is an error.
    """
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # started with `>&-`
            number = os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
            os.set_inheritable(number, True)  # by programs that we start
            setattr(sys, name, open(number, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - until the end
        elif name != "stdin" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=SIGNS)  # names of files need not be text


def _run(words: list[str], cache: CaptureCache | None) -> int:
    try:
        options = parse(words)
    except SystemExit:  # --help and --version were printed, or a mistake was named
        sys.stdout.flush()
        raise
    with on_a_terminal(options):
        code = run_command(options.but(cache=cache))
    sys.stdout.flush()
    return code


def run_command(options: Options, give: Callable[[CommandAnswer, Options], int] | None = None) -> int:
    """Run a command, print its answer if it gives one, or `give` it on, and return the exit code."""
    with without_garbage():
        command = import_module(MODULES[options.command])
    with _raw_files(options):
        answer = command.run(options)
        if answer is None or isinstance(answer, int):
            return int(answer or ExitCode.DONE)
        return answer.show(options) if give is None else give(answer, options)


def _raw_files(options: Options) -> AbstractContextManager[None]:
    """Open raw files in the block as the options say."""
    given = {"decoder", "source_map", "kernel", "target"} & options.given
    if not given or "decoder" not in options.values:
        return nullcontext()
    from rcv_py.formats.raw.options import choosing  # noqa: PLC0415 - hardly any command says so

    return choosing(**{name: options.values[name] for name in given})


if __name__ == "__main__":
    sys.exit(main())
