"""The edge cases of code rows, tokens, states and waits, by their numbers."""

from __future__ import annotations

import pytest

from rcv_py.formats.open import find_captures
from rcv_py.model.kinds import TokenKind
from tests.support.folders import OCCUPANCY, WAVE, code, one_wave, only_wave, opened, row, texts, waves
from tests.support.wave_folder import TOKENS, wave


def test_edge_12_kernels_that_never_ran_or_are_only_a_label(tmp_path):
    rows = [
        row("; dead", 0, "", 0),
        row("s_nop 0", 1, "", 0),
        row("; bare", 2, "", 64),
        row("; live", 3, "", 128),
    ]
    rows += [
        row("s_nop 1", 4, "", 128, 5, 20, 0, 0),
        row("s_nop 2", 5, "", 132),
        row("s_endpgm", 6, "", 136, 5, 20),
    ]
    trace = opened(tmp_path, {"code.json": code(*rows)})
    assert [(k.name, k.first, k.stop) for k in trace.code.kernels] == [
        ("dead", 0, 2),
        ("bare", 2, 3),
        ("live", 3, 7),
    ]
    assert trace.kernel_name == "live"
    assert find_captures(tmp_path)[0].executed == 2


def test_edge_13_tokens_at_labels_or_nowhere_have_no_line(tmp_path):
    tokens = [[100 + 4 * i, 2, 0, 4, line] for i, line in enumerate([0, -1, 1, 99999, 1 << 40])]
    assert only_wave(opened(tmp_path, {WAVE: wave(tokens)})).tokens.line.tolist() == [-1, -1, 1, -1, -1]


def test_edge_13_duplicate_numbers_keep_the_first_and_gaps_do_not_matter(tmp_path):
    rows = [
        row("s_nop 0", 7, "", 0),
        row("s_nop 1", 1, "", 4),
        row("s_nop 2", 7, "", 8),
        row("s_nop 3", -5, "", 12),
    ]
    trace = opened(tmp_path, {"code.json": code(*rows), WAVE: wave([[90, 9, 0, 4, 7], [94, 9, 0, 4, 1]])})
    assert only_wave(trace).tokens.line.tolist() == [0, 1]
    assert "gives 1 line number to a second instruction" in texts(trace)
    assert "1 row without a usable line number" in texts(trace)


def test_edge_13_numbers_may_begin_with_one_and_labels_be_numbered_last(tmp_path):
    rows = [
        row("s_nop 0", 1, "", 0),
        row("s_endpgm", 2, "", 4),
        row("s_nop 1", 3, "", 8),
        row("; a", 4, "", 0),
        row("; b", 5, "", 8),
    ]
    table = opened(tmp_path, {"code.json": code(*rows)}).code
    assert table.text == ("; a", "s_nop 0", "s_endpgm", "; b", "s_nop 1")
    assert table.row_of_number.tolist() == [-1, 1, 2, 4, 0, 3]


def test_edge_14_labels_by_text_with_any_characters(tmp_path):
    names = ["plain_kernel_0", 'odd "name", with, commas', "_Z3fooIiEvT_"]
    rows = [
        r
        for i, name in enumerate(names)
        for r in (row(f"; {name}", 2 * i, "", 64 * i), row("s_nop 0", 2 * i + 1, "", 64 * i))
    ]
    table = opened(tmp_path, {"code.json": code(*rows)}).code
    assert table.is_label.tolist() == [True, False] * 3
    assert [kernel.demangled for kernel in table.kernels] == [*names[:2], "foo"]


def test_edge_14_the_same_symbol_in_two_code_objects_is_two_kernels(tmp_path):
    rows = [
        ["; k", 0, 0, "", 1, 0],
        ["s_nop 0", 0, 1, "", 1, 0],
        ["; k", 0, 2, "", 2, 0],
        ["s_nop 0", 0, 3, "", 2, 0],
    ]
    table = opened(tmp_path, {"code.json": code(*rows)}).code
    assert table.kernel.tolist() == [0, 0, 1, 1]
    assert [kernel.name for kernel in table.kernels] == ["k", "k"]


