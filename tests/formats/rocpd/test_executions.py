"""Counter values belong to an execution of a launch: replays, streamed samples, GPUs, newer schemas."""

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from rcv_py.analysis.counters.pmc.traffic import traffic
from rcv_py.base.errors import TraceError
from rcv_py.formats.pmc_files import pmc_table
from rcv_py.formats.rocpd.read import read_profile
from rcv_py.model.profile import Profile
from rcv_py.results.profile import tables

HIT, MISS, WAVES = 1, 2, 3
Rows = Sequence[Mapping[str, Any]]
METADATA = [{"id": 1, "tag": "schema_version", "value": "3.0.4"}]
AGENTS = [
    {"id": 1, "type": "GPU", "name": "gfx950", "extdata": '{"num_shader_banks":32,"num_xcc":8}'},
    {"id": 2, "type": "GPU", "name": "gfx942", "extdata": "{}"},
]
KERNELS = [{"id": 3, "kernel_name": "gemm.kd", "display_name": "gemm"}]
COUNTERS = [
    {"id": HIT, "name": "TCC_HIT_sum", "symbol": "TCC_HIT_sum"},
    {"id": MISS, "name": "TCC_MISS_sum", "symbol": "TCC_MISS_sum"},
    {"id": WAVES, "name": "SQ_WAVES", "symbol": "SQ_WAVES"},
]


def launch(number: int, event: int, **more: Any) -> dict[str, Any]:
    """A row of `kernel_dispatch`, of 1,000 ns."""
    about = {"guid": "g", "agent_id": 1, "kernel_id": 3, "dispatch_id": number, "event_id": event}
    return about | {"start": 1_000 * event, "end": 1_000 * event + 1_000} | more


def value(event: int | None, counter: int, number: float, **more: Any) -> dict[str, Any]:
    """A row of `pmc_event`."""
    return {"event_id": event, "pmc_id": counter, "value": number, **more}


def database(path: Path, launches: Rows, values: Rows, **more: Rows) -> Path:
    """Write a database with the columns that the rows have."""
    rows_of = {
        "metadata": METADATA,
        "info_agent": AGENTS,
        "info_kernel_symbol": KERNELS,
        "info_pmc": COUNTERS,
    }
    rows_of |= {"kernel_dispatch": launches, "pmc_event": values, **more}
    with sqlite3.connect(path) as written:
        for name, rows in rows_of.items():
            columns = list(dict.fromkeys(column for row in rows for column in row)) or ["id"]
            listed = ", ".join(f'"{column}"' for column in columns)
            written.execute(f'CREATE TABLE "rocpd_{name}_0001a2b3_4c5d" ({listed})')
            written.executemany(
                f'INSERT INTO "rocpd_{name}_0001a2b3_4c5d" VALUES ({", ".join("?" * len(columns))})',
                [[row.get(column) for column in columns] for row in rows],
            )
    written.close()
    return path


def totals(profile: Profile) -> dict[str, tuple[int, float, float]]:
    """Launches, total and mean of each counter, as `rcv info` lists them."""
    rows = tables(profile)["counters"].rows()
    return {row["counter"]: (row["launches"], row["total"], row["mean"]) for row in rows}


def hit_rates(path: Path) -> list[float]:
    """The hit rate of each launch, in percent."""
    return sorted(round(100 * one.hit_rate, 6) for one in traffic(pmc_table([path]), "dispatch"))


def streamed(launches: Rows, per_place: float, times: Sequence[int]) -> tuple[Rows, list[dict[str, Any]]]:
    """Samples of each launch at these times, and values of both L2 counters at two places of each."""
    samples, values = [], []
    for one in launches:
        for time in times:
            samples.append({"id": len(samples) + 1, "timestamp": time, "event_id": one["event_id"]})
            for counter in (HIT, MISS):
                for engine in (0, 3):
                    place = {"xcc": 2, "shader_engine": engine, "instance": 7, "sample_id": len(samples)}
                    values.append(value(one["event_id"], counter, per_place, **place))
    return samples, values


def test_launches_of_graphs_name_graph_and_node(tmp_path: Path) -> None:
    """Launch 1 is node 4 of graph 2, launch 2 is of no graph; node 0 is a node, too."""
    launches = [
        launch(1, 10, graph_exec_id=2, graph_node_id=4),
        launch(2, 11, graph_exec_id=0, graph_node_id=0),
        launch(3, 12, graph_exec_id=2, graph_node_id=0),
    ]
    graphs = [
        {"graph_exec_id": 2, "start": 12_000, "end": 12_500, "kernel_dispatch_count": 1},
        {"graph_exec_id": 2, "start": 10_000, "end": 10_900, "kernel_dispatch_count": "odd"},
    ]
    found = tables(read_profile(database(tmp_path / "x.db", launches, [], graph_launch=graphs)))
    nodes = {row["dispatch"]: (row["graph"], row["node"]) for row in found["dispatches"].rows()}
    assert nodes == {1: (2, 4), 2: (None, None), 3: (2, 0)}
    names = ("graph", "begin_ns", "duration_ns", "kernels")
    assert [tuple(row[name] for name in names) for row in found["graphs"].rows()] == [
        (2, 0, 900, None),
        (2, 2_000, 500, 1),
    ]


