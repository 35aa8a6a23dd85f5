"""What rocprofv3 writes of a run, as a database of any schema or as JSON: the same facts of the same run."""

import json
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

from rcv_py.base.errors import Cancelled, TraceError
from rcv_py.base.progress import CancelFlag, stoppable
from rcv_py.formats.locate import locate
from rcv_py.formats.open import open_trace
from rcv_py.formats.pmc_files import pmc_table
from rcv_py.formats.rocpd import guarded
from rcv_py.formats.rocpd.read import is_profile, raw_parts, read_part, read_profile, trace_inside
from rcv_py.model.profile import Profile
from rcv_py.results.profile import tables
from tests.support.raw_samples import raw_sample
from tests.support.rocpd import ATT, CODE, UUID, add, document, write

FORMS = ("schema 3", "schema 4", "no suffix", "document")


@pytest.fixture(params=FORMS)
def profile(request: pytest.FixtureRequest, tmp_path: Path) -> Profile:
    """The same run in each form."""
    if request.param == "document":
        (tmp_path / "out_results.json").write_text(json.dumps(document()))
        return read_profile(tmp_path / "out_results.json")
    schema = 4 if request.param == "schema 4" else 3
    suffix = "" if request.param == "no suffix" else UUID
    return read_profile(write(tmp_path / "out_results.db", schema=schema, suffix=suffix))


def test_kernels_have_their_launches_times_and_registers(profile: Profile) -> None:
    rows = tables(profile)["kernels"].rows()
    assert [(row["kernel"], row["symbol"]) for row in rows] == [("slow()", "_Z4slowv"), ("quick", "quick")]
    slow = rows[0]
    assert (slow["launches"], slow["total_ns"], slow["mean_ns"], slow["max_ns"]) == (3, 900, 300, 400)
    assert (slow["vgprs"], slow["lds"]) == (128, 2048)
    assert profile.launches.workgroup.tolist() == [[64, 1, 1]] * 4
    assert profile.launches.grid[0].tolist() == [1024, 1, 1]
    assert profile.launches.lds.tolist() == [4096] * 4
    assert profile.command == "./app --fast"
    assert not profile.problems


def test_devices_are_the_gpus_with_what_they_have(profile: Profile) -> None:
    (row,) = tables(profile)["agents"].rows()
    assert row == {
        "name": "gfx950",
        "product": "MI350X",
        "launches": 4,
        "cus": 256,
        "engines": 32,
        "dies": 8,
        "waves_per_simd": 8,
        "lds": 160 * 1024,
    }


def test_single_launches_are_listed_the_longest_first(profile: Profile) -> None:
    rows = tables(profile)["dispatches"].rows()
    assert [(row["kernel"], row["dispatch"], row["begin_ns"], row["duration_ns"]) for row in rows] == [
        ("slow()", 1, 0, 400),
        ("slow()", 4, 3000, 300),
        ("slow()", 3, 2000, 200),
        ("quick", 2, 1000, 100),
    ]
    assert rows[0]["gpu"] == "gfx950"
    assert rows[0]["workgroup"] == 64
    assert rows[0]["grid"] == 1024
    assert rows[0]["lds"] == 4096


def test_parts_of_a_counter_add_up_and_those_of_no_launch_are_left_out(profile: Profile) -> None:
    assert tables(profile)["counters"].rows() == [
        {"counter": "SQ_WAVES", "launches": 1, "total": 20.0, "mean": 20.0},
        {"counter": "TCC_HIT_sum", "launches": 1, "total": 1e6, "mean": 1e6},
    ]


def test_code_objects_and_raw_files_are_named(profile: Profile) -> None:
    assert tables(profile)["objects"].rows() == [
        {
            "code_object": 5,
            "address": 1 << 40,
            "size": 4096,
            "kernels": 2,
            "uri": "memory://1",
            "recording": 0,
        }
    ]
    (code,) = profile.code
    assert (code.id, code.address, code.size) == (5, 1 << 40, 4096)
    assert profile.files == (ATT, CODE)
    assert trace_inside(profile).startswith("None is inside; it names 2 files")


