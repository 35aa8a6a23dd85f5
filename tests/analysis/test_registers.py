"""Which registers stand where in an instruction, and where others write and read them."""

from __future__ import annotations

import pytest

from rcv_py.analysis.program.registers import SPECIAL, A, S, V, definition, next_use, operands

MNEMONIC = "mnemonic"


def bits(*names: str) -> int:
    """The set of registers such as `v4`, `s[0:1]`, `vcc`, made without our parser of texts."""
    first, made = {"v": V, "a": A, "s": S}, 0
    for name in names:
        if name in SPECIAL:
            made |= 1 << SPECIAL[name]
            continue
        low, _, high = name[1:].strip("[]").partition(":")
        for number in range(int(low), int(high or low) + 1):
            made |= 1 << first[name[0]] + number
    return made


def found(text: str) -> list[tuple[str, int, int]]:
    """Text, what it writes and what it reads, of each operand."""
    name = text.strip().split(" ")[0]
    return [
        (MNEMONIC if (shown := text[one.start : one.stop]) == name else shown, one.writes, one.reads)
        for one in operands(text)
    ]


@pytest.mark.parametrize(
    ("text", "writes", "reads"),
    [
        (
            "v_mfma_f32_16x16x16_bf16 v[0:3], v[4:5], v[6:7], v[0:3]",
            ["v[0:3]"],
            ["v[4:5]", "v[6:7]", "v[0:3]"],
        ),
        ("buffer_load_dwordx4 v[8:11], v2, s[4:7], 0 offen offset:16", ["v[8:11]"], ["v2", "s[4:7]"]),
        ("buffer_store_dword v1, v2, s[4:7], 0 offen", [], ["v1", "v2", "s[4:7]"]),
        ("global_store_dwordx2 v[0:1], v[2:3], off", [], ["v[0:1]", "v[2:3]"]),
        ("global_load_dword v5, v[0:1], off", ["v5"], ["v[0:1]"]),
        ("ds_write_b128 v9, v[0:3] offset:64", [], ["v9", "v[0:3]"]),
        ("ds_read_b64_tr_b16 a[2:3], v7", ["a[2:3]"], ["v7"]),
        ("v_cmp_lt_i32_e32 vcc, v1, v2", ["vcc"], ["v1", "v2"]),
        ("v_cmp_lt_i32_e64 s[2:3], v1, s9", ["s[2:3]"], ["v1", "s9"]),
        ("v_add_co_u32_e32 v1, vcc, s2, v3", ["v1", "vcc"], ["s2", "v3"]),
        ("v_accvgpr_read_b32 v1, a3", ["v1"], ["a3"]),
        ("s_mov_b32 m0, s4", ["m0"], ["s4"]),
        ("v_readfirstlane_b32 s4, v1  // 00001: v9", ["s4"], ["v1"]),
        ("global_atomic_add v1, v2, s[0:1]", [], ["v1", "v2", "s[0:1]"]),
    ],
)
def test_printed_operands(text: str, writes: list[str], reads: list[str]) -> None:
    assert found(text) == [(name, bits(name), 0) for name in writes] + [
        (name, 0, bits(name)) for name in reads
    ]


def test_what_is_written_and_read_at_once() -> None:
    assert found("v_fmac_f32_e32 v1, v2, v3")[0] == ("v1", bits("v1"), bits("v1"))
    assert found("v_swap_b32 v1, v2") == [("v1", bits("v1"), bits("v1")), ("v2", bits("v2"), bits("v2"))]


def test_the_mnemonic_stands_for_what_is_not_printed() -> None:
    assert found("s_cmp_lt_i32 s4, s5")[0] == (MNEMONIC, bits("scc"), 0)
    assert found("s_cbranch_scc1 65531") == [(MNEMONIC, 0, bits("scc"))]
    assert found("s_and_saveexec_b64 s[0:1], vcc")[0] == (MNEMONIC, bits("exec", "scc"), 0)
    assert found("s_cbranch_execz .LBB0_3") == [(MNEMONIC, 0, bits("exec"))]


@pytest.mark.parametrize(
    "text", ["", "; my_kernel", "s_endpgm", "v[9:2]", "s_waitcnt vmcnt(0)", "v_", ",,,", "é v"]
)
def test_no_registers(text: str) -> None:
    assert not any(one.registers for one in operands(text))


PROGRAM = (
    "; k",
    "v_mov_b32 v1, 0",
    "v_mov_b32 v2, v1",  # 2: the loop begins
    "buffer_load_dwordx2 v[4:5], v2, s[4:7], 0",
    "v_add_f32 v1, v5, v1",
    "v_mul_f32 v6, v3, v3",
    "v_mov_b32 v3, v6",  # 6: the loop ends
    "; other",
    "v_mov_b32 v5, v1",
)
REGION, LOOP = range(1, 7), range(2, 7)


def test_definitions_are_the_last_writers_above_then_those_of_the_iteration_before() -> None:
    def of(row: int, name: str, loop: range | None = LOOP) -> int:
        return definition(PROGRAM, row, bits(name), REGION, loop)

    assert of(4, "v5") == 3, "a register of a range"
    assert of(4, "v1") == 1
    assert of(5, "v3") == 6
    assert of(5, "v3", None) == -1
    assert of(3, "s4") == -1


def test_uses_are_the_next_readers_below_then_those_of_the_next_iteration() -> None:
    def of(row: int, name: str, loop: range | None = LOOP) -> int:
        return next_use(PROGRAM, row, bits(name), REGION, loop)

    assert of(3, "v[4:5]") == 4
    assert of(1, "v1") == 2
    assert of(2, "v1") == 4
    assert of(4, "v1") == 2, "around the loop, not into another kernel"
    assert of(4, "v1", None) == -1
    assert of(6, "v3") == 5
    assert of(4, "v5") == -1, "written anew at 3 before it is read again"
