"""The edge cases of files and folders, by their numbers."""

import orjson
import pytest

from rcv_py.base.errors import NotATrace, TraceError
from rcv_py.base.problems import Affects
from rcv_py.formats.input import files
from rcv_py.formats.open import find_captures, open_trace
from rcv_py.model.ids import WaveId
from tests.support.folders import CODE, WAVE, code, one_wave, only_wave, opened, row, texts, waves, write


def test_the_good_folder_has_no_problem(tmp_path):
    trace = opened(tmp_path)
    assert trace.problems == ()
    assert trace.kernel_name == "kernel"
    assert (trace.waves.cu[0], trace.waves.kernel[0]) == (1, 1)
    assert trace.sources[0].lines == ("import x", "", "def k():", "    return 1", "    done")
    assert only_wave(trace).tokens.line.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "tree",
    [None, {}, {"0": None}, {"0": {}}, {"0": {"1": {}}}, {"0": {"1": {"2": None}}}, {"0": {"1": {"2": {}}}}],
)
def test_edge_01_wave_hierarchies_may_be_null_or_empty(tmp_path, tree):
    trace = opened(tmp_path, {"filenames.json": waves(tree), WAVE: None})
    assert len(trace.waves) == 0
    assert "No wave ran on the traced compute unit" in texts(trace)
    assert trace.problems_about(Affects.WAVES)
    assert not trace.problems_about(Affects.OCCUPANCY)


@pytest.mark.parametrize("index", [{}, waves(None), waves([1]), waves({"x": 1})])
def test_wave_files_that_the_index_does_not_list_are_no_proof_that_no_wave_ran(tmp_path, index):
    trace = opened(tmp_path, {"filenames.json": index})
    assert len(trace.waves) == 0
    assert "lists no wave, although wave files lie beside it" in texts(trace)
    assert "No wave ran" not in texts(trace)
    assert trace.problems_about(Affects.WAVES)


@pytest.mark.parametrize("content", [b"null", [], {}])
def test_occupancy_without_events_is_reported_if_waves_ran(tmp_path, content):
    trace = opened(tmp_path, {"occupancy.json": content})
    assert "occupancy.json lists no wave" in texts(trace)
    assert trace.problems_about(Affects.OCCUPANCY)


def test_a_file_that_may_not_be_read_is_not_said_to_be_damaged(tmp_path, monkeypatch):
    """Root may read any, so the open is refused here."""
    real = files._open

    def refusing(folder, name):
        if name == "code.json":
            raise PermissionError(13, "Permission denied", name)
        return real(folder, name)

    monkeypatch.setattr(files, "_open", refusing)
    (problem,) = (one for one in opened(tmp_path, {}).problems if one.where == "code.json")
    assert str(problem) == "code.json may not be read. Ask its owner for access."


@pytest.mark.parametrize("content", [code(), {"code": None}, {}, []])
def test_a_program_without_instructions_is_reported_if_waves_ran(tmp_path, content):
    trace = opened(tmp_path, {"code.json": content})
    assert len(trace.waves) == 1
    assert "code.json has no instructions" in texts(trace)
    assert trace.problems_about(Affects.CODE)


@pytest.mark.parametrize("number", [-5, 2**62, 1.5, "9", True, []])
def test_costs_that_are_no_numbers_are_reported(tmp_path, number):
    rows = row("s_nop 0", 1, "", 0, number, number, 4, 4), row("s_nop 1", 2)[:7], row("s_nop 2", 3)
    trace = opened(tmp_path, {"code.json": code(*rows)})
    assert (trace.code.hits[0], trace.code.latency[0], trace.code.stall[0]) == (0, 0, 4)
    assert "code.json has 2 unusable costs" in texts(trace)


def test_edge_01_wave_hierarchy_may_be_missing(tmp_path):
    assert len(opened(tmp_path, {"filenames.json": {"gfxip": 9}}).waves) == 0


def test_edge_01_bad_keys_and_entries_are_left_out_and_told_once(tmp_path):
    tree = one_wave() | {"x": {}, "-1": {}, "99999": {}, "1": {"0": {"0": {"0": None, "1": 5, "2": []}}}}
    trace = opened(tmp_path, {"filenames.json": waves(tree)})
    assert [trace.waves.id(0), len(trace.waves)] == [WaveId(0, 0, 0, 0), 1]
    assert len(trace.problems) == 1
    assert "filenames.json has 6 unusable entries" in texts(trace).replace("entrys", "entries")


