"""What is kept of decoded captures: never what another try may decode better, and never what changed."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rcv_py.base.errors import ExportError
from rcv_py.formats.isa import processes
from rcv_py.formats.raw import kept
from rcv_py.formats.raw import open as raw_open
from rcv_py.formats.raw.files import raw_capture
from rcv_py.formats.raw.open import open_raw
from tests.support.raw_samples import copied, raw_sample

STREAM = "1_0_shader_engine_1_1.att"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where decoded captures of a test are kept."""
    monkeypatch.setenv(kept.PLACE, str(tmp_path / "kept"))
    return tmp_path / "kept"


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """A raw capture of its own: two shader engines, without code objects, which take longest."""
    return copied(raw_sample("gfx12"), tmp_path / "capture", "*.att")


@pytest.fixture
def decodings(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """The captures that were decoded, one after the other."""
    seen: list[Path] = []
    decoded = raw_open.decoded

    def noted(found: kept.RawCapture, *more: object, **named: object) -> object:
        seen.append(found.folder)
        return decoded(found, *more, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(raw_open, "decoded", noted)
    return seen


def names(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


def test_a_capture_is_decoded_once(place: Path, capture: Path, decodings: list[Path]) -> None:
    first, second = open_raw(capture), open_raw(capture)
    assert decodings == [capture]
    assert len(first.waves) == len(second.waves) > 0
    assert first.problems == second.problems
    assert len(names(place)) == 1
    found = raw_capture(capture)
    assert found is not None
    assert raw_open.is_quick(found)


@pytest.mark.parametrize("change", ["bytes", "time", "code object", "gone"])
def test_changes_are_decoded_again(place: Path, capture: Path, decodings: list[Path], change: str) -> None:
    open_raw(capture)
    stream = capture / STREAM
    if change == "bytes":  # of the same number, and with the time of before
        before = stream.stat()
        stream.write_bytes(stream.read_bytes()[:-32] + bytes(32))
        os.utime(stream, ns=(before.st_atime_ns, before.st_mtime_ns))
    elif change == "time":
        os.utime(stream, ns=(1, 1))
    elif change == "code object":
        (capture / "1_gfx1200_code_object_id_1.out").write_bytes(b"\x7fELF")
    else:
        stream.unlink()
    open_raw(capture)
    assert len(decodings) == 2


@pytest.mark.parametrize("rest", [b"", b"PK\3\4 cut", b"\0" * 5000])
def test_damage_is_decoded_again(place: Path, capture: Path, decodings: list[Path], rest: bytes) -> None:
    whole = open_raw(capture)
    (place / names(place)[0]).unlink()  # it is in use, and mapped
    (place / (raw_open._key(raw_capture(capture), raw_open.USUAL) + ".rcvz")).write_bytes(rest)  # type: ignore[arg-type]
    again = open_raw(capture)
    assert len(decodings) == 2
    assert again.waves.begin.tolist() == whole.waves.begin.tolist()


def test_files_that_change_while_they_are_decoded_are_not_kept(
    place: Path, capture: Path, decodings: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded = raw_open.decoded

    def changed(*given: object, **named: object) -> object:
        found = decoded(*given, **named)  # type: ignore[arg-type]
        os.utime(capture / STREAM, ns=(1, 1))
        return found

    monkeypatch.setattr(raw_open, "decoded", changed)
    trace = open_raw(capture)
    assert len(trace.reader.read([0]).waves) == 1, "it is there for as long as this process is"
    assert len(names(place)) == 1
    monkeypatch.setattr(raw_open, "decoded", decoded)
    open_raw(capture)
    assert len(decodings) == 2


def test_what_a_disassembler_did_not_answer_in_time_is_asked_again(
    place: Path, capture: Path, decodings: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    objects_of = raw_open.objects_of

    def late(*given: object) -> object:
        assert processes.answer_of("engines", (), [b""], 0) is None
        return objects_of(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(raw_open, "objects_of", late)
    open_raw(capture)
    monkeypatch.setattr(raw_open, "objects_of", objects_of)
    open_raw(capture)
    open_raw(capture)
    assert len(decodings) == 2


def test_what_nobody_opened_for_longest_goes(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place.mkdir(mode=0o700)
    for number, name in enumerate(("oldest", "older", "newest")):
        (place / f"{name}.rcvz").write_bytes(bytes(100))
        os.utime(place / f"{name}.rcvz", (number, number))
    (place / "x.part").write_bytes(b"")
    os.utime(place / "x.part", (1, 1))
    (place / "y.part").write_bytes(b"")
    (place / "key.77-0.rcvz").write_bytes(b"")  # not kept, of a process that was killed
    os.utime(place / "key.77-0.rcvz", (1, 1))
    kept.make_room(place, most=200)
    assert names(place) == ["newest.rcvz", "older.rcvz", "y.part"]


@pytest.mark.skipif(sys.platform == "win32", reason="there a file that is open cannot be removed")
def test_what_is_in_use_stays(place: Path, capture: Path, decodings: list[Path]) -> None:
    trace = open_raw(capture)
    kept.make_room(place, most=0)
    assert len(names(place)) == 1
    assert len(trace.reader.read([0]).waves) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="owners and modes are those of POSIX")
def test_a_folder_that_others_can_write_to_is_not_believed(tmp_path: Path) -> None:
    folder = tmp_path / "open to all"
    folder.mkdir(mode=0o700)
    assert kept._is_own(folder)
    folder.chmod(0o777)
    assert not kept._is_own(folder)
    (tmp_path / "link").symlink_to(tmp_path)
    assert not kept._is_own(tmp_path / "link")


def test_no_room_names_the_variable(tmp_path: Path, capture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv(kept.PLACE, str(tmp_path / "a file" / "below"))
    with pytest.raises(ExportError, match="can be kept nowhere") as caught:
        open_raw(capture)
    assert kept.PLACE in caught.value.hint
