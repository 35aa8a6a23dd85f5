"""Addresses of lanes: numbers by hand for each kind of block, and blocks that must not be believed."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from msgspec.structs import replace

from rcv_py.analysis.latency.address_access import ADDRESSES, AddressAccesses
from rcv_py.analysis.latency.address_blocks import KINDS, lanes_of
from rcv_py.model.code import SourceFile
from rcv_py.model.device import MarkerName, ShaderData
from rcv_py.model.trace import Trace
from tests.analysis import build

ALL = (1 << 64) - 1
CODE = ["; k", "s_mov_b32 m0, 0x14", "s_nop 0", "s_ttracedata", "v_nop", "{}", "s_endpgm"]
OF_KIND = {  # an instruction of four bytes a lane
    "load": "global_load_dword v1, v[2:3], off",
    "store": "flat_store_dword v[2:3], v1",
    "atomic": "global_atomic_add v[2:3], v1, off",
    "lds_load": "ds_read_b32 v1, v2",
    "lds_store": "ds_write_b32 v2, v1",
    "lds_atomic": "ds_add_u32 v2, v1",
    "ds_permute": "ds_permute_b32 v1, v2, v3",
    "ds_bpermute": "ds_bpermute_b32 v1, v2, v3",
    "buffer_load": "buffer_load_dword v1, v2, s[4:7], 0 offen",
    "buffer_store": "buffer_store_dword v1, v2, s[4:7], 0 offen",
    "buffer_atomic": "buffer_atomic_add v1, v2, s[4:7], 0 offen",
    "struct_buffer_load": "buffer_load_dword v1, v[2:3], s[4:7], 0 idxen offen",
    "struct_buffer_store": "buffer_store_dword v1, v[2:3], s[4:7], 0 idxen offen",
    "struct_buffer_atomic": "buffer_atomic_add v1, v[2:3], s[4:7], 0 idxen offen",
}


def halves(value: int) -> list[int]:
    return [value & 0xFFFFFFFF, value >> 32]


def block(kind: str, lanes: Sequence[int], mask: int = ALL, head: Sequence[int] = ()) -> list[int]:
    """The words of a block after its header; `lanes` are addresses, offsets or (offset, index)."""
    words = [*halves(mask & (1 << len(lanes)) - 1), *head]
    if kind in ("load", "store", "atomic"):
        return [*words, *(half for address in lanes for half in halves(address))]
    if kind.startswith("struct"):
        return [*words, *(offset for offset, _ in lanes), *(index for _, index in lanes)]  # type: ignore[misc]
    return [*words, *lanes]


def recorded(
    kind: str,
    *blocks: list[int],
    text: str = "",
    target: str = "gfx942",
    values: list[int] | None = None,
    count: int | None = None,
    code: Sequence[str] = CODE,
    source: str = "",
    names: tuple[MarkerName, ...] = (),
) -> Trace:
    """A trace of one wave that wrote these blocks of marker 5, or these values."""
    rows = [line.format(text or OF_KIND.get(kind, "v_nop")) for line in code]
    wave = build.wave("vV" + "." * 97, [1])
    gfxip = int(target.removeprefix("gfx")[:-2])
    trace = replace(build.trace(build.code(rows), [wave], gfxip=gfxip), target=target)
    written = values if values is not None else [value for one in blocks for value in (5 << 2, *one)]
    n = len(written)
    places = {"cu": 1, "simd": 0, "slot": 0, "flags": 0}
    columns = {name: np.full(n, at, dtype=np.int16) for name, at in places.items()}
    data = ShaderData(se=0, time=np.arange(n), value=np.array(written, dtype=np.uint32), **columns)
    marker = MarkerName(1, 5, "point", f"addr_trace_{kind}", source)
    number = len(blocks[0]) if count is None else count
    payloads = ((1, 5, number),) if number else ()
    return replace(trace, shader_data=(data,), markers=(marker, *names), marker_payloads=payloads)


def accesses(trace: Trace) -> AddressAccesses:
    return ADDRESSES.of(trace, [trace.reader.read(list(range(len(trace.waves))))])


def only(trace: Trace) -> dict[str, float]:
    """The one row, without columns that are not known."""
    found = accesses(trace)
    assert len(found) == 1
    columns = structs.asdict(found).items()
    row = {name: column[0].item() for name, column in columns if isinstance(column, np.ndarray)}
    return {name: value for name, value in row.items() if not np.isnan(value) and name != "marker"}


BASE = 0x7F12_3456_8000  # a multiple of 128


def test_lanes_side_by_side_use_every_byte_of_their_lines() -> None:
    """64 lanes × 4 bytes are 256 bytes: two lines of 128 bytes."""
    assert only(recorded("load", block("load", [BASE + 4 * lane for lane in range(64)]))) == {
        "line": 5, "blocks": 1, "incomplete": 0, "unusable": 0, "lanes": 64, "width": 4, "stride": 4,
        "strided": 1,
        "alignment": 4, "requests": 2, "least_requests": 2, "used": 256,
    }  # fmt: skip


def test_a_stride_of_256_bytes_touches_a_line_a_lane() -> None:
    row = only(recorded("load", block("load", [BASE + 256 * lane for lane in range(32)]), target="gfx1100"))
    assert (row["stride"], row["requests"], row["least_requests"], row["used"]) == (256, 32, 1, 128)
    assert row["alignment"] == 256


def test_lines_have_the_size_of_the_architecture() -> None:
    words = block("load", [BASE + 4 * lane for lane in range(64)])
    assert only(recorded("load", words, target="gfx90a"))["requests"] == 4  # lines of 64 bytes
    row = only(recorded("load", words, target="gfx1250"))  # not published
    assert "requests" not in row
    assert row["stride"] == 4


def test_an_access_across_a_border_touches_both_lines() -> None:
    """16 bytes a lane from byte 120 of a line on: 64 × 16 = 1,024 bytes are 8 lines, shifted they touch 9."""
    words = block("load", [BASE + 120 + 16 * lane for lane in range(64)])
    row = only(recorded("load", words, text="global_load_dwordx4 v[4:7], v[2:3], off"))
    assert (row["requests"], row["least_requests"], row["used"], row["alignment"]) == (9, 8, 1024, 8)


def test_lanes_outside_exec_do_not_count() -> None:
    lanes = [BASE + 4 * lane if lane % 2 else ALL - lane for lane in range(64)]  # garbage in even lanes
    row = only(recorded("load", block("load", lanes, mask=0xAAAAAAAAAAAAAAAA)))
    assert (row["lanes"], row["stride"], row["requests"], row["used"]) == (32, 4, 2, 128)


def test_lanes_that_share_bytes_use_them_once() -> None:
    row = only(recorded("load", block("load", [BASE] * 64)))
    assert (row["stride"], row["requests"], row["used"]) == (0, 1, 4)


def test_executions_add_up_and_need_not_have_one_stride() -> None:
    near, far = ([BASE + step * lane for lane in range(64)] for step in (4, 128))
    mixed = [*far[:-1], far[-1] + 4]
    row = only(recorded("load", *(block("load", one) for one in (near, far, mixed))))
    assert "stride" not in row
    assert (row["blocks"], row["strided"], row["requests"], row["used"]) == (3, 2 / 3, 2 + 64 + 64, 3 * 256)


def test_one_lane_has_no_stride() -> None:
    row = only(recorded("load", block("load", [BASE] * 64, mask=8)))
    assert (row["lanes"], row["requests"]) == (1, 1)
    assert not {"stride", "strided"} & row.keys()


def test_buffer_addresses_follow_the_descriptor() -> None:
    """Base 0x12_0000_1000 in words 0 and 1, with a stride above it, scalar offset 64, offsets 8 × lane."""
    words = block("buffer_load", [8 * lane for lane in range(64)], head=(0x1000, 16 << 16 | 0x12, 64))
    row = only(recorded("buffer_load", words))
    # 64 × 8 bytes from byte 64 of a line on touch five lines; 256 bytes are used.
    assert (row["stride"], row["requests"], row["least_requests"], row["used"]) == (8, 5, 2, 256)
    assert row["alignment"] == 8  # of 0x12_0000_1040 + 8 × lane


def test_structured_buffers_step_by_the_stride_of_the_descriptor() -> None:
    lanes = [(4, lane) for lane in range(64)]  # offset 4 in the element of the lane
    words = block("struct_buffer_load", lanes, head=(0, 48 << 16, 0))  # type: ignore[arg-type]
    row = only(recorded("struct_buffer_load", words))
    assert (row["stride"], row["alignment"], row["requests"]) == (48, 4, 24)  # bytes 4 to 63 × 48 + 7 = 3,031
    swizzled = block("struct_buffer_load", lanes, head=(0, 1 << 31 | 48 << 16, 0))  # type: ignore[arg-type]
    row = only(recorded("struct_buffer_load", swizzled))
    assert (row["blocks"], row["unusable"]) == (0, 1)


def test_lds_conflicts_follow_the_banks() -> None:
    """On gfx942 at stride 8, lanes 0 and 16 of 32 want bank 0: two groups of lanes, two passes each."""
    row = only(recorded("lds_load", block("lds_load", [8 * lane for lane in range(64)])))
    assert (row["passes"], row["least_passes"], row["stride"]) == (4, 2, 8)
    assert "requests" not in row
    zero, four = (block("lds_load", [address] * 64) for address in (0, 4))
    assert "passes" not in only(recorded("lds_load", zero, text="ds_read2_b32 v[1:2], v3"))
    assert "passes" not in only(recorded("lds_load", four, text="ds_read_b64 v[1:2], v3"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lanes", [32, 64])
def test_every_kind_has_its_number_of_words(kind: str, lanes: int) -> None:
    head = (0, 0, 0) if KINDS[kind].is_buffer else ()
    own = [(4 * lane, 0) if kind.startswith("struct") else 4 * lane for lane in range(lanes)]
    words = block(kind, own, head=head)  # type: ignore[arg-type]
    assert lanes_of(kind, len(words)) == lanes
    row = only(recorded(kind, words, target="gfx942" if lanes == 64 else "gfx1100"))
    assert (row["line"], row["blocks"], row["lanes"], row["stride"]) == (5, 1, lanes, 4)
    assert ("passes" in row) == KINDS[kind].can_conflict
    assert ("requests" in row) == (not KINDS[kind].is_local)


# -- blocks that are not believed -------------------------------------------------------------------------

WORDS = block("load", [BASE + 4 * lane for lane in range(64)])
HEADER = 5 << 2


def told(values: list[int], **more: object) -> tuple[float, float, float]:
    row = only(recorded("load", WORDS, values=values, **more))  # type: ignore[arg-type]
    return row["blocks"], row["incomplete"], row["unusable"]


@pytest.mark.parametrize("lost", [1, 2, 3, 50, 129])
def test_a_block_without_all_words_is_counted_and_not_read(lost: int) -> None:
    whole = [HEADER, *WORDS]
    cut = whole[: len(whole) - lost]
    assert told([*whole, *cut]) == (1, 1, 0)  # the wave ends
    assert told([*cut, *whole, *whole])[0] <= 2  # the second header is taken for a word
    for at in range(1, len(whole), 37):
        row = only(recorded("load", WORDS, values=[*whole[:at], *whole[at + lost :], *whole]))
        assert row["incomplete"] >= (1 if at + lost < len(whole) else 0)
        assert row["stride"] == 4  # what is read is read right


def test_words_that_are_no_addresses_make_a_block_incomplete() -> None:
    shifted = block("load", [1 << 60 | lane for lane in range(64)])
    assert told([HEADER, *shifted]) == (0, 1, 0)
    row = only(recorded("lds_load", block("lds_load", [1 << 20] * 64)))
    assert (row["blocks"], row["incomplete"]) == (0, 1)


@pytest.mark.parametrize("count", [1, 65, 129, 131, 1 << 40])
def test_a_number_of_words_that_no_wave_writes_is_said(count: int) -> None:
    blocks, incomplete, unusable = told([HEADER, *WORDS], count=count)
    assert (blocks, incomplete + unusable) == (0, 1)


def test_a_header_without_a_number_of_words_is_unusable() -> None:
    assert told([HEADER, *WORDS], count=0)[0] == 0


def test_an_unknown_kind_is_counted() -> None:
    row = only(recorded("tensor_load", WORDS))
    assert (row["blocks"], row["unusable"]) == (0, 1)


def test_a_wave_of_64_with_words_of_32_lanes_is_unusable() -> None:
    words = block("load", [BASE] * 32)
    row = only(recorded("load", [words[0], 1, *words[2:]], target="gfx1100"))
    assert (row["blocks"], row["unusable"]) == (0, 1)


@given(
    st.lists(st.one_of(st.integers(0, (1 << 32) - 1), st.integers(0, 64)), max_size=200), st.integers(0, 140)
)
def test_any_values_are_read(values: list[int], count: int) -> None:
    accesses(recorded("load", values=values, count=count))
    accesses(recorded("lds_load", values=values, count=count))


# -- the instruction ---------------------------------------------------------------------------------------


def line_of(code: Sequence[str], **more: object) -> float:
    return only(recorded("load", WORDS, code=code, **more))["line"]  # type: ignore[arg-type]


LOAD, OTHER = OF_KIND["load"], OF_KIND["store"]


def test_the_instruction_is_the_next_of_its_kind_after_the_header() -> None:
    assert line_of(["; k", LOAD, "s_ttracedata_imm 0x14", OTHER, LOAD, LOAD]) == 4
    moved = ["s_movk_i32 s4, 0x14", "s_mov_b32 m0, s4", "s_nop 0", "s_ttracedata"]
    assert line_of(["; k", LOAD, *moved, LOAD]) == 6
    # The words of lanes come from a register that no constant is moved to.
    loop = ["v_readlane_b32 s4, v1, s5", "s_mov_b32 m0, s4", "s_ttracedata"]
    assert line_of(["; k", "s_mov_b32 m0, 20", "s_ttracedata", *loop, LOAD, LOAD]) == 6


def test_an_instruction_that_fits_several_ways_is_not_known() -> None:
    two = ["s_ttracedata_imm 20", LOAD, "s_ttracedata_imm 20", LOAD]
    assert line_of(["; k", *two]) == -1
    names = (MarkerName(1, 6, "point", "addr_trace_load"),)
    assert line_of(["; k", "s_ttracedata_imm 20", "s_ttracedata_imm 24", LOAD], names=names) == -1
    assert line_of(["; k", LOAD, LOAD]) == -1
    assert line_of(["; k", OTHER, LOAD]) == 2


def test_without_a_header_in_the_code_the_source_place_decides() -> None:
    trace = recorded("load", WORDS, code=["; k", LOAD, LOAD, OTHER], source="src/k.hip:7 -> main.hip:3")
    table = build.code(trace.code.text, chains=[(), [(0, 6)], [(0, 7), (0, 9)], [(0, 7)]])
    row = only(replace(trace, code=table, sources=(SourceFile("/home/me/src/k.hip", None),)))
    assert row["line"] == 2


def test_a_block_without_an_instruction_has_strides_and_lines_of_first_bytes() -> None:
    row = only(recorded("load", WORDS, code=["; k", LOAD, LOAD]))
    assert (row["line"], row["stride"], row["requests"], row["width"]) == (-1, 4, 2, 0)
    assert not {"used", "least_requests"} & row.keys()
