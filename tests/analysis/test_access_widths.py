"""Bytes a lane of memory instructions: a table written by hand, and every mnemonic of every capture."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.latency.access_widths import UNKNOWN, WIDTHS, access_width, is_scalar
from rcv_py.model.trace import Trace
from rcv_py.synth.samples import SAMPLES
from tests.support.opened import all_waves, sample_waves, traces_of
from tests.support.samples import sample_path

# From the instruction set manuals: bytes that a lane moves; of scalar memory, the wave.
BY_HAND = {
    "buffer_load_ubyte": 1, "buffer_load_sbyte_d16_hi": 1, "buffer_load_ushort": 2,
    "buffer_load_short_d16": 2,
    "buffer_load_dword": 4, "buffer_load_dwordx2": 8, "buffer_load_dwordx3": 12, "buffer_load_dwordx4": 16,
    "buffer_store_dwordx4": 16, "global_load_dword": 4, "global_load_dwordx4": 16, "global_store_dword": 4,
    "global_store_dwordx2": 8,
    "buffer_load_b96": 12, "buffer_load_d16_hi_u8": 1, "buffer_load_format_xyz": 12,
    "buffer_load_format_d16_xyzw": 8, "tbuffer_load_d16_format_xy": 4, "tbuffer_store_format_x": 4,
    "buffer_store_byte_d16_hi": 1, "buffer_store_short": 2, "buffer_wbl2": 0, "buffer_gl0_inv": 0,
    "global_load_lds_dwordx4": 16, "global_load_async_to_lds_b32": 4, "global_load_tr_b128_w64": 16,
    "global_store_short_d16_hi": 2, "global_load_dword_addtid": 4, "flat_load_sbyte_d16": 1,
    "scratch_store_dwordx3": 12, "global_atomic_add": 4, "global_atomic_add_x2": 8,
    "global_atomic_add_f64": 8,
    "global_atomic_pk_add_bf16": 4, "buffer_atomic_cmpswap_b64": 8, "global_prefetch_b8": 0,
    "ds_read_b32": 4, "ds_read2_b32": 8, "ds_read2st64_b64": 16, "ds_load_2addr_stride64_b64": 16,
    "ds_read_b64_tr_b16": 8, "ds_read_b96_tr_b6": 12, "ds_load_tr8_b64": 8, "ds_read_u16_d16": 2,
    "ds_read_i8": 1,
    "ds_write_b8_d16_hi": 1, "ds_write_b128": 16, "ds_bpermute_b32": 4, "ds_swizzle_b32": 4, "ds_add_u32": 4,
    "ds_add_rtn_u64": 8, "ds_pk_add_rtn_bf16": 4, "ds_wrxchg2_rtn_b32": 8, "ds_max_f64": 8,
    "s_load_dword": 4, "s_load_dwordx16": 64, "s_load_b512": 64, "s_load_u16": 2, "s_buffer_load_dwordx8": 32,
    "s_dcache_inv": 0, "tensor_load_to_lds": 0,
}  # fmt: skip
_VECTOR = ("buffer_", "tbuffer_", "global_", "flat_", "scratch_", "image_", "ds_")
MEMORY = (*_VECTOR, "s_load", "s_buffer_load", "s_store")


@pytest.mark.parametrize("mnemonic", BY_HAND)
def test_by_hand(mnemonic: str) -> None:
    assert access_width(f"{mnemonic} v[0:3], v1, s[0:3], 0") == BY_HAND[mnemonic]


def test_image_components_stand_in_the_mask() -> None:
    assert access_width("image_sample v[0:2], v[3:4], s[0:7], s[8:11] dmask:0x7 dim:SQ_RSRC_IMG_2D") == 12
    assert access_width("image_load v[0:1], v[3:4], s[0:7] dmask:0xf dim:SQ_RSRC_IMG_2D d16") == 8
    assert access_width("image_gather4 v[0:3], v[3:4], s[0:7], s[8:11] dmask:0x1") == 16


def test_what_no_rule_knows_is_unknown() -> None:
    assert access_width("global_load_block") == UNKNOWN


@pytest.fixture
def programs() -> list[Path]:
    """Folders with a code.json."""
    return [sample_path(name) for name in SAMPLES if (sample_path(name) / "code.json").exists()]


def memory_instructions(folders: list[Path]) -> set[str]:
    """All texts of memory instructions."""
    rows = [row for folder in folders for row in json.loads((folder / "code.json").read_text())["code"] or ()]
    return {row[0].strip() for row in rows if row[0].strip().startswith(MEMORY)}


def test_every_mnemonic_of_every_capture_is_known(programs: list[Path]) -> None:
    memory = memory_instructions(programs)
    assert {text.partition("_")[0] for text in memory} >= {"global", "ds", "s"}
    assert not {text for text in memory if access_width(text) == UNKNOWN}


# A capture of waves of 64 lanes whose memory instructions stand in the table above
trace = traces_of(["vector_add", "matmul_small"])


def test_bytes_of_a_capture_are_those_of_its_totals(trace: Trace) -> None:
    """The program's own hits times the width of each instruction, 64 lanes."""
    found = WIDTHS.of(trace, [all_waves(trace)])
    by_width: Counter[int] = Counter()
    for text, hits in zip(trace.code.text, trace.code.hits.tolist(), strict=True):
        if text.startswith(_VECTOR) and not text.startswith("ds_") and hits:
            by_width[BY_HAND[text.split(" ", 1)[0]]] += hits
    assert by_width
    assert found.vector_bytes == sum(width * hits for width, hits in by_width.items()) * 64
    assert sorted(found.by_width(np.flatnonzero(found.is_vector))) == sorted(by_width.items())
    spans: dict[tuple[int, int], set[int]] = {}
    for row in range(len(trace.waves)):
        unit = (int(trace.waves.se[row]), int(trace.waves.cu[row]))
        cycles = range(int(trace.waves.begin[row]), int(trace.waves.end[row]))
        spans.setdefault(unit, set()).update(cycles)
    assert found.unit_cycles == sum(len(cycles) for cycles in spans.values())


@pytest.mark.parametrize(
    ("sample", "traced", "held", "cus"),
    [
        ("gfx12", 1, 4, 2),  # one SIMD of a work-group processor, of which all held waves
        ("straggler", 2, 4, 1),
        ("matmul_small", 4, 4, 1),
    ],
)
def test_the_rate_of_a_unit_is_that_of_all_its_simds(sample: str, traced: int, held: int, cus: int) -> None:
    trace, batch = sample_waves(sample)
    found = WIDTHS.of(trace, [batch])
    per_cycle = found.vector_bytes / found.unit_cycles / traced / cus
    assert found.vector_rate == pytest.approx(per_cycle * held, rel=1e-12)
    unknown = WIDTHS.of(replace(trace, occupancy=trace.occupancy.at(slice(0))), [batch])
    others = held if not trace.architecture.traces_all_simds else traced
    assert unknown.vector_rate == pytest.approx(per_cycle * others, rel=1e-12)


def test_scalar_memory_is_of_a_wave() -> None:
    assert is_scalar("s_buffer_load_dwordx4 s[0:3], s[4:7], 0x0")
    assert not is_scalar("s_waitcnt lgkmcnt(0)")
