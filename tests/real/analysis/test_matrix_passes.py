"""How busy matrix units were, beside the numbers of a model."""

import pytest

from rcv_py.analysis.program.matrix_forms import MATRIX
from tests.real import captures


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_matrix_units_are_as_busy_as_the_model_says(name: str) -> None:
    golden = captures.golden(f"beyond/{name}.json")
    trace = captures.real_trace(name)
    rows = list(range(len(trace.waves)))
    use = MATRIX.of(trace, [trace.reader.read(rows[:2]), trace.reader.read(rows[2:])])
    model = golden["mfma_model"]
    assert use.busy == model["matrix_busy_cycles"]
    assert use.resident == golden["simd_issue"]["resident"]
    assert use.executions == sum(model["dynamic_counts"].values())
    assert round(100 * use.share, 2) == model["pct_of_resident_simd_cycles"]
