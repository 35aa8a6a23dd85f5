"""`rcv index` over real captures: numbers, and rules of tests/features/compare/test_index_command.py."""

import csv
from pathlib import Path
from typing import Any

import pytest

from rcv_py.work.library import library_rows
from tests.features.compare.test_index_command import (
    HERE,
    rows,  # noqa: F401
    test_a_capture_without_a_source_line_is_not_healthy,  # noqa: F401
    test_the_duration_is_that_of_the_record,  # noqa: F401
)
from tests.real.captures import SHARED, THREAD_TRACES, TRACES, golden, trace_path
from tests.support.command_runs import printed, printed_json
from tests.support.fixtures import fixture_of

library = fixture_of(lambda: SHARED / "traces")
recorded = fixture_of(lambda: [trace_path(name) for name in ("pa_mqa_small", "vec_add")])


def test_every_capture_is_there_once(library: Path) -> None:
    document = printed_json("index", library)
    found = {Path(row["path"]).name: row for row in document["captures"]}
    assert set(found) == {trace_path(name).name for name in TRACES}
    moe = found[trace_path("moe_reduce").name]
    assert (moe["waves"], moe["hits"]) == (4112, 622_968)
    assert (moe["latency"], moe["stall"]) == (59_005_036, 45_693_520)
    assert (moe["executed"], moe["instructions"], moe["peak_waves"]) == (171, 431, 1024)
    big = found[trace_path("pa_mqa_big").name]
    assert big["mean_waves"] == pytest.approx(golden("beyond/pa_mqa_big.json")["avg_waves"], abs=0.01)
    times = [row["duration_ns"] for row in document["captures"] if row["duration_ns"] is not None]
    assert len(times) == len(THREAD_TRACES)
    assert times == sorted(times, reverse=True)


def test_replicates_are_named_with_their_noise(rows: dict[str, dict[str, Any]]) -> None:  # noqa: F811
    (row,) = (row for row in rows.values() if row["replicate"])
    after, before = (trace_path(f"flash_attn_small_{name}").name for name in ("after", "before"))
    assert (row["replicate"], row["capture"]) == (after, before)
    assert 0.05 < row["replicate_noise"] < 0.07


def test_processes_find_the_same() -> None:
    paths = [trace_path(name) for name in ("pa_mqa_small", "fused_rope_cache", "vec_add")]
    here, there = (list(library_rows(paths, jobs)) for jobs in (0, 2))
    for one, other in zip(here, there, strict=True):
        assert one.path == other.path
        assert one.isa == other.isa
        assert one.latency == other.latency
        assert one.health == other.health
        assert one.error == other.error


def test_the_longest_comes_first_and_all_can_be_opened(library: Path) -> None:
    found = list(csv.DictReader(printed("index", library, *HERE, "--csv").splitlines()))
    assert found[0]["kernel"] == "moe_reduction_kernel_0"
    assert not any(row["error"] for row in found)
