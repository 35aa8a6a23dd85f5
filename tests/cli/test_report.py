"""What the writers write."""

import csv
import io
import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.base.csv_text import csv_text
from rcv_py.base.text import visible
from rcv_py.cli.answer import TextColumn, json_text, plain, print_facts, print_table, tables
from rcv_py.cli.terminal import width_of
from tests.support.programs import Terminal

COLUMNS = (
    TextColumn("line", True),
    TextColumn("instruction", elastic="right"),
    TextColumn("source", elastic="left"),
)
ROWS = [(7, "v_add_f32 v0, v1, v2", "/long/way/to/kernel.py:12"), (1234, "s_nop", "")]


def table(*given: Any) -> list[str]:
    """The lines of a table, or of several below each other."""
    return [line for _, lines in tables(*given) for line in lines]


def test_a_table_is_aligned_and_has_no_trailing_blanks() -> None:
    assert table(COLUMNS, ROWS) == [
        "line  instruction           source",
        "   7  v_add_f32 v0, v1, v2  /long/way/to/kernel.py:12",
        "1234  s_nop",
    ]


def test_elastic_columns_give_way_at_their_end() -> None:
    assert table(COLUMNS, ROWS, 40) == [
        "line  instruction           source",
        "   7  v_add_f32 v0, v1, v2  …ernel.py:12",
        "1234  s_nop",
    ]
    assert table(COLUMNS, ROWS, 36)[1] == "   7  v_add_f32 v0, v…  …ernel.py:12", "paths give way first"


def test_of_an_instruction_and_its_producer_the_first_is_cut_first() -> None:
    columns = (TextColumn("cycles", True), TextColumn("because", elastic="right"))
    rows = [("12", "113 s_waitcnt vmcnt(3)  tile_io.h:20 ← 128 global_load_dwordx4")]
    assert table(columns, rows, 48)[1] == "    12  113 s_waitcnt… ← 128 global_load_dwordx4"
    assert table(columns, rows, 40)[1] == "    12  113 s_waitc… ← 128 global_load_…"


def test_headings_take_lines_before_a_table_is_divided() -> None:
    columns = (TextColumn("unit"), TextColumn("no issue cycles", True), TextColumn("busy", True))
    assert table(columns, [("SE0", "1", "2")], 20) == [
        "          no",
        "       issue",
        "unit  cycles  busy",
        "SE0        1     2",
    ]


def test_what_does_not_fit_at_all_stands_in_a_second_table() -> None:
    columns = (TextColumn("unit"), *(TextColumn(f"n{number}", True) for number in range(6)))
    assert table(columns, [("SE0", *("12345" for _ in range(6)))], 24) == [
        "unit    n0    n1    n2",
        "SE0  12345 12345 12345",
        "unit    n3    n4    n5",
        "SE0  12345 12345 12345",
    ]


@given(
    st.lists(st.tuples(st.integers(), st.text(max_size=60), st.text(max_size=60)), max_size=8),
    st.integers(50, 90),
)
def test_no_line_is_longer_than_the_screen(rows: list[tuple[int, str, str]], width: int) -> None:
    rows = [(number % 10_000, *texts) for number, *texts in rows]
    lines = table(COLUMNS, rows, width)
    assert len(lines) == 1 + len(rows)
    assert all(len(line) <= width and line == visible(line) for line in lines)


def test_control_characters_of_a_capture_do_not_reach_the_terminal() -> None:
    assert plain("a\x1b[31mb\r\nc\td") == r"a\x1b[31mb\r c  d"


def test_style_is_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    outputs = {}
    for name, stream in (("pipe", io.StringIO()), ("terminal", Terminal()), ("without", Terminal())):
        if name == "without":
            monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setattr(sys, "stdout", stream)
        print_table(COLUMNS, ROWS)
        outputs[name] = stream.getvalue()
    assert "\x1b" in outputs["terminal"]
    assert "\x1b" not in outputs["pipe"] + outputs["without"]


def test_the_width_is_what_the_user_says_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "77")
    assert width_of(io.StringIO()) == 77
    monkeypatch.setenv("COLUMNS", "many")
    assert width_of(io.StringIO()) is None


def test_facts_are_wrapped(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "34")
    print_facts([("kernel", "matmul"), ("waves", "32 traced, of 256 that ran on 8 units")])
    assert capsys.readouterr().out.splitlines() == [
        "  kernel  matmul",
        "  waves   32 traced, of 256 that",
        "          ran on 8 units",
    ]


def test_csv_can_be_read_back() -> None:
    rows = [["a,b", '"quoted"', "1"], ["two\nlines", "", "2"]]
    text = csv_text(["x", "y", "z"], rows)
    assert list(csv.reader(io.StringIO(text))) == [["x", "y", "z"], rows[0], [r"two\nlines", "", "2"]]
    assert text.count("\n") == 3, "a row is a line, for tools that read lines"
    assert "\r" not in text


def test_json_survives_names_that_are_no_text() -> None:
    document = json.loads(json_text({"rows": [1, "a\udc80b"], "n": {"k": None}}))
    assert document == {"rows": [1, r"a\udc80b"], "n": {"k": None}}
