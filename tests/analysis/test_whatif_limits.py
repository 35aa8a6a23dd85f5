"""What predictions may never say, on all bundled samples and on kernels simulated for predictions."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.attribution.lines import VMEM
from rcv_py.analysis.findings.detect import findings
from rcv_py.analysis.findings.finding import Finding, Findings, RemedyAdvice, RemedyExperiment
from rcv_py.analysis.findings.predicted import predicted
from rcv_py.analysis.whatif.ceilings import Ceilings
from rcv_py.analysis.whatif.changes import IssueWithoutGaps, Latency, MoreWaves
from rcv_py.analysis.whatif.event_loop import Board, Played, play
from rcv_py.analysis.whatif.predict import Player
from rcv_py.analysis.whatif.queues import FAR
from rcv_py.analysis.whatif.recording import Recording, streams
from rcv_py.analysis.whatif.wave_slots import residents
from rcv_py.base.errors import UsageError
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from tests.support import prediction_truth
from tests.support.command_runs import run_anew
from tests.support.engines import waves_by_engine
from tests.support.opened import VARIED, all_waves, sample_trace
from tests.support.prediction_scenes import SCENES
from tests.support.samples import write_sample

SAMPLED = (*VARIED, "rivals", "several_groups", "mixed_populations", "groups_1024")
SIMULATED = ("short", "barriers", "ping_pong", "matmul_11_one", "stream_12")


@cache
def player_of(name: str) -> Player:
    """The recordings of a sample, or of a simulated kernel."""
    if name in SCENES:
        return prediction_truth.player(SCENES[name])
    return prediction_truth.player_of(sample_trace(name))


@pytest.mark.parametrize("name", [*SAMPLED, *SIMULATED])
@pytest.mark.parametrize("more", [1, 2, 3, 4])
def test_all_waves_begin_and_end(name: str, more: int) -> None:
    for _, made, played in player_of(name).changed([MoreWaves(more)]):
        assert not played.unended
        assert (played.begin < played.end).all()
        queued = np.flatnonzero(played.before >= 0)
        assert len(np.unique(played.before[queued])) == len(queued), "a wave frees one slot"
        assert (played.begin[queued] >= played.end[played.before[queued]]).all()
        assert (made.simd[queued] == made.simd[played.before[queued]]).all()


def test_a_wave_that_ends_before_all_slots_are_in_use_frees_its_slot_once() -> None:
    """The second wave of each SIMD follows the first, and only then other slots are used."""
    recorded = player_of("short").recordings()[0]
    before = recorded.before.copy()
    for simd in np.unique(recorded.simd):
        own = np.flatnonzero(recorded.simd == simd)
        own = own[np.argsort(recorded.begin[own], kind="stable")]
        before[own[:4]] = [-1, own[0], -1, -1]
        before[own[4:]] = own[1:-3]
    for more in (1, 2, 3, 4):
        changed = MoreWaves(more).of(replace(recorded, before=before))
        played = play(changed)
        assert not played.unended
        assert played.span <= play(replace(recorded, before=before)).span


def test_whole_workgroups_are_added() -> None:
    (one, *_) = player_of("groups_512").recordings()  # eight waves, two on each of four SIMDs
    for more in (1, 2):
        assert residents(one, more).group == 2
        assert residents(one, more).added == 2
    room = residents(one, 1).room
    assert residents(one, 2, most=room + 1).added == 0
    assert residents(one, 8, most=room + 3).added == 2


def test_waves_that_wait_for_each_other_are_no_prediction(monkeypatch: pytest.MonkeyPatch) -> None:
    player = player_of("groups_512")

    plays = Board.play

    def stuck(board: Board, recording: Recording, *, waves_only: bool) -> Played:
        played = plays(board, recording, waves_only=waves_only)
        return replace(played, end=np.where(np.arange(len(played.end)) == 1, FAR, played.end))

    monkeypatch.setattr(Board, "play", stuck)
    with pytest.raises(UsageError, match="would never end"):
        player.predict([MoreWaves(1)])


@cache
def found_in(name: str) -> tuple[Findings, Findings]:
    """The findings of a sample, without and with predictions."""
    trace = sample_trace(name)
    plain = findings(trace, [all_waves(trace)])
    return plain, predicted(plain, player_of(name))


QUEUES = {"memory-back-pressure": "vmem", "lds-back-pressure": "lds", "scalar-back-pressure": "smem"}


@pytest.mark.parametrize("name", SAMPLED)
def test_a_limit_is_at_least_any_experiment_on_its_operations(name: str) -> None:
    plain, found = found_in(name)
    for one in (each for each in found.findings if each.predicted is not None and each.trial is not None):
        limit = one.limit or one.predicted
        assert limit.gain >= one.predicted.gain
        ways = [change for way in one.trial.limits for change in way]
        lines = [change.lines for change in ways if isinstance(change, Latency) and change.lines]
        parts = [part for of in lines for part in (of, *((line,) for line in of[:4]))]
        tried = [Latency(lines=part, cycles=0) for part in parts]
        if one.name in QUEUES:
            tried += [Latency(units=(QUEUES[one.name],), factor=factor) for factor in (0.0, 0.5)]
        tried += [change for change in ways if isinstance(change, IssueWithoutGaps)]
        for change in tried:
            gain = -player_of(name).predict([change]).share * found.working_share
            assert min(gain, one.gain) <= limit.gain + 0.005, (one.name, change)
    assert {one.name for one in found.findings} == {one.name for one in plain.findings}


def hold(found: Findings) -> None:
    """No prediction is above its bound, and none is a loss that is advised."""
    idle = found.no_issue / found.resident * found.working_share if found.resident else 1.0
    for one in found.findings:
        for gain in filter(None, (one.predicted, one.limit)):
            most = one.gain if one.is_upper_bound else max(idle, one.gain)
            assert gain.low <= gain.gain <= gain.high <= most, one.name


@pytest.mark.parametrize("name", SAMPLED)
def test_no_prediction_is_above_its_bound_and_no_advice_slows_the_kernel(name: str) -> None:
    _, found = found_in(name)
    hold(found)
    for one in found.findings:
        if one.remedy_id and one.predicted is not None:
            assert one.predicted.gain >= -0.0005
            assert "No remedy is advised" not in one.remedy
        if one.is_limit:
            assert one.predicted_low >= 0


def test_a_wait_is_played_for_all_operations_that_it_waits_for() -> None:
    """One wait for several scalar loads: it is charged to the newest, but all of them have to be quick."""
    _, found = found_in("combined")
    code = sample_trace("combined").code
    (scalar,) = (one for one in found.findings if one.name == "exposed-scalar-load")
    loads = {row for row, text in enumerate(code.text) if text.startswith("s_load") and code.hits[row]}
    assert {line for change in scalar.trial.limits[0] for line in change.lines} == loads


def slowed(factor: float) -> tuple[Findings, Finding, RemedyExperiment]:
    """The findings of a sample, the one about s_nop as a large one, and a remedy that makes memory slower."""
    plain, _ = found_in("matmul_small")
    nops = next(replace(one, gain=0.5) for one in plain.findings if one.name == "hazard-nops")
    return plain, nops, RemedyExperiment((Latency(factor=factor),), limits=nops.trial.limits)


def test_a_remedy_that_slows_the_kernel_is_not_advised() -> None:
    plain, nops, slower = slowed(3.0)
    case = replace(plain, findings=(replace(nops, trial=slower, remedy_id="fill-nops"),))
    (one,) = predicted(case, player_of("matmul_small")).findings
    assert one.remedy.startswith("No remedy is advised")
    assert one.remedy_id == ""
    assert one.is_limit
    assert one.predicted_gain >= 0


@pytest.mark.parametrize("second", ["replayed", "not replayed", "slower too"])
def test_the_next_remedy_that_does_not_slow_the_kernel_is_advised(second: str) -> None:
    (plain, nops, slower), (*_, slowest) = slowed(3.0), slowed(4.0)
    trial = {"replayed": nops.trial, "not replayed": None, "slower too": slowest}[second]
    others = (RemedyAdvice("Do this instead.", "other", "high", trial),)
    case = replace(plain, findings=(replace(nops, trial=slower, remedy_id="first", others=others),))
    (one,) = predicted(case, player_of("matmul_small")).findings
    told = "In a replay, the kernel takes"
    if second == "slower too":
        assert (one.remedy_id, one.effort, one.is_limit) == ("", "", True)
        assert one.remedy.startswith(f"No remedy is advised. {told}")
        assert one.remedy.count(told) == 2
    else:
        assert (one.remedy_id, one.effort) == ("other", "high")
        assert one.remedy.startswith(f"Do this instead. {told}")
        assert one.is_limit == (second == "not replayed")
        assert one.predicted_gain >= 0
    assert slower.text in one.remedy


def test_a_prediction_above_its_bound_is_cut_and_says_so() -> None:
    name = "matmul_small"
    plain, _ = found_in(name)
    load = next(one for one in plain.findings if one.predicted_gain != 0 and one.trial and one.trial.limits)
    big = RemedyExperiment((Latency(cycles=0),), limits=((Latency(cycles=0),),))
    bounded = replace(load, trial=big, gain=0.01, is_upper_bound=True)
    (one,) = predicted(replace(plain, findings=(bounded,)), player_of(name)).findings
    assert one.predicted_gain == 0.01
    assert "The bound holds: the replay alone says" in one.trial_text
    assert one.predicted.text == "1.0 %", "no range of no width"


EXPERIMENTS = ([Latency(cycles=0)], [Latency(units=("vmem",), factor=0.5)], [MoreWaves(2)])


@pytest.mark.parametrize("name", SAMPLED)
@pytest.mark.parametrize("part", [0.5, 0.9, 1.2])
def test_no_prediction_requests_more_than_memory_delivers(name: str, part: float) -> None:
    """A unit that requests more than the roof is served by caches, unless it waits for memory most."""
    trace = sample_trace(name)
    made = [one for waves in waves_by_engine([whole_batch(trace)]) for one in streams(trace, waves)]
    free = Player(made)
    moved = [int(one.moves[one.unit == VMEM].sum()) for one in free.recordings()]
    spans = [unit.before for unit in free.predict([]).units]
    roof = max(moved_of / span for moved_of, span in zip(moved, spans, strict=True)) / part
    if not roof:
        assert not any(moved), "nothing is requested"
        return
    player = Player(made, lambda: Ceilings(roof=roof))
    for changes in EXPERIMENTS:
        found, alone = player.predict(changes), free.predict(changes)
        times = 2 if found.before > sum(spans) else 1
        for unit, moved_of in zip(found.units, moved, strict=True):
            if moved_of * times / unit.before <= roof:
                assert moved_of * times / unit.after <= roof * 1.001
        assert found.share >= alone.share
        assert any("what memory delivers" in note for note in found.notes) == (found.after > alone.after)


def test_no_more_waves_than_fit() -> None:
    waves = sample_trace("vector_add")
    made = [one for each in waves_by_engine([whole_batch(waves)]) for one in streams(waves, each)]
    room = max(residents(one, 1).room for one in Player(made).recordings())
    full = Player(made, lambda: Ceilings(fit=room)).predict([MoreWaves(4)])
    assert full.share == full.low == full.high == 0
    assert full.notes == (f"no more waves fit: {room} fit on a SIMD, {room} were resident",)
    assert full.text == "4 more waves per SIMD"
    other = Player(made, lambda: Ceilings(fit=room + 1)).predict([MoreWaves(4)])
    assert other.after == Player(made).predict([MoreWaves(1)]).after


def whole_batch(trace: Trace) -> WaveBatch:
    """All waves of a capture."""
    return all_waves(trace)


def test_a_capture_without_wave_files_says_that_nothing_can_be_replayed(tmp_path: Path) -> None:
    write_sample("matmul_small", tmp_path)
    for file in tmp_path.rglob("se*_sm*_sl*_wv*.json"):
        file.unlink()
    for more in ((), ("--path",)):
        run = run_anew("whatif", str(tmp_path), *more)
        assert (run.code, run.err) == (0, "")
        assert "nothing can be replayed" in run.out
