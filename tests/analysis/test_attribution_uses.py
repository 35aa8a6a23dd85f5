"""Who wrote what an instruction reads, who had a unit longest, and who shares a SIMD, beside plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.attribution import uses as module
from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.lines import MATRIX, SALU, VALU, LineTraits, lines
from rcv_py.analysis.attribution.stream import engine_stream
from rcv_py.analysis.attribution.uses import WINDOW, LineHistory, Uses, overwritten, uses
from rcv_py.model.architecture import architecture_of
from tests.analysis import build

TEXTS = (
    "v_add_f32 v1, v2, v3",
    "v_mul_f32 v2, v1, v1",
    "s_add_u32 s1, s2, s3",
    "v_mov_b32 v3, s1",
    "v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]",
    "buffer_load_dword v4, s[0:3], 0 offen lds",
    "s_nop 0",
    "v_add_f32 v4, v4, v2",
)
UNITS = ((VALU, MATRIX), (VALU, SALU))
# Waves: ranges of lines one after the other, as a program with jumps runs them; the last line is unknown.
Runs = list[tuple[int, int]]
RUNS = st.lists(st.tuples(st.integers(0, len(TEXTS)), st.integers(1, 45)), max_size=8)


def program() -> LineTraits:
    return lines(build.code(TEXTS), architecture_of(9, "gfx942"))


def ran(waves: list[Runs]) -> tuple[np.ndarray, np.ndarray]:
    """The lines of all tokens, and the tokens that waves begin with."""
    each = [[(first + i) % (len(TEXTS) + 1) for first, count in runs for i in range(count)] for runs in waves]
    first = np.cumsum([0, *map(len, each)])
    return np.array([line for one in each for line in one], dtype=np.int64), first


def bits(words: np.ndarray) -> int:
    return int.from_bytes(words.astype("<u8").tobytes(), "little")


def pairs(found: Uses) -> list[tuple[int, int]]:
    return [*zip(found.row.tolist(), found.writer.tolist(), strict=True)]


def plain(
    history: tuple[np.ndarray, np.ndarray],
    readers: list[int],
    wanted: list[int],
    offered: list[int],
    meant: list[bool],
) -> list[tuple[int, int]]:
    """Look back from each reader, one token after the other."""
    line, first = history
    found = []
    for row, reader in enumerate(readers):
        missing = wanted[line[reader]]
        start = max(int(one) for one in first if one <= reader)
        for writer in range(reader - 1, max(start, reader - WINDOW) - 1, -1):
            if missing & offered[line[writer]] and meant[line[writer]]:
                found.append((row, writer))
            missing &= ~offered[line[writer]]
    return found


@given(st.lists(RUNS, min_size=1, max_size=3), st.data())
def test_uses_are_those_that_looking_back_finds(waves: list[Runs], data: st.DataObject) -> None:
    of_code, (line, first) = program(), ran(waves)
    readers = sorted(data.draw(st.sets(st.integers(0, len(line) - 1)))) if len(line) else []
    history, at = LineHistory(line, first), np.array(readers, dtype=np.int64)
    reads, writes = ([bits(row) for row in table] for table in (of_code.reads, of_code.writes))
    for units in UNITS:
        found = uses(of_code, history, at, units)
        meant = np.isin(of_code.unit, units).tolist()
        assert pairs(found) == plain((line, first), readers, reads, writes, meant)
    copies = (of_code.form == Cause.WAIT_DMA).tolist()
    read = [one if is_copy else 0 for one, is_copy in zip(reads, copies, strict=True)]
    found = overwritten(of_code, history, at, Cause.WAIT_DMA)
    assert pairs(found) == plain((line, first), readers, writes, read, copies)


def test_a_line_at_a_distance_is_not_taken_for_a_line_of_that_number_at_another() -> None:
    """A wave that begins at line 0 and runs line 1 then, and one that begins at line 1, are two sequences."""
    of_code, (line, first) = program(), ran([[(0, 2)], [(1, 1)]])
    assert pairs(uses(of_code, LineHistory(line, first), np.arange(3), (VALU, MATRIX))) == [(1, 0)]


def test_what_is_kept_of_sequences_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_KNOWN", 2)
    of_code = program()
    for shift in range(8):
        line, first = ran([[(shift, 3), (0, 6), (shift, 2)]])
        found = uses(of_code, LineHistory(line, first), np.arange(len(line)), (VALU, MATRIX))
        table = [bits(row) for row in of_code.reads], [bits(row) for row in of_code.writes]
        meant = np.isin(of_code.unit, (VALU, MATRIX)).tolist()
        expected = plain((line, first), [*range(len(line))], *table, meant)
        assert pairs(found) == expected


@pytest.mark.parametrize(("begin", "has_mates"), [(2, True), (9, True), (400, False)])
def test_waves_have_mates_where_they_live_at_once(begin: int, has_mates: bool) -> None:
    first = build.wave("VVVV..VVVV", [0, 1], row=0, place=(0, 0, 0, 0))
    second = build.wave("VVVV..VVVV", [0, 1], row=1, begin=begin, place=(0, 0, 1, 0))
    other = build.wave("VVVV", [0], row=2, begin=3, place=(0, 1, 0, 0))  # of another SIMD
    waves = [first, second, other]
    trace = build.trace(build.code(TEXTS), waves)
    assert engine_stream(trace, waves).has_mates.tolist() == [has_mates, has_mates, False]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("global_inv scope:SCOPE_DEV", Cause.WAIT_CACHE),
        ("global_wb scope:SCOPE_SYS", Cause.WAIT_CACHE),
        ("global_wbinv scope:SCOPE_SYS", Cause.WAIT_CACHE),
        ("buffer_inv sc1", Cause.WAIT_CACHE),
        ("buffer_wbl2 sc0 sc1", Cause.WAIT_CACHE),
        ("buffer_wbinvl1_vol", Cause.WAIT_CACHE),
        ("buffer_gl0_inv", Cause.WAIT_CACHE),
        ("buffer_gl1_inv", Cause.WAIT_CACHE),
        ("s_dcache_wb", Cause.WAIT_CACHE),
        ("global_load_dword v0, v1, s[2:3]", Cause.WAIT_LOAD),
        ("global_store_dword v1, v0, s[2:3]", Cause.WAIT_STORE),
        ("s_load_dword s0, s[2:3], 0x0", Cause.WAIT_SCALAR),
    ],
)
def test_what_keeps_caches_is_no_load_and_no_store(text: str, form: Cause) -> None:
    assert lines(build.code([text]), architecture_of(9, "gfx942")).form[0] == form
