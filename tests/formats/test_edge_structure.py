"""Shapes of a folder that are not the usual one: what is empty, missing, elsewhere or written differently."""

import json
import os
import shutil

import numpy as np
import orjson
import pytest

from rcv_py.base.errors import NotATrace
from rcv_py.formats.open import find_captures, open_trace
from rcv_py.model.kinds import TokenKind
from rcv_py.synth.variants import SAMPLES
from tests.support.captures import trace_path
from tests.support.whole_capture import (
    CODE,
    END,
    HEADER,
    LOAD,
    MFMA,
    PLACES,
    REALTIME,
    SOURCE,
    capture,
    check_sentence,
    default_waves,
    lives,
    name_of,
    only_wave,
    opened,
    read_all,
    row,
    told,
    wave,
    wave_tree,
    write,
)

FIRST = name_of(PLACES[0])


def changed(name, **values):
    """The default capture with keys of one file replaced."""
    files = capture()
    files[name] |= values
    return files


def without(*names):
    return {name: content for name, content in capture().items() if name not in names}


def test_the_default_capture_has_no_problems(tmp_path):
    trace = opened(tmp_path, capture())
    assert trace.problems == ()
    assert trace.waves.begin.tolist() == [2000, 2200, 2000, 2200]
    assert trace.code.latency.tolist() == [0, 16, 160, 48, 16, 16, 0, 80]


# -- 1 to 3: empty things ---------------------------------------------------------------------------


@pytest.mark.parametrize("tree", [None, {}, {"0": {}, "1": {}}, {"0": {"0": {}}}, {"0": {"0": {"0": None}}}])
def test_edge_01_no_waves_in_the_index(tmp_path, tree):
    trace = opened(tmp_path, changed("filenames.json", wave_filenames=tree))
    assert len(trace.waves) == 0
    assert trace.code.text == CODE
    assert len(trace.occupancy) == 12
    found = told(trace, "filenames.json")
    assert found.text == "No wave ran on the traced compute unit, so there are no instructions to show."
    assert "compute_unit" in found.panels
    assert "isa" not in found.panels  # the code is there


def test_edge_01_index_without_the_key(tmp_path):
    files = capture()
    del files["filenames.json"]["wave_filenames"]
    assert len(opened(tmp_path, files).waves) == 0


def test_edge_01_empty_branches_beside_full_ones(tmp_path):
    tree = {"0": {"0": {}, "1": None}, "1": capture()["filenames.json"]["wave_filenames"]["1"]}
    trace = opened(tmp_path, changed("filenames.json", wave_filenames=tree))
    assert [str(trace.waves.id(i)) for i in range(len(trace.waves))] == [
        "se1/simd0/slot0/wv0",
        "se1/simd0/slot0/wv1",
    ]


@pytest.mark.parametrize("rows", [None, []])
def test_edge_02_no_code(tmp_path, rows):
    trace = opened(tmp_path, changed("code.json", code=rows))
    assert len(trace.code) == 0
    assert trace.code.kernels == ()
    tokens = read_all(trace).waves[0].tokens
    assert tokens.line.tolist() == [-1] * 6
    assert tokens.stall.tolist() == [0, 40, 8, 0, 0, 0]


@pytest.mark.parametrize("header", [None, "", [], 7, HEADER, HEADER.split(", "), HEADER.lower()])
def test_edge_02_header_of_any_shape(tmp_path, header):
    trace = opened(tmp_path, changed("code.json", header=header))
    assert trace.code.hits.tolist() == [0, 4, 4, 4, 4, 4, 0, 4]
    assert trace.code.stall.tolist() == [0, 0, 160, 32, 0, 0, 0, 0]
    assert trace.code.address.tolist()[:3] == [0x1000, 0x1000, 0x1008]


def test_edge_02_header_missing(tmp_path):
    files = capture()
    del files["code.json"]["header"]
    assert opened(tmp_path, files).code.idle.tolist() == [0, 128, 0, 0, 16, 0, 0, 0]


