"""The raw traces of a database or document of rocprofv3: files next to it, or blobs inside it."""

import atexit
import os
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path

from rcv_py.base.errors import BrokenFile
from rcv_py.base.progress import checkpoint
from rcv_py.base.text import Message, byte_size
from rcv_py.formats.input.files import mark_of
from rcv_py.formats.raw.files import raw_capture, raw_captures
from rcv_py.formats.rocpd.read import raw_parts, read_part

MAX_BYTES = 4 << 30  # of all blobs of a file


def captures_of(path: Path) -> tuple[Path, ...]:
    """Return the raw captures that a profile names or holds; raise a TraceError if it cannot be read.

    Blobs are written to a folder that is removed when the program ends, so that they are opened like files.
    """
    parts = raw_parts(path)
    files = [part.path for part in parts if part.path is not None and not part.is_code]
    if files:
        return tuple(dict.fromkeys(raw.path for file in files if (raw := raw_capture(file)) is not None))
    if all(part.is_code or part.blob is None for part in parts):
        return ()
    return tuple(raw.path for raw in raw_captures(_written(path, *mark_of(path))))


@lru_cache(maxsize=8)
def _written(path: Path, *_: int) -> Path:
    """A folder with the blobs of a profile, reused as long as the file does not change."""
    aside = Path(tempfile.mkdtemp(prefix="rcv-"))
    atexit.register(shutil.rmtree, aside, ignore_errors=True)
    folder = aside / path.stem  # this names the capture
    folder.mkdir()
    left = MAX_BYTES
    for number, part in enumerate(one for one in raw_parts(path) if one.blob is not None):
        checkpoint()
        data = read_part(path, part, left + 1)
        left -= len(data)
        if left < 0:
            raise BrokenFile(path.name, Message("it holds more than {0} of raw traces", byte_size(MAX_BYTES)))
        # The name has the same numbers as names of rocprofv3.
        engine, id = (one if one >= 0 else number for one in (part.se, part.id))
        name = f"0_shader_engine_{engine}_{max(part.dispatch, 0)}.att"
        (folder / (f"{os.getpid()}_code_object_id_{id}.out" if part.is_code else name)).write_bytes(data)
    return folder
