"""`rcv export` and `rcv report` as a user types them."""

import gzip
import io
import json
import os
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest

from rcv_py.base.progress import Stage
from rcv_py.cli.commands import report as report_command
from rcv_py.cli.main import main
from rcv_py.cli.terminal import progress
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.formats.open import open_trace
from rcv_py.work import load
from rcv_py.work.reduce import Reducer
from tests.export.perfetto_reader import read
from tests.support.plain_capture import plain
from tests.support.programs import Terminal
from tests.support.samples import sample_path, write_sample

NAME = "matmul_small"


@pytest.fixture
def empty(tmp_path: Path) -> list[Path]:
    """Two captures in which nothing ran: for tests in which any report will do."""
    folders = [tmp_path / "captures" / name for name in ("one", "two")]
    for folder in folders:
        write_sample("placeholder", folder)
    return folders


def run(*words: object) -> int:
    return main([str(word) for word in words])


def test_perfetto_plain_packed_and_some_waves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = sample_path(NAME)
    unpacked, packed = tmp_path / "a.pftrace", tmp_path / "a.pftrace.gz"
    assert run("export", folder, "--to", "perfetto", "--out", unpacked) == 0
    assert run("export", folder, "--to", "perfetto", "--out", packed) == 0
    assert gzip.decompress(packed.read_bytes()) == unpacked.read_bytes()
    wave = str(open_trace(folder).waves.id(5))
    assert run("export", folder, "--to", "perfetto", "--out", unpacked, "--waves", wave, "--cycles") == 0
    threads = [
        one.thread.thread_name
        for one in read(unpacked.read_bytes()).tracks.values()
        if one.HasField("thread")
    ]
    assert threads == [wave]
    (tokens,) = (len(one.tokens) for one in plain(folder).waves if one.name == wave)
    assert f"1 wave, {tokens} instructions" in capsys.readouterr().out


def test_speedscope_and_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = sample_path(NAME)
    waves = [str(open_trace(folder).waves.id(row)) for row in (0, 3)]
    assert run("export", folder, "--to", "speedscope", "--out", tmp_path / "s.json", "--waves", *waves) == 0
    profiles = json.loads((tmp_path / "s.json").read_text())["profiles"]
    assert [one["name"].split(",")[0] for one in profiles[-2:]] == waves
    assert run("export", folder, "--to", "csv", "--out", tmp_path / "t") == 0
    assert len(list((tmp_path / "t").iterdir())) == 8
    assert run("export", folder, "--to", "parquet", "--table", "waves", "--out", tmp_path / "w.parquet") == 0
    assert f"waves {len(plain(folder).waves)} rows" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--to", "perfetto", "--table", "code"), "has no tables"),
        (("--to", "csv", "--cycles"), "are cycles anyway"),
        (("--to", "perfetto", "--waves", "se9/simd9/slot9/wv9"), "has no wave"),
        (("--to", "perfetto", "--waves", "first"), "does not name a wave"),
    ],
)
def test_what_cannot_be_is_a_sentence(
    words: tuple[str, ...], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "x"
    assert run("export", sample_path(NAME), *words, "--out", out) == 2
    assert says in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_reports_of_several_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [tmp_path / "in" / name for name in ("one", "two")]
    for folder, name in zip(folders, ("reduction", "gfx12"), strict=True):
        write_sample(name, folder)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "filenames.json").write_text("{")
    out = tmp_path / "out"
    words = ("report", *folders, tmp_path / "broken", "--out-dir", out, "--format", "md", "--jobs", 2)
    assert run(*words) == 2, "one of three cannot be read"
    text = capsys.readouterr()
    written = [out / f"{folder.name}.md" for folder in folders]
    assert sorted(out.iterdir()) == sorted([*written, out / "index.md"])
    assert "filenames.json is damaged" in text.err
    assert text.err.count(str(tmp_path / "broken")) == 1
    assert "Traceback" not in text.err
    assert set(text.out.splitlines()) == {str(path) for path in [*written, out / "index.md"]}
    index = (out / "index.md").read_text()
    for folder, name in zip(folders, ("reduce", "matmul_wmma"), strict=True):
        assert f"(./{folder.name}.md)" in index
        assert name in index
    assert "filenames.json is damaged" in index
    assert run("report", *folders, "--out", tmp_path / "one.html") == 2
    assert "--out names one file" in capsys.readouterr().err
    assert run("report", folders[0], "--out", tmp_path / "one.pdf") == 2
    assert "kind of report" in capsys.readouterr().err