def test_edge_02_header_in_another_order(tmp_path):
    rows = [["s_nop 0", 5, 7, 70, 30, 4, "/k.py:3", 4, 0x40], ["s_endpgm", 6, 1, 20, 0, 0, "", 4, 0x44]]
    header = "Instruction, LineNumber, Hitcount, Latency, Stall, Idle, Source, CodeObj, Vaddr"
    code = opened(tmp_path, changed("code.json", code=rows, header=header)).code
    assert code.number.tolist() == [5, 6]
    assert (code.hits.tolist(), code.latency.tolist(), code.idle.tolist()) == ([7, 1], [70, 20], [4, 0])
    assert code.address.tolist() == [0x40, 0x44]
    assert code.chain(0) == [(0, 3)]


def test_edge_02_short_rows_are_padded_and_long_ones_cut(tmp_path):
    rows = [
        ["s_nop 0", 0, 0],
        ["s_nop 1", 0, 1, "/k.py:2", 4, 8, 3],
        [*row("s_endpgm", 2, 1, 20), 9, [], "x"],
    ]
    code = opened(tmp_path, changed("code.json", code=rows)).code
    assert code.text == ("s_nop 0", "s_nop 1", "s_endpgm")
    assert code.hits.tolist() == [0, 3, 1]
    assert code.latency.tolist() == [0, 0, 20]
    assert code.samples_issued is None


def test_edge_02_rows_that_are_no_rows_are_counted(tmp_path):
    rows = [*capture()["code.json"]["code"], None, "x", 7, [], [None, 0, 9], {}]
    trace = opened(tmp_path, changed("code.json", code=rows))
    assert trace.code.text == CODE
    assert told(trace, "code.json").text == "code.json has 6 unusable rows; the rest is shown."


@pytest.mark.parametrize(
    ("name", "tokens", "states", "waits"),
    [("instructions", 0, 6, 1), ("timeline", 6, 0, 1), ("waitcnt", 6, 6, None)],
)
@pytest.mark.parametrize("nothing", [None, []])
def test_edge_03_a_table_of_a_wave_is_empty(tmp_path, name, tokens, states, waits, nothing):
    _, one = only_wave(tmp_path, **{name: nothing})
    assert len(one.tokens) == tokens
    assert len(one.states) == states
    if waits is None:
        # null: the writer says nothing; []: a wave that never waited.
        assert one.waits is None if nothing is None else len(one.waits) == 0
    else:
        assert len(one.waits) == waits
    assert (one.begin, one.end) == (1000, 1120)


@pytest.mark.parametrize("data", [{"data": None}, {"data": []}, {}])
def test_edge_03_a_counter_file_without_samples(tmp_path, data):
    trace = opened(tmp_path, capture() | {"se0_perfcounter.json": data})
    assert trace.counters == ()
    assert trace.problems == ()


# -- 4 and 5: missing and damaged -------------------------------------------------------------------


def test_edge_04_no_realtime(tmp_path):
    trace = opened(tmp_path, without("realtime.json"))
    assert trace.waves.begin.tolist() == [1000, 1200, 2000, 2200]
    assert not trace.clock.is_aligned
    assert trace.clock.ns(100) is None
    assert told(trace, "realtime.json").text == (
        "realtime.json is missing or empty: the clocks of 2 shader engines are not aligned."
    )


def test_edge_04_no_snapshots(tmp_path):
    trace = opened(tmp_path, without("snapshots.json"))
    assert trace.sources[0].path == SOURCE
    assert trace.sources[0].lines is None
    assert trace.code.chain(LOAD) == [(0, 1)]
    found = told(trace, "snapshots.json")
    assert found.text == ("1 source file of 1 cannot be shown; The capture has no copy of /src/k.py.")
    assert found.panels == ("source",)


def test_edge_04_no_copy_of_a_source(tmp_path):
    trace = opened(tmp_path, without("source_0_k.py"))
    assert trace.sources[0].note == "source_0_k.py is missing."
    assert "source_0_k.py is missing." in told(trace, "snapshots.json").text


def test_edge_04_no_state_curves_is_the_rule(tmp_path):
    trace = opened(tmp_path, capture())
    assert trace.state_curves == ()


