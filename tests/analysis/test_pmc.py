"""Traffic of L2 and memory: every formula by hand, every branch of the tree, and what is missing."""

from math import isnan
from pathlib import Path

import pytest

from rcv_py.analysis.counters.pmc.decision import BRANCHES, decision, missing
from rcv_py.analysis.counters.pmc.traffic import (
    PASSES,
    ROLES,
    Range,
    Traffic,
    pmc_lines,
    traffic,
    traffic_facts,
)
from rcv_py.formats.pmc_files import pmc_table
from tests.support.pmc import write_long


def of(tmp_path: Path, counters: dict[str, float], ideal: float = 0.0, **more: float) -> Traffic:
    (found,) = traffic(pmc_table([write_long(tmp_path / "x.csv", [("k", 1, counters)])]), ideal=ideal, **more)
    return found


@pytest.mark.parametrize(
    ("counters", "least", "most"),
    [
        ({"TCC_EA0_RDREQ_sum": 100}, 3_200, 12_800),
        ({"TCC_EA0_RDREQ_sum": 100, "TCC_EA0_RDREQ_32B_sum": 10}, 320 + 90 * 64, 320 + 90 * 128),
        ({"TCC_EA0_RDREQ_sum": 100, "TCC_EA0_RDREQ_32B_sum": 10, "TCC_BUBBLE_sum": 40}, 8_640, 8_640),
        ({"TCC_EA0_RDREQ_sum": 100, "TCC_EA0_RDREQ_32B_sum": 10, "TCC_BUBBLE_sum": 0}, 6_080, 11_840),
        ({"TCC_EA0_RDREQ_sum": 100, "TCC_EA0_RDREQ_32B_sum": 10, "TCC_EA0_RDREQ_128B_sum": 40}, 8_640, 8_640),
        ({"TCC_EA0_RDREQ_32B": 10, "TCC_EA0_RDREQ_64B": 50, "TCC_EA0_RDREQ_128B": 40}, 8_640, 8_640),
        ({"GL2C_EA_RDREQ_32B_sum": 1, "GL2C_EA_RDREQ_64B_sum": 1, "GL2C_EA_RDREQ_96B_sum": 1,
          "GL2C_EA_RDREQ_128B_sum": 1}, 320, 320),
        ({"TCC_EA_RDREQ_sum": 10, "TCC_EA_RDREQ_32B_sum": 10}, 320, 320),
    ],
)  # fmt: skip
def test_bytes_read(tmp_path: Path, counters: dict[str, float], least: float, most: float) -> None:
    assert of(tmp_path, counters).read == Range(least, most)


def test_bytes_written(tmp_path: Path) -> None:
    assert of(tmp_path, {"TCC_EA0_WRREQ_sum": 10}).written == Range(320, 640)
    assert of(tmp_path, {"TCC_EA0_WRREQ_sum": 10, "TCC_EA0_WRREQ_64B_sum": 4}).written == Range(448, 448)


def test_shares_factors_and_rates(tmp_path: Path) -> None:
    counters = {"TCC_HIT_sum": 1, "TCC_MISS_sum": 3, "TCC_EA0_RDREQ_sum": 8, "TCC_EA0_RDREQ_32B_sum": 8,
                "TCC_EA0_RDREQ_DRAM_sum": 6}  # fmt: skip
    found = of(tmp_path, counters, ideal=128, channels=2)
    assert (found.hit_rate, found.partial, found.dram) == (0.25, 1.0, 0.75)
    assert (found.read, found.over_fetch) == (Range(512, 512), Range(4, 4))
    assert not found.read_rate.is_known
    path = write_long(tmp_path / "x.csv", [("k", 1, counters)], length=64)
    (timed,) = traffic(pmc_table([path]))
    assert timed.read_rate == Range(4, 4)


@pytest.mark.parametrize(
    ("length", "rate"), [(64_000, "; 0.004 GB/s"), (200, "; 1.3 GB/s"), (1, "; 256 GB/s")]
)
def test_a_low_rate_is_not_0(tmp_path: Path, length: int, rate: str) -> None:
    """256 bytes in so many nanoseconds."""
    counters = {"TCC_EA0_RDREQ_sum": 8, "TCC_EA0_RDREQ_32B_sum": 8}
    path = write_long(tmp_path / "x.csv", [("k", 1, counters)], length=length)
    (found,) = traffic(pmc_table([path]))
    assert rate in dict(traffic_facts(found))["read"]


