"""Several raw captures in one folder are told apart, and commands say how to choose one."""

from pathlib import Path

import orjson
import pytest

from rcv_py.formats.raw import open as opening
from tests.support.command_runs import run
from tests.support.fixtures import fixture_of
from tests.support.raw_samples import raw_sample

# A folder of two dispatches on one GPU; tests/real gives a real one to the same tests
folder = fixture_of(lambda: raw_sample("gfx11").folder)


def captures(folder: Path) -> list[dict]:
    return orjson.loads(run("info", str(folder), "--json").out)["captures"]


def test_a_table_tells_them_apart(folder: Path) -> None:
    first, second = captures(folder)
    assert [(one["agent"], one["dispatch"]) for one in (first, second)] == [(0, 1), (0, 2)]
    size = sum(path.stat().st_size for path in folder.glob("*_1.att"))
    assert (first["size"], first["is_part"], first["waves"] > 0) == (size, False, True)
    assert first["cycles"] > 0
    assert len(first["recorded"]) == len("2026-11-23 13:05:10")


def test_the_undecoded_has_no_numbers(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = [one["kernel"] for one in captures(folder)]
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(opening, "is_quick", lambda *_: False)
    found = captures(tmp_path)
    assert [one["kernel"] for one in found] == kernels
    numbers = ("instructions", "executed", "hits", "latency", "cycles")
    assert [[one[name] for name in numbers] for one in found] == [[None] * len(numbers)] * 2
    assert all(one["is_part"] and one["size"] > 0 and not one["note"] for one in found)


@pytest.mark.parametrize("command", ["summary", "waits"])
def test_commands_about_one_list_them(command: str, folder: Path) -> None:
    said = run(command, str(folder))
    assert said.code == 2
    assert "holds 2 captures, and one is needed" in said.err
    for dispatch in (1, 2):
        assert f"1_0_shader_engine_0_{dispatch}.att (Process 1 · Agent 0 · Dispatch {dispatch}" in said.err
