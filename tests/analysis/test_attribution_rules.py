"""Attribution on small programs made by hand: one rule a test, and what must hold for all."""

import numpy as np
import pytest

from rcv_py.analysis.attribution.attribute import ATTRIBUTION, Attribution, token_causes
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.model.kinds import TokenKind as K
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch
from tests.analysis import build
from tests.support.columns import in_rows

Row = tuple[int, int, int, int]


def run(
    texts: list[str],
    *waves: list[Row],
    places: list[Row] | None = None,
    gfxip: int = 9,
    kinds: dict[int, int] | None = None,
) -> tuple[Trace, WaveBatch]:
    """A trace of waves whose tokens are (line, start, stall, busy); lines are rows of `texts`."""
    places = places or [(0, 0, n, 0) for n in range(len(waves))]
    made = [_wave(rows, number, places[number], kinds or {}) for number, rows in enumerate(waves)]
    of_lines = [K.MATRIX if text.startswith("v_mfma") else K.VALU for text in texts]
    trace = build.trace(build.code(texts, kinds=of_lines), made, gfxip=gfxip)
    return trace, build.batch(*made)


def _wave(rows: list[Row], number: int, place: Row, kinds: dict[int, int]) -> TracedWave:
    line, start, stall, busy = np.array(rows).T
    base, end = int(start[0]), int((start + stall + busy).max())
    kind = [kinds.get(one, K.VALU) for one in line.tolist()]
    tokens = build.tokens(base, start - base, stall, busy, line=line, kind=kind)
    return build.of_tokens(tokens, row=number, begin=base, end=end, place=place)


def found(table: Attribution, *, idle: bool = False) -> dict[tuple[int, Cause], tuple[int, int]]:
    """(line, cause) to (cycles, producer), of what has cycles."""
    cycles = table.idle if idle else table.stall
    rows = in_rows(table.line, table.cause, cycles, table.producer)
    return {(line, Cause(cause)): (spent, producer) for line, cause, spent, producer in rows if spent}


def stalled(*arguments, **named) -> dict[tuple[int, Cause], tuple[int, int]]:
    trace, batch = run(*arguments, **named)
    table = ATTRIBUTION.of(trace, [batch])
    assert table.total_stall == int(batch.stall.sum())
    return found(table)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("global_load_dword v1, v0, s[0:1]", Cause.WAIT_LOAD),
        ("buffer_load_dword v0, s[0:3], 0 offen lds", Cause.WAIT_DMA),
        ("global_load_lds_dword v0, s[0:1]", Cause.WAIT_DMA),
        ("global_store_dword v0, v1, s[0:1]", Cause.WAIT_STORE),
        ("global_atomic_add v0, v1, s[0:1]", Cause.WAIT_ATOMIC),
        ("ds_read_b32 v1, v0", Cause.WAIT_LDS),
        ("ds_bpermute_b32 v1, v0, v2", Cause.WAIT_CROSS_LANE),
        ("ds_swizzle_b32 v1, v0 offset:swizzle(SWAP,16)", Cause.WAIT_CROSS_LANE),
        ("s_load_dword s4, s[0:1], 0x0", Cause.WAIT_SCALAR),
        ("s_sendmsg sendmsg(MSG_GS)", Cause.WAIT_MESSAGE),
        ("exp pos0 v0, v1, v2, v3 done", Cause.WAIT_EXPORT),
    ],
)
def test_a_wait_is_named_after_what_it_waited_for(text: str, cause: Cause) -> None:
    texts = ["; k", text, "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)"]
    assert stalled(texts, [(1, 0, 0, 4), (2, 4, 40, 0)]) == {(2, cause): (40, 1)}


def test_a_wait_that_did_not_wait_is_its_own_cost() -> None:
    texts = ["; k", "ds_read_b32 v1, v0", "s_waitcnt lgkmcnt(0)"]
    assert stalled(texts, [(1, 0, 0, 4), (2, 400, 4, 0)]) == {(2, Cause.OWN): (4, -1)}


def test_of_two_counters_the_one_that_was_due_last_is_charged() -> None:
    texts = ["; k", "global_load_dword v1, v0, s[0:1]", "ds_read_b32 v2, v3", "s_waitcnt vmcnt(0)",
             "s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0) lgkmcnt(0)"]  # fmt: skip
    alone = [(1, 0, 0, 4), (3, 4, 600, 0), (2, 604, 0, 4), (4, 608, 60, 0)]
    both = [(1, 700, 0, 4), (2, 704, 0, 4), (5, 708, 590, 0)]  # LDS is newer, but memory takes longer
    assert stalled(texts, [*alone, *both])[5, Cause.WAIT_LOAD] == (590, 1)