def test_means_of_dispatches_and_their_outliers(tmp_path: Path) -> None:
    rows = [("k", 1, {"TCC_HIT_sum": 0, "TCC_MISS_sum": 10}), ("k", 2, {"TCC_HIT_sum": 9, "TCC_MISS_sum": 1}),
            ("other", 3, {"TCC_HIT_sum": 5, "TCC_MISS_sum": 5, "TCC_REQ_sum": 10})]  # fmt: skip
    table = pmc_table([write_long(tmp_path / "x.csv", rows)])
    both, other = traffic(table)
    assert (both.name, both.dispatches, both.hit_rate, both.hit_rates) == ("k", 2, 0.45, Range(0, 0.9))
    assert other.name == "other"
    assert "0.0 % to 90.0 % in single dispatches" in dict(traffic_facts(both))["L2 hit rate"]
    single = traffic(table, "dispatch", "k")
    assert [(one.dispatch, one.hit_rate) for one in single] == [("1", 0.0), ("2", 0.9)]


HITS = {"TCC_HIT_sum": 50, "TCC_MISS_sum": 50}
STREAM = {"TCC_HIT_sum": 1, "TCC_MISS_sum": 99}
FULL = {"TCC_EA0_RDREQ_sum": 100, "TCC_EA0_RDREQ_32B_sum": 0, "TCC_EA0_RDREQ_128B_sum": 0}
PART = {"TCC_EA0_RDREQ_sum": 100, "TCC_EA0_RDREQ_32B_sum": 5}


@pytest.mark.parametrize(
    ("counters", "ideal", "branch", "by"),
    [
        (STREAM | PART, 0, "scattered", "partial"),
        (HITS | PART, 6_400, "scattered", "partial"),
        (STREAM | FULL, 6_400 / 1.3, "refetched", "over_fetch"),
        (STREAM | FULL, 6_400 / 1.25, "minimal", "over_fetch"),
        (STREAM | FULL, 6_400, "minimal", "over_fetch"),
        (STREAM | FULL, 0, "streaming", "hit_rate"),
        (HITS | FULL, 0, "reusing", "hit_rate"),
        (STREAM, 0, "unknown", ""),
        (FULL, 0, "unknown", ""),
        ({"TCC_EA0_RDREQ_sum": 100}, 1_000, "refetched", "over_fetch"),
    ],
)
def test_branches(tmp_path: Path, counters: dict[str, float], ideal: float, branch: str, by: str) -> None:
    found = decision(of(tmp_path, counters, ideal))
    assert (found.branch, found.deciding) == (BRANCHES[branch], by)


def test_a_range_across_the_limit_decides_nothing_and_names_what_would(tmp_path: Path) -> None:
    found = decision(of(tmp_path, STREAM | {"TCC_EA0_RDREQ_sum": 100, "TCC_EA0_RDREQ_32B_sum": 0}, 6_400))
    assert (found.branch.name, found.tests[2].answer) == ("streaming", "unknown")
    assert missing(found) == ("reads_128",)
    without = decision(of(tmp_path, STREAM | {"TCC_EA0_RDREQ_sum": 100, "TCC_EA0_RDREQ_32B_sum": 0}))
    assert missing(without) == (), "without the ideal, no counter would help"


def test_passes_hold_at_most_four_counters_of_a_block() -> None:
    assert {key for group in PASSES for key in group} <= {role.key for role in ROLES}
    lines = pmc_lines(["hits", "reads_32"])
    assert len(lines) == 2
    for line in pmc_lines([role.key for role in ROLES]):
        names = line.split("--pmc ")[1].split(" -f")[0].split()
        blocks = [name.partition("_")[0] for name in names]
        assert max(blocks.count(block) for block in blocks) <= 4
    assert "GL2C_HIT_sum" in pmc_lines(["hits"], "GL2C")[0]


def passes(tmp_path: Path, *of_passes: dict[str, float]) -> Traffic:
    """The numbers of a launch that was executed once a pass."""
    paths = [
        write_long(tmp_path / f"pass_{at}" / "x.csv", [("k", 1, counters)], length=1_000 * at)
        for at, counters in enumerate(of_passes, 1)
    ]
    (found,) = traffic(pmc_table(paths))
    return found


