"""What the commands print about captures, against sums made with plain json."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_runs import printed, printed_json, refused
from tests.support.fixtures import fixture_of_each
from tests.support.opened import VARIED
from tests.support.programs import finished
from tests.support.samples import sample_path, write_sample

COLUMNS = {"hits": 6, "latency": 7, "stall": 8, "idle": 9}


def rows_of(folder: Path) -> list[list[Any]]:
    """The instructions of code.json."""
    rows = json.loads((folder / "code.json").read_text())["code"]
    return [row for row in rows if not row[0].lstrip().startswith((";", "label"))]


traced = fixture_of_each(sample_path, VARIED)  # A thread trace
# A capture of any kind
capture = fixture_of_each(sample_path, [*VARIED, "pc_sampling", "placeholder", "packed", "events"])
# A thread trace whose instructions are ranked
ranked = fixture_of_each(sample_path, ["matmul_small", "kernels", "gfx12"])


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of captures."""
    folder = tmp_path_factory.mktemp("library")
    for name in ("gfx11", "matmul_small", "reduction"):
        write_sample(name, folder / name)
    return folder


def test_info_counts_what_is_in_the_files(traced: Path) -> None:
    facts = printed_json("info", traced)
    rows = rows_of(traced)
    assert facts["schema"] == "rcv.info/2"
    assert facts["code"]["instructions"] == len(rows)
    assert facts["code"]["executed"] == sum(row[6] > 0 for row in rows)
    assert facts["source"]["mapped"] == sum(":" in (row[3] or "") for row in rows)
    for column, place in COLUMNS.items():
        assert facts["code"][column] == sum(row[place] for row in rows)
    files = [path for path in traced.iterdir() if path.name.startswith("se") and "_wv" in path.name]
    assert facts["waves"]["count"] == len(files)
    assert facts["waves"]["bytes"] == sum(path.stat().st_size for path in files)


def test_every_command_reads_every_capture(capture: Path) -> None:
    text = printed("info", capture)
    assert capture.name in text.splitlines()[0]
    assert "\x1b" not in text
    for by in ("instruction", "source", "kind"):
        assert printed("hotspot", capture, "--by", by)


@pytest.mark.parametrize("column", list(COLUMNS))
def test_hotspot_by_line_is_code_json_sorted(ranked: Path, column: str) -> None:
    text = printed("hotspot", ranked, "--sort", column, "--top", "0", "--json")
    document = json.loads(text)
    place, rows = COLUMNS[column], rows_of(ranked)
    expected = sorted((row for row in rows if row[place]), key=lambda row: (-row[place], row[2]))
    assert document["schema"] == "rcv.hotspot/2"
    assert [(row["instruction"], row[column], row["text"]) for row in document["rows"]] == [
        (row[2], row[place], row[0]) for row in expected
    ]
    assert document["totals"] == {key: sum(row[i] for row in rows) for key, i in COLUMNS.items()}
    assert sum(row["share_of_total"] for row in document["rows"]) == pytest.approx(1, abs=1e-3)


def test_a_folder_of_captures_is_listed(library: Path) -> None:
    document = printed_json("info", library)
    assert document["schema"] == "rcv.captures/2"
    folders = {path.parent for path in library.rglob("code.json")}
    assert sorted(entry["path"] for entry in document["captures"]) == sorted(map(str, folders))
    traced = [entry for entry in document["captures"] if any(Path(entry["path"]).glob("se*_wv*.json"))]
    assert len(traced) > 2
    for entry in traced:
        rows = rows_of(Path(entry["path"]))
        assert entry["instructions"] == len(rows)
        assert entry["hits"] == sum(row[6] for row in rows)
        assert entry["latency"] == sum(row[7] for row in rows)
    lines = printed("info", library).splitlines()
    assert len(lines) == 1 + len(document["captures"])
    assert len({line.index("kernel") for line in lines[:1]}) == 1


def test_a_table_fits_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    text = printed("hotspot", sample_path("matmul_small"))
    assert max(map(len, text.splitlines())) <= 100


def test_a_file_inside_a_capture_opens_it() -> None:
    folder = sample_path("gfx12")
    assert printed("info", folder / "code.json") == printed("info", folder)


# -- what the user can put right --------------------------------------------------------------------


def test_several_captures_where_one_is_needed(library: Path) -> None:
    assert "captures, and one is needed" in refused("hotspot", library)


def test_the_only_capture_below_a_folder_is_taken(tmp_path: Path) -> None:
    write_sample("gfx12", tmp_path / "only")
    assert printed("hotspot", tmp_path) == printed("hotspot", tmp_path / "only")


# -- start ------------------------------------------------------------------------------------------


def test_info_loads_nothing_of_numpy_or_python_that_it_does_not_need() -> None:
    code = (
        "import sys\n"
        "from rcv_py.cli.main import main\n"
        "assert main(['info', 'sample_traces/matmul_tiled']) == 0\n"
        "slow = {'numpy.ma', 'numpy.random', 'hashlib', 'difflib', 'pygments', 'regex'} & set(sys.modules)\n"
        "assert not slow, slow\n"
    )
    done = finished([sys.executable, "-c", code])
    assert done.returncode == 0, done.stderr


def test_a_command_loads_only_what_it_needs() -> None:
    code = (
        "import sys\n"
        "from rcv_py.cli.main import main\n"
        "import rcv_py.features.hotspot.command\n"
        "slow = {'pygments', 'multiprocessing.pool', 'concurrent.futures.process'} & set(sys.modules)\n"
        "assert not slow, slow\n"
    )
    done = finished([sys.executable, "-c", code])
    assert done.returncode == 0, done.stderr
