"""Which GPU a capture is of: no file inside the folder says it exactly, but its neighbours may."""

from __future__ import annotations

import csv
import re
from itertools import islice
from pathlib import Path

from rcv_py.base.errors import TraceError
from rcv_py.formats.files import read_bytes

_CODE_OBJECT = re.compile(r".*_(gfx[0-9a-f]{3,5})_code_object_id_\d+\.out")
_AGENTS = re.compile(r".*agent_info\.csv")
_GFX = re.compile(r"gfx[0-9a-f]{3,5}")
_CSV_LIMIT = 4 << 20
_MOST_NEIGHBOURS = 5_000  # a folder of downloads must not keep us busy


def neighbour_target(folder: Path, gfxip: int) -> str:
    """The exact target, such as `gfx950`; "" if no neighbour tells it.

    Code objects and agent tables in the folder or beside it are asked; another generation is not believed.
    """
    for place in (folder, folder.parent):
        try:
            names = [path.name for path in islice(place.iterdir(), _MOST_NEIGHBOURS)]
        except OSError:
            continue
        found = {match[1] for name in names if (match := _CODE_OBJECT.fullmatch(name))}
        found = found or {gpu for name in names if _AGENTS.fullmatch(name) for gpu in _gpus(place, name)}
        found = {name for name in found if name[3:-2] == str(gfxip)}
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
