"""Help of instructions: every mnemonic of captures, and numbers of AMD's guides."""

import gzip
import re
from pathlib import Path

import pytest

from rcv_py.analysis.attribution.instruction_help import KINDS, instruction_help, what_it_does
from rcv_py.analysis.program.instruction_classes import InstructionClass
from rcv_py.base.tables import table
from rcv_py.features.isa.help_result import asked
from rcv_py.formats.isa.program import Category, category_of
from rcv_py.model.architecture import architecture_of
from rcv_py.model.code import CodeTable
from tests.support.fixtures import fixture_of_each
from tests.support.opened import VARIED, sample_trace

SAMPLED = (*VARIED, "split_barriers_gfx12", "tutorial_before")
code = fixture_of_each(lambda name: sample_trace(name).code, SAMPLED)


GFX942, GFX950 = (architecture_of(9, target) for target in ("gfx942", "gfx950"))
GFX1200 = architecture_of(12, "gfx1200")


def llvm_names() -> set[str]:
    """Mnemonics of LLVM for gfx9 to gfx1250."""
    rows = gzip.decompress(Path(__file__).with_name("operands.tsv.gz").read_bytes()).decode().splitlines()
    return {row.split("\t")[0].split(" ")[0] for row in rows}


def test_something_is_known_of_every_mnemonic(code: CodeTable) -> None:
    texts = {text.strip() for text, is_label in zip(code.text, code.is_label, strict=True) if not is_label}
    assert texts
    assert not sorted(text for text in texts if not what_it_does(text))


def test_something_is_known_of_every_mnemonic_of_every_target() -> None:
    names = llvm_names()
    assert len(names) > 2000
    assert not sorted(name for name in names if not what_it_does(name))


def test_all_alternatives_of_a_family_begin_alike_where_the_first_one_names_a_kind() -> None:
    """Families of other kinds are not tried."""
    for pattern in table("families")["families"]:
        outside = re.sub(r"\([^()]*\)", "", re.sub(r"\([^()]*\)", "", pattern))
        assert pattern[:2] not in KINDS or {part[:2] for part in outside.split("|")} == {pattern[:2]}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("v_cvt_f32_f16_e32 v0, v1", "Converts each lane from half floats to floats."),
        ("v_cmp_lt_i32_e64 s[0:1], v1, v2", "set where the first operand is less."),
        ("s_and_saveexec_b64 s[0:1], vcc", "Saves the mask of active lanes and narrows it (and)."),
        ("ds_read2_b64 v[0:3], v4", "two offsets"),
        (
            "v_cvt_scalef32_pk_fp8_f32 v0, v1, v2, v3",
            "Converts each lane from floats to 8-bit floats, with a scale.",
        ),
        ("s_cvt_f32_u32 s0, s1", "Converts a scalar from unsigned integers to floats."),
        ("s_clz_i32_u32 s0, s1", "Counts bits (clz)."),
        ("s_setreg_imm32_b32 hwreg(HW_REG_MODE), 0", "Writes a hardware register"),
        ("v_accvgpr_mov_b32 a0, a1", "Copies an accumulation register."),
        ("v_add_f32_sdwa v0, v1, v2", "(add), of floats."),
        ("s_barrier_wait -1", "Waits until all waves of the workgroup have arrived."),
        ("s_barrier_signal -1", "does not wait"),
        ("s_barrier_signal_isfirst -1", "does not wait"),
        ("s_barrier_leave", "Takes the wave out of a named barrier."),
        ("s_wait_idle", "Waits until the wave has nothing outstanding."),
        ("s_wait_event 0x1", "Waits for an event"),
        ("s_wait_loadcnt 0x0", "Waits until at most that many operations"),
        ("s_set_inst_prefetch_distance 0x1", "how far ahead of the wave"),
        ("s_inst_prefetch 0x1", "how far ahead of the wave"),
        ("s_prefetch_inst s[0:1], 0x0, null, 0", "Prefetches instructions"),
        ("s_prefetch_data s[0:1], 0x0, null, 0", "Prefetches data"),
    ],
)
def test_sentences(text: str, sentence: str) -> None:
    assert sentence in what_it_does(text)


