"""Raw captures open as the expected decode says: every wave, token, state and resident."""

from __future__ import annotations

import pickle
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rcv_py.base.problems import Affects
from rcv_py.formats.locate import locate
from rcv_py.formats.open import capture_entry, find_captures, open_trace
from rcv_py.formats.raw.files import raw_captures
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from tests.support.golden_sqtt import NAMES, golden, raw_folder
from tests.support.raw_captures import need_llvm

DISPATCHES = [(name, dispatch) for name in NAMES for dispatch in ((1, 2) if "gfx1100/sync" in name else (1,))]


@cache
def opened(name: str, dispatch: int) -> Trace:
    found = {one.dispatch: one.path for one in raw_captures(raw_folder(name))}
    return open_trace(found[dispatch])


def engines(name: str, dispatch: int) -> list[dict[str, Any]]:
    return [one for one in golden(name)["captures"] if one["file"].endswith(f"_{dispatch}.att")]


def waves(name: str, dispatch: int) -> dict[tuple[int, int, int, int], dict[str, Any]]:
    """The waves that are shown, by engine, SIMD, slot and number."""
    found: dict[tuple[int, int, int, int], dict[str, Any]] = {}
    for engine in engines(name, dispatch):
        count: dict[tuple[int, int], int] = {}
        for wave in engine["waves"]:
            if wave["insts"] or len(wave["timeline"]) >= 3:
                slot = wave["simd"], wave["slot"]
                found[engine["se"], *slot, count.get(slot, 0)] = wave
                count[slot] = count.get(slot, 0) + 1
    return found


@pytest.mark.parametrize(("name", "dispatch"), DISPATCHES)
def test_every_token_and_state_is_the_expected_one(name: str, dispatch: int) -> None:
    trace, said = opened(name, dispatch), waves(name, dispatch)
    batch = trace.reader.read(list(range(len(trace.waves))))
    assert {(one.id.se, one.id.simd, one.id.slot, one.id.wid) for one in batch.waves} == set(said)
    assert batch.missing == batch.notes == ()
    for wave in batch.waves:
        shift = trace.clock.offsets.get(wave.id.se, 0)
        expected = said[wave.id.se, wave.id.simd, wave.id.slot, wave.id.wid]
        assert (wave.begin - shift, wave.end - shift) == (expected["begin"], expected["end"])
        kind = np.where(wave.tokens.kind == TokenKind.MATRIX, TokenKind.VALU, wave.tokens.kind)
        address = np.append(trace.code.address, np.uint64(0))[wave.tokens.line]
        columns = (wave.tokens.start - shift, kind, address, wave.tokens.stall, wave.tokens.duration)
        tokens = [list(row) for row in zip(*(column.tolist() for column in columns), strict=True)]
        assert tokens == expected["insts"]
        states = zip(wave.states.state.tolist(), wave.states.duration.tolist(), strict=True)
        assert [list(row) for row in states] == expected["timeline"]


@pytest.mark.parametrize(("name", "dispatch"), DISPATCHES)
def test_every_resident_and_dispatch_is_the_expected_one(name: str, dispatch: int) -> None:
    trace = opened(name, dispatch)
    events, said = trace.occupancy, engines(name, dispatch)
    expected = sorted(
        (one["se"], row[0], row[1], row[2], row[3], row[4]) for one in said for row in one["occupancy"]
    )
    shift = np.array([trace.clock.offsets.get(se, 0) for se in events.se.tolist()], dtype=np.int64)
    unit = events.cu.astype(np.int64) | events.sa.astype(np.int64) << 7
    columns = (events.se, events.time - shift, events.is_start.astype(int), unit, events.simd, events.slot)
    assert sorted(zip(*(column.tolist() for column in columns), strict=True)) == expected
    address = {row[7] for one in said for row in one["occupancy"]}
    codes = golden(name)["code"].values()
    names = {code["kernel"] for code in codes if code["text"] in address}
    names = {"1 / 0x100" if name.startswith("custom_") else name for name in names}  # which have no symbols
    assert {events.names[kernel] for kernel in set(events.kernel.tolist())} == names
    launches = sorted((one["se"], *row[:3]) for one in said for row in one["dispatches"])
    shown = [
        (one.se, one.time - trace.clock.offsets.get(one.se, 0), one.me, one.pipe) for one in trace.dispatches
    ]
    assert sorted(shown) == launches


@pytest.mark.parametrize("name", NAMES)
def test_instructions_have_the_expected_texts(name: str) -> None:
    need_llvm()
    trace = opened(name, 1)
    texts = {address: text for code in golden(name)["code"].values() for address, _, text in code["isa"]}
    rows = np.flatnonzero(trace.code.hits)
    for row in rows.tolist():
        ours, theirs = trace.code.text[row].split()[0], texts[int(trace.code.address[row])].split()[0]
        assert ours == theirs


def test_waves_are_read_in_any_process() -> None:
    trace = opened("gfx950/gemm_run_0", 1)
    reader = pickle.loads(pickle.dumps(trace.reader))
    ours, theirs = trace.reader.read([2, 0]), reader.read([2, 0])
    assert [wave.id for wave in ours.waves] == [wave.id for wave in theirs.waves]
    assert np.array_equal(ours.line, theirs.line)
    assert len(pickle.dumps(trace.reader)) < 2000  # a path, and no columns


def test_several_captures_of_a_folder_are_named_by_their_files() -> None:
    folder = raw_folder("gfx1100/sync_run_0")
    first, second = folder / "1_0_shader_engine_0_1.att", folder / "1_0_shader_engine_0_2.att"
    assert locate(folder).captures() == (first, second)
    entries = find_captures(folder)
    assert [entry.path for entry in entries] == [first, second]
    assert [entry.about for entry in entries] == [
        f"Process 1 · Agent 0 · Dispatch {number} · SE 0-5 · {size} · 6 files"
        for number, size in ((1, "27.7 KB"), (2, "27.5 KB"))
    ]
    with pytest.raises(Exception, match="holds 2 captures, and one is needed") as caught:
        open_trace(folder)
    assert str(first) in caught.value.hint
    assert opened("gfx1100/sync_run_0", 2).path == second
    assert open_trace(folder / "1_0_shader_engine_3_2.att").path == second
    assert "dispatch 2" in opened("gfx1100/sync_run_0", 2).title
    assert "sync_run_0" in opened("gfx1100/sync_run_0", 2).title


def test_an_entry_tells_kernel_and_costs() -> None:
    entry = capture_entry(raw_folder("gfx950/gemm_run_0"))
    assert (entry.kernel, entry.waves, entry.hits, entry.note) == ("r_32_32_16_2", 4, 232, "")
    assert entry.path == Path(raw_folder("gfx950/gemm_run_0"))


def test_a_capture_whose_waves_ran_elsewhere_says_so() -> None:
    trace = opened("gfx1100/sync_run_0", 2)
    assert not len(trace.waves)
    assert [problem.affects for problem in trace.problems if "traced compute unit" in problem.text] == [
        (Affects.WAVES, Affects.CODE)
    ]