def test_edge_14_a_label_inside_a_kernel_begins_no_kernel(tmp_path):
    rows = [
        row("; _k", 1, "void k()", 0),
        row("s_nop 0", 2, "", 0),
        row("; _label_4", 3, "", 4),
        row("s_nop 1", 4, "", 4),
    ]
    more = {"version": "3.1.0", "kernels": [{"address": 0, "codeobj": 1, "name": "k", "demangled": ""}]}
    table = opened(tmp_path, {"code.json": code(*rows, **more)}).code
    assert table.is_label.tolist() == [True, False, True, False]
    assert [(kernel.name, kernel.demangled) for kernel in table.kernels] == [("k", "void k()")]


@pytest.mark.parametrize(
    ("source", "chain"),
    [
        ("", []),
        (None, []),
        ("/a/k.py:?", [("/a/k.py", 0)]),
        ("/a/k.py:0", [("/a/k.py", 0)]),
        ("/a/../b/./k.py:7", [("/a/../b/./k.py", 7)]),
        ("/b.h:2 -> /a.h:3 -> /k.cpp:9", [("/b.h", 2), ("/a.h", 3), ("/k.cpp", 9)]),
        ("/r.h:2 -> /r.h:2 -> /k.cpp:9", [("/r.h", 2), ("/r.h", 2), ("/k.cpp", 9)]),
        ("C:\\my src\\k.hip:12", [("C:\\my src\\k.hip", 12)]),
        ("/odd:name.py:5", [("/odd:name.py", 5)]),
        ("/k.py:99999999999", [("/k.py", 0)]),
        (":5", []),
    ],
)
def test_edge_15_source_strings(tmp_path, source, chain):
    trace = opened(tmp_path, {"code.json": code(row("s_nop 0", 1, source, 8))})
    assert [(trace.sources[file].path, line) for file, line in trace.code.chain(0)] == chain


def test_edge_15_a_copy_is_found_by_its_exact_path_and_by_its_normalised_one(tmp_path):
    tree = {
        "/": {"src": {".": {"a.py": "source_1_a.py"}, "..": {"b.py": "source_2_b.py"}, "c.py": "gone.py"}}
    }
    rows = [
        row("s_nop 0", i, f"{path}:1", 8 * i)
        for i, path in enumerate(["/src/./a.py", "/src/a.py", "/src/../b.py", "/b.py", "/src/c.py", "/d.py"])
    ]
    changes = {
        "source_1_a.py": b"a\x0cb\r\nc",
        "source_2_b.py": b"b\n",
        "snapshots.json": tree,
        "code.json": code(*rows),
    }
    trace = opened(tmp_path, changes)
    assert [source.lines for source in trace.sources] == [("a\x0cb", "c")] * 2 + [("b",)] * 2 + [None] * 2
    assert [source.note for source in trace.sources[4:]] == [
        "gone.py is missing.",
        "The capture has no copy of /d.py.",
    ]


@pytest.mark.parametrize("gfxip", [9, 11])
def test_edge_16_overlaps_and_ends_behind_the_wave(tmp_path, gfxip):
    tokens = [[100, 2, 0, 40, 1], [104, 9, 0, 4, 2], [132, 9, 0, 20, 3]]
    trace = opened(tmp_path, {"filenames.json": waves(one_wave(), gfxip=gfxip), WAVE: wave(tokens)})
    one = only_wave(trace)
    assert (one.tokens.start.tolist(), one.end, int(one.tokens.end.max())) == ([100, 104, 132], 140, 152)


def test_edge_17_odd_durations_and_orders(tmp_path):
    tokens = [[120, 2, 0, 0, 1], [100, 2, 9, 4, 2], [100, 2, 0, 4, 3]]
    one = only_wave(opened(tmp_path, {WAVE: wave(tokens)}))
    assert one.tokens.start.tolist() == [100, 100, 120]
    assert one.tokens.line.tolist() == [2, 3, 1]
    assert one.tokens.duration.tolist() == [9, 4, 0]


