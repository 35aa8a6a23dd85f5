"""Which values are payload: drawings of streams with and without missing words."""

import numpy as np
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


def test_words_after_a_header_are_payload() -> None:
    assert marked("A...p.a..(A...)") == " ^^^ " + " " + " ^^  ^^^ "


def test_words_that_look_like_headers_are_words() -> None:
    assert marked("AAap)") == " ^^^ "
    assert marked("A(A)p") == " ^^^ "


def test_a_missing_word_makes_all_payload_until_the_rest_of_the_wave_fits() -> None:
    #  one word of the first block is missing: the header of the second would be its third word
    assert marked("A..A...(A...)") == " ^^ ^^^  ^^^ "
    #  words of the second block are missing, too: nothing up to the scope is believed
    assert marked("A..A..A.(A...)") == " ^^^^^^^  ^^^ "


def test_a_header_with_the_same_exec_resumes_between_two_losses() -> None:
    #  EXEC is xy; a word is missing in the second and the fourth block, so that a header is taken for it
    assert marked("Axy.AxyAxy.AxyAxy.p") == " ^^^ ^^ ^^^ ^^ ^^^ "
    assert (
        marked("AxyA.Axy.pAxyAxy.") == " ^^^^ ^^^  ^^ ^^^"
    )  # a word that looks like a header has another EXEC


def test_a_block_that_is_cut_ends_with_its_wave() -> None:
    assert marked("A..A...", "0001111") == " ^^ ^^^"


def test_a_point_alone_is_no_evidence_that_values_fit_again() -> None:
    assert marked("A..p.p") == " ^^^^^"


def test_other_markers_keep_their_words_without_a_check() -> None:
    assert marked("a...p") == " ^^  "


@given(st.text(alphabet="Aap().", min_size=1, max_size=40), st.data())
def test_any_stream_is_read_in_order(stream: str, data: st.DataObject) -> None:
    waves = "".join(sorted(data.draw(st.text(alphabet="012", min_size=len(stream), max_size=len(stream)))))
    found = marked(stream, waves)
    assert len(found) == len(stream)
    for wave in set(waves):  # no payload crosses the border between two waves
        begin, end = waves.index(wave), waves.rindex(wave) + 1
        assert found[begin:end] == marked(stream[begin:end])
        assert found[begin] == " "
