"""Rows that are read by their digits are those that a parser reads, or none."""

import json

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.formats.uiout import digit_rows as module
from rcv_py.formats.uiout.digit_rows import digit_rows
from rcv_py.formats.uiout.wave_json import parse_quickly
from tests.support.wave_folder import wave

NUMBERS = st.one_of(st.integers(0, 12), st.integers(0, 10**9 - 1))
TABLES = st.integers(1, 6).flatmap(
    lambda width: st.lists(st.lists(NUMBERS, min_size=width, max_size=width), min_size=1, max_size=12)
)


@pytest.fixture(autouse=True)
def in_every_file(monkeypatch):
    """Small files have their rows read by their digits, too."""
    monkeypatch.setattr("rcv_py.formats.uiout.wave_json.DIGIT_ROWS_FROM", 0)


def read(text, width, before=b"1,[["):
    """What is read of rows that stand behind some letters and before some others."""
    data = before + text + b"],9"
    found = digit_rows(data, len(before), len(before) + len(text), width)
    return None if found is None else found.tolist()


def written(rows):
    return orjson.dumps(rows)[1:-1]


@given(TABLES, st.integers(1, 40))
def test_rows_are_those_that_were_written_however_they_are_cut_into_blocks(rows, block):
    text, before = written(rows), module.BLOCK_BYTES
    module.BLOCK_BYTES = block
    try:
        assert read(text, len(rows[0])) == rows
    finally:
        module.BLOCK_BYTES = before


@given(TABLES, st.data())
def test_another_text_is_refused_or_read_as_a_parser_does(rows, data):
    """Whatever is put in, left out or written over."""
    text, width = written(rows), len(rows[0])
    at, cut = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 4))
    piece = data.draw(st.text('[],-+. 0123456789e{}"/:\n\x00', max_size=4)).encode()
    damaged = text[:at] + piece + text[at + cut :]
    found = read(damaged, width)
    if found is not None:
        assert found == json.loads(b"[" + damaged + b"]")
        assert {len(row) for row in found} == {width}


@pytest.mark.parametrize(
    "text",
    [
        *(b"", b"[", b"]", b"[]", b"[1]", b"1,2", b"[1,2,3]", b"[1,2],", b",[1,2]", b"[1,2],[3]", b"[1,2] "),
        *(b"[1],[2,3],[4]", b"[1,2][3,4]", b"[1,2],3,4", b"[[1,2]]", b"[1,2]],[[3,4]", b"[,1]", b"[1,]"),
        *(b"[01,2]", b"[1,00]", b"[-1,2]", b"[1.5,2]", b"[1e2,2]", b"[1,2],[3,4],[]", b'["1",2]'),
        *(b"[1000000000,2]", b"[1,12345678901234567890]", b"[1,2]\n,[3,4]", b"]1,2["),
    ],
)
def test_what_writers_do_not_write_is_not_read(text):
    assert read(text, 2) is None


def test_numbers_have_up_to_nine_digits_and_columns_are_contiguous():
    rows = [[10**digits - 1, 10 ** (digits - 1), 0] for digits in range(1, 10)]
    assert read(written(rows), 3) == rows
    found = digit_rows(b"1,[[" + written(rows), 4, 4 + len(written(rows)), 3)
    assert (found.dtype, found[:, 1].flags.c_contiguous) == (np.int32, True)


def test_digits_before_the_rows_are_none_of_theirs():
    assert read(b"[7,8]", 2, before=b"9999") == [[7, 8]]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (b'{"instructions":[[1,2,3,4,5]],"wave":{}}', []),
        (b'{"wave":{"timeline":[[1,2]],"instructions":[[1,2,3,4,5]]}}', [[1, 2, 3, 4, 5]]),
        (b'{"wave":{"x":{"instructions":[[1,2,3,4,5]]}}}', []),
        (b'{"wave":{"x":["instructions",[[1,2]]],"instructions":[]}}', None),
    ],
)
def test_rows_belong_to_whom_the_rest_of_the_text_says(text, tokens):
    if tokens is None:
        with pytest.raises(Exception, match=r"^$"):  # it is not sure
            parse_quickly(text)
        return
    raw = parse_quickly(text)
    assert raw.tokens.tolist() == tokens
    assert raw.timeline.tolist() == ([[1, 2]] if b"timeline" in text else [])


def test_of_a_usual_file_the_parser_sees_no_row(monkeypatch):
    """Else large files would be read at two thirds of the speed, and no test would fail."""
    monkeypatch.setattr("rcv_py.formats.uiout.wave_json._rows", lambda *_: pytest.fail("rows were left"))
    assert len(parse_quickly(orjson.dumps(wave())).tokens) == 4


def test_a_small_file_is_left_to_the_parser(monkeypatch):
    monkeypatch.setattr("rcv_py.formats.uiout.wave_json.DIGIT_ROWS_FROM", 1 << 20)
    monkeypatch.setattr("rcv_py.formats.uiout.wave_json.digit_rows", lambda *_: pytest.fail("it was not"))
    assert len(parse_quickly(orjson.dumps(wave())).tokens) == 4
