"""Branch arrows and counts of a known real capture; the rules of tests/features/isa/test_branches.py."""

from rcv_py.features.isa.panel import IsaPanel
from tests.features.isa.test_branches import (  # noqa: F401
    Settled,
    ends,
    isa,
    show,
    test_a_sampling_capture_has_branches_by_their_operands,
    test_counts_are_over_all_waves_and_stand_beside_the_rows,
    test_waits_branches_both_and_none,
)
from tests.real import captures
from tests.support.fixtures import fixture_of

trace = fixture_of(captures.real_trace, "flash_attn_small_after")
sampled = fixture_of(captures.real_trace, "pcsampling")


def test_the_counts_of_a_known_capture(isa: IsaPanel, settled: Settled) -> None:  # noqa: F811
    show(isa, "branches")
    settled()
    assert (1781, 471) in ends(isa)
    assert len(ends(isa)) == 8
    tip = isa.view.arrow_tips[isa.view.arrows.source.tolist().index(1781)]
    assert "jumped 24 times (75.0 %)" in tip
    assert "not taken 8 times" in tip
    assert isa.view.notes(941) == ("→ 1977 taken 8, not 24",)
    assert "from 2 branches ×32" in isa.view.notes(471)[0]
    for mode, count in (("waits", 129), ("both", 137), ("none", 0)):
        show(isa, mode)
        settled()
        assert len(isa.view.arrows) == count
        assert bool(isa.view.notes(941)) == (mode == "both")
