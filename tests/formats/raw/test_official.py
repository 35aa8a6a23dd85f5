"""AMD's decoder through its C interface: a stand-in replays what a raw capture is known to hold."""

import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from rcv_py.analysis.latency.hidden_latency import HIDDEN
from rcv_py.formats.open import open_trace
from rcv_py.formats.raw import official
from rcv_py.formats.raw import official_records as kinds
from rcv_py.formats.raw.official_records import LAYOUT, STATE, TOKEN
from rcv_py.formats.raw.options import OFFICIAL, OWN, RawOptions, choosing
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from tests.support.decoder_differences import TOKENS, differences
from tests.support.limits import HANG_S
from tests.support.raw_samples import copied, raw_sample

COMPILER = shutil.which("cc")
if COMPILER is None:
    pytest.skip("no C compiler to build the stand-in with: install the package gcc", allow_module_level=True)

NAME = "gfx9"  # the capture of which the library tells
SOURCE = Path(__file__).parents[2] / "support" / "official_stub.c"


def record(kind: int, count: int, data: bytes = b"") -> bytes:
    return struct.pack("<3Q", kind, count, len(data)) + data


def records(is_first: bool) -> bytes:
    """What the library tells of the first shader engine: PCs are addresses on the GPU, of no code object."""
    said = raw_sample(NAME).said
    base = said["code"]["1"]["base"]
    engine = said["captures"][0]
    found = [record(kinds.GFXIP, 9), record(77, 3, b"unknown kind")]
    table = np.zeros(len(engine["occupancy"]), dtype=LAYOUT[kinds.OCCUPANCY])
    for row, (time, start, cu, simd, slot, me, pipe, pc, _) in zip(table, engine["occupancy"], strict=True):
        row["time"], row["cu"], row["simd"], row["slot"] = time, cu, simd, slot
        row["bits"] = start | (0 if is_first else me << 1 | pipe << 4 | 1 << 8)
        row["pc"] = (pc + base if pc else 0, 0)
    found.append(record(kinds.OCCUPANCY, len(table), table.tobytes()))
    for wave in engine["waves"]:
        head = np.zeros(1, dtype=LAYOUT[kinds.WAVE])
        for name in ("cu", "simd", "slot", "begin", "end"):
            head[name] = wave[name]
        head["size"] = 0 if is_first else head.dtype.itemsize
        head["states"], head["tokens"] = len(wave["timeline"]), len(wave["insts"]) + 1
        states = np.array(list(map(tuple, wave["timeline"])), dtype=STATE)
        tokens = np.zeros(len(wave["insts"]) + 1, dtype=TOKEN)
        for row, (time, kind, pc, stall, duration) in zip(tokens, wave["insts"], strict=False):
            row["word"], row["duration"], row["time"] = kind | stall << 8, duration, time
            row["pc"] = (pc + base, 0)
        tokens[-1] = (
            14,
            4,
            wave["end"],
            (base + 1, 0),
        )  # what is not finished leaks, where no instruction is
        found.append(record(kinds.WAVE, 1, head.tobytes() + states.tobytes() + tokens.tobytes()))
    found.append(record(kinds.INFO, 1, struct.pack("<i", kinds.LOST)))
    found.append(record(kinds.FREQUENCY, 1, struct.pack("<Q", 25_000_000)))
    return b"".join(found)


@pytest.fixture(scope="module", params=["first", "second"])
def library(request, tmp_path_factory) -> tuple[Path, Path]:
    """The stand-in with the first or the second interface, and what it replays."""
    folder = tmp_path_factory.mktemp(request.param)
    built = folder / official.LIBRARY
    flags = ["-DSTUB_FIRST"] if request.param == "first" else []
    subprocess.run([COMPILER, "-shared", "-fPIC", *flags, "-o", built, SOURCE], check=True, timeout=HANG_S)
    (folder / "records").write_bytes(records(request.param == "first"))
    return built, folder / "records"


@pytest.fixture(scope="module")
def one_engine(tmp_path_factory) -> Path:
    """A raw capture of one shader engine."""
    return copied(
        raw_sample(NAME), tmp_path_factory.mktemp("engine"), "1_0_shader_engine_0_1.att", "*.out", "code.json"
    )