LOADS = ["; k", "global_load_dword v1, v0, s[0:1]", "ds_read_b32 v2, v3", "s_waitcnt vmcnt(0)",
         "s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0) lgkmcnt(0)", "ds_read_b64 v[4:5], v3",
         "ds_read_b128 v[4:7], v3"]  # fmt: skip


def measured_and(*both: tuple[int, int, int]) -> list[Row]:
    """Loads of 480 to 720 cycles and LDS accesses of 60, each waited for alone; then waits for one of each.

    Each of `both` is how long after the load the LDS access is issued, the wait, and how long that stalls.
    """
    rows, now = [], 0
    for number in range(12):
        length = 480 + 20 * number
        rows += [(1, now, 0, 4), (3, now + 4, length, 0)]
        now += 4 + length
        rows += [(2, now, 0, 4), (4, now + 4, 60, 0), (6, now + 64, 0, 4), (4, now + 68, 60, 0)]
        rows += [(7, now + 128, 0, 4), (4, now + 132, 60, 0)]
        now += 192
    for after, wait, stall in both:
        rows += [(1, now, 0, 4), (2, now + after, 0, 4), (5, now + wait, stall, 0)]
        now += wait + stall + 100
    return rows


def test_an_lds_access_is_not_charged_beyond_its_longest_latency() -> None:
    """80 cycles are more than LDS ever took, though nearer to its mean than 1,480 are to that of loads."""
    table = stalled(LOADS, measured_and((1400, 1404, 80)))
    assert table[5, Cause.WAIT_LOAD] == (80, 1)


@pytest.mark.parametrize(
    ("after", "wait", "stall", "cause"),
    [(1400, 1404, 60, Cause.WAIT_LDS), (20, 24, 576, Cause.WAIT_LOAD), (536, 540, 60, None)],
)
def test_what_took_as_long_as_usual_ended_the_wait(
    after: int, wait: int, stall: int, cause: Cause | None
) -> None:
    """If both took as long as usual, either may have ended it: the one that is named is a guess."""
    trace, batch = run(LOADS, measured_and((after, wait, stall)))
    table = ATTRIBUTION.of(trace, [batch])
    rows = np.flatnonzero((table.line == 5) & (table.stall > 0))
    assert len(rows) == 1
    assert bool(table.is_guess[rows[0]]) == (cause is None)
    assert int(table.guessed[rows[0]]) == (stall if cause is None else 0)
    if cause is not None:
        assert table.cause[rows[0]] == cause


SCALARS = ["; k", "s_load_dword s4, s[0:1], 0x0", "s_load_dword s5, s[0:1], 0x4", "s_waitcnt lgkmcnt(0)"]


def scalars(apart: int) -> Attribution:
    """Single scalar loads of 180 to 220 cycles, then two, so many cycles apart; the newest takes 200."""
    rows, now = [], 0
    for number in range(12):
        rows += [(1, now, 0, 4), (3, now + 4, 180 + 4 * (number % 11), 0)]
        now += 300
    rows += [(1, now, 0, 4), (2, now + apart, 0, 4), (3, now + apart + 4, 200, 0)]
    trace, batch = run(SCALARS, rows)
    return ATTRIBUTION.of(trace, [batch])


def test_of_scalar_loads_that_may_return_in_any_order_the_producer_is_a_guess() -> None:
    near, far = scalars(8), scalars(600)
    assert int(near.guessed.sum()) == 200, "only that of the two; the single ones are certain"
    assert int(far.guessed.sum()) == 0, "the first was back long before"
    assert set(far.producer[far.stall > 0].tolist()) == {1, 2}


def test_the_producers_of_full_queues_are_guesses() -> None:
    for cause in (Cause.MEMORY_QUEUE, Cause.LDS_QUEUE, Cause.SCALAR_QUEUE):
        assert "guess" in CAUSE_TEXT[cause].evidence
    texts = ["; k", "global_load_dword v1, v0, s[0:1]"]
    trace, batch = run(texts, [(1, 0, 0, 4), (1, 4, 0, 4), (1, 8, 0, 4), (1, 12, 80, 4)])
    table = ATTRIBUTION.of(trace, [batch])
    queued = table.at(table.cause == Cause.MEMORY_QUEUE)
    assert queued.stall.tolist() == queued.guessed.tolist() == [80]
    assert queued.is_guess.all()