def test_pc_samples_and_streamed_counters_of_a_document(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps(document()))
    profile = read_profile(tmp_path / "results.json")
    names = ("text", "code_object", "offset", "samples", "issued")
    assert [tuple(row[name] for name in names) for row in tables(profile)["samples"].rows()] == [
        ("v_add_f32 v0, v1, v2", 5, 64, 2, 1),
        ("s_endpgm", 5, 72, 1, 0),
    ]
    rows = {
        launch: [
            (one.counter, one.is_xcc, one.se, one.instance, one.time.tolist(), one.value.tolist())
            for one in series
        ]
        for launch, series in profile.spm.items()
    }
    assert rows == {
        1: [
            ("SQ_WAVES", False, 4 * 2 + 3, 0, [10, 30], [4.0, 2.0]),
            ("SQ_WAVES", False, 0, 5, [12], [2.0]),
            ("TCC_REQ", True, 6, 9, [40], [2.0]),
        ],
        3: [("SQ_WAVES", False, 4, 0, [90], [2.0])],
    }


def test_processes_that_share_a_file_keep_their_rows_apart(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "two.db") as database:
        add(database, suffix="_00000001_aaaa")
        add(database, suffix="_00000002_bbbb", schema=4)
    database.close()
    profile = read_profile(tmp_path / "two.db")
    assert len(profile.launches) == 8
    assert sorted(set(profile.launches.kernel.tolist())) == [0, 1, 2, 3]
    assert [row["launches"] for row in tables(profile)["kernels"].rows()] == [3, 3, 1, 1]


@pytest.mark.parametrize(
    "name", ["info_agent", "kernel_dispatch", "info_kernel_symbol", "pmc_event", "string"]
)
def test_a_table_that_is_missing_costs_only_what_it_holds(name: str, tmp_path: Path) -> None:
    profile = read_profile(write(tmp_path / "x.db", without=[name]))
    assert len(profile.launches) == (0 if name == "kernel_dispatch" else 4)
    assert all(isinstance(table.rows(), list) for table in tables(profile).values())


def test_what_is_squeezed_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    profile = read_profile(write(tmp_path / "x.db", is_squeezed=True))
    (problem,) = profile.problems
    assert "compressed details (LZ4)" in problem.text
    assert len(profile.launches) == 4
    assert tables(profile)["agents"].rows()[0]["cus"] is None


# -- others, and what is hostile ----------------------------------------------------------------------------


def complaint(path: Path) -> str:
    """What is said of a file that cannot be read, a sentence."""
    with pytest.raises(TraceError) as caught:
        read_profile(path)
    assert str(caught.value).endswith(".")
    return str(caught.value)


@pytest.mark.parametrize(
    ("tables_of", "words"),
    [
        (("HSA", "HIP", "OPS", "KERN", "COPY"), "a database of the first rocprof"),
        (("rocpd_api", "rocpd_op"), "a database of rocmProfileData"),
        (("users",), "a database of another program"),
        ((), "a database of another program"),
    ],
)
def test_other_programs_databases_are_refused(tables_of: tuple[str, ...], words: str, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "x.db") as database:
        database.execute("CREATE TABLE t (id)")
        for name in tables_of:
            database.execute(f"CREATE TABLE {name} (id)")
        database.execute("DROP TABLE t")
    database.close()
    assert words in complaint(tmp_path / "x.db")


