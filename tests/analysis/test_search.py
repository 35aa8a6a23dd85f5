"""Finding texts."""

from threading import Event, Thread

import pytest

from rcv_py.analysis.core.search import find
from rcv_py.base.errors import UsageError
from rcv_py.base.patterns import TIMEOUT_S, TooSlow
from tests.support.limits import HANG_S
from tests.support.processes import wait_until

TEXTS = ("v_add_f32 v0, v1", "s_waitcnt vmcnt(0)", "V_ADD", "v_mul")


@pytest.mark.parametrize(
    ("text", "case", "regex", "rows"),
    [
        ("v_add", False, False, [0, 2]),
        ("v_add", True, False, [0]),
        ("vmcnt(0)", False, False, [1]),
        ("vmcnt(0)", False, True, []),
        (r"^v_(add|mul)", False, True, [0, 2, 3]),
        ("", False, True, []),
        ("nothing", False, False, []),
    ],
)
def test_find(text: str, case: bool, regex: bool, rows: list[int]) -> None:
    assert find(TEXTS, text, case, regex).tolist() == rows


@pytest.mark.parametrize(
    ("text", "place"), [("v_(add", "character 3"), ("*", "character 1"), ("a[z-a]", "character 3")]
)
def test_a_bad_expression_says_where(text: str, place: str) -> None:
    with pytest.raises(UsageError, match=place) as caught:
        find(TEXTS, text, is_regex=True)
    assert caught.value.hint
    assert find(TEXTS, text).tolist() == []


SLOW = ("(a|aa)+$", r"(\w+)\1+$")


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search may take as long as usual, divided by ten."""
    monkeypatch.setattr("rcv_py.base.patterns.TIMEOUT_S", TIMEOUT_S / 10)


@pytest.mark.parametrize("text", SLOW)
def test_an_expression_that_takes_too_long_is_stopped_with_a_sentence(text: str, soon: None) -> None:
    assert "stopped after 2 seconds" in str(TooSlow())
    with pytest.raises(UsageError, match=r"stopped after 0\.2 seconds") as caught:
        find(("a" * 3000 + "b",) * 50, text, is_regex=True)
    assert "plain text" in caught.value.hint


TOO_MUCH = ("a" * 5000, "(a{1000}){1000}", "((((a{100}){100}){100}){100}){100}", "(" * 900)


@pytest.mark.parametrize("text", TOO_MUCH)
def test_an_expression_that_its_compiler_cannot_bear_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        find(TEXTS, text, is_regex=True)


def test_a_long_text_is_found_as_it_is() -> None:
    assert find(("x" * 9000, "y"), "x" * 5000).tolist() == [0]


def steps_of_others() -> int:
    """Steps that this thread makes while another matches an expression."""
    found: list[object] = []
    started = Event()

    def search() -> None:
        started.set()
        try:
            find(("a" * 3000 + "b",), SLOW[0], is_regex=True)
        except UsageError as error:
            found.append(error)

    thread = Thread(target=search)
    thread.start()
    started.wait(HANG_S)
    steps = 0
    while thread.is_alive():
        steps += 1
    thread.join()
    assert len(found) == 1
    return steps


def test_other_threads_go_on_while_an_expression_is_matched(soon: None) -> None:
    """With `re` this thread would get a turn only at the end.  On a busy machine it may get none, either."""
    wait_until(lambda: steps_of_others() > 1000, "a turn while an expression is matched")