def test_edge_04_state_curves_are_kept_where_wave_files_are_lost(tmp_path):
    curve = {"name": "wstates3.json", "time": [1036, 1076], "state": [1, 0]}
    files = without(FIRST) | {"wstates3.json": curve}
    (found,) = opened(tmp_path, files).state_curves
    assert (found.state, found.time.tolist(), found.waves.tolist()) == (3, [1036, 1076], [1, 0])


def test_edge_04_no_occupancy(tmp_path):
    trace = opened(tmp_path, without("occupancy.json"))
    assert len(trace.occupancy) == 0
    assert trace.waves.begin.tolist() == [2000, 2200, 2000, 2200]
    assert trace.waves.cu.tolist() == [-1] * 4
    assert read_all(trace).waves[0].cu == 1  # the wave file knows
    found = told(trace, "occupancy.json")
    assert found.text == "occupancy.json is missing: what ran on the other compute units is not known."
    assert found.panels == ("global_timeline",)


def test_edge_04_one_wave_file_missing(tmp_path):
    trace = opened(tmp_path, without(FIRST))
    assert trace.waves.size.tolist()[0] == 0
    assert trace.waves.span(0).width == 120  # its place is still known
    assert told(trace, FIRST).text == f"1 of 4 wave files are missing or empty, such as {FIRST}."
    batch = read_all(trace)
    assert batch.missing == ((0, f"{FIRST} is missing."),)
    assert [one.row for one in batch.waves] == [1, 2, 3]


def test_edge_04_all_but_the_index_missing(tmp_path):
    trace = opened(tmp_path, {"filenames.json": capture()["filenames.json"]})
    assert len(trace.waves) == 4
    wheres = [problem.where for problem in trace.problems]
    assert wheres == ["code.json", "realtime.json", FIRST, "occupancy.json"]
    for problem in trace.problems:
        check_sentence(problem)


WHOLE = orjson.dumps(wave(1000))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it is empty"),
        (b" \n", "it is empty"),
        (WHOLE[: len(WHOLE) // 2], "it is not JSON, or cut off"),
        (WHOLE[:-1], "it is not JSON, or cut off"),
        (b"\x00" * 100, "it is not JSON, or cut off"),
        (b"{}", "it does not describe a wave"),
        (b'{"wave": null}', "it does not describe a wave"),
        (
            WHOLE.replace(b"[1032,1,0,4,1]", b"[1032,1,0,4]"),
            "its instructions are not rows of 5 whole numbers",
        ),
        (WHOLE.replace(b"[1032,1,0,4,1]", b"[1032,NaN,0,4,1]"), "it is not JSON, or cut off"),
    ],
)
def test_edge_05_a_damaged_wave_file(tmp_path, data, why):
    trace = opened(tmp_path, capture() | {FIRST: data})
    ((lost, text),) = read_all(trace).missing
    assert lost == 0
    assert text.startswith(f"{FIRST} is damaged: {why}")
    assert text.endswith(".")


def test_edge_05_every_json_file_may_begin_with_a_byte_order_mark(tmp_path):
    files = {
        name: b"\xef\xbb\xbf" + orjson.dumps(content) if name.endswith(".json") else content
        for name, content in capture().items()
    }
    trace = opened(tmp_path, files)
    assert trace.problems == ()
    assert trace.waves.begin.tolist() == [2000, 2200, 2000, 2200]
    assert read_all(trace).waves[3].tokens.line.tolist() == [1, 2, 3, 4, 5, 7]


def test_edge_05_a_byte_order_mark_of_a_source_copy_is_no_letter(tmp_path):
    trace = opened(tmp_path, capture() | {"source_0_k.py": b"\xef\xbb\xbfimport os\r\nx = 1\r\n"})
    assert trace.sources[0].lines == ("import os", "x = 1")


def test_edge_05_latin_1_in_a_path(tmp_path):
    files = capture()
    text = orjson.dumps(files["code.json"]).replace(b"/src/k.py", b"/h\xf6me/k.py")
    trace = opened(tmp_path, files | {"code.json": text})
    assert trace.sources[0].path == "/h\ufffdme/k.py"
    assert trace.code.latency.sum() == 336
    assert told(trace, "code.json").text == (
        "code.json has characters that are not UTF-8; they are shown as \ufffd."
    )