def test_numbers_of_a_matrix_instruction() -> None:
    """32x32x16 of bf16 on gfx950: 8 passes, 2 * 32 * 32 * 16 operations, 12 turns to a reader."""
    found = instruction_help("v_mfma_f32_32x32x16_bf16 v[0:15], v[16:19], v[20:23], v[0:15]", GFX950)
    assert (found.unit, found.cycles, found.passes, found.flop) == ("MFMA/WMMA", 32, 8, 32_768)
    assert "12 turns" in found.distances[0]


def test_units_of_every_scalar_mnemonic_are_those_of_the_tokens_that_they_leave() -> None:
    """Of LLVM for gfx9 to gfx1250: a wait, a sleep or a hint occupies no unit, whatever it begins with."""
    units = {
        Category.SALU: {"SALU", "branch", "SMEM"},  # s_memtime is a token of the kind SALU
        Category.IMMED: {"none", "message", "SMEM"},  # s_dcache_inv is one of the kind IMMED
        Category.SKIP: {"none"},
        Category.SMEM: {"SMEM"},
        Category.BRANCH: {"branch"},
    }
    for name in llvm_names():
        if name.startswith("s_"):
            found = instruction_help(name, GFX1200)
            assert found.unit in units[category_of(name)], name
            assert (found.kind == InstructionClass.SALU.text) <= (found.unit == "SALU"), name


def test_counters() -> None:
    assert instruction_help("buffer_load_dword v0, off, s[0:3], 0", GFX942).counters == ("vmcnt +1",)
    assert instruction_help("s_waitcnt vmcnt(3)", GFX942).counters == ("waits until vmcnt is at most 3",)
    flat = instruction_help("flat_load_dword v0, v[2:3]", GFX942).counters
    assert flat == ("vmcnt +1", "lgkmcnt +1")
    assert instruction_help("global_load_b32 v0, v[2:3], off", GFX1200).counters == ("loadcnt +1",)


@pytest.mark.parametrize(
    ("text", "waits"),
    [
        # 0x0fff: bits 12 to 15 are clear; 0xff9e: bits 0, 5 and 6 are clear, of which two belong to no field
        ("s_wait_alu 0x0fff", {"va_vdst": 0}),
        ("s_wait_alu 0xff9e", {"sa_sdst": 0}),
        ("s_waitcnt_depctr 0x3ffd", {"va_vdst": 3, "va_vcc": 0}),
        ("s_wait_alu depctr_va_vdst(2) depctr_vm_vsrc(0)", {"va_vdst": 2, "vm_vsrc": 0}),
        ("s_wait_alu 65535", {}),
        ("s_nop 0", {}),
    ],
)
def test_fields_of_waits_for_registers(text: str, waits: dict[str, int]) -> None:
    found = instruction_help(text, GFX1200).counters
    expected = [f"waits until {name} is at most {left}" for name, left in waits.items()]
    assert [one.partition(":")[0] for one in found] == expected


def test_addresses_to_translate() -> None:
    found = instruction_help("s_wait_xcnt 0x1", architecture_of(12, "gfx1250"))
    assert found.counters == ("waits until xcnt is at most 1",)
    assert "addresses to translate" in found.what


def test_who_is_meant() -> None:
    trace = sample_trace("matmul_small")
    names = {text.split(" ")[0] for text in trace.code.text if text.startswith("global_")}
    assert {text.split(" ")[0] for text in asked(trace, "global_")} == names
    assert asked(trace, "3") == [trace.code.text[3].strip()]
    assert asked(trace, "999999") == []
    assert asked(trace, "v_sin_f32") == ["v_sin_f32"], "what the program does not have stands for itself"
