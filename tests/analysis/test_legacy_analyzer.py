"""The hotspot scripts of both generations: every number, row, class and order of their recorded outputs."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from rcv_py.analysis.compat.legacy_analyzer import Generation, choose_launch, class_of, legacy_report
from rcv_py.analysis.program.instruction_classes import CLASS_TEXT, InstructionClass, instruction_class
from rcv_py.cli.main import main
from rcv_py.cli.originals import bar, short
from rcv_py.model.resources import KernelResources
from tests.analysis import build
from tests.support import captures

NUMBER = r"([\d.,]+[KM]?)"
BAR = r"\[([█░]{30})\]\s+([\d.]+)%"
NAME = r"(\S+)"
CLASS_ROW = re.compile(rf"^  {NAME}\s+{NUMBER}\s+{BAR}$")
SOURCE_ROW = re.compile(rf"^\s+(\d+)\s+{NUMBER}\s+([\d.]+)%\s+{BAR}\s+{NAME}\s+(\S.*)$")
TEXT_ROW = re.compile(rf"^\s+(\d+)\s+{NUMBER}\s+([\d.]+)%\s+([^\s\[]\S*)\s+(\S.*?)(?:\s{{2,}}(\S+))?$")
DETAIL_HEAD = re.compile(rf"^\s+(?:── )?(\S+)  \(stall={NUMBER}, (\d+)%")
DETAIL_ROW = re.compile(rf"^\s+stall=\s*{NUMBER}\s+type={NAME}\s+(\S.*)$")
EXCERPT = re.compile(r"^\s+(>>> )?\s*(\d+) │")
FACTS = {
    "instructions": r"Instructions:\s+([\d,]+)",
    "total": rf"Total cycles:\s+{NUMBER}",
    "stall": rf"Total stalls:\s+{NUMBER}\s+\(([\d.]+)%",
    "target": r"Architecture:\s+(gfx\w+)",
    "arch": r"arch_vgpr:\s+~?(\d+)",
    "occupancy": r"occupancy:\s+(\d+) waves/SIMD",
    "bound": r"bound by (\w+)",
    "pool": r"(?:total_vgpr|total VGPR|limiting pool|VGPR):\s+(\d+) / (\d+)",
    "lds": r"LDS:\s+(\d+).*-> (\d+) waves",
    "sgpr": r"SGPR:\s+(\d+)\s+-> (\d+) waves",
    "next": r"-> (\d+) waves .*<= (\d+)",
    **{name: rf"{name}: (\d+)" for name in ("MFMA", "buffer_load", "buffer_store", "ds_read", "ds_write")},
}
KERNELS = {"flash_attn_small": "flash_attn_func_kernel_0", "pa_mqa": "pa_mqa_logits_fp4_kernel_0"}
FORMS = {
    "txt": ["--like", "old"],
    "detail.txt": ["--like", "old", "--mode", "src", "--detail", "--top", "5", "--context", "4"],
    "new.txt": ["--like", "new"],
    "new_csv.txt": ["--like", "new", "--kernel"],
}


def rows(pattern: re.Pattern[str], text: str) -> list[tuple[str, ...]]:
    found = [pattern.match(line) for line in text.splitlines()]
    return [match.groups() for match in found if match]


def facts(text: str, names: set[str]) -> dict[str, tuple[str, ...] | None]:
    found = {name: re.search(FACTS[name], text) for name in names}
    return {name: match.groups() if match else None for name, match in found.items()}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", captures.GOLDEN)
def test_every_number_of_the_scripts(
    name: str, form: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    folder = captures.trace_path(name)
    expected = (captures.SHARED / "golden" / "hotspot_analyzer" / f"{name}.{form}").read_text()
    words = list(FORMS[form])
    if words[-1] == "--kernel":
        words.append(next(kernel for start, kernel in KERNELS.items() if name.startswith(start)))
    assert main(["hotspot", str(folder), *words]) == 0
    text = capsys.readouterr().out
    names = set(FACTS) - ({"bound"} if "new" not in form else set())
    assert facts(text, names) == facts(expected, names)
    for pattern in (CLASS_ROW, SOURCE_ROW, TEXT_ROW, DETAIL_HEAD, DETAIL_ROW):
        assert rows(pattern, text) == rows(pattern, expected), pattern
    assert rows(CLASS_ROW, expected)
    assert rows(SOURCE_ROW, expected)
    assert len(rows(TEXT_ROW, expected)) == (0 if form == "detail.txt" else 15)
    shown = [(bool(mark), number) for mark, number in rows(EXCERPT, text)]
    assert shown == [(bool(mark), number) for mark, number in rows(EXCERPT, expected)]
    assert ("the first is taken" in text) == ("using the first match" in expected)
    assert ("from the instructions alone" in text) == ("CSV not matched" in expected)


def test_the_first_rule_wins() -> None:
    assert class_of("S_WAITCNT vmcnt(0) lgkmcnt(0)") == "VMEM-wait"
    assert class_of("s_waitcnt_depctr 0xfffe") == "waitcnt"
    assert class_of("s_wait_loadcnt 0x0") == class_of("flat_store_dword v0, v1") == "other"
    assert class_of("v_fmac_f32 v0, v1, v2") == "MFMA/FMA"
    assert class_of("s_buffer_load_dword s0, s[0:3], 0") == "VMEM-load"


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (999, "999"), (1000, "1.0K"), (999_999, "1000.0K"), (1_480_000, "1.48M")]
)
def test_numbers_are_written_as_the_scripts_do(value: int, text: str) -> None:
    assert short(value) == text


def test_bars_are_cut_not_rounded() -> None:
    assert bar(6.66).count("█") == 1
    assert bar(100).count("█") == 30
    assert bar(0).count("░") == 30


def launch(dispatch: int, **sizes: int) -> KernelResources:
    plain = {"vgprs": 64, "accum_vgprs": 0, "sgprs": 32, "lds": 0} | sizes
    return KernelResources(
        "some_kernel", dispatch, *plain.values(), 0, (256, 1, 1), (256, 1, 1), "x_kernel_trace.csv"
    )


def test_the_launch_that_is_taken() -> None:
    two = [launch(3), launch(4)]
    assert choose_launch(two, "ui_output_agent_1_dispatch_4", "some").resources.dispatch == 4
    assert choose_launch(two, "ui_output_agent_1_dispatch_9", "some").resources is None
    first = choose_launch(two, "ui_output_after", "some")
    assert (first.resources.dispatch, "2 launches" in first.warning) == (3, True)
    assert choose_launch(two, "ui_output_after", "other").resources is None
    assert choose_launch(two, "run_some_kernel_3", "").resources.dispatch == 3
    assert choose_launch(two, "ui_output_agent_1_dispatch_4", "").resources is None
    assert choose_launch([launch(4, accum_vgprs=-1)], "x_dispatch_4", "some").resources is None


@pytest.mark.parametrize(
    ("text", "sizes", "given", "waves", "bound"),
    [
        ("v_mov_b32 v95, a31", {"vgprs": 48, "accum_vgprs": 64}, 160, 3, "VGPR"),
        ("v_mov_b32 v95, v0", {"vgprs": 48, "accum_vgprs": 64}, 112, 4, "VGPR"),
        ("v_mov_b32 v9, v0", {"sgprs": 112}, 64, 7, "SGPR"),
        ("v_mov_b32 v9, v0", {"lds": 20_000}, 64, 3, "LDS"),
        ("v_mfma_scale_f32_x v9, v0", {"lds": 20_000}, 64, 8, "VGPR"),
    ],
)
def test_the_new_generation_reads_the_table(
    text: str, sizes: dict[str, int], given: int, waves: int, bound: str
) -> None:
    launched = choose_launch([launch(4, **sizes)], "x_dispatch_4", "some")
    code = build.code(["; label", text, "s_endpgm"])
    found = legacy_report(code, (), Generation.NEW, launched).occupancy
    assert (found.given, found.waves, found.bound) == (given, waves, bound)


def test_nothing_recorded_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(__file__).resolve().parents[2] / "sample_traces" / "placeholder"
    assert main(["hotspot", str(folder), "--like", "old"]) == 0
    assert "No instruction has any cycles." in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--detail"], ["--kernel", "x"], ["--mode", "asm"]])
def test_options_that_do_not_fit(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hotspot", str(captures.trace_path("vec_add")), *words]) == 2
    assert "--like" in capsys.readouterr().err


def test_csv_has_the_rows_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(captures.trace_path("vec_add"))
    for mode, key in (("asm", "rows"), ("src", "sources")):
        words = ["hotspot", folder, "--like", "new", "--mode", mode]
        assert main([*words, "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)[key]
        assert main([*words, "--csv"]) == 0
        table = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
        assert table == [{name: str(value) for name, value in row.items()} for row in rows]


CLASSES = {
    "VMEM_LOAD": [
        "buffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen",
        "global_load_b32 v0, v1, off",
        "flat_load_dword v0, v[1:2]",
        "image_sample v0, v1, s[0:7]",
    ],
    "VMEM_STORE": [
        "global_store_dwordx2 v[0:1], v[2:3], off",
        "flat_store_b32 v[0:1], v2",
        "tbuffer_store_format_x v0",
    ],
    "LDS_DMA": [
        "buffer_load_dword v1, s[8:11], 0 offen lds",
        "global_load_lds_dwordx4 v[0:1], off",
        "global_load_async_to_lds_b128 v0, v1, off",
        "tensor_load_to_lds s[0:3]",
    ],
    "SCRATCH": ["scratch_load_dword v0, off, s32", "scratch_store_b32 off, v0, s32"],
    "ATOMIC": [
        "global_atomic_add_f32 v0, v1, s[0:1]",
        "ds_add_u32 v0, v1",
        "ds_append v0",
        "buffer_atomic_swap v0, v1",
    ],
    "LDS": [
        "ds_read_b64_tr_b16 v[0:1], v2",
        "ds_write2_b32 v0, v1, v2",
        "ds_load_b128 v[0:3], v4",
        "ds_store_b8 v0, v1",
    ],
    "CROSS_LANE": [
        "ds_bpermute_b32 v0, v1, v2",
        "v_readfirstlane_b32 s0, v0",
        "v_permlane32_swap_b32 v0, v1",
        "v_mov_b32_dpp v0, v1 row_shr:1",
    ],
    "SMEM": ["s_load_dwordx4 s[0:3], s[4:5], 0x0", "s_buffer_load_b32 s0, s[0:3], 0x0", "s_memtime s[0:1]"],
    "MATRIX": [
        "v_mfma_f32_32x32x16_bf16 v[0:15], v[0:3], v[0:3], 0",
        "v_wmma_f32_16x16x16_f16 v[0:7], v[0:3]",
        "v_smfmac_f32_16x16x32_f16 a[0:3]",
    ],
    "VALU": ["v_fma_f32 v0, v1, v2, v3", "v_accvgpr_read_b32 v0, a0", "v_add_f32_dpp v0, v1, v2 row_shr:1"],
    "TRANSCENDENTAL": ["v_exp_f32_e32 v0, v1", "v_rcp_iflag_f32_e32 v0, v1", "v_s_sqrt_f32 s0, s1"],
    "SALU": ["s_add_u32 s0, s1, s2", "s_getpc_b64 s[0:1]", "s_mov_b32 m0, s0"],
    "BRANCH": ["s_cbranch_scc1 5", "s_branch 65530", "s_setpc_b64 s[30:31]"],
    "BARRIER": ["s_barrier", "s_barrier_signal -1", "s_barrier_wait 0xffff"],
    "WAIT_LOAD": ["s_waitcnt vmcnt(6)", "s_wait_loadcnt 0x0", "s_wait_samplecnt 0x0"],
    "WAIT_STORE": ["s_waitcnt_vscnt null, 0x0", "s_wait_storecnt 0x0"],
    "WAIT_LDS_SMEM": ["s_waitcnt lgkmcnt(0)"],
    "WAIT_LDS": ["s_wait_dscnt 0x0"],
    "WAIT_SMEM": ["s_wait_kmcnt 0x0"],
    "WAIT_EXPORT": ["s_waitcnt expcnt(0)"],
    "WAIT_SEVERAL": ["s_waitcnt vmcnt(0) lgkmcnt(0)", "s_wait_loadcnt_dscnt 0x101", "s_waitcnt 0"],
    "WAIT_OTHER": ["s_waitcnt_depctr 0xfffe", "s_wait_alu 0xfffe", "s_wait_idle"],
    "NOP": ["s_nop 2", "s_delay_alu instid0(VALU_DEP_1)", "s_setprio 1", "s_sleep 1"],
    "MESSAGE": ["s_endpgm", "s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)", "s_trap 2"],
    "CACHE": [
        "buffer_wbl2 sc1",
        "buffer_inv sc1",
        "global_wb scope:SCOPE_SYS",
        "s_dcache_inv",
        "buffer_gl0_inv",
    ],
    "OTHER": ["; some_kernel", "", "exp mrt0 v0, v0, v0, v0"],
}


def test_every_class_has_examples_and_words() -> None:
    assert set(CLASSES) == {one.name for one in InstructionClass} == {one.name for one in CLASS_TEXT}


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in CLASSES.items() for text in texts]
)
def test_classes_of_all_generations(name: str, text: str) -> None:
    assert instruction_class(text).name == name
