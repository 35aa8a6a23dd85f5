"""Scopes and points from shader data: drawings, the simulator's truth, any values."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rcv_py.analysis.core.occupancy import latest
from rcv_py.analysis.events.event_table import event_table
from rcv_py.analysis.events.marker_spans import MarkerSpans, marker_spans, missing_words
from rcv_py.model.device import HardwareEvents, MarkerName, ShaderData
from rcv_py.model.kinds import EventKind, MarkerKind
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from tests.analysis import build
from tests.support.opened import all_waves, sample_waves
from tests.support.samples import sample

IDS = ((1, "kernel", "main", "a.py:1"), (2, "function", "load"), (3, "scope", "inner"), (4, "point", "here"))
NAMES = tuple(MarkerName(1, *one) for one in IDS)
LEAVE = 1


def enter(marker: int) -> int:
    return marker << 2 | 2


def change(marker: int) -> int:
    return marker << 2 | 3


def point(marker: int) -> int:
    return marker << 2


def data(rows: list[tuple[int, ...]], se: int = 0) -> ShaderData:
    """Rows of (time, value) or (time, value, cu, simd, slot, flags)."""
    full = np.array([(*row, 1, 0, 0, 0)[:6] for row in rows], np.int64).reshape(-1, 6)
    places = (full[:, i].astype(np.int16) for i in range(2, 6))
    return ShaderData(se, full[:, 0], full[:, 1].astype(np.uint32), *places)


def made(rows: list[tuple[int, ...]], lives: tuple[tuple[int, int], ...] = ((0, 100),), **more: Any) -> Trace:
    """A trace of waves that lived one after the other in slot 0, with these values."""
    table = build.code(["; k", "v_add", "s_endpgm"])
    waves = [
        build.wave("vV" + "." * (end - begin - 2), [1], row=row, begin=begin, place=(0, 0, 0, row))
        for row, (begin, end) in enumerate(lives)
    ]
    trace = build.trace(table, waves)
    return replace(trace, shader_data=(data(rows),), **({"markers": NAMES} | more))


def told(spans: MarkerSpans) -> list[tuple[Any, ...]]:
    """(name, begin, end, depth) and what is special about it."""
    special = zip(spans.is_open, spans.is_point, strict=True)
    marks = ["open" if is_open else "point" if is_point else "" for is_open, is_point in special]
    names = [spans.names[row] for row in spans.name_id.tolist()]
    rows = zip(names, spans.begin.tolist(), spans.end.tolist(), spans.depth.tolist(), marks, strict=True)
    return list(rows)


def read(trace: Trace) -> MarkerSpans:
    batches = [all_waves(trace)] if len(trace.waves) else []
    return marker_spans(trace, batches)


def test_scopes_nest_and_points_have_no_length() -> None:
    rows = [(10, enter(1)), (20, enter(2)), (25, point(4)), (30, change(3)), (40, LEAVE), (90, LEAVE)]
    outer = [("main", 10, 90, 0, ""), ("load", 20, 30, 1, ""), ("here", 25, 25, 2, "point")]
    assert told(read(made(rows))) == [*outer, ("inner", 30, 40, 1, "")]


def test_a_scope_nobody_closed_ends_with_its_wave_and_not_in_the_next() -> None:
    rows = [(10, enter(1)), (60, enter(2)), (70, LEAVE), (80, LEAVE)]
    trace = made(rows, ((0, 50), (55, 100)))
    ours = read(trace)
    assert told(ours) == [("main", 10, 50, 0, "open"), ("load", 60, 70, 0, "")]
    assert ours.wave.tolist() == [0, 1]
    texts = [problem.text for problem in ours.problems]
    assert any("1 marker closes a scope that was not open" in text and "at 80." in text for text in texts)
    assert any("1 scope was still open when the wave ended: main" in text for text in texts)
    batches = [trace.reader.read([0, 1])]
    reference = marker_spans(trace, batches, ReferenceRule.REFERENCE)
    assert told(reference) == [("main", 10, 80, 0, ""), ("load", 60, 70, 1, "")]


def test_an_exit_with_nothing_open_changes_nothing() -> None:
    spans = read(made([(5, LEAVE), (6, change(1)), (7, LEAVE), (8, LEAVE), (9, enter(2)), (12, LEAVE)]))
    assert told(spans) == [("main", 6, 7, 0, ""), ("load", 9, 12, 0, "")]
    assert int(spans.is_orphan.sum()) == 3


def test_an_unknown_id_is_a_scope_of_its_own_and_a_sentence() -> None:
    spans = read(made([(10, enter(77)), (20, LEAVE)]))
    assert told(spans) == [("marker 77", 10, 20, 0, "")]
    assert spans.kind.tolist() == [MarkerKind.UNKNOWN]
    assert "1 marker has no name in the dictionary: id 77." in [problem.text for problem in spans.problems]


def test_without_a_dictionary_values_stay_values() -> None:
    spans = read(made([(10, enter(1)), (20, point(1)), (30, LEAVE)], markers=()))
    assert (len(spans), len(spans.records)) == (0, 3)
    assert [problem.severity for problem in spans.problems] == ["info"]
    assert len(marker_spans(replace(made([]), shader_data=()), ())) == 0


def test_data_words_behind_a_marker_are_no_markers() -> None:
    payloads = ((1, 2, 2),)
    rows = [(10, enter(2)), (10, LEAVE), (10, enter(2)), (20, LEAVE), (30, point(4))]
    spans = read(made(rows, marker_payloads=payloads))
    assert told(spans) == [("load", 10, 20, 0, ""), ("here", 30, 30, 0, "point")]
    assert spans.records.is_data.tolist() == [False, True, True, False, False]


def test_a_packed_clock_is_taken_out_of_unknown_ids_only() -> None:
    packed = 5 << 20 << 2 | enter(2)  # ten bits of clock above twenty of id
    layout = ((1, 10, 4),)
    assert told(read(made([(10, packed), (20, LEAVE)], marker_layout=layout)))[0][0] == "load"
    immediate = [(10, packed, 1, 0, 0, 1), (20, LEAVE, 1, 0, 0, 0)]
    assert told(read(made(immediate, marker_layout=layout)))[0][0].startswith("marker ")


def packed(time: int, value: int, clock: int) -> tuple[int, int]:
    """A value with the low 12 bits of the clock in steps of 16 above an id of 18 bits."""
    return time, value | (clock >> 4 & 0xFFF) << 20


PACKED = ((1, 12, 4),)


def test_a_packed_clock_moves_late_values_to_where_they_were_written() -> None:
    """The scope lasts 64 cycles of the clock, and its leave comes 460 cycles after its enter.

    Delays against the first value: 0, 396 and 4, less the least (0) and the error of a step (15).
    """
    late = [packed(105, enter(2), 70_096), packed(565, LEAVE, 70_160), packed(205, point(4), 70_192)]
    spans = read(made(late, ((0, 1000),), marker_layout=PACKED))
    assert told(spans) == [("load", 105, 565 - (396 - 15), 0, ""), ("here", 205, 205, 0, "point")]
    assert spans.records.marker.tolist() == [2, 0, 4]


def test_a_packed_clock_that_wraps_counts_modulo_its_bits() -> None:
    """12 bits of 16 cycles count to 65,536: 65,530 and 65,600 are 64 cycles apart in steps of 16."""
    late = [packed(100, enter(2), 65_530), packed(370, LEAVE, 65_600)]
    (span,) = told(read(made(late, ((0, 1000),), marker_layout=PACKED)))
    clocks = (65_520, 65_600)  # in whole steps
    delay = (370 - 100) - (clocks[1] - clocks[0])
    assert span == ("load", 100, 370 - (delay - 15), 0, "")


def test_each_simd_has_a_least_delay_of_its_own() -> None:
    """On SIMD 0 the leave comes 204 cycles later than its clock says, on SIMD 1 nothing comes late."""
    waves = [build.wave("vV" + "." * 1998, [1], row=simd, place=(0, simd, 0, simd)) for simd in (0, 1)]
    trace = build.trace(build.code(["; k", "v_add", "s_endpgm"]), waves)
    values = [(0, 100, enter(2), 992), (0, 400, LEAVE, 1088), (1, 900, enter(2), 992), (1, 996, LEAVE, 1088)]
    rows = [(*packed(time, value, clock), 1, simd, 0, 0) for simd, time, value, clock in values]
    spans = read(replace(trace, markers=NAMES, shader_data=(data(rows),), marker_layout=PACKED))
    assert told(spans) == [("load", 100, 400 - (204 - 15), 0, ""), ("load", 900, 996, 0, "")]


def test_a_file_whose_clocks_were_removed_stays_as_it_is() -> None:
    rows = [(100, enter(2)), (500, LEAVE), (600, point(4)), (700, 9 << 20 | 5 << 2)]
    spans = read(made(rows, ((0, 1000),), marker_layout=PACKED))
    assert told(spans)[:2] == [("load", 100, 500, 0, ""), ("here", 600, 600, 0, "point")]
    old = [packed(100, enter(2), 3200), packed(200, LEAVE, 3300), (700, 9 << 20 | 5 << 2 | 2)]
    ids = read(made(old, ((0, 1000),), marker_layout=PACKED)).records.marker.tolist()
    assert ids == [2, 0, 9 << 18 | 5], "an id that is unknown without its clock is not of the compiler"


def test_payload_ends_with_its_wave_and_missing_words_are_counted() -> None:
    rows = [(10, point(4)), (11, 7), (60, enter(2)), (70, LEAVE)]
    trace = made(rows, ((0, 50), (55, 100)), marker_payloads=((1, 4, 3),))
    spans = read(trace)
    assert told(spans) == [("here", 10, 10, 0, "point"), ("load", 60, 70, 0, "")]
    assert missing_words(spans.records).tolist() == [2, 0, 0, 0]
    texts = [problem.text for problem in spans.problems]
    assert "2 of 3 data words after markers are missing, the first on SE0 CU1 SIMD0 slot 0 at 10." in texts
    assert event_table(trace, spans).cells(0)[5] == "point, depth 0, payload 7"


def test_values_after_lost_packets_mean_nothing_until_the_next_wave() -> None:
    rows = [(10, enter(1)), (30, enter(2)), (40, LEAVE), (60, enter(2)), (70, LEAVE)]
    loss = HardwareEvents(*(np.array([value]) for value in (20, 0, EventKind.PACKET_LOSS, 0, 0, 0, 0)))
    spans = read(replace(made(rows, ((0, 50), (55, 100))), events=loss))
    assert told(spans) == [("main", 10, 20, 0, "open"), ("load", 60, 70, 0, "")]
    texts = [problem.text for problem in spans.problems]
    assert any(text.startswith("2 values came after lost packets") for text in texts)


def test_values_of_the_trap_handler_are_no_markers() -> None:
    rows = [(10, enter(1)), (20, enter(2), 1, 0, 0, 2), (30, LEAVE, 1, 0, 0, 3), (40, LEAVE)]
    assert told(read(made(rows))) == [("main", 10, 40, 0, "")]


def test_id_0_means_nothing_but_a_leave() -> None:
    rows = [(10, enter(1)), (20, enter(0)), (25, point(0)), (30, change(0)), (40, LEAVE), (50, LEAVE)]
    spans = read(made(rows))
    assert told(spans) == [("main", 10, 40, 0, "")]
    assert int(spans.is_orphan.sum()) == 1


def test_a_kernel_of_the_dictionary_names_the_code_object() -> None:
    """Two code objects have dictionaries; the wave ran gemm, whose name only the second has."""
    names = (*NAMES, MarkerName(2, 0, "kernel", "gemm"), MarkerName(2, 1, "scope", "tile"))
    occupancy = build.events([(10, 1, 0, 1, 0, 0, 7), (54, 0, 0, 1, 0, 0, 7)], {7: "_Z4gemmPf.kd"})
    trace = build.trace(build.code([]), [], occupancy=occupancy)
    trace = replace(trace, markers=names, shader_data=(data([(20, enter(1)), (30, LEAVE)]),))
    assert told(marker_spans(trace, ())) == [("tile", 20, 30, 0, "")]


def test_the_code_object_is_that_of_the_last_token_else_of_the_kernel() -> None:
    names = (*NAMES, MarkerName(2, 1, "kernel", "other"))
    table = build.code(["; k", "v_add", "; second", "v_sub"])
    table = replace(table, codeobj=np.array([1, 1, 2, 2]))
    waves = [build.wave("vV|vV" + "." * 40, [1, 3], row=0, begin=10)]
    occupancy = build.events([(10, 1, 0, 1, 0, 0, 7), (54, 0, 0, 1, 0, 0, 7)], {7: "second"})
    rows = [(10, enter(1)), (11, LEAVE), (12, enter(1)), (20, LEAVE)]
    trace = build.trace(table, waves, occupancy=occupancy)
    trace = replace(trace, markers=names, shader_data=(data(rows),))
    assert [row[0] for row in told(read(trace))] == ["main", "other"]
    unread = marker_spans(trace, ())
    assert [row[0] for row in told(unread)] == ["other", "other"]
    vague = replace(trace, occupancy=replace(occupancy, names={7: "k and k"}))
    assert len(marker_spans(vague, ())) == 0


@pytest.mark.parametrize("name", ["markers", "scripted_gfx12"])
def test_markers_equal_what_the_simulated_kernel_did(name: str) -> None:
    (trace, batch), (_, truth) = sample_waves(name), sample(name)
    spans = marker_spans(trace, [batch])
    shift = np.array([truth.offset_of_se[se] for se in truth.scopes[:, 0].tolist()])
    assert len(spans) == len(truth.scopes) > 100
    assert not spans.problems
    columns = (spans.se, spans.simd, spans.slot, spans.begin, spans.end, spans.depth, spans.marker)
    expected = truth.scopes[:, :7].copy()
    expected[:, 3:5] += shift[:, None]
    assert sorted(np.column_stack(columns).tolist()) == sorted(expected.tolist())
    reference = marker_spans(trace, [batch], ReferenceRule.REFERENCE)
    assert told(reference) == told(spans), "nothing is left open that the next wave could close"
    lives = np.isin(spans.simd, trace.waves.simd)
    assert ((spans.wave >= 0) == lives).all()
    assert (trace.waves.begin[spans.wave[lives]] <= spans.begin[lives]).all()


KINDS = {"K": MarkerKind.KERNEL, "F": MarkerKind.FUNCTION, "U": MarkerKind.SCOPE, "P": MarkerKind.POINT}


def test_names_kinds_and_sources_are_those_of_the_dictionary() -> None:
    trace, batch = sample_waves("markers")
    rows = json.loads((trace.path / "code.json").read_text())["sqtt_funcmap"]
    written = {marker: (KINDS[kind], name, source or "") for _, marker, kind, name, source in rows}
    readable = {"_ZNK8WaveTile4loadEPK6__halfi": "WaveTile::load"}
    spans = marker_spans(trace, [batch])
    for i in range(len(spans)):
        kind, name, source = written[int(spans.marker[i])]
        at = int(spans.name_id[i])
        assert spans.kind[i] == kind
        assert spans.names[at].partition("(")[0] == readable.get(name, name)
        assert spans.sources[at] == source
        assert spans.is_point[i] == (kind is MarkerKind.POINT)
    assert {*spans.marker.tolist()} == {*written}


# -- any values -----------------------------------------------------------------------------------------


def walked(values: list[tuple[int, int]]) -> list[tuple[Any, ...]]:
    """The same with a stack: (marker, begin, end, depth)."""
    stack: list[tuple[int, int]] = []
    found = []
    for time, value in values:
        if value in (0, 2, 3):
            continue  # id 0
        if value & 1 and stack:
            begin, marker = stack.pop()
            found.append((begin, time, len(stack), marker))
        if value & 2:
            stack.append((time, value >> 2))
        elif not value & 1:
            found.append((time, time, len(stack), value >> 2))
    found += [(begin, 1000, depth, marker) for depth, (begin, marker) in enumerate(stack)]
    return sorted(found)


@given(st.lists(st.integers(0, 23), max_size=60))
def test_matching_equals_a_walk_with_a_stack(values: list[int]) -> None:
    rows = list(enumerate(values, start=1))
    spans = read(made(rows, ((0, 1000),)))
    columns = (spans.begin, spans.end, spans.depth, spans.marker)
    assert sorted(zip(*(column.tolist() for column in columns), strict=True)) == walked(rows)


_ROWS = st.tuples(
    st.integers(-(1 << 59), 1 << 59) | st.integers(0, 200),
    st.integers(0, (1 << 32) - 1) | st.integers(0, 20),
    st.integers(-1, 300),
    st.integers(-1, 4),
    st.integers(-1, 32767),
    st.integers(-1, 32767),
)


@given(
    st.lists(_ROWS, max_size=30),
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 29), st.integers(0, 31)), max_size=3),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 1 << 40)), max_size=3),
    st.sampled_from(ReferenceRule),
)
def test_no_values_ever_raise(rows: list, layout: list, payloads: list, rule: ReferenceRule) -> None:
    trace = made(rows, marker_layout=tuple(layout), marker_payloads=tuple(payloads))
    for batches in ([], [trace.reader.read([0])]):
        spans = marker_spans(trace, batches, rule)
        assert (spans.end >= spans.begin).all()
        assert (spans.depth >= 0).all()
        table = event_table(trace, spans)
        assert len(table) == len(spans) + len(rows)
        assert [table.cells(row)[0] for row in range(len(table))] == sorted(table.time.tolist())


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9))), st.tuples(st.integers(0, 3), st.integers(0, 9))
)
def test_latest_is_the_last_begin_at_a_place(rows: list, asked: tuple[int, int]) -> None:
    table = np.array(rows, np.int64).reshape(-1, 2)
    found = latest(table[:, 0], table[:, 1], np.array([asked[0]]), np.array([asked[1]]))
    fits = [(begin, row) for row, (at, begin) in enumerate(rows) if at == asked[0] and begin <= asked[1]]
    assert found.tolist() == [max(fits)[1] if fits else -1]
