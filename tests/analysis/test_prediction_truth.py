"""Predictions against a simulator that ran the changed kernel: a few pairs; all are in `make precision`."""

import ast
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

import rcv_py.analysis.whatif
import rcv_py.synth
from rcv_py.analysis.whatif.changes import Change
from rcv_py.analysis.whatif.event_loop import play
from rcv_py.analysis.whatif.recording import Recording, arbitrated
from tests.support.prediction_pairs import PAIRS
from tests.support.prediction_scenes import SCENES, Scene
from tests.support.prediction_truth import Measured, asked, captured, measured, missed, quantile, summary

MOST = 0.03  # of the span: the pairs here are some that are well understood
QUICK = (
    "matmul_12_one: latency of memory × 0.5",  # its queue is full: a quicker memory gains little
    "inverted: the load that is used first issued first",
    "chain: DPP instead of LDS moves",
    "nops: no s_nop",
    "barriers: a barrier removed",
    "short: 2 more waves a SIMD",
    "narrow: one wide access for four",
    "strict_12: remedy of redundant-wait",  # ties between waves decide whether it gains at all
    "spills_11: remedy of scratch-spills",
    "combined: latency of all smem × 0.5",
    "roof_12: 1 more wave a SIMD",
)


@pytest.mark.parametrize("name", QUICK)
def test_a_prediction_comes_true(name: str) -> None:
    (pair,) = (pair for pair in PAIRS if pair.name == name)
    found = measured(pair, runs=1)
    assert found.error <= MOST, found
    assert found.low <= found.predicted <= found.high
    assert found.is_held, "the range holds what the changed kernel does"
    assert not found.is_wrong_way


def test_slow_loads_may_be_those_that_the_change_is_about() -> None:
    """Loads of a cache return behind loads of memory: the recording does not show which were slow."""
    (pair,) = (pair for pair in PAIRS if pair.name == "crowded: latency of memory × 0.5")
    found = measured(pair, runs=1)
    assert found.is_held
    assert found.high > 0 > -0.3 > found.low


class NoMatter:
    """A change of bytes, which no wave waits for."""

    text = "bytes"

    def of(self, recording: Recording) -> Recording:
        return replace(recording, moves=recording.moves + 1)


@pytest.mark.parametrize("name", ["rivals", "inverted_11"])
def test_a_change_of_nothing_that_is_played_changes_nothing(name: str) -> None:
    """The rules of ties, which a change takes, play these kernels 1 % longer and 1 % shorter."""
    player = captured(SCENES[name]).player
    ruled = [play(arbitrated(one)).span for one in player.recordings()]
    recorded = [play(one).span for one in player.recordings()]
    assert abs(sum(ruled) / sum(recorded) - 1) > 0.01
    found = player.predict([NoMatter()], is_quick=True)
    assert found.after == found.before == sum(recorded)


def test_pairs_are_many_and_each_is_another() -> None:
    assert len(PAIRS) >= 120
    assert len({pair.name for pair in PAIRS}) == len(PAIRS)
    assert {scene.hardware.generation for scene in SCENES.values()} == {9, 11, 12}


def executed(scene: Scene, changes: Sequence[Change] = ()) -> list[str]:
    """The instructions of the first wave, in the order in which it executes them."""
    recording = next(iter(captured(scene).player.recordings()))
    for change in changes:
        recording = change.of(recording)
    rows = recording.line[recording.order[slice(*recording.first[:2])]]
    return [scene.kernel.instructions[row - 1].text for row in rows.tolist()]


@pytest.mark.parametrize("scene", ["strict_11", "inverted"])
def test_the_simulator_moves_the_loads_that_the_remedy_moves(scene: str) -> None:
    (pair,) = (pair for pair in PAIRS if pair.name == f"{scene}: remedy of exposed-vector-load")
    assert executed(pair.before) != executed(pair.after) == executed(pair.before, asked(pair))


def test_what_is_said_of_pairs_follows_from_them() -> None:
    right = [Measured(f"pair {n}", -0.1, -0.1 - n / 1000, -0.2, 0.0) for n in range(9)]
    wrong = Measured("the wrong one", +0.05, -0.05, 0.0, 0.1)
    assert wrong.is_wrong_way
    assert not Measured("small", +0.01, -0.01, 0.0, 0.0).is_wrong_way
    assert quantile([*right, wrong], 0.9) == pytest.approx(0.008)
    text = summary([*right, wrong])
    assert "10 pairs" in text
    assert "1 clear changes have the wrong sign: the wrong one" in text
    assert "holds the true change in 9 (90 %)" in text
    assert missed([*right, wrong]) == ["a clear change has the wrong sign", "fewer than 50% are tight"]


def test_a_needed_range_holds_all_runs() -> None:
    one = Measured("pair", -0.1, -0.11, -0.14, -0.06, (-0.09, -0.085))
    assert one.needed == pytest.approx(0.03)
    assert one.is_held
    assert not one.is_tight, "0.08 is more than twice 0.03"
    assert Measured("none", 0.0, 0.0, 0.0, 0.0).is_tight


def imports(folder: Path) -> set[str]:
    """All modules that the files of a folder import."""
    found: set[str] = set()
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                found |= {f"{node.module}", *(f"{node.module}.{name.name}" for name in node.names)}
            elif isinstance(node, ast.Import):
                found |= {name.name for name in node.names}
    return found


def test_simulator_and_replay_share_no_code_about_time() -> None:
    simulator = imports(Path(rcv_py.synth.__file__).parent)
    replay = imports(Path(rcv_py.analysis.whatif.__file__).parent)
    assert not {name for name in simulator if name.startswith("rcv_py.analysis")}
    assert not {name for name in replay if name.startswith("rcv_py.synth")}
    shared = {name for name in simulator & replay if name.startswith("rcv_py")}
    allowed = ("rcv_py.base", "rcv_py.model")  # records, runs of equal values, tables: nothing about hardware
    assert not {name for name in shared if not name.startswith(allowed)}