def test_a_nop_covers_the_matrix_result_that_is_read_behind_it() -> None:
    texts = ["; k", "v_mfma_f32_32x32x8_f16 v[0:15], v[20:21], v[22:23], v[0:15]", "v_mov_b32_e32 v30, v31",
             "s_nop 7", "v_add_f32_e32 v40, v3, v30"]  # fmt: skip
    rows = [(1, 0, 0, 4), (2, 8, 0, 4), (3, 12, 40, 0), (4, 52, 0, 4)]
    assert stalled(texts, rows) == {(3, Cause.NOP): (32, 1), (3, Cause.UNEXPLAINED): (8, -1)}


def test_a_result_that_was_overwritten_is_not_waited_for() -> None:
    texts = ["; k", "v_mfma_f32_32x32x8_f16 v[0:15], v[20:21], v[22:23], v[0:15]", "v_mov_b32_e32 v3, v31",
             "v_add_f32_e32 v40, v3, v30", "v_add_f32_e32 v41, v4, v30"]  # fmt: skip
    rows = [(1, 0, 0, 4), (2, 8, 0, 4), (3, 12, 20, 4), (4, 36, 16, 4)]
    assert stalled(texts, rows) == {(3, Cause.UNEXPLAINED): (20, -1), (4, Cause.MATRIX_RESULT): (16, 1)}


def test_a_matrix_result_is_charged_until_the_required_distance_is_over() -> None:
    texts = ["; k", "v_mfma_f32_16x16x16_f16 v[0:3], v[20:21], v[22:23], v[0:3]", "v_add_f32_e32 v9, v1, v2"]
    # 16 cycles of passes: eight turns between the two, so it may issue at 36.
    rows = [(1, 0, 0, 4), (2, 8, 60, 4)]
    assert stalled(texts, rows) == {(2, Cause.MATRIX_RESULT): (28, 1), (2, Cause.UNEXPLAINED): (32, -1)}


def test_another_waves_matrix_instruction_keeps_the_unit_busy() -> None:
    texts = ["; k", "v_mfma_f32_32x32x8_f16 v[0:15], v[20:21], v[22:23], v[0:15]",
             "v_mfma_f32_32x32x8_f16 v[40:55], v[60:61], v[62:63], v[40:55]", "s_mov_b32 s0, 0"]  # fmt: skip
    waves = [[(3, 0, 0, 4), (1, 4, 0, 4)], [(3, 0, 0, 4), (2, 12, 24, 4)]]
    assert stalled(texts, *waves) == {(2, Cause.MATRIX_BUSY): (24, 1)}
    elsewhere = stalled(texts, *waves, places=[(0, 0, 0, 0), (0, 1, 0, 0)])
    assert (2, Cause.MATRIX_BUSY) not in elsewhere, "on another SIMD it is in nobody's way"


def test_what_another_wave_issued_is_arbitration_only_where_it_overlaps() -> None:
    texts = ["; k", "v_add_f32_e32 v1, v2, v3", "v_add_f32_e32 v4, v5, v6", "s_mov_b32 s0, 0"]
    first = [(3, 0, 0, 4), (1, 4, 0, 4), (1, 8, 0, 4)]
    second = [(3, 0, 0, 4), (2, 4, 16, 4)]
    assert stalled(texts, first, second) == {(2, Cause.ARBITRATION): (8, 1), (2, Cause.UNEXPLAINED): (8, -1)}


def test_a_memory_instruction_stalls_for_the_queue_while_a_crowd_is_in_flight() -> None:
    texts = ["; k", "global_load_dword v1, v0, s[0:1]", "s_waitcnt vmcnt(0)", "s_mov_b32 s9, 0"]
    loads = [(1, 0, 0, 4), (1, 4, 0, 4), (1, 8, 0, 4)]
    waves = [[*loads, (2, 12, 88, 0)], [(3, 0, 0, 4), (1, 20, 100, 4)]]
    places = [(0, 0, 0, 0), (0, 1, 0, 0)]  # another SIMD of the same compute unit
    table = stalled(texts, *waves, places=places)
    assert table[1, Cause.MEMORY_QUEUE] == (80, 1)
    assert table[1, Cause.UNEXPLAINED] == (20, -1), "from cycle 100 on nothing is in flight"
    waves[0] = [*loads[:2], (2, 8, 92, 0)]
    table = stalled(texts, *waves, places=places)
    assert table[1, Cause.UNEXPLAINED] == (100, -1), "two in flight are not a full queue"


