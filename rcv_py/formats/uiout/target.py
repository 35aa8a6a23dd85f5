"""Which GPU a capture is of: no file inside the folder says it exactly, but its neighbours may."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from rcv_py.base.errors import TraceError
from rcv_py.formats.files import read_bytes

_CODE_OBJECT = re.compile(r".*_(gfx[0-9a-f]{3,5})_code_object_id_\d+\.out")
_AGENTS = re.compile(r".*agent_info\.csv")
_GFX = re.compile(r"gfx[0-9a-f]{3,5}")
_CSV_LIMIT = 4 << 20


def neighbour_target(folder: Path) -> str:
    """The exact target, such as `gfx950`, told by code objects or agent tables in or beside the folder; or ""."""
    for place in (folder, folder.parent):
        try:
            names = sorted(path.name for path in place.iterdir() if path.suffix in (".out", ".csv"))
        except OSError:
            continue
        found = {match[1] for name in names if (match := _CODE_OBJECT.fullmatch(name))}
        found = found or {gpu for name in names if _AGENTS.fullmatch(name) for gpu in _gpus(place, name)}
        if len(found) == 1:
            return found.pop()
    return ""


def _gpus(folder: Path, name: str) -> set[str]:
    """The GPUs that an agent table lists."""
    try:
        text = read_bytes(folder, name, _CSV_LIMIT).decode("utf-8", "replace")
        rows = list(csv.DictReader(text.splitlines()))
    except (TraceError, csv.Error):
        return set()
    return {
        str(row.get("Name"))
        for row in rows
        if row.get("Agent_Type") == "GPU" and _GFX.fullmatch(str(row.get("Name")))
    }
