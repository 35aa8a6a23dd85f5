"""Loads of the next tile before the wait for this one: which may move, what that takes, and what it gains."""

from pathlib import Path

import numpy as np
import pytest

from rcv_py.analysis.findings.detect import findings
from rcv_py.analysis.findings.finding import Finding
from rcv_py.analysis.findings.predicted import predicted
from rcv_py.analysis.waits.load_batch import LoadBatch, load_batch
from rcv_py.analysis.whatif.asked import ChangeRequest
from rcv_py.analysis.whatif.changes import Move, Relax, changes_text
from rcv_py.analysis.whatif.hoist import Hoist, hoisted
from rcv_py.analysis.whatif.predict import Player, Prediction
from rcv_py.analysis.whatif.recording import recording, streams
from rcv_py.base.errors import UsageError
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from tests.analysis.test_remedies_keep_reads import assert_same
from tests.support.pattern_kernels import TILES, captured, loop

N = 12  # loads of a tile
# Each kernel of TILES begins with a label, s_load and s_waitcnt: its two loads are rows 3 and 4, the first
# wait for them is 5, its writes to LDS are 6 and 7.  Below: the loads that may move, what computes their
# addresses, and registers that are in use meanwhile.
MAY_MOVE = {
    "next tile": ((8, 9), (), 0),
    "next tile in other registers": ((8, 9), (), 8),  # 2 loads of 4 registers that ds_write still reads
    "next tile, advanced address": ((9, 10), (8,), 0),
    "next tile, wrapped address": ((14, 15), (8, 9, 10, 11, 12, 13), 0),
    "next tile, vector address": ((9, 10), (8,), 0),
    "next tile, address in use": None,  # the writes to LDS read v1 before it is advanced
    "next tile, loaded address": None,
    "next tile behind a store": None,  # it may write what the loads read
    "next tile behind a barrier": ((10, 11), (), 0),  # nothing was written to memory before
    "next tile behind a barrier, after a store": None,
    "next tile behind a barrier, after a flag": None,
    "next tile behind a copy": None,  # it is counted, too, and touches LDS
    "next tile, other lanes": None,
    "next tile behind waits": ((10, 11), (), 0),
    "next tile in two parts": ((8, 9), (), 0),
}


def vmem_wait(trace: Trace) -> int:
    return next(row for row, text in enumerate(trace.code.text) if "vmcnt" in text)


@pytest.mark.parametrize("name", MAY_MOVE)
def test_what_may_move(name: str, tmp_path: Path) -> None:
    trace, _ = captured(TILES[name], tmp_path)
    found = load_batch(trace.code, trace.architecture, vmem_wait(trace), "vm")
    if MAY_MOVE[name] is None:
        assert found is None
        return
    loads, along, renamed = MAY_MOVE[name]
    assert (found.loads, hoisted(found).along, found.renamed) == (loads, along, renamed)
    assert found.left == "vmcnt(2)"
    assert found.between == ((9,) if name == "next tile behind waits" else ())


@pytest.mark.parametrize("name", ["next tile, address in use", "next tile, other lanes"])
def test_the_machine_sees_what_may_not_move(name: str, tmp_path: Path) -> None:
    trace, _ = captured(TILES[name], tmp_path)
    loads = tuple(row for row, text in enumerate(trace.code.text) if text.startswith("buffer_load"))[2:]
    with pytest.raises(AssertionError):
        assert_same(trace, (Hoist(5, loads, 5, (), ()),))


def test_registers_that_are_held(tmp_path: Path) -> None:
    """At the wait: v1, 8 of each tile, and 24 that the arithmetic of the loop reads."""
    trace, _ = captured(TILES["next tile"], tmp_path)
    found = load_batch(trace.code, trace.architecture, 5, "vm")
    assert found.registers == 1 + 8 + 8 + 12 + 12


def test_a_scalar_load_of_the_same_counter_needs_a_count_of_0(tmp_path: Path) -> None:
    """The LDS reads of `next tile of LDS`: the first wait is for a scalar load, too, the second is not."""
    trace, _ = captured(TILES["next tile of LDS"], tmp_path)
    waits = [row for row, text in enumerate(trace.code.text) if text.startswith("s_waitcnt")]
    found = [load_batch(trace.code, trace.architecture, wait, "lgkm") for wait in waits]
    assert found[0] is None
    assert (found[1].loads, found[1].left) == ((waits[2] - 1,), "lgkmcnt(1)")