def shared(places: list[Row], second: tuple[int, int], text: str) -> int:
    """Cycles given to fetch: of 60 in one wave, with a stall of (begin, cycles) on `text` in another."""
    texts = ["; k", "s_mov_b32 s0, 0", "v_mov_b32_e32 v1, v2", text]
    begin, cycles = second
    waves = [[(1, 0, 0, 4), (2, 100, 60, 4)], [(1, 0, 0, 4), (3, begin, cycles, 4)]]
    return stalled(texts, *waves, places=places).get((2, Cause.FETCH), (0, -1))[0]


def test_two_simds_that_stall_together_in_a_line_of_code_share_its_fetch() -> None:
    apart, same = [(0, 0, 0, 0), (0, 1, 0, 0)], [(0, 0, 0, 0), (0, 0, 1, 0)]
    arithmetic, memory = "v_or_b32_e32 v3, v4, v5", "global_load_dword v1, v0, s[0:1]"
    assert shared(apart, (120, 40), arithmetic) == 60, "released together"
    assert shared(apart, (124, 40), arithmetic) == 60, "or a turn later"
    assert shared(apart, (100, 24), arithmetic) == 60, "held back together"
    assert shared(apart, (120, 20), arithmetic) == 0, "neither"
    assert shared(same, (120, 40), arithmetic) == 0, "waves of one SIMD share more than that"
    assert shared(apart, (120, 40), memory) == 0, "memory instructions wait for other things"


def test_an_address_that_was_just_computed_holds_a_memory_instruction_back() -> None:
    texts = ["; k", "v_mov_b32_e32 v1, s16", "buffer_load_dword v2, v1, s[4:7], 0 offen"]
    assert stalled(texts, [(1, 0, 0, 4), (2, 12, 8, 4)]) == {(2, Cause.REGISTER): (8, 1)}


def test_arithmetic_behind_a_memory_instruction_waits_for_its_operands() -> None:
    texts = ["; k", "global_load_dword v1, v0, s[0:1]", "s_add_i32 s3, s3, 4", "v_add_f32_e32 v4, v5, v6"]
    rows = [(1, 0, 0, 4), (2, 4, 0, 4), (3, 8, 12, 4)]
    assert stalled(texts, rows) == {(3, Cause.OPERAND_READ): (12, 1)}


def test_arithmetic_behind_an_lds_access_waits_for_its_operands() -> None:
    texts = ["; k", "ds_read_b32 v1, v0", "v_add_f32_e32 v4, v5, v6"]
    assert stalled(texts, [(1, 0, 0, 4), (2, 4, 12, 4)]) == {(2, Cause.OPERAND_READ): (12, 1)}


def test_arithmetic_behind_a_permute_or_long_after_a_load_has_no_such_evidence() -> None:
    texts = ["; k", "ds_bpermute_b32 v1, v0, v2", "global_load_dword v1, v0, s[0:1]", "v_add_f32 v4, v5, v6"]
    assert stalled(texts, [(1, 0, 0, 4), (3, 4, 12, 4)]) == {(3, Cause.UNEXPLAINED): (12, -1)}
    assert stalled(texts, [(2, 0, 0, 4), (3, 100, 12, 4)]) == {(3, Cause.UNEXPLAINED): (12, -1)}


def test_overwriting_the_address_of_a_recent_copy_to_lds_waits() -> None:
    load, copy = "buffer_load_dword v1, v0, s[0:3], 0 offen", "buffer_load_dword v0, s[0:3], 0 offen lds"
    rest = ["v_add_f32_e32 v4, v5, v6", "v_mov_b32_e32 v0, v9"]
    texts = ["; k", copy, *rest]
    near = stalled(texts, [(1, 0, 0, 4), (2, 4, 0, 4), (3, 8, 12, 4)])
    assert near == {(3, Cause.OPERAND_READ): (12, 1)}
    plain = stalled(["; k", load, *rest], [(1, 0, 0, 4), (2, 4, 0, 4), (3, 8, 12, 4)])
    assert plain == {(3, Cause.UNEXPLAINED): (12, -1)}, "of other loads addresses are read at once"
    far = stalled(texts, [(1, 0, 0, 4), (2, 4, 0, 4), (3, 200, 12, 4)])
    assert far == {(3, Cause.UNEXPLAINED): (12, -1)}


