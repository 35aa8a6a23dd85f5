"""Attribution against the simulator, which knows what kept every instruction and who was to blame.

The limits follow from what is claimed, not from what comes out: a cause that calls itself certain may be
wrong in one cycle of twenty; a wait names the kind of what it waited for; and of stalls that nothing in a
file explains some must be left unexplained, or explaining would mean nothing.
"""

from functools import cache
from pathlib import Path

import pytest

from rcv_py.analysis.attribution.causes import CAUSE_TEXT, GUESSED, WAITS, WITHOUT_PRODUCER, Cause
from tests.support.attribution_truth import (
    ADVERSE,
    NAMES,
    PLAIN,
    Measured,
    by_capture,
    by_cause,
    confusion,
    main,
    markdown,
    measured,
)

LEAST = 400  # cycles: of rarer causes a share says nothing
CERTAIN = 0.95
# The simulator has matrix results back after passes + 8 cycles, attribution asks for the documented distance,
# 52 cycles where it is 40 there: so much of what is given may be too much, and no more.
MATRIX_TABLES = 40 / 52
DOCS = Path(__file__).parents[2] / "docs" / "attribution.md"


@cache
def _of(name: str, folder: Path) -> Measured:
    return measured(name, folder)


@pytest.fixture(scope="module")
def of(tmp_path_factory: pytest.TempPathFactory):
    root = tmp_path_factory.mktemp("truth")
    return lambda name: _of(name, root / name)


@pytest.fixture(scope="module")
def whole(of) -> Measured:
    return sum(map(of, NAMES), Measured())


@pytest.mark.parametrize("name", NAMES)
def test_explained_cycles_have_a_cause_that_really_held_them(name: str, of) -> None:
    found = of(name)
    # Where stalls without a cause in the file are put in on purpose, nine of ten are left to be right.
    assert found.right() > (0.9 if name == "untold" else CERTAIN)
    assert found.right_idle() > CERTAIN


@pytest.mark.parametrize("cause", [cause for cause in Cause if CAUSE_TEXT[cause].is_certain])
def test_what_calls_itself_certain_is_right(cause: Cause, whole: Measured) -> None:
    if whole.given(cause) >= LEAST:
        assert whole.certain(cause) > (MATRIX_TABLES if cause is Cause.MATRIX_RESULT else CERTAIN)


@pytest.mark.parametrize("name", NAMES)
def test_waits_name_the_kind_and_the_operation_they_waited_for(name: str, of) -> None:
    found = of(name)
    for cause in WAITS:
        if found.decided(cause) >= LEAST:
            assert found.certain(cause) > CERTAIN, cause
            assert found.found(cause) > CERTAIN, cause
        assert found.producers(cause) > CERTAIN, cause


def test_named_producers_are_right(whole: Measured) -> None:
    """97 % over all; every cycle counts, also those whose cause is wrong."""
    assert whole.named()[0] > 0.75 * sum(whole.stall.values()), "most of the stall is named without a doubt"
    assert whole.producers() >= 0.97


@pytest.mark.parametrize("cause", [cause for cause in Cause if cause not in (*GUESSED, *WITHOUT_PRODUCER)])
def test_no_cause_names_more_than_one_wrong_producer_of_ten(cause: Cause, whole: Measured) -> None:
    named, good = whole.named(cause)
    assert good >= 0.9 * named


@pytest.mark.parametrize("name", NAMES)
def test_named_producers_are_right_in_every_capture(name: str, of) -> None:
    """Where stalls without a cause in the file are put in, some are taken for something that is named."""
    assert of(name).producers() >= (0.93 if name == "untold" else 0.96)


@pytest.mark.parametrize("cause", GUESSED)
def test_producers_that_are_guesses_are_called_so(cause: Cause, whole: Measured) -> None:
    """Full queues are right for three cycles of four even so, or they would not be worth a guess."""
    assert whole.named(cause) == (0, 0)
    guessed, good = whole.named(cause, is_guess=True)
    assert guessed >= LEAST
    if cause in (Cause.MEMORY_QUEUE, Cause.LDS_QUEUE, Cause.SCALAR_QUEUE):
        assert good >= 0.75 * guessed


