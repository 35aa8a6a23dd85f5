"""Finding captures below a folder."""

from pathlib import Path

import pytest

from rcv_py.base.errors import NotATrace
from rcv_py.cli import opening
from rcv_py.formats import locate as formats_locate
from rcv_py.formats import open as formats_open
from rcv_py.formats.input import files
from rcv_py.formats.locate import Located, locate
from rcv_py.formats.open import find_captures, open_trace
from rcv_py.formats.uiout import folder
from rcv_py.formats.uiout.folder import is_capture
from tests.support.samples import sample_path, write_sample

NAME = "gfx12"  # a small one


def test_a_folder_without_rights_is_no_capture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(folder.os, "stat", refuse)
    monkeypatch.setattr(folder.os, "scandir", refuse)
    assert not is_capture(tmp_path)


def test_depth_limits_how_far_captures_are_looked_for(tmp_path: Path) -> None:
    near, far = tmp_path / "near", tmp_path / "a" / "b" / "far"
    for place in (near, far):
        write_sample(NAME, place)
    assert [entry.path for entry in find_captures(tmp_path, depth=1)] == [near]
    assert [entry.path for entry in find_captures(tmp_path)] == [far, near]


def test_the_search_gives_up_in_a_huge_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats_locate, "MAX_FOLDERS", 3)
    for number in range(20):
        (tmp_path / f"{number}" / "inner").mkdir(parents=True)
    assert find_captures(tmp_path) == ()


def test_a_link_to_a_capture_is_one(tmp_path: Path) -> None:
    real = sample_path(NAME)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "mine").symlink_to(real, target_is_directory=True)
    assert [entry.path for entry in find_captures(tmp_path)] == [tmp_path / "runs" / "mine"]
    assert open_trace(tmp_path / "runs" / "mine").name == "mine"


def test_a_link_to_a_folder_of_captures_is_followed_once(tmp_path: Path) -> None:
    store, work = tmp_path / "store", tmp_path / "work"
    work.mkdir()
    for name in ("one", "two"):
        write_sample(NAME, store / name)
    (work / "all").symlink_to(store, target_is_directory=True)
    assert [entry.path for entry in find_captures(work)] == [work / "all" / "one", work / "all" / "two"]
    # Reached directly as well, each is listed once, by its own path.
    assert [entry.path for entry in find_captures(tmp_path)] == [store / "one", store / "two"]


def test_loops_of_links_end(tmp_path: Path) -> None:
    write_sample(NAME, tmp_path / "a" / "capture")
    (tmp_path / "a" / "up").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "a" / "self").symlink_to(tmp_path / "a" / "self")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "to_c").symlink_to(tmp_path / "c", target_is_directory=True)
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "to_b").symlink_to(tmp_path / "b", target_is_directory=True)
    assert [entry.path for entry in find_captures(tmp_path)] == [tmp_path / "a" / "capture"]


def test_a_server_follows_no_link_out_of_its_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "mine").symlink_to(sample_path(NAME), target_is_directory=True)
    assert len(find_captures(root)) == 1
    monkeypatch.setenv("RCV_ROOT", str(root))
    assert find_captures(root) == ()


def test_what_lies_at_a_path(tmp_path: Path) -> None:
    one = tmp_path / "one"
    write_sample(NAME, one)
    inside, empty = one / "code.json", tmp_path / "empty"
    empty.mkdir()
    assert locate(one) == locate(inside) == Located(one, is_capture=True)
    assert locate(tmp_path) == Located(tmp_path)
    assert locate(tmp_path).captures() == (one,)
    assert locate(tmp_path).capture() == one
    assert locate(empty).captures() == ()
    with pytest.raises(NotATrace, match="it is empty"):
        locate(empty).capture()
    missing = locate(tmp_path / "no")
    assert "there is no such file or folder" in str(missing.error)
    with pytest.raises(NotATrace, match="no such file"):
        missing.captures()


def test_listing_captures_reads_none_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        write_sample(NAME, tmp_path / name)

    def refuse(*_: object) -> None:
        raise AssertionError("a file is read")

    monkeypatch.setattr(files, "read_bytes", refuse)
    monkeypatch.setattr(formats_open, "read_code", refuse)
    assert opening.captures(tmp_path) == (tmp_path / "one", tmp_path / "two")


def test_opening_a_capture_looks_at_its_path_once(monkeypatch: pytest.MonkeyPatch) -> None:
    folder, looked = sample_path(NAME), []
    is_dir = Path.is_dir

    def counted(self: Path) -> bool:
        looked.append(self)
        return is_dir(self)

    monkeypatch.setattr(Path, "is_dir", counted)
    open_trace(folder)
    assert looked.count(folder) == 1
