"""`rcv index`: the overview of a library."""

import json
import os
import shutil
from html.parser import HTMLParser
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from rcv_py.analysis.overview.library import ORDERS
from rcv_py.cli.main import main
from rcv_py.features.compare import library_result
from rcv_py.model.modes import LIBRARY_ORDERS
from rcv_py.results.field import ShownIn
from tests.features.health.test_command import apart
from tests.support import folders
from tests.support.command_runs import printed, printed_csv, printed_json, refused
from tests.support.command_runs import run as run_once
from tests.support.early_waves import SAMPLE, only, waves_of
from tests.support.plain_capture import plain
from tests.support.samples import sample_path, write_sample

TRACED = {"matmul": 0, "matmul_again": 1}  # two runs of a kernel, by the seeds that made them
HERE = ("--jobs", "0")  # processes find the same: `test_processes_find_the_same`


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of a kernel, samples, and captures whose code has lost its lines."""
    root = tmp_path_factory.mktemp("library")
    for name, seed in TRACED.items():
        write_sample("matmul_small", root / name, seed)
    write_sample("pc_sampling", root / "sampled")
    for name in ("gfx12", "reduction"):
        write_sample(name, root / name)
        code = root / name / "code.json"
        document = json.loads(code.read_text())
        for row in document["code"]:
            row[3] = ""
        code.write_text(json.dumps(document))
    return root


@pytest.fixture
def recorded(library: Path) -> list[Path]:
    """Thread traces of the library, all engines of which began at the same time."""
    return [library / name for name in TRACED]


@pytest.fixture
def rows(library: Path) -> dict[str, dict[str, Any]]:
    """What is told of each capture of the library, by the name of its folder."""
    told = json.loads(run_once("index", str(library), *HERE, "--json").out)["captures"]
    return {Path(row["path"]).name: row for row in told}


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Two captures of the same code, deep below, and one that cannot be opened."""
    folders.write(tmp_path / "a" / "first")
    folders.write(tmp_path / "b" / "c" / "d" / "e" / "deep")
    folders.write(tmp_path / "b" / "broken", dict.fromkeys(folders.GOOD, b"{") | {"filenames.json": b"7"})
    return tmp_path


def test_every_capture_is_there_once(library: Path) -> None:
    document = printed_json("index", library)
    rows = {Path(row["path"]): row for row in document["captures"]}
    assert len(document["captures"]) == len(rows)
    assert set(rows) == set(library.iterdir())
    traced = [folder for folder in rows if any(folder.glob("se*_wv*.json"))]
    for folder in traced:
        row, found = rows[folder], plain(folder)
        tokens = [token for wave in found.waves for token in wave.tokens]
        assert (row["waves"], row["hits"]) == (len(found.waves), len(tokens))
        assert row["latency"] == sum(token.duration for token in tokens)
        assert row["stall"] == sum(token.stall for token in tokens)
        instructions = [text for text, *_ in found.code if not str(text).startswith(";")]
        assert (row["executed"], row["instructions"]) == (len(found.by_line()), len(instructions))
        changes = sorted([(stay.begin, 1) for stay in found.stays] + [(stay.end, -1) for stay in found.stays])
        present = list(accumulate(change for _, change in changes))
        assert row["peak_waves"] == max(present)
        lives = sum(stay.end - stay.begin for stay in found.stays)
        assert row["mean_waves"] == pytest.approx(lives / (changes[-1][0] - changes[0][0]), abs=0.01)
    assert [row["path"] for row in printed_csv("index", library)] == [str(folder) for folder in rows]
    times = [row["duration_ns"] for row in document["captures"] if row["duration_ns"] is not None]
    assert len(times) == len(traced) == 4
    assert times == sorted(times, reverse=True)