def test_edge_05_floats_where_whole_numbers_belong(tmp_path):
    def floats(value):
        if isinstance(value, dict):
            return {key: floats(child) for key, child in value.items()}
        if isinstance(value, list | tuple):
            return [floats(child) for child in value]
        return float(value) if type(value) is int else value

    plain = opened(tmp_path / "plain", capture())
    trace = opened(tmp_path / "floats", floats(capture()))
    assert trace.problems == ()
    assert trace.gfxip == 9
    assert trace.waves.begin.tolist() == plain.waves.begin.tolist()
    assert trace.waves.cu.tolist() == [1] * 4
    assert trace.code.latency.tolist() == plain.code.latency.tolist()
    assert trace.clock.offsets == plain.clock.offsets
    for one, other in zip(read_all(trace).waves, read_all(plain).waves, strict=True):
        assert one.tokens.start.tolist() == other.tokens.start.tolist()
        assert one.waits.line.tolist() == other.waits.line.tolist()


# -- 6 and 7: the same content, written or kept differently -----------------------------------------


def backwards(value):
    """The same JSON with the keys of every object in the opposite order."""
    if isinstance(value, dict):
        return {key: backwards(child) for key, child in reversed(value.items())}
    return [backwards(child) for child in value] if isinstance(value, list | tuple) else value


def columns(trace):
    """Everything the folder says, as comparable columns."""
    batch = read_all(trace)
    return [
        trace.code.text,
        trace.code.latency.tolist(),
        trace.code.chain_line.tolist(),
        trace.waves.begin.tolist(),
        trace.waves.kernel.tolist(),
        trace.occupancy.time.tolist(),
        trace.clock.offsets,
        trace.sources[0].lines,
        [one.tokens.start.tolist() for one in batch.waves],
        [one.tokens.line.tolist() for one in batch.waves],
        [one.states.state.tolist() for one in batch.waves],
        [one.waits.line.tolist() for one in batch.waves],
    ]


@pytest.mark.parametrize("indent", [None, 0, 2, "\t"])
def test_edge_06_spaces_and_the_order_of_keys_do_not_matter(tmp_path, indent):
    plain = opened(tmp_path / "plain", capture())
    texts = {
        name: json.dumps(backwards(content), indent=indent).encode()
        for name, content in capture().items()
        if name.endswith(".json")
    }
    other = opened(tmp_path / "other", capture() | texts)
    assert other.problems == ()
    assert columns(other) == columns(plain)


@pytest.mark.parametrize(
    "name", ["renamed", "with spaces", "ünï 传感 🙂", "a#b?c=%20&d", "ui_output_agent_x", "-rf"]
)
def test_edge_07_the_name_of_the_folder_says_nothing(tmp_path, name):
    trace = opened(tmp_path / name, capture())
    assert trace.name == name
    assert trace.problems == ()
    assert read_all(trace).missing == ()
    assert [entry.name for entry in find_captures(tmp_path)] == [name]


def test_edge_07_opening_writes_nothing_into_the_folder(tmp_path):
    folder = write(tmp_path / "read only", capture())
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    before = {path.name: path.stat().st_mtime_ns for path in [folder, *folder.iterdir()]}
    try:
        assert read_all(open_trace(folder)).missing == ()
        assert {path.name: path.stat().st_mtime_ns for path in [folder, *folder.iterdir()]} == before
    finally:
        folder.chmod(0o755)


def test_edge_07_a_folder_that_was_moved_while_it_was_open(tmp_path):
    trace = opened(tmp_path / "here", capture())
    shutil.move(tmp_path / "here", tmp_path / "there")
    assert read_all(trace).missing[0] == (0, f"{FIRST} is missing.")
    assert read_all(open_trace(tmp_path / "there")).missing == ()


def test_edge_07_a_link_to_a_folder_is_that_folder(tmp_path):
    write(tmp_path / "real", capture())
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    trace = open_trace(tmp_path / "link")
    assert trace.name == "link"
    assert read_all(trace).missing == ()


