"""Every real stream of gfx1100 and gfx1200 is decoded to the last number as the goldens have it."""

from functools import cache

from rcv_py.formats.sqtt.rdna import recorded_events, walk
from rcv_py.formats.sqtt.rdna_tables import Token
from rcv_py.formats.sqtt.rdna_walk import COUNTS
from tests.formats.sqtt.rdna_truth import VERSIONS, Golden, streams_of
from tests.formats.sqtt.test_rdna_truth import (  # noqa: F401 - collected here, too
    Decoded,
    all_decoded,
    test_a_stream_tells_what_the_golden_has,
    test_every_token_stands_at_its_instruction,
)
from tests.real.golden_sqtt import NAMES, raw
from tests.support.fixtures import fixture_of

GOLDEN_NAMES = {"ALU_DONE": "EXECE", "MEMORY_DONE": "EXECF", "UTIL_COUNTER": "UTIL"}
NOT_IN_GOLDENS = {Token.NOP, Token.TIME, Token.TIMESTAMP}


@cache
def goldens() -> list[Golden]:
    """All streams of RDNA, read once a process."""
    return [one for name in NAMES if name.startswith(tuple(VERSIONS)) for one in streams_of(raw(name))]


decoded = fixture_of(lambda: all_decoded(goldens()), scope="module")


def test_there_are_as_many_streams_as_there_were(decoded: Decoded) -> None:
    assert len(goldens()) == 108
    assert sum(len(stream.waves.time) for _, stream in decoded) == 5488


def test_tokens_are_as_many_of_each_type_and_events_as_many_of_each_number() -> None:
    for golden in goldens():
        walked, notes, _ = walk(golden.data, golden.version, lambda *_: None)
        counts = {
            GOLDEN_NAMES.get(token.name, token.name): int(walked.state[COUNTS + token])
            for token in Token
            if token not in NOT_IN_GOLDENS and walked.state[COUNTS + token]
        }
        assert counts == golden.truth["token_histogram"], golden.name
        events = recorded_events(notes)
        events[:, 0] = notes.time[events[:, 0]]
        assert events[:, :4].tolist() == golden.truth["events"], golden.name
