"""`code.json` beside raw files: what is taken from it, and what is not believed."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from rcv_py.base.problems import Problems
from rcv_py.formats.raw.files import CODE_TABLE
from rcv_py.formats.raw.objects import Sidecar, read_sidecar

HEADER = ["ISA", "_", "LineNumber", "Source", "Codeobj", "Vaddr", "Hit", "Latency", "Stall", "Idle"]
ROWS = [
    ["; _Z4slowv", 0, 1, "slow()", 3, 256, 0, 0, 0, 0],
    ["s_load_dword s0, s[0:1], 0x0", 0, 2, "a.hip:7", 3, 256, 9, 90, 9, 0],
    ["s_endpgm", 0, 3, "a.hip:9 -> b.hip:1", 3, 264, 1, 1, 0, 0],
    ["v_nop", 0, 4, "", 4, 256, 0, 0, 0, 0],
]


def sidecar(folder: Path, table: Any, problems: Problems | None = None) -> Sidecar:
    (folder / CODE_TABLE).write_bytes(table if isinstance(table, bytes) else orjson.dumps(table))
    return read_sidecar(folder, frozenset([CODE_TABLE]), Problems() if problems is None else problems)


def test_texts_sources_and_names_are_taken(tmp_path: Path) -> None:
    found = sidecar(tmp_path, {"header": HEADER, "code": ROWS, "sqtt_funcmap": [[3, 1, "F", "f"]]})
    assert found.texts() == {3: {256: ROWS[1][0], 264: "s_endpgm"}, 4: {256: "v_nop"}}
    assert found.source(3, 264) == "a.hip:9 -> b.hip:1"
    assert found.source(3, 260) == ""
    assert found.labels == {(3, 256): ("_Z4slowv", "slow()")}
    assert found.markers == {"sqtt_funcmap": [[3, 1, "F", "f"]]}
    assert not found.has_samples
    assert found.samples(3, 256) == [0, 0, []]


def test_a_bare_list_of_rows_is_a_table(tmp_path: Path) -> None:
    assert sidecar(tmp_path, ROWS).texts()[4] == {256: "v_nop"}


def test_pc_samples_are_taken(tmp_path: Path) -> None:
    more = ["Issued", "Stalled", "NotIssuedReasons"]
    rows = [[*row, number, 2 * number, [0, number]] for number, row in enumerate(ROWS)]
    found = sidecar(tmp_path, {"header": [*HEADER, *more], "code": rows})
    assert found.has_samples
    assert found.samples(3, 264)[:2] == [2, 4]
    assert found.samples(7, 264)[:2] == [0, 0]


def test_of_two_rows_at_one_place_the_first_counts(tmp_path: Path) -> None:
    again = ["s_nop 0", 0, 9, "other.hip:1", 3, 264, 0, 0, 0, 0]
    found = sidecar(tmp_path, {"header": HEADER, "code": [*ROWS, again]})
    assert found.texts()[3][264] == "s_endpgm"
    assert found.source(3, 264) == "a.hip:9 -> b.hip:1"


def test_without_the_file_there_is_nothing_and_no_problem(tmp_path: Path) -> None:
    problems = Problems()
    found = read_sidecar(tmp_path, frozenset(), problems)
    assert (found.texts(), found.source(3, 256), found.has_samples) == ({}, "", False)
    assert not problems


@pytest.mark.parametrize(
    "table",
    [
        b"",
        b"{",
        b"7",
        b'{"code": 7}',
        b'{"code": [[], [1], null, {}]}',
        b'{"header": 3, "code": [["s_nop 0", 0, 1, "", -5, 99999999999999999999, 0, 0, 0, 0]]}',
        b'{"code": [["s_nop 0", 0, 1, "", "x", "y", 0, 0, 0, 0]], "sqtt_funcmap": 5}',
    ],
)
def test_a_file_of_a_stranger_costs_what_it_holds(tmp_path: Path, table: bytes) -> None:
    problems = Problems()
    found = sidecar(tmp_path, table, problems)
    assert found.source(3, 256) == ""
    assert all(one.where == CODE_TABLE for one in problems)
