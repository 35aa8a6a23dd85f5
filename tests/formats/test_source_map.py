"""Sources that a capture has no copy of are found by rules for their paths."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from rcv_py.base.problems import Problems
from rcv_py.cli.main import main
from rcv_py.formats.open import open_trace
from rcv_py.formats.raw.options import RawOptions
from rcv_py.formats.uiout.local_sources import (
    located,
    mapped,
    missing_files,
    on_disk,
    rule_for,
    rules_of,
    text_of,
)
from rcv_py.model.code import SourceFile
from tests.support.whole_capture import capture, wave, write

LOST = "/build/tree/src/kernels/scale.hip"
OTHER = "/elsewhere/other.hip"


@pytest.mark.parametrize(
    ("path", "chosen", "rule"),
    [
        (LOST, "src/kernels/scale.hip", ("/build/tree", "")),
        (LOST, "other/scale.hip", ("/build/tree/src/kernels", "other")),
        (LOST, "other/renamed.hip", (LOST, "other/renamed.hip")),
        (LOST, ".", ("/build/tree", "")),  # the checkout
        (LOST, "src", ("/build/tree/src", "src")),
        (LOST, "src/kernels", ("/build/tree/src/kernels", "src/kernels")),
        (r"C:\build\src\kernels\scale.hip", "src/kernels/scale.hip", (r"C:\build", "")),
    ],
)
def test_the_rule_of_what_was_chosen(tmp_path: Path, path: str, chosen: str, rule: tuple[str, str]) -> None:
    for name in ("src/kernels/scale.hip", "other/scale.hip", "other/renamed.hip"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    found = rule_for(path, tmp_path / chosen)
    assert found == (rule[0], str(tmp_path / rule[1]))
    assert rules_of(text_of([found])) == (found,)


def test_a_rule_leads_to_what_was_chosen(tmp_path: Path) -> None:
    chosen = tmp_path / "src" / "kernels" / "scale.hip"
    rule = rule_for(LOST, chosen)
    assert rule is not None
    assert mapped(LOST, [rule]) == str(chosen)


def test_a_folder_without_the_file_has_no_rule(tmp_path: Path) -> None:
    assert rule_for(LOST, tmp_path) is None


def test_what_is_no_rule_is_left_out() -> None:
    assert rules_of("/a=/b; nonsense;; =/c ;/d = /e") == (("/a", "/b"), ("/d", "/e"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A decoded capture of two sources, without copies."""
    made = capture({(0, 0, 0, 0): wave(1000)})
    rows = made["code.json"]["code"]
    for at, row in enumerate(rows):
        row[3] = f"{LOST if at % 2 else OTHER}:1"
    write(tmp_path / "capture", made)
    here = tmp_path / "here" / "src" / "kernels" / "scale.hip"
    here.parent.mkdir(parents=True)
    here.write_text("first line\n")
    return tmp_path


def test_sources_of_a_decoded_folder_are_found(folder: Path) -> None:
    bare = open_trace(folder / "capture")
    assert {source.path: source.lines for source in bare.sources} == {LOST: None, OTHER: None}
    rules = (("/build/tree", str(folder / "here")),)
    found = open_trace(folder / "capture", options=RawOptions(source_map=rules))
    texts = {source.path: source.lines for source in found.sources}
    assert texts == {LOST: ("first line",), OTHER: None}
    (said,) = (one.text for one in found.problems if "no copy of" in one.text)
    assert said == "snapshots.json has no copy of 1 of 2 source files, such as /elsewhere/other.hip."
    assert located(bare, rules).sources == found.sources


def test_without_a_rule_that_fits_nothing_changes(folder: Path) -> None:
    bare = open_trace(folder / "capture")
    assert located(bare, (("/somewhere", "/else"),)) is bare


def test_when_all_are_found_nothing_is_missing(folder: Path) -> None:
    bare = open_trace(folder / "capture")
    bare = replace(bare, sources=bare.sources, problems=tuple(Problems(missing_files(bare.sources))))
    here = str(folder / "here" / "src" / "kernels")
    rules = (("/build/tree/src/kernels", here), (OTHER, f"{here}/scale.hip"))
    assert located(bare, rules).problems == ()


def test_other_files_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("x")
    source = SourceFile("/build/secret.txt", None)
    assert missing_files([source])

    assert on_disk(source.path, (("/build", str(tmp_path)),)).lines is None


def test_a_folder_that_is_typed_counts_from_where_one_stands(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    assert main(["source", "capture", f"{LOST}:1", "--source-map", "/build/tree=here"]) == 0
    assert "first line" in capsys.readouterr().out
