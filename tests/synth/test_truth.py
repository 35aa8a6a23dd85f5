"""The truth agrees with the files and with how a compute unit works."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.synth.build import build
from rcv_py.synth.capture import SimulatedCause, SyntheticCapture, WaveRun, WaveTruth
from rcv_py.synth.samples import SAMPLES
from tests.support.fixtures import fixture_of_each
from tests.support.made_captures import code_totals
from tests.synth.conftest import Written

PLANS = ("matmul_small", "vector_add", "reduction", "kernels", "gfx11", "gfx12")


def simulated(name: str, seed: int) -> SyntheticCapture:
    return build(replace(SAMPLES[name].plan(), seed=seed)).capture


capture = fixture_of_each(lambda name: simulated(name, 5), PLANS, scope="module")


def waves(capture: SyntheticCapture) -> Iterator[tuple[WaveRun, WaveTruth]]:
    for run in capture.waves:
        yield run, capture.truth.waves[run.key]


def test_lines_counted_while_simulating_are_those_of_the_tokens(capture: SyntheticCapture) -> None:
    np.testing.assert_array_equal(code_totals(capture.waves, len(capture.truth.lines)), capture.truth.lines)


@pytest.mark.parametrize("name", ["matmul_tiled", "kernels", "gfx12", "events", "packed"])
def test_lines_counted_while_simulating_are_those_of_code_json(name: str, written: Written) -> None:
    folder, truth = written(name)
    assert [row[6:10] for row in folder.code] == truth.lines.tolist()


def test_a_stall_has_a_cause_and_only_a_stall(capture: SyntheticCapture) -> None:
    for run, truth in waves(capture):
        np.testing.assert_array_equal(truth.cause != SimulatedCause.NONE, run.tokens[:, 2] > 0)


def test_a_gap_has_a_cause_and_only_a_gap(capture: SyntheticCapture) -> None:
    for run, truth in waves(capture):
        time, _, _, duration, _ = run.tokens.T
        before = np.maximum.accumulate(np.append(run.begin, (time + duration)[:-1]))
        np.testing.assert_array_equal(truth.gap_cause != SimulatedCause.NONE, time > before)


def test_a_counter_wait_ends_when_its_producer_returns(capture: SyntheticCapture) -> None:
    seen = 0
    for run, truth in waves(capture):
        rows = np.flatnonzero(truth.cause == SimulatedCause.COUNTER)
        released = run.tokens[rows, 0] + run.tokens[rows, 2]
        np.testing.assert_array_equal(truth.returned[truth.producer[rows]], released)
        seen += len(rows)
    assert seen


def test_no_register_is_read_before_its_load_returned(capture: SyntheticCapture) -> None:
    for run, truth in waves(capture):
        pending: dict[str, int] = {}
        instructions = capture.kernels[run.kernel].instructions
        issued = (run.tokens[:, 0] + run.tokens[:, 2]).tolist()
        for number, at, returned in zip(truth.instruction, issued, truth.returned.tolist(), strict=True):
            item = instructions[number]
            for name in item.meaning.reads | item.meaning.writes:
                assert pending.get(name, 0) <= at, f"{item.text} comes too early"
            for name in item.meaning.writes:
                pending[name] = returned


def test_a_unit_of_a_simd_issues_one_instruction_at_a_time() -> None:
    capture = simulated("matmul_small", 1)
    ports: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
    for run in capture.waves:
        for time, kind, stall, duration, _ in run.tokens.tolist():
            if kind in (1, 2, 3, 4, 5, 6):
                place = ports.setdefault((run.se, run.simd, kind), [])
                place.append((time + stall, time + duration))
    for spans in ports.values():
        spans.sort()
        assert all(before[1] <= after[0] for before, after in pairwise(spans))


def test_waves_leave_a_barrier_together() -> None:
    capture = simulated("matmul_small", 1)
    meetings: dict[tuple[int, int, int], set[int]] = {}
    for run, truth in waves(capture):
        texts = [item.text for item in capture.kernels[run.kernel].instructions]
        barriers = [row for row, number in enumerate(truth.instruction) if texts[number] == "s_barrier"]
        for nth, row in enumerate(barriers):
            left = int(run.tokens[row, 0] + run.tokens[row, 2])
            meetings.setdefault((run.se, run.workgroup, nth), set()).add(left)
    assert meetings
    assert all(len(times) == 1 for times in meetings.values())


def test_rounds_are_the_branches_taken_and_one(capture: SyntheticCapture) -> None:
    for run, truth in waves(capture):
        kernel = capture.kernels[run.kernel]
        for label, rounds in truth.iterations.items():
            branches = [
                number
                for number, item in enumerate(kernel.instructions)
                if item.target == kernel.labels[label] and "iterations" in item.notes
            ]
            executed = np.isin(truth.instruction, branches)
            assert np.count_nonzero(executed) == sum(rounds)
            assert np.count_nonzero(run.tokens[executed, 1] == 7) == sum(rounds) - len(rounds)
