from collections.abc import Callable

import numpy as np
import pytest

from rcv_py.base.machine import compiled
from rcv_py.formats.isa.code_object import CodeObject
from rcv_py.formats.isa.program import Program, categories, mnemonic, written_targets
from rcv_py.formats.raw import stitch as module
from rcv_py.formats.raw.stitch import StreamStarts, listing, programs_at, stitch
from rcv_py.formats.sqtt.records import WaveRecords
from rcv_py.model.kinds import TokenKind, WaveState
from tests.support.raw_samples import raw_sample
from tests.support.sqtt_truth import Raw, Stitched, stream_of

S, M, V, L, N, J, I, MSG, F = (  # noqa: E741 - kinds as columns of letters
    *(TokenKind.SALU, TokenKind.SMEM, TokenKind.VALU, TokenKind.LDS, TokenKind.NEXT, TokenKind.JUMP),
    *(TokenKind.IMMED, TokenKind.MSG, TokenKind.FLAT),
)
VM, CONTEXT = TokenKind.VMEM, TokenKind.TRAP
FIRST = 0x100


def program(*texts: str, first: int = FIRST, goes: dict[int, int] | None = None) -> Program:
    """Lines of 4 bytes; `goes` are rows of branches and the rows where they go."""
    address = np.arange(first, first + 4 * len(texts), 4, dtype=np.uint64)
    target = np.full(len(texts), -1, dtype=np.int64)
    for row, to in (goes or {}).items():
        target[row] = first + 4 * to
    return Program("kernel", address, np.full(len(texts), 4, np.uint8), texts, categories(texts), target)


def waves(*kinds: list[int], breaks: dict[int, int] | None = None, step: int = 10) -> WaveRecords:
    """Waves whose tokens begin every `step` cycles and last 4; `breaks` of the first: token, address."""
    count = [len(one) for one in kinds]
    first = np.concatenate([[0], np.cumsum(count)])
    time = np.concatenate([np.arange(n) * step for n in count]) if count else np.zeros(0)
    given = breaks or {}
    columns: dict[str, np.ndarray] = {
        "token_first": first,
        "time": time.astype(np.int64),
        "kind": np.array([kind for one in kinds for kind in one], dtype=np.uint8),
        "stall": np.zeros(first[-1], dtype=np.int64),
        "duration": np.full(first[-1], 4, dtype=np.int64),
        "flags": np.zeros(first[-1], dtype=np.uint8),
        "begin": np.zeros(len(kinds), dtype=np.int64),
        "end": np.array([n * step for n in count], dtype=np.int64),
        "state_first": np.arange(len(kinds) + 1),
        "state": np.full(len(kinds), WaveState.EXEC, dtype=np.uint8),
        "state_duration": np.array([n * step for n in count], dtype=np.int64),
        "break_first": np.array([0, *[len(given)] * len(kinds)]),
        "break_token": np.array(list(given), dtype=np.int64),
        "break_address": np.array(list(given.values()), dtype=np.uint64),
    }
    for name in WaveRecords.__struct_fields__:
        columns.setdefault(name, np.zeros(len(kinds), dtype=np.int64))
    return WaveRecords(**columns)


def walked(records: WaveRecords, *programs: Program, gfxip: int = 9, **named: bool) -> Stitched:
    """Waves that begin at the first line of the first program."""
    lines = listing([(1, one) for one in programs])
    one = np.ones(len(records.break_address), dtype=np.int32)
    entry = lines.rows(np.ones(len(records), int), np.full(len(records), programs[0].address[0]))
    starts = StreamStarts(entry, lines.rows(one, records.break_address))
    return Stitched(*stitch(records, lines, starts, gfxip, **named))