@pytest.mark.parametrize(
    "data", [b"", b"SQLite format 3", b"\0" * 5000, b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_what_is_no_database_is_a_sentence(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(data)
    complaint(tmp_path / "x.db")


@pytest.mark.parametrize(
    "data", ["", "[]", "{}", '{"rocprofiler-sdk-tool": 1}', '{"rocprofiler-sdk-tool": [1]}', "{"]
)
def test_what_is_no_document_is_a_sentence(data: str, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(data)
    complaint(tmp_path / "results.json")


def test_records_of_any_kind_are_passed_over(tmp_path: Path) -> None:
    for odd in (None, 3, "x", [1], [[]], {"a": 1}, [{"id": None, "record": 3, "dispatch_info": []}]):
        run = {name: odd for name in document()["rocprofiler-sdk-tool"][0]}
        for inner in ("buffer_records", "callback_records", "strings"):
            parts = document()["rocprofiler-sdk-tool"][0][inner]
            for changed in (run, run | {inner: dict.fromkeys(parts, odd)}):
                (tmp_path / "results.json").write_text(json.dumps({"rocprofiler-sdk-tool": [changed]}))
                assert len(read_profile(tmp_path / "results.json").kernels) == 0


def test_nothing_that_a_database_brings_along_is_run(tmp_path: Path) -> None:
    path = write(tmp_path / "x.db")
    with sqlite3.connect(path) as database:
        name = f"rocpd_metadata{UUID}"
        database.execute(f'DROP TABLE "{name}"')
        bomb = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        bomb += " SELECT 1 AS id, i AS tag, i AS value FROM n"
        database.execute(f'CREATE VIEW "{name}" AS {bomb}')
        database.execute("CREATE VIRTUAL TABLE rocpd_info_node USING fts5(x)")
    database.close()
    profile = read_profile(path)
    assert (profile.version, len(profile.launches)) == ("", 4)
    assert not [child for child in tmp_path.iterdir() if child != path]


def test_other_statements_are_denied(tmp_path: Path) -> None:
    with guarded.guarded(write(tmp_path / "x.db")) as database:
        for text in (
            "ATTACH 'y.db' AS y",
            "DELETE FROM rocpd_string",
            "SELECT load_extension('x')",
            "PRAGMA user_version",
        ):
            with pytest.raises(TraceError):
                list(database._fetched(text))
    assert [child.name for child in tmp_path.iterdir()] == ["x.db"]


def test_huge_values_cost_their_table_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded, "VALUE_BYTES", 100_000)
    path = write(tmp_path / "x.db")
    with sqlite3.connect(path) as database:
        database.execute(f'UPDATE "rocpd_info_agent{UUID}" SET "name" = ?', ("x" * 200_000,))
    database.close()
    profile = read_profile(path)
    assert len(profile.launches) == 4
    assert not profile.agents
    assert "cannot be read" in profile.problems[0].text


def test_a_read_that_takes_too_long_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded, "STEPS", 10)
    monkeypatch.setattr(guarded, "MAX_STEPS", 200)
    assert "takes too long" in complaint(write(tmp_path / "x.db"))


def test_a_read_can_be_cancelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded, "STEPS", 10)
    flag = CancelFlag()
    flag.set()
    path = write(tmp_path / "x.db")
    with pytest.raises(Cancelled), stoppable(flag):
        read_profile(path)


def test_damage_anywhere_is_a_sentence_or_a_problem(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.db").read_bytes()
    path = tmp_path / "x.db"
    for at in range(16, len(whole), 509):
        path.write_bytes(whole[:at] + bytes(64) + whole[at + 64 :])
        with suppress(TraceError):
            tables(read_profile(path))
            raw_parts(path)


# -- raw traces inside ------------------------------------------------------------------------------------

TRACE = (5 << 13 | 0x11).to_bytes(2, "little") + bytes(30)
ELF = b"\x7fELF" + bytes(14) + (224).to_bytes(2, "little") + bytes(40)


def test_blobs_that_begin_as_traces_and_code_do_are_found(tmp_path: Path) -> None:
    path = write(tmp_path / "x.db")
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE traces (id, dispatch_id, se_id, data)")
        database.executemany(
            "INSERT INTO traces VALUES (?, ?, ?, ?)",
            [(1, 44, 3, TRACE), (2, 44, 5, b"\x11\x02" + bytes(9)), (3, 1, 1, b"x" * 30)],
        )
        database.execute("CREATE TABLE programs (code_object_id, image)")
        database.executemany("INSERT INTO programs VALUES (?, ?)", [(9, ELF), (8, b"\x7fELF" + bytes(60))])
    database.close()
    found = raw_parts(path)
    assert [(part.is_code, part.se, part.dispatch, part.id) for part in found] == [
        (False, 3, 44, 1),
        (False, 5, 44, 2),
        (True, -1, -1, 9),
    ]
    assert [read_part(path, part) for part in found] == [TRACE, b"\x11\x02" + bytes(9), ELF]
    assert "2 raw traces" in trace_inside(read_profile(path))


def test_files_that_are_named_are_found_beside_it_and_nowhere_else(tmp_path: Path) -> None:
    for name in ("out.db", "results.json"):
        path = tmp_path / name
        if name == "out.db":
            write(path)
        else:
            path.write_text(json.dumps(document()))
        assert raw_parts(path) == ()
    (tmp_path / ATT).write_bytes(TRACE)
    (tmp_path / CODE).write_bytes(ELF)
    for name in ("out.db", "results.json"):
        trace, code = raw_parts(tmp_path / name)
        assert (trace.is_code, trace.se, trace.dispatch, trace.path) == (False, 2, 4, tmp_path / ATT)
        assert (code.is_code, code.id, read_part(tmp_path / name, code)) == (True, 5, ELF)
    outside = document()
    outside["rocprofiler-sdk-tool"][0]["strings"]["att_filenames"] = [
        f"../{tmp_path.name}/{ATT}",
        str(tmp_path / ATT),
    ]
    (tmp_path / "results.json").write_text(json.dumps(outside))
    assert [part.is_code for part in raw_parts(tmp_path / "results.json")] == [True]


def test_a_profile_is_no_capture_and_says_where_to_look(tmp_path: Path) -> None:
    found = document()
    found["rocprofiler-sdk-tool"][0]["buffer_records"]["pc_sample_stochastic"] = []
    (tmp_path / "x_results.json").write_text(json.dumps(found))
    for path in (write(tmp_path / "x.db"), tmp_path / "x_results.json"):
        assert is_profile(path)
        assert "`rcv info` shows its kernels" in str(locate(path).error)


def test_counters_of_a_profile_are_a_table_of_counters(profile: Profile) -> None:
    found = pmc_table([profile.path])
    assert found.counters == ("SQ_WAVES", "TCC_HIT_sum")
    assert [(one.kernel, one.number) for one in found.dispatches] == [("slow()", "1"), ("slow()", "3")]
    assert found.nanoseconds.tolist() == [400, 200]
    assert found.value.tolist() == [16, 4, 1e6]
    assert found.of[found.execution].tolist() == [0, 0, 1]


def test_a_profile_without_counters_is_refused_as_a_table_of_them(tmp_path: Path) -> None:
    path = write(tmp_path / "x.db", without=["pmc_event"])
    with pytest.raises(TraceError, match=r"x\.db holds no counters\."):
        pmc_table([path])


def test_raw_traces_of_a_profile_are_opened(tmp_path: Path) -> None:
    """Files beside it, and the same as blobs inside of another."""
    source = raw_sample("gfx12").folder
    beside, inside = tmp_path / "beside", tmp_path / "inside"
    streams = sorted(source.glob("*.att"))
    codes = sorted(source.glob("*.out"))
    beside.mkdir()
    for file in (*streams, *codes):
        (beside / file.name).write_bytes(file.read_bytes())
    names = [(number, "g", file.name) for number, file in enumerate((*streams, *codes))]
    write(beside / "x.db", without=["string"])
    write(inside / "x.db", without=["string"])
    with sqlite3.connect(beside / "x.db") as database:
        database.execute("CREATE TABLE files (id, guid, name)")
        database.executemany("INSERT INTO files VALUES (?, ?, ?)", names)
    database.close()
    with sqlite3.connect(inside / "x.db") as database:
        database.execute("CREATE TABLE traces (se, dispatch_id, data)")
        rows = [(number, 1, file.read_bytes()) for number, file in enumerate(streams)]
        database.executemany("INSERT INTO traces VALUES (?, ?, ?)", rows)
        database.execute("CREATE TABLE code (code_object_id, data)")
        database.executemany("INSERT INTO code VALUES (?, ?)", [(1, codes[0].read_bytes())])
    database.close()
    one, other = open_trace(beside / "x.db"), open_trace(inside / "x.db")
    assert len(one.waves)
    assert one.waves.begin.tolist() == other.waves.begin.tolist()
    assert one.target == other.target == "gfx1200"  # which the code object tells
    assert one.target_from == other.target_from
