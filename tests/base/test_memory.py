"""Freed memory goes back to the system."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import numpy as np
from rcv_py.base.machine.memory import return_large_blocks, trim

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

return_large_blocks()
before = resident()
kept = []
for _ in range(40):
    temporary = [np.ones(400_000) for _ in range(4)]
    kept.append(np.ones(200_000))
    del temporary
trim()
print((resident() - before) / sum(array.nbytes for array in kept))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc can be asked")
def test_what_is_kept_is_all_that_stays_resident() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 1.3


def test_a_start_is_not_searched_for_garbage_and_leaves_the_rest_to_the_window() -> None:
    """Switched on again here, garbage would be looked for in threads that read, and widgets die there."""
    code = (
        "import gc; from rcv_py.base.machine import memory; memory.begin_start(); off = gc.isenabled();"
        "memory.end_start(); print(off, gc.isenabled(), gc.get_freeze_count() > 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False", "True"]
