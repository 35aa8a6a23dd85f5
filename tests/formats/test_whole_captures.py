"""Captures as a whole: what they are of, what is said of them, how much work it is to open them."""

from pathlib import Path

import numpy as np
import orjson
import pytest

from rcv_py.formats.open import find_captures, open_trace
from rcv_py.synth.samplers import pc_samples
from rcv_py.synth.samples import SAMPLES, simulated
from tests.support.opened import VARIED, sample_trace
from tests.support.python_calls import python_calls
from tests.support.samples import write_sample

HAS_A_HEADER_ALONE = {"matmul_small", "vector_add", "reduction", "kernels"}  # which no capture has a copy of


def test_pc_samples_are_what_was_sampled() -> None:
    code = sample_trace("pc_sampling").code
    issued, reasons = pc_samples(simulated(SAMPLES["pc_sampling"].plan).capture)
    assert code.samples_stalled is not None
    assert code.stall_reasons is not None
    assert code.samples_issued.tolist() == issued.tolist()
    assert np.array_equal(code.stall_reasons, reasons)
    assert np.array_equal(code.stall_reasons.sum(axis=1), code.samples_stalled)
    assert int(code.samples_issued.sum()) > 0


@pytest.mark.parametrize("name", VARIED)
def test_a_capture_opens_without_a_problem_that_is_not_there(name: str) -> None:
    where = {problem.where for problem in sample_trace(name).problems}
    assert where == ({"snapshots.json"} if name in HAS_A_HEADER_ALONE else set())


@pytest.mark.parametrize("name", VARIED)
def test_each_wave_ran_on_unit_1_for_a_kernel_that_has_a_name(name: str) -> None:
    trace, launched = sample_trace(name), SAMPLES[name].plan().kernels
    assert set(trace.waves.cu.tolist()) == {1}
    kernels = set(trace.waves.kernel.tolist())
    assert len(kernels) == len(launched)
    assert {trace.occupancy.names[kernel] for kernel in kernels} == {one.symbol for one in launched}
    assert [one.name for one in trace.code.kernels] == [one.symbol for one in launched]
    assert trace.kernel_name in {one.demangled for one in launched}


def test_captures_of_a_folder_are_listed_with_their_facts(tmp_path: Path) -> None:
    names = ("kernels", "gfx12", "matmul_small")
    truths = {name: write_sample(name, tmp_path / name / f"ui_output_{name}") for name in names}
    entries = {entry.path.parent.name: entry for entry in find_captures(tmp_path)}
    assert sorted(entries) == sorted(names)
    for name, truth in truths.items():
        entry, labels = entries[name], 4 if name == "kernels" else 1
        hits, latency, _, _ = truth.lines.T
        assert (entry.waves, entry.instructions) == (len(truth.waves), len(truth.lines) - labels)
        assert entry.executed == int(np.count_nonzero(hits))
        assert (entry.hits, entry.latency, entry.note) == (int(hits.sum()), int(latency.sum()), "")


def test_opening_takes_no_step_an_occupancy_event(tmp_path: Path) -> None:
    write_sample("vector_add", tmp_path)
    before = python_calls(lambda: open_trace(tmp_path))
    few = len(open_trace(tmp_path).occupancy)
    table = orjson.loads((tmp_path / "occupancy.json").read_bytes())
    for rows in (rows for se, rows in table.items() if se.isdigit()):
        rows += [[row[0], row[1] + 10 * unit, *row[2:]] for unit in (1, 2, 3) for row in rows]
        rows.sort(key=lambda row: row[0])
    (tmp_path / "occupancy.json").write_bytes(orjson.dumps(table))
    assert len(open_trace(tmp_path).occupancy) == 4 * few
    assert python_calls(lambda: open_trace(tmp_path)) < before + few