def test_reads_of_lds_stay_behind_a_barrier(tmp_path: Path) -> None:
    trace, _ = captured(TILES["next tile of LDS behind a barrier"], tmp_path)
    assert load_batch(trace.code, trace.architecture, 2, "lgkm") is None


def test_no_wait_counts_further_than_its_field(tmp_path: Path) -> None:
    """lgkmcnt of gfx9 has 4 bits: 15 of 18 reads."""
    reads = "\n".join(f"ds_read_b32 v{16 + i}, v1 offset:{4 * i}" for i in range(18))
    first = "ds_read_b32 v8, v1\ns_waitcnt lgkmcnt(0)\nv_add_f32_e32 v2, v8, v8"
    text = f"{first}\n{reads}\ns_waitcnt lgkmcnt(0)\n"
    trace, _ = captured(text + "v_add_f32_e32 v2, v16, v33\ns_endpgm", tmp_path)
    found = load_batch(trace.code, trace.architecture, 2, "lgkm")
    assert (len(found.loads), found.left) == (15, "lgkmcnt(15)")


# -- what it gains --------------------------------------------------------------------------------------


def preloop(*, is_early: bool, loads: int = N) -> str:
    """Two tiles of loads before a loop; the second is loaded after the first was written to LDS, or before
    the wait for the first, which then leaves its loads outstanding."""
    load, write = "buffer_load_dwordx4 v[{}:{}], v1, s[4:7], 0 offen offset:{}", "ds_write_b128 v1, v[{}:{}]"
    tiles = [[(8 + 4 * i, 11 + 4 * i, 16 * i) for i in range(tile, tile + loads)] for tile in (0, loads)]
    first, second = ("\n".join(load.format(*one) for one in tile) for tile in tiles)
    written = ["\n".join(write.format(*one) for one in tile) for tile in tiles]
    parts = ("s_waitcnt vmcnt(0)", written[0], second)
    if is_early:
        parts = (second, f"s_waitcnt vmcnt({loads})", written[0])
    begin = "s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)"
    end = ("s_waitcnt vmcnt(0)", written[1], "s_waitcnt lgkmcnt(0)\ns_barrier")
    body = "ds_read_b128 v[200:203], v1\ns_waitcnt lgkmcnt(0)\nv_add_f32_e32 v3, v200, v201"
    return loop(body, before="\n".join((begin, first, *parts, *end)))


Captured = tuple[Trace, WaveBatch]


def captured_preloop(folder: Path, *, is_early: bool) -> Captured:
    return captured(preloop(is_early=is_early), folder, rounds=(4,), groups=4)


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Captured:
    return captured_preloop(tmp_path_factory.mktemp("before"), is_early=False)


def player_of(trace: Trace, batch: WaveBatch) -> Player:
    return Player(streams(trace, batch.waves))


def of_preloop(trace: Trace) -> LoadBatch:
    found = load_batch(trace.code, trace.architecture, vmem_wait(trace), "vm")
    return found


def advice(before: Captured) -> Finding:
    trace, batch = before
    found = predicted(findings(trace, [batch]), player_of(trace, batch))
    return next(one for one in found.findings if one.name == "exposed-vector-load")


def test_the_batch_is_advised_with_its_count_and_registers(before: Captured) -> None:
    """Rows: label, s_load, wait, N loads, the wait at 3 + N, N writes, N loads."""
    one = advice(before)
    assert one.remedy_id == "hoist-batch"
    batch = of_preloop(before[0])
    assert batch.wait == 3 + N
    assert batch.loads == tuple(range(4 + 2 * N, 4 + 3 * N))
    assert "loads 28, 29, 30 and 9 others before wait 15, which leaves vmcnt(12)" in one.remedy
    # v1, 4 registers a load of both tiles; nothing else lives that long.
    assert f"{1 + 2 * 4 * N} of " in one.remedy
    assert one.experiment == "loads 28, 29, 30 and 9 others before wait 15, which leaves vmcnt(12)"


def test_it_gains_what_the_changed_kernel_does(before: Captured, tmp_path: Path) -> None:
    """The span of the compute unit in two simulations, against the prediction and its range."""
    trace, batch = before
    changed, _ = captured_preloop(tmp_path, is_early=True)
    spans = [int(one.waves.end.max() - one.waves.begin.min()) for one in (trace, changed)]
    truth = spans[1] / spans[0] - 1
    found = player_of(trace, batch).predict((hoisted(of_preloop(trace)),))
    assert truth < -0.05, "it is worth advising"
    assert found.low <= truth <= found.high
    assert abs(found.share - truth) < 0.03