def test_edge_18_large_numbers_do_not_wrap(tmp_path):
    big = 1 << 54
    tokens = [[big, 9, 70_000, 70_004, 1], [big + (1 << 32), 9, 1 << 33, (1 << 33) + 4, 2]]
    occupancy = {"0": [[big - 1, 1, 0, 0, 1, 1], [big + (1 << 34), 1, 0, 0, 0, 1]]}
    changes = {
        "filenames.json": waves(one_wave(big - 1, big + (1 << 34))),
        WAVE: wave(tokens, begin=big - 1, end=big + (1 << 34)),
        "occupancy.json": occupancy,
    }
    trace = opened(tmp_path, changes)
    one = only_wave(trace)
    assert one.tokens.start.tolist() == [big, big + (1 << 32)]
    assert one.tokens.stall.tolist() == [70_000, 1 << 33]
    assert (trace.waves.begin[0], trace.waves.cu[0], trace.span.begin) == (big - 1, 1, big - 1)


def test_edge_18_times_may_be_negative(tmp_path):
    trace = opened(
        tmp_path,
        {
            "filenames.json": waves(one_wave(-50, -10)),
            "occupancy.json": {"0": [[-50, 1, 0, 0, 1, 1], [-10, 1, 0, 0, 0, 1]]},
        },
    )
    assert (trace.waves.begin[0], trace.span.begin, trace.waves.cu[0]) == (-50, -50, 1)


def test_edge_19_timelines_keep_empty_and_equal_segments(tmp_path):
    states = only_wave(
        opened(tmp_path, {WAVE: wave(timeline=[[1, 20], [2, 0], [2, 4], [2, 4], [3, 99]])})
    ).states
    assert states.duration.tolist() == [20, 0, 4, 4, 99]
    assert states.length == 127


def test_edge_20_unknown_kinds_states_and_events(tmp_path):
    occupancy = {**OCCUPANCY, "events": {"0": [{"kind": "event", "type": 99, "time": 5}, {}, 7]}}
    trace = opened(tmp_path, {WAVE: wave([[100, 77, 0, 4, 1]], [[9, 60]]), "occupancy.json": occupancy})
    one = only_wave(trace)
    assert (one.tokens.kind.tolist(), one.states.state.tolist()) == ([77], [9])
    assert trace.events.kind.tolist() == [0, 99]


def test_edge_20_reasons_of_any_number(tmp_path):
    header = [*code()["header"].split(", "), "PC_Issued", "PC_Stalled", "Stall_Reasons"]
    rows = [
        [*row("s_nop 0", i, "", 8 * i), 0, 0, reasons] for i, reasons in enumerate([[1] * 12, [2], None, "x"])
    ]
    reasons = opened(tmp_path, {"code.json": {"code": rows, "header": header}}).code.stall_reasons
    assert reasons.sum(axis=1).tolist() == [12, 2, 0, 0]


def test_edge_21_waits_with_odd_lines(tmp_path):
    waits = [[1, []], [0, [[2, 0]]], [3, [[99, 0], [2, 0]]]]
    found = only_wave(opened(tmp_path, {WAVE: wave(waits=waits)})).waits
    assert found.line.tolist() == [1, -1, 3]
    assert [found.producers(i).tolist() for i in range(3)] == [[], [2], [-1, 2]]


def test_edge_22_context_switches_are_kept(tmp_path):
    tokens = [*TOKENS[:2], [116, 10, 0, 4, 1], [900_000, 10, 0, 4, 1], [900_004, 11, 0, 4, 4]]
    one = only_wave(opened(tmp_path, {WAVE: wave(tokens)}))
    assert one.tokens.kind.tolist()[2:4] == [TokenKind.TRAP] * 2
    assert int(one.tokens.end.max()) == 900_008