@pytest.mark.parametrize("suffix", [".zip", ".tar.gz", ".tgz", ".tar.zst"])
def test_edge_07_an_archive_has_to_be_unpacked(tmp_path, suffix):
    path = tmp_path / f"ui_output{suffix}"
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(
        NotATrace, match=r"is not a decoded thread trace: it is an archive; unpack it first\.$"
    ):
        open_trace(path)


# -- 8 and 9: another choice, another topology of files ---------------------------------------------


@pytest.mark.parametrize("name", ["filenames.json", "code.json", FIRST, "source_0_k.py"])
def test_edge_08_a_file_inside_means_its_folder(tmp_path, name):
    folder = write(tmp_path / "ui_output_agent_1_dispatch_2", capture())
    trace = open_trace(folder / name)
    assert trace.path == folder
    assert len(trace.waves) == 4


def test_edge_08_the_parent_lists_all_captures(tmp_path):
    for name in ("b", "a"):
        write(tmp_path / f"ui_output_{name}", capture())
    write(tmp_path / "deeper" / "run" / "ui_output_c", changed("code.json", code=None))
    (tmp_path / "stats_ui_output_a.csv").write_text("CodeObj,Vaddr\n")
    found = find_captures(tmp_path)
    assert [entry.name for entry in found] == ["ui_output_c", "ui_output_a", "ui_output_b"]
    assert [(entry.kernel, entry.waves, entry.hits) for entry in found[1:]] == [("my_kernel", 4, 24)] * 2
    assert [(entry.instructions, entry.executed, entry.mapped) for entry in found[1:]] == [(7, 6, 7)] * 2
    with pytest.raises(NotATrace, match=r"it holds 3 captures; choose one of them, such as ui_output_c\.$"):
        open_trace(tmp_path)


def test_edge_08_the_parent_of_a_single_capture_opens_it(tmp_path):
    write(tmp_path / "run" / "ui_output_a", capture())
    assert open_trace(tmp_path).path == tmp_path / "run" / "ui_output_a"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("run_1_shader_engine_0_5.att", "it is a raw thread trace; let rocprofv3 and its trace decoder make"),
        ("stats_ui_output_a.csv", "it is a table that lies beside captures; choose the ui_output folder."),
        (
            "out_gfx950_code_object_id_4.out",
            "it is a code object of a raw trace; choose the ui_output folder",
        ),
        ("run_results.db", "it is a rocpd database, which this version does not read; choose a ui_output"),
    ],
)
def test_edge_08_a_file_beside_a_capture_says_what_to_choose(tmp_path, name, why):
    write(tmp_path / "ui_output_a", capture())
    path = tmp_path / name
    path.write_bytes(b"\x01\x02")
    with pytest.raises(NotATrace) as caught:
        open_trace(path)
    assert str(caught.value).startswith(f"{path} is not a decoded thread trace: {why}")
    assert str(caught.value).endswith(".")
    assert "ui_output" in caught.value.hint


def test_edge_09_placeholder_is_occupancy_only(tmp_path):
    SAMPLES["placeholder"].write(tmp_path / "p")
    trace = open_trace(tmp_path / "p")
    assert (len(trace.waves), len(trace.code)) == (0, 0)
    assert len(trace.occupancy) > 0
    found = told(trace, "filenames.json")
    assert {"compute_unit", "isa", "hotspot", "explorer"} <= set(found.panels)
    assert "global_timeline" not in found.panels
    (entry,) = find_captures(tmp_path / "p")
    assert entry.note == "Placeholder: no wave ran on the traced compute unit, so nothing was disassembled."


def test_edge_09_an_engine_with_occupancy_but_without_waves(tmp_path):
    waves = {place: content for place, content in default_waves().items() if place[0] == 0}
    files = capture(waves)
    files["occupancy.json"]["1"] = lives(default_waves())["1"]
    files["realtime.json"] = REALTIME
    trace = opened(tmp_path, files)
    assert np.unique(trace.waves.se).tolist() == [0]
    assert np.unique(trace.occupancy.se).tolist() == [0, 1]
    assert trace.problems == ()
    assert trace.clock.offsets == {0: 1000, 1: 0}


