"""A worker that is killed costs a retry, whatever the moment: no wave, number, process, memory or file."""

import gc
import os
import random
import signal
import subprocess
import sys
import weakref
from multiprocessing import active_children, resource_tracker
from pathlib import Path

import psutil
import pytest

from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.state.session import Session
from rcv_py.work import load
from rcv_py.work.load import WaveStream
from rcv_py.work.pool import WorkerPool
from tests.support.deadly_readers import MOMENTS, Doomed, prepared, without_blocks
from tests.support.limits import HANG_S
from tests.support.opened import load_all
from tests.support.paths import ROOT
from tests.support.processes import gone
from tests.support.shared_memory import blocks, mappings, names
from tests.support.wave_folder import MANY, reader, trace, wave

linux = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="blocks are of Linux")


@pytest.fixture
def small_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes also for little work, and one wave a job."""
    monkeypatch.setattr(load, "IN_PROCESS_BYTES", 0)
    monkeypatch.setattr(load, "JOB_BYTES", 1)


def descriptors() -> int:
    """How many files this process has open, besides what multiprocessing keeps open once it was used."""
    resource_tracker.ensure_running()
    gc.collect()
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208


@linux
@pytest.mark.parametrize("seed", [1, 2])
def test_killed_at_random_moments(tmp_path: Path, small_jobs: None, seed: int) -> None:
    files = reader(tmp_path, {f"{at}.json": wave(MANY[: 9000 - at]) for at in range(8)})
    expected = [len(one.tokens) for one in files.read(list(range(8))).waves]
    notes = tmp_path / "notes"
    notes.mkdir()
    chance = random.Random(seed)
    jobs = chance.sample(range(8), 5)
    moments = dict(zip(jobs, chance.sample(MOMENTS, 5), strict=True))
    before, shm = descriptors(), names()
    stream = WaveStream(Doomed(files, notes, moments), files.index, workers=2)
    found = {one.row: len(one.tokens) for batch in stream for one in batch.waves}
    assert {path.name: path.read_text() for path in notes.iterdir()} == {
        str(row): moment for row, moment in moments.items()
    }, "each was killed at its moment"
    assert [found[row] for row in range(8)] == expected
    assert not stream.errors
    assert not active_children()
    assert descriptors() <= before, "fewer if a process of a test before has only now gone"
    assert names() == shm


def plain(batches: tuple[WaveBatch, ...]) -> dict[int, list[object]]:
    """Everything that was read, by wave."""
    rows: dict[int, list[object]] = {}
    for batch in batches:
        for one, lod in zip(batch.waves, batch.lod, strict=True):
            t, s = one.tokens, one.states
            arrays = [t.offset, t.stall, t.busy, t.kind, t.line, s.offset, s.state, *lod.kind, *lod.state]
            rows[one.row] = [one.id, one.begin, *((part.dtype.str, part.tobytes()) for part in arrays)]
    return rows


def test_what_is_shared_what_is_piped_and_what_is_read_here_are_the_same(
    tmp_path: Path, small_jobs: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, files = blocks(), trace(reader(tmp_path, {f"{at}.json": wave(MANY[at:]) for at in range(2)}))
    here = plain(load_all(files, workers=0))
    shared_ones = load_all(files, workers=1)
    assert plain(shared_ones) == here
    assert mappings(before) == (2 if hasattr(os, "memfd_create") else 0)
    del shared_ones
    monkeypatch.setattr(load, "hold_memory", without_blocks)
    piped = load_all(files, workers=1)
    assert plain(piped) == here
    assert not mappings(before)


SCRIPT = """
import os, sys
from pathlib import Path
from rcv_py.work import load
from tests.support.shared_memory import mappings, names
from tests.support.wave_folder import MANY, reader, trace, wave

load.IN_PROCESS_BYTES, load.JOB_BYTES = 0, 1
files = reader(Path(sys.argv[1]), {f"{at}.json": wave(MANY) for at in range(12)})
stream = iter(load.WaveStream(files, files.index, workers=2))
batch = next(stream)
assert mappings()
print(*names(), flush=True)
sys.stdin.read()
"""


@linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
def test_a_parent_that_is_ended_leaves_no_process_and_no_memory(
    tmp_path: Path, number: signal.Signals
) -> None:
    before = names()
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as parent:
        try:
            during = set(parent.stdout.readline().split())
            children = psutil.Process(parent.pid).children(recursive=True)
            assert children
            parent.send_signal(number)
            parent.wait(HANG_S)
        finally:
            parent.kill()
    assert gone(children)
    assert during == before == names(), "a block never has a name that could stay"


def opened(folder: Path, number: int) -> Trace:
    """A capture of its own."""
    place = folder / str(number)
    place.mkdir()
    return trace(reader(place, {"a.json": wave(MANY[number:])}))


@linux
def test_fifty_captures_one_after_the_other_keep_nothing_of_those_before(tmp_path: Path) -> None:
    session, before = Session(), blocks()
    gc.freeze()  # what other tests keep is not looked at fifty times
    traces = [opened(tmp_path, number) for number in range(50)]
    with WorkerPool(prepared, 1) as pool:
        stores, files = [], []
        for one in traces:
            session.open(one)
            session.store.add(pool.submit(one.reader).result().batch())
            stores.append(weakref.ref(session.store))
            files.append(descriptors())
            assert mappings(before) == 1, "the block of the capture that is open"
            assert sum(store() is not None for store in stores) == 1
        assert len(set(files)) == 1
    session.close()
    assert not mappings(before)