def test_streamed_samples_are_no_part_of_a_launch(tmp_path: Path) -> None:
    launches = [launch(1, 10), launch(2, 11)]
    samples, values = streamed(launches, 50.0, (300, 100))
    own = [value(10, HIT, 900.0), value(10, MISS, 100.0), value(11, HIT, 100.0), value(11, MISS, 300.0)]
    path = database(tmp_path / "x.db", launches, [*values, *own], sample=samples)
    profile = read_profile(path)
    assert totals(profile) == {"TCC_HIT_sum": (2, 1_000, 500), "TCC_MISS_sum": (2, 400, 200)}
    assert hit_rates(path) == [100 * 100 / 400, 100 * 900 / 1_000]
    # Each launch: two counters at two places, sorted by time; 4 engines an XCC: engine 3 of XCC 2 is 11.
    for series in (profile.spm[1], profile.spm[2]):
        assert [(one.counter, one.se, one.instance, one.is_xcc) for one in series] == [
            (name, engine, 7, False) for name in ("TCC_HIT_sum", "TCC_MISS_sum") for engine in (8, 11)
        ]
        assert all((one.time.tolist(), one.value.tolist()) == ([100, 300], [50, 50]) for one in series)


def test_streamed_samples_alone_are_no_counters_of_a_launch(tmp_path: Path) -> None:
    samples, values = streamed([launch(1, 10)], 50.0, (100,))
    without_event = [row | {"event_id": None} for row in values]  # the sample has it
    path = database(tmp_path / "x.db", [launch(1, 10)], without_event, sample=samples)
    profile = read_profile(path)
    assert totals(profile) == {}
    assert len(profile.spm[1]) == 4
    with pytest.raises(TraceError, match="streamed"):
        pmc_table([path])


def test_a_series_without_an_engine_is_one_of_a_die(tmp_path: Path) -> None:
    place = {"sample_id": 1, "xcc": 5, "shader_engine": None, "instance": 2}
    rows = [value(10, HIT, 4.0, **place), value(10, HIT, 5.0, **place)]
    sample = [{"id": 1, "timestamp": 100, "event_id": 10}]
    (one,) = read_profile(database(tmp_path / "x.db", [launch(1, 10)], rows, sample=sample)).spm[1]
    assert (one.is_xcc, one.se, one.instance, one.value.tolist()) == (True, 5, 2, [9])


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
@pytest.mark.parametrize("has_column", [True, False])
def test_passes_of_a_replay_are_one_launch(tmp_path: Path, order: tuple[int, ...], has_column: bool) -> None:
    order = order if has_column else (0, 1, 2)
    passes_of = [{"replay_pass": index} if has_column else {} for index in order]
    launches = [launch(1, 10 + index, **more) for index, more in zip(order, passes_of, strict=True)]
    launches.append(launch(2, 20))
    passes = [value(10, HIT, 900.0), value(10, MISS, 100.0), value(11, HIT, 300.0), value(12, WAVES, 64.0)]
    second = [value(20, HIT, 10.0), value(20, MISS, 30.0)]
    path = database(tmp_path / "x.db", launches, [*passes, *second])
    profile = read_profile(path)
    assert (len(profile.launches), profile.executions) == (2, 4)
    rows = {row["dispatch"]: row["duration_ns"] for row in tables(profile)["dispatches"].rows()}
    assert rows == {1: 1_000, 2: 1_000}
    assert profile.launches.begin.tolist() == [10_000, 20_000], "the first pass counts"
    # Of launch 1, passes have 900 and 300 hits: a mean of 600, and 10 of launch 2.
    assert totals(profile) == {
        "TCC_HIT_sum": (2, 610, 305),
        "TCC_MISS_sum": (2, 130, 65),
        "SQ_WAVES": (1, 64, 64),
    }
    assert hit_rates(path) == [25.0, 90.0]


def test_equal_numbers_of_two_recordings_stay_two_launches(tmp_path: Path) -> None:
    launches = [launch(1, 10, replay_pass=0), launch(1, 11, guid="h", replay_pass=0)]
    values = [value(10, HIT, 1.0), value(10, MISS, 3.0), value(11, HIT, 3.0), value(11, MISS, 1.0)]
    path = database(tmp_path / "x.db", launches, values)
    assert len(read_profile(path).launches) == 2
    assert hit_rates(path) == [25.0, 75.0]