@pytest.mark.parametrize("rows", [None, [], "absent"])
def test_edge_09_an_engine_with_waves_but_without_occupancy(tmp_path, rows):
    files = capture()
    if rows == "absent":
        del files["occupancy.json"]["1"]
    else:
        files["occupancy.json"]["1"] = rows
    trace = opened(tmp_path, files)
    assert trace.waves.cu.tolist() == [1, 1, -1, -1]
    assert trace.waves.kernel.tolist() == [1, 1, -1, -1]
    assert trace.waves.begin.tolist() == [2000, 2200, 2000, 2200]
    assert [one.cu for one in read_all(trace).waves] == [1] * 4


# -- 10 and 11: other kinds of table ----------------------------------------------------------------


def test_edge_10_pc_samples_with_a_list_of_13_columns():
    code = open_trace(trace_path("pcsampling")).code
    assert int(code.samples_issued.sum()) == 1306
    assert int(code.samples_stalled.sum()) == 3384
    assert code.stall_reasons.sum(axis=0).tolist() == [0, 190, 138, 657, 252, 761, 609, 777, 0, 0]
    assert code.stall_reasons.sum(axis=1).tolist() == code.samples_stalled.tolist()
    assert (code.hits.any(), code.latency.any()) == (False, False)


def test_edge_10_pc_samples_need_no_waves_and_no_occupancy():
    trace = open_trace(trace_path("pcsampling"))
    assert (trace.has_pc_samples, trace.has_thread_trace) == (True, False)
    assert (len(trace.waves), len(trace.occupancy), trace.span.width) == (0, 0, 1)
    found = told(trace, "filenames.json")
    assert found.text == (
        "This capture holds PC samples and no thread trace: there are no waves and no times."
    )
    assert "global_timeline" in found.panels
    assert not [problem for problem in trace.problems if problem.where == "occupancy.json"]


def test_edge_10_pc_samples_with_a_string_of_14_columns(tmp_path):
    header = f"{HEADER}, ServiceType, Issued, Stalled, NotIssuedReasons"
    rows = [
        [*row("s_nop 0", 0), 2, 5, 3, [0, 1, 2, 0, 0, 0, 0, 0, 0, 0]],
        [*row("s_endpgm", 1), 1, 1, 0, []],
    ]
    files = {
        "filenames.json": {"gfxip": 9, "thread_trace": False, "pc_sampling": True, "is_pcs_stochastic": True},
        "code.json": {"code": rows, "header": header},
    }
    trace = opened(tmp_path, files)
    assert trace.has_pc_samples
    assert trace.extra["is_stochastic"] is True
    assert trace.code.samples_issued.tolist() == [5, 1]
    assert trace.code.samples_stalled.tolist() == [3, 0]
    assert trace.code.stall_reasons[:, :3].tolist() == [[0, 1, 2], [0, 0, 0]]


def packed(time, cu, simd, slot, start, kernel):
    """A wave event as one integer, as writers before version 3 have it."""
    return time // 8 << 23 | cu << 19 | start << 18 | slot << 14 | simd << 12 | kernel


def test_edge_11_packed_occupancy(tmp_path):
    events = [packed(1000, 1, 0, 0, 1, 1), packed(1040, 2, 3, 5, 1, 4095), packed(1120, 1, 0, 0, 0, 1)]
    trace = opened(tmp_path, capture({PLACES[0]: wave(1000)}) | {"occupancy.json": {"0": events}})
    shown = trace.occupancy
    assert shown.time.tolist() == [1000, 1040, 1120]
    assert (shown.cu.tolist(), shown.simd.tolist(), shown.slot.tolist()) == ([1, 2, 1], [0, 3, 0], [0, 5, 0])
    assert shown.is_start.tolist() == [True, True, False]
    assert shown.kernel.tolist() == [1, 4095, 1]
    assert trace.waves.cu.tolist() == [1]


FIELDS = ["time", "cu", "simd", "wave_id", "start", "kernel_id", "me_id", "pipe_id", "is_ext", "workgroup_id"]


