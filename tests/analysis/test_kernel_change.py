"""What if and findings say the same of the same experiment: one base, and one bound that cuts it."""

import json
from math import isnan
from pathlib import Path

import pytest
from msgspec.structs import replace

from rcv_py.analysis.findings.detect import findings
from rcv_py.analysis.findings.predicted import finding_of_changes, kernel_change, of_kernel, predicted
from rcv_py.analysis.whatif.changes import Free, Latency, NoBarrier, Relax
from rcv_py.analysis.whatif.experiments import usual_experiments
from rcv_py.formats.open import open_trace
from rcv_py.synth.write import write_folder
from tests.analysis.test_whatif_limits import SAMPLED, found_in, hold, player_of
from tests.support import prediction_truth
from tests.support.command_runs import run
from tests.support.opened import all_waves, sample_trace
from tests.support.prediction_scenes import SCENES, Scene
from tests.support.prediction_truth import simulated
from tests.support.samples import sample_path

# In these the same findings are predicted, and the same experiments bounded, as in another scene.
ALIKE = (
    *("matmul_plain", "near_roof", "matmul_11_one", "stream_11", "stream_11_one", "inverted_11", "stream_12"),
    *("inverted_12", "strict_12", "chain_12", "barriers_12", "spills_12", "roof_12", "short_12"),
)
SIMULATED = [scene for name, scene in SCENES.items() if name not in ALIKE]


@pytest.mark.parametrize("name", SAMPLED)
def test_what_if_says_what_the_finding_says(name: str) -> None:
    plain, found = found_in(name)
    player = player_of(name)
    for one in found.findings:
        if one.predicted is None or one.trial is None:
            continue
        alone = kernel_change(plain, player.predict(one.trial.changes), one)
        least = 0.0 if one.is_limit else -1.0  # a limit gains at least what no change gains
        told = (one.predicted.gain, one.predicted.low, one.predicted.high)
        assert told == pytest.approx([max(least, -part) for part in (alone.share, alone.high, alone.low)])


@pytest.mark.parametrize("name", SAMPLED)
def test_no_experiment_gains_more_than_the_bound_of_its_finding(name: str) -> None:
    plain, _ = found_in(name)
    player = player_of(name)
    experiments = usual_experiments(player, sample_trace(name))
    found, kernel = of_kernel(plain, player, experiments)
    assert len(found) == len(kernel) == len(experiments)
    for prediction, one in zip(found, kernel, strict=True):
        assert isnan(one.bound) or -one.low <= one.bound
        share = max(-one.bound, plain.working_share * prediction.share)
        assert one.share == pytest.approx(share) or isnan(one.bound)
        assert isnan(one.replayed) == (one.share - plain.working_share * prediction.share <= 0.0005)
    assert [one.share for one in kernel] == sorted(one.share for one in kernel)


def test_which_finding_an_experiment_is_about() -> None:
    plain, _ = found_in("matmul_small")
    by_name = {one.name: one for one in plain.findings}
    nops = by_name["hazard-nops"].trial.limits[0]
    assert finding_of_changes(plain, nops).name == "hazard-nops"
    assert finding_of_changes(plain, [Free(nops[0].lines[:1])]).name == "hazard-nops"
    loads = by_name["exposed-vector-load"].trial.limits[0][0].lines
    assert finding_of_changes(plain, [Latency(lines=loads[:1], factor=0.5)]).name == "exposed-vector-load"
    assert finding_of_changes(plain, [Latency(lines=loads[:1], factor=2.0)]) is None
    assert finding_of_changes(plain, [Latency(units=("vmem",), factor=0.5)]) is None
    assert finding_of_changes(plain, [Relax(3, 1)]) is None
    assert finding_of_changes(plain, []) is None
    assert finding_of_changes(plain, [NoBarrier()]).name == "barrier-skew"
    without = replace(plain, findings=tuple(one for one in plain.findings if one.name != "barrier-skew"))
    assert finding_of_changes(without, [NoBarrier()]) is None


def test_the_command_knows_the_bound_of_barriers() -> None:
    document = json.loads(run("whatif", str(sample_path("gfx12")), "--no-barriers", "--json").out)
    (row,) = document["experiments"]
    triage = json.loads(run("triage", str(sample_path("gfx12")), "--top", "0", "--json").out)
    finding = next(one for one in triage["findings"] if one["name"] == "barrier-skew")
    assert document["gain_base"] == triage["gain_base"] == "kernel's duration"
    assert row["bound"] == finding["gain"]
    assert row["share_of_kernel"] == pytest.approx(-finding["predicted_gain"], abs=1e-4)
    assert (row["kernel_low"], min(0, row["kernel_high"])) == pytest.approx(
        (-finding["predicted_high"], -finding["predicted_low"]), abs=1e-4
    ), "a limit is at least that of no change"


def test_a_cut_is_told() -> None:
    plain, _ = found_in("gfx12")
    barrier = next(one for one in plain.findings if one.name == "barrier-skew")
    small = replace(plain, findings=(replace(barrier, gain=0.001),))
    (_,), (one,) = of_kernel(small, player_of("gfx12"), [[NoBarrier()]])
    assert (one.share, one.bound) == (-0.001, 0.001)
    assert one.replayed < -2 * one.bound


@pytest.mark.parametrize("scene", SIMULATED, ids=lambda scene: scene.name)
def test_simulated_kernels_gain_no_more_than_their_bounds(scene: Scene, tmp_path: Path) -> None:
    write_folder(simulated(scene).capture, tmp_path)
    trace = open_trace(tmp_path)
    found = findings(trace, [all_waves(trace)])
    player = prediction_truth.player_of(trace)
    hold(predicted(found, player))
    changes = [one for one in usual_experiments(player, trace) if isinstance(one[0], NoBarrier | Free)]
    _, kernel = of_kernel(found, player, changes)
    assert all(isnan(one.bound) or -one.low <= one.bound for one in kernel)