@pytest.mark.parametrize(("loads", "groups"), [(6, 8), (6, 16), (20, 8), (20, 16)])
def test_waves_take_turns_at_a_full_memory_queue(loads: int, groups: int, tmp_path: Path) -> None:
    """With two waves a SIMD the batches of all waves queue at once: 6 loads gain less, and 20 lose.

    If a wave issued its whole batch before the others got a turn, both would gain 7 % more.
    """
    spans, players = [], []
    for is_early in (False, True):
        folder = tmp_path / f"{is_early}"
        text = preloop(is_early=is_early, loads=loads)
        trace, batch = captured(text, folder, rounds=(4,), groups=groups, waves=2)
        spans.append(int(trace.waves.end.max() - trace.waves.begin.min()))
        players.append((trace, player_of(trace, batch)))
    truth = spans[1] / spans[0] - 1
    trace, player = players[0]
    found = player.predict((hoisted(of_preloop(trace)),))
    assert (truth < 0) == (loads == 6)
    assert (found.share < 0) == (truth < 0)
    assert abs(found.share - truth) < 0.04
    assert found.low <= truth <= found.high


def test_the_last_load_of_a_tile_alone_moves_nowhere(before: Captured) -> None:
    """Nothing but loads that the same wait requires stands above it: to pass them gains nothing."""
    one = advice(before)
    assert not [other for other in one.others if other.id == "hoist"]
    assert one.predicted_gain <= one.limit_gain
    assert one.predicted_gain <= one.gain


def test_it_is_what_its_moves_and_a_larger_count_are(before: Captured) -> None:
    """The order of instructions is that of single moves, and the wait leaves N newer loads each time."""
    trace, batch = before
    found = of_preloop(trace)
    one = recording(streams(trace, batch.waves)[0])
    by_moves = one
    for load in found.loads:
        by_moves = Move(load, found.wait).of(by_moves)
    after = hoisted(found).of(one)
    assert np.array_equal(after.order, by_moves.order)
    for low, high in zip(after.first[:-1], after.first[1:], strict=True):
        tokens = after.order[low:high].tolist()
        wait = next(at for at, token in enumerate(tokens) if after.line[token] == found.wait)
        first = after.await_first
        awaited = after.awaited[first[tokens[wait]] : first[tokens[wait] + 1]].tolist()
        newest = max(tokens.index(token) for token in awaited)
        newer = [trace.code.text[after.line[token]] for token in tokens[newest + 1 : wait]]
        assert sum(text.startswith("buffer") for text in newer) == N


def test_many_moves_are_described_on_a_line(before: Captured) -> None:
    found = of_preloop(before[0])
    moves = [Move(load, found.wait) for load in found.loads]
    text = "instructions 28, 29, 30 and 9 others moved before 15; wait 15 leaves 12 more outstanding"
    assert changes_text((*moves, Relax(found.wait, 12))) == text
    assert changes_text((Move(4, 2),)) == "instruction 4 moved before 2"
    many = changes_text([Relax(wait, 1) for wait in range(30)])
    assert many.count("; ") == 5
    assert many.endswith("and 24 others")
    made: Prediction = player_of(*before).predict(moves, is_quick=True)
    assert made.text == "instructions 28, 29, 30 and 9 others moved before 15"


def test_of_two_moves_the_one_that_gains_more_is_advised(tmp_path: Path) -> None:
    """Arithmetic above the first tile: its loads may pass it together, which hides those 12 turns alone."""
    above = "\n".join(f"v_add_u32_e32 v{220 + i}, v2, v3" for i in range(12))
    text = preloop(is_early=False).replace("\nbuffer_load", f"\n{above}\nbuffer_load", 1)
    trace, batch = captured(text, tmp_path, rounds=(4,), groups=4)
    player = player_of(trace, batch)
    one = advice((trace, batch))
    (moved,) = (other.trial for other in one.others if other.id == "hoist")
    assert moved.text == "instructions 15, 16, 17 and 9 others moved before 3"
    assert one.remedy_id == "hoist-batch"
    assert one.predicted_gain > -player.predict(moved.changes).share


def test_it_is_asked_for_by_its_wait(before: Captured) -> None:
    trace, _ = before
    found = of_preloop(trace)
    asked = ChangeRequest(batch=(found.wait,))
    assert asked.changes(trace) == [hoisted(found)]
    assert asked.words == ("--batch=15",)
    for wait in (found.wait - 1, 1 << 20):
        with pytest.raises(UsageError):
            ChangeRequest(batch=(wait,)).changes(trace)
