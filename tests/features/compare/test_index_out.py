"""`rcv index` finds, ranks and writes; `rcv check --strict` answers with its exit code."""

import csv
import json
from pathlib import Path

import pytest

from rcv_py.cli.main import main
from tests.support.command_runs import refused
from tests.support.samples import write_sample


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("library")
    for place in ("a/matmul_small", "b/deep/matmul_small", "placeholder", "pc_sampling"):
        write_sample(place.rsplit("/", 1)[-1], root / place)
    (root / "broken").mkdir()
    (root / "broken" / "filenames.json").write_text("{")
    return root


def index(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    code = main(["index", *map(str, words)])
    output = capsys.readouterr()
    assert (code, output.err) == (0, "")
    return output.out


def test_all_captures_with_their_replicates(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(index(capsys, library, "--json"))
    rows = {Path(row["path"]).relative_to(library).as_posix(): row for row in document["captures"]}
    assert set(rows) == {
        "a/matmul_small", "b/deep/matmul_small", "placeholder", "pc_sampling", "broken",
    }  # fmt: skip
    times = [row["duration_ns"] for row in document["captures"] if row["duration_ns"] is not None]
    assert len(times) > 1
    assert times == sorted(times, reverse=True)
    replicates = rows["a/matmul_small"], rows["b/deep/matmul_small"]
    assert sum(bool(row["replicate"]) for row in replicates) == 1
    assert max(row["replicate_noise"] or 0 for row in replicates) == 0
    assert rows["broken"]["error"]
    assert rows["placeholder"]["serious_notes"] == 1


def test_processes_find_the_same(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert index(capsys, library, "--csv", "--jobs", 2) == index(capsys, library, "--csv", "--jobs", 0)


@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",), ("--markdown",), ("--html",)])
def test_a_file_holds_what_is_printed(
    form: tuple[str, ...], library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = index(capsys, library, *form)
    assert index(capsys, library, *form, "--out", tmp_path / "out") == ""
    assert (tmp_path / "out").read_text(encoding="utf-8") == printed


def test_a_file_that_cannot_be_written(library: Path) -> None:
    assert "cannot be written" in refused("index", library, "--out", library / "no" / "such" / "file")


def test_the_page_runs_no_text_of_a_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_sample("matmul_small", tmp_path / "<img src=x onerror=alert(1)>")
    page = index(capsys, tmp_path, "--html")
    assert "<img" not in page
    assert "&lt;img" in page
    assert "://" not in page
    assert "\\<img" in index(capsys, tmp_path, "--markdown")


def test_a_spreadsheet_has_the_longest_first(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(csv.DictReader(index(capsys, library, "--csv").splitlines()))
    times = [float(row["duration_ns"]) for row in rows if row["duration_ns"]]
    assert len(times) == 3
    assert times == sorted(times, reverse=True)
    assert rows[0]["kernel"] == "matmul_tiled"
    assert [row["capture"] for row in rows if row["error"]] == ["broken"]


@pytest.mark.parametrize(("name", "code"), [("placeholder", 4), ("pc_sampling", 0)])
def test_strict(name: str, code: int, library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(library / name)]) == 0
    assert main(["check", str(library / name), "--strict"]) == code
    assert main(["check", str(library / name), "--strict", "--json"]) == code
    capsys.readouterr()