def test_a_memory_instruction_that_was_waited_for_holds_no_registers() -> None:
    """A completed operation reads and writes nothing any more: nothing is known of such a stall."""
    copy, arithmetic = "buffer_load_dword v0, s[0:3], 0 offen lds", "v_add_f32_e32 v4, v5, v6"
    texts = ["; k", "ds_read_b32 v1, v0", "s_waitcnt lgkmcnt(0)", arithmetic, copy, "s_waitcnt vmcnt(0)",
             "v_mov_b32_e32 v0, v9"]  # fmt: skip
    behind = stalled(texts, [(1, 0, 0, 4), (2, 4, 28, 0), (3, 32, 12, 4)])
    assert behind == {(2, Cause.WAIT_LDS): (28, 1), (3, Cause.UNEXPLAINED): (12, -1)}
    overwrites = stalled(texts, [(4, 0, 0, 4), (3, 4, 0, 4), (5, 8, 28, 0), (6, 36, 12, 4)])
    assert overwrites == {(5, Cause.WAIT_DMA): (28, 4), (6, Cause.UNEXPLAINED): (12, -1)}
    other = ["; k", "global_load_dword v1, v0, s[0:1]", "s_waitcnt vmcnt(1)", "v_add_f32_e32 v4, v5, v6"]
    rows = [(1, 0, 0, 4), (1, 4, 0, 4), (2, 8, 8, 0), (3, 16, 12, 4)]
    assert stalled(other, rows)[3, Cause.OPERAND_READ] == (12, 1), "the wait was for an older load"


def test_a_slow_instruction_holds_the_next_one_of_its_wave() -> None:
    texts = ["; k", "v_exp_f32_e32 v1, v2", "v_add_f32_e32 v4, v5, v6"]
    assert stalled(texts, [(1, 0, 0, 4), (2, 4, 12, 4)]) == {(2, Cause.UNIT_BUSY): (12, 1)}


def test_a_barrier_is_charged_to_what_the_last_wave_did_longest_meanwhile() -> None:
    texts = ["; k", "s_mov_b32 s0, 0", "s_barrier", "v_exp_f32_e32 v1, v2", "s_sleep 9"]
    early = [(1, 0, 0, 4), (2, 4, 100, 0)]
    late = [(1, 0, 0, 4), (3, 4, 0, 20), (4, 24, 64, 0), (3, 88, 0, 12), (2, 100, 4, 0)]
    places = [(0, 0, 0, 0), (0, 1, 0, 0)]  # same slot and number: one workgroup
    table = stalled(texts, early, late, places=places)
    assert table[2, Cause.BARRIER] == (100, 4)
    assert table[2, Cause.OWN] == (4, -1), "the last to arrive waits for nobody"
    assert table[4, Cause.SLEEP] == (64, -1)


@pytest.mark.parametrize("text", ["s_sleep 9", "s_sleep_var s0", "s_monitor_sleep 0x8001"])
def test_every_form_of_sleep_is_charged_to_itself(text: str) -> None:
    table = stalled(["; k", "s_mov_b32 s0, 0", text], [(1, 0, 0, 4), (2, 4, 400, 4)])
    assert table == {(2, Cause.SLEEP): (400, -1)}


def test_a_barrier_that_opened_long_after_the_last_traced_arrival_blames_nobody() -> None:
    texts = ["; k", "s_mov_b32 s0, 0", "s_barrier"]
    waves = [[(1, 0, 0, 4), (2, 4, 400, 0)], [(1, 0, 0, 4), (2, 100, 304, 0)]]
    table = stalled(texts, *waves, places=[(0, 0, 0, 0), (0, 1, 0, 0)])
    assert table == {(2, Cause.BARRIER): (704, -1)}


def test_the_first_instruction_and_branch_targets_wait_for_instructions() -> None:
    texts = ["; k", "s_mov_b32 s0, 0", "s_cbranch_scc1 4", "s_add_i32 s1, s1, 4"]
    rows = [(1, 0, 24, 4), (2, 28, 0, 4), (3, 44, 8, 4)]
    trace, batch = run(texts, rows, kinds={2: K.JUMP})
    table = ATTRIBUTION.of(trace, [batch])
    assert found(table) == {(1, Cause.FETCH): (24, -1), (3, Cause.FETCH): (8, 2)}
    assert found(table, idle=True) == {(3, Cause.FETCH): (12, 2)}


