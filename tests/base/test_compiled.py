"""Compiled functions: the same numbers whatever becomes of the machine code that is kept."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from rcv_py.base.machine import compiled
from tests.support.kernels import kept_kernels
from tests.support.limits import HANG_S
from tests.support.paths import ROOT

KERNEL = """
from rcv_py.base.machine.compiled import kernel, part

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
    if not compiled.IS_COMPILED:
        pytest.skip("numba is not installed")
    monkeypatch.setattr(compiled.numba_module().config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "platform", "linux")
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "kernels.py").write_text(KERNEL)
    compiled.cache_folder.cache_clear()
    yield tmp_path / "room"
    compiled.cache_folder.cache_clear()


def load(room: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("kernels", room / "kernels.py")
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
    assert len([name for name in kept if not name.endswith(".lock")]) == 2, kept
    assert list(room.rglob("*.nb?")) == []
    assert compiled.numba_module().config.CACHE_DIR == "", "others keep theirs where they did"


def test_kernels_that_threads_begin_together_keep_their_own_folders(room: Path, tmp_path: Path) -> None:
    """Numba reads its folder twice: between, another thread must not change it."""
    config = compiled.numba_module().config
    read: list[tuple[str, str, str]] = []

    class Code:
        def __init__(self, folder: Path) -> None:
            self.folder = folder

        def enable_caching(self) -> None:
            first = config.CACHE_DIR
            for _ in range(100):
                os.sched_yield()
            read.append((str(self.folder), first, config.CACHE_DIR))

    def keep(folder: Path) -> None:
        for _ in range(100):
            compiled._keep(Code(folder), folder)

    folders = [tmp_path / str(number) for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(keep, folders))
    assert [seen for seen in read if len(set(seen)) != 1] == []
    assert config.CACHE_DIR == ""


def test_a_thread_that_begins_meanwhile_keeps_machine_code(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other thread comes before the first has named the folder, and must name it itself."""
    doubled: Callable[[np.ndarray], None] = load(room).doubled
    keep, column, kept = compiled._keep, np.array([1, 2]), list[Path]()

    def keep_after_the_other(code: object, folder: Path) -> None:
        monkeypatch.setattr(compiled, "_keep", keep)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(doubled, column).result(HANG_S)
        kept.extend(folder.rglob("*.nbc"))
        keep(code, folder)

    monkeypatch.setattr(compiled, "_keep", keep_after_the_other)
    doubled(column)
    assert column.tolist() == [4, 8]
    assert len(kept) == 1


def test_of_processes_that_begin_together_one_compiles(room: Path) -> None:
    program = """
import numpy as np
from numba.core import event
made = []
event.register("numba:compile", type("Count", (event.Listener,), {
    "on_start": lambda self, one: made.append(one), "on_end": lambda self, one: None})())
import kernels
column = np.array([1, 2])
kernels.doubled(column)
print(column.tolist(), len(made))
"""
    known = {**os.environ, "PYTHONPATH": os.pathsep.join((str(room), str(ROOT))), "NUMBA_CACHE_DIR": ""}
    command = [sys.executable, "-c", program]
    runs = [subprocess.Popen(command, env=known, cwd=room, stdout=subprocess.PIPE, text=True) for _ in (1, 2)]
    said = sorted(run.communicate(timeout=HANG_S)[0] for run in runs)
    assert said[0] == "[2, 4] 0\n", "what the other kept"
    assert said[1].startswith("[2, 4] ")


def test_a_kernel_takes_columns_of_other_types_later(room: Path) -> None:
    doubled: Callable[[np.ndarray], None] = load(room).doubled
    for dtype in (np.int64, np.int32, np.int64):
        column = np.array([1, 3], dtype=dtype)
        doubled(column)
        assert column.tolist() == [2, 6]


def test_numba_is_left_as_it_was(room: Path) -> None:
    rule = compiled.numba_module().types.Function.get_call_type
    assert doubles(room)
    assert compiled.numba_module().types.Function.get_call_type is rule


def test_a_numba_that_cannot_be_imported_is_none(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "numba_module", lambda: None)
    assert doubles(room)
    assert not compiled.cache_folder(room).exists()


def test_few_numbers_need_no_compiler() -> None:
    program = """
import sys
import numpy as np
from functools import partial
from rcv_py.base.machine import compiled
def double(column):
    for row in range(len(column)):
        column[row] = 2 * column[row]
doubled = partial(compiled.kernel, begins_plain=True)(double)
column = np.array([1, 2])
doubled(column)
print(column.tolist(), "numba" in sys.modules)
compiled.FEW = 1
doubled(column)
print(column.tolist(), "numba" in sys.modules)
"""
    known = {**os.environ, "PYTHONPATH": str(ROOT)}
    said = subprocess.check_output([sys.executable, "-c", program], env=known, text=True, timeout=HANG_S)
    assert said.splitlines() == ["[2, 4] False", f"[4, 8] {compiled.IS_COMPILED}"]


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


def test_runs_of_tests_keep_machine_code_of_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = tmp_path / "rcv_py" / "room"
    room.mkdir(parents=True)
    (room / "kernels.py").write_text(KERNEL)
    (tmp_path / "rcv_py" / "other.py").write_text("")
    place = tmp_path / "kept"
    first = kept_kernels(place, tmp_path)
    (tmp_path / "rcv_py" / "other.py").write_text("nothing = 0")
    assert kept_kernels(place, tmp_path) == first
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    checked = kept_kernels(place, tmp_path)
    (room / "parts.py").write_text("nothing = 0")
    assert len({first, checked, kept_kernels(place, tmp_path)}) == 3
    assert len(list(place.iterdir())) == 1, "old ones are removed"