def test_combined_waits_go_to_either_and_say_when_both_fit(of) -> None:
    """The capture has all three kinds: clearly LDS, clearly memory, and such that nothing tells apart."""
    combined = of("combined")
    for cause in (Cause.WAIT_LDS, Cause.WAIT_LOAD, Cause.WAIT_SCALAR):
        assert combined.decided(cause) > 100_000
        assert combined.producers(cause) > 0.99
    assert combined.named(Cause.WAIT_LDS, is_guess=True)[0] > 10_000
    assert combined.doubted[Cause.WAIT_LDS, False] > 0, "what is a guess is wrong at times"


def test_the_matrix_unit_is_the_limit_of_the_capture_near_the_ceiling(of) -> None:
    ceiling = of("ceiling")
    assert ceiling.decided(Cause.MATRIX_BUSY) > 0.7 * sum(ceiling.stall.values())
    assert ceiling.producers(Cause.MATRIX_BUSY) > 0.99


@pytest.mark.parametrize("cause", [Cause.MEMORY_QUEUE, Cause.LDS_QUEUE, Cause.SCALAR_QUEUE])
def test_every_queue_is_full_in_the_crowded_capture(cause: Cause, of) -> None:
    crowded = of("crowded")
    assert crowded.decided(cause) >= LEAST
    assert crowded.found(cause) > 0.75
    assert crowded.producers(cause, is_guess=True) > 0.75


@pytest.mark.parametrize("cause", [Cause.MEMORY_QUEUE, Cause.LDS_QUEUE, Cause.MATRIX_BUSY, Cause.UNIT_BUSY])
def test_busy_units_are_found_where_others_compete_for_them(cause: Cause, of) -> None:
    rivals = of("rivals")
    assert rivals.decided(cause) >= LEAST
    assert rivals.precision(cause) > 0.9
    # A stall with two causes is shared out; what decided it has more than half.
    assert rivals.found(cause) > 0.5


def test_the_last_wave_at_a_barrier_is_named_or_known_to_be_missing(of) -> None:
    straggler = of("straggler")
    assert straggler.precision(Cause.BARRIER) == 1.0
    # By chance half of the named ones would be right: two of four SIMDs are traced.
    assert straggler.producers(Cause.BARRIER) > 0.75
    assert straggler.nobody[True] / sum(straggler.nobody.values()) > CERTAIN


def test_what_no_file_explains_is_not_all_explained(of) -> None:
    """A rule that swallows anything would leave nothing here."""
    untold = of("untold")
    nothing = untold.decided(Cause.UNEXPLAINED)
    assert nothing > 10_000
    wrong = sum(n for cause, n in untold.untold.items() if cause is not Cause.UNEXPLAINED)
    assert untold.stall[Cause.UNEXPLAINED, Cause.UNEXPLAINED] / nothing > 0.2
    assert wrong / nothing < 0.5
    # What is left unexplained is so for a reason: next to nothing of it had a cause the rules know.
    known = untold.given(Cause.UNEXPLAINED) - untold.stall[Cause.UNEXPLAINED, Cause.UNEXPLAINED]
    assert known / sum(untold.stall.values()) < 0.01


def test_two_wrong_answers_are_known_to_be_wrong(whole: Measured) -> None:
    """Rules whose effect the simulator does not have: right answers there would mean it was made for them."""
    for cause in (Cause.REGISTER, Cause.OPERAND_READ):
        assert not CAUSE_TEXT[cause].is_certain
        assert whole.given(cause) / sum(whole.stall.values()) < 0.001


def test_the_page_shows_what_is_measured(of, whole: Measured) -> None:
    """`make precision` prints the tables; the page has to be brought up to date with them.

    Those of real captures and of workgroups are looked at where their numbers are made.
    """
    page = DOCS.read_text(encoding="utf-8")
    for rows in (by_capture({name: of(name) for name in NAMES}), by_cause(whole), confusion(whole)):
        assert markdown(rows) in page, markdown(rows)


def test_the_page_names_every_cause() -> None:
    page = DOCS.read_text(encoding="utf-8")
    for cause, text in CAUSE_TEXT.items():
        assert f"**{text.name}**" in page, cause


def test_the_tables_can_be_printed(capsys: pytest.CaptureFixture[str]) -> None:
    main([PLAIN[0], ADVERSE[2]])
    printed = capsys.readouterr().out
    for word in ("precision", "found", "named", "guessed", "decided by", "not traced"):
        assert word in printed
