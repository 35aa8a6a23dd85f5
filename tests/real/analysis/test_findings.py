"""Findings of real captures: honest, and what is known of these kernels."""

from functools import cache

import pytest

from rcv_py.analysis.core.reduction import InMemory
from rcv_py.analysis.findings.detect import findings_from
from rcv_py.analysis.findings.finding import Findings
from rcv_py.analysis.findings.inputs import FindingInputs
from tests.analysis.test_findings import (
    assert_honest,
    named,
    opened,
    stalls_of,
    test_samples_are_told_by_reason,  # noqa: F401
)
from tests.real import captures
from tests.support.fixtures import fixture_of


@cache
def of_real(name: str) -> InMemory:
    """What analyses say of a real capture, each asked once for all tests."""
    return opened(captures.trace_path(name))


def real(name: str) -> Findings:
    return findings_from(of_real(name))


sampled = fixture_of(captures.real_trace, "pcsampling")


@pytest.mark.parametrize("name", captures.THREAD_TRACES)
def test_findings_of_real_captures_are_honest(name: str) -> None:
    # Of mla_decode all waves left early: nothing is ranked unless all waves are asked for.
    answers = of_real(name)
    found = findings_from(answers, waves="all" if name == "mla_decode" else "working")
    assert found.findings
    assert not found.partial
    assert_honest(answers, found)


def test_flash_waits_for_copies_to_lds() -> None:
    found = named(real("flash_attn_small_after"))
    dma, load = found["exposed-lds-dma"], found["exposed-vector-load"]
    # Waits for vector memory, but for the four cycles each takes anyway, are these two.
    total = stalls_of(captures.real_trace("flash_attn_small_after").code, "s_waitcnt", "vmcnt")
    assert 0.95 * total <= dma.attributed + load.attributed <= total
    assert dma.attributed > 3 * load.attributed
    waited = [
        place.line for place in dma.evidence if place.kind == "instruction" and "waited for" in place.text
    ]
    code = captures.real_trace("flash_attn_small_after").code
    assert waited
    assert all(
        code.text[line].startswith("buffer_load") and code.text[line].endswith(" lds") for line in waited
    )
    nops = stalls_of(captures.real_trace("flash_attn_small_after").code, "s_nop")
    assert 0.9 * nops <= found["hazard-nops"].attributed <= nops


def test_pa_waits_for_cross_lane_moves_and_scalar_loads() -> None:
    big, small = named(real("pa_mqa_big")), named(real("pa_mqa_small"))
    cross, scalar = big["serial-cross-lane-chain"].attributed, big["exposed-scalar-load"].attributed
    assert 0.55 <= cross / (cross + scalar) <= 0.65
    total = stalls_of(captures.real_trace("pa_mqa_big").code, "s_waitcnt", "lgkmcnt")
    assert 0.9 * total <= cross + scalar <= total
    assert not captures.real_trace("pa_mqa_big").code.text.count("ds_read")
    mine, others = (
        small["exposed-scalar-load"].attributed,
        stalls_of(captures.real_trace("pa_mqa_small").code, "s_waitcnt", "lgkmcnt"),
    )
    assert 0.85 <= mine / others <= 0.97
    assert "exposed-lds" not in big


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_no_issue_cycles_are_those_of_the_reference_and_those_under_s_endpgm(name: str) -> None:
    golden = captures.golden(f"beyond/{name}.json")["simd_issue"]
    answers = of_real(name)
    found, whole = findings_from(answers), FindingInputs(answers, waves="all").exposure
    assert found.resident == whole.resident == golden["resident"]
    assert 0 < whole.no_issue - golden["bubble"] <= whole.ending
    assert found.bubbles == whole.nothing < whole.no_issue, "the matrix unit works in some of them"
    assert whole.lives == sum(wave.end - wave.begin for batch in answers.batches for wave in batch.waves)


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_the_matrix_unit_is_busy_as_long_as_its_passes(name: str) -> None:
    """All instructions of these captures fit behind each other: the union is as long as the sum."""
    golden = captures.golden(f"beyond/{name}.json")["mfma_model"]
    assert FindingInputs(of_real(name), waves="all").exposure.matrix == golden["matrix_busy_cycles"]


def test_the_ceiling_is_the_matrix_work_of_the_reference() -> None:
    big = named(real("pa_mqa_big"))["matrix-ceiling"]
    assert 1 - big.share == pytest.approx(0.159, abs=5e-4)


def test_the_ceiling_weighs_matrix_work_against_cycles_in_which_nothing_happens() -> None:
    small = real("flash_attn_small_after")  # matrix pipes work in 17.8 %, nothing happens in 48.0 %
    assert named(small)["matrix-ceiling"].remedy.startswith("Work on the findings above first")
