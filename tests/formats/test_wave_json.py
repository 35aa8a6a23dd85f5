"""The quick path says what the exact path says, or leaves the text to it."""

import json
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.formats.uiout import waves as wave_json
from rcv_py.formats.uiout.waves import parse, parse_exactly, parse_quickly
from rcv_py.tuning.memory import trim
from tests.support.fixtures import fixture_of_each
from tests.support.opened import VARIED
from tests.support.samples import sample_path
from tests.support.wave_folder import wave

SMALL = st.integers(-3, 300)
ODD = st.one_of(
    SMALL, st.integers(-(1 << 65), 1 << 65), st.floats(), st.none(), st.booleans(), st.text("ab", max_size=2)
)


def rows(width, numbers=SMALL):
    return st.lists(st.lists(numbers, min_size=width, max_size=width), max_size=5)


def mixed_rows(width):
    return st.lists(st.lists(SMALL, min_size=0, max_size=2 * width), max_size=5)


def waits(numbers=SMALL):
    return st.lists(st.tuples(numbers, rows(2, numbers)), max_size=4)


LAYOUTS = (None, orjson.OPT_INDENT_2, orjson.OPT_SORT_KEYS)


def same(one, other):
    assert (one.facts, one.doubts) == (other.facts, other.doubts)
    assert one.tokens.tolist() == other.tokens.tolist()
    assert one.timeline.tolist() == other.timeline.tolist()
    assert (one.waits is None) == (other.waits is None)
    if one.waits is not None:
        for column in ("line", "count", "depends_on"):
            assert getattr(one.waits, column).tolist() == getattr(other.waits, column).tolist()


def check_both(data):
    """Both paths agree on a text; return what they say, None if they refuse it."""
    try:
        exact = parse_exactly(data)
    except ValueError:
        with pytest.raises(ValueError, match=r"it"):
            parse(data)
        return None
    same(parse(data), exact)
    return exact


@given(rows(5), rows(2), st.one_of(st.none(), waits()), st.sampled_from(LAYOUTS))
def test_good_files_are_read_quickly_and_alike(tokens, timeline, waitcnt, layout):
    data = orjson.dumps(wave(tokens, timeline, waitcnt), option=layout)
    exact = check_both(data)
    same(parse_quickly(data), exact)
    assert exact.tokens.tolist() == tokens


@given(mixed_rows(5), mixed_rows(2), st.lists(st.lists(rows(2), max_size=3), max_size=3))
def test_rows_of_other_lengths_are_never_cut_anew(tokens, timeline, waitcnt):
    exact = check_both(orjson.dumps(wave(tokens, timeline, waitcnt)))
    assert (exact is not None) == all(len(row) == 5 for row in tokens)
    if exact is not None:
        is_good = all(len(row) == 2 for row in timeline)
        assert exact.timeline.tolist() == (timeline if is_good else [])
        assert any("timeline" in doubt for doubt in exact.doubts) != is_good


@pytest.mark.parametrize(
    "tokens", [[[0, 1, 0, 1], [1, 2, 0, 1, 1, 0]], [[], [0] * 10], [[0] * 10, []], [[0, 0, 0, [0, 0]]]]
)
def test_rows_that_only_add_up_to_five_columns_are_refused(tokens):
    with pytest.raises(ValueError, match="5 whole numbers"):
        parse(orjson.dumps(wave(tokens)))


@given(rows(5, ODD), rows(2, ODD), waits(ODD))
def test_odd_numbers_are_read_alike_or_refused(tokens, timeline, waitcnt):
    check_both(
        json.dumps(wave(tokens, timeline, waitcnt)).encode()
    )  # orjson writes no integer beyond 64 bits


def test_an_object_in_place_of_the_instructions_is_refused():
    with pytest.raises(ValueError, match=r"its instructions"):
        parse(orjson.dumps({"wave": {"instructions": {}}}))


@pytest.mark.parametrize("name", ["timeline", "waitcnt"])
def test_an_object_in_place_of_another_table_costs_that_table(name):
    (doubt,) = parse(orjson.dumps({"wave": {name: {}}})).doubts
    assert name in doubt


def test_a_number_in_place_of_a_producer_costs_the_waits():
    raw = parse(b'{"wave":{"waitcnt":[[1,[[2,0]]],[3,[4]]]}}')
    assert raw.waits is None
    assert "waitcnt" in raw.doubts[0]


def test_places_of_waits_are_those_of_the_text_and_not_of_the_one_before():
    """Most waves wait at the same places, which are remembered; only numbers tell these two texts apart."""
    texts = [b"[[4,[]],[5,[[1,0]]]]", b"[[4,[7]],[5,[[1,0]]]]", b"[[4,[]],[6,[[2,0]]]]", b"[[4,[[1,0]]]]"]
    found = [parse(b'{"wave":{"instructions":[],"waitcnt":' + text + b"}}").waits for text in texts]
    lines = [None if waits is None else waits.line.tolist() for waits in found]
    assert lines == [[4, 5], None, [4, 6], [4]]
    assert [waits.depends_on.tolist() for waits in found if waits is not None] == [[1], [2], [1]]


@given(st.binary(max_size=40))
def test_any_bytes_are_refused_with_a_reason(data):
    with pytest.raises(ValueError, match=r"."):
        parse(data)


KEYS = st.sampled_from(["wave", "instructions", "timeline", "waitcnt", "begin", "x"])
JSON = st.recursive(
    ODD, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)


