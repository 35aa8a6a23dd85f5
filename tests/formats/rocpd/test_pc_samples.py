"""PC samples of databases, documents and tables: counted by hand, and hostile ones."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from rcv_py.base.problems import Problems
from rcv_py.formats.listed.open import read_samples
from rcv_py.formats.rocpd.read import read_profile
from rcv_py.model.profile import PcSamples
from rcv_py.results.profile import tables
from tests.support.rocpd import UUID
from tests.support.sampled import (
    OTHER,
    SAMPLES,
    WAITCNT,
    Sample,
    database,
    samples_document,
    table,
    write_document,
)

Writer = Callable[[Path], Path]
WRITERS: dict[str, Writer] = {
    "packed": lambda folder: database(folder / "x.db"),
    "packed, big-endian": lambda folder: database(folder / "x.db", order="big"),
    "columns": lambda folder: database(folder / "x.db", is_packed=False),
    "document": lambda folder: write_document(folder / "x_results.json"),
    "table": lambda folder: table(folder / "1_pc_sampling_stochastic.csv"),
}


def samples_of(path: Path) -> tuple[PcSamples, list[str]]:
    problems = Problems()
    return read_samples(path, problems)[0], [problem.text for problem in problems]


@pytest.mark.parametrize("form", WRITERS)
def test_samples_are_counted_by_instruction(tmp_path: Path, form: str) -> None:
    """Nine samples: six at the wait (4 + 1 stalled, one issued), three at the addition."""
    found, _ = samples_of(WRITERS[form](tmp_path))
    assert found.text == ("s_waitcnt vmcnt(0)", "v_add_f32 v0, v1, v2")
    assert found.source == ("/k/a.cpp:9 -> /k/a.cpp:30", "/k/a.cpp:7")
    assert found.kernel == ("slow()", "slow()")
    assert found.samples.tolist() == [6, 3]
    assert found.issued.tolist() == [1, 3]
    assert found.stalled.tolist() == [5, 0]
    assert found.reasons[0].tolist() == [0, 1, 0, 4, 0, 0, 0, 0, 0, 0]
    assert found.lanes.tolist() == [(5 * 16 + 64) / 6, 64]
    assert found.waves.tolist() == [8, 4]
    assert found.all == 9
    assert not found.invalid
    if form != "table":
        assert found.offset.tolist() == [72, 64]
        assert found.code_object.tolist() == [5, 5]


@pytest.mark.parametrize("form", ["columns", "document", "table"])
def test_host_traps_state_no_outcome(tmp_path: Path, form: str) -> None:
    unsure = [one._replace(issued=None) for one in SAMPLES]
    path = {
        "columns": lambda: database(tmp_path / "x.db", unsure, is_packed=False),
        "document": lambda: write_document(tmp_path / "x_results.json", SAMPLES, "host_trap"),
        "table": lambda: table(tmp_path / "1_pc_sampling_host_trap.csv", is_stochastic=False),
    }[form]()
    found, _ = samples_of(path)
    assert found.samples.tolist() == [6, 3]
    assert not found.issued.any()
    assert not found.stalled.any()
    assert found.lanes.tolist() == [24, 64]


def test_invalid_samples_are_told_and_counted_nowhere(tmp_path: Path) -> None:
    """The code object has 4,096 bytes and is the only one."""
    wrong = [
        *[Sample(code_object=0)] * 2,
        Sample(code_object=6),
        Sample(offset=4096),
        Sample(offset=-4),
        Sample(offset=66),
        Sample(issued=7),
        *[Sample(issued=0, reason=200)] * 2,
    ]
    found, told = samples_of(database(tmp_path / "x.db", [*SAMPLES, *wrong]))
    assert found.samples.sum() == 9
    assert found.all == 18
    assert found.invalid == {
        "outside of every known code object": 3,
        "in a code object that the file does not list": 1,
        "beyond the end of the code object": 1,
        "inside an instruction word": 1,
        "neither issued nor stalled": 1,
        "with an unknown stall reason": 2,
    }
    assert any("9 of 18 PC samples (50.0 %) are invalid" in text for text in told)


def test_a_younger_stall_reason_is_kept_by_number(tmp_path: Path) -> None:
    found, _ = samples_of(database(tmp_path / "x.db", [Sample(issued=0, reason=12)]))
    assert found.reasons.shape == (1, 13)
    assert found.reasons[0, 12] == 1
    (row,) = tables(read_profile(tmp_path / "x.db"))["samples"].rows()
    assert row["reason"] == "reason 12"
    assert row["reasons"] == {"other": 1}, "columns have the known reasons"


def test_two_recordings_share_numbers_and_nothing_else(tmp_path: Path) -> None:
    """Both have a launch 1, a code object 5 and an instruction at 64; kernels are counted once each."""
    database(tmp_path / "x.db")
    database(tmp_path / "x.db", [Sample(dispatch=2)] * 2, suffix=OTHER)
    profile = read_profile(tmp_path / "x.db")
    assert profile.samples is not None
    rows = tables(profile)["samples"].rows()
    names = ("recording", "offset", "samples", "kernel")
    assert [tuple(row[name] for name in names) for row in rows] == [
        (0, 72, 6, "slow()"), (0, 64, 3, "slow()"), (1, 64, 2, "quick"),
    ]  # fmt: skip
    found = tables(profile)
    assert [(one["recording"], one["kernels"]) for one in found["objects"].rows()] == [(0, 2), (1, 2)]
    sampled = {(one["recording"], one["dispatch"]): one["samples"] for one in found["dispatches"].rows()}
    assert sampled == {
        (0, 1): 8, (0, 2): 0, (0, 3): 1, (0, 4): 0, (1, 1): 0, (1, 2): 2, (1, 3): 0, (1, 4): 0,
    }  # fmt: skip


def test_a_number_of_a_launch_counts_within_its_guid(tmp_path: Path) -> None:
    """Plain tables of two recordings: the samples of the other guid are of its launch 1, another kernel."""
    path = database(tmp_path / "x.db", suffix="")
    with sqlite3.connect(path) as connection:
        row = "SELECT 90, 2, 1, 14, 0, 0, 1, 1, 1, 1, 1, 1, 2, 9000, 9100"
        connection.execute("ALTER TABLE rocpd_kernel_dispatch ADD COLUMN guid DEFAULT 'g'")
        connection.execute(f"INSERT INTO rocpd_kernel_dispatch {row}, 'h'")
        connection.execute("INSERT INTO rocpd_gpu_pc_sample VALUES (99, 'h', 5000, 1, 5, 128, -1)")
    connection.close()
    found, _ = samples_of(path)
    assert dict(zip(found.offset.tolist(), found.kernel, strict=True)) == {
        72: "slow()",
        64: "slow()",
        128: "quick",
    }


@pytest.mark.parametrize(
    "fields",
    [
        [("wave_issued", 8, 1)],
        [("wave_issued", -1, 1)],
        [("wave_issued", 1 << 62, 8)],
        [("wave_issued", 4, 3)],
        [("wave_issued", "4", "one")],
        [],
    ],
)
def test_fields_outside_of_a_blob_are_not_read(tmp_path: Path, fields: list[tuple[str, int, int]]) -> None:
    found, told = samples_of(database(tmp_path / "x.db", fields=fields))
    assert found.samples.tolist() == [6, 3]
    assert not found.issued.any()
    assert any("the database does not describe the fields" in text for text in told)


@pytest.mark.parametrize("size", [7, 9, 0, -1, 1 << 40, None])
def test_blobs_of_another_size_say_nothing(tmp_path: Path, size: int) -> None:
    """Size 8 is right; what does not fit is unknown, and the samples are still there."""
    found, told = samples_of(database(tmp_path / "x.db", size=size))
    assert found.samples.tolist() == [6, 3]
    assert not found.issued.any()
    assert any("9 blobs of PC samples have another size" in text for text in told) == (size in (7, 9))
    undescribed = "9 blobs of PC samples cannot be read: the database does not describe the fields"
    assert any(undescribed in text for text in told) == (size not in (7, 9))


@pytest.mark.parametrize("missing", ["info_blob_schema", "info_blob_field", "blob_event", "disassembly_data"])
def test_a_missing_table_costs_what_it_holds(tmp_path: Path, missing: str) -> None:
    path = database(tmp_path / "x.db")
    with sqlite3.connect(path) as connection:
        connection.execute(f'DROP TABLE "rocpd_{missing}{UUID}"')
    connection.close()
    found, _ = samples_of(path)
    assert found.samples.tolist() == [6, 3]
    assert found.issued.sum() == (4 if missing == "disassembly_data" else 0)
    assert any(found.text) == (missing != "disassembly_data")


def test_lines_of_events_are_those_of_instructions_without_one(tmp_path: Path) -> None:
    """Schema 4.1: event 1000 is of offset 64, 1003 of 72; ids may name nothing, and files may be anything."""
    path = database(tmp_path / "x.db", texts={64: ("v_nop", "/known.cpp:1")})
    with sqlite3.connect(path) as connection:
        for name, columns, rows in (
            ("info_source_code", "id, file, line_number", [(1, "/inner.h", 7), (2, b"odd", 3)]),
            ("info_pc", "id, file, line", [(1, "/k.cpp", 9), (2, "/k.cpp", "x")]),
            (
                "line_info",
                "id, guid, event_id, source_code_id, pc_id",
                [(1, "g", 1003, 1, None), (2, "g", 1003, None, 1), (3, "g", 1003, 2, 2), (4, "g", 1000, 1, 1),
                 (5, "h", 1004, 1, 1), (6, "g", 1005, 99, None),
                 *((row, "g", 1008, 1, 1) for row in range(7, 999))],
            ),
        ):  # fmt: skip
            connection.execute(f'CREATE TABLE "rocpd_{name}{UUID}" ({columns})')
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f'INSERT INTO "rocpd_{name}{UUID}" VALUES ({marks})', rows)
    connection.close()
    found, told = samples_of(path)
    assert dict(zip(found.offset.tolist(), zip(found.text, found.source, strict=True), strict=True)) == {
        64: ("v_nop", "/known.cpp:1"),
        72: ("", "/inner.h:7 -> /k.cpp:9"),
    }
    assert told == []


def test_odd_values_in_columns_are_invalid_or_unknown(tmp_path: Path) -> None:
    odd = ["text", b"\xff" * 9, 1.5, None, (1 << 63) - 1, -(1 << 63)]
    samples = [
        *(Sample(offset=one) for one in odd),
        *(Sample(lanes=one, waves=one, dispatch=one) for one in odd),
        *(Sample(issued=0, reason=one, code_object=5) for one in odd),
    ]
    found, _ = samples_of(database(tmp_path / "x.db", samples, is_packed=False))
    assert found.all == len(samples)
    assert found.invalid["outside of every known code object"] == len(odd)
    assert found.samples.sum() == 2 * len(odd)


def test_odd_values_of_a_document_are_invalid_or_unknown(tmp_path: Path) -> None:
    odd = ["text", [1], {"handle": 3}, 1.5, None, True, 1 << 80, -(1 << 80)]
    samples = [Sample(lanes=one, waves=one, dispatch=one) for one in odd]
    samples += [Sample(offset=4 * at, code_object=one) for at, one in enumerate(odd)]
    path = tmp_path / "x_results.json"
    found = samples_document(samples)
    for one in found["rocprofiler-sdk-tool"][0]["buffer_records"]["pc_sample_stochastic"][:4]:
        one["record"]["snapshot"] = {"stall_reason": [3]}
    text = json.dumps(found).replace(str(1 << 80), "1" * 18)  # larger ones are not JSON of ours
    path.write_text(text.replace(str(-(1 << 80)), "-1"))
    profile = read_profile(path)
    assert profile.samples.all == 2 * len(odd)
    assert profile.samples.invalid["outside of every known code object"] == 7
    assert profile.samples.invalid["in a code object that the file does not list"] == 1


def test_lines_and_stalls_add_up_to_the_samples(tmp_path: Path) -> None:
    found = tables(read_profile(database(tmp_path / "x.db")))
    assert [(one["source"], one["samples"], one["stalled"]) for one in found["lines"].rows()] == [
        ("/k/a.cpp:9", 6, 5),
        ("/k/a.cpp:7", 3, 0),
    ]
    assert [(one["reason"], one["samples"], one["share_of_stalled"]) for one in found["stalls"].rows()] == [
        ("wait count", 4, 0.8),
        ("instruction fetch", 1, 0.2),
    ]
    assert found["stalls"].rows()[0]["meaning"]
    assert WAITCNT == 3
