"""`annotations.json` of others: every spelling of a place; what is not known stays, and all is text."""

import random
from typing import Any

import orjson
import pytest

from rcv_py.base.errors import BrokenFile
from rcv_py.base.problems import Severity
from rcv_py.formats.notes.document import MAX_NOTES, MAX_RECORDS, document_of, read_notes
from rcv_py.model.ids import WaveId
from rcv_py.model.notes import TITLE_LETTERS, Anchor, Note, NoteChanges
from rcv_py.model.window import TimeWindow
from tests.fuzz.mutate import damaged_bytes, damaged_tree

WAVE = WaveId(0, 1, 2, 3)
AT = TimeWindow(126704, 126705)
ANCHORS: list[tuple[Any, Anchor]] = [
    ({"instructions": [118, 119]}, Anchor(instructions=(118, 119))),
    ({"instruction_indices": [118]}, Anchor(instructions=(118,))),
    ({"instIdxs": [2994, 3004]}, Anchor(instructions=(2994, 3004))),
    ({"instructionIndices": [9]}, Anchor(instructions=(9,))),
    ({"isaIndices": [7, 7, -1, True, "x"]}, Anchor(instructions=(7,))),
    ({"instruction": 5}, Anchor(instructions=(5,))),
    ({"source": {"file": "kernel.py", "line": 186}}, Anchor(source=("kernel.py", 186))),
    ({"source": "dir/kernel.py:186"}, Anchor(source=("dir/kernel.py", 186))),
    ({"file": "kernel.py", "line": 186}, Anchor(source=("kernel.py", 186))),
    ({"source": {"file": "kernel.py", "line": 0}}, Anchor()),
    ({"wave": "se0/simd1/slot2/wv3", "time": 126704}, Anchor(wave=WAVE, span=AT)),
    ({"wave": "se0_sm1_sl2_wv3.json", "clock": 126704}, Anchor(wave=WAVE, span=AT)),
    ({"wave": {"se": 0, "simd": 1, "slot": 2, "wave": 3}, "cycle": 126704}, Anchor(wave=WAVE, span=AT)),
    ({"se": 0, "sm": 1, "sl": 2, "wv": 3, "time": 126704}, Anchor(wave=WAVE, span=AT)),
    ({"wave": [0, 1, 2, 3]}, Anchor(wave=WAVE)),
    ({"wave": [0, 1, 2]}, Anchor()),
    ({"wave": {"se": 0, "sm": 1, "slot": 2}, "time": [10, 20]}, Anchor(span=TimeWindow(10, 20))),
    (None, Anchor()),
    ({"wave": "the second"}, Anchor()),
    ({"begin": 10, "end": 20}, Anchor(span=TimeWindow(10, 20))),
    ({"time": {"start": 10, "end": 20}}, Anchor(span=TimeWindow(10, 20))),
    ({"span": [10, 20]}, Anchor(span=TimeWindow(10, 20))),
    ({"time": 1 << 62}, Anchor()),
    ({"time": -5}, Anchor(span=TimeWindow(-5, -4))),
    ({}, Anchor()),
]


def read(*rows: Any, name: str = "annotations.json") -> tuple[Note, ...]:
    return read_notes(orjson.dumps(list(rows)), name).notes


@pytest.mark.parametrize(("anchor", "meant"), ANCHORS)
def test_a_place_is_read_however_it_is_spelt(anchor: Any, meant: Anchor) -> None:
    (note,) = read({"title": "t", "anchor": anchor})
    assert note.anchor == meant


def test_findings_of_a_script_are_notes() -> None:
    """rocKE's script writes `findings` with a `detail`, numbers as ids and a place as `file:line`."""
    finding = {
        "id": 1,
        "severity": "high",
        "title": "t",
        "detail": "d",
        "source": "/a/k.py:7",
        "instructionIndices": [3],
    }
    (note,) = read_notes(orjson.dumps({"version": 1, "findings": [finding], "summary": {}}), "x").notes
    assert (note.id, note.text, note.severity) == ("1", "d", Severity.ERROR)
    assert note.anchor == Anchor((3,), source=("/a/k.py", 7))


def test_an_entry_without_an_anchor_object_is_a_place_itself() -> None:
    (note,) = read({"id": 5, "title": "t", "instructions": [3], "note": "n"})
    assert (note.id, note.anchor, note.text) == ("5", Anchor(instructions=(3,)), "n")


