"""What the commands print about real captures, against sums made with plain json."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rcv_py.cli.main import main
from tests.support import captures
from tests.support.command_runs import CACHE

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = {"hits": 6, "latency": 7, "stall": 8, "idle": 9}


def run(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What a command that works prints."""
    code = main([str(word) for word in words], CACHE)
    output = capsys.readouterr()
    assert (code, output.err) == (0, "")
    return output.out


def rows_of(name: str) -> list[list[Any]]:
    """The instructions of code.json."""
    rows = json.loads((captures.trace_path(name) / "code.json").read_text())["code"]
    return [row for row in rows if not row[0].lstrip().startswith((";", "label"))]


@pytest.mark.parametrize("name", captures.THREAD_TRACES)
def test_info_counts_what_is_in_the_files(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    facts = json.loads(run(capsys, "info", captures.trace_path(name), "--json"))
    rows = rows_of(name)
    assert facts["schema"] == "rcv.info/2"
    assert facts["code"]["instructions"] == len(rows)
    assert facts["code"]["executed"] == sum(row[6] > 0 for row in rows)
    assert facts["source"]["mapped"] == sum(":" in (row[3] or "") for row in rows)
    for column, place in COLUMNS.items():
        assert facts["code"][column] == sum(row[place] for row in rows)
    files = [path for path in captures.trace_path(name).iterdir() if path.name.startswith("se")]
    assert facts["waves"]["count"] == len(files)
    assert facts["waves"]["bytes"] == sum(path.stat().st_size for path in files)


@pytest.mark.parametrize("name", captures.TRACES)
def test_every_command_reads_every_capture(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = captures.trace_path(name)
    text = run(capsys, "info", folder)
    assert folder.name in text
    assert "\x1b" not in text
    for by in ("instruction", "source", "kind"):
        assert run(capsys, "hotspot", folder, "--by", by)


@pytest.mark.parametrize("name", ["pa_mqa_small", "flash_attn_small_after", "vec_add"])
@pytest.mark.parametrize("column", list(COLUMNS))
def test_hotspot_by_line_is_code_json_sorted(
    name: str, column: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = run(capsys, "hotspot", captures.trace_path(name), "--sort", column, "--top", "0", "--json")
    document = json.loads(text)
    place = COLUMNS[column]
    expected = sorted((row for row in rows_of(name) if row[place]), key=lambda row: (-row[place], row[2]))
    assert document["schema"] == "rcv.hotspot/2"
    assert [(row["instruction"], row[column], row["text"]) for row in document["rows"]] == [
        (row[2], row[place], row[0]) for row in expected
    ]
    assert document["totals"] == {key: sum(row[i] for row in rows_of(name)) for key, i in COLUMNS.items()}
    assert sum(row["share_of_total"] for row in document["rows"]) == pytest.approx(1, abs=1e-3)


def test_hotspot_by_source_adds_up_the_innermost_places(capsys: pytest.CaptureFixture[str]) -> None:
    name = "flash_attn_small_after"
    text = run(capsys, "hotspot", captures.trace_path(name), "--by", "source", "--top", "0", "--csv")
    found = {row["name"]: row for row in csv.DictReader(io.StringIO(text))}
    expected: dict[str, list[int]] = {}
    for row in rows_of(name):
        sums = expected.setdefault(row[3].split(" -> ")[0], [0, 0, 0, 0])
        for i, place in enumerate(COLUMNS.values()):
            sums[i] += row[place]
    for source, sums in expected.items():
        assert not sums[1] or [int(found[source][column]) for column in COLUMNS] == sums


def test_hotspot_by_kind_loses_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(
        run(capsys, "hotspot", captures.trace_path("pa_mqa_big"), "--by", "kind", "--top", "0", "--json")
    )
    assert sum(row["latency"] for row in document["rows"]) == document["totals"]["latency"]
    assert "MATRIX" in [row["name"] for row in document["rows"]]


def test_samples_are_ranked_where_there_are_no_cycles(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(run(capsys, "hotspot", captures.trace_path("pcsampling"), "--json"))
    assert document["measure"] == "PC samples"
    assert document["totals"]["latency"] == 1306 + 3384
    assert document["totals"]["stall"] == 3384
    assert "4,690" in run(capsys, "info", captures.trace_path("pcsampling"))


def test_a_folder_of_captures_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    root = captures.trace_path("pa_mqa_small").parents[1]
    document = json.loads(run(capsys, "info", root, "--json"))
    assert document["schema"] == "rcv.captures/2"
    by_path = {entry["path"]: entry for entry in document["captures"]}
    for name in captures.THREAD_TRACES:
        entry, rows = by_path[str(captures.trace_path(name))], rows_of(name)
        assert (entry["instructions"], entry["hits"], entry["latency"]) == (
            len(rows),
            sum(row[6] for row in rows),
            sum(row[7] for row in rows),
        )
    lines = run(capsys, "info", root).splitlines()
    assert len(lines) == 1 + len(document["captures"])
    assert len({line.index("kernel") for line in lines[:1]}) == 1


def test_check_reads_all_waves_and_finds_real_captures_sound(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, "info", captures.trace_path("mla_decode"), "--check")
    assert "could not" not in text
    assert "disagree" not in text
    clean = json.loads(run(capsys, "info", captures.trace_path("pa_mqa_big"), "--check", "--json"))
    assert {problem["severity"] for problem in clean["problems"]} <= {"info"}


def test_the_same_command_prints_the_same_twice(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("hotspot", captures.trace_path("vec_add"), "--by", "source")
    assert run(capsys, *words) == run(capsys, *words)


def test_a_table_fits_the_screen(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    text = run(capsys, "hotspot", captures.trace_path("flash_attn_small_after"))
    assert max(map(len, text.splitlines())) <= 100


def test_a_file_inside_a_capture_opens_it(capsys: pytest.CaptureFixture[str]) -> None:
    folder = captures.trace_path("pa_mqa_small")
    assert run(capsys, "info", folder / "code.json") == run(capsys, "info", folder)


# -- what the user can put right --------------------------------------------------------------------


def fails(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """The complaint of a command that ends with 2: no traceback, nothing on standard output."""
    assert main([str(word) for word in words]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "Traceback" not in output.err
    return output.err


@pytest.mark.parametrize("command", ["info", "hotspot"])
def test_paths_that_are_no_capture(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.txt").write_text("hello")
    assert "no such file or folder" in fails(capsys, command, tmp_path / "missing")
    assert "not a decoded thread trace" in fails(capsys, command, tmp_path)
    assert str(tmp_path) in fails(capsys, command, tmp_path / "text.txt")


def test_several_captures_where_one_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    root = captures.trace_path("pa_mqa_small").parents[1]
    assert "captures, and one is needed" in fails(capsys, "hotspot", root)


def test_the_only_capture_below_a_folder_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    folder = captures.trace_path("pa_mqa_small")
    assert run(capsys, "hotspot", folder.parent) == run(capsys, "hotspot", folder)


@pytest.mark.parametrize("content", ["", "{", "[]", "\x00\xff"])
def test_a_damaged_capture_never_ends_in_a_traceback(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = captures.trace_path("pa_mqa_small")
    for broken in ("code.json", "occupancy.json", "realtime.json", "se1_sm0_sl0_wv0.json"):
        folder = tmp_path / f"ui_output_{broken}"
        folder.mkdir()
        for path in source.iterdir():
            (folder / path.name).write_bytes(
                content.encode("latin-1") if path.name == broken else path.read_bytes()
            )
        assert main(["info", str(folder), "--check"]) in (0, 2)
        output = capsys.readouterr()
        assert broken in output.out + output.err
        assert "Traceback" not in output.err


# -- start ------------------------------------------------------------------------------------------


def test_commands_run_where_qt_is_not_installed() -> None:
    folder = captures.trace_path("pa_mqa_small")
    code = (
        "import sys\n"
        "for name in ('PySide6', 'pyqtgraph', 'shiboken6'): sys.modules[name] = None\n"
        "from rcv_py.cli.main import main\n"
        f"assert main(['info', {str(folder)!r}]) == 0\n"
        f"assert main(['hotspot', {str(folder)!r}]) == 0\n"
        "loaded = [name for name in sys.modules if name.startswith('rcv_py.ui')]\n"
        "assert not loaded, loaded\n"
    )
    environment = {**os.environ, "QT_QPA_PLATFORM": ""}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr


def test_info_loads_nothing_of_numpy_or_python_that_it_does_not_need() -> None:
    code = (
        "import sys\n"
        "from rcv_py.cli.main import main\n"
        "assert main(['info', 'sample_traces/matmul_tiled']) == 0\n"
        "slow = {'numpy.ma', 'numpy.random', 'hashlib', 'difflib', 'pygments', 'regex'} & set(sys.modules)\n"
        "assert not slow, slow\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_command_loads_only_what_it_needs() -> None:
    code = (
        "import sys\n"
        "from rcv_py.cli.main import main\n"
        "import rcv_py.cli.commands.hotspot\n"
        "slow = {'pygments', 'multiprocessing.pool', 'concurrent.futures.process'} & set(sys.modules)\n"
        "assert not slow, slow\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
