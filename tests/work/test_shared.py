"""Values that cross process borders: what they hold, where it lies, and what is kept open for it."""

import os
import subprocess
import sys
from multiprocessing import Pipe
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rcv_py.work.load import prepared_columns
from rcv_py.work.pool import WorkerPool
from rcv_py.work.shared import SHARED_BYTES, dumps, loads, receive, send, share
from tests.support.limits import HANG_S
from tests.support.paths import ROOT
from tests.support.wave_folder import reader, wave

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="blocks are of Linux")

LARGE = np.arange(SHARED_BYTES // 8)
DTYPES = st.sampled_from([np.uint8, np.int16, np.int32, np.int64, np.float64, np.bool_])
VALUES = st.lists(
    arrays.arrays(DTYPES, arrays.array_shapes(min_dims=1, max_dims=2, min_side=0)) | st.text(), max_size=5
)


def plain(value: object) -> object:
    """What can be compared."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return [plain(one) for one in value] if isinstance(value, list) else value


@given(VALUES, st.booleans())
def test_a_value_is_what_it_was(values: list[object], is_large: bool) -> None:
    whole = [*values, LARGE] if is_large else values
    message = dumps(whole)
    assert len(message.blocks) == is_large
    there = loads(message)
    assert plain(there) == plain(whole)
    again = dumps(there[::-1])
    assert plain(loads(again)) == plain(whole[::-1])
    for one in there:
        assert not isinstance(one, np.ndarray) or (one.flags.aligned and not one.flags.writeable)


def test_what_lies_in_a_block_crosses_again_without_a_copy() -> None:
    there = loads(dumps([LARGE, LARGE * 2]))
    message = dumps([there[1][100:], there[0][::-1], "text"])  # the reversed one is not in one piece
    assert len(message.data) < 100, "so it travels in a block"
    assert message.blocks[0].descriptor not in {block.descriptor for block in dumps(there).blocks}
    assert [block.descriptor for block in message.blocks[1:]] == [
        block.descriptor for block in dumps(there).blocks
    ]
    assert len(dumps(there[1][100:]).data) < 500
    assert loads(message)[0].tolist() == (LARGE * 2)[100:].tolist()
    assert loads(message)[1].tolist() == LARGE[::-1].tolist()


def test_several_blocks_cross_in_one_message() -> None:
    parts = [share(LARGE + number) for number in range(300)]  # more than are sent at once
    near, far = Pipe()
    send(near, dumps(parts))
    there = loads(receive(far))
    assert [int(one[0]) for one in there] == list(range(300))


def test_columns_of_a_batch_are_shared_once_for_many_calls(tmp_path: Path) -> None:
    many = [[100 + 4 * at, 6, 0, 4, 3] for at in range(9000)]
    columns = share(prepared_columns(reader(tmp_path, {"a.json": wave(many)}), [0]))
    with WorkerPool(seen, 1) as pool:
        sums = [pool.submit(columns.offset[at:]).result() for at in (0, 5000)]
        batch = pool.submit(columns.batch().waves[0].tokens.offset).result()
    assert sums == [(int(columns.offset[at:].sum()), True) for at in (0, 5000)]
    assert batch == sums[0], "views of a wave lie there, too"


def seen(column: np.ndarray) -> tuple[int, bool]:
    """What a process makes of a column, and whether it lies in a block."""
    return int(column.sum()), bool(dumps(column).blocks)


def test_a_long_text_crosses_in_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    value = ["x" * SHARED_BYTES, np.arange(9), LARGE]
    message = dumps(value)
    assert (len(message.data) < 100, len(message.blocks)) == (True, 2)
    near, far = Pipe()
    send(near, message)
    there = loads(receive(far))
    assert plain(there) == plain(value)
    assert there[1].flags.aligned
    assert plain(loads(dumps(there))) == plain(value)
    monkeypatch.setattr(os, "memfd_create", full)
    assert plain(loads(dumps(value))) == plain(value)


def test_little_and_what_finds_no_memory_stays_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    small = [np.zeros(10)]
    assert share(small) is small
    monkeypatch.setattr(os, "memfd_create", full)
    value = [LARGE]
    assert share(value) is value
    assert plain(loads(dumps(value))) == plain(value)


def full(*_: object) -> int:
    """There is no memory."""
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("what", ["many blocks", "none left"])
def test_blocks_leave_most_files_to_others_and_say_when_there_are_none(what: str) -> None:
    """In a process of its own: others have files open here, and garbage closes them while one counts."""
    words = [sys.executable, "-m", "tests.support.few_files", what]
    done = subprocess.run(
        words, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=HANG_S
    )
    assert (done.returncode, done.stderr) == (0, "")
