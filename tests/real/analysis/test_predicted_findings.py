"""The rules of tests/analysis/test_predicted_findings.py on real captures."""

from msgspec.structs import replace

from rcv_py.analysis.findings.finding import SMALL, RemedyExperiment
from rcv_py.analysis.findings.predicted import NOTHING_HELPS, predicted
from rcv_py.analysis.whatif.changes import Latency
from tests.analysis.test_predicted_findings import (
    first_recording,
    found_in,
    test_a_prediction_is_of_the_kernel,  # noqa: F401
    test_data_an_iteration_ahead_are_those_of_the_execution_before,  # noqa: F401
    test_findings_are_ranked_by_what_is_predicted,  # noqa: F401
    test_what_is_prompt_waits_for_counters_all_the_same,  # noqa: F401
    test_what_stands_later_passes_as_many_instructions,  # noqa: F401
)
from tests.real.captures import real_trace
from tests.support.fixtures import fixture_of, fixture_of_each

trace = fixture_of_each(real_trace, ["flash_attn_small_after", "pa_mqa_small"])
with_nops = fixture_of(real_trace, "flash_attn_small_after")
one = fixture_of(lambda: first_recording(real_trace("pa_mqa_small")), scope="module")


def test_nothing_helps_is_an_answer() -> None:
    plain, player = found_in(real_trace("flash_attn_small_after"))
    (ahead,) = (one for one in plain.findings if one.name == "exposed-lds-dma")
    assert ahead.gain > SMALL
    other = RemedyExperiment((Latency(lines=(0,), cycles=0),))  # it is not a memory operation
    found = predicted(replace(plain, findings=(replace(ahead, trial=other),)), player)
    assert found.why == NOTHING_HELPS
    assert all(one.most < SMALL or one.expected < SMALL for one in found.findings)
