"""The short form of `make fuzz`: the same inputs every time, of all areas; and what is bad would be seen."""

import faulthandler
import os
import sys
import time
from pathlib import Path

import pytest

from tests.fuzz import areas, runner
from tests.fuzz.areas import AREAS, Area
from tests.fuzz.runner import HANG, OUTSIDE, OVER, RESULT, TRACEBACK, TYPED_ERROR, run
from tests.support.limits import HANG_S

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it forks, and limits memory as Linux does")
SEED, COUNT = 20, 3000


def test_mutated_input_is_answered() -> None:
    totals = run(SEED, range(COUNT), 2)
    assert not totals.bad, "\n\n".join([*totals.reports, totals.table()])
    assert sum(totals.counts.values()) == COUNT
    for name in AREAS:
        assert totals.counts[name, RESULT] > 0, f"{name} refuses everything"
    assert totals.counts["calls", TYPED_ERROR] > 0


def test_the_same_seed_makes_the_same_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    log = tmp_path / "log"

    def note(rng: object, ground: object) -> None:
        with log.open("a") as file:
            file.write(f"{rng.random()}\n")  # type: ignore[attr-defined]

    monkeypatch.setattr(runner, "area_of", lambda number: "noted")
    monkeypatch.setitem(AREAS, "noted", Area(note, 1))
    monkeypatch.setattr(runner.Watch, "hook", lambda *_: None)
    run(3, range(6), 2)
    both = sorted(log.read_text().split())
    log.unlink()
    run(3, range(4), 1)
    run(3, range(4, 6), 1)
    assert sorted(log.read_text().split()) == both
    assert len(set(both)) == 6


def raises(*_: object) -> None:
    raise KeyError("a bug")


def hangs(*_: object) -> None:
    while True:
        pass


def sleeps(*_: object) -> None:
    time.sleep(1000)


def looks_outside(_: object, ground: areas.Ground) -> None:
    (ground.root / "outside" / "secret.json").read_bytes()


def takes_memory(*_: object) -> None:
    bytearray(3 << 30)


def ends(*_: object) -> None:
    faulthandler.disable()  # its trace would stand amid the dots of the run
    os.abort()


@pytest.mark.parametrize(
    ("use", "kind"),
    [
        (raises, TRACEBACK),
        (hangs, HANG),
        (sleeps, HANG),
        (looks_outside, OUTSIDE),
        (takes_memory, OVER),
        (ends, TRACEBACK),
    ],
)
def test_what_is_bad_can_be_repeated(monkeypatch: pytest.MonkeyPatch, use: object, kind: str) -> None:
    if use is hangs:
        monkeypatch.setattr(runner, "CPU_S", 0.2)
    monkeypatch.setattr(runner, "WALL_S", 5.0 if use is sleeps else 10 * HANG_S)
    monkeypatch.setattr(runner, "area_of", lambda number: "bad" if number == 1 else "good")
    monkeypatch.setitem(AREAS, "bad", Area(use, 1))  # type: ignore[arg-type]
    monkeypatch.setitem(AREAS, "good", Area(lambda *_: None, 1))
    totals = run(9, range(4), 1)
    assert totals.counts["bad", kind] == 1
    assert totals.counts["good", RESULT] == 3, "it goes on behind a bad one"
    assert totals.bad == 1
    assert "--repeat 9:1 (bad)" in totals.reports[0]
