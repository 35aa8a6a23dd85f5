"""Places as people hand them on: every form is read, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.export.report.cells import cycle_anchor, line_anchor, place_text, wave_anchor
from rcv_py.formats.open import open_trace
from rcv_py.model.ids import WaveId
from rcv_py.state.selection import SelectedPlace, Selection
from tests.support.samples import sample_path

WAVE = WaveId(3, 1, 0, 2)
SMALL = st.integers(0, 10**9)
WAVES = st.builds(WaveId, *[st.integers(0, 300)] * 4)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("line 118", SelectedPlace(Selection(line=118))),
        (":line 118#7", SelectedPlace(Selection(line=118, hit=7))),
        (":instruction 118#7", SelectedPlace(Selection(line=118, hit=7))),
        (":instruction 118 hit 8", SelectedPlace(Selection(line=118, hit=7))),
        ("se3/simd1/slot0/wv2:line 118 hit 1@-5", SelectedPlace(Selection(WAVE, 118, 0), -5)),
        ("118", SelectedPlace(Selection(line=118))),
        ("line-118", SelectedPlace(Selection(line=118))),
        ("#line-118", SelectedPlace(Selection(line=118))),
        ("file:///home/me/my report.html#line-118", SelectedPlace(Selection(line=118))),
        ("se3/simd1/slot0/wv2", SelectedPlace(Selection(WAVE))),
        ("se3/simd1/slot0/wv2:line 118#7@-5", SelectedPlace(Selection(WAVE, 118, 7), -5)),
        ("wave-se3-sm1-sl0-wv2", SelectedPlace(Selection(WAVE))),
        ("r.html#wave-se3-sm1-sl0-wv2@126704", SelectedPlace(Selection(WAVE), 126704)),
        ("@126704", SelectedPlace(cycle=126704)),
        ("#@126704", SelectedPlace(cycle=126704)),
    ],
)
def test_forms(text: str, place: SelectedPlace) -> None:
    assert SelectedPlace.parse(text) == place


@pytest.mark.parametrize(
    "text",
    [
        "",
        "#",
        "r.html#",
        "line",
        "line-",
        "line -3",
        "se3",
        "@",
        "@x",
        "1" * 30,
        "a 5",
        "line 3 hit 0",
        "line 3 hit",
        "hit 3",
    ],
)
def test_what_is_no_place(text: str) -> None:
    with pytest.raises(ValueError, match="is not a place"):
        SelectedPlace.parse(text)


@given(st.none() | WAVES, st.none() | SMALL, st.none() | SMALL, st.none() | SMALL)
def test_what_a_report_writes_is_read_back(
    wave: WaveId | None, line: int | None, hit: int | None, cycle: int | None
) -> None:
    hit = hit if line is not None else None
    place = SelectedPlace(Selection(wave, line, hit), cycle)
    text = place_text(wave, line, hit, cycle)
    assert text == str(place)
    if text:
        assert SelectedPlace.parse(text) == place
    if line is not None:
        assert SelectedPlace.parse(line_anchor(line)) == SelectedPlace(Selection(line=line))
    if wave is not None:
        assert SelectedPlace.parse(wave_anchor(wave)) == SelectedPlace(Selection(wave))
    if cycle is not None:
        assert SelectedPlace.parse(cycle_anchor(cycle, wave)) == SelectedPlace(Selection(wave), cycle)


def test_a_trace_says_what_it_lacks() -> None:
    trace = open_trace(sample_path("vector_add"))
    last = len(trace.code) - 1
    assert SelectedPlace(Selection(line=last)).why_not(trace) == ""
    assert f"its last one is {last}" in SelectedPlace(Selection(line=last + 1)).why_not(trace)
    assert "no wave se9/simd0/slot0/wv0" in SelectedPlace(Selection(WaveId(9, 0, 0, 0))).why_not(trace)
    assert "no cycle" in SelectedPlace(cycle=trace.span.end + 1).why_not(trace)
    assert SelectedPlace(cycle=trace.span.begin).why_not(trace) == ""
