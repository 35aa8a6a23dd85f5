"""The meaning of the exit codes of `rcv`: one table for help, documentation and commands."""

from enum import IntEnum

from rcv_py.base.text import Message, join_texts


class ExitCode(IntEnum):
    """How a command ended.  The numbers are stable: scripts branch on them."""

    DONE = 0
    BUG = 1
    USAGE = 2
    GATE = 3
    STRICT = 4
    STOPPED = 130
    ENDED = 143


EXIT_TEXT = {
    ExitCode.DONE: "done",
    ExitCode.BUG: "a bug in rcv; please report what it prints",
    ExitCode.USAGE: "an error that you can fix: the sentence on stderr says which",
    ExitCode.GATE: "the gate of rcv compare --fail-on tripped",
    ExitCode.STRICT: "rcv check --strict found a warning or an error",
    ExitCode.STOPPED: "stopped with Ctrl+C",
    ExitCode.ENDED: "ended from outside, with SIGTERM",
}


def codes_text() -> str:
    """Return the table as lines for help."""
    lines = (Message("  {0:<3}  {1}", code.value, text) for code, text in EXIT_TEXT.items())
    return join_texts("\n", ["exit codes:", *lines])
