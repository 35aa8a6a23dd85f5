"""Compiled functions: the same numbers whatever becomes of the machine code that is kept."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from rcv_py.base import compiled

KERNEL = """
from rcv_py.base.compiled import kernel, part

@part
def twice(number):
    return 2 * number

@kernel
def doubled(column):
    for row in range(len(column)):
        column[row] = twice(column[row])
"""


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a kernel; the user's cache folder lies beside it."""
    if compiled.NUMBA is None:
        pytest.skip("numba is not installed")
    monkeypatch.setattr(compiled.NUMBA.config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "platform", "linux")
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "kernels.py").write_text(KERNEL)
    compiled.cache_folder.cache_clear()
    yield tmp_path / "room"
    compiled.cache_folder.cache_clear()


def load(room: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("kernels", room / "kernels.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def doubles(room: Path) -> bool:
    column = np.array([1, 2, 1 << 40])
    function: Callable[[np.ndarray], None] = load(room).doubled
    function(column)
    return column.tolist() == [2, 4, 1 << 41]


def test_machine_code_is_kept_in_the_users_folder_and_nowhere_else(room: Path) -> None:
    assert doubles(room)
    kept = [path.name for path in compiled.cache_folder(room).rglob("*") if path.is_file()]
    assert len(kept) == 2, kept
    assert list(room.rglob("*.nb?")) == []
    assert compiled.NUMBA is not None
    assert compiled.NUMBA.config.CACHE_DIR == "", "others keep theirs where they did"


def test_other_sources_have_another_folder(room: Path) -> None:
    before = compiled.cache_folder(room)
    compiled.cache_folder.cache_clear()
    (room / "parts.py").write_text("more = 1")
    assert compiled.cache_folder(room) != before


@pytest.mark.parametrize("rest", [b"", b"\0", b"\x80\x04nonsense"])
def test_what_was_kept_may_be_cut(room: Path, rest: bytes) -> None:
    assert doubles(room)
    for path in compiled.cache_folder(room).rglob("*.nb?"):
        path.write_bytes(rest)
    assert doubles(room)


def test_a_folder_that_cannot_be_written_costs_time_alone(room: Path) -> None:
    (room.parent / "cache").write_text("a file")
    assert doubles(room)


def test_a_full_disk_costs_time_alone(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core import caching

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "save", full)
    assert doubles(room)


def test_without_numba_columns_are_seen_as_memory() -> None:
    seen: list[object] = []
    compiled._plain(lambda column, number: seen.extend((column, number)))(np.arange(3, dtype=np.int8), 7)
    assert isinstance(seen[0], memoryview)
    assert (seen[0].tolist(), seen[1]) == ([0, 1, 2], 7)
