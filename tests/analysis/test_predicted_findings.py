"""Findings with what their remedies would gain: what is played, how it ranks, and what it never says."""

from functools import cache
from math import isnan

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.findings.detect import findings
from rcv_py.analysis.findings.finding import SMALL, Findings, RemedyExperiment
from rcv_py.analysis.findings.predicted import NONE_ADVISED, NOTHING_HELPS, predicted
from rcv_py.analysis.findings.remedies import LIMITS, PLAYED, remedies
from rcv_py.analysis.whatif.changes import IssueWithoutGaps, Latency, MoveLater, PrefetchIteration
from rcv_py.analysis.whatif.event_loop import play
from rcv_py.analysis.whatif.predict import NOTHING, Player
from rcv_py.analysis.whatif.recording import Recording, recording, streams
from rcv_py.base.text import capitalized
from rcv_py.model.trace import Trace
from tests.support.engines import waves_by_engine
from tests.support.fixtures import fixture_of
from tests.support.opened import all_waves, sample_trace, traces_of


@cache
def found_in(trace: Trace) -> tuple[Findings, Player]:
    batch = all_waves(trace)
    player = Player([one for waves in waves_by_engine([batch]) for one in streams(trace, waves)])
    return findings(trace, [batch]), player


trace = traces_of(["matmul_small", "combined"])
with_nops = fixture_of(sample_trace, "matmul_small")  # A capture with a finding about s_nop


def first_recording(trace: Trace) -> Recording:
    waves = all_waves(trace).waves
    return recording(streams(trace, [wave for wave in waves if wave.id.se == waves[0].id.se])[0])


one = fixture_of(lambda: first_recording(sample_trace("matmul_small")), scope="module")


def test_what_is_played_is_of_a_remedy_or_a_finding() -> None:
    assert set(PLAYED) <= {remedy.id for of in remedies().values() for remedy in of}
    assert set(LIMITS) <= set(remedies())


def test_findings_are_ranked_by_what_is_predicted(trace: Trace) -> None:
    plain, player = found_in(trace)
    found = predicted(plain, player)
    ranked = [one for one in found.findings if one.rank == "ranked"]
    large = [one.expected for one in ranked if not one.is_small]
    assert large == sorted(large, reverse=True)
    assert {one.name for one in found.findings} == {one.name for one in plain.findings}
    told = [one for one in ranked if one.predicted is not None]
    assert told
    for each in told:
        assert each.predicted.low <= each.predicted.gain <= each.predicted.high
        assert each.predicted.gain <= each.gain or not each.is_upper_bound, "at most is at most"
        assert each.experiment[1:] in each.trial_text
        assert "predicted" in dict(each.parts)["Gain"]
        assert f"{each.gain_row.split()[1]} % →" in each.gain_row, "bound and prediction side by side"
        assert "predicted" not in each.title
    for each in ranked:
        assert isnan(each.predicted_gain) == (each.predicted is None) == (each.experiment == "")
    assert "not a promise" in found.predictions
    assert not plain.predictions


def test_a_prediction_is_of_the_kernel(with_nops: Trace) -> None:
    """Traced waves that were there for half of the launch change half of it."""
    plain, player = found_in(with_nops)
    large = replace(plain, findings=tuple(replace(one, gain=1.0) for one in plain.findings))
    half = replace(large, working_share=plain.working_share / 2)
    nops, halved = (
        next(one for one in predicted(of, player).findings if one.name == "hazard-nops")
        for of in (large, half)
    )
    assert halved.predicted.gain == pytest.approx(nops.predicted.gain / 2)
    alone = player.predict(nops.trial.changes)
    assert nops.predicted.gain == pytest.approx(-alone.share * plain.working_share)


def test_nothing_helps_is_an_answer() -> None:
    plain, player = found_in(sample_trace("matmul_small"))
    short = tuple(replace(one, gain=0.5) for one in plain.findings if one.name == "exposed-lds")
    assert -player.predict(short[0].trial.changes).share < 0.01
    found = predicted(replace(plain, findings=short), player)
    assert found.why == NOTHING_HELPS
    assert all(one.expected < SMALL for one in found.findings)


