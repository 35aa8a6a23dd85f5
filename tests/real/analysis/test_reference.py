"""Equal to what the reference viewer computes, on every capture it was run on."""

from typing import Any

import numpy as np
import pytest

from rcv_py.analysis.core.cost_columns import cost_columns, mean, wave_lines
from rcv_py.analysis.core.occupancy import global_rows, residencies, resident
from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.analysis.core.token_columns import of_waves
from rcv_py.analysis.cost.activity import activity
from rcv_py.analysis.cost.hotspot import counted_rows
from rcv_py.analysis.cost.source_costs import source_costs
from rcv_py.analysis.device.utilization import utilization
from rcv_py.analysis.program.blocks import labels
from rcv_py.analysis.program.branches import branches
from rcv_py.analysis.waits.program_waits import Arrows, arrows, wait_pairs
from rcv_py.model.kinds import TokenKind
from rcv_py.model.modes import LatencyMode, SourceCost
from rcv_py.model.window import TimeWindow
from tests.analysis import build
from tests.analysis.in_memory import all_lines, hotspot
from tests.real import captures
from tests.support.read_twice import GoldenCase, reading_differences
from tests.support.reference_rules import reference_curves


def test_both_readers_find_the_same_in_the_files(case: GoldenCase) -> None:
    assert not reading_differences(case.trace.path)


def test_code_totals_are_the_sums_over_all_waves(case: GoldenCase) -> None:
    code = case.trace.code
    sums = all_lines(case.batches, len(code))
    for name in ("hits", "latency", "stall", "idle"):
        np.testing.assert_array_equal(getattr(sums, name), getattr(code, name), name)
    assert int(sums.latency.sum()) == case.golden["totals"]["latency"]
    assert int(sums.stall.sum()) == case.golden["totals"]["stall"]
    assert int(sums.idle.sum()) == case.golden["totals"]["idle"]


def test_lines_of_the_main_wave(case: GoldenCase) -> None:
    code = case.trace.code
    stats = wave_lines(case.main, len(code))
    first, tokens = cost_columns(code, LatencyMode.ITERATION, case.main, 0), of_waves([case.main])
    rows = code.row_of_number[[row["line"] for row in case.golden["main_wave_lines"]]]
    columns = {
        "n": stats.hits,
        "sum": stats.latency,
        "max": stats.longest,
        "mean": mean(stats.latency, stats.hits),
        "iter0": first.latency,
        "idle_sum": stats.idle,
        "idle_n": np.bincount(tokens.line[tokens.idle > 0], minlength=len(code)),
    }
    for name, column in columns.items():
        assert column[rows].tolist() == [row[name] for row in case.golden["main_wave_lines"]], name
    assert int(stats.hits.sum()) == int(stats.hits[rows].sum()), "no other line ran"


def test_cycles_by_kind_and_stall_of_every_wave(case: GoldenCase) -> None:
    for wave, expected in zip(case.waves, case.golden["waves"], strict=True):
        cycles = np.bincount(wave.tokens.kind, wave.tokens.duration, minlength=16)
        assert cycles.astype(int).tolist() == expected["type_cycles"]
        assert int((wave.tokens.stall % 65536).sum()) == expected["stall_u16"]


def test_hotspot_bins(case: GoldenCase) -> None:
    golden = case.golden["hotspot"]
    window = TimeWindow(*case.golden["clock_range"])
    rows = counted_rows(case.trace.waves, case.main.id.se, window)
    bins = hotspot(case.batches, len(case.trace.code), rows)
    assert bins.step == golden["step"]
    assert 1.04 * bins.totals.max() == pytest.approx(golden["max_value"], rel=1e-12)
    assert len(bins.first) == golden["n_bins"] == len(golden["bins"])
    lines = np.stack([bins.first, bins.stop - 1], axis=1)
    assert lines.tolist() == [one["lines"] for one in golden["bins"]]
    assert bins.totals.tolist() == [one["total"] for one in golden["bins"]]
    named = [
        {TokenKind(kind).name: count for kind, count in enumerate(row) if count}
        for row in bins.cycles.tolist()
    ]
    assert named == [one["cycles"] for one in golden["bins"]]


def entries(case: GoldenCase) -> list[tuple[int, list[int]]]:
    number = case.trace.code.row_of_number
    return [
        (int(number[line]), [int(number[source]) for source in sources])
        for line, sources in case.golden["main_wave_waitcnt"]
    ]


