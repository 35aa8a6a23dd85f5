"""Runs commands on captures, each capture in a process forked from this one, and prints what they took.

    python -m tests.support.bombs_apart < '[[folder, [line, …]], …]'

Prints one JSON object a capture, in the same order: `status` of the process, `peak` in kilobytes, what it
`said` on stderr, and `problems` of the capture.  Importing everything once is what this is for.
"""

import json
import os
import resource
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from rcv_py.cli.options.commands import COMMANDS, MODULES
from rcv_py.formats.open import open_trace
from tests.support.bombs import answer

CPU_S = 12  # of one capture and all its commands, in which its process is killed; each takes less than 5 s


def main() -> None:
    for name in COMMANDS:
        import_module(MODULES[name])
    for folder, lines in json.load(sys.stdin):
        print(json.dumps(_apart(Path(folder), lines)), flush=True)


def _apart(folder: Path, lines: list[str]) -> dict[str, object]:
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as problems:
        child = os.fork()
        if not child:
            _in_child(folder, lines, said.fileno(), problems.fileno())
        _, status, used = os.wait4(child, 0)
        said.seek(0)
        problems.seek(0)
        return {
            "status": os.waitstatus_to_exitcode(status),
            "peak": used.ru_maxrss,
            "said": said.read().decode(errors="replace"),
            "problems": problems.read().decode(errors="replace"),
        }


def _in_child(folder: Path, lines: list[str], said: int, problems: int) -> None:
    code = 1
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
        os.dup2(said, 2)
        answer(folder, *lines)
        told = "\n".join(str(problem)[:500] for problem in open_trace(folder).problems)
        os.write(problems, told.encode(errors="replace"))
        code = 0
    except BaseException as error:
        os.write(said, repr(error)[-1500:].encode(errors="replace"))
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
