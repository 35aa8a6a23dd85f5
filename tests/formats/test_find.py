"""Finding captures below a folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rcv_py.formats import open as formats_open
from rcv_py.formats.open import find_captures, is_capture
from rcv_py.formats.uiout import folder
from tests.support.captures import trace_path


def test_a_folder_that_may_not_be_looked_into_is_no_capture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(folder.os, "stat", refuse)
    monkeypatch.setattr(folder.os, "scandir", refuse)
    assert not is_capture(tmp_path)


def test_depth_limits_how_far_captures_are_looked_for(tmp_path: Path) -> None:
    near, far = tmp_path / "near", tmp_path / "a" / "b" / "far"
    for place in (near, far):
        shutil.copytree(trace_path("pa_mqa_small"), place)
    assert [entry.path for entry in find_captures(tmp_path, depth=1)] == [near]
    assert [entry.path for entry in find_captures(tmp_path)] == [far, near]


def test_the_search_gives_up_in_a_huge_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats_open, "MAX_FOLDERS", 3)
    for number in range(20):
        (tmp_path / f"{number}" / "inner").mkdir(parents=True)
    assert find_captures(tmp_path) == ()
