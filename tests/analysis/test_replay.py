"""The replay against the slow one, which takes every event of a compute unit strictly in order of time."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from rcv_py.analysis.whatif import event_loop
from rcv_py.analysis.whatif.changes import (
    Change,
    Dpp,
    Free,
    IssueWithoutGaps,
    Latency,
    Merge,
    MoreWaves,
    Move,
    MoveLater,
    NoBarrier,
    PrefetchIteration,
    Relax,
    repeated,
)
from rcv_py.analysis.whatif.event_loop import Board, Played, play
from rcv_py.analysis.whatif.experiments import usual_experiments
from rcv_py.analysis.whatif.predict import Player, applied
from rcv_py.analysis.whatif.recording import (
    NARROW,
    OTHERS,
    USUAL,
    Recording,
    arbitrated,
    recording,
    reordered,
    streams,
)
from rcv_py.base.machine import compiled
from rcv_py.model.trace import Trace
from rcv_py.work.whatif import quick_player
from tests.support.opened import VARIED, sample_trace, traces_of
from tests.support.slow_replay import play as play_slowly

UNITS = 1  # compute units of a capture: all of them are alike
LINE: list[Callable[[int, int], Change]] = [
    lambda line, other: Free((line,)),
    lambda line, other: Latency((line,), cycles=0),
    lambda line, other: Latency((line, other), factor=3.0),
    Move,
    lambda line, other: MoveLater(line, 1 + other % 7),
    lambda line, other: Relax(line, 1 + other % 3),
    lambda line, other: NoBarrier((line, other)),
    lambda line, other: Dpp((line,)),
    lambda line, other: Merge((line, other)),
    lambda line, other: PrefetchIteration((line, other)),
    lambda line, other: IssueWithoutGaps((line, other)),
    lambda line, other: MoreWaves(1 + other % 3),
]


trace = traces_of([*VARIED, "other_simd", "split_barriers_gfx12", "crowded", "straggler"])


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> Iterator[None]:
    """Play in machine code, however few tokens there are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "FEW", 0)
        yield


def assert_same(played: Played, recording: Recording) -> None:
    slowly = play_slowly(recording)
    for name in Played.__struct_fields__:
        assert np.array_equal(getattr(played, name), getattr(slowly, name)), name


def bases(player: Player) -> list[Recording]:
    """Return the first compute units under all guesses."""
    guessed = [(guess, one) for guess in (USUAL, *OTHERS) for one in player.recordings(guess)[:UNITS]]
    return [arbitrated(reordered(one, guess.order)) if guess.order else one for guess, one in guessed]


def test_experiments_play_as_in_the_slow_replay(trace: Trace) -> None:
    player = quick_player(trace)
    experiments = [(), *usual_experiments(player, trace), (NoBarrier(),)]
    for base in bases(player):
        board = Board()  # of an experiment only what differs from the last one is written
        for changes in experiments:
            made = applied(base, changes)
            assert_same(board.play(made), made)
        twice = repeated(base, 2)
        for made in (applied(twice, [MoreWaves(2)]), twice, base):
            assert_same(board.play(made), made)


@pytest.mark.parametrize("name", ["vector_add", "split_barriers_gfx12"])
def test_few_tokens_play_in_plain_python_as_slowly(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_loop, "loop", compiled._plain(event_loop.loop.__wrapped__))
    player = quick_player(sample_trace(name))
    for base in bases(player)[::UNITS]:
        for changes in ((), (NoBarrier(),), (Latency(factor=0.5),)):
            made = applied(base, changes)
            assert_same(play(made), made)


def test_a_player_has_a_recording_for_each_guess() -> None:
    trace = sample_trace("matmul_small")
    waves = trace.reader.read(np.flatnonzero(trace.waves.se == trace.waves.se.min()).tolist()).waves
    (stream, *_) = made = streams(trace, waves)
    player = Player(made)
    for guess in (USUAL, *OTHERS):
        (mine, *_), alone = player.recordings(guess), recording(stream, guess)
        names = Recording.__struct_fields__
        assert all(np.array_equal(getattr(mine, name), getattr(alone, name)) for name in names)


def test_waves_alone_have_the_same_times() -> None:
    for base in bases(quick_player(sample_trace("matmul_small"))):
        whole, waves = play(base), Board().play(base, waves_only=True)
        assert np.array_equal(whole.end, waves.end)
        assert np.array_equal(whole.begin, waves.begin)
        assert not len(waves.issue)


@pytest.fixture(scope="module")
def some() -> list[Recording]:
    names = ("matmul_small", "reduction", "ping_pong", "gfx11", "split_barriers_gfx12")
    return [base for name in names for base in bases(quick_player(sample_trace(name)))]


@given(
    which=st.integers(0, 1 << 30),
    changes=st.lists(
        st.tuples(st.sampled_from(LINE), st.integers(0, 1 << 30), st.integers(0, 1 << 30)),
        min_size=1,
        max_size=4,
    ),
)
@settings(max_examples=150, deadline=None)
def test_any_changes_play_as_in_the_slow_replay(
    some: list[Recording], which: int, changes: list[tuple[Callable[[int, int], Change], int, int]]
) -> None:
    base = some[which % len(some)]
    lines = np.unique(base.line).tolist()
    each = [make(lines[one % len(lines)], lines[other % len(lines)]) for make, one, other in changes]
    made = applied(base, each)
    assert_same(play(made), made)


def test_times_beyond_32_bits_are_kept() -> None:
    """Every gap before an arrival takes longer than a narrow column can say, once it is on the board."""
    base = bases(quick_player(sample_trace("vector_add")))[0]
    long = replace(base, pace=base.pace.astype(np.int64) + NARROW.max)
    board = Board()
    for made in (base, long, base):
        assert_same(board.play(made), made)
    apart = play(long).issue - play(base).issue
    assert apart.max() > NARROW.max