@given(st.dictionaries(st.sampled_from(["wave", "name", "instructions"]), JSON))
def test_any_json_is_read_alike_or_refused(document):
    check_both(json.dumps(document).encode())


@given(st.data())
def test_mutated_real_files_are_read_alike_or_refused(data):
    original = orjson.dumps(wave(waits=[[3, [[1, 0], [2, 0]]], [4, []]]))
    where = data.draw(st.integers(0, len(original) - 1))
    cut = data.draw(st.integers(0, 3))
    piece = data.draw(
        st.sampled_from([b"", b"[", b"]", b",", b"1", b"-", b'"', b"\\", b" ", b"null", b"\xff"])
    )
    check_both(original[:where] + piece + original[where + cut :])


@pytest.mark.parametrize(
    "text",
    [
        b'{"wave":{"instructions":[[1,2,3,4,5]],"instructions":[]}}',
        b'{"wave":{"x":1},"wave":{"instructions":[[1,2,3,4,5]]}}',
        b'{"instructions":[[1,2,3,4]],"wave":{"instructions":[[1,2,3,4,5]]}}',
        b'{"wave":{"\\u0069nstructions":[[1,2,3,4,5]],"a\\"instructions":[[1,2,3,4,5]]}}',
        b'{"wave":{"begin":[1,2],"instructions":[[1,2,3,4,5]]}}',
        b'{"wave":{"begin":1.0,"instructions":[[1.0,2,3,4,5e0]]}}',
        b'{"wave":{"waitcnt":[[1,[[2,0]]],[3,[]]],"timeline":[]}}',
    ],
)
def test_unusual_texts_are_read_as_everybody_reads_them(text):
    assert check_both(text) is not None


def test_a_parser_can_be_used_again_after_any_failure():
    for text in (b"{", b'{"wave":{"instructions":[["a"]]}}', b'{"wave":[]}', b"\xef\xbb\xbf{}"):
        with pytest.raises(ValueError, match="it"):
            parse(text)
    assert parse_quickly(orjson.dumps(wave())).tokens.shape == (4, 5)


folder = fixture_of_each(sample_path, [*VARIED, "events", "packed"])  # A capture, whose files nobody changes


def test_files_of_captures_are_all_read_quickly(folder: Path) -> None:
    paths = sorted(folder.glob("se*_wv*.json"))[:40]
    assert paths
    for path in paths:
        data = path.read_bytes()
        same(parse_quickly(data), parse_exactly(data))


def _many_waits(change: str = "") -> bytes:
    entries = [[9 + i % 7, [[1 + i % 3, 0]] * (1 + i % 4)] for i in range(6000)]
    if change == "line 0":
        entries[5][0] = 0
    elif change == "producer 0":
        entries[5][1][0] = [0, 0]
    elif change == "second number":
        entries[5][1][0] = [1, 4]
    elif change == "no producer":
        entries[5][1] = []
    return orjson.dumps({"wave": {"instructions": None, "timeline": None, "waitcnt": entries}})


@pytest.mark.parametrize("change", ["", "line 0", "producer 0", "second number", "no producer"])
def test_a_long_wait_list_is_read_alike_by_both_paths(change: str) -> None:
    data = _many_waits(change)
    quick, exact = wave_json.parse(data).waits, wave_json.parse_exactly(data).waits
    assert quick is not None
    assert exact is not None
    for name in ("line", "count", "depends_on"):
        assert getattr(quick, name).tolist() == getattr(exact, name).tolist()


# One text of each class in which the quick path once said something else than the exact one, or could have:
# found by 800,000 mutated files, and by looking for what counts of brackets and commas do not tell.
ROW = [4, 6, 0, 4, 1]
DISAGREED = {
    "a bare number, a short row, and two rows in one": ("instructions", [1, [2, 3, 4, 5], [ROW, *ROW]]),
    "the same for states": ("timeline", [1, [2], [[3, 4], 5, 6]]),
    "a producer that is not in a list": ("waitcnt", [[[6, [[54, 0], 518, 0]]]]),
    "a list of producers that is opened late": ("waitcnt", [[17, [235, 0], [19, 0], [[9, 0]]]]),
    "zeros beside lists of producers": ("waitcnt", [[8, [[56, 0], [2, [0]], 15, 0]]]),
    "a text in place of waits": ("waitcnt", ""),
    "a text in place of instructions": ("instructions", ""),
    "a text in place of states": ("timeline", ""),
}


@pytest.mark.parametrize("name", DISAGREED)
def test_what_only_counts_right_is_left_to_the_exact_path(name):
    table, rows_ = DISAGREED[name]
    tables = {"instructions": [ROW], "timeline": [[2, 4]], "waitcnt": [], table: rows_}
    data = orjson.dumps({"wave": {"begin": 1, "end": 9, **tables}})
    with pytest.raises(Exception):  # noqa: B017, PT011 - whatever makes `parse` turn to the other path
        parse_quickly(data)
    check_both(data)


def test_rows_with_spaces_between_them_are_read_quickly():
    data = json.dumps(wave([ROW] * 5, [[1, 2]] * 3, [])).replace("], [", "] , \n[").encode()
    same(parse_quickly(data), parse_exactly(data))


def test_parsers_are_kept_for_the_next_file_until_memory_is_given_back():
    parse_quickly(orjson.dumps(wave()))
    assert wave_json._parsers
    trim()
    assert not wave_json._parsers
    assert parse_quickly(orjson.dumps(wave())).tokens.shape == (4, 5)
