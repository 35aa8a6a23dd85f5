"""Notes of a capture in three places: what is shown, what is written where, and what of others stays."""

import shutil
from pathlib import Path

import numpy as np
import orjson
import pytest
from msgspec.structs import replace

from rcv_py.base.errors import ExportError, UsageError
from rcv_py.base.problems import Severity
from rcv_py.formats.notes.document import SlotClocks
from rcv_py.formats.notes.store import NotePlaces, export_notes, identity, import_notes, new_note
from rcv_py.formats.open import open_trace
from rcv_py.formats.packed.capture import write_packed
from rcv_py.model.notes import Anchor, Note, NoteChanges
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from tests.support.opened import sample_trace
from tests.support.samples import sample_path, write_sample

NAME = "kernels"  # several waves a slot, one after the other


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    folder = tmp_path / "capture"
    write_sample(NAME, folder)
    return open_trace(folder)


def places_of(trace: Trace, tmp_path: Path) -> NotePlaces:
    return NotePlaces.of(trace, tmp_path / "own")


def titles(places: NotePlaces) -> list[str]:
    return [note.title for note in places.read().notes]


def put(*notes: Note) -> NoteChanges:
    return NoteChanges(put=notes)


def packed(trace: Trace, path: Path, notes: bytes = b"") -> Trace:
    rows = list(range(len(trace.waves)))
    write_packed(path, trace, [trace.reader.columns(rows)], notes=notes)
    return open_trace(path)


