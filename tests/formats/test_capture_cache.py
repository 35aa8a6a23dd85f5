"""Captures that are kept are opened once while their files stay the same, and take no more than allowed."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rcv_py.formats.capture_cache import CaptureCache
from rcv_py.formats.open import open_trace
from rcv_py.formats.uiout.load import open_folder
from rcv_py.formats.uiout.waves import WaveFiles
from rcv_py.model.trace import Trace
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
