"""`rcv info` of a database or document of rocprofv3."""

import json
import sqlite3
from pathlib import Path

import pytest

from tests.cli.test_schemas import checked
from tests.support.command_runs import printed, refused, run
from tests.support.raw_samples import raw_sample
from tests.support.rocpd import UUID, document, write
from tests.support.samples import sample


@pytest.mark.parametrize("name", ["out_results.db", "out_results.json"])
def test_info_tells_kernels_devices_and_counters(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name.endswith(".db"):
        write(path)
    else:
        path.write_text(json.dumps(document()))
    found = checked(run("info", str(path), "--json"))
    assert (found["schema"], found["command"], found["launches"]) == ("rcv.profile/1", "./app --fast", 4)
    assert [row["kernel"] for row in found["kernels"]] == ["slow()", "quick"]
    assert found["trace"].startswith("None is inside")
    text = run("info", str(path)).out
    for words in ("4 launches", "slow", "MI350X", "TCC_HIT_sum", "None is inside"):
        assert words in text
    assert run("info", str(path), "--csv").out.startswith("kernel,symbol,launches,total_ns")


def test_other_commands_say_where_to_look(tmp_path: Path) -> None:
    assert "`rcv info` shows its kernels, launches and counters" in refused(
        "triage", write(tmp_path / "x.db")
    )


def test_a_folder_with_a_database_alone_names_it(tmp_path: Path) -> None:
    write(tmp_path / "host" / "77_results.db")
    said = refused("info", tmp_path)
    assert f"{Path('host') / '77_results.db'} in it can be opened by itself." in said


def test_a_database_of_another_program_is_refused_by_every_command(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "old.db") as database:
        database.execute("CREATE TABLE KERN (id)")
    database.close()
    for command in ("info", "triage"):
        assert "of the first rocprof, which has no instructions; record with rocprofv3" in refused(
            command, tmp_path / "old.db"
        )


def test_raw_traces_inside_of_any_database_are_a_capture_of_its_name(tmp_path: Path) -> None:
    trace = raw_sample("gfx9").folder / "1_0_shader_engine_0_1.att"
    with sqlite3.connect(tmp_path / "mine.rocpd") as database:
        database.execute("CREATE TABLE traces (se, dispatch, data)")
        database.execute("INSERT INTO traces VALUES (0, 1, ?)", (trace.read_bytes(),))
    database.close()
    lines = printed("info", tmp_path / "mine.rocpd").splitlines()
    assert lines[0] == "mine"
    waves = sum(se == 0 for se, *_ in sample("matmul_small")[1].waves)
    assert any(f"{waves} traced (SE0: {waves})" in line for line in lines)


def test_a_document_of_many_kernels_is_short_for_people(tmp_path: Path) -> None:
    many = document()
    (run_of,) = many["rocprofiler-sdk-tool"]
    last = run_of["kernel_symbols"][-1]
    more = [last | {"kernel_id": 10 + at, "kernel_name": f"k{at}.kd"} for at in range(2_000)]
    run_of["kernel_symbols"] += more
    (tmp_path / "out_results.json").write_text(json.dumps(many))
    text = run("info", str(tmp_path / "out_results.json")).out
    assert "2,002 kernels" in text
    assert len(text) < 4_000


def test_passes_of_a_replay_are_named(tmp_path: Path) -> None:
    path = write(tmp_path / "out_results.db")
    with sqlite3.connect(path) as database:
        database.execute(f'UPDATE "rocpd_kernel_dispatch{UUID}" SET dispatch_id = 3 WHERE dispatch_id = 4')
    database.close()
    assert "3 launches in 4 passes of replays" in printed("info", path)
