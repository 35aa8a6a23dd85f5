"""Freed memory goes back to the system."""

import gc
import sys

import pytest

from rcv_py.tuning.memory import is_spare, trim, without_garbage
from tests.support.programs import finished

SCRIPT = """
import numpy as np
from rcv_py.tuning.memory import return_large_blocks, trim

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
    assert float(finished([sys.executable, "-c", SCRIPT], check=True).stdout) < 1.3


def test_what_is_spare_goes_when_memory_is_given_back() -> None:
    kept = [b"for the next file"]
    is_spare(kept.clear)
    trim()
    assert not kept


def test_a_start_is_not_searched_for_garbage_and_leaves_the_rest_to_the_window() -> None:
    """Switched on again here, garbage would be looked for in threads that read, and widgets die there."""
    code = (
        "import gc; from rcv_py.tuning import memory; memory.begin_start(); off = gc.isenabled();"
        "memory.end_start(); print(off, gc.isenabled(), gc.get_freeze_count() > 0)"
    )
    assert finished([sys.executable, "-c", code], check=True).stdout.split() == ["False", "False", "True"]


@pytest.mark.parametrize("was_on", [True, False])
def test_no_garbage_is_looked_for_in_a_block_and_afterwards_as_before(was_on: bool) -> None:
    before = gc.isenabled()
    (gc.enable if was_on else gc.disable)()
    try:
        with without_garbage():
            assert not gc.isenabled()
        assert gc.isenabled() is was_on
    finally:
        (gc.enable if before else gc.disable)()


IN_A_BLOCK = """
import gc
from rcv_py.tuning.memory import is_spare, trim, without_garbage

looked, gone = [], []
gc.callbacks.append(lambda phase, facts: looked.append(facts["generation"]))

class Ring:
    def __init__(self):
        self.itself = self
    def __del__(self):
        gone.append(self)

with without_garbage():
    made = [[at] for at in range(20 * gc.get_threshold()[0])]
    Ring()
one = [[]]
behind = len(looked)
gc.collect()
print(behind, len(gone), gc.get_freeze_count())
"""


def test_what_was_made_in_a_block_is_not_looked_at_right_behind_it_and_is_found_as_garbage_later() -> None:
    assert finished([sys.executable, "-c", IN_A_BLOCK], check=True).stdout.split() == ["0", "1", "0"]