@pytest.mark.parametrize(
    ("word", "severity"),
    [
        ("critical", Severity.ERROR), ("HIGH", Severity.ERROR), ("medium", Severity.WARNING),
        ("warn", Severity.WARNING), ("low", Severity.INFO), (3, Severity.INFO), (None, Severity.INFO),
    ],
)  # fmt: skip
def test_severities_of_others_are_three_here(word: Any, severity: Severity) -> None:
    (note,) = read({"title": "t", "severity": word})
    assert note.severity is severity


def test_what_is_written_reads_back() -> None:
    notes = tuple(
        Note(f"n{at}", "a title", "text\n<b>", Severity.WARNING, anchor, "me", "2026-11-23T15:30:00Z")
        for at, (_, anchor) in enumerate(ANCHORS)
    )
    data = document_of(notes, {"identity": "x"}).written()
    assert read_notes(data, "x").notes == notes


@pytest.mark.parametrize("head", [{"annotations": None}, {"version": "0.4.0", "entries": None}, None])
def test_what_is_not_known_stays(head: dict[str, Any] | None) -> None:
    rows = [
        {"id": "a", "title": "old", "anchor": {"instructionIndices": [1], "color": "red"}, "tags": ["x"]},
        7,
        {"id": "b", "title": "gone"},
        {"id": "c", "title": "kept", "color": "blue"},
    ]
    key = "annotations" if head is None else next(name for name, value in head.items() if value is None)
    before = read_notes(orjson.dumps(rows if head is None else {**head, key: rows}), "x")
    (first, *_) = before.notes
    other = Note("a", "new", anchor=first.anchor)
    new = Note("d", "added", anchor=Anchor(instructions=(9,)))
    after = before.changed(NoteChanges(put=(other, new), removed=frozenset("b")), {"identity": "i"})
    written = orjson.loads(after.written())
    assert written["rcv"] == {"identity": "i"}
    assert {name: written[name] for name in head or {} if name != key} == {
        name: value for name, value in (head or {}).items() if name != key
    }
    entries = written[key]
    assert [entry if entry == 7 else entry["id"] for entry in entries] == ["a", 7, "c", "d"]
    assert entries[0]["title"] == "new"
    assert entries[0]["tags"] == ["x"]
    assert entries[0]["anchor"] == rows[0]["anchor"]  # type: ignore[index]
    assert entries[2] == rows[3]


def test_entries_without_an_id_keep_the_one_they_are_given() -> None:
    rows = [{"title": "same"}, {"title": "same"}, {"title": "other"}]
    ids = [note.id for note in read(*rows)]
    assert len(set(ids)) == 3
    assert ids == [note.id for note in read(*rows)]


def test_texts_of_strangers_are_cut_and_titles_are_one_line() -> None:
    (note,) = read({"title": "a\nb\x1b[31m \u202e" + "x" * 1000, "note": "y" * 100_000})
    assert len(note.title) == TITLE_LETTERS
    assert note.title.startswith(r"a b\x1b[31m \u202ex")
    assert len(note.text) == 20_000
    assert read({"note": "only a text\nof lines"})[0].title == "only a text"
    assert read({"title": " \n "}, 5, None, ["t"]) == ()


def test_too_much_is_refused_or_left_out() -> None:
    many = read_notes(orjson.dumps([{"title": "t"}] * (MAX_NOTES + 5)), "x")
    assert (len(many.notes), many.left_out) == (MAX_NOTES, 5)
    assert len(orjson.loads(many.written())) == MAX_NOTES + 5
    for data in (b"{", b'"a"', b'{"annotations": 5}', b"[" * (MAX_RECORDS + 1)):
        with pytest.raises(BrokenFile):
            read_notes(data, "x")


def test_damaged_files_are_read_or_refused() -> None:
    whole = orjson.loads(document_of([Note("n", "t", "x", anchor=a) for _, a in ANCHORS], {}).written())
    for seed in range(300):
        rng = random.Random(seed)
        data = orjson.dumps(damaged_tree(rng, whole), option=orjson.OPT_NON_STR_KEYS)
        data = damaged_bytes(rng, data) if seed % 2 else data
        try:
            found = read_notes(data, "x")
        except BrokenFile:
            continue
        again = read_notes(found.written(), "x")
        assert [note.title for note in again.notes] == [note.title for note in found.notes]
