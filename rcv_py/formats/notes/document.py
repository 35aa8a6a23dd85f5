"""Read and write `annotations.json`, the format of WaveScope, agents and this program: a list of entries.

```
{"annotations": [{"id": "7f3a", "severity": "medium", "title": "…", "note": "…", "suggestion": "…",
                  "anchor": {"instIdxs": [118, 119]}},
                 {"id": "91c2", "severity": "high", "title": "…", "note": "…",
                  "anchor": {"wave": {"se": 0, "sm": 1, "slot": 2}, "time": [126704, 131072]}},
                 {"id": "c0de", "severity": "info", "title": "…", "note": "…",
                  "anchor": {"source": {"file": "kernel.py", "line": 186}}},
                 {"id": "beef", "severity": "info", "title": "…", "note": "…", "anchor": null}]}
```

`instIdxs` are rows of `code.json`, and a wave is named by its slot: the time selects the wave of that slot
(`SlotClocks`).  This follows files that WaveScope's users published; other variants are read as well: a bare
list, `findings` with a `detail`, and several spellings of each name.  Unknown entries stay in the file when
it is written again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import orjson
from msgspec import field
from msgspec.structs import replace

from rcv_py.base.errors import BrokenFile
from rcv_py.base.problems import Severity
from rcv_py.base.record import Record, Value
from rcv_py.base.tables import table
from rcv_py.base.text import Message, elide_right, json_bytes
from rcv_py.formats.input.columns import list_of, table_of, text_of
from rcv_py.formats.input.files import parse_json
from rcv_py.model.ids import WaveId
from rcv_py.model.notes import MAX_INSTRUCTIONS, TEXT_LETTERS, Anchor, Note, NoteChanges, one_line
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveIndex
from rcv_py.model.window import TimeWindow

FILE_BYTES = 16 << 20
MAX_RECORDS = 200_000  # objects and lists of a file, which need far more memory than their text
MAX_NOTES = 5000  # of a file
ID_LETTERS = 64
MAX_CYCLE = 1 << 60
MAX_LINE = 1 << 31
LIST = "annotations"
OWN = "rcv"  # data of this program alone: the capture of the file, and removed notes
_ADVICE = "suggestion"  # the end of our text
_WAVE_TEXT = re.compile(
    r"se(\d{1,6})[/_](?:simd|sm)(\d{1,6})[/_](?:slot|sl)(\d{1,6})[/_]wv(\d{1,9})(?:\.json)?", re.ASCII
)
_SEVERITY_WRITTEN = {Severity.ERROR: "high", Severity.WARNING: "medium", Severity.INFO: "info"}


Lane = tuple[int, int, int]  # shader engine, SIMD, slot


class SlotClocks(Record):
    """The slots and clocks of a capture; empty without a capture."""

    waves: WaveIndex | None = None
    offsets: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, trace: Trace) -> SlotClocks:
        """Return the lanes of a capture."""
        return cls(waves=trace.waves, offsets=trace.clock.offsets)

    def offset(self, se: int) -> int:
        """Return the cycles that were added to a shader engine's times to align it."""
        return self.offsets.get(se, 0)

    def wave(self, lane: Lane, span: TimeWindow | None) -> WaveId | None:
        """Return the wave of a slot with the longest overlap with a time, the first of equals.

        Without a time it is the only wave of the slot; None if there are several, or none.
        """
        if self.waves is None:
            return None
        index = self.waves
        se, simd, slot = lane
        rows = np.flatnonzero((index.se == se) & (index.simd == simd) & (index.slot == slot))
        if span is not None:
            common = np.minimum(index.end[rows], span.end) - np.maximum(index.begin[rows], span.begin)
            rows = rows[common == common.max(initial=1)][:1]
        return index.id(int(rows[0])) if len(rows) == 1 else None


NO_LANES = SlotClocks()


class NoteEntry(Value):
    """An element of the list as in the file, and its note; None if it is not a note."""

    raw: Any
    note: Note | None


