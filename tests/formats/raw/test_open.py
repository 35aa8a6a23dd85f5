"""Raw captures open as their truth says: every wave, token, state and resident."""

import pickle
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rcv_py.base.errors import TraceError
from rcv_py.base.problems import Affects
from rcv_py.base.text import byte_size
from rcv_py.formats.locate import locate
from rcv_py.formats.open import capture_entry, find_captures, open_trace
from rcv_py.formats.raw.files import raw_captures
from rcv_py.formats.uiout.load import NO_WAVE
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from tests.support.raw_samples import raw_sample
from tests.support.sqtt_truth import Raw

ROOT = Path(__file__).resolve().parents[3]


@cache
def opened_at(folder: Path, dispatch: int) -> Trace:
    found = {one.dispatch: one.path for one in raw_captures(folder)}
    return open_trace(found[dispatch])


def opened(raw: Raw) -> Trace:
    return opened_at(raw.folder, raw.dispatch)


def test_every_token_and_state_is_the_expected_one(raw: Raw) -> None:
    trace, said = opened(raw), raw.waves
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


def test_every_resident_and_dispatch_is_the_expected_one(raw: Raw) -> None:
    trace = opened(raw)
    events, said = trace.occupancy, raw.engines
    expected = sorted(
        (one["se"], row[0], row[1], row[2], row[3], row[4]) for one in said for row in one["occupancy"]
    )
    shift = np.array([trace.clock.offsets.get(se, 0) for se in events.se.tolist()], dtype=np.int64)
    unit = events.cu.astype(np.int64) | events.sa.astype(np.int64) << 7
    columns = (events.se, events.time - shift, events.is_start.astype(int), unit, events.simd, events.slot)
    assert sorted(zip(*(column.tolist() for column in columns), strict=True)) == expected
    address = {row[7] for one in said for row in one["occupancy"]}
    codes = raw.said["code"].values()
    names = {code["kernel"] for code in codes if code["text"] in address}
    names = {"1 / 0x100" if name.startswith("custom_") else name for name in names}  # which have no symbols
    assert {events.names[kernel] for kernel in set(events.kernel.tolist())} == names
    launches = sorted((one["se"], *row[:3]) for one in said for row in one["dispatches"])
    shown = [
        (one.se, one.time - trace.clock.offsets.get(one.se, 0), one.me, one.pipe) for one in trace.dispatches
    ]
    assert sorted(shown) == launches


def test_instructions_have_the_expected_texts(raw: Raw) -> None:
    trace = opened(raw)
    texts = {address: text for code in raw.said["code"].values() for address, _, text in code["isa"]}
    rows = np.flatnonzero(trace.code.hits)
    for row in rows.tolist():
        ours, theirs = trace.code.text[row].split()[0], texts[int(trace.code.address[row])].split()[0]
        assert ours == theirs


def test_engines_are_aligned_by_the_clocks_that_they_wrote() -> None:
    """The simulator says how far they are apart."""
    assert opened(raw_sample("gfx11")).clock.offsets == {0: 0, 1: 311}
    assert opened(raw_sample("gfx11", 2)).clock.offsets == {0: 0, 1: 311}


def test_waves_are_read_in_any_process() -> None:
    trace = opened(raw_sample("gfx9"))
    reader = pickle.loads(pickle.dumps(trace.reader))
    ours, theirs = trace.reader.read([2, 0]), reader.read([2, 0])
    assert [wave.id for wave in ours.waves] == [wave.id for wave in theirs.waves]
    assert np.array_equal(ours.line, theirs.line)
    assert len(pickle.dumps(trace.reader)) < 2000  # a path, and no columns


def test_several_captures_of_a_folder_are_named_by_their_files() -> None:
    folder = raw_sample("gfx11").folder
    first, second = folder / "1_0_shader_engine_0_1.att", folder / "1_0_shader_engine_0_2.att"
    assert locate(folder).captures() == (first, second)
    entries = find_captures(folder)
    assert [entry.path for entry in entries] == [first, second]
    sizes = [sum(file.stat().st_size for file in folder.glob(f"*_{number}.att")) for number in (1, 2)]
    assert [entry.about for entry in entries] == [
        f"Process 1 · Agent 0 · Dispatch {number} · SE0-1 · {byte_size(size)} · 2 files"
        for number, size in zip((1, 2), sizes, strict=True)
    ]
    with pytest.raises(Exception, match="holds 2 captures, and one is needed") as caught:
        open_trace(folder)
    assert str(first) in caught.value.hint
    other = opened(raw_sample("gfx11", 2))
    assert other.path == second
    assert open_trace(folder / "1_0_shader_engine_1_2.att").path == second
    assert "dispatch 2" in other.title
    assert "raw_gfx11" in other.title


def test_an_entry_tells_kernel_and_costs() -> None:
    raw = raw_sample("gfx9")
    entry, tokens = capture_entry(raw.folder), sum(len(wave["insts"]) for wave in raw.waves.values())
    (code,) = raw.said["code"].values()
    assert (entry.kernel, entry.waves, entry.hits) == ("matmul_tiled", 24, tokens)
    assert "the clocks of 2 engines are not aligned" in entry.note
    assert "matmul_tiled" in code["kernel"]
    assert entry.path == raw.folder


def test_a_capture_whose_waves_ran_elsewhere_says_so() -> None:
    trace = opened(raw_sample("gfx11", 2))
    assert not len(trace.waves)
    said = [problem for problem in trace.problems if "traced compute unit" in problem.text]
    assert [problem.affects for problem in said] == [(Affects.WAVES, Affects.CODE)]
    assert all(problem.brief for problem in said), "the reason in full is for one panel"


def test_of_streams_that_cannot_be_decoded_the_first_by_name_is_named(tmp_path: Path) -> None:
    for engine in range(8):
        (tmp_path / f"1_1_shader_engine_{engine}_1.att").write_bytes(b"not a trace" * (1 + engine))
    with pytest.raises(TraceError, match=r"cannot be decoded: 1_1_shader_engine_0_1\.att"):
        open_trace(tmp_path)


def test_a_damaged_stream_is_no_reason_to_say_that_no_wave_ran(tmp_path: Path) -> None:
    first, second = sorted((ROOT / "sample_traces" / "raw_rms_norm").glob("*.att"))
    header = first.read_bytes()[:8]
    empty, none = f"{second.name} is damaged: it is empty.", "No wave ran on the traced compute unit;"
    for content, says, note in ((b"", empty, empty), (header, NO_WAVE[0], none)):
        (tmp_path / first.name).write_bytes(header)
        (tmp_path / second.name).write_bytes(content)
        said = [one.text for one in open_trace(tmp_path).problems if Affects.WAVES in one.affects]
        assert said == [says]
        (listed,) = find_captures(tmp_path)
        assert listed.note.startswith(note)
