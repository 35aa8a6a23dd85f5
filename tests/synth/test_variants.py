"""Each variant has what it is about, with the right shape and numbers that follow from the waves."""

import json
from collections import Counter

import numpy as np
import pytest

from rcv_py.synth.capture import SimulatedCause
from rcv_py.synth.samplers import COUNTERS, SAMPLE_INTERVAL
from tests.synth.conftest import Written


def test_counter_samples_are_forty_cycles_apart_in_both_banks(written: Written) -> None:
    folder, _ = written("counters")
    assert folder.index["counter_names"] == list(COUNTERS)
    for se in (0, 1):
        data = np.array(folder.json(f"se{se}_perfcounter.json")["data"])
        assert data.shape[1] == 7
        assert (data >= 0).all()
        assert (data[:, 1:5] < 65_536).all()
        for bank in (0, 1):
            time = data[data[:, 6] == bank, 0]
            assert Counter(np.diff(time).tolist()).most_common(1)[0][0] == SAMPLE_INTERVAL


def test_level_counters_tell_what_is_outstanding(written: Written) -> None:
    folder, truth = written("counters")
    data = np.array(folder.json("se0_perfcounter.json")["data"])
    flights = [
        (time + stall, int(back))
        for key, wave in folder.waves.items()
        if key[0] == 0
        for (time, kind, stall, _, _), back in zip(
            wave["wave"]["instructions"], truth.waves[key].returned, strict=True
        )
        if kind == 4
    ]
    for time, level in data[data[:, 6] == 0][::50, [0, 2]].tolist():
        assert level == sum(sent <= time < back for sent, back in flights)


def test_active_counters_add_up_to_the_issue_cycles(written: Written) -> None:
    folder, _ = written("counters")
    for column, kind in ((2, 6), (3, 5), (4, 4)):
        data = np.array(folder.json("se0_perfcounter.json")["data"])
        issued = sum(
            duration - stall
            for key, wave in folder.waves.items()
            if key[0] == 0
            for _, category, stall, duration, _ in wave["wave"]["instructions"]
            if category == kind
        )
        assert data[data[:, 6] == 1, column].sum() == issued // 4


def test_matrix_counter_adds_up_to_the_passes(written: Written) -> None:
    folder, _ = written("counters")
    data = np.array(folder.json("se0_perfcounter.json")["data"])
    products = sum(
        text.startswith("v_mfma")
        for key, wave in folder.waves.items()
        if key[0] == 0
        for text in folder.texts(wave)
    )
    assert products
    assert data[data[:, 6] == 1, 1].sum() == 32 * products


def test_markers_nest_and_close(written: Written) -> None:
    folder, _ = written("markers")
    names = {row[1]: row[2] for row in folder.json("code.json")["sqtt_funcmap"]}
    table = folder.json("shaderdata_0_0.json")
    assert table["records_count"] == len(table["records"])
    assert [row[0] for row in table["records"]] == sorted(row[0] for row in table["records"])
    depth: Counter[tuple[int, ...]] = Counter()
    used = set()
    for _, value, cu, simd, slot, flags in table["records"]:
        marker, enters, leaves = value >> 2, value >> 1 & 1, value & 1
        depth[cu, simd, slot] += enters - leaves
        assert depth[cu, simd, slot] >= 0
        assert flags == 0
        used |= {names[marker]} if marker else set()
    assert set(depth.values()) == {0}
    assert used == {"K", "F", "U", "P"}


def test_only_one_simd_of_later_generations_is_traced(written: Written) -> None:
    folder, _ = written("other_simd")
    assert {key[1] for key in folder.waves} == {0}
    ((name, begin, end),) = folder.index["other_simd_filenames"]["0"]
    table = folder.json(name)
    rows = np.array(table["instructions"])
    assert table["instructions_schema"] == ["time", "duration", "category"]
    assert table["instructions_count"] == len(rows) > 0
    assert begin == rows[0, 0]
    assert rows[-1, 0] < end
    assert set(rows[:, 2]) == {3, 5}


def test_version_3_1_tells_workgroups_events_and_dispatches(written: Written) -> None:
    folder, _ = written("events")
    table = folder.json("occupancy.json")
    assert table["version"] == folder.index["version"] == "3.1.0"
    assert len(table["occupancy_fields"]) == len(table["0"][0]) == 11
    records = table["events"]["0"]
    assert [record["time"] for record in records] == sorted(record["time"] for record in records)
    names = [record["kernel_name"] for record in records if record["kind"] == "dispatch"]
    assert names == [kernel["name"] for kernel in folder.json("code.json")["kernels"]]
    assert max(record.get("payload", 0) for record in records) >= 1 << 63
    groups: dict[int, set[int]] = {}
    for wave in folder.waves.values():
        groups.setdefault(wave["wave"]["workgroup_id"], set()).add(wave["wave"]["simd"])
        assert wave["wave"]["waitcnt"] == []
    assert all(simds == {0, 1, 2, 3} for simds in groups.values())
    assert (folder.path / "code.json").read_text().startswith("{\n  ")
    assert not list(folder.path.glob("wstates*"))


