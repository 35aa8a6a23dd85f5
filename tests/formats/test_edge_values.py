"""The edge cases of code rows, tokens, states and waits, by their numbers."""

import pytest

from rcv_py.formats.open import find_captures
from tests.support.folders import OCCUPANCY, WAVE, code, only_wave, opened, row, texts
from tests.support.wave_folder import wave


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


def test_edge_13_a_stall_is_not_longer_than_the_latency(tmp_path):
    rows = [
        row("s_nop 0", 0, "", 0, 1, 8, 8, 0),
        row("s_nop 1", 1, "", 4, 2, 12, 99_999, 0),
        row("s_nop 2", 2, "", 8, 1, 4, 5, 0),
    ]
    trace = opened(tmp_path, {"code.json": code(*rows)})
    assert trace.code.stall.tolist() == [8, 12, 4]
    said = "code.json states more stall than latency for 2 instructions, the first is its row 1, s_nop 1"
    assert said in texts(trace)


def test_edge_13_without_latencies_a_stall_is_kept(tmp_path):
    table = {"code": [["s_nop 0", 1, 9]], "header": "ISA, LineNumber, Stall"}
    trace = opened(tmp_path, {"code.json": table})
    assert trace.code.stall.tolist() == [9]
    assert "more stall" not in texts(trace)


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
