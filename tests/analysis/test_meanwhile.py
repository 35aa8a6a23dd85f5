"""What other waves of a SIMD issued while one stood still, on waves drawn by hand."""

from rcv_py.analysis.timeline.token_details import NO_OTHER_WAVES, meanwhile
from rcv_py.model.kinds import TokenKind
from rcv_py.model.window import TimeWindow
from tests.analysis import build

STALL = TimeWindow(2, 10)


def test_what_covers_a_stall_is_told_by_kind_and_line() -> None:
    own = build.wave("VViiiiiiiiI", [0, 1], row=0)
    first = build.wave("..vVVV.MMM.", [7, 8], row=1, place=(0, 0, 1, 0))
    second = build.wave(".VVVV......", [5], row=2, place=(0, 0, 2, 0))
    elsewhere = build.wave("VVVVVVVVVVV", [3], row=3, place=(0, 1, 0, 0))
    other_unit = build.wave("VVVVVVVVVVV", [3], row=4, place=(0, 0, 3, 0), cu=2)
    found = meanwhile(own, [own, first, second, elsewhere, other_unit], STALL)
    # first: VALU issues 3 to 5, MFMA 7 to 9; second: VALU 1 to 4, of which 2 to 4 are within.
    assert found.covered == len({3, 4, 5} | {7, 8, 9} | {2, 3, 4})
    assert found.by_kind == ((int(TokenKind.VALU), 6), (int(TokenKind.MATRIX), 3))
    assert found.waves == 2


def test_nobody_else_hides_nothing() -> None:
    own = build.wave("VViiiiiiiiI", [0, 1])
    before = build.wave("VV.........", [3], row=1, place=(0, 0, 1, 0))
    assert meanwhile(own, [own, before], STALL) == NO_OTHER_WAVES