def test_the_duration_is_that_of_the_record(recorded: list[Path], rows: dict[str, dict[str, Any]]) -> None:
    """From the first start to the last end of a wave, engine by engine moved to one clock: here all agree."""
    for folder in recorded:
        row = rows[folder.name]
        occupancy = printed_json("occupancy", folder)["rows"][0]
        assert row["duration"] == occupancy["end"] - occupancy["start"]
        assert row["duration_ns"] == pytest.approx(row["duration"] / 2.2, rel=0.2)
        limits = printed_json("occupancy", folder, "--limits")
        assert (row["waves_per_simd"], row["limiter"]) == (limits["waves_per_simd"], limits["binding"] or "")


def test_a_capture_without_a_source_line_is_not_healthy(rows: dict[str, dict[str, Any]]) -> None:
    unmapped = [row for row in rows.values() if row["mapped"] == 0]
    assert len(unmapped) == 2
    for row in unmapped:
        assert row["health"] == "No instruction has a source line"
    note = next(
        note for note in printed_json("check", unmapped[0]["path"])["notes"] if note["name"] == "debug_info"
    )
    assert "-g" in note["remedy"]
    assert "source line" in note["consequence"]


@pytest.mark.parametrize("damage", ["", "{"])
def test_lost_instructions_are_told(tmp_path: Path, damage: str) -> None:
    """The index is no kinder than `rcv check`, and a script finds the damaged file in each document."""
    for name in "ab":
        write_sample("matmul_small", tmp_path / name)
    lost = tmp_path / "b" / "code.json"
    lost.write_text(damage) if damage else lost.unlink()
    (said,) = printed_json("info", tmp_path / "b")["about"]["problems"]
    assert said.startswith("code.json is ")
    document = printed_json("index", tmp_path)
    rows = {row["capture"]: row for row in document["captures"]}
    assert rows["a"]["health"] == "healthy"
    worst = printed_json("check", tmp_path / "b")["notes"][0]
    assert (worst["severity"], rows["b"]["health"]) == ("error", worst["title"])
    assert rows["b"]["serious_notes"] == 1
    for about in (document["about"], printed_json("triage", tmp_path, "--no-predict")["about"]):
        assert f"b: {said}" in about["problems"]
        assert any(text.startswith("a: snapshots.json ") for text in about["problems"])