@pytest.fixture(params=["compiled", "plain"], autouse=True)
def _both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test here with compiled functions, and with the same text as plain Python."""
    if request.param == "plain":
        for name in vars(module).copy():
            value: Callable[..., object] = getattr(module, name)
            for inner in ("py_func", "__wrapped__"):
                if not isinstance(value, type) and callable(getattr(value, inner, None)):
                    monkeypatch.setattr(module, name, getattr(value, inner))


def test_what_is_prepared_is_what_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    module.prepare()
    # Nothing is compiled any more for what streams and programs give.
    monkeypatch.setattr(compiled._Compiled, "_first", lambda *_: pytest.fail("for other types"))
    found = walked(waves([V]), program("v_mov_b32_e32 v0, v0"))
    assert found.row.tolist() == [0]


@pytest.mark.parametrize(
    ("name", "is_named"),
    [("gfx9", True), ("gfx9", False), ("gfx11", True), ("gfx11", False), ("gfx12", True)],
)
def test_every_instruction_of_simulated_captures(name: str, is_named: bool) -> None:
    raw = raw_sample(name)
    (code,) = raw.said["code"].values()
    texts = {address: text for address, _, text in code["isa"]} if is_named else None
    found = raw.code_object(1)
    every_instruction_is_found(raw, {1: CodeObject(1, found.name, found.image, texts, known=())})


def every_instruction_is_found(raw: Raw, objects: dict[int, CodeObject]) -> None:
    """Stitch the waves of every engine that ran any beside code objects."""
    truth = raw.said
    for capture in truth["captures"]:
        if not any(wave["insts"] for wave in capture["waves"]):
            continue
        found = objects[capture["code_object"]]
        base = truth["code"][str(capture["code_object"])]["base"]
        stream = stream_of(truth["arch"], capture, base)
        records = stream.waves
        places, number = records.entry - np.uint64(base), np.full(len(records), found.id)
        lines = listing(programs_at(lambda _, place, one=found: one.program(place), number, places))
        starts = StreamStarts(lines.rows(number, places), np.zeros(0, dtype=np.int32))
        done = Stitched(*stitch(records, lines, starts, stream.gfxip, stream.gfxip == 12))
        assert done.is_complete
        one = done.waves
        columns = (one.time, one.kind, lines.address[done.row], one.stall, one.duration)
        table = np.stack([column.astype(np.int64) for column in columns], axis=1).tolist()
        assert table == [row for wave in capture["waves"] for row in wave["insts"]]
        assert np.diff(one.token_first).tolist() == [wave["stitched"][1] for wave in capture["waves"]]


def test_loops_are_followed_and_lines_without_tokens_passed() -> None:
    kernel = program(
        *("s_mov_b32 s0, 0", "s_delay_alu 0", "v_add_f32 v0, v1, v2", "s_cbranch_scc1 65533", "s_endpgm"),
        goes={3: 1},
    )
    done = walked(waves([S, V, J, V, J, V, N, I]), kernel, gfxip=11)
    assert done.row.tolist() == [0, 2, 3, 2, 3, 2, 3, 4]
    assert done.is_complete


def test_breaks_go_where_the_stream_says() -> None:
    kernel = program("s_mov_b32 s0, 0", "s_swappc_b64 s[0:1], s[2:3]", "v_mov_b32 v0, 0", "s_endpgm")
    callee = program("s_delay_alu 0", "v_mul_f32 v0, v1, v2", "s_setpc_b64 s[0:1]", first=0x900)
    done = walked(waves([S, S, V, S, V, I], breaks={1: 0x900, 3: 0x108}), kernel, callee, gfxip=12)
    assert done.row.tolist() == [0, 1, 5, 6, 2, 3]


def test_a_place_that_nobody_knows_costs_what_lies_behind_it_until_the_next() -> None:
    kernel = program("s_mov_b32 s0, 0", "s_swappc_b64 s[0:1], s[2:3]", "v_mov_b32 v0, 0", "s_endpgm")
    done = walked(waves([S, S, V, V, V, I], breaks={1: 0x7000, 3: 0x108}), kernel)
    assert done.row.tolist() == [0, 1, -1, -1, 2, 3]
    assert done.matched.tolist() == [4]
    assert not done.is_complete


def test_an_entry_that_nobody_knows_costs_one_wave() -> None:
    lines = listing([(1, program("s_nop 0", "s_endpgm"))])
    starts = StreamStarts(np.array([-1, 0]), np.zeros(0, int))
    done = Stitched(*stitch(waves([I, I], [I, I]), lines, starts, 9))
    assert done.row.tolist() == [-1, -1, 0, 1]
    assert done.matched.tolist() == [0, 2]


def test_traps_are_no_lines() -> None:
    done = walked(waves([S, CONTEXT, V]), program("s_mov_b32 s0, 0", "v_mov_b32 v0, 0"))
    assert done.row.tolist() == [0, -1, 1]
    assert done.is_complete


@pytest.mark.parametrize(
    ("kind", "text"),
    [(MSG, "s_sendmsg 1"), (F, "global_load_dword v0, v[0:1], off"), (F, "flat_load_dword v0, v[0:1]")],
)
def test_units_that_stand_for_another(kind: TokenKind, text: str) -> None:
    assert walked(waves([S, kind]), program("s_mov_b32 s0, 0", text)).row.tolist() == [0, 1]


@pytest.mark.parametrize("kind", [M, S])
def test_the_clock_is_read_as_memory_or_as_an_operation(kind: TokenKind) -> None:
    kernel = program("v_mov_b32 v0, 0", "s_memtime s[0:1]", "s_load_dword s2, s[0:1], 0x0")
    assert walked(waves([V, kind, M]), kernel).row.tolist() == [0, 1, 2]


def test_gfx9_barrier_has_two_tokens() -> None:
    kernel = program("s_mov_b32 s0, 0", "s_barrier", "v_mov_b32 v0, 0")
    assert walked(waves([S, MSG, I, V]), kernel).row.tolist() == [0, 1, 1, 2]
    assert walked(waves([S, I, V]), kernel).row.tolist() == [0, 1, 2]
    assert walked(waves([S, MSG, V]), kernel).row.tolist() == [0, 1, 2]
    first = program("s_barrier", "v_mov_b32 v0, 0")
    assert walked(waves([MSG, I, V]), first).row.tolist() == [0, 0, 1]
    assert walked(waves([S, MSG, V]), kernel, gfxip=11).row.tolist() == [0, 1, 2]


def test_gfx9_tokens_may_come_in_another_order() -> None:
    kernel = program("s_mov_b32 s0, 0", "ds_read_b32 v0, v1", "v_mov_b32 v2, 0", "s_endpgm")
    done = walked(waves([S, V, L, I]), kernel)
    assert done.row.tolist() == [0, 1, 2, 3]
    assert done.waves.kind.tolist() == [S, L, V, I]
    assert done.waves.time.tolist() == [0, 20, 10, 30]
    assert walked(waves([S, V, L, I]), kernel, gfxip=11).row.tolist() == [0, 2, -1, -1], "others do not"


def test_scaled_mfma_begin_with_their_scales() -> None:
    kernel = program("s_mov_b32 s0, 0", "v_mfma_scale_f32_16x16x128_f8f6f4 v0", "s_endpgm")
    done = walked(waves([S, V, I]), kernel)
    assert (done.waves.time[1], done.waves.duration[1]) == (6, 12), "room on both sides"
    done = walked(waves([S, V, I], step=8), kernel)
    assert (done.waves.time[1], done.waves.duration[1]) == (4, 12), "as far as the next begins"
    done = walked(waves([S, V, I], step=4), kernel)
    assert (done.waves.time[1], done.waves.duration[1]) == (4, 4), "none"


def test_gfx12_moves_of_64_bits_take_two_cycles() -> None:
    records = waves([S, V])
    records.duration[1] = 1
    kernel = program("s_mov_b32 s0, 0", "v_mov_b64_e32 v[0:1], 0")
    assert walked(records, kernel, gfxip=12).waves.duration.tolist() == [4, 2]
    assert walked(records, kernel, gfxip=11).waves.duration.tolist() == [4, 1]


def test_rdna_waits_may_be_told_where_another_line_stands() -> None:
    kernel = program("s_mov_b32 s0, 0", "v_mov_b32 v0, 0", "s_waitcnt vmcnt(0)", "v_mov_b32 v1, 0")
    assert walked(waves([S, I, V, V]), kernel, gfxip=11).row.tolist() == [0, 1, 2, 3]
    kernel = program("s_mov_b32 s0, 0", "ds_read_b32 v0, v1", "v_mov_b32 v1, 0")
    assert walked(waves([S, I, V]), kernel, gfxip=11).row.tolist() == [0, 1, 2]
    assert walked(waves([S, I, V]), kernel).row.tolist() == [0, -1, -1]


def test_lines_without_a_token_are_passed_and_loads_are_not() -> None:
    kernel = program("s_mov_b32 s0, 0", "s_nop 0", "v_mov_b32 v0, 0")
    assert walked(waves([S, V]), kernel).row.tolist() == [0, 2]
    for text, rows in (("buffer_load_dword v0", [0, -1]), ("scratch_load_dword v0", [0, 2])):
        kernel = program("s_mov_b32 s0, 0", text, "v_mov_b32 v0, 0")
        assert walked(waves([S, V]), kernel).row.tolist() == rows
    kernel = program("s_mov_b32 s0, 0", "s_waitcnt vmcnt(0)", "v_mov_b32 v0, 0")
    assert walked(waves([S, V]), kernel).row.tolist() == [0, -1]


def test_a_wave_is_given_up_after_a_thousand_lines() -> None:
    far = ["s_nop 0"] * 999
    for more, rows in ((0, [0, 1000]), (1, [0, -1])):
        kernel = program("s_mov_b32 s0, 0", *far, *["s_nop 0"] * more, "v_mov_b32 v0, 0")
        assert walked(waves([S, V]), kernel).row.tolist() == rows


def test_a_program_that_jumps_in_circles_ends() -> None:
    kernel = program("s_delay_alu 0", *["s_nop 0"] * 900, "s_branch 0", goes={901: 0})
    done = walked(waves([I, *[J] * 5000]), kernel, gfxip=12)
    assert 0 < int(done.matched[0]) < 5001, "what leaves no tokens costs patience"
    skips = program("s_nop 0", *["s_delay_alu 0"] * 2000, "s_branch 0", goes={2001: 0})
    assert walked(waves([I, *[J, I] * 100]), skips, gfxip=12).is_complete, "what never leaves any costs none"


WAITS = (
    "s_barrier_signal -1",
    "s_barrier_wait 65535",
    "s_wait_loadcnt 0x0",
    "ds_load_b32 v0, v1",
    "v_mov_b32 v0, 0",
)
KERNEL_12 = program("s_mov_b32 s0, 0", *WAITS, "s_mov_b32 s1, 0", "s_endpgm")


def test_gfx12_barrier_waits_have_a_token_or_none() -> None:
    alone = walked(waves([S, MSG, I, L, V, S, I]), KERNEL_12, gfxip=12, excludes=True)
    assert alone.row.tolist() == [0, 1, 3, 4, 5, 6, 7], "the wait that is told is that for loads"
    both = walked(waves([S, MSG, I, I, L, V, S, I]), KERNEL_12, gfxip=12, excludes=True)
    assert both.row.tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    none = walked(waves([S, MSG, I, L, V, S, I]), KERNEL_12, gfxip=12)
    assert none.row.tolist()[2] == 2, "only where the stream says so"


ROUND = ("s_sleep 4", "s_barrier_signal -1", "s_barrier_wait 0xffff", *["s_nop 0"] * 4)
AFTER_END = ("s_code_end", "s_nop 0", "s_nop 0")


@pytest.mark.parametrize("padding", [(), AFTER_END], ids=["alone", "padded"])
@pytest.mark.parametrize("leaves", [True, False], ids=["with a token", "without"])
def test_gfx12_barriers_between_lines_that_only_pause(leaves: bool, padding: tuple[str, ...]) -> None:
    """Four barriers, and nothing that another unit issues: the tokens of s_nop and s_endpgm decide."""
    kernel = program(*ROUND * 4, "s_endpgm", *padding)
    one_round = [I, MSG, *[I] * (5 if leaves else 4)]
    expected = [row for row in range(29) if leaves or row == 28 or row % 7 != 2]
    done = walked(waves([*one_round * 4, MSG]), kernel, gfxip=12, excludes=True)
    assert done.row.tolist() == expected


@pytest.mark.parametrize(("leaves", "rows"), [(True, [0, 1, 2, 3, 4, 5]), (False, [0, 1, 3, 4, 5])])
def test_gfx12_barrier_waits_where_the_stream_says_to_go_on(leaves: bool, rows: list[int]) -> None:
    kernel = program("s_barrier_signal -1", "s_swappc_b64 s[0:1], s[2:3]", *WAITS[1:], "s_endpgm")
    after = [I, I, L, V] if leaves else [I, L, V]
    done = walked(waves([MSG, S, *after], breaks={1: 0x108}), kernel, gfxip=12, excludes=True)
    assert done.row.tolist() == rows
    first = program("s_barrier_wait 65535", "v_mov_b32 v0, 0", "s_endpgm")
    assert walked(waves([V, MSG]), first, gfxip=12, excludes=True).row.tolist() == [1, 2]
    assert walked(waves([I, V, MSG]), first, gfxip=12, excludes=True).row.tolist() == [0, 1, 2]


def test_listings_join_code_objects() -> None:
    low, high = program("s_nop 0", "s_endpgm"), program("v_nop", "s_endpgm", first=0x108)
    lines = listing([(2, low), (1, high), (1, low)])
    assert lines.number.tolist() == [1, 1, 1, 1, 2, 2]
    assert lines.after.tolist() == [1, 2, 3, -1, 5, -1], "code that goes on goes on"
    asked = np.array([1, 1, 2, 2, 3]), np.array([0x108, 0x102, 0x104, 0x108, 0x100], dtype=np.uint64)
    assert lines.rows(*asked).tolist() == [2, -1, 5, -1, -1]
    assert len(listing([])) == 0


def test_programs_that_others_branch_to_are_there() -> None:
    first = program("s_cbranch_scc0 9", "s_endpgm", goes={0: 0x100})
    other = program("s_endpgm", first=0x500)

    def program_of(codeobj: int, address: int) -> Program | None:
        return next((one for one in (first, other) if codeobj == 1 and one.row(address) >= 0), None)

    found = programs_at(program_of, np.array([1, 1, 9]), np.array([0x100, 0x100, 0x100], dtype=np.uint64))
    assert [one.address[0] for _, one in found] == [0x100, 0x500]


def test_targets_that_are_written() -> None:
    texts = (
        "s_cbranch_scc0 65534",
        "s_branch 3",
        "s_cbranch_g_fork s[0:1], s[2:3]",
        "v_mov_b32 v0, 0",
        "s_branch",
    )
    assert written_targets(np.arange(0x100, 0x114, 4), texts).tolist() == [0xFC, 0x114, -1, -1, -1]
    assert mnemonic("") == ""


@pytest.mark.parametrize("seed", range(20))
def test_any_tokens_and_any_lines_end(seed: int) -> None:
    rng = np.random.default_rng(seed)
    words = [
        *("s_nop", "v_nop", "s_mov", "s_branch", "s_delay_alu", "s_barrier_wait", "s_waitcnt"),
        *("ds_read", "exp"),
    ]
    words += ["buffer_load_dword", "v_mfma_scale_x", "v_mov_b64", "s_barrier", "flat_x", "s_load_x"]
    texts = rng.choice(words, 60).tolist()
    goes = {row: int(rng.integers(0, 60)) for row, text in enumerate(texts) if text == "s_branch"}
    tokens = [rng.integers(0, 15, rng.integers(0, 80)).tolist() for _ in range(5)]
    for gfxip in (9, 10, 11, 12):
        records = waves(*tokens)
        done = walked(records, program(*texts, goes=goes), gfxip=gfxip, excludes=bool(seed % 2))
        assert ((done.row >= -1) & (done.row < 60)).all()
        assert (done.matched <= np.diff(records.token_first)).all()
