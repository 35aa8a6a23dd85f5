"""Blocks of shared memory in a process that may open few files: `python -m tests.support.few_files WHAT`.

What a process may open counts all that it has open, so this needs one in which nobody opened anything yet.
"""

import gc
import os
import resource
import sys
from contextlib import suppress
from multiprocessing import Pipe

import numpy as np

from rcv_py.work import shared
from rcv_py.work.shared import SHARED_BYTES, TooManyFiles, dumps, loads, receive, send, share

LARGE = np.arange(SHARED_BYTES // 8)
MORE = 40  # files that may be opened beside those that are open


def opened() -> int:
    """How many files are open."""
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208


def many_blocks(before: int) -> None:
    """More blocks than files keep what they hold, and leave most files to others."""
    kept = [share(LARGE + number) for number in range(100)]
    assert opened() - before <= shared.most_open()
    assert [int(one[0]) for one in kept] == list(range(100)), "what is closed can be read"
    there = loads(dumps(kept[99]))
    assert there.tolist() == kept[99].tolist(), "and crosses as a copy"
    del kept, there
    gc.collect()
    assert opened() == before


def none_left(before: int) -> None:
    """A block that comes when no file can be opened any more is refused with a sentence."""
    near, far = Pipe()
    send(near, dumps([LARGE]))
    others = []
    with suppress(OSError):
        while True:
            others.append(os.dup(0))
    os.close(others.pop())  # the channel needs one
    try:
        message = receive(far)
    finally:
        for other in others:
            os.close(other)
    said = ""
    try:
        loads(message)
    except TooManyFiles as error:
        said = str(error)
    assert "Too many files are open" in said
    del message
    gc.collect()
    assert opened() == before + 2, "the pipe"


WHAT = {"many blocks": many_blocks, "none left": none_left}

if __name__ == "__main__":
    files = opened()
    resource.setrlimit(resource.RLIMIT_NOFILE, (files + MORE, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    WHAT[sys.argv[1]](files)
