"""`rcv pack`, `rcv unpack` and `rcv decode` as a user types them, and every answer about a packed capture."""

import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from rcv_py.base.text import encodable
from rcv_py.cli.main import main
from rcv_py.formats.open import open_trace
from rcv_py.formats.session_file import write_session
from tests.support.command_runs import ON_A_CAPTURE, a_place, refused, run
from tests.support.equal import trace_differences
from tests.support.hostile_text import FOLDER
from tests.support.samples import sample_path, write_sample

NAME = "straggler"
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small capture as one file."""
    path = tmp_path_factory.mktemp("packed") / "it.rcvz"
    assert main(["pack", str(sample_path(NAME)), "--out", str(path)]) == 0
    return path


def without_places(value: Any, *places: str) -> Any:
    """A document without what says where the capture lies."""
    text = json.dumps(value)
    for place in places:
        text = text.replace(place, "HERE")
    return json.loads(text)


ANSWERS = [(command, words) for command, variants in ON_A_CAPTURE.items() for words in variants]


@pytest.mark.parametrize(("command", "words"), ANSWERS)
def test_every_answer_is_that_of_the_folder(command: str, words: str, packed: Path) -> None:
    folder = sample_path(NAME)
    places = a_place(folder)
    said = []
    for path in (folder, packed):
        more = [word.format(**places).replace("~", " ") for word in words.split()]
        done = run(command, str(path), *more, "--json")
        said.append(
            (done.code, without_places(json.loads(done.out or "0"), str(path), path.name, folder.name))
        )
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("command", "part"), [("info", "allocated"), ("occupancy --limits", "limits"), ("registers", "rows")]
)
def test_allocations_of_a_code_object_go_with_a_raw_capture(command: str, part: str, tmp_path: Path) -> None:
    folder, path = ROOT / "sample_traces" / "raw_rms_norm", tmp_path / "elsewhere" / "it.rcvz"
    path.parent.mkdir()
    assert main(["pack", str(folder), "--out", str(path)]) == 0
    name, *words = command.split()
    of_folder, of_file = (json.loads(run(name, str(one), *words, "--json").out) for one in (folder, path))
    assert of_file[part] == of_folder[part]
    if part == "allocated":
        assert of_file[part]["lds"] == 1024  # float part[256]


def test_it_is_named_as_the_capture_if_nothing_else_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = sample_path(NAME)
    assert main(["pack", str(folder), "--without-sources"]) == 0
    path = tmp_path / f"{folder.name}.rcvz"
    assert capsys.readouterr().out.startswith(f"{path.name}: 16 waves, ")
    trace = open_trace(path)
    assert trace.title.startswith(open_trace(folder).title.partition(" · ")[0])
    assert main(["pack", str(path)]) == 0, "what is packed is packed again"
    assert trace_differences(trace, open_trace(path)) == []


def test_a_folder_is_packed_and_unpacked_without_a_difference(packed: Path, tmp_path: Path) -> None:
    folder = sample_path(NAME)
    assert main(["unpack", str(packed), "--out", str(tmp_path / "again")]) == 0
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    again = {file.name: file.read_bytes() for file in (tmp_path / "again").iterdir()}
    assert files.keys() == again.keys()
    for name, data in files.items():
        read = orjson.loads if name.endswith(".json") else bytes
        assert read(again[name]) == read(data), name


def test_names_that_are_no_text_are_written(tmp_path: Path) -> None:
    """Into a packed file, Parquet and a session, below such a folder and about a capture there."""
    folder = tmp_path / FOLDER
    write_sample("vector_add", folder)
    assert run("pack", str(folder), "--out", str(folder / "it.rcvz")).code == 0
    assert open_trace(folder / "it.rcvz").name == encodable(folder.name)
    assert run("export", str(folder), "--to", "parquet", "--out", str(folder / "tables")).code == 0
    assert (folder / "tables" / "code.parquet").read_bytes()[:4] == b"PAR1"
    write_session(folder / "s.rcvsession", open_trace(folder), state={}, layout={}, notes=())
    assert orjson.loads((folder / "s.rcvsession").read_bytes())["capture"]["name"] == encodable(folder.name)


def test_what_is_there_is_not_written_over(packed: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("")
    for command in ("unpack", "decode"):
        assert "is there already" in refused(command, packed, "--out", tmp_path / "full")
    assert [child.name for child in (tmp_path / "full").iterdir()] == ["mine"]


def test_only_what_was_packed_is_unpacked(tmp_path: Path) -> None:
    folder = sample_path(NAME)
    assert "`rcv decode CAPTURE --out FOLDER` writes any capture as a folder" in refused(
        "unpack", folder, "--out", tmp_path / "x"
    )
    assert main(["decode", str(folder), "--out", str(tmp_path / "x")]) == 0
    assert (
        trace_differences(open_trace(folder), open_trace(tmp_path / "x"), without=("name", "target_from"))
        == []
    )


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    out = tmp_path / "file" / "it.rcvz"
    assert refused("pack", sample_path(NAME), "--out", out).startswith("rcv: ")
    assert [child.name for child in tmp_path.iterdir()] == ["file"]
