"""Processors and memory that a process may use: in a container, outside of one, and where nobody says."""

import os
from pathlib import Path

import pytest

from rcv_py.work import machine
from rcv_py.work.machine import cores, half_of_memory, memory, on_battery

CORES = 16
FREE = 8_000_000  # kB


@pytest.fixture
def group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The control group of this process, below another one, on a machine with 16 processors."""
    own = tmp_path / "cgroup" / "outer" / "inner"
    own.mkdir(parents=True)
    (tmp_path / "own").write_text("1:name=systemd:/x\n0::/outer/inner\n")
    (tmp_path / "meminfo").write_text(f"MemTotal: 99999999 kB\nMemAvailable: {FREE} kB\n")
    monkeypatch.setattr(machine, "CGROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(machine, "OWN", tmp_path / "own")
    monkeypatch.setattr(machine, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(CORES)), raising=False)
    return own


def test_without_limits_all_processors_and_what_is_free(group: Path) -> None:
    (group / "cpu.max").write_text("max 100000\n")
    (group / "memory.max").write_text("max\n")
    assert (cores(), memory()) == (CORES, FREE << 10)


@pytest.mark.parametrize(
    ("quota", "expected"), [("400000 100000", 4), ("50000 100000", 1), ("9999999 1", 16)]
)
def test_a_quota_counts_in_whole_processors(group: Path, quota: str, expected: int) -> None:
    (group / "cpu.max").write_text(quota)
    assert cores() == expected


def test_the_limits_of_groups_around_hold_too(group: Path) -> None:
    (group / "cpu.max").write_text("max 100000")
    (group.parent / "cpu.max").write_text("300000 100000")
    (group.parent / "memory.max").write_text("123456\n")
    assert (cores(), memory()) == (3, 123456)


def test_where_nobody_says(group: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OWN", "MEMINFO"):
        monkeypatch.setattr(machine, name, group / "nothing")
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert (cores(), memory()) == (1, None)


def test_half_of_the_memory_is_that_of_the_machine_or_the_container(group: Path) -> None:
    assert half_of_memory() == (99999999 << 10) // 2
    (group / "memory.max").write_text("1000\n")
    assert half_of_memory() == 500


def test_where_nobody_says_half_of_the_memory_is_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CGROUPS", "OWN", "MEMINFO"):
        monkeypatch.setattr(machine, name, tmp_path / "none")
    assert half_of_memory() is None


@pytest.mark.parametrize(
    ("supplies", "expected"),
    [
        ({}, False),
        ({"AC": {"type": "Mains", "online": "1"}, "BAT0": {"type": "Battery", "status": "Charging"}}, False),
        (
            {"AC": {"type": "Mains", "online": "0"}, "BAT0": {"type": "Battery", "status": "Discharging"}},
            True,
        ),
        ({"mouse": {"type": "Battery", "status": "Discharging", "scope": "Device"}}, False),
        ({"BAT0": {"type": "Battery"}}, False),
    ],
)
def test_a_battery_that_is_discharged_is_that_of_the_computer(
    supplies: dict[str, dict[str, str]], expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, files in supplies.items():
        (tmp_path / name).mkdir()
        for file, text in files.items():
            (tmp_path / name / file).write_text(f"{text}\n")
    monkeypatch.setattr(machine, "SUPPLIES", tmp_path)
    assert on_battery() is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"0.4 0.5 0.6 1/300 {CORES}", True),
        (f"9.0 0.5 0.6 {CORES}/300 7", True),
        (f"0.0 0.5 0.6 {CORES + 1}/300 7", False),
        ("0.0 0.5", False),
        ("what is this file", False),
    ],
)
def test_a_core_is_spare_if_no_task_waits_for_one(
    text: str, expected: bool, group: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "LOAD", tmp_path / "loadavg")
    assert not machine.has_spare_core(), "nobody says"
    machine.LOAD.write_text(text)
    assert machine.has_spare_core() is expected
    monkeypatch.setattr(machine, "cores", lambda: 1)
    assert not machine.has_spare_core()
