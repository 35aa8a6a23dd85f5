"""Captures that are kept are opened once while their files stay the same, and take no more than allowed."""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rcv_py.formats.kept import KEPT, KeptCaptures, KeptReader, WaveMemory
from rcv_py.formats.open import open_trace
from rcv_py.formats.uiout.load import open_folder
from rcv_py.formats.uiout.waves import WaveFiles
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.work.load import batches, load_all
from tests.support.captures import ROOT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "sample_traces" / "matmul_tiled", tmp_path / "captures" / "a"))


def opener(folder: Path, opened: list[Path]) -> Callable[[], Trace]:
    def open_it() -> Trace:
        opened.append(folder)
        return open_folder(folder)

    return open_it


def test_nothing_is_kept_unless_asked_for(folder: Path) -> None:
    assert open_trace(folder) is not open_trace(folder)
    KEPT.start()
    try:
        assert open_trace(folder) is open_trace(folder)
    finally:
        KEPT.start(0)
    assert isinstance(open_trace(folder).reader, WaveFiles)


def test_a_capture_is_opened_once_until_a_file_changes(folder: Path) -> None:
    kept, opened = KeptCaptures(), []
    kept.start()
    first = kept.trace(folder, opener(folder, opened))
    assert kept.trace(folder, opener(folder, opened)) is first
    about = (folder / "code.json").stat()
    os.utime(folder / "code.json", ns=(about.st_atime_ns, about.st_mtime_ns + 1))
    assert kept.trace(folder, opener(folder, opened)) is not first
    (folder / "new.json").write_text("{}")
    kept.trace(folder, opener(folder, opened))
    kept.trace(folder, opener(folder, opened))
    assert len(opened) == 3


def test_the_oldest_goes_when_there_are_too_many(folder: Path) -> None:
    other = Path(shutil.copytree(folder, folder.parent / "b"))
    kept, opened = KeptCaptures(), []
    kept.start(captures=1)
    for path in (folder, other, other, folder):
        kept.trace(path, opener(path, opened))
    assert opened == [folder, other, folder]


def test_waves_are_read_once_and_within_bounds(folder: Path) -> None:
    trace = open_folder(folder)
    rows = list(range(8))
    largest = max(trace.reader.read([row]).nbytes for row in rows)
    memory = WaveMemory(limit=2 * largest)
    reader = KeptReader(trace.reader, memory)
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
    reader = KeptReader(trace.reader, WaveMemory())
    assert type(pickle.loads(pickle.dumps(reader))) is type(trace.reader)
    assert reader.base_clock == trace.reader.base_clock


def test_all_waves_are_read_once_whoever_reads_them(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    plain_read = WaveFiles.read

    def counted(self: WaveFiles, rows: list[int]) -> WaveBatch:
        read.extend(rows)
        return plain_read(self, rows)

    monkeypatch.setattr(WaveFiles, "read", counted)
    KEPT.start()
    try:
        trace = open_trace(folder)
        first, second = load_all(trace), load_all(open_trace(folder))
        assert sorted(read) == list(range(len(trace.waves)))
        assert [id(batch) for batch in first] == [id(batch) for batch in second]
        next(batches(trace, [0, 1, 2], lod=True))  # left early: nothing is kept
        assert [len(batch.waves) for batch in batches(trace, [0, 1, 2], lod=True)] == [3]
        assert len(read) == len(trace.waves) + 6
    finally:
        KEPT.start(0)
