"""What the assembly text means."""

import pytest

from rcv_py.synth.isa import meaning
from rcv_py.synth.program import Source, assemble

SOURCES = {"a": Source("/a.hip", "one\ntwo\nthree\n"), "b": Source("/b.h", "inner\n")}


def test_places_are_found_by_their_text_and_chained() -> None:
    kernel = assemble("@ b:inner -> a:three\ns_endpgm", "k", 9, SOURCES)
    assert kernel.instructions[0].source == "/b.h:1 -> /a.hip:3"


def test_a_place_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match="has no line with 'four'"):
        assemble("@ a:four\ns_endpgm", "k", 9, SOURCES)


def test_branches_count_words_from_the_next_instruction() -> None:
    text = "again:\nv_mov_b32_e32 v0, 0\ns_cbranch_scc1 again // iterations=2\n"
    text += "s_branch out\ns_nop 0\nout:\ns_endpgm"
    kernel = assemble(text, "k", 9, SOURCES)
    assert [item.text for item in kernel.instructions[1:3]] == ["s_cbranch_scc1 65534", "s_branch 1"]
    assert kernel.addresses == [0x1600, 0x1604, 0x1608, 0x160C, 0x1610]


@pytest.mark.parametrize(
    ("text", "generation", "counts", "waits"),
    [
        ("global_load_dwordx4 v[0:3], v4, s[0:1]", 9, ("vmcnt",), ()),
        ("global_store_b32 v4, v0, s[0:1]", 11, ("vscnt",), ()),
        ("global_store_b32 v4, v0, s[0:1]", 12, ("storecnt",), ()),
        ("ds_read_b128 v[0:3], v4", 9, ("lgkmcnt",), ()),
        ("ds_load_b128 v[0:3], v4", 12, ("dscnt",), ()),
        ("s_waitcnt vmcnt(3) lgkmcnt(0)", 9, (), (("vmcnt", 3), ("lgkmcnt", 0))),
        ("s_waitcnt_vscnt null, 0x1", 11, (), (("vscnt", 1),)),
        ("s_wait_loadcnt_dscnt 0x203", 12, (), (("loadcnt", 2), ("dscnt", 3))),
    ],
)
def test_counters(text: str, generation: int, counts: tuple, waits: tuple) -> None:
    assert meaning(text, generation).counts == counts
    assert meaning(text, generation).waits == waits


@pytest.mark.parametrize(
    ("text", "kind", "size", "width", "passes"),
    [
        ("global_load_dwordx4 v[0:3], v4, s[0:1]", 4, 8, 16, 16),
        ("ds_write_b128 v22, v[32:35]", 5, 8, 16, 8),
        ("v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15]", 6, 8, 0, 32),
        ("v_and_b32_e32 v1, 63, v0", 6, 4, 0, 4),
        ("v_add_u32_e32 v1, 0x4000, v1", 6, 8, 0, 4),
        ("v_mul_lo_u32 v1, v2, v3", 6, 8, 0, 16),
        ("s_load_dwordx4 s[4:7], s[0:1], 0x0", 1, 8, 16, 4),
        ("s_xor_b32 s21, s21, 0x2000", 2, 8, 0, 4),
        ("s_barrier", 9, 4, 0, 4),
    ],
)
def test_units_sizes_and_passes(text: str, kind: int, size: int, width: int, passes: int) -> None:
    found = meaning(text, 9)
    assert (found.kind, found.size, found.width, found.passes) == (kind, size, width, passes)


def test_registers() -> None:
    product = meaning("v_mfma_f32_32x32x8_f16 v[0:1], v[2:3], v4, v[0:1]", 9)
    assert product.reads == {"v0", "v1", "v2", "v3", "v4"}
    assert product.writes == {"v0", "v1"}
    store = meaning("global_store_dwordx2 v30, v[64:65], s[8:9] offset:16", 9)
    assert store.reads == {"v30", "v64", "v65", "s8", "s9"}
    assert not store.writes
