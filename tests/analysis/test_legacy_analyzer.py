"""The hotspot scripts of both generations: every number, row, class and order that they print."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from rcv_py.analysis.program.instruction_classes import InstructionClass, instruction_class
from rcv_py.cli.main import main
from rcv_py.features.compat.command import bar, short
from rcv_py.features.compat.script_numbers import AnalyzerGeneration, choose_launch, class_of, legacy_report
from rcv_py.model.resources import KernelResources
from tests.analysis import build
from tests.support.paths import ROOT
from tests.support.samples import sample_path, write_sample

NUMBER = r"([\d.,]+[KM]?)"
BAR = r"\[([█░]{30})\]\s+([\d.]+)%"
NAME = r"(\S+)"
CLASS_ROW = re.compile(rf"^  {NAME}\s+{NUMBER}\s+{BAR}$")
SOURCE_ROW = re.compile(rf"^\s+(\d+)\s+{NUMBER}\s+([\d.]+)%\s+{BAR}\s+{NAME}\s+(\S.*)$")
TEXT_ROW = re.compile(rf"^\s+(\d+)\s+{NUMBER}\s+([\d.]+)%\s+([^\s\[]\S*)\s+(\S.*?)(?:\s{{2,}}(\S+))?$")
DETAIL_HEAD = re.compile(rf"^\s+(?:── )?(\S+(?: -> \S+)*)  \(stall={NUMBER}, (\d+)%")
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
FORMS = {
    "txt": ["--like", "old"],
    "detail.txt": ["--like", "old", "--mode", "src", "--detail", "--top", "5", "--context", "4"],
    "new.txt": ["--like", "new"],
    "new_csv.txt": ["--like", "new", "--kernel"],
}


def rows(pattern: re.Pattern[str], text: str) -> list[tuple[str, ...]]:
    found = [pattern.match(line) for line in text.splitlines()]
    return [match.groups() for match in found if match]


def facts(text: str, names: Collection[str]) -> dict[str, tuple[str, ...] | None]:
    found = {name: re.search(FACTS[name], text) for name in names}
    return {name: match.groups() if match else None for name, match in found.items()}


TABLE = (
    "Agent_Id,Kernel_Name,Dispatch_Id,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,"
    "LDS_Block_Size,VGPR_Count,Accum_VGPR_Count,SGPR_Count,Scratch_Size,Grid_Size_X,Grid_Size_Y,Grid_Size_Z"
)
CLASSES_OF = (  # the first that is in a text
    ("s_waitcnt.*vmcnt", "VMEM-wait"),
    ("s_waitcnt.*lgkmcnt", "LDS/SMEM-wait"),
    ("s_waitcnt.*expcnt", "EXP-wait"),
    ("s_waitcnt", "waitcnt"),
    ("s_barrier|s_wait_idle", "barrier"),
    ("(buffer|global|flat)_load", "VMEM-load"),
    ("(buffer|global)_store", "VMEM-store"),
    ("ds_read|ds_write", "LDS"),
    ("s_load|s_store", "SMEM"),
    ("v_mfma|v_fma", "MFMA/FMA"),
    ("", "other"),
)


class Script:
    """The rows and facts of the scripts, from the rows of code.json that have a number."""

    def __init__(self, code: list[list[Any]]) -> None:
        self.code = [row for row in code if row[2] > 0]
        self.stall = sum(row[8] for row in self.code)

    def kind(self, row: list[Any]) -> str:
        return next(name for words, name in CLASSES_OF if re.search(words, row[0]))

    def by_kind(self, some: list[list[Any]]) -> list[tuple[str, int]]:
        found = Counter[str]()
        for row in some:
            found[self.kind(row)] += row[8]
        return sorted(found.items(), key=lambda one: -one[1])

    def classes(self) -> list[tuple[str, ...]]:
        found = self.by_kind(self.code)
        return [(name, units(stall), *drawn(100 * stall / self.stall)) for name, stall in found if stall]

    def lines(self) -> list[tuple[str, list[list[Any]]]]:
        """Source texts and their instructions, those that stalled most first."""
        found: dict[str, list[list[Any]]] = {}
        for row in self.code:
            found.setdefault(row[3] or "<unknown>", []).append(row)
        return sorted(found.items(), key=lambda one: -sum(row[8] for row in one[1]))

    def sources(self, most: int) -> list[tuple[str, ...]]:
        rows = []
        for rank, (source, some) in enumerate(self.lines()[:most], start=1):
            stall, total = sum(row[8] for row in some), sum(row[7] for row in some)
            share = f"{100 * stall / self.stall:.2f}"
            kind = self.by_kind([row for row in some if row[8]])[0][0]
            rows.append((f"{rank}", units(stall), share, *drawn(100 * stall / total), kind, source[-48:]))
        return rows

    def texts(self, most: int) -> list[tuple[str, ...]]:
        ranked = sorted(self.code, key=lambda row: -row[8])[:most]
        rows = []
        for rank, row in enumerate(ranked, start=1):
            share = f"{100 * row[8] / self.stall:.2f}"
            rows.append((f"{rank}", units(row[8]), share, self.kind(row), row[0], row[3][-38:]))
        return rows

    def details(self, most: int) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
        """Heads of the most expensive source lines, and at most six instructions of each."""
        heads, rows = [], []
        for source, some in self.lines()[:most]:
            stall, total = sum(row[8] for row in some), sum(row[7] for row in some)
            heads.append((source, units(stall), f"{100 * stall / total:.0f}"))
            stalled = sorted((row for row in some if row[8]), key=lambda row: -row[8])
            rows += [(units(row[8]), self.kind(row), row[0]) for row in stalled[:6]]
        return heads, rows

    def registers(self) -> int:
        """The highest number that names a register, or a range at its low end, and one."""
        return 1 + max(int(n) for row in self.code for n in re.findall(r"\bv\[?(\d+)", row[0]))

    def facts(self) -> dict[str, tuple[str, ...]]:
        total, texts = sum(row[7] for row in self.code), [row[0] for row in self.code]
        named = {
            "MFMA": "v_mfma_", "buffer_load": "buffer_load", "buffer_store": "buffer_store",
            "ds_read": "ds_(read|load)", "ds_write": "ds_(write|store)",
        }  # fmt: skip
        mix = {name: (f"{sum(bool(re.search(word, one)) for one in texts)}",) for name, word in named.items()}
        return mix | {
            "instructions": (f"{len(self.code):,}",),
            "total": (units(total),),
            "stall": (units(self.stall), f"{100 * self.stall / total:.1f}"),
            "target": ("gfx942",),
            "arch": (f"{self.registers()}",),
        }


def units(value: int) -> str:
    for size, decimals, letter in ((1_000_000, 2, "M"), (1_000, 1, "K")):
        if value >= size:
            return f"{value / size:.{decimals}f}{letter}"
    return f"{value}"


def drawn(percent: float) -> tuple[str, str]:
    return "█" * int(percent * 0.3) + "░" * (30 - int(percent * 0.3)), f"{percent:.1f}"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["matmul_small", "kernels"])
def test_every_number_of_the_scripts(
    name: str, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    folder = tmp_path / "ui_output_agent_1_dispatch_4"
    write_sample(name, folder)
    launches = ("1,other_3,3,256,1,1,0,8,0,16,0,9,1,1", "1,wanted_4,4,512,1,1,20480,48,96,104,0,9,1,1")
    (tmp_path / "x_kernel_trace.csv").write_text("\n".join((TABLE, *launches, "")))
    script = Script(json.loads((folder / "code.json").read_text())["code"])
    words = [*FORMS[form], *(["wanted"] if form == "new_csv.txt" else [])]
    assert main(["hotspot", str(folder), *words]) == 0
    text = capsys.readouterr().out
    arch = -(-script.registers() // 8) * 8
    expected = script.facts()
    if "new" not in form:  # half of the pool, and nothing but registers
        waves = min(8, 256 // arch)
        expected["pool"] = f"{arch}", "256"
        expected["next"] = f"{waves + 1}", f"{256 // (waves + 1)}"
    elif form == "new.txt":
        waves = 512 // arch
        expected["pool"], expected["bound"] = (f"{arch}", "512"), ("VGPR",)
        expected["next"] = f"{waves + 1}", f"{512 // (waves + 1)}"
    else:  # the program names more registers than the launch has; 163,840 bytes are not of this target
        arch = max(arch, 48 + 96)
        local, scalar = 65_536 // 20_480 * 8 // 4, 800 // 112
        waves = min(512 // arch, local, scalar)
        expected["pool"], expected["bound"] = (f"{arch}", "512"), ("VGPR",)
        expected["lds"], expected["sgpr"] = ("20480", f"{local}"), ("104", f"{scalar}")
        expected["next"] = f"{waves + 1}", f"{512 // (waves + 1)}"
    expected["occupancy"] = (f"{waves}",)
    assert facts(text, expected.keys()) == expected
    top = 5 if form == "detail.txt" else 15
    heads, stalled = script.details(5) if form == "detail.txt" else ([], [])
    assert rows(CLASS_ROW, text) == script.classes()
    assert rows(SOURCE_ROW, text) == script.sources(top)
    assert rows(DETAIL_HEAD, text) == heads
    assert [(stall, kind, one.split("  ")[0]) for stall, kind, one in rows(DETAIL_ROW, text)] == stalled
    ranked = [] if form == "detail.txt" else script.texts(15)
    assert [row[:4] for row in rows(TEXT_ROW, text)] == [row[:4] for row in ranked]
    shown = [line.rstrip() for line in text.splitlines() if TEXT_ROW.match(line)]
    for line, (*_, kind, instruction, source) in zip(shown, ranked, strict=True):
        cut = line.partition(kind)[2].strip()
        assert cut.startswith(instruction[:40])
        assert cut.endswith(source)
    expected_lines = []
    for source, *_ in heads:
        path, line = source.split(" -> ")[0].rsplit(":", 1)
        for copy in folder.glob(f"source_*_{Path(path).name}"):  # of the compiler's headers there is none
            length = len(copy.read_text().splitlines())
            around = range(max(1, int(line) - 4), min(length, int(line) + 4) + 1)
            expected_lines += [(number == int(line), number) for number in around]
    assert [(bool(mark), int(number)) for mark, number in rows(EXCERPT, text)] == expected_lines
    assert ("from the instructions alone" in text) == (form == "new.txt")


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
    groups = [(256, 1, 1)] * 2
    return KernelResources("some_kernel", dispatch, *plain.values(), 0, *groups, "x_kernel_trace.csv")


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
def test_the_new_one_reads_a_table(
    text: str, sizes: dict[str, int], given: int, waves: int, bound: str
) -> None:
    launched = choose_launch([launch(4, **sizes)], "x_dispatch_4", "some")
    code = build.code(["; label", text, "s_endpgm"])
    found = legacy_report(code, (), AnalyzerGeneration.NEW, launched).occupancy
    assert (found.given, found.waves, found.bound) == (given, waves, bound)


def test_nothing_recorded_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    folder = ROOT / "sample_traces" / "placeholder"
    assert main(["hotspot", str(folder), "--like", "old"]) == 0
    assert "No instruction has any cycles." in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--detail"], ["--kernel", "x"], ["--mode", "asm"]])
def test_options_that_do_not_fit(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hotspot", str(sample_path("vector_add")), *words]) == 2
    assert "--like" in capsys.readouterr().err


def test_csv_has_the_rows_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(sample_path("vector_add"))
    for mode, key in (("asm", "rows"), ("src", "sources")):
        words = ["hotspot", folder, "--like", "new", "--mode", mode]
        assert main([*words, "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)[key]
        assert main([*words, "--csv"]) == 0
        table = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
        assert table == [{name: str(value) for name, value in row.items()} for row in rows]


CLASSES = {
    "VMEM_LOAD": [
        "cluster_load_b64 v[0:1], v2, s[0:1]", "global_prefetch_b8 v[0:1], off",
        "buffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen", "global_load_b32 v0, v1, off",
        "flat_load_dword v0, v[1:2]", "image_sample v0, v1, s[0:7]",
    ],
    "VMEM_STORE": [
        "global_store_dwordx2 v[0:1], v[2:3], off", "flat_store_b32 v[0:1], v2", "tbuffer_store_format_x v0",
    ],
    "LDS_DMA": [
        "cluster_load_async_to_lds_b32 v1, v2, s[0:1]", "buffer_load_dword v1, s[8:11], 0 offen lds",
        "global_load_lds_dwordx4 v[0:1], off", "global_load_async_to_lds_b128 v0, v1, off",
        "tensor_load_to_lds s[0:3]",
    ],
    "SCRATCH": ["scratch_load_dword v0, off, s32", "scratch_store_b32 off, v0, s32"],
    "ATOMIC": [
        "ds_wrxchg2_rtn_b32 v[0:1], v2, v3, v4", "global_atomic_add_f32 v0, v1, s[0:1]", "ds_add_u32 v0, v1",
        "ds_append v0", "buffer_atomic_swap v0, v1",
    ],
    "LDS": [
        "lds_direct_load v1", "ds_param_load v1, attr0.x", "ds_read_b64_tr_b16 v[0:1], v2",
        "ds_write2_b32 v0, v1, v2", "ds_load_b128 v[0:3], v4", "ds_store_b8 v0, v1",
    ],
    "CROSS_LANE": [
        "ds_bpermute_b32 v0, v1, v2", "v_readfirstlane_b32 s0, v0", "v_permlane32_swap_b32 v0, v1",
        "v_mov_b32_dpp v0, v1 row_shr:1",
    ],
    "SMEM": ["s_load_dwordx4 s[0:3], s[4:5], 0x0", "s_buffer_load_b32 s0, s[0:3], 0x0", "s_memtime s[0:1]"],
    "MATRIX": [
        "v_mfma_f32_32x32x16_bf16 v[0:15], v[0:3], v[0:3], 0", "v_wmma_f32_16x16x16_f16 v[0:7], v[0:3]",
        "v_smfmac_f32_16x16x32_f16 a[0:3]",
    ],
    "VALU": ["v_fma_f32 v0, v1, v2, v3", "v_accvgpr_read_b32 v0, a0", "v_add_f32_dpp v0, v1, v2 row_shr:1"],
    "TRANSCENDENTAL": ["v_exp_f32_e32 v0, v1", "v_rcp_iflag_f32_e32 v0, v1", "v_s_sqrt_f32 s0, s1"],
    "SALU": ["s_add_u32 s0, s1, s2", "s_getpc_b64 s[0:1]", "s_mov_b32 m0, s0"],
    "BRANCH": ["s_cbranch_scc1 5", "s_branch 65530", "s_setpc_b64 s[30:31]"],
    "BARRIER": ["ds_gws_barrier v0 gds", "s_barrier", "s_barrier_signal -1", "s_barrier_wait 0xffff"],
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
        "buffer_wbl2 sc1", "buffer_inv sc1", "global_wb scope:SCOPE_SYS", "s_dcache_inv", "buffer_gl0_inv",
    ],
    "OTHER": ["; some_kernel", "", "exp mrt0 v0, v0, v0, v0"],
}  # fmt: skip


def test_every_class_has_examples_and_words() -> None:
    assert (
        set(CLASSES)
        == {one.name for one in InstructionClass}
        == {one.name for one in InstructionClass if one.text}
    )


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in CLASSES.items() for text in texts]
)
def test_classes_of_all_generations(name: str, text: str) -> None:
    assert instruction_class(text).name == name