class NoteDocument(Record):
    """The contents of a file; `head` is the object around the list, None for a bare list."""

    entries: tuple[NoteEntry, ...] = ()
    head: Mapping[str, Any] | None = field(default_factory=dict)
    key: str = LIST  # the key of the list
    lanes: SlotClocks = NO_LANES  # of its capture
    left_out: int = 0  # elements that are not notes, or too many

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes, in the order of the file."""
        return tuple(entry.note for entry in self.entries if entry.note is not None)

    @property
    def removed(self) -> frozenset[str]:
        """Ids of hidden notes of other files."""
        return frozenset(one for one in list_of(self._own.get("removed")) if isinstance(one, str))

    @property
    def _own(self) -> dict[str, Any]:
        return table_of((self.head or {}).get(OWN))

    def changed(
        self, changes: NoteChanges, about: Mapping[str, str], hidden: frozenset[str] = frozenset()
    ) -> NoteDocument:
        """Return the document with these changes; `about` identifies the capture.

        A changed entry keeps its position and its unknown keys.  `hidden` are ids of notes in other files
        that are no longer shown.
        """
        put = {note.id: note for note in changes.put}
        entries = []
        for entry in self.entries:
            id_ = "" if entry.note is None else entry.note.id
            if id_ in changes.removed:
                continue
            other = put.pop(id_, None)
            entries.append(entry if other is None else _other(entry, other, self.lanes))
        entries += [NoteEntry(entry_of(note, self.lanes), note) for note in put.values()]
        own = {**self._own, **about}
        kept = {note.id for note in (*self.notes, *changes.put)}  # their own entries decide
        if gone := (self.removed | hidden) - kept:
            own["removed"] = sorted(gone)
        else:
            own.pop("removed", None)
        head = {self.key: None} if self.head is None else dict(self.head)
        return replace(self, entries=tuple(entries), head={**head, OWN: own})

    def written(self) -> bytes:
        """Return the file: JSON in the layout that was read."""
        rows = [entry.raw for entry in self.entries]
        document: Any = rows if self.head is None else {**self.head, self.key: rows}
        return json_bytes(document, orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def read_notes(data: bytes, name: str, kept_in: str = "", lanes: SlotClocks = NO_LANES) -> NoteDocument:
    """Read the bytes of a file; raise BrokenFile if it is not a list of entries.

    `lanes` are the capture's; without them a wave that is named by its slot alone is unknown.
    """
    document = parse_bounded(data, name)
    head = document if isinstance(document, dict) else None
    known, rows_by_key = table("notes")["lists"], table_of(document)
    key = next((one for one in known if isinstance(rows_by_key.get(one), list)), LIST)
    rows = document if head is None else head.get(key, [])
    if not isinstance(rows, list):
        raise BrokenFile(name, "it holds no list of annotations")
    notes = _with_own_ids([_note(row, kept_in, lanes) for row in rows[:MAX_NOTES]])
    entries = [NoteEntry(row, note) for row, note in zip(rows, notes, strict=False)]
    entries += [NoteEntry(row, None) for row in rows[MAX_NOTES:]]
    left_out = sum(entry.note is None for entry in entries)
    return NoteDocument(entries=tuple(entries), head=head, key=key, lanes=lanes, left_out=left_out)


def parse_bounded(data: bytes, name: str) -> object:
    """Return the contents of a JSON file that may hold notes; raise BrokenFile for a larger one."""
    if len(data) > FILE_BYTES:
        large = Message("it has {0:,} bytes, more than the {1:,} that are accepted", len(data), FILE_BYTES)
        raise BrokenFile(name, large)
    if data.count(b"{") + data.count(b"[") > MAX_RECORDS:
        raise BrokenFile(name, Message("it has more than {0:,} objects and lists", MAX_RECORDS))
    return parse_json(data, name)


def document_of(
    notes: Iterable[Note], about: Mapping[str, str], lanes: SlotClocks = NO_LANES
) -> NoteDocument:
    """Return a new document with these notes."""
    return NoteDocument(lanes=lanes).changed(NoteChanges(put=tuple(notes)), about)


def entry_of(note: Note, lanes: SlotClocks = NO_LANES) -> dict[str, Any]:
    """Return a note as an element of the list."""
    anchor: dict[str, Any] = {}
    if note.anchor.instructions:
        anchor["instIdxs"] = list(note.anchor.instructions)
    if note.anchor.source is not None:
        file, line = note.anchor.source
        anchor["source"] = {"file": file, "line": line}
    offset = 0
    if (wave := note.anchor.wave) is not None:
        anchor["wave"] = {"se": wave.se, "sm": wave.simd, "slot": wave.slot, "wv": wave.wid}
        offset = lanes.offset(wave.se)
    if (span := note.anchor.span) is not None:
        anchor["time"] = [span.begin - offset, span.end - offset]
    more = {"author": note.author, "written": note.written}
    return {
        "id": note.id,
        "severity": _SEVERITY_WRITTEN[note.severity],
        "title": note.title,
        "note": note.text,
        "anchor": anchor or None,
        **{name: value for name, value in more.items() if value},
    }


def _other(entry: NoteEntry, note: Note, lanes: SlotClocks) -> NoteEntry:
    """An entry updated to another version of its note; unchanged values keep their spelling."""
    new = entry_of(note, lanes)
    was = entry.note
    if was is not None:
        same = {
            "anchor": was.anchor == note.anchor,
            "severity": was.severity is note.severity and "severity" in entry.raw,
            "note": was.text == note.text,
        }
        new = {name: value for name, value in new.items() if not same.get(name)}
    raw = dict(entry.raw)
    for name, value in entry.raw.items():
        if name.lower() == _ADVICE and str(value).strip() not in note.text:
            del raw[name]
    return NoteEntry({**raw, **new}, note)


def _note(row: Any, kept_in: str, lanes: SlotClocks) -> Note | None:
    if not isinstance(row, dict):
        return None
    named = _named(row)
    anchor = _first(named, "anchor", dict)
    title = one_line(str(_first(named, "title", str) or ""))
    text = str(_first(named, "text", str) or "")
    advice = str(_first(named, _ADVICE, str) or "").strip()
    if advice and advice not in text:  # present once the note was changed here
        text = Message("{0}\n\nSuggestion: {1}", text, advice).strip()
    text = elide_right(text, TEXT_LETTERS)
    if not title:
        title = one_line(text.strip().partition("\n")[0])
    if not title:
        return None
    id_ = named.get("id")
    made_id = hashlib.sha256(json_bytes(row, orjson.OPT_SORT_KEYS)).hexdigest()[:12]
    word = text_of(named.get("severity")).strip().lower()
    severities = table("notes")["severity"].items()
    return Note(
        id=str(id_)[:ID_LETTERS] if isinstance(id_, str | int) and str(id_).strip() else made_id,
        title=title,
        text=text,
        severity=Severity(next((name for name, words in severities if word in words), Severity.INFO)),
        anchor=_anchor(_named(anchor) if isinstance(anchor, dict) else named, lanes),
        author=one_line(str(_first(named, "author", str) or "")),
        written=one_line(str(_first(named, "written", str) or ""), 40),
        kept_in=kept_in,
    )


def _with_own_ids(notes: list[Note | None]) -> list[Note | None]:
    """Give a note another id if an earlier note has the same: an id names one note."""
    seen: dict[str, int] = {}
    made: list[Note | None] = []
    for note in notes:
        times = 1
        if note is not None:
            seen[note.id] = times = seen.get(note.id, 0) + 1
        made.append(replace(note, id=f"{note.id}-{times}") if note is not None and times > 1 else note)
    return made


def _named(row: Mapping[str, Any]) -> dict[str, Any]:
    """The values by name without case, `_` and `-`; the first of duplicates."""
    made: dict[str, Any] = {}
    for name, value in row.items():
        made.setdefault(name.lower().replace("_", "").replace("-", ""), value)
    return made


def _first(named: Mapping[str, Any], what: str, kind: type = object) -> Any:
    """The value under the first of the spellings of a name."""
    names = table("notes")["names"][what]
    return next((named[name] for name in names if name in named and isinstance(named[name], kind)), None)


def _anchor(named: Mapping[str, Any], lanes: SlotClocks) -> Anchor:
    wave, lane = _wave(named)
    span = _span(named)
    if lane is not None:
        if span is not None:
            offset = lanes.offset(lane[0])
            span = TimeWindow(span.begin + offset, span.end + offset)
        wave = wave or lanes.wave(lane, span)
    return Anchor(instructions=_rows(named), source=_source(named), wave=wave, span=span)


def _whole(value: Any, most: int, least: int = 0) -> int | None:
    """A whole number in bounds; None for anything else, true and false among it."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and least <= value <= most else None