def test_only_ours_is_replaced(empty: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    out.mkdir()
    words = ("report", *empty, "--out-dir", out, "--format", "html", "--jobs", 1)
    (out / "index.html").write_text("<p>my own page</p>")
    assert run(*words) == 2
    assert "was not written by rcv" in capsys.readouterr().err
    assert [path.name for path in out.iterdir()] == ["index.html"]
    (out / "index.html").unlink()
    assert run(*words) == run(*words) == 0


def test_a_bug_in_one_report_does_not_cost_the_others(
    empty: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = empty
    page = report_command.files.report_page

    def sometimes(inputs: ReportInputs, ending: str, **more: object) -> bytes:
        if inputs.trace.name == bad.name:
            raise ZeroDivisionError("by nothing")
        return page(inputs, ending, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(report_command.files, "report_page", sometimes)
    assert run("report", bad, good, "--out-dir", tmp_path / "out", "--jobs", 1) == 1
    text = capsys.readouterr()
    assert "ZeroDivisionError" in text.err
    assert "this is a bug" in text.err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["index.html", f"{good.name}.html"]


def test_the_processes_of_a_report_end_before_remedies_are_replayed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    alive: list[int] = []
    predicted, ended = report_command.with_predictions, Reducer.end_processes

    def noted(*given: Any, **named: Any) -> Any:
        alive.append(len(active_children()))
        return predicted(*given, **named)

    def first(reducer: Reducer) -> None:
        alive.append(len(active_children()))
        ended(reducer)

    monkeypatch.setattr(load, "IN_PROCESS_BYTES", 0)
    monkeypatch.setattr(report_command, "with_predictions", noted)
    monkeypatch.setattr(Reducer, "end_processes", first)
    made = report_command.made(sample_path("matmul_tiled"), ".html", workers=2)
    assert made.page
    assert alive[:2] == [2, 0]


def test_names_of_reports_do_not_meet(tmp_path: Path) -> None:
    for name in ("a/index", "b/index", "b/other"):
        write_sample("placeholder", tmp_path / name, 0)
    folders = [tmp_path / name for name in ("a/index", "b/index", "b/other")]
    assert run("report", *folders, "--out-dir", tmp_path / "out", "--jobs", 1) == 0
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["a_index.html", "b_index.html", "index.html", "other.html"]


def test_names_clear_the_progress(empty: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()  # for both streams
    monkeypatch.setattr("sys.stdout", screen)
    monkeypatch.setattr("sys.stderr", screen)
    assert run("report", *empty, "--out-dir", tmp_path, "--jobs", 1) == 0
    text = screen.getvalue()
    shown, _, rest = text.rpartition("\r\x1b[K")
    assert "Reports 2 of 2" in shown
    assert rest.splitlines() == [
        *(str(tmp_path / f"{folder.name}.html") for folder in empty),
        str(tmp_path / "index.html"),
    ]


def test_names_that_are_no_text_have_reports_and_links(tmp_path: Path) -> None:
    names = (b"caf\xe9 #1 (a)", b"plain")
    for name in names:
        write_sample("placeholder", Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)), 0)
    folders = sorted(path for path in tmp_path.iterdir())
    for form in ("html", "md"):
        out = tmp_path / form
        assert run("report", *folders, "--out-dir", out, "--jobs", 1, "--format", form) == 0
        text = (out / f"index.{form}").read_bytes()
        assert b"./caf%E9%20%231%20%28a%29." + form.encode() in text
        assert os.fsencode(out) + b"/" + names[0] + b"." + form.encode() in map(
            os.fsencode, map(str, out.iterdir())
        )


def test_ctrl_c_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rcv_py.features.hotspot.report.kinds", interrupted)
    assert run("report", sample_path(NAME), "--out", tmp_path / "r.html") == 130
    monkeypatch.setattr("rcv_py.export.traces.perfetto.WaveSlices.tokens", interrupted)
    assert run("export", sample_path(NAME), "--to", "perfetto", "--out", tmp_path / "t") == 130
    assert not list(tmp_path.iterdir())


def test_progress_is_one_line_on_a_terminal_and_nothing_elsewhere() -> None:
    screen, file = Terminal(), io.StringIO()
    for stream in (screen, file):
        with progress(stream) as report:
            report(Stage("Reading", 1, 2))
            report(Stage("Reading", 2, 2))
    assert file.getvalue() == ""
    assert "\n" not in screen.getvalue()
    assert screen.getvalue().endswith("\r\x1b[K")
    assert "Reading 2 of 2" in screen.getvalue()