def test_a_ratio_takes_both_counters_of_one_pass(tmp_path: Path) -> None:
    memory = {"TCC_EA0_RDREQ_sum": 100, "TCC_EA0_RDREQ_32B_sum": 10, "TCC_EA0_RDREQ_128B_sum": 40}
    more = {"TCC_EA0_RDREQ_sum": 50, "TCC_EA0_RDREQ_DRAM_sum": 20}
    found = passes(tmp_path, {"TCC_HIT_sum": 900, "TCC_MISS_sum": 100} | more, {"TCC_HIT_sum": 300} | memory)
    assert (found.hit_rate, found.partial, found.dram) == (0.9, 0.1, 0.4)
    assert (found.counted["hits"], found.counted["misses"]) == (900, 100)
    assert found.read == Range(8_640, 8_640), "10 of 32, 50 of 64 and 40 of 128 bytes"
    assert (found.nanoseconds, found.read_rate) == (1_500, Range(4.32, 4.32)), "in the 2,000 ns of that pass"
    assert found.apart == ()


def test_two_passes_with_both_counters_are_a_mean(tmp_path: Path) -> None:
    found = passes(tmp_path, {"TCC_HIT_sum": 30, "TCC_MISS_sum": 10}, {"TCC_HIT_sum": 10, "TCC_MISS_sum": 30})
    assert (found.hit_rate, found.hit_rates) == (0.5, Range(0.5, 0.5))


def test_passes_without_a_common_pair_have_no_ratio_and_a_reason(tmp_path: Path) -> None:
    found = passes(tmp_path, {"TCC_HIT_sum": 900, "TCC_EA0_RDREQ_sum": 100}, {"TCC_MISS_sum": 100})
    assert isnan(found.hit_rate)
    assert (found.counted["hits"], found.counted["misses"]) == (900, 100), "both were recorded"
    assert found.apart == ("hit_rate",)
    step = decision(found).tests[0]
    assert (step.answer, step.missing) == ("unknown", ("hits", "misses"))
    assert "different passes" in step.means
    assert dict(traffic_facts(found))["no ratio"].startswith("TCC_HIT and TCC_MISS")


def test_the_dispatches_of_a_kernel_need_not_all_have_a_pair(tmp_path: Path) -> None:
    rows = [("k", 1, {"TCC_HIT_sum": 900}), ("k", 2, {"TCC_HIT_sum": 1, "TCC_MISS_sum": 3})]
    (found,) = traffic(pmc_table([write_long(tmp_path / "x.csv", rows)]))
    assert (found.dispatches, found.hit_rate, found.hit_rates) == (2, 0.25, Range(0.25, 0.25))


def test_executions_of_one_file_are_told_apart_by_their_begin(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(
        "Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n"
        "1,k,TCC_HIT_sum,900,10,20\n1,k,TCC_MISS_sum,100,10,20\n1,k,TCC_HIT_sum,300,30,40\n"
    )
    (found,) = traffic(pmc_table([tmp_path / "x.csv"]))
    assert (found.dispatches, found.hit_rate) == (1, 0.9)


@pytest.mark.parametrize("family", ["TCC", "GL2C"])
def test_recorded_as_0_is_not_unrecorded(tmp_path: Path, family: str) -> None:
    path = "EA0" if family == "TCC" else "EA"
    names = ("HIT", "MISS", f"{path}_RDREQ", f"{path}_RDREQ_32B", f"{path}_RDREQ_128B")
    zeros = {f"{family}_{name}_sum": 0.0 for name in names}
    found = decision(of(tmp_path, zeros | {"SQ_WAVES": 64.0}, ideal=6_400))
    assert (found.branch.name, missing(found)) == ("unknown", ())
    assert [step.answer for step in found.tests] == ["unknown"] * 3
    assert all("recorded, and 0" in step.means for step in found.tests)
    assert "named below" not in found.branch.remedy
    facts = dict(traffic_facts(of(tmp_path, zeros)))
    assert facts["L2 hit rate"] == "none: hits and misses were recorded, and are 0"
    some = decision(of(tmp_path, {f"{family}_HIT_sum": 0.0, f"{family}_MISS_sum": 0.0}))
    assert missing(some) == ("reads", "reads_32", "reads_128")


def test_no_hit_among_lookups_is_a_rate_of_0(tmp_path: Path) -> None:
    assert of(tmp_path, {"TCC_HIT_sum": 0, "TCC_MISS_sum": 100}).hit_rate == 0
