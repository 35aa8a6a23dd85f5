"""Builds that the simulator made from each other: how well they are aligned, and what is found in them.

A pair is right if the instruction of B was made from that of A, or from one of the same text close by: where
one of sixteen equal v_exp was removed, no text can tell which.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.compare.align import align
from rcv_py.analysis.compare.compare import ONLY_A, Comparison, compare
from rcv_py.analysis.compare.costs import CaptureCosts
from rcv_py.analysis.compare.verdict import Verdict
from rcv_py.features.compare.result import change_table
from rcv_py.formats.open import open_trace
from rcv_py.model.code import CodeTable
from rcv_py.synth.build import Plan, build
from rcv_py.synth.hardware import CDNA
from rcv_py.synth.program import SOURCES, SyntheticKernel, kernel
from rcv_py.synth.wave_state import SyntheticLaunch
from rcv_py.synth.write import write_folder
from tests.analysis.compare_cases import table
from tests.analysis.in_memory import capture_costs
from tests.support.rebuilt_kernels import Edits, rebuilt, slowed, with_lines

KERNELS = ("matmul_tiled", "reduce", "scale_rows", "rivals", "matmul_gfx11", "matmul_gfx12")
SEEDS = range(5)
NEAR = 16  # instructions


def code(kernel: SyntheticKernel) -> CodeTable:
    return table(["; " + kernel.demangled, *(one.text for one in kernel.instructions)])


def accuracy(edits: Edits, kernels: tuple[str, ...] = KERNELS) -> tuple[float, float]:
    """Return precision and recall of the pairs, over some kernels and seeds."""
    good = found = true = 0
    for name in kernels:
        before = kernel(name)
        for seed in SEEDS:
            other = rebuilt(before, edits, seed)
            to_b = align(code(before), code(other.kernel)).to_b[1:] - 1
            origin = np.full(len(other.kernel.instructions), -1)
            kept = np.flatnonzero(other.to_b >= 0)
            origin[other.to_b[kept]] = kept
            rows = np.flatnonzero(to_b >= 0)
            good += sum(_is_right(before, row, int(origin[to_b[row]])) for row in rows.tolist())
            found, true = found + len(rows), true + len(kept)
    return good / found, good / true


def _is_right(kernel: SyntheticKernel, row: int, origin: int) -> bool:
    """Whether the partner of an instruction was made from it, or from its like nearby."""
    rows = kernel.instructions
    return origin >= 0 and abs(origin - row) <= NEAR and rows[origin].text == rows[row].text


@pytest.mark.parametrize(
    ("edits", "least"),
    [
        (Edits(), 1.0),
        (Edits(shift=4), 1.0),
        (Edits(inserted=6), 0.99),
        (Edits(removed=6), 0.99),
        (Edits(inserted=4, removed=4, shift=4), 0.98),
        (Edits(moved=2), 0.98),
        (Edits(inserted=3, removed=3, moved=1, shift=4), 0.95),
    ],
    ids=str,
)
def test_instructions_are_found_again_in_a_rebuild(edits: Edits, least: float) -> None:
    precision, recall = accuracy(edits)
    assert precision >= least
    assert recall >= least


# -- what a comparison finds -------------------------------------------------------------------------

LOAD = "global_load_dword v3, v1"  # its wait is nearly all that the reduction does
WAIT = "s_waitcnt vmcnt(1)"


@pytest.fixture(scope="module")
def costs_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., CaptureCosts]:
    """Simulate a kernel with a seed; the cycles of its waves."""
    folder = tmp_path_factory.mktemp("builds")

    def made(kernel: SyntheticKernel, seed: int, sources: dict | None = None) -> CaptureCosts:
        launch = SyntheticLaunch(kernel, 6, {"n": (12, 9, 15)})
        plan = Plan(replace(CDNA, slots=4), (launch,), (0, 752), seed=seed)
        capture = replace(build(plan).capture, sources=sources or SOURCES)
        place = Path(folder) / f"{len(list(folder.iterdir()))}"
        write_folder(capture, place)
        trace = open_trace(place)
        return capture_costs(trace, [trace.reader.read(list(range(len(trace.waves))))])

    return made


@pytest.fixture(scope="module")
def before(costs_of) -> CaptureCosts:
    return costs_of(kernel("reduce"), 0)


@pytest.fixture(scope="module")
def replicate(costs_of) -> CaptureCosts:
    return costs_of(kernel("reduce"), 1)


def load_of(kernel: SyntheticKernel) -> int:
    return next(row for row, one in enumerate(kernel.instructions) if one.text.startswith(LOAD))


def real_rows(found: Comparison) -> list[str]:
    return [row["text"] for row in change_table(found, "instruction").records() if row["is_beyond_noise"]]


def test_one_load_that_takes_a_fifth_longer_is_a_regression(before, replicate, costs_of) -> None:
    after = costs_of(slowed(kernel("reduce"), load_of(kernel("reduce")), 1.2), 2)
    found = compare(before, after, replicate=replicate)
    assert found.verdict is Verdict.MORE
    assert real_rows(found)[0] == WAIT, "the wait for that load comes first"
    row = change_table(found, "instruction").records()[0]
    assert row["ratio"] == pytest.approx(0.2, abs=0.06)
    back = compare(after, before)
    assert back.verdict in (Verdict.FEWER, Verdict.SAME), "without a replicate a fifth may be within noise"


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_another_run_of_the_same_build_does_not_trip(before, replicate, costs_of, seed: int) -> None:
    found = compare(before, costs_of(kernel("reduce"), seed), replicate=replicate)
    assert found.verdict is Verdict.SAME
    assert not real_rows(found)
    assert compare(before, costs_of(kernel("reduce"), seed)).verdict is Verdict.SAME


def test_a_capture_is_no_replicate_of_itself(before, costs_of) -> None:
    """It would say that there is no noise at all."""
    other = costs_of(kernel("reduce"), 2)
    found, alone = compare(before, other, replicate=before), compare(before, other)
    assert found.judgement == alone.judgement
    assert any("The replicate is capture A itself" in note for note in found.notes)


def test_renamed_registers_and_moved_source_lines_are_no_difference(before, replicate, costs_of) -> None:
    path = SOURCES["vector"].path
    built, sources = with_lines(rebuilt(kernel("reduce"), Edits(shift=4)).kernel, SOURCES, path, 7)
    found = compare(before, costs_of(built, 2, sources), replicate=replicate)
    assert found.verdict is Verdict.SAME
    assert (found.align.to_b >= 0).all()
    names = found.grouped("source")[0].names
    assert names
    assert not any(name.endswith(ONLY_A) for name in names), "lines are found by what they say"


def test_the_slow_load_is_found_in_a_rebuild_too(before, costs_of) -> None:
    slow = slowed(kernel("reduce"), load_of(kernel("reduce")), 1.5)
    after = costs_of(rebuilt(slow, Edits(inserted=3, removed=3, moved=1, shift=4)).kernel, 2)
    found = compare(before, after)
    assert found.verdict is Verdict.MORE
    assert WAIT in real_rows(found)


def test_simulated_edits_are_what_they_say() -> None:
    product = kernel("matmul_tiled")
    edits = Edits(inserted=5, removed=4, moved=1, shift=2)
    other = rebuilt(product, edits, 1)
    assert np.count_nonzero(other.to_b < 0) == 4
    assert len(other.kernel.instructions) == len(product.instructions) + 5 - 4 + 2  # and two branches
    kept = np.flatnonzero(other.to_b >= 0)
    assert len(set(other.to_b[kept].tolist())) == len(kept)
    for row in kept.tolist():
        one, two = product.instructions[row], other.kernel.instructions[other.to_b[row]]
        assert (one.meaning.unit, one.source) == (two.meaning.unit, two.source)
        if one.target >= 0:
            assert two.target == other.to_b[one.target]
    again = rebuilt(product, edits, 1)
    assert [one.text for one in again.kernel.instructions] == [one.text for one in other.kernel.instructions]
