"""Which values are payload: drawings of streams with and without missing words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.events.payloads import NOTHING, POINT, SCOPE, data_words

WORDS = {"A": 3, "a": 2}  # an address block of three words, and another marker with two
USES = {"A": POINT, "a": POINT, "p": POINT, "(": SCOPE, ")": SCOPE}


def marked(stream: str, waves: str = "") -> str:
    """`^` under payload; A, a are headers, p a point, ( and ) scopes, . any other value."""
    found = data_words(
        np.array([WORDS.get(one, 0) for one in stream], dtype=np.int64),
        np.array([USES.get(one, NOTHING) for one in stream], dtype=np.uint8),
        np.array([one == "A" for one in stream], dtype=bool),
        np.array([ord(one) for one in waves or "0" * len(stream)], dtype=np.int64),
        np.array([ord(one) for one in stream], dtype=np.uint32),
    )
    return "".join("^" if one else " " for one in found)


@pytest.mark.parametrize(
    ("stream", "payload"),
    [
        ("A...p.a..(A...)", " ^^^   ^^  ^^^ "),
        ("AAap)", " ^^^ "),  # words that look like headers
        ("A(A)p", " ^^^ "),
        # One word of the first block is missing: the header of the second would be its third word.
        ("A..A...(A...)", " ^^ ^^^  ^^^ "),
        # Words of the second block are missing, too: nothing up to the scope is believed.
        ("A..A..A.(A...)", " ^^^^^^^  ^^^ "),
        # EXEC is xy: a header of the same EXEC resumes, where a word is missing in every second block.
        ("Axy.AxyAxy.AxyAxy.p", " ^^^ ^^ ^^^ ^^ ^^^ "),
        ("AxyA.Axy.pAxyAxy.", " ^^^^ ^^^  ^^ ^^^"),  # a word that looks like a header has another EXEC
        ("A..p.p", " ^^^^^"),  # a point alone is not evidence that values fit again
        ("a...p", " ^^  "),  # other markers keep their words without a check
    ],
)
def test_words_after_a_header_are_payload(stream: str, payload: str) -> None:
    assert marked(stream) == payload


def test_a_block_that_is_cut_ends_with_its_wave() -> None:
    assert marked("A..A...", "0001111") == " ^^ ^^^"


@given(st.text(alphabet="Aap().", min_size=1, max_size=40), st.data())
def test_any_stream_is_read_in_order(stream: str, data: st.DataObject) -> None:
    waves = "".join(sorted(data.draw(st.text(alphabet="012", min_size=len(stream), max_size=len(stream)))))
    found = marked(stream, waves)
    assert len(found) == len(stream)
    for wave in set(waves):  # no payload crosses the border between two waves
        begin, end = waves.index(wave), waves.rindex(wave) + 1
        assert found[begin:end] == marked(stream[begin:end])
        assert found[begin] == " "