def _rows(named: Mapping[str, Any]) -> tuple[int, ...]:
    for name in table("notes")["names"]["rows"]:
        value = named.get(name)
        if isinstance(value, dict):
            value = _first(_named(value), "rows", list)
        values = value if isinstance(value, list) else [value]
        found = [row for row in (_whole(one, MAX_LINE) for one in values) if row is not None]
        if found:
            return tuple(dict.fromkeys(found[:MAX_INSTRUCTIONS]))
    return ()


def _source(named: Mapping[str, Any]) -> tuple[str, int] | None:
    place = _first(named, "source")
    inner = _named(place) if isinstance(place, dict) else named
    file, line = _first(inner, "file", str), _first(inner, "line")
    if isinstance(place, str):
        path, _, number = place.rpartition(":")
        if path and number.isascii() and number.isdigit() and len(number) < 10:
            return path, int(number)
        file = file or place
    number_ = _whole(line, MAX_LINE, 1)
    return (file, number_) if file and number_ is not None else None


def _wave(named: Mapping[str, Any]) -> tuple[WaveId | None, Lane | None]:
    """The wave, if its ordinal is named, and its slot, unless that is one of our names."""
    value = _first(named, "wave")
    if isinstance(value, str):
        match = _WAVE_TEXT.fullmatch(value.strip().lower())
        return (WaveId(*map(int, match.groups())) if match else None), None
    inner = _named(value) if isinstance(value, dict) else named
    spelled = table("notes")["wave"].values()
    found = [next((inner[name] for name in names if type(inner.get(name)) is int), None) for names in spelled]
    numbers = value if isinstance(value, list) else found
    if not len(found) - 1 <= len(numbers) <= len(found):
        return None, None
    se, simd, slot, wid, *_ = *(_whole(one, MAX_LINE) for one in numbers), None
    if se is None or simd is None or slot is None:
        return None, None
    return (None if wid is None else WaveId(se, simd, slot, wid)), (se, simd, slot)


def _span(named: Mapping[str, Any]) -> TimeWindow | None:
    value = _first(named, "time")
    inner = _named(value) if isinstance(value, dict) else named
    begin, end = (_whole(_first(inner, name), MAX_CYCLE, -MAX_CYCLE) for name in ("begin", "end"))
    if isinstance(value, list) and len(value) == 2:
        begin, end = (_whole(one, MAX_CYCLE, -MAX_CYCLE) for one in value)
    elif begin is None:
        begin = _whole(value, MAX_CYCLE, -MAX_CYCLE)
    if begin is None:
        return None
    return TimeWindow(begin, begin + 1 if end is None else end)
