"""Being asked to end: nothing that becomes of the exception keeps the process from ending."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import FrameType

import pytest

from rcv_py.base.machine import ending
from rcv_py.base.machine.ending import Terminated, ends_by, ends_tidily, not_interrupted
from tests.support.limits import HANG_S
from tests.support.processes import wait_until

needs_signals = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="signals of POSIX")
pytestmark = needs_signals
KINDS = [(signal.SIGTERM, Terminated), (signal.SIGINT, KeyboardInterrupt)]
Kind = type[KeyboardInterrupt]
Look = Callable[[], None]


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    """What signals did before."""
    before = {number: signal.getsignal(number) for number, _ in KINDS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def look_again(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Waits until it is looked again whether an exception got lost; what is asked to end may take long."""
    looks = []
    look = ending._look

    def note(number: int, frame: FrameType | None) -> None:
        looks.append(number)
        look(number, frame)

    def again() -> None:
        before = len(looks)
        wait_until(lambda: len(looks) > before, "another look")

    monkeypatch.setattr(ending, "_look", note)
    monkeypatch.setattr(ending, "GRACE_S", HANG_S * 10)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # not the look of a test before
    yield again
    signal.signal(signal.SIGALRM, signal.SIG_DFL)


def go_on() -> None:
    """A long piece of work, which has to be interrupted."""
    wait_until(lambda: False, "being interrupted")


class Asks:
    """A field whose declaration asks this process to end."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __set_name__(self, owner: type, name: str) -> None:
        os.kill(os.getpid(), self.number)


def wrapped(number: int) -> None:
    """What a dataclass makes of it."""
    type("Declared", (), {"field": Asks(number)})


def replaced(number: int) -> None:
    """What argparse makes of it when it tidies up."""
    try:
        os.kill(os.getpid(), number)
    finally:
        raise AttributeError("half made")


def swallowed(number: int) -> str:
    """What bindings in C make of it."""
    with suppress(KeyboardInterrupt):
        os.kill(os.getpid(), number)
    return "an answer"


def swallowed_early(number: int) -> None:
    """As above, and a long piece of work follows."""
    swallowed(number)
    go_on()


@pytest.mark.parametrize("ask", [wrapped, replaced, swallowed, swallowed_early])
@pytest.mark.parametrize(("number", "kind"), KINDS)
def test_whatever_becomes_of_the_exception(number: int, kind: Kind, ask: Callable[[int], object]) -> None:
    with pytest.raises(KeyboardInterrupt) as raised, ends_tidily():
        ask(number)
    assert isinstance(raised.value, Terminated) == (kind is Terminated)
    assert not isinstance(raised.value.__cause__, AssertionError)


@pytest.mark.parametrize(("number", "kind"), KINDS)
def test_an_import_is_not_interrupted(
    number: int,
    kind: Kind,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    look_again: Look,
) -> None:
    """Some modules end the process if it is: Qt's bindings while they are made ready."""
    name = f"imported_at_{int(number)}"
    (tmp_path / f"{name}.py").write_text(f"import os\nos.kill(os.getpid(), {int(number)})\nwhole = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(kind), ends_tidily():  # noqa: PT012 - it is raised in the second at the latest
        import_module(name)
        look_again()
    assert sys.modules[name].whole


@pytest.mark.parametrize(("number", "kind"), KINDS)
def test_what_can_be_asked_to_end_is_not_interrupted(number: int, kind: Kind, look_again: Look) -> None:
    asked = []

    def work() -> None:
        with ends_by(lambda: asked.append("once")):
            os.kill(os.getpid(), number)
            for _ in range(3):  # times that it is looked whether it has ended
                look_again()
            asked.append("to its end")
        asked.append("never")

    with pytest.raises(kind), ends_tidily():
        work()
    assert asked == ["once", "to its end"]


@pytest.mark.parametrize(("number", "kind"), KINDS)
def test_what_is_not_to_be_interrupted_ends_first(number: int, kind: Kind, look_again: Look) -> None:
    done = []

    def work() -> None:
        with not_interrupted():
            os.kill(os.getpid(), number)
            look_again()
            done.append("the block")
        done.append("what follows")

    with pytest.raises(kind), ends_tidily():
        work()
    assert done == ["the block"]


@pytest.mark.parametrize(("number", "kind"), KINDS)
def test_what_does_not_end_though_asked_is_interrupted(
    number: int, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rcv_py.base.machine.ending.GRACE_S", 0.02)

    def work() -> None:
        with ends_by(lambda: None):
            os.kill(os.getpid(), number)
            go_on()

    with pytest.raises(kind), ends_tidily():
        work()


def test_tidying_up_is_not_interrupted_by_the_same_wish(look_again: Look) -> None:
    tidied = []

    def work() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            for _ in range(3):  # times that it is looked whether the exception got lost
                os.kill(os.getpid(), signal.SIGTERM)
                look_again()
            tidied.append(True)

    with pytest.raises(Terminated), ends_tidily():
        work()
    assert tidied


def test_signals_do_what_they_did_when_nobody_asked() -> None:
    before = [signal.getsignal(number) for number, _ in KINDS]
    with ends_tidily():
        assert [signal.getsignal(number) for number, _ in KINDS] != before
    assert [signal.getsignal(number) for number, _ in KINDS] == before
