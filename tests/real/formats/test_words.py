"""Words of the instruction set, as real captures have them."""

import json

import pytest

from rcv_py.formats.isa.program import guessed_target, kind_of
from rcv_py.model.architecture import architecture_of
from rcv_py.model.kinds import TokenKind
from tests.real import captures
from tests.real.golden_sqtt import golden


@pytest.mark.parametrize(
    "name", ["gfx950/gemm_run_0", "gfx1100/gemm_run_0", "gfx1100/sync_run_0", "gfx1200/sync_run_0"]
)
def test_kinds_agree_with_what_the_hardware_recorded(name: str) -> None:
    capture = golden(name)
    architecture = architecture_of(int(capture["arch"][3:-2]))
    text = {place: line for code in capture["code"].values() for place, _, line in code["isa"]}
    for wave in (wave for found in capture["captures"] for wave in found["waves"]):
        for _, kind, place, _, _ in wave["insts"]:
            if place in text and kind not in (TokenKind.JUMP, TokenKind.NEXT):
                mine = kind_of(text[place].split()[0], architecture)
                assert (TokenKind.VALU if mine == TokenKind.MATRIX else mine) == kind, text[place]


@pytest.mark.parametrize("name", captures.THREAD_TRACES)
def test_no_capture_of_gfx950_is_taken_for_another_target(name: str) -> None:
    rows = json.loads((captures.trace_path(name) / "code.json").read_text())["code"]
    assert guessed_target({row[0].split(" ", 1)[0] for row in rows}, 9) in ("gfx950", "")