def test_findings_without_a_trial_stay_as_they_are() -> None:
    plain, player = found_in(sample_trace("matmul_small"))
    tail = replace(plain, findings=tuple(one for one in plain.findings if one.trial is None))
    assert tail.findings
    assert predicted(tail, player).findings == tail.findings
    assert not predicted(tail, player).predictions


def test_a_finding_that_its_bound_makes_small_is_not_predicted_but_its_remedy_is_tested() -> None:
    """Of at most 1 % a prediction tells no more, but a remedy that costs 5 % is no advice all the same."""
    plain, player = found_in(sample_trace("matmul_small"))
    large = next(one for one in plain.findings if one.name == "exposed-vector-load")
    small = replace(large, gain=0.01, hot=(), others=())
    assert small.is_small_by_bound
    assert not large.is_small_by_bound
    kept = predicted(replace(plain, findings=(small,)), player)
    (one,) = kept.findings
    assert (one.predicted, one.limit, one.remedy, one.trial) == (None, None, small.remedy, small.trial)
    assert not kept.predictions
    slow = RemedyExperiment((Latency(units=("vmem",), factor=4.0),))
    assert player.predict(slow.changes).share > 0.05
    (one,) = predicted(replace(plain, findings=(replace(small, trial=slow),)), player).findings
    assert one.remedy.startswith(NONE_ADVISED)
    assert (one.predicted, one.trial) == (None, None)


def test_data_an_iteration_ahead_are_those_of_the_execution_before(one: Recording) -> None:
    lines, counts = np.unique(one.line[one.awaited], return_counts=True)
    line = int(lines[np.argmax(counts)])
    ahead = PrefetchIteration((line,)).of(one)
    for was, now in zip(one.awaited.tolist(), ahead.awaited.tolist(), strict=True):
        owner = int(one.owner[was])
        own = np.flatnonzero((one.line == one.line[was]) & (one.owner == owner))
        at = int(np.searchsorted(own, was))
        is_meant = one.line[was] == line and at > 0
        assert now == (int(own[at - 1]) if is_meant else was)
    assert play(ahead).span <= play(one).span


def test_what_stands_later_passes_as_many_instructions(one: Recording) -> None:
    lines = one.line[one.order[one.first[0] : one.first[1]]].tolist()
    line = next(each for each in lines[5:] if lines.count(each) == 1)
    at = lines.index(line)
    later = MoveLater(line, 3).of(one)
    moved = one.line[later.order[one.first[0] : one.first[1]]].tolist()
    assert moved == [*lines[:at], *lines[at + 1 : at + 4], line, *lines[at + 4 :]]
    last = MoveLater(line, 10_000).of(one)
    assert one.line[last.order[one.first[0] : one.first[1]]].tolist()[-1] == line


def test_what_is_prompt_waits_for_counters_all_the_same(one: Recording) -> None:
    prompt = IssueWithoutGaps(tuple(range(one.rows))).of(one)
    assert not prompt.delay.any()
    assert np.array_equal(prompt.awaited, one.awaited)
    assert np.array_equal(prompt.latency, one.latency)
    assert play(prompt).span < play(one).span
    none = IssueWithoutGaps(()).of(one)
    assert np.array_equal(play(none).issue, play(one).issue)


def test_a_range_without_width_is_explained_beside_the_predictions() -> None:
    """A change of an instruction that never runs changes nothing, under every guess."""
    plain, player = found_in(sample_trace("matmul_small"))
    nops = next(replace(one, gain=1.0) for one in plain.findings if one.name == "hazard-nops")
    why = f"{capitalized(NOTHING)}."
    assert why not in predicted(replace(plain, findings=(nops,)), player).guesses
    nothing = replace(nops, trial=RemedyExperiment((Latency(lines=(0,), cycles=0),)))
    found = predicted(replace(plain, findings=(nothing,)), player)
    assert found.findings[0].predicted_low == found.findings[0].predicted_high == 0
    assert why in found.guesses
