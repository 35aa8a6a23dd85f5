"""A session as a file: its capture, the user's place in it, the layout, and the notes.

A session file is untrusted like a capture: it names a capture, places and notes, all of which are checked,
and no program.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from rcv_py import __version__
from rcv_py.base.errors import NotATrace
from rcv_py.base.record import Value
from rcv_py.base.text import Message, json_bytes
from rcv_py.base.whole_files import whole_file
from rcv_py.formats.input.columns import table_of
from rcv_py.formats.input.files import parse_json, read_bytes
from rcv_py.formats.input.limits import PATH_LETTERS
from rcv_py.formats.notes.document import FILE_BYTES, document_of, parse_bounded, read_notes
from rcv_py.formats.notes.store import identity
from rcv_py.model.notes import Note
from rcv_py.model.trace import Trace

FORMAT = 1
_REMOTE = ("//", "\\\\")  # a path that makes Windows contact another machine


class SavedSession(Value):
    """The contents of a session file; `state` and `layout` are plain, unchecked JSON values."""

    path: Path
    capture: Path
    identity: str
    state: Mapping[str, Any]
    layout: Mapping[str, Any]
    notes: tuple[Note, ...]


def read_session(path: Path) -> SavedSession:
    """Read a session file; raise a TraceError, one sentence, if it is none.

    The capture is searched relative to the file, then at its path when the session was saved.
    """
    data = read_bytes(path.absolute().parent, path.name, FILE_BYTES)
    document = table_of(parse_bounded(data, path.name))
    if not isinstance(document.get("capture"), dict):
        raise NotATrace(path, "it is not a session that this program saved")
    if document.get("session") != FORMAT:
        newer = Message("its format is not {0}, which this program reads; open it with a newer one", FORMAT)
        raise NotATrace(path, newer)
    about, notes = document["capture"], document.get("notes")
    named = about.get("identity")
    return SavedSession(
        path=path,
        capture=_capture(path, about),
        identity=named if isinstance(named, str) else "",
        state=table_of(document.get("state")),
        layout=table_of(document.get("layout")),
        notes=read_notes(orjson.dumps(notes), path.name).notes if isinstance(notes, dict) else (),
    )


def _capture(path: Path, about: Mapping[str, Any]) -> Path:
    places = [about.get(name) for name in ("beside", "path")]
    texts = [text for text in places if isinstance(text, str) and 0 < len(text) <= PATH_LETTERS]
    folder = path.absolute().parent
    for text in texts:
        try:
            if not text.startswith(_REMOTE) and (found := Path(os.path.normpath(folder / text))).exists():
                return found
        except (OSError, ValueError):
            continue
    named = texts[-1] if texts else "a capture that it does not name"
    raise NotATrace(path, Message("its capture is not there: {0}; put it beside the session file", named))


def write_session(
    path: Path, trace: Trace, *, state: Mapping[str, Any], layout: Mapping[str, Any], notes: Sequence[Note]
) -> None:
    """Write a session; raise ExportError if it cannot be written."""
    name, capture = identity(trace), trace.path.absolute()
    try:
        beside = os.path.relpath(capture, path.absolute().parent)
    except ValueError:  # on another drive
        beside = ""
    about = {"path": str(capture), "beside": beside, "name": trace.name, "identity": name}
    document = {
        "session": FORMAT,
        "rcv": __version__,
        "capture": about,
        "state": state,
        "layout": layout,
        "notes": parse_json(document_of(notes, {"identity": name}).written(), path.name),
    }
    with whole_file(path) as target:
        target.write(json_bytes(document, orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
