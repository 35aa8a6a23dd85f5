"""Names of markers in a code object's `.sqtt_funcmap`, as a code.json would have them."""

import struct
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.events.event_table import event_table
from rcv_py.analysis.events.marker_spans import marker_spans
from rcv_py.formats.open import open_trace
from rcv_py.formats.raw.objects import TABLES, marker_tables
from rcv_py.model.trace import Trace
from tests.formats.sqtt import encode_gfx9 as gfx9
from tests.support.object_files import TEXT, code_file

SECTION = b"""F:1:_Z4loadPf@gemm.hip:41 -> gemm.hip:90
U:2:tile @ 3
R:3:extra_payload_count=2
P:3:vmem_load@gemm.hip:44
K:_Z4gemmPf@gemm.hip:80
W:64
X:9:of a later compiler
\0\0F:5:_Z5storePf
\0"""
NAMES = [
    [1, 1, "F", "_Z4loadPf", "gemm.hip:41 -> gemm.hip:90"],
    [1, 2, "U", "tile @ 3", ""],
    [1, 3, "P", "vmem_load", "gemm.hip:44"],
    [1, 0, "K", "_Z4gemmPf", "gemm.hip:80"],
    [1, 5, "F", "_Z5storePf", ""],
]
S_ENDPGM = struct.pack("<I", 0xBF810000)
VALUES = [(540, 1 << 2 | 2), (560, 2 << 2 | 2), (580, 3 << 2), (584, 42), (588, 43), (600, 1), (640, 1)]


def captured(folder: Path, section: bytes = b"", table: dict[str, Any] | None = None) -> Trace:
    """A raw capture of one wave that wrote VALUES."""
    folder.mkdir()
    tape = gfx9.Tape(cu=1)
    tape.put(500, gfx9.start(1, 0, 3), gfx9.BEFORE)
    for time, value in VALUES:
        tape.put(time, gfx9.shader_data(1, 0, 3, value))
    tape.put(900, gfx9.end(1, 0, 3), gfx9.LAST)
    (folder / "1_0_shader_engine_0_1.att").write_bytes(tape.stream())
    code = code_file({"before": bytes(0x1800 - TEXT), "k": S_ENDPGM}, kernels=("k",), markers=section)
    (folder / "gfx950_code_object_id_1.out").write_bytes(code)
    if table is not None:
        (folder / "code.json").write_bytes(orjson.dumps({"code": [], **table}))
    return open_trace(folder)


def shown(trace: Trace) -> list[tuple[Any, ...]]:
    batches = [trace.reader.read(list(range(len(trace.waves))))]
    table = event_table(trace, marker_spans(trace, batches))
    return [table.cells(row)[:4] + table.cells(row)[5:] for row in range(len(table))]


def test_rows_are_those_of_a_code_json() -> None:
    assert marker_tables(SECTION, 1) == ({TABLES[0]: NAMES, TABLES[1]: [], TABLES[2]: [[1, 3, 2]]}, 0)
    clock = b"M:shader_clock_bits=12;shader_clock_shift=4\nM:shader_clock_bits=12\n"
    assert marker_tables(clock, 7) == ({TABLES[0]: [], TABLES[1]: [[7, 12, 4]], TABLES[2]: []}, 1)
    assert marker_tables(b"F:x:name\nF:1:\nP:2\nR:1:extra_payload_count=-1\n", 1)[1] == 4


def test_a_raw_capture_has_the_scopes_of_its_code_object(tmp_path: Path) -> None:
    trace = captured(tmp_path / "section", SECTION)
    entries = [row for row in shown(trace) if row[2] == "marker"]
    assert entries == [
        (540, 100, "marker", "load", "function, depth 0, gemm.hip:41 -> gemm.hip:90"),
        (560, 40, "marker", "tile @ 3", "scope, depth 1"),
        (580, None, "marker", "vmem_load", "point, depth 2, gemm.hip:44, payload 42, 43"),
    ]
    table = {"sqtt_funcmap": NAMES, "sqtt_funcmap_payloads": [[1, 3, 2]]}
    assert shown(captured(tmp_path / "table", b"", table)) == shown(trace)


def test_a_code_json_wins_and_bad_rows_are_reported(tmp_path: Path) -> None:
    own = {"sqtt_funcmap": [[1, 1, "U", "mine", ""]]}
    trace = captured(tmp_path / "c", SECTION + b"U:none:x\n", own)
    assert [row[3] for row in shown(trace) if row[2] == "marker"] == ["mine", "tile @ 3", "vmem_load"]
    texts = [problem.text for problem in trace.problems]
    assert "gfx950_code_object_id_1.out has 1 unusable marker name; the rest is shown." in texts


@pytest.mark.parametrize("cut", range(0, 400, 7))
def test_a_damaged_code_object_costs_no_more_than_names(tmp_path: Path, cut: int) -> None:
    data = code_file({"k": S_ENDPGM}, kernels=("k",), markers=SECTION)
    at = len(data) - 1 - cut
    trace = captured(tmp_path / "c", SECTION)
    (trace.path / "gfx950_code_object_id_1.out").write_bytes(data[:at] + b"\xff\xff" + data[at + 2 :])
    again = open_trace(trace.path)
    assert len(again.occupancy) == 2
    assert len(shown(again)) >= len(VALUES)


@given(st.binary(max_size=200) | st.text("FUPRMK:@\n\0019=;", max_size=60).map(str.encode))
def test_any_bytes_have_rows_of_the_right_form(section: bytes) -> None:
    tables, unusable = marker_tables(section, 1)
    assert unusable >= 0
    assert all(
        len(row) == width for name, width in zip(TABLES, (5, 3, 3), strict=True) for row in tables[name]
    )
