"""Texts of sources of this machine: what is read of the disk, and what never is."""

from pathlib import Path

import orjson
import pytest

from rcv_py.base.problems import Problems
from rcv_py.formats.raw.files import SNAPSHOTS
from rcv_py.formats.uiout.local_sources import mapped, sources_of
from rcv_py.model.code import SourceFile


def one(folder: Path, path: str, *rules: tuple[str, str], names: frozenset[str] = frozenset()) -> SourceFile:
    (found,) = sources_of(folder, names, [path], rules, Problems())
    assert found.path == path
    return found


@pytest.mark.parametrize(
    ("path", "rules", "here"),
    [
        ("/build/src/a.hip", [("/build", "/home/me")], "/home/me/src/a.hip"),
        ("/build/src/a.hip", [("/build/", "/home/me/")], "/home/me/src/a.hip"),
        ("/builds/a.hip", [("/build", "/home/me")], "/builds/a.hip"),
        ("/build/a.hip", [("/other", "/x"), ("/build", "/y"), ("/build", "/z")], "/y/a.hip"),
        ("src/a.hip", [("", "/home/me/")], "/home/mesrc/a.hip"),
        ("C:\\work\\a.hip", [("C:\\work", "/home/me")], "/home/me\\a.hip"),
        ("/build", [("/build", "/home/me")], "/home/me"),
    ],
)
def test_rules_fit_whole_names_and_the_first_wins(path: str, rules: list[tuple[str, str]], here: str) -> None:
    assert mapped(path, rules) == here


def test_a_source_is_read_where_it_is_or_where_a_rule_says(tmp_path: Path) -> None:
    (tmp_path / "a.hip").write_text("one\ntwo\n")
    assert one(tmp_path, str(tmp_path / "a.hip")).lines == ("one", "two")
    assert one(tmp_path, "/build/a.hip", ("/build", str(tmp_path))).lines == ("one", "two")


def test_what_is_missing_is_one_problem_that_says_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "a.hip").write_text("one\n")
    problems = Problems()
    paths = [str(tmp_path / "a.hip"), "/nowhere/b.hip", "/nowhere/c.hip"]
    found = sources_of(tmp_path, frozenset(), paths, [], problems)
    assert [source.lines is None for source in found] == [False, True, True]
    (problem,) = problems
    assert "2 of 3 source files" in problem.text
    assert "/nowhere/b.hip" in problem.text
    assert "--source-map FROM=TO" in problem.hint


@pytest.mark.parametrize("name", ["passwd", "id_rsa", "notes.txt", "a.hip.key", "a.py/../secret"])
def test_what_is_not_named_as_a_source_is_never_read(tmp_path: Path, name: str) -> None:
    (tmp_path / Path(name).name).write_text("secret")
    found = one(tmp_path, str(tmp_path / name))
    assert found.lines is None


def test_a_link_that_is_named_as_a_source_leads_to_none(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "a.hip").symlink_to(tmp_path / "secret")
    found = one(tmp_path, str(tmp_path / "a.hip"))
    assert found.lines is None
    assert "outside of what may be read" in found.note


def test_nothing_outside_of_a_root_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    for folder in (tmp_path, tmp_path / "in"):
        (folder / "a.hip").write_text("one\n")
    monkeypatch.setenv("RCV_ROOT", str(tmp_path / "in"))
    assert one(tmp_path, str(tmp_path / "in" / "a.hip")).lines == ("one",)
    assert one(tmp_path, str(tmp_path / "a.hip")).lines is None


@pytest.mark.parametrize("path", ["a.hip", "../a.hip", "", "\0.hip", "/" + "x" * 5000 + ".hip", "/dev/.hip"])
def test_paths_of_strangers_are_answered(tmp_path: Path, path: str) -> None:
    found = one(tmp_path, path)
    assert found.lines is None
    assert found.note


def test_a_copy_beside_the_capture_goes_before_the_disk(tmp_path: Path) -> None:
    (tmp_path / "a.hip").write_text("now\n")
    (tmp_path / "source_0_a.hip").write_text("then\n")
    where = str(tmp_path / "a.hip")
    tree: dict[str, object] = {}
    at = tree
    parts = Path(where).parts
    for part in parts[:-1]:
        at = at.setdefault(part, {})  # type: ignore[assignment]
    at[parts[-1]] = "source_0_a.hip"
    (tmp_path / SNAPSHOTS).write_bytes(orjson.dumps(tree))
    assert one(tmp_path, where, names=frozenset([SNAPSHOTS])).lines == ("then",)
    (tmp_path / "source_0_a.hip").unlink()
    assert one(tmp_path, where, names=frozenset([SNAPSHOTS])).lines == ("now",)