def test_findings_are_those_of_triage(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(sample_path("gfx12"), target_is_directory=True)
    row = printed_json("index", tmp_path, "--findings")["captures"][0]
    assert row["finding"] == printed_json("triage", tmp_path / "a")["headline"]
    assert printed_json("index", tmp_path)["captures"][0]["finding"] == ""
    early = only(waves_of(sample_path(SAMPLE), "early-exit"), tmp_path / "b" / "early")
    row = printed_json("index", early.parent, "--findings")["captures"][0]
    assert row["finding"].endswith("traced waves left early, so there is nothing to rank."), (
        "the first sentence"
    )


def test_what_is_not_known_is_null(mixed: Path) -> None:
    rows = {row["capture"]: row for row in printed_json("index", mixed)["captures"]}
    numbers = [name for name, value in rows["first"].items() if isinstance(value, int | float)]
    assert len(numbers) > 12
    assert all(rows["broken"][name] is None for name in numbers)


def test_replicates_are_named_with_their_noise(library: Path, rows: dict[str, dict[str, Any]]) -> None:
    (row,) = (row for row in rows.values() if row["replicate"])
    assert {row["capture"], row["replicate"]} == set(TRACED)
    first, second = library / row["replicate"], library / row["capture"]
    assert row["replicate_noise"] == pytest.approx(apart(first, second), abs=1e-4)


@pytest.mark.parametrize("order", LIBRARY_ORDERS)
def test_every_order(order: str, mixed: Path) -> None:
    assert set(LIBRARY_ORDERS) == set(ORDERS)
    rows = printed_csv("index", mixed, "--sort", order)
    assert {row["capture"] for row in rows} == {"first", "deep", "broken"}
    if order == "health":
        assert rows[0]["capture"] == "broken"


def test_a_capture_that_cannot_be_opened_says_why(mixed: Path) -> None:
    rows = {row["capture"]: row for row in printed_json("index", mixed)["captures"]}
    assert rows["broken"]["error"].endswith(".")
    assert not rows["first"]["error"]
    text = printed("index", mixed)
    assert "3 captures below" in text
    assert "1 of which cannot be opened" in text


def test_how_deep_and_how_many(mixed: Path) -> None:
    rows = printed_json("index", mixed, "--depth", 2)["captures"]
    assert {row["capture"] for row in rows} == {"first", "broken"}
    document = printed_json("index", mixed, "--limit", 1)
    assert (len(document["captures"]), document["left_out"]) == (1, 2)


def test_a_capture_is_a_library_of_one(mixed: Path) -> None:
    assert "1 capture below" in printed("index", mixed / "a" / "first")


def test_markdown_keeps_its_columns(mixed: Path) -> None:
    odd = mixed / "with | a bar"
    shutil.copytree(mixed / "a" / "first", odd)
    table = [line for line in printed("index", mixed, "--markdown").splitlines() if line.startswith("|")]
    assert len(table) == 2 + 4
    assert {line.replace("\\|", "").count("|") for line in table} == {
        len(library_result.LIBRARY.at(ShownIn.TEXT)) + 1
    }


class Cells(HTMLParser):
    """Counts cells by row; refuses what is left open and what would be fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not {"src", "href"} & {name for name, _ in attrs}
        if tag not in ("meta",):
            self.open.append(tag)
        if tag == "tr":
            self.rows.append(0)
        if tag in ("td", "th"):
            self.rows[-1] += 1

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_and_runs_no_text(mixed: Path) -> None:
    for name in ("<script>alert(1)", "<img src=x onerror=alert(1)>"):
        shutil.copytree(mixed / "a" / "first", mixed / name)
    text = printed("index", mixed, "--html")
    page = Cells()
    page.feed(text)
    assert not page.open
    assert page.rows == [len(library_result.LIBRARY.at(ShownIn.TEXT))] * 6
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "&lt;img" in text
    assert "://" not in text
    assert "\\<img" in printed("index", mixed, "--markdown")


def test_processes_find_the_same(library: Path, mixed: Path) -> None:
    """In each column of the table; one of the captures cannot be opened."""
    here, there = (printed("index", library, mixed, "--csv", "--jobs", jobs) for jobs in (0, 2))
    assert here == there
    assert "broken" in here


@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",), ("--markdown",), ("--html",)])
def test_a_file_holds_what_is_printed(form: tuple[str, ...], library: Path, tmp_path: Path) -> None:
    text = printed("index", library, *form)
    assert printed("index", library, *form, "--out", tmp_path / "out") == ""
    assert (tmp_path / "out").read_text(encoding="utf-8") == text


def test_a_file_that_cannot_be_written(library: Path) -> None:
    assert "cannot be written" in refused("index", library, "--out", library / "no" / "such" / "file")


def test_a_capture_in_which_nothing_ran_has_a_serious_note(tmp_path: Path) -> None:
    write_sample("placeholder", tmp_path / "placeholder")
    (row,) = printed_json("index", tmp_path)["captures"]
    assert row["serious_notes"] == 1


@pytest.mark.parametrize("command", ["index", "trend"])
def test_a_folder_that_may_not_be_read_is_named(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may read any, so the system call refuses it here."""
    write_sample("placeholder", tmp_path / "seen")
    closed = tmp_path / "closed"
    closed.mkdir()
    scandir = os.scandir

    def refusing(path: Any = ".") -> Any:
        if str(path) == str(closed):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    done = run_once(command, str(tmp_path), "--json", *HERE)
    said = f"{closed} may not be read."
    assert said in " ".join(done.err.split())
    document = json.loads(done.out)
    assert said in document["about"]["problems"]
    assert len(document["captures"]) == 1


def test_nothing_below_is_a_sentence(tmp_path: Path) -> None:
    assert "no capture lies up to 6 folders below it" in refused("index", tmp_path)
    assert main(["index", str(tmp_path / "none")]) == 2
