"""Captures that are kept are opened once while their files stay the same, and take no more than allowed."""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rcv_py.formats.capture_cache import BatchCache, CachingReader, CaptureCache
from rcv_py.formats.open import open_trace
from rcv_py.formats.uiout.load import open_folder
from rcv_py.formats.uiout.waves import WaveFiles
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveColumns
from rcv_py.work.load import batches, load_all
from tests.support.paths import ROOT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "sample_traces" / "matmul_tiled", tmp_path / "captures" / "a"))


def opener(folder: Path, opened: list[Path]) -> Callable[[], Trace]:
    def open_it() -> Trace:
        opened.append(folder)
        return open_folder(folder)

    return open_it


def test_a_capture_is_cached_only_in_a_cache_that_is_handed_in(folder: Path) -> None:
    cache = CaptureCache()
    assert open_trace(folder, cache=cache) is open_trace(folder, cache=cache)
    assert open_trace(folder) is not open_trace(folder)
    assert isinstance(open_trace(folder).reader, WaveFiles)


def test_a_capture_is_opened_once_until_a_file_changes(folder: Path) -> None:
    cache, opened = CaptureCache(), []
    first = cache.trace(folder, opener(folder, opened))
    assert cache.trace(folder, opener(folder, opened)) is first
    about = (folder / "code.json").stat()
    os.utime(folder / "code.json", ns=(about.st_atime_ns, about.st_mtime_ns + 1))
    assert cache.trace(folder, opener(folder, opened)) is not first
    (folder / "new.json").write_text("{}")
    cache.trace(folder, opener(folder, opened))
    cache.trace(folder, opener(folder, opened))
    assert len(opened) == 3


def test_the_oldest_goes_when_there_are_too_many(folder: Path) -> None:
    other = Path(shutil.copytree(folder, folder.parent / "b"))
    cache, opened = CaptureCache(captures=1), []
    for path in (folder, other, other, folder):
        cache.trace(path, opener(path, opened))
    assert opened == [folder, other, folder]


def test_waves_are_read_once_and_within_bounds(folder: Path) -> None:
    trace = open_folder(folder)
    rows = list(range(8))
    largest = max(trace.reader.read([row]).nbytes for row in rows)
    memory = BatchCache(limit=2 * largest)
    reader = CachingReader(trace.reader, memory)
    first = reader.read([0])
    assert reader.read([0]) is first
    assert first.rows.tolist() == [0]
    for row in rows[1:]:
        reader.read([row])
        assert memory.bytes == sum(one.nbytes for (one,) in memory.batches.values()) <= memory.limit
    assert 1 < len(memory.batches) < len(rows)
    reader.read(list(range(64)))  # more than half of what fits is not kept
    assert all(len(key) == 2 for _, key in memory.batches)
    memory.forget(trace.reader)
    assert (memory.bytes, len(memory.batches)) == (0, 0)


def test_other_processes_get_the_plain_reader(folder: Path) -> None:
    trace = open_folder(folder)
    reader = CachingReader(trace.reader, BatchCache())
    assert type(pickle.loads(pickle.dumps(reader))) is type(trace.reader)
    assert reader.base_clock == trace.reader.base_clock


def test_all_waves_are_read_once_whoever_reads_them(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    plain_read = WaveFiles.columns

    def counted(self: WaveFiles, rows: list[int]) -> WaveColumns:
        read.extend(rows)
        return plain_read(self, rows)

    monkeypatch.setattr(WaveFiles, "columns", counted)
    cache = CaptureCache()
    trace = open_trace(folder, cache=cache)
    first, second = load_all(trace), load_all(open_trace(folder, cache=cache))
    assert sorted(read) == list(range(len(trace.waves)))
    assert [id(batch) for batch in first] == [id(batch) for batch in second]
    next(batches(trace, [0, 1, 2], lod=True))  # left early: nothing is kept
    assert [len(batch.waves) for batch in batches(trace, [0, 1, 2], lod=True)] == [3]
    assert len(read) == len(trace.waves) + 6
