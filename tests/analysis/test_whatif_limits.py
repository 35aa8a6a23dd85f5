"""What predictions may never say, on all bundled samples and on kernels simulated for predictions."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from rcv_py.analysis.whatif import predict
from rcv_py.analysis.whatif.changes import MoreWaves
from rcv_py.analysis.whatif.event_loop import Played, play
from rcv_py.analysis.whatif.predict import Player
from rcv_py.analysis.whatif.queues import FAR
from rcv_py.analysis.whatif.recording import Recording
from rcv_py.analysis.whatif.wave_slots import residents
from rcv_py.base.errors import UsageError
from tests.support import prediction_truth
from tests.support.opened import VARIED, sample_trace
from tests.support.prediction_pairs import SCENES

SAMPLED = (*VARIED, "rivals", "several_groups", "mixed_populations", "groups_1024")
SIMULATED = ("short", "barriers", "ping_pong", "matmul_11_one", "stream_12")


@cache
def player_of(name: str) -> Player:
    """The recordings of a sample, or of a simulated kernel."""
    return (
        prediction_truth.player(SCENES[name])
        if name in SCENES
        else prediction_truth.player_of(sample_trace(name))
    )


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

    def stuck(recording: Recording) -> Played:
        played = play(recording)
        return replace(played, end=np.where(np.arange(len(played.end)) == 1, FAR, played.end))

    monkeypatch.setattr(predict, "play", stuck)
    with pytest.raises(UsageError, match="would never end"):
        player.predict([MoreWaves(1)])
