"""Attribution of the real captures: sums to the cycle, and how much of it has a cause."""

import numpy as np
import pytest

from rcv_py.analysis.attribution.causes import WAITS, Cause
from tests.analysis.test_attribution_shares import (
    test_at_least_92_percent_of_stalled_cycles_have_a_producer,  # noqa: F401
    test_at_least_95_percent_of_stalled_cycles_are_explained,  # noqa: F401
    test_every_cycle_has_exactly_one_cause_by_line,  # noqa: F401
    test_lines_with_a_full_memory_queue_access_memory,  # noqa: F401
    test_wait_causes_agree_with_the_wait_summary,  # noqa: F401
    test_without_lds_reads_no_wait_is_for_lds,  # noqa: F401
)
from tests.real import captures
from tests.real.attribution_truth import explained_rows, named_rows, of
from tests.support.attribution_shares import together
from tests.support.attribution_truth import markdown
from tests.support.fixtures import fixture_of_each
from tests.support.paths import ROOT

attributed = fixture_of_each(of, captures.THREAD_TRACES)
stalled = fixture_of_each(of, captures.THREAD_TRACES)
blamed = fixture_of_each(of, captures.THREAD_TRACES)


@pytest.mark.parametrize("name", ["flash_attn_small_after", "pa_mqa_big", "preshuffle_gemm"])
def test_stalling_together_on_two_simds_is_seldom_chance(name: str) -> None:
    """The rule's own control: partners looked for at other times are at most a quarter as many cycles."""
    found, chance = together(of(name)[0])
    assert found > 4 * chance


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_waits_have_the_stall_of_the_reference(name: str) -> None:
    """Waits keep the reference's stall, and nearly all of it is charged to what they waited for."""
    _, table = of(name)
    golden = captures.golden(f"beyond/{name}.json")
    is_wait = np.isin(table.cause, [*WAITS, Cause.OWN])
    for row in golden["wait_top"]:
        at_line = table.line == row["line"]
        assert table.stall[at_line].sum() == row["stall"], row["line"]
        assert table.stall[is_wait & at_line].sum() >= 0.97 * row["stall"], row["line"]


def test_the_page_shows_what_is_measured() -> None:
    """`make precision` prints the tables; the page has to be brought up to date with them."""
    page = (ROOT / "docs" / "attribution.md").read_text(encoding="utf-8")
    for rows in (explained_rows(), named_rows()):
        assert markdown(rows) in page, markdown(rows)


def test_a_full_memory_queue_is_where_memory_instructions_stall() -> None:
    trace, table = of("moe_reduce")
    whole = table.by_cause()
    shares = dict(zip(whole.cause.tolist(), (whole.stall / table.total_stall).tolist(), strict=True))
    assert shares[Cause.MEMORY_QUEUE] > 0.6, "70 % of the stall is that of buffer_load itself"
    text = trace.code.text
    queued = table.line[table.cause == Cause.MEMORY_QUEUE]
    assert all(text[line].startswith("buffer_") for line in queued.tolist())
    blamed = table.producer[(table.cause == Cause.MEMORY_QUEUE) & (table.producer >= 0)]
    assert all(text[line].startswith("buffer_") for line in blamed.tolist())


def test_the_lgkm_waits_of_a_kernel_without_lds_reads_are_cross_lane_and_scalar() -> None:
    trace, table = of("pa_mqa_big")
    assert not any(line.startswith("ds_read") for line in trace.code.text)
    whole = table.by_cause()
    causes = dict(zip(whole.cause.tolist(), whole.stall.tolist(), strict=True))
    assert Cause.WAIT_LDS not in causes
    assert causes[Cause.WAIT_CROSS_LANE] > causes[Cause.WAIT_SCALAR] > 0
