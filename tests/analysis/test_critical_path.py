"""The critical path: its length is the span, and only what lies on it can make the span shorter."""

from collections.abc import Callable
from functools import cache, partial

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.whatif.changes import IssueWithoutGaps, Latency
from rcv_py.analysis.whatif.critical_path import PathCause, critical_path, path_table
from rcv_py.analysis.whatif.event_loop import Played, play
from rcv_py.analysis.whatif.path_line import PathLine
from rcv_py.analysis.whatif.predict import Player
from rcv_py.analysis.whatif.recording import USUAL, Guess, Recording, recording, streams
from rcv_py.analysis.whatif.timelines import path_line
from rcv_py.model.trace import Trace
from tests.support.fixtures import fixture_of, fixture_of_each
from tests.support.opened import sample_trace

NAMES = ("matmul_small", "vector_add", "reduction", "kernels", "gfx12")
ALONE = Guess(has_contention=False)


Plays = Callable[[Guess], tuple[Recording, Played]]


def played(trace: Trace, guess: Guess) -> tuple[Recording, Played]:
    """The waves of the first shader engine, as the simulation plays them."""
    rows = np.flatnonzero(trace.waves.se == trace.waves.se.min()).tolist()
    made = recording(streams(trace, trace.reader.read(rows).waves)[0], guess)
    return made, play(made)


@cache
def _of_sample(name: str, guess: Guess) -> tuple[Recording, Played]:
    return played(sample_trace(name), guess)


unit = fixture_of_each(lambda name: partial(_of_sample, name), NAMES)


@pytest.fixture(params=[name for name in NAMES if name != "matmul_small"])
def in_order(request: pytest.FixtureRequest) -> Plays:
    """Of kernels whose queues serve in the same order, whichever instruction is changed.

    In matmul_small waves overtake each other at a queue: what is off the path then matters.
    """
    return partial(_of_sample, request.param)


two_units = fixture_of(lambda: [_of_sample(name, USUAL) for name in ("matmul_small", "reduction")])
trace = fixture_of(sample_trace, "matmul_small")


def test_its_length_is_the_span(unit: Plays) -> None:
    made, played = unit(USUAL)
    path = critical_path(made, played)
    assert path.length == played.span
    assert np.array_equal(path.begin[1:], path.end[:-1]), "pieces follow each other without a gap"
    assert path.begin[0] == played.begin.min()
    assert path.end[-1] == played.end.max()
    assert (path.slack[path.token[path.token >= 0]] == 0).all(), "nothing on the path has slack"


def test_a_timeline_has_it_in_aligned_cycles_and_by_wave(trace: Trace) -> None:
    rows = np.flatnonzero(trace.waves.se == trace.waves.se.min())
    line = path_line(Player(streams(trace, trace.reader.read(rows.tolist()).waves)))
    assert np.array_equal(line.begin[1:], line.end[:-1])
    assert set(line.wave.tolist()) <= set(rows.tolist())
    assert line.begin[0] == trace.waves.begin[rows].min()
    assert line.end[-1] == trace.waves.end[rows].max()
    at = len(line) // 2
    assert line.piece_at(int(line.wave[at]), int(line.begin[at])) == at
    assert line.piece_at(-5, int(line.begin[at])) == -1
    assert line.cycles == int(line.end[-1] - line.begin[0])
    assert len(PathLine.empty()) == 0


def test_what_is_off_the_path_changes_nothing(in_order: Plays) -> None:
    made, played = in_order(ALONE)
    path = critical_path(made, played)
    on = set(made.line[path.token[path.token >= 0]].tolist())
    off = [line for line in np.unique(made.line).tolist() if line not in on]
    for line in off[:: max(1, len(off) // 8)]:
        for change in (Latency(lines=(line,), factor=0.5), IssueWithoutGaps((line,))):
            assert play(change.of(made)).span == played.span, (line, change.text)


def test_what_is_on_the_path_wins_at_most_its_cycles(in_order: Plays) -> None:
    made, played = in_order(ALONE)
    table = path_table([(made, played)])
    for line in np.unique(table.line[(table.cycles > 0) & (table.line >= 0)]).tolist()[::4]:
        own = table.line == line
        cycles = {cause: int(table.cycles[own & (table.cause == cause)].sum()) for cause in PathCause}
        shorter = play(Latency(lines=(line,), cycles=0).of(made))
        assert played.span - shorter.span <= cycles[PathCause.LATENCY], line
        prompt = play(IssueWithoutGaps((line,)).of(made))
        held = cycles[PathCause.DEPENDENCY] + cycles[PathCause.GAP] + cycles[PathCause.LAUNCH]
        assert played.span - prompt.span <= held, line


def test_what_has_slack_may_be_later(unit: Plays) -> None:
    """An operation whose instruction has slack may take as much longer each time."""
    made, played = unit(ALONE)
    path = critical_path(made, played)
    lines = np.unique(made.line[made.awaited])
    for line in lines[:: max(1, len(lines) // 6)].tolist():
        own = made.line == line
        least = int(path.slack[own].min())
        later = replace(made, latency=made.latency + np.where(own, least // max(1, int(own.sum())), 0))
        assert play(later).span == played.span, line


def test_a_table_adds_up(two_units: list[tuple[Recording, Played]]) -> None:
    table = path_table(two_units)
    assert table.length == sum(played.span for _, played in two_units) == table.cycles.sum()
    assert sum(table.by_cause().values()) == table.length
    on = table.cycles > 0
    assert (np.diff(table.cycles[on]) <= 0).all()
    assert (np.diff(table.slack[~on]) >= 0).all()
    assert not set(table.line[on]) & set(table.line[~on])


def test_a_path_of_what_would_run(trace: Trace) -> None:
    """Of a changed kernel the path is as long as its predicted span."""
    rows = np.flatnonzero(trace.waves.se == trace.waves.se.min()).tolist()
    player = Player(streams(trace, trace.reader.read(rows).waves))
    changes = (Latency(units=("vmem",), factor=0.5),)
    assert player.path(changes).length == player.predict(changes, is_quick=True).after
    assert player.path().length == player.predict(changes, is_quick=True).before
