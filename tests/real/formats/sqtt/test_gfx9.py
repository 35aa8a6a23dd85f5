"""Real streams of gfx9 against their goldens, and real captures as streams and back."""

import pytest

from rcv_py.formats.sqtt.decode import decode
from tests.formats.sqtt.test_gfx9 import every_record_is_known, heads
from tests.real.formats.sqtt.round_trip import SMALL, differences
from tests.real.golden_sqtt import NAMES, raw

CAPTURES = [name for name in NAMES if name.startswith("gfx950/")]


@pytest.mark.parametrize("name", CAPTURES)
def test_every_record_is_that_of_the_golden(name: str) -> None:
    every_record_is_known(raw(name))


@pytest.mark.parametrize("name", CAPTURES)
def test_tokens_are_as_many_as_in_the_golden(name: str) -> None:
    """It does not count resets of the time, and the timestamps that they take."""
    known = raw(name)
    for capture in known.said["captures"]:
        data = (known.folder / capture["file"]).read_bytes()
        resets = sum(
            data[at] & 15 == 1 or (data[at] & 15 == 0 and data[at + 1] >> 5 == 1) for at in heads(data)
        )
        assert decode(data).tokens - resets == sum(capture["token_histogram"].values())


@pytest.mark.parametrize("name", SMALL)
def test_a_capture_is_the_same_after_it_was_a_raw_stream(name: str) -> None:
    assert list(differences(name)) == []
