"""What has to look at all waves does so a few times while they arrive, and once when no more will come."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QObject

from rcv_py.base.progress import Stage
from rcv_py.state.session import Session
from rcv_py.ui.core.arrivals import Arrivals

READING = (Stage("Reading waves", 0, 100),)


@pytest.fixture
def session() -> Session:
    session = Session()
    session.store = SimpleNamespace(read=0, missing={}, is_complete=False)  # type: ignore[assignment]
    return session


@pytest.fixture
def looks(session: Session, qapp: object) -> list[int]:
    found: list[int] = []
    owner = QObject()
    arrivals = Arrivals(owner, session, lambda: found.append(session.store.read))  # type: ignore[union-attr]
    session.owner = (owner, arrivals)  # type: ignore[attr-defined]
    return found


def arriving(session: Session) -> Callable[[int], None]:
    def arrive(count: int) -> None:
        session.store.read = count  # type: ignore[misc, union-attr]
        session.wave_loaded()

    return arrive


def test_while_waves_arrive_it_looks_at_doubling_numbers(session: Session, looks: list[int]) -> None:
    session.busy.set(READING)
    for count in range(1, 101):
        arriving(session)(count)
    assert looks == [1, 2, 4, 8, 16, 32, 64]
    session.busy.set(())
    assert looks[-1] == 100
    session.busy.set(READING)
    session.busy.set(())
    assert looks[-1:] == [100], "nothing came"
    assert looks.count(100) == 1


def test_the_last_wave_is_the_end_of_it(session: Session, looks: list[int]) -> None:
    session.busy.set(READING)
    for count in (3, 4):
        session.store.is_complete = count == 4  # type: ignore[misc, union-attr]
        arriving(session)(count)
    assert looks == [3, 4]


def test_without_a_stream_every_wave_is_looked_at(session: Session, looks: list[int]) -> None:
    for count in (1, 2, 3):
        arriving(session)(count)
    assert looks == [1, 2, 3]


def test_another_capture_begins_anew(session: Session, looks: list[int]) -> None:
    session.busy.set(READING)
    arriving(session)(50)
    session.trace.tell()
    arriving(session)(3)
    assert looks == [50, 3]