@pytest.mark.parametrize("has_fields", [True, False])
def test_edge_11_eleven_columns(tmp_path, has_fields):
    rows = [[1000, 1, 0, 0, 1, 1, 1, 2, 1, 77, 3], [1120, 1, 0, 0, 0, 1, 1, 2, 0, 88, 4]]
    content = {"0": rows, "version": "3.1.0"}
    if has_fields:
        content["occupancy_fields"] = [*FIELDS, "cluster_id"]
    shown = opened(tmp_path, capture({PLACES[0]: wave(1000)}) | {"occupancy.json": content}).occupancy
    assert (shown.me.tolist(), shown.pipe.tolist()) == ([1, 1], [2, 2])
    assert shown.workgroup.tolist() == [77, -1]  # only meant where is_ext is set
    assert shown.cluster.tolist() == [3, -1]


def test_edge_11_columns_are_found_by_name_and_unknown_ones_ignored(tmp_path):
    fields = ["kernel_id", "new", "start", "wave_id", "simd", "cu", "time", "newer", "pipe_id"]
    rows = [[1, 9, 1, 0, 0, 1, 1000, 8, 2], [1, 9, 0, 0, 0, 1, 1120, 8, 2]]
    content = {"0": rows, "occupancy_fields": fields}
    trace = opened(tmp_path, capture({PLACES[0]: wave(1000)}) | {"occupancy.json": content})
    shown = trace.occupancy
    assert shown.time.tolist() == [1000, 1120]
    assert (shown.pipe.tolist(), shown.me.tolist()) == ([2, 2], [-1, -1])
    assert (trace.waves.cu.tolist(), trace.waves.kernel.tolist()) == ([1], [1])


def test_edge_11_more_columns_than_known_without_names(tmp_path):
    content = {"0": [[1000, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 5, 6], [1120, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 5, 6]]}
    trace = opened(tmp_path, capture({PLACES[0]: wave(1000)}) | {"occupancy.json": content})
    assert trace.waves.cu.tolist() == [1]


def test_edge_11_bad_events_are_left_out_and_counted(tmp_path):
    files = capture()
    files["occupancy.json"]["0"] += [[5, 1], "x", None, [1, 1, 0, 0, "1", 1]]
    files["occupancy.json"]["SE"] = [[0, 0, 0, 0, 1, 1]]
    trace = opened(tmp_path, files)
    assert len(trace.occupancy) == 12
    assert told(trace, "occupancy.json").text == (
        "occupancy.json has 4 unusable wave events; the rest is shown."
    )


def test_edge_11_keys_of_the_index_that_are_no_numbers(tmp_path):
    tree = wave_tree(default_waves()) | {"x": {}, "-1": {}, "99999999": {}}
    trace = opened(tmp_path, changed("filenames.json", wave_filenames=tree))
    assert len(trace.waves) == 4
    assert told(trace, "filenames.json").text == (
        "filenames.json has 3 unusable entries, the first is 'x'; the rest is shown."
    )


def test_edge_11_an_index_of_bare_names_takes_times_from_the_files(tmp_path):
    tree = {"0": {"0": {"0": {"0": FIRST}}}}
    files = changed("filenames.json", wave_filenames=tree)
    trace = opened(tmp_path, files | {FIRST: json.dumps(files[FIRST], indent=2).encode()})
    assert (trace.waves.begin.tolist(), trace.waves.end.tolist()) == ([2000], [2120])


def test_the_kind_of_a_matrix_token_comes_from_its_text(tmp_path):
    tokens = read_all(opened(tmp_path, capture())).waves[0].tokens
    kinds = dict(zip(tokens.line.tolist(), tokens.kind.tolist(), strict=True))
    assert (kinds[MFMA], kinds[LOAD], kinds[END]) == (TokenKind.MATRIX, TokenKind.SMEM, TokenKind.MSG)


def test_a_folder_named_like_a_file_of_the_capture_is_as_good_as_missing(tmp_path):
    folder = write(tmp_path / "c", without("code.json"))
    os.mkdir(folder / "code.json")
    trace = open_trace(folder)
    assert told(trace, "code.json").text == "code.json is missing: instructions have no text and no totals."