def test_gaps_have_causes_too() -> None:
    texts = ["; k", "v_cmp_gt_u32_e32 vcc, 32, v0", "s_and_saveexec_b64 s[0:1], vcc", "v_mov_b32_e32 v2, v3",
             "ds_read_b32 v5, v6", "s_endpgm", "global_store_dword v0, v1, s[0:1]"]  # fmt: skip
    rows = [(1, 0, 0, 4), (2, 20, 0, 4), (3, 24, 0, 4), (4, 36, 0, 4), (6, 40, 0, 4), (5, 300, 0, 4)]
    trace, batch = run(texts, rows)
    gaps = found(ATTRIBUTION.of(trace, [batch]), idle=True)
    assert gaps == {(2, Cause.REGISTER): (16, 1), (4, Cause.SWITCH): (8, 3), (5, Cause.DRAIN): (256, 6)}


def test_on_gfx11_a_result_is_there_when_its_instruction_ends() -> None:
    texts = ["; k", "v_exp_f32_e32 v1, v2", "v_add_f32_e32 v3, v1, v4"]
    assert stalled(texts, [(1, 0, 0, 10), (2, 1, 9, 5)], gfxip=11) == {(2, Cause.REGISTER): (9, 1)}


def test_chosen_waves_still_compete_with_the_others() -> None:
    texts = ["; k", "v_add_f32_e32 v1, v2, v3", "v_add_f32_e32 v4, v5, v6", "s_mov_b32 s0, 0"]
    waves = [[(3, 0, 0, 4), (1, 4, 0, 4)], [(3, 0, 0, 4), (2, 4, 4, 4)]]
    trace, batch = run(texts, *waves)
    assert found(ATTRIBUTION.of(trace, [batch], rows={1})) == {(2, Cause.ARBITRATION): (4, 1)}
    assert not len(ATTRIBUTION.of(trace, [batch], rows={0}))
    assert not len(ATTRIBUTION.of(trace, []))


def test_a_token_tells_its_own_causes_and_where_the_producer_is() -> None:
    texts = ["; k", "v_add_f32_e32 v1, v2, v3", "v_add_f32_e32 v4, v5, v6", "s_mov_b32 s0, 0"]
    waves = [[(3, 0, 0, 4), (1, 4, 0, 4)], [(3, 0, 0, 4), (2, 8, 4, 4)]]
    trace, batch = run(texts, *waves)
    first, only = token_causes(trace, [batch], batch.waves[1], 1)
    assert (first.cause, first.cycles, first.line) == (Cause.UNEXPLAINED, 4, -1)
    told = (only.cause, only.is_idle, only.cycles, only.line, only.row, only.wave)
    assert told == (Cause.SWITCH, True, 4, 3, 0, 1)


def test_every_cause_has_words_and_a_colour() -> None:
    assert set(CAUSE_TEXT) == set(Cause)
    assert len({text.name for text in CAUSE_TEXT.values()}) == len(Cause)
    assert all(text.sentence and text.evidence for text in CAUSE_TEXT.values())


def test_tokens_without_a_code_line_share_no_code() -> None:
    """Two SIMDs stall alike at the same time: in known code that is fetch, in unknown code nobody knows."""
    places = [(0, 0, 0, 0), (0, 1, 0, 0)]
    for line, cause in ((1, Cause.FETCH), (-1, Cause.UNEXPLAINED)):
        rows = [(0, 0, 0, 4), (line, 4, 40, 4)]
        trace, batch = run(["v_mov_b32 v0, 0", "v_mov_b32 v1, 0"], rows, rows, places=places)
        found = ATTRIBUTION.of(trace, [batch])
        assert {Cause(one) for one in found.cause[found.stall > 0].tolist()} == {cause}


def test_a_share_of_no_stall_is_not_known() -> None:
    trace, batch = run(["; k", "v_mov_b32_e32 v1, v2"], [(1, 0, 0, 4)])
    table = ATTRIBUTION.of(trace, [batch])
    assert table.explained is None
    assert table.explained_idle is None
    trace, batch = run(["; k", "v_mov_b32_e32 v1, v2"], [(1, 0, 8, 4)])
    assert ATTRIBUTION.of(trace, [batch]).explained == 1.0, "the first instruction of the wave is fetched"