def by_library(library: tuple[Path, Path], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Trace:
    monkeypatch.setenv("STUB_RECORDS", str(library[1]))
    return open_trace(folder, options=RawOptions(decoder="official", library=str(library[0])))


def test_what_the_library_says_is_the_same_trace(library, one_engine, monkeypatch) -> None:
    theirs, ours = by_library(library, one_engine, monkeypatch), open_trace(one_engine)
    rows = list(range(len(raw_sample(NAME).engines[0]["waves"])))
    assert len(theirs.waves) == len(ours.waves) == len(rows) > 0
    for name in ("text", "address", "hits", "latency", "stall", "idle"):
        assert list(getattr(theirs.code, name)) == list(getattr(ours.code, name))
    for mine, other in zip(ours.reader.read(rows).waves, theirs.reader.read(rows).waves, strict=True):
        assert mine.id == other.id
        for name in ("start", "stall", "busy", "kind", "line"):
            assert np.array_equal(getattr(mine.tokens, name), getattr(other.tokens, name))
        assert np.array_equal(mine.states.duration, other.states.duration)
    assert theirs.occupancy.kernel.tolist() == ours.occupancy.kernel.tolist()
    assert theirs.clock.frequency == 25_000_000
    assert any("lost data" in problem.text for problem in theirs.problems)


@pytest.mark.parametrize("frequency", [1, 999_999, 10**10 + 1, 2**64 - 1])
def test_an_impossible_frequency_of_the_library_gives_no_time(
    frequency, library, one_engine, monkeypatch, tmp_path
) -> None:
    said = struct.pack("<Q", 25_000_000)
    data = library[1].read_bytes()
    assert data.count(said) == 1
    (tmp_path / "records").write_bytes(data.replace(said, struct.pack("<Q", frequency)))
    folder = shutil.copytree(one_engine, tmp_path / "engine")  # what was decoded before is kept by its place
    trace = by_library((library[0], tmp_path / "records"), folder, monkeypatch)
    assert (trace.clock.frequency, trace.clock.ns(1000)) == (0, None)
    texts = [one.text for one in trace.problems if "without a usable frequency" in one.text]
    said = "has a constant clock without a usable frequency: no time in seconds is known."
    assert texts == [f"1_0_shader_engine_0_1.att {said}"]


def test_one_process_decodes_several_engines(library, one_engine, monkeypatch, tmp_path) -> None:
    """Starting a process and reading code objects takes far longer than decoding."""
    folder = copied(raw_sample(NAME), tmp_path / "both")
    started = []
    process = official._LibraryProcess

    class Counted(process):
        def __init__(self) -> None:
            started.append(self)
            super().__init__()

    monkeypatch.setattr(official, "_LibraryProcess", Counted)
    monkeypatch.setenv("STUB_ANYTHING", str(tmp_path))  # another environment than before
    theirs = by_library(library, folder, monkeypatch)
    assert len(list(folder.glob("*_1.att"))) > 1
    assert len(theirs.waves) > len(raw_sample(NAME).engines[0]["waves"])
    assert len(started) == 1
    started[0].close()


def test_times_of_a_lost_library_are_reported(library, one_engine, monkeypatch, tmp_path) -> None:
    table = np.zeros(1, dtype=LAYOUT[kinds.OCCUPANCY])
    table["time"], table["bits"] = (1 << 40) + 1, 1
    far = library[1].read_bytes() + record(kinds.OCCUPANCY, 1, table.tobytes())
    (tmp_path / "records").write_bytes(far)
    monkeypatch.setenv("RCV_DECODED", str(tmp_path / "decoded"))
    trace = by_library((library[0], tmp_path / "records"), one_engine, monkeypatch)
    (problem,) = (one for one in trace.problems if "loses its place" in one.text)
    assert "1,099,511,627,776 cycles" in problem.text
    assert "Leave out --decoder official" in problem.hint


@pytest.mark.parametrize("size", [104, 128])
def test_values_of_markers_are_shader_data(library, one_engine, monkeypatch, tmp_path, size) -> None:
    """Records of 104 bytes, and of a later library that has more to say; and one that is too short."""
    value = np.zeros(1, dtype=LAYOUT[kinds.SHADER_DATA])
    value["time"], value["value"], value["cu"], value["slot"] = 1234, 6, 1, 3
    markers = b"".join(struct.pack("<Q", size) + value.tobytes() + bytes(size - 32) for _ in range(2))
    short = struct.pack("<Q", 16) + bytes(8)
    data = record(kinds.MARKER, 2, markers) + record(kinds.MARKER, 1, short) + record(12, 1, bytes(48))
    (tmp_path / "records").write_bytes(library[1].read_bytes() + data)
    monkeypatch.setenv("RCV_DECODED", str(tmp_path / "decoded"))
    trace = by_library((library[0], tmp_path / "records"), one_engine, monkeypatch)
    (found,) = trace.shader_data
    assert (found.value.tolist(), found.slot.tolist(), found.time.tolist()[0]) == ([6, 6], [3, 3], 1234)


@pytest.mark.parametrize("more", [7, 31])
def test_what_waves_hide_is_as_the_library_says(library, one_engine, monkeypatch, tmp_path, more) -> None:
    """Sums over SIMDs, by the rule of the reference viewer; a later library may have more to say."""
    is_second = "second" in str(library[0])
    engine = raw_sample(NAME).engines[0]
    base = raw_sample(NAME).said["code"]["1"]["base"]
    at = engine["waves"][0]["insts"][2][2]
    rows = [(1, 2, 0, 0), (3, 0, 1, 1), (-5, 0, 0, 2), (1 << 60, 0, 0, 3)]  # the last two cannot be
    head = struct.pack("<3Q", 49 + more, base + at, 0)
    data = b"".join(head + struct.pack("<3qB", *row) + bytes(more) for row in rows)
    short = struct.pack("<Q", 40) + bytes(32)
    said = record(kinds.HIDDEN, len(rows), data) + record(kinds.HIDDEN, 1, short)
    (tmp_path / "records").write_bytes(library[1].read_bytes() + said)
    monkeypatch.setenv("RCV_DECODED", str(tmp_path / "decoded"))
    trace = by_library((library[0], tmp_path / "records"), one_engine, monkeypatch)
    if not is_second:  # which has no analysis to ask for
        assert trace.code.hidden is None
        return
    (row,) = np.flatnonzero(trace.code.hidden.any(axis=1)).tolist()
    assert int(trace.code.address[row]) == at
    assert trace.code.hidden[row].tolist() == [4, 2, 1]
    batch = trace.reader.read(list(range(len(trace.waves))))
    told = HIDDEN[ReferenceRule.REFERENCE].of(trace, [batch])
    assert (told.idle[row], told.stall[row], told.issue[row]) == (4, 2, 1)
    assert "AMD's decoder" in told.assumption
    again = by_library((library[0], tmp_path / "records"), one_engine, monkeypatch)  # it was kept
    assert np.array_equal(again.code.hidden, trace.code.hidden)


def test_a_library_that_crashes_costs_its_engine_and_says_so(library, one_engine, monkeypatch) -> None:
    monkeypatch.setenv("STUB_CRASH", "1")
    shutil.copyfile(one_engine / "1_0_shader_engine_0_1.att", one_engine / "1_0_shader_engine_1_1.att")
    with pytest.raises(Exception, match=r"ended while it read it \(signal 6\)"):
        by_library(library, one_engine, monkeypatch)
    (one_engine / "1_0_shader_engine_1_1.att").unlink()


def test_a_library_that_refuses_is_quoted(library, one_engine, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("STUB_RECORDS", str(tmp_path / "missing"))
    shutil.copyfile(library[0], tmp_path / official.LIBRARY)  # of which nothing is kept
    with pytest.raises(Exception, match=r"refuses it \(refused\)"):
        open_trace(one_engine, options=RawOptions(decoder="official", library=str(tmp_path)))


def test_another_library_is_asked_anew(library, one_engine, monkeypatch, tmp_path) -> None:
    mine = tmp_path / official.LIBRARY
    shutil.copyfile(library[0], mine)
    count = len(raw_sample(NAME).engines[0]["waves"])
    assert len(by_library((mine, library[1]), one_engine, monkeypatch).waves) == count
    monkeypatch.setenv("STUB_CRASH", "1")
    assert len(by_library((mine, library[1]), one_engine, monkeypatch).waves) == count  # it was kept
    with mine.open("ab") as file:
        file.write(b"newer")
    with pytest.raises(Exception, match="ended while it read it") as caught:
        by_library((mine, library[1]), one_engine, monkeypatch)
    assert "Leave out --decoder official" in caught.value.hint


def test_where_both_differ_is_listed(library, one_engine, monkeypatch, tmp_path) -> None:
    data = library[1].read_bytes()
    monkeypatch.setenv(official.VARIABLES[0], str(library[0]))
    monkeypatch.setenv("STUB_RECORDS", str(library[1]))

    def opened(decoder: str) -> Trace:
        with choosing(decoder, ()):
            return open_trace(one_engine)

    assert not list(differences(opened(OWN), opened(OFFICIAL)))
    engine = raw_sample(NAME).engines[0]
    time = engine["waves"][0]["insts"][3][0]
    changed = data.replace(
        struct.pack("<iq", engine["waves"][0]["insts"][3][4], time), struct.pack("<iq", 64, time), 1
    )
    (tmp_path / "records").write_bytes(changed)
    monkeypatch.setenv("STUB_RECORDS", str(tmp_path / "records"))
    monkeypatch.setenv("RCV_DECODED", str(tmp_path / "decoded"))  # what was decoded before is not kept there
    (row,) = differences(opened(OWN), opened(OFFICIAL))
    assert (row.what, row.first, row.count) == (TOKENS, 3, 1)
    assert row.b == row.a.rpartition(", ")[0] + ", 64 busy"