def rows_of(table: Arrows) -> list[list[Any]]:
    columns = (table.wait, table.producer, table.slot, table.is_interior)
    return [list(row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def test_wait_pairs(case: GoldenCase) -> None:
    golden = case.golden["main_wave_arrows_wait_src_slot_interior"]
    wait, producer = wait_pairs(build.waits(entries(case)))
    assert sorted(zip(wait.tolist(), producer.tolist(), strict=True)) == sorted(
        (row[0], row[1]) for row in golden
    )


def test_the_waits_in_the_file_are_the_reference_s(case: GoldenCase) -> None:
    waits = case.main.waits
    assert waits is not None
    found = [(int(waits.line[row]), waits.producers(row).tolist()) for row in range(len(waits))]
    made_up = case.trace.name in captures.SYNTHETIC  # those leave the waits to the viewer
    assert found == ([] if made_up else entries(case))


def test_arrows_slots_and_interior_flags(case: GoldenCase) -> None:
    golden = case.golden["main_wave_arrows_wait_src_slot_interior"]
    # Among arrows of one length the reference takes the order of a hash table; given its order, all is equal.
    wait, producer = (np.array([row[i] for row in golden], dtype=np.int32) for i in (0, 1))
    assert rows_of(arrows(wait, producer)) == golden


def test_our_order_of_arrows_needs_no_more_room(case: GoldenCase) -> None:
    golden = case.golden["main_wave_arrows_wait_src_slot_interior"]
    table = arrows(*wait_pairs(build.waits(entries(case))))
    assert sorted((row[0], row[1], row[3]) for row in rows_of(table)) == sorted(
        (row[0], row[1], row[3]) for row in golden
    )
    assert table.slot.max(initial=0) <= max((row[2] for row in golden), default=0) + 1


def test_branch_arrows(case: GoldenCase) -> None:
    golden = case.golden["main_wave_branches"]
    found = branches([case.main], case.trace.code)
    assert len(found) == case.golden["waves"][case.main_row]["branch_arrows"]
    assert rows_of(arrows(found.source, found.target)) == golden


def points(curve: StepCurve) -> list[list[float]]:
    return [[float(time), float(waves)] for time, waves in zip(curve.time, curve.value, strict=True)]


@pytest.mark.parametrize(("key", "by"), [("occupancy_plot", "se"), ("dispatch_plot", "kernel")])
def test_occupancy_and_dispatch_curves(case: GoldenCase, key: str, by: str) -> None:
    curves, lives = reference_curves(case.trace.occupancy, by), residencies(case.trace.occupancy)
    ours = resident(lives, getattr(lives, by))
    full = {
        row["name"]: row["pts"]
        for row in case.golden.get(key.replace("plot", "curves"), {}).get("curves", [])
    }
    assert len(curves) == len(case.golden[key])
    for expected in case.golden[key]:
        name = expected["name"]
        number = int(name[2:] if by == "se" else name.split("-")[0])
        curve, found = curves[number], points(curves[number])
        assert len(curve) == expected["n_points"]
        assert curve.value.max() == expected["max"]
        assert curve.area == expected["step_area"]
        assert (found[:4], found[-4:]) == (expected["first"], expected["last"])
        assert name not in full or found == full[name]
        assert ours[number].area == expected["step_area"]
        last_of_time = dict(zip(curve.time.tolist(), curve.value.tolist(), strict=True))
        last_of_time = {time: waves for time, waves in last_of_time.items() if time >= ours[number].time[0]}
        assert last_of_time == dict(zip(ours[number].time.tolist(), ours[number].value.tolist(), strict=True))


def test_global_rows(case: GoldenCase) -> None:
    golden = case.golden["global_view"]
    lives = residencies(case.trace.occupancy)
    slots, row = global_rows(lives)
    assert (len(slots), len(lives)) == (golden["n_rows"], golden["n_waves"])
    assert (lives.begin.min(), lives.end.max()) == (golden["begintime"], golden["maxtime"])
    expected = case.golden.get("global_rows", golden["first_rows"])
    for number, one in enumerate(expected):
        slot, own = slots[number], np.flatnonzero(row == number)
        assert [slot.se, slot.sa, slot.cu, slot.simd, slot.slot] == [
            one[name] for name in ("se", "sa", "cu", "simd", "slot")
        ]
        columns = (lives.begin, lives.end, lives.kernel)
        assert np.stack([column[own] for column in columns], axis=1).tolist() == one["waves"]


def test_utilization_tracks(case: GoldenCase) -> None:
    same_cu = [wave for wave in case.waves if (wave.id.se, wave.cu) == (case.main.id.se, case.main.cu)]
    tracks = utilization(same_cu, case.trace)
    found = {
        track.name: {
            "tokens": len(track),
            "cycles": int((track.end - track.start).sum()),
            "overlapped": int((track.start[1:] < np.maximum.accumulate(track.end)[:-1]).sum()),
        }
        for track in tracks
        if not track.name.startswith("MATRIX")  # the reference viewer counts no passes
    }
    assert found == case.golden["utilization"]
    assert list(found) == list(case.golden["utilization"])


def test_pie(case: GoldenCase) -> None:
    found, golden = activity(case.trace.code), case.golden
    shares = np.array(found.percent, dtype=np.float32)
    np.testing.assert_allclose(shares, [share for _, share in golden["pie"]], rtol=3e-7)
    assert found.total == golden["totals"]["latency"] + golden["totals"]["idle"]


def test_source_totals(case: GoldenCase) -> None:
    trace = case.trace
    latency, stall, idle = (
        source_costs(trace.code, column, SourceCost.INCLUSIVE)
        for column in (trace.code.latency, trace.code.stall, trace.code.idle)
    )
    for path, golden in case.golden["source_files"].items():
        file = next(i for i, source in enumerate(trace.sources) if source.path == path)
        own = latency.lines_of(file)
        columns = (latency.line, latency.rows, latency.cost, stall.cost, idle.cost)
        assert np.stack([column[own] for column in columns], axis=1).tolist() == [
            row[:5] for row in golden["lines"]
        ]
        # The total of a file is the sum of its lines there, here it has each instruction once.
        assert latency.cost[own].sum() == golden["file_total"]["latency"] >= latency.file_cost[file]
        assert idle.cost[own].sum() == golden["file_total"]["idle"] >= idle.file_cost[file]
        for kinds, row in zip(latency.by_kind[own].tolist(), golden["lines"], strict=True):
            # A branch is one kind by its mnemonic, but JUMP or NEXT by what the first one seen did.
            branch = [TokenKind.JUMP, TokenKind.NEXT]
            assert sum(kinds[k] for k in branch) == sum(row[5][k] for k in branch)


def test_labels(case: GoldenCase) -> None:
    texts = [case.trace.code.text[label.row] for label in labels(case.trace.code)]
    mangled = [text for text in texts if text.startswith(("label", "; _"))]  # what the reference calls one
    assert mangled == case.golden["labels_minimap"]
    assert len(labels(case.trace.code)) == int(case.trace.code.is_label.sum())


@pytest.mark.parametrize("key", ["latency", "stall", "latency_plus_idle"])
def test_top_code_lines(case: GoldenCase, key: str) -> None:
    code = case.trace.code
    value = {"latency": code.latency, "stall": code.stall, "latency_plus_idle": code.latency + code.idle}[key]
    order = np.argsort(-value, kind="stable")[:20]
    golden = case.golden[f"top20_by_{key}"]
    assert [int(value[row]) for row in order[: len(golden)]] == [
        row["latency"] + row["idle"] if key == "latency_plus_idle" else row[key] for row in golden
    ]


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_summary_of_the_reference(name: str) -> None:
    from tests.analysis import plain

    golden = captures.golden("summary.json")[name]
    trace, batches = plain.read(captures.trace_path(name))
    arrow_counts = {
        trace.waves.file[wave.row]: len(wait_pairs(wave.waits)[0])
        for batch in batches
        for wave in batch.waves
        if wave.waits is not None
    }
    assert arrow_counts == golden["arrows_per_wave"]
    assert (len(trace.code), len(trace.waves)) == (golden["instructions"], golden["waves"])
    bins = hotspot(batches, len(trace.code), counted_rows(trace.waves, int(trace.waves.se[0]), None))
    assert int(bins.totals.sum()) == golden["hot_bins_total"]
    assert int(np.argmax(bins.totals)) == golden["hot_max_bin"]