@pytest.mark.parametrize("rows", [None, []])
def test_edge_02_code_may_be_null_or_empty(tmp_path, rows):
    trace = opened(tmp_path, {"code.json": {"code": rows}})
    assert len(trace.code) == 0
    assert only_wave(trace).tokens.line.tolist() == [-1] * 4


@pytest.mark.parametrize(
    "header",
    [
        None,
        7,
        "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle",
        ["isa", "_", "LINENUMBER"],
    ],
)
def test_edge_02_headers_may_be_missing_a_string_or_a_list(tmp_path, header):
    trace = opened(tmp_path, {"code.json": {**CODE, "header": header}})
    assert trace.code.number.tolist() == [0, 1, 2, 3, 4]
    assert trace.code.latency.sum() == 36


def test_edge_02_columns_follow_the_header_and_its_aliases(tmp_path):
    rows = [["/a.py:1", 11, "s_nop 0", 3, 5]]
    trace = opened(
        tmp_path, {"code.json": {"code": rows, "header": "Source, Line, Instruction, HitCount, Latency"}}
    )
    assert trace.code.text[0] == "s_nop 0"
    assert trace.code.number[0] == 11
    assert trace.code.hits[0] == 3
    assert trace.code.latency[0] == 5


def test_edge_02_short_rows_are_padded_and_long_ones_cut(tmp_path):
    rows = [["s_nop 0", 0, 1], ["s_nop 1", 0, 2, "", 1, 8, 7, 1, 1, 1, "more", []], "no row", [5, 0, 1]]
    trace = opened(tmp_path, {"code.json": code(*rows)})
    assert trace.code.text == ("s_nop 0", "s_nop 1")
    assert trace.code.hits.tolist() == [0, 7]
    assert "code.json has 2 unusable rows" in texts(trace)


def test_edge_03_counter_data_may_be_null(tmp_path):
    assert opened(tmp_path, {"se0_perfcounter.json": {"data": None}}).counters == ()


def test_edge_04_a_missing_wave_file_leaves_its_place_in_the_index(tmp_path):
    trace = opened(tmp_path, {WAVE: None})
    assert (trace.waves.begin[0], trace.waves.size[0]) == (80, 0)
    assert trace.reader.read([0]).missing == ((0, f"{WAVE} is missing."),)
    assert "missing or empty: 1 of 1" in texts(trace)


def test_edge_05_marks_latin_1_and_floats_are_read(tmp_path):
    text = orjson.dumps({**CODE, "code": [row("s_nop 0", 1.0, "/h/Jürgen.py:3.0", 256.0, 2.0, 8, 0, 0)]})
    trace = opened(
        tmp_path,
        {
            "code.json": text.decode().encode("latin-1"),
            "filenames.json": b"\xef\xbb\xbf" + orjson.dumps(waves(one_wave(80.0, 140.0))),
        },
    )
    assert (trace.code.number[0], trace.code.address[0], trace.code.hits[0]) == (1, 256, 2)
    assert (trace.waves.begin[0], trace.waves.end[0]) == (80, 140)
    assert "not UTF-8" in texts(trace)


def test_edge_07_an_archive_is_told_what_to_do(tmp_path):
    (tmp_path / "run.tar.gz").write_bytes(b"x")
    with pytest.raises(NotATrace, match="archive; unpack it"):
        open_trace(tmp_path / "run.tar.gz")


def test_edge_08_a_file_inside_opens_its_folder(tmp_path):
    folder = write(tmp_path / "capture")
    for name in ("filenames.json", WAVE, "source_0_k.py"):
        assert open_trace(folder / name).path == folder


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("x.att", "cannot be decoded: x.att is damaged"),
        ("x.csv", "choose the ui_output folder"),
        ("x.out", "code object"),
        ("x.db", "it is not a SQLite database"),
        ("x.txt", "outside of any capture folder"),
    ],
)
def test_edge_08_other_files_say_what_they_are(tmp_path, name, sentence):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(TraceError, match=sentence):
        open_trace(tmp_path / name)


def test_edge_08_a_parent_opens_its_only_capture_and_lists_several(tmp_path):
    write(tmp_path / "run" / "host" / "one")
    assert open_trace(tmp_path / "run").name == "one"
    write(tmp_path / "run" / "host" / "two")
    with pytest.raises(TraceError, match="holds 2 captures, and one is needed"):
        open_trace(tmp_path / "run")
    assert [entry.name for entry in find_captures(tmp_path)] == ["one", "two"]


