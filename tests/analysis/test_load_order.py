"""Inverted waits, and where a load may stand: on small programs and on simulated captures."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from rcv_py.analysis.waits.hoisting import HoistLimit, hoists
from rcv_py.analysis.waits.load_order import LOAD_ORDER, NOWHERE, LoadOrder
from rcv_py.analysis.whatif.event_loop import play
from rcv_py.analysis.whatif.hoist import groups
from rcv_py.analysis.whatif.recording import recording, streams
from rcv_py.formats.open import open_trace
from rcv_py.model.architecture import architecture_of
from rcv_py.model.trace import Trace
from rcv_py.synth.write import write_folder
from tests.analysis import build
from tests.support.fixtures import fixture_of_each
from tests.support.prediction_scenes import SCENES, Scene
from tests.support.prediction_truth import simulated

A = "buffer_load_dwordx4 v[0:3], v20, s[4:7], 0 offen"
B = "buffer_load_dwordx4 v[4:7], v21, s[4:7], 0 offen"
C = "buffer_load_dwordx4 v[8:11], v22, s[4:7], 0 offen"
USE_A, USE_B, USE_C = (f"v_add_f32_e32 v30, v{register}, v30" for register in (0, 4, 8))
KIND = {"buffer": 3, "s_wait": 9, "v_": 6, "s_": 2, "ds_": 5}


def order_of(texts: Sequence[str], picture: str) -> LoadOrder:
    """What one wave that ran the program once shows."""
    kinds = [next(kind for start, kind in KIND.items() if text.startswith(start)) for text in texts]
    wave = build.wave(picture, list(range(len(texts))))
    return LOAD_ORDER.of(build.trace(build.code(texts, kinds=kinds), [wave]), [build.batch(wave)])


#       a   b            c   wait 10     c   wait a,b
DRAWN = "BB|BB|VVVVVVVV|BB|iiiiiiiiiiII|VV|II|VV|VV|SS"
PROGRAM = (
    A, B, "v_mul_f32_e32 v40, v41, v42", C, "s_waitcnt vmcnt(0)", USE_C, "s_waitcnt vmcnt(0)", USE_A, USE_B,
    "s_endpgm",
)  # fmt: skip


def test_a_load_that_is_needed_first_and_issued_last() -> None:
    found = order_of(PROGRAM, DRAWN)
    assert (found.wait.tolist(), found.load.tolist(), found.before.tolist()) == ([4], [3], [0])
    # `c` issued 12 cycles after `a`, and the wait stalled for 10: no more can be saved.
    assert (found.hits.tolist(), found.stall.tolist(), found.bound.tolist()) == ([1], [10], [10])
    assert found.registers.tolist() == [0]
    assert (found.deferred, found.until) == (((0, 1),), ((6,),))
    assert found.share == pytest.approx(10 / found.cycles)


def test_a_barrier_needs_every_load_that_it_follows() -> None:
    """After it other waves may overwrite what `a` and `b` read: the wait above it leaves none."""
    texts = [*PROGRAM[:6], "s_barrier", *PROGRAM[6:]]
    assert not len(order_of(texts, "BB|BB|VVVVVVVV|BB|iiiiiiiiiiII|VV|SS|II|VV|VV|SS"))


COPY = "buffer_load_dword v20, s[4:7], 0 offen lds"


@pytest.mark.parametrize(
    ("texts", "up"),
    [
        ((COPY, "s_waitcnt vmcnt(0)", "v_mov_b32_e32 v40, v41"), 1),  # the wait says that the copy is done
        ((COPY, "s_waitcnt lgkmcnt(0)", "v_mov_b32_e32 v40, v41"), 2),
        (("v_mov_b32_e32 v42, v43", "s_waitcnt vmcnt(0)", "v_mov_b32_e32 v40, v41"), 3),
    ],
)
def test_a_read_of_lds_stays_below_the_wait_for_a_copy_to_lds(texts: tuple[str, ...], up: int) -> None:
    code = build.code([*texts, "ds_read_b128 v[0:3], v30", "s_endpgm"])
    assert hoists(code, architecture_of(9, "gfx950")).of(3).up == up


@pytest.mark.parametrize(
    ("place", "text", "before", "limit"),
    [
        (2, "v_mov_b32_e32 v22, v41", NOWHERE, HoistLimit.ADDRESS),
        (2, "s_mov_b64 exec, s[8:9]", NOWHERE, HoistLimit.ADDRESS),
        (2, "buffer_store_dword v40, v41, s[8:11], 0 offen", NOWHERE, HoistLimit.STORE),
        (2, "s_barrier", NOWHERE, HoistLimit.BARRIER),
        (2, "v_mul_f32_e32 v40, v9, v42", 0, HoistLimit.DESTINATION),  # in other registers it may go
        (2, "ds_write_b32 v41, v40", 0, HoistLimit.BLOCK),  # LDS is another memory
        (1, "s_mov_b32 s6, 0", 2, HoistLimit.ADDRESS),
    ],
)
def test_what_a_load_cannot_be_moved_above(place: int, text: str, before: int, limit: HoistLimit) -> None:
    texts = [*PROGRAM]
    texts[place] = text
    if place == 1:  # instead of `b` stands what writes the descriptor; `b` comes behind it
        texts[2] = B
    code = build.code(texts)
    known = hoists(code, architecture_of(9, "gfx942")).of(3)
    assert known.limit is limit
    picture = DRAWN if place == 2 else "BB|SS|BBBBBBBB|BB|iiiiiiiiiiII|VV|II|VV|VV|SS"
    found = order_of(texts, picture)
    if text.startswith("buffer_store"):
        assert known.up == 0
        return
    assert found.before.tolist() == [before]
    assert found.registers.tolist() == [4 if limit is HoistLimit.DESTINATION else 0]


def test_an_address_that_is_being_loaded_is_not_there_above_its_wait() -> None:
    texts = (
        "s_load_dwordx4 s[4:7], s[0:1], 0x0",
        "v_mul_f32_e32 v40, v41, v42",
        "s_waitcnt lgkmcnt(0)",
        "v_mul_f32_e32 v40, v41, v43",
        C,
        "s_endpgm",
    )
    found = hoists(build.code(texts), architecture_of(9, "gfx942")).of(4)
    assert (found.limit, found.at, found.up) == (HoistLimit.PENDING, 2, 1)


def test_loads_in_the_order_of_their_use_are_right() -> None:
    texts = [*PROGRAM]
    texts[5], texts[7] = USE_A, USE_C
    assert not len(order_of(texts, DRAWN))


def test_scalar_loads_come_back_in_any_order() -> None:
    texts = [
        "s_load_dword s20, s[0:1], 0x0",
        "s_load_dword s21, s[0:1], 0x4",
        "s_mul_i32 s40, s41, s42",
        "s_load_dword s22, s[0:1], 0x8",
        "s_waitcnt lgkmcnt(0)",
        "s_add_u32 s30, s22, s30",
        "s_waitcnt lgkmcnt(0)",
        "s_add_u32 s30, s20, s21",
        "s_nop 0",
        "s_endpgm",
    ]
    assert not len(order_of(texts, DRAWN.replace("B", "C")))


# A loop that issues first what it uses last, and right in front of its wait what it uses first
scene = fixture_of_each(lambda name: SCENES[name], ["inverted", "inverted_11", "inverted_12"])


@pytest.fixture
def trace(scene: Scene, tmp_path: Path) -> Trace:
    write_folder(simulated(scene).capture, tmp_path / "it")
    return open_trace(tmp_path / "it")


def test_a_simulated_loop_waits_for_the_load_that_is_issued_last(scene: Scene, trace: Trace) -> None:
    """Each time the wait ends sooner by what it stalled, or by what passed since the first load."""
    head, load, wait = scene.at("head"), scene.at("load"), scene.at("wait")
    batch = trace.reader.read(list(range(len(trace.waves))))
    found = LOAD_ORDER.of(trace, [batch])
    assert (found.wait.tolist(), found.load.tolist(), found.before.tolist()) == ([wait], [load], [head])
    texts = trace.code.text
    last = max(row for row, text in enumerate(texts) if text == texts[wait])
    assert (found.deferred, found.until) == (((head, head + 1),), ((last,),))
    stalls = saved = turns = 0
    for wave in batch.waves:
        issued = {}
        one = wave.tokens
        for line, start, stall in zip(*(c.tolist() for c in (one.line, one.start, one.stall)), strict=True):
            issued[line] = start + stall
            if line == wait:
                turns += 1
                stalls += stall
                saved += min(stall, issued[load] - issued[head])
    assert (found.hits.tolist(), found.stall.tolist(), found.bound.tolist()) == ([turns], [stalls], [saved])
    assert found.share[0] == pytest.approx(saved / found.cycles)
    assert [hoist.loads for group in groups(found) for hoist in group.hoists] == [(load,)]


def test_what_a_wait_leaves_outstanding_is_awaited_by_the_next_one(trace: Trace) -> None:
    found = LOAD_ORDER.of(trace, [trace.reader.read(list(range(len(trace.waves))))])
    waves = trace.reader.read(np.flatnonzero(trace.waves.se == trace.waves.se[0]).tolist()).waves
    one = recording(streams(trace, waves)[0])
    group = groups(found)[0]
    moved = one
    for hoist in group.hoists:
        moved = hoist.of(moved)
    assert sorted(moved.order) == sorted(one.order)
    kept = {(int(moved.line[row])) for row in moved.awaited}
    assert kept == {(int(one.line[row])) for row in one.awaited}
    wait = np.flatnonzero(moved.line == group.hoists[0].wait)
    for row in wait[:5].tolist():
        awaited = moved.awaited[moved.await_first[row] : moved.await_first[row + 1]]
        assert not {*moved.line[awaited].tolist()} & {*group.hoists[0].deferred}
    assert play(moved).span < play(one).span
