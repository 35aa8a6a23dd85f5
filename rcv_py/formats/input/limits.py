"""Limits on the data read from a capture: far above any writer's output, and low enough to stay quick.

A capture is untrusted input, and small files can demand much work.  Cut or left out data becomes a Problem.
"""

from rcv_py.base.problems import Problems
from rcv_py.base.text import Message, plural

INSTRUCTION_LETTERS = 512  # the longest seen has 150; expressions that read them take the square of it
NAME_LETTERS = 16_384  # of a kernel: mangled names of large templates have some thousands
SOURCE_LETTERS = 1 << 18  # of a place with all places it was inlined into
PATH_LETTERS = 2048  # of a source file
PATH_FOLDERS = 64  # of a source file: every one is a row of a tree, and a step down
FOLDERS = 300_000  # of all source files together
CALLS = 200  # places of one instruction: inlined into each other
TIMES_LISTED = 16  # of a file in the index; once is right
FILES_LISTED = 4096  # files of records of one kind; writers make one per engine
MAX_COUNT = 1 << 80  # of a counter; sums of 64 bits over all units of a device are far below


def report_cut(problems: Problems, name: str, count: int, what: str, rest: str) -> None:
    """Add a Problem saying that `count` things of a file were cut; nothing if there were none."""
    if count:
        text = "{0} has {1} longer than any writer makes; {2}."
        hint = "Be careful with this capture if you do not know where it comes from."
        problems.warn(name, Message(text, name, plural(count, what), rest), hint)
