"""The edge cases of counters, shader data and sheer size, by their numbers."""

import os

from rcv_py.formats.input.limits import INSTRUCTION_LETTERS
from rcv_py.formats.open import open_trace
from rcv_py.model.kinds import EventKind
from tests.support.folders import OCCUPANCY, WAVE, code, one_wave, opened, row, texts, waves, write


def test_edge_31_counter_names_are_kept_as_they_are(tmp_path):
    names = [f"SQ_{i}" for i in range(9)] + ["SQ_X:0xf", 7]
    trace = opened(tmp_path, {"filenames.json": waves(one_wave(), counter_names=names)})
    assert trace.counter_names == (*names[:10], "7")


def test_spm_series_are_summed_up(tmp_path):
    spm = {
        "C": {"dimensions": ["SE", "INSTANCE"], "values": {"2": {"0": [[10, 5], [3, 7]], "x": [], "1": None}}}
    }
    series = opened(tmp_path, {"spm.json": spm}).spm
    assert [(s.counter, s.se, s.instance, s.time.tolist(), s.value.tolist()) for s in series] == [
        ("C", 2, 0, [10, 13], [5.0, 7.0])
    ]


def test_shader_data_keeps_the_order_of_the_file_and_follows_its_schema(tmp_path):
    index = waves(one_wave(), shaderdata_filenames={"0": [["shaderdata_0_0.json", 0, 9], ["../x", 0, 1]]})
    content = {
        "records_schema": ["value", "time", "cu", "simd", "wave_id", "flags"],
        "records": [[6, 20, 3, 1, 2, 0], [1 << 31, 20, 3, 1, 2, 1], [5, 10, 3, 1, 2, 0], ["x"]],
    }
    trace = opened(tmp_path, {"filenames.json": index, "shaderdata_0_0.json": content})
    data = trace.shader_data[0]
    assert (data.time.tolist(), data.value.tolist()) == ([20, 20, 10], [6, 1 << 31, 5])
    assert (data.slot.tolist(), data.flags.tolist()) == ([2, 2, 2], [0, 1, 0])
    assert "outside the capture folder" in texts(trace)


def test_a_value_of_shader_data_has_32_bits(tmp_path):
    index = waves(one_wave(), shaderdata_filenames={"0": [["s.json", 0, 9]]})
    values = [6, -1, 1 << 40, -(1 << 40), (1 << 32) - 1]
    trace = opened(
        tmp_path, {"filenames.json": index, "s.json": {"records": [[9, one, 0, 0, 0, 0] for one in values]}}
    )
    assert trace.shader_data[0].value.tolist() == [6, (1 << 32) - 1, (1 << 32) - 1]
    assert "s.json has 2 unusable records" in texts(trace)


def test_other_simd_belongs_to_the_sibling(tmp_path):
    index = waves(one_wave(), gfxip=11, other_simd_filenames={"0": [["o.json", 0, 9]]})
    content = {
        "wgp": 3,
        "instructions_schema": ["time", "duration", "category"],
        "instructions": [[9, 2, 3], [5, 1, 5]],
    }
    other = opened(tmp_path, {"filenames.json": index, "o.json": content}).other_simd[0]
    assert (other.simd, other.cu, other.time.tolist(), other.kind.tolist()) == (1, 3, [5, 9], [5, 3])


def test_hardware_events_and_dispatches_of_version_3_1(tmp_path):
    events = [
        {"kind": "event", "time": 30, "type": 6, "me_id": 1, "pipe_id": 2, "payload": (1 << 64) - 1},
        {
            "kind": "dispatch",
            "time": 10,
            "kernel_id": 4,
            "vgprs": 128,
            "thread_dim_x": 64,
            "thread_dim_y": 2,
            "entry_point": {"address": 1 << 63, "code_object_id": 5},
        },
    ]
    trace = opened(tmp_path, {"occupancy.json": {**OCCUPANCY, "version": "3.1.0", "events": {"0": events}}})
    assert trace.events.kind.tolist() == [EventKind.PACKET_LOSS]
    assert trace.events.payload.tolist() == [(1 << 64) - 1]
    dispatch = trace.dispatches[0]
    assert (dispatch.name, dispatch.workgroup_size, dispatch.address) == ("kernel_4", (64, 2, 0), 1 << 63)
    assert "lost packets 1 time" in texts(trace)


def test_edge_33_opening_reads_no_wave(tmp_path):
    folder = write(tmp_path / "capture")
    os.truncate(folder / WAVE, 300_000_000)  # sparse: costs no disk, but a reader would notice
    trace = open_trace(folder)
    assert trace.waves.size.tolist() == [300_000_000]


def test_edge_34_thousands_of_rows_and_very_long_texts(tmp_path):
    rows = [
        row(f"v_add_f32 v{i}, {'x' * (i % 50)}", i, f"/k.py:{i}", 4 * i, 1, 4, 0, 0) for i in range(20_000)
    ]
    rows[7][0] = "s_nop " + "y" * 1_000_000
    trace = opened(tmp_path, {"code.json": code(*rows)})
    table = trace.code
    assert (len(table), len(table.text[7]), table.mapped_rows) == (20_000, INSTRUCTION_LETTERS, 20_000)
    assert table.text[7].startswith("s_nop yyy")
    assert table.text[7].endswith("y…")
    assert any("1 instruction or name longer than any writer makes" in str(one) for one in trace.problems)
