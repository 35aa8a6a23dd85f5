"""What the folder does not say: the target, the generation, the index."""

import orjson
import pytest

from rcv_py.model.kinds import TokenKind
from tests.support.folders import code, one_wave, opened, row, texts, waves
from tests.support.wave_folder import wave


def test_the_target_is_told_by_code_objects_beside_the_folder(tmp_path):
    (tmp_path / "out_gfx942_code_object_id_4.out").write_bytes(b"")
    (tmp_path / "out_gfx1100_code_object_id_5.out").write_bytes(b"")
    assert opened(tmp_path).target == "gfx942"


def test_the_target_is_told_by_agents_and_by_instructions(tmp_path):
    (tmp_path / "x_agent_info.csv").write_text('"Agent_Type","Name"\n"CPU","EPYC, 9"\n"GPU","gfx90a"\n')
    assert opened(tmp_path).target == "gfx90a"
    (tmp_path / "x_agent_info.csv").write_text("\0\n")
    plain = opened(tmp_path, {"code.json": code(row("s_nop 0", 1))})
    assert (plain.target, plain.target_from) == ("gfx9", "")
    # The program of the folder has a matrix instruction as it is spelled since gfx940, and nothing newer.
    inferred = opened(tmp_path)
    assert (inferred.target, inferred.target_from) == ("gfx942", "inferred from the instructions")
    rows = [row("v_permlane32_swap_b32 v0, v1", 1)]
    assert opened(tmp_path, {"code.json": code(*rows)}).target == "gfx950"


@pytest.mark.parametrize("index", [None, b"", b"[]", b"{"])
def test_without_an_index_waves_are_found_by_their_names(tmp_path, index):
    pretty = orjson.dumps(wave(begin=500, end=560), option=orjson.OPT_INDENT_2)
    trace = opened(
        tmp_path, {"filenames.json": index, "se2_sm1_sl0_wv3.json": pretty, "se1_sm0_sl0_wv0.json": b"{}"}
    )
    assert [str(trace.waves.id(i)) for i in range(len(trace.waves))] == [
        "se0/simd0/slot0/wv0",
        "se2/simd1/slot0/wv3",
    ]
    assert trace.waves.begin.tolist() == [500, 500]  # no clock tells how far apart they began
    assert "filenames.json" in texts(trace)
    assert "se1_sm0_sl0_wv0.json" in texts(trace)


def test_the_generation_is_told_by_instructions_if_the_index_does_not(tmp_path):
    rows = [row("s_wait_loadcnt 0x0", 1), row("v_wmma_f32_16x16x16_f16 v0", 2), row("global_load_b32 v0", 3)]
    trace = opened(
        tmp_path, {"filenames.json": waves(one_wave(), gfxip=None, gfxv=None), "code.json": code(*rows)}
    )
    assert (trace.gfxip, trace.architecture.base_clock) == (12, 1)
    assert trace.code.kind.tolist() == [TokenKind.IMMED, TokenKind.MATRIX, TokenKind.VMEM]