@pytest.mark.parametrize(
    "content", [{"code": None}, {**CODE, "code": [[*r[:6], 0, 0, 0, 0] for r in CODE["code"]]}]
)
def test_edge_09_a_placeholder_shows_occupancy_only(tmp_path, content):
    changes = {"filenames.json": waves(None), "code.json": content, WAVE: None}
    trace = opened(tmp_path, changes)
    assert (len(trace.waves), len(trace.occupancy)) == (0, 2)
    assert trace.problems_about(Affects.WAVES)
    assert not trace.problems_about(Affects.OCCUPANCY)
    entry = find_captures(tmp_path)[0]
    assert entry.waves == 0
    assert "o wave ran on the traced compute unit" in entry.note


def test_edge_10_pc_sampling_with_a_list_header_of_13(tmp_path):
    header = [*code()["header"].split(", "), "PC_Issued", "PC_Stalled", "Stall_Reasons"]
    rows = [[*row("s_nop 0", 1, "/a.py:1", 8), 3, 4, [0, 1, 3, 0, 0, 0, 0, 0, 0, 0]], [*row("s_nop 1", 2), 1]]
    index = waves(None, thread_trace=False, pc_sampling=True, is_pcs_stochastic=True)
    gone = {"occupancy.json": None, "realtime.json": None, WAVE: None}
    trace = opened(tmp_path, {"filenames.json": index, "code.json": {"code": rows, "header": header}, **gone})
    assert (trace.has_thread_trace, trace.has_pc_samples) == (False, True)
    assert trace.code.samples_issued.tolist() == [3, 1]
    assert trace.code.samples_stalled.tolist() == [4, 0]
    assert trace.code.stall_reasons.tolist() == [[0, 1, 3, *[0] * 7], [0] * 10]
    assert "PC samples and no thread trace" in texts(trace)
    assert trace.problems_about(Affects.WAVES)
    assert trace.problems_about(Affects.OCCUPANCY)


def test_edge_10_pc_sampling_with_a_string_header_of_14(tmp_path):
    header = code()["header"] + ", ServiceType, Issued, Stalled, NotIssuedReasons"
    rows = [[*row("s_nop 0", 1, "/a.py:1", 8), 2, 3, 4, [4]]]
    trace = opened(tmp_path, {"code.json": {"code": rows, "header": header}})
    assert (trace.code.samples_issued[0], trace.code.samples_stalled[0]) == (3, 4)
    assert trace.code.stall_reasons[0].tolist() == [4] + [0] * 9


def test_edge_10_a_heading_without_values_is_not_known(tmp_path):
    header = [*code()["header"].split(", "), "PC_Issued", "PC_Stalled", "Stall_Reasons", "PC_Unsure"]
    rows = [[*row("s_nop 0", 1, "/a.py:1", 8), 3, 4]]
    table = opened(tmp_path, {"code.json": {"code": rows, "header": header}}).code
    assert (table.samples_issued.tolist(), table.samples_stalled.tolist()) == ([3], [4])
    assert table.stall_reasons is None
    assert table.samples_unsure is None


def test_edge_11_legacy_packed_occupancy(tmp_path):
    def packed(time, start, cu=3, slot=5, *, simd=2, kernel=9):
        return ((((time << 4 | cu) << 1 | start) << 4 | slot) << 2 | simd) << 12 | kernel

    rows = [packed(10, 1), packed(20, 0), "x"]
    events = opened(tmp_path, {"occupancy.json": {"2": rows}}).occupancy
    assert events.time.tolist() == [80, 160]
    assert [events.cu[0], events.slot[0], events.simd[0], events.kernel[0], events.se[0]] == [3, 5, 2, 9, 2]
    assert events.is_start.tolist() == [True, False]


def test_edge_11_eleven_columns_in_the_order_of_their_names(tmp_path):
    fields = [
        *("time", "start", "cu", "simd", "wave_id", "kernel_id", "me_id", "pipe_id", "is_ext"),
        *("workgroup_id", "cluster_id", "new"),
    ]
    rows = [[5, 1, 7, 1, 2, 3, 1, 2, 1, 77, 4, 0], [9, 0, 7, 1, 2, 3, 1, 2, 0, 77, 4, 0]]
    events = opened(tmp_path, {"occupancy.json": {"0": rows, "occupancy_fields": fields}}).occupancy
    assert [events.cu[0], events.simd[0], events.slot[0], events.me[0], events.pipe[0]] == [7, 1, 2, 1, 2]
    assert events.workgroup.tolist() == [77, -1]
    assert events.cluster.tolist() == [4, -1]