def test_gpus_are_those_of_the_launches(tmp_path: Path) -> None:
    launches = [launch(1, 10), launch(2, 11, agent_id=2)]
    values = [value(10, HIT, 1.0), value(10, MISS, 3.0), value(11, HIT, 3.0), value(11, MISS, 1.0)]
    path = database(tmp_path / "x.db", launches, values)
    rows = tables(read_profile(path))["agents"].rows()
    assert [(row["name"], row["launches"]) for row in rows] == [("gfx950", 1), ("gfx942", 1)]
    assert hit_rates(path) == [25.0, 75.0]


def test_a_launch_has_the_gpu_of_its_track_and_its_own_times(tmp_path: Path) -> None:
    tracks = [{"id": 5, "agent_id": 2}, {"id": 6, "agent_id": 1}]
    launches = [
        {
            name: cell
            for name, cell in launch(number, 9 + number, track_id=track).items()
            if name != "agent_id"
        }
        for number, track in ((1, 5), (2, 6))
    ]
    profile = read_profile(database(tmp_path / "x.db", launches, [], track=tracks))
    rows = tables(profile)["dispatches"].rows()
    assert {row["dispatch"]: (row["gpu"], row["duration_ns"]) for row in rows} == {
        1: ("gfx942", 1_000),
        2: ("gfx950", 1_000),
    }


def test_a_folder_of_databases_is_a_run_in_passes(tmp_path: Path) -> None:
    passes = [[value(10, HIT, 900.0), value(10, MISS, 100.0)], [value(10, HIT, 300.0)], []]
    for at, values in enumerate(passes):
        (tmp_path / f"pass_{at}" / "host").mkdir(parents=True)
        database(tmp_path / f"pass_{at}" / "host" / "7_results.db", [launch(1, 10)], values)
    table = pmc_table([tmp_path])
    (found,) = traffic(table)
    assert (found.dispatches, found.hit_rate, len(table.files)) == (1, 0.9, 2)


@pytest.mark.parametrize("odd", [-5, 1e308, float("inf"), "abc", b"\xff"])
def test_a_value_that_is_no_count_is_left_out_and_told(tmp_path: Path, odd: Any) -> None:
    path = database(tmp_path / "x.db", [launch(1, 1)], [value(1, HIT, odd), value(1, MISS, 100)])
    profile = read_profile(path)
    assert totals(profile) == {"TCC_MISS_sum": (1, 100, 100)}
    (problem,) = profile.problems
    assert problem.text.endswith("as repeated or no counts of a known counter: 1 value of 2.")


def test_a_value_without_a_number_was_not_recorded(tmp_path: Path) -> None:
    values: Rows = [value(1, HIT, 900) | {"value": None}, value(1, MISS, 100)]
    profile = read_profile(database(tmp_path / "x.db", [launch(1, 1)], values))
    assert totals(profile) == {"TCC_MISS_sum": (1, 100, 100)}
    assert not profile.problems


def test_a_sum_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    """Values of SQ_WAVES may be parts, such as of dies; a sum has none."""
    values = [value(1, HIT, 900), value(1, HIT, 900), value(1, WAVES, 3), value(1, WAVES, 4)]
    path = database(tmp_path / "x.db", [launch(1, 1)], values)
    profile = read_profile(path)
    assert totals(profile) == {"TCC_HIT_sum": (1, 900, 900), "SQ_WAVES": (1, 7, 7)}
    assert "1 value of 4" in profile.problems[0].text
    (found,) = traffic(pmc_table([path]), "dispatch")
    assert found.counted["hits"] == 900


@pytest.mark.parametrize(
    "times", [{"end": None}, {"start": None}, {"start": -100}, {"start": 9_000, "end": 8_000}]
)
def test_a_launch_of_unknown_length_does_not_shorten_the_mean(tmp_path: Path, times: dict[str, Any]) -> None:
    path = database(tmp_path / "x.db", [launch(1, 1), launch(2, 2, **times)], [])
    (row,) = tables(read_profile(path))["kernels"].rows()
    assert (row["launches"], row["total_ns"], row["mean_ns"], row["max_ns"]) == (2, 1000, 1000, 1000)


def test_samples_that_are_no_counts_are_told(tmp_path: Path) -> None:
    launches, (samples, values) = [launch(1, 1)], streamed([launch(1, 1)], 5.0, (1100, 1200))
    values[0] |= {"value": -1}
    values[1] |= {"sample_id": 77}  # no such sample
    profile = read_profile(database(tmp_path / "x.db", launches, values, sample=samples))
    (problem,) = profile.problems
    assert problem.text.endswith("2 samples of streamed counters.")
