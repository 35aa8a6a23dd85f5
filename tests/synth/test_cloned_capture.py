"""Captures that are cloned for the benchmark agree with themselves."""

from pathlib import Path

import numpy as np

from rcv_py.formats.open import open_trace
from tests.analysis.in_memory import all_lines
from tests.support.cloned_capture import write_clone
from tests.support.opened import load_all

SOURCE = Path(__file__).resolve().parents[2] / "sample_traces" / "matmul_tiled"


def test_copies_follow_each_other_and_the_totals_are_theirs(tmp_path: Path) -> None:
    folder = tmp_path / "ui_output_agent_1_dispatch_1"

    tokens = write_clone(SOURCE, folder, 1.0)

    trace = open_trace(folder)
    waves = load_all(trace, workers=0)
    assert int(trace.waves.size.sum()) >= 1_000_000
    assert len({*trace.waves.se.tolist()}) == 1
    assert sum(len(batch.stall) for batch in waves) == tokens == int(trace.code.hits.sum())
    assert {problem.where for problem in trace.problems} <= {"snapshots.json"}  # as in the source
    costs = all_lines(waves, len(trace.code))
    for name in ("hits", "latency", "stall", "idle"):
        np.testing.assert_array_equal(getattr(costs.on(trace.code), name), getattr(trace.code, name))
    index = trace.waves
    in_slot = np.lexsort((index.begin, index.slot, index.simd))
    follows = (np.diff(index.slot[in_slot]) == 0) & (np.diff(index.simd[in_slot]) == 0)
    assert (index.end[in_slot][:-1] <= index.begin[in_slot][1:])[follows].all()
    assert (index.kernel >= 0).all()  # each wave is one of occupancy's


def test_the_same_is_written_again(tmp_path: Path) -> None:
    for name in ("one", "other"):
        write_clone(SOURCE, tmp_path / name, 0.1)

    assert {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()} == {
        path.name: path.read_bytes() for path in (tmp_path / "other").iterdir()
    }
