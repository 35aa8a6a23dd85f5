"""Tables as files, read back and compared with the columns of the capture."""

import csv
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from msgspec.structs import replace

from rcv_py import __version__
from rcv_py.analysis.core.token_columns import of_waves
from rcv_py.analysis.events.event_table import event_table
from rcv_py.analysis.waits.waitcnt.replay import replay
from rcv_py.base.csv_text import csv_text
from rcv_py.base.errors import ExportError, UsageError
from rcv_py.base.whole_files import whole_file
from rcv_py.export.tables import TABLES, write_tables
from rcv_py.formats.open import open_trace
from tests.support.samples import sample_path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tables")
    trace = open_trace(sample_path("vector_add"))
    rows = list(range(len(trace.waves)))
    parts = [trace.reader.read(rows[:100]), trace.reader.read(rows[100:])]
    for form in ("csv", "parquet"):
        write_tables(trace, parts, {name: place / f"{name}.{form}" for name in TABLES}, form)
    return place


def columns(path: Path) -> dict[str, list[str]]:
    with path.open(newline="") as stream:
        head, *rows = csv.reader(stream)
    return {name: [row[at] for row in rows] for at, name in enumerate(head)}


def test_csv_of_code_waves_tokens_and_states_are_the_columns(folder: Path) -> None:
    trace = open_trace(sample_path("vector_add"))
    batch = trace.reader.read(list(range(len(trace.waves))))
    piece = of_waves(batch.waves)
    lines, tokens = columns(folder / "code.csv"), columns(folder / "tokens.csv")
    for name in ("hits", "latency", "stall", "idle", "address"):
        assert list(map(int, lines[name])) == getattr(trace.code, name).tolist()
    assert tuple(lines["text"]) == trace.code.text
    for name in ("stall", "busy", "start", "idle"):
        assert list(map(int, tokens[name])) == getattr(piece, name).tolist()
    assert list(map(int, tokens["instruction"])) == piece.line.tolist()
    assert tokens["wave"] == [str(wave.id) for wave in batch.waves for _ in range(len(wave.tokens))]
    hit: dict[tuple[str, str], int] = {}
    for wave, line, number in zip(tokens["wave"], tokens["instruction"], tokens["hit"], strict=True):
        assert int(number) == hit.get((wave, line), 0)
        hit[wave, line] = int(number) + 1
    states = columns(folder / "states.csv")
    total = sum(int(wave.states.duration.sum()) for wave in batch.waves)
    assert sum(map(int, states["duration"])) == total
    waves = columns(folder / "waves.csv")
    assert list(map(int, waves["start"])) == trace.waves.begin.tolist()
    occupancy = columns(folder / "occupancy.csv")
    assert list(map(int, occupancy["time"])) == trace.occupancy.time.tolist()
    assert list(map(int, columns(folder / "events.csv")["start"])) == event_table(trace, None).time.tolist()
    assert list(map(int, occupancy["is_start"])) == trace.occupancy.is_start.astype(int).tolist()


def test_csv_of_waits_are_the_links(folder: Path) -> None:
    trace = open_trace(sample_path("vector_add"))
    batch = trace.reader.read(list(range(len(trace.waves))))
    links = replay(batch, trace.code, trace.architecture)
    found = columns(folder / "waits.csv")
    assert list(map(int, found["instruction"])) == batch.line[links.token[links.row_of]].tolist()
    assert list(map(int, found["producer"])) == batch.line[links.producers].tolist()
    newest = [
        int(stall)
        for stall, is_newest in zip(found["stall"], found["is_newest"], strict=True)
        if is_newest == "1"
    ]
    waits = np.unique(links.token)
    assert sum(newest) == batch.stall[waits].sum(), "each wait once"


def test_parquet_holds_the_same_as_csv(folder: Path) -> None:
    for name in TABLES:
        table = pyarrow.parquet.read_table(folder / f"{name}.parquet")
        text = columns(folder / f"{name}.csv")
        assert table.column_names == list(text)
        for column in table.column_names:
            values = table[column].to_pylist()
            if values and isinstance(values[0], bool | int | float):
                assert [float(value) for value in values] == [float(value) for value in text[column]]
            else:
                assert values == text[column]


def test_parquet_says_what_it_is_of(folder: Path) -> None:
    schema = pyarrow.parquet.read_schema(folder / "tokens.parquet")
    name = sample_path("vector_add").name
    assert schema.metadata[b"rcv.capture"] == name.encode()
    assert schema.metadata[b"rcv.table"] == b"tokens"
    assert schema.metadata[b"rcv.version"] == __version__.encode()
    for name in TABLES:
        schema = pyarrow.parquet.read_schema(folder / f"{name}.parquet")
        assert all(field.metadata[b"meaning"] for field in schema)
    units = {field.name: field.metadata[b"unit"].decode() for field in schema}
    assert units["value"] == "counts"
    code = pyarrow.parquet.read_table(folder / "code.parquet")["address"]
    assert str(code.type) == "uint64"


def test_parquet_without_pyarrow_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    trace = open_trace(sample_path("vector_add"))
    with pytest.raises(UsageError, match="pyarrow"):
        write_tables(trace, (), {"code": tmp_path / "code.parquet"}, "parquet")
    assert not list(tmp_path.iterdir())


def test_files_are_whole_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file"
    with whole_file(path) as stream:
        stream.write(b"old")
    with suppress(KeyboardInterrupt), whole_file(path) as stream:
        stream.write(b"half")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old"
    assert [one.name for one in path.parent.iterdir()] == ["file"]
    with pytest.raises(ExportError, match="cannot be written"), whole_file(path / "below") as stream:
        stream.write(b"x")


def test_no_text_of_a_capture_is_a_formula_for_a_spreadsheet(tmp_path: Path) -> None:
    trace = open_trace(sample_path("vector_add"))
    evil = '=HYPERLINK("x","y")', "@SUM(A1)", "+1+cmd|' /C calc'!A0", "-1-1", "\t=1", 'a,"b"\nc', "-12.5", "-"
    texts = (*evil, *trace.code.text[len(evil) :])
    bad = replace(trace, code=replace(trace.code, text=texts))
    write_tables(bad, (), {"code": tmp_path / "code.csv"}, "csv")
    found = columns(tmp_path / "code.csv")["text"]
    assert found[:8] == [*(f"'{text}" for text in evil[:5]), r'a,"b"\nc', *evil[6:]]
    assert found[8:] == list(texts[8:])
    write_tables(bad, (), {"code": tmp_path / "code.parquet"}, "parquet")
    assert pyarrow.parquet.read_table(tmp_path / "code.parquet")["text"].to_pylist() == list(texts)
    numbers = csv_text(["n"], [[-5], [-1.5], ["-12"], ["+3.1 %"], ["=1"]])
    assert numbers.splitlines() == ["n", "-5", "-1.5", "-12", "+3.1 %", "'=1"]
