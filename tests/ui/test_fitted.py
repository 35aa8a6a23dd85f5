"""Instructions too long for their column: operands are read longest, the mnemonic gives way first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.features.isa.ink import SHORTEST, fitted

OPERANDS = "v[20:23], v[148:155], v[106:113], v[20:23], v102, v102"
MFMA = f"v_mfma_scale_f32_16x16x128_f8f6f4 {OPERANDS} op_sel_hi:[0,0,0]"


@pytest.mark.parametrize(
    ("room", "text"),
    [
        (200, MFMA),
        (96, f"v_mfma_scal…x128_f8f6f4 {OPERANDS} op_sel_hi:[0,0,0]"),
        (80, f"v_mfma_scal…x128_f8f6f4 {OPERANDS} …"),
        (66, f"v_mf…f6f4 {OPERANDS} …"),
        (60, f"v_mf…f6f4 {OPERANDS}"[:59] + "…"),
    ],
)
def test_operands_are_kept_longest(room: int, text: str) -> None:
    shown = fitted(MFMA, room).text
    assert shown == text
    assert len(shown) <= room


def test_what_fits_is_whole_and_short_mnemonics_stay() -> None:
    assert fitted("s_waitcnt vmcnt(0)", 18).text == "s_waitcnt vmcnt(0)"
    assert fitted("s_waitcnt vmcnt(0) lgkmcnt(0)", 20).text == "s_waitcnt vmcnt(0) …"
    assert fitted("s_nop", 3).text == "s_…"
    load = "buffer_load_dwordx4 v[120:123], v97, s[12:15], 0 offen offset:16"
    assert fitted(load, 60).text == "buffer_…dwordx4 v[120:123], v97, s[12:15], 0 offen offset:16"
    assert fitted(load, 56).text == "buffer_load_dwordx4 v[120:123], v97, s[12:15], 0 offen …"


@given(st.text(" abv_[]:,123", max_size=60), st.integers(1, 70))
def test_places_lead_back(text: str, room: int) -> None:
    cut = fitted(text, room)
    assert len(cut.text) <= max(room, 1)
    for at in range(len(text)):
        place = cut.at(at)
        is_left_out = cut.start <= at < cut.stop
        if place < len(cut.text) and not is_left_out and cut.text[place] != "…":
            assert cut.text[place] == text[at]
            assert cut.character(place) == at
    assert cut.stop == 0 or cut.stop - cut.start >= 2
    assert cut.stop == 0 or text.find(" ") - (cut.stop - cut.start) >= SHORTEST