def test_packed_occupancy_holds_the_same_waves(written: Written) -> None:
    folder, truth = written("packed")
    assert "version" not in folder.index
    found = Counter()
    for se, rows in folder.events.items():
        for row in rows:
            kernel, simd, slot = row & 0xFFF, row >> 12 & 3, row >> 14 & 0xF
            start, cu, time = row >> 18 & 1, row >> 19 & 0xF, (row >> 23) * 8
            found[se, cu, simd, slot, time, start, kernel] += 1
    expected = Counter()
    for se, cu, simd, slot, begin, end, kernel, _ in truth.residencies.tolist():
        expected[se, cu, simd, slot, begin // 8 * 8, 1, kernel + 1] += 1
        expected[se, cu, simd, slot, end // 8 * 8, 0, kernel + 1] += 1
    assert found == expected


def test_placeholder_has_occupancy_and_nothing_else(written: Written) -> None:
    folder, _ = written("placeholder")
    assert folder.index["wave_filenames"] is None
    assert folder.json("code.json")["code"] is None
    assert folder.pairs(0)
    assert sorted(path.name for path in folder.path.iterdir()) == [
        "code.json",
        "filenames.json",
        "occupancy.json",
        "realtime.json",
    ]


@pytest.mark.parametrize(
    ("name", "columns", "first"), [("pc_sampling", 13, 10), ("pc_sampling_string", 14, 11)]
)
def test_pc_samples_have_reasons_that_add_up(written: Written, name: str, columns: int, first: int) -> None:
    folder, _ = written(name)
    header = folder.json("code.json")["header"]
    names = header if isinstance(header, list) else header.split(", ")
    assert len(names) == columns
    assert folder.index["pc_sampling"]
    assert not folder.index["thread_trace"]
    assert folder.index["wave_filenames"] is None
    for row in folder.code:
        assert len(row) == columns
        assert row[6:10] == [0, 0, 0, 0]
        assert row[first + 1] == sum(row[first + 2])
        assert len(row[first + 2]) == 10
    assert sum(row[first] for row in folder.code) > 100
    reasons = np.array([row[first + 2] for row in folder.code])
    waiting = [row[0].split()[0] for row, why in zip(folder.code, reasons, strict=True) if why[3]]
    assert set(waiting) == {"s_waitcnt"}
    assert reasons[:, 5].sum() > 0


def test_monitors_count_the_waves(written: Written) -> None:
    folder, _ = written("spm")
    table = folder.json("spm.json")["SQ_WAVES"]
    assert table["dimensions"] == ["SE", "INSTANCE"]
    for se, instances in table["values"].items():
        begins = [wave["wave"]["begin"] for key, wave in folder.waves.items() if key[0] == int(se)]
        assert sum(value for _, value in instances["0"]) == len(begins)
        times = np.cumsum([step for step, _ in instances["0"]])
        assert times[0] >= min(begins)
        assert times[-1] - 1024 <= max(begins)


def test_clock_samples_put_the_engines_on_one_clock(written: Written) -> None:
    folder, truth = written("matmul_tiled")
    table = folder.json("realtime.json")
    assert table["metadata"]["frequency"] == 100_000_000
    for se, offset in truth.offset_of_se.items():
        assert [cycle + offset for cycle, _ in table[f"SE{se}"]] == [cycle for cycle, _ in table["SE0"]]
        assert [tick for _, tick in table[f"SE{se}"]] == [tick for _, tick in table["SE0"]]


def test_the_product_waits_most_for_its_tiles(written: Written) -> None:
    folder, truth = written("matmul_tiled")
    by_stall = sorted(folder.code, key=lambda row: row[8], reverse=True)
    assert by_stall[0][0] == "s_waitcnt vmcnt(3)"
    assert by_stall[0][8] > 1.3 * by_stall[1][8]
    assert {row[0] for row in folder.code if row[0].startswith(";")} == {
        "; _Z10scale_rowsPK6__halfPKfPS_i",
        "; _Z12matmul_tiledPK6__halfS1_PS_iiif",
    }
    assert len({row[1] for rows in folder.events.values() for row in rows}) == 8
    assert 40_000 < truth.lines[:, 0].sum() < 120_000
    assert {SimulatedCause.COUNTER, SimulatedCause.BARRIER, SimulatedCause.PIPE, SimulatedCause.ARBITER} <= {
        SimulatedCause(int(cause)) for wave in truth.waves.values() for cause in np.unique(wave.cause)
    }


def test_chains_of_inlined_helpers_are_innermost_first(written: Written) -> None:
    folder, _ = written("matmul_tiled")
    chains = {row[3] for row in folder.code if row[0].startswith("v_mfma")}
    assert all("tile_io.h:" in chain.split(" -> ", 1)[0] for chain in chains)
    assert all("matmul.hip:" in chain.rsplit(" -> ", 1)[1] for chain in chains)
    assert json.dumps(folder.json("snapshots.json")).count("source_") == 2
