"""`rcv compare` on real captures: numbers, and rules of tests/features/compare/test_command.py."""

import pytest

from tests.features.compare.test_command import Pair, test_work_is_counted_a_wave_and_costs_cycles  # noqa: F401
from tests.real.captures import trace_path
from tests.support.command_runs import printed, printed_json
from tests.support.fixtures import fixture_of

pair = fixture_of(lambda: (trace_path("flash_attn_small_before"), trace_path("flash_attn_small_after")))


def test_the_flash_pair_passes_the_gate(pair: Pair) -> None:
    text = printed("compare", *pair, "--fail-on", "regression", "--least", 0)
    first = text.splitlines()[0]
    assert first.startswith(
        "No difference beyond noise: the launch of B takes 0.6 % fewer cycles (80,980 in A, "
    )
    assert "\nTraced waves: no difference beyond noise: 0.8 % fewer cycles per hit" in text
    assert "A has 4 traced waves, B 8" in text
    assert "the same in both" in text
    assert printed("compare", *reversed(pair), "--fail-on", "difference")


def test_different_kernels_are_not_judged(pair: Pair) -> None:
    text = printed("compare", pair[0], trace_path("vec_add"))
    assert text.startswith("Not comparable: different kernels, flash_attn_func_kernel_0 and vecAddKernel_0")


def test_the_document_has_the_numbers_of_the_flash_pair(pair: Pair) -> None:
    document = printed_json("compare", *pair, "--top", 0)
    assert (document["verdict"], document["per"]) == ("no difference beyond noise", "launch")
    assert document["kernel"]["waves"] == [4, 8]
    assert document["kernel"]["launch"]["duration"] == [80_980, 80_484]
    assert document["kernel"]["launch"]["waves"] == [64, 64]
    assert document["kernel"]["hits_per_wave"] == [6603, 5420]


@pytest.mark.parametrize("names", [("pa_mqa_big", "pa_mqa_small"), ("pa_mqa_small", "pa_mqa_big")])
def test_different_work_is_not_judged(names: tuple[str, str]) -> None:
    text = printed("compare", *map(trace_path, names))
    assert text.startswith("Not comparable: ")
    assert "the launches do not do the same work" in text.splitlines()[0]
