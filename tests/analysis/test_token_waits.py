"""One execution and its waits, token by token."""

from rcv_py.analysis.waits.wait_latency import Awaited, ReleasedBy, TokenWaits, token_waits
from rcv_py.model.architecture import architecture_of
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave
from tests.analysis import build
from tests.support.opened import VARIED, all_waves, traces_of
from tests.support.python_calls import python_calls

TEXTS = ["global_load_dword v0", "ds_read_b32 v1", "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)", "v_add v0"]


def of(picture: str, lines: list[int], row: int, gfxip: int = 9) -> TokenWaits:
    return token_waits(build.wave(picture, lines, begin=100), row, build.code(TEXTS), architecture_of(gfxip))


def test_a_wait_names_the_executions_it_waited_for_and_the_newest() -> None:
    picture, lines = "BB|BB|..iiiiiiii|iiiiiiii|", [0, 0, 2, 3]
    assert of(picture, lines, 2) == TokenWaits((Awaited(0, 0, "vmcnt", 100, 6),), (), True, False)
    assert of(picture, lines, 3).awaited == (Awaited(1, 0, "vmcnt", 102, 12),)


def test_a_load_names_the_wait_that_released_it_with_its_latency() -> None:
    picture, lines = "BB|BB|..iiiiiiii|iiiiiiii|", [0, 0, 2, 3]
    assert of(picture, lines, 0) == TokenWaits((), (ReleasedBy(2, 2, "vmcnt", 12, True),), False, True)
    assert of(picture, lines, 1).released_by == (ReleasedBy(3, 3, "vmcnt", 18, True),)
    assert of(picture, lines, 1, gfxip=10).released_by[0].latency == 20, "from issue, not from its end"


def test_an_older_load_or_a_wait_that_did_not_stall_tells_a_bound() -> None:
    picture, lines = "BB|BB|..iiiiiiii|", [0, 0, 3]
    assert of(picture, lines, 0).released_by == (ReleasedBy(2, 3, "vmcnt", 12, False),)
    assert of("BB|.....ii|", [0, 3], 0).released_by == (ReleasedBy(1, 3, "vmcnt", 7, False),)


def test_what_neither_waits_nor_is_waited_for_has_nothing() -> None:
    assert of("VV|", [4], 0) == TokenWaits()
    assert of("VV|", [-1], 0) == TokenWaits()
    assert of("ii|", [3], 0) == TokenWaits((), (), True, False)
    assert of("BB|", [0], 0) == TokenWaits((), (), False, True)


trace = traces_of(VARIED)


def waits_of(trace: Trace) -> tuple[TracedWave, list[int]]:
    """The wave with most instructions, and its tokens that wait for a counter."""
    waves = all_waves(trace).waves
    wave = max(waves, key=lambda wave: len(wave.tokens))
    texts = [trace.code.text[line] for line in wave.tokens.line.tolist()]
    rows = [row for row, text in enumerate(texts) if text.startswith("s_wait") and "cnt" in text]
    return wave, rows


def test_both_directions_agree(trace: Trace) -> None:
    wave, rows = waits_of(trace)
    seen = 0
    for row in rows[:40]:
        for one in token_waits(wave, row, trace.code, trace.architecture).awaited:
            back = token_waits(wave, one.row, trace.code, trace.architecture).released_by
            assert row in [by.row for by in back]
            assert all(by.latency >= 0 for by in back)
            seen += 1
    assert seen


long = traces_of(["tutorial_before"])  # A capture with waves of thousands of instructions


def test_no_step_is_made_for_each_token(long: Trace) -> None:
    wave, rows = waits_of(long)
    token_waits(wave, rows[0], long.code, long.architecture)  # what is known of the program is found once
    calls = python_calls(lambda: token_waits(wave, rows[-1], long.code, long.architecture))
    assert calls < len(wave.tokens) / 2