def test_a_capture_is_known_wherever_it_lies(trace: Trace, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere" / "other_name"
    shutil.copytree(trace.path, moved)
    assert identity(open_trace(moved)) == identity(trace)
    assert identity(packed(trace, tmp_path / "it.rcvz")) == identity(trace)
    names = ("matmul_small", "rivals", "untold", NAME)
    assert len({identity(open_trace(sample_path(name))) for name in names}) == 4


def test_notes_go_into_the_users_folder_and_come_back(trace: Trace, tmp_path: Path) -> None:
    places = places_of(trace, tmp_path)
    note = new_note(trace, Anchor(instructions=(3,)), "mine", text="why")
    file = places.save(put(note))
    assert file == tmp_path / "own" / f"{identity(trace)}.json"
    (read,) = places.read().notes
    assert (read.id, read.title, read.text, read.anchor) == (note.id, "mine", "why", note.anchor)
    assert not places.beside.exists()
    places.save(NoteChanges(removed=frozenset((note.id,))))
    assert titles(places) == []


def test_beside_the_capture_only_if_asked_for_and_possible(trace: Trace, tmp_path: Path) -> None:
    places = places_of(trace, tmp_path)
    note = new_note(trace, Anchor(), "everybody's")
    places.save(put(note))
    assert places.save(put(note), is_beside=True) == places.beside
    assert [one.kept_in for one in places.read().notes] == ["annotations.json"]
    places.beside.unlink()
    places.beside.mkdir()  # which nobody can write
    assert places.save(put(note), is_beside=True) == places.own
    assert titles(places) == ["everybody's"]


def test_what_an_agent_writes_is_shown_and_stays(trace: Trace, tmp_path: Path) -> None:
    places = places_of(trace, tmp_path)
    theirs = [{"title": "slow", "severity": "high", "x": 1}, {"id": "b", "title": "gone"}]
    places.beside.write_bytes(orjson.dumps(theirs))
    mine = new_note(trace, Anchor(), "mine")
    places.save(put(mine))
    slow, gone, _ = places.read().notes
    places.save(NoteChanges(removed=frozenset((gone.id,))))
    places.save(put(Note(slow.id, "not so slow")))
    assert sorted(titles(places)) == ["mine", "not so slow"]
    assert orjson.loads(places.beside.read_bytes()) == theirs, "their file is theirs"
    places.beside.write_bytes(orjson.dumps([*theirs, {"title": "later"}]))
    assert sorted(titles(places)) == ["later", "mine", "not so slow"]


def test_a_packed_capture_brings_its_notes(trace: Trace, tmp_path: Path) -> None:
    first = places_of(trace, tmp_path)
    one, two = new_note(trace, Anchor(), "one"), new_note(trace, Anchor(), "two")
    member = first.packed((one, two))
    sent = packed(trace, tmp_path / "sent.rcvz", member)
    places = NotePlaces.of(sent, tmp_path / "somebody")
    assert titles(places) == ["one", "two"]
    assert places.beside == tmp_path / "sent.rcvz.annotations.json"
    places.save(NoteChanges(removed=frozenset((one.id,))), is_beside=True)
    assert titles(places) == ["two"]
    before = (tmp_path / "sent.rcvz").read_bytes()
    places.save(put(Note(two.id, "two, but better")))
    assert titles(places) == ["two, but better"]
    assert (tmp_path / "sent.rcvz").read_bytes() == before


def test_a_bad_file_costs_its_own_notes(trace: Trace, tmp_path: Path) -> None:
    places = places_of(trace, tmp_path)
    places.save(put(new_note(trace, Anchor(), "mine")))
    for content in (b"{", b'"text"', b'{"annotations": [], "rcv": {"identity": "another"}}'):
        places.beside.write_bytes(content)
        book = places.read()
        if content.startswith(b'{"'):
            assert "another capture" in book.problems[0].text
        assert [note.title for note in book.notes] == ["mine"]
        assert len(book.problems) == 1
        assert book.problems[0].text.startswith("annotations.json ")
    places.own.write_bytes(b"{")
    with pytest.raises(ExportError, match="not saved"):
        places.save(put(new_note(trace, Anchor(), "lost?")))
    assert places.own.read_bytes() == b"{", "what we do not understand is not replaced"


def test_a_wave_of_wavescope_is_the_one_of_its_slot_that_lives_then(trace: Trace, tmp_path: Path) -> None:
    """WaveScope names a slot, and times as the files of waves have them, before engines are aligned."""
    offset, index = 1000, trace.waves
    row = len(index) // 2
    wave, begin, end = index.id(row), int(index.begin[row]), int(index.end[row])
    clock = replace(trace.clock, offsets={wave.se: offset})
    moved = replace(
        trace, waves=replace(index, begin=index.begin + offset, end=index.end + offset), clock=clock
    )
    places = places_of(moved, tmp_path)
    anchor = {
        "instIdxs": [4],
        "wave": {"se": wave.se, "sm": wave.simd, "slot": wave.slot},
        "time": [begin, end],
    }
    theirs = {
        "id": "w",
        "severity": "critical",
        "title": "slow",
        "note": "why",
        "confidence": 0.9,
        "anchor": anchor,
    }
    places.beside.write_bytes(orjson.dumps({"annotations": [{**theirs, "suggestion": "do less"}]}))
    (note,) = places.read().notes
    assert note.anchor == Anchor((4,), wave=wave, span=TimeWindow(begin + offset, end + offset))
    assert (note.severity, note.text) == (Severity.ERROR, "why\n\nSuggestion: do less")

    mine = new_note(moved, Anchor(wave=wave, span=note.anchor.span), "mine")
    places.save(put(replace(note, title="less slow"), mine), is_beside=True)
    first, second = orjson.loads(places.beside.read_bytes())["annotations"]
    assert first == {**theirs, "title": "less slow", "suggestion": "do less"}, (
        "what is the same stays as it was"
    )
    assert second["anchor"]["time"] == [begin, end]
    assert [one.anchor for one in places.read().notes] == [note.anchor, mine.anchor]

    places.save(put(replace(note, text="nothing to do")), is_beside=True)
    assert [one.text for one in places.read().notes] == ["nothing to do", ""], "a suggestion can be removed"


def test_a_slot_without_a_time_names_its_only_wave() -> None:
    trace = sample_trace("matmul_small")
    index, lanes = trace.waves, SlotClocks.of(trace)
    slots = np.stack([index.se, index.simd, index.slot], axis=1)
    seen: set[int] = set()
    for slot, count in zip(*np.unique(slots, axis=0, return_counts=True), strict=True):
        seen.add(int(count))
        found = lanes.wave((int(slot[0]), int(slot[1]), int(slot[2])), None)
        rows = np.flatnonzero((slots == slot).all(axis=1))
        assert found == (index.id(int(rows[0])) if count == 1 else None)
    assert seen == {1, 2}, "slots with one wave, and with two"
    end = int(index.end.max())
    assert (
        lanes.wave((int(index.se[0]), int(index.simd[0]), int(index.slot[0])), TimeWindow(end, end + 5))
        is None
    )
    assert lanes.wave((0, 0, 99), None) is None, "nobody lives there"


def test_links_out_of_the_capture_are_not_followed(trace: Trace, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_bytes(b'[{"title": "secret"}]')
    places = places_of(trace, tmp_path)
    places.beside.symlink_to(secret)
    assert titles(places) == []


def test_what_is_exported_is_imported_and_others_entries_stay(trace: Trace, tmp_path: Path) -> None:
    out, places = tmp_path / "annotations.json", places_of(trace, tmp_path)
    out.write_bytes(b'{"version": "0.4.0", "annotations": [{"id": "z", "title": "theirs"}]}')
    notes = (new_note(trace, Anchor(instructions=(1,)), "mine"),)
    export_notes(out, notes, places)
    assert orjson.loads(out.read_bytes())["version"] == "0.4.0"
    assert [note.title for note in import_notes(out, trace)] == ["theirs", "mine"]
    out.write_bytes(b"not json")
    with pytest.raises(ExportError, match="not replaced"):
        export_notes(out, notes, places)


@pytest.mark.parametrize(
    "anchor", [Anchor(instructions=(10**9,)), Anchor(instructions=(-1,)), Anchor(source=("nowhere.py", 3))]
)
def test_a_note_is_about_a_place_that_is_there(trace: Trace, anchor: Anchor) -> None:
    with pytest.raises(UsageError, match="The capture has no"):
        new_note(trace, anchor, "t")
    with pytest.raises(UsageError, match="title"):
        new_note(trace, Anchor(), " \n")


def test_changes_follow_each_other() -> None:
    a, b, a2 = Note("a", "1"), Note("b", "1"), Note("a", "2")
    changes = put(a, b).then(put(a2)).then(NoteChanges(removed=frozenset("b")))
    assert changes == NoteChanges(put=(a2,), removed=frozenset("b"))
    assert changes.on((a, b, Note("c", "3"))) == (a2, Note("c", "3"))
    assert changes.without(put(a)) == changes, "an older version was saved meanwhile"
    assert not changes.without(changes)
    assert NoteChanges(removed=frozenset("a")).then(put(a)) == put(a)
