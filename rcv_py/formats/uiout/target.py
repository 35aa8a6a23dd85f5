"""Which GPU a capture is of: no file inside the folder says it exactly, but its neighbours may."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Set
from pathlib import Path

from rcv_py.base.errors import TraceError
from rcv_py.formats.input.files import csv_rows
from rcv_py.formats.input.run_places import may_look, names_in, nearby
from rcv_py.formats.uiout.mnemonics import guessed_target
from rcv_py.model.trace import INFERRED

NEIGHBOURS = "tables or code objects of the run"

_CODE_OBJECT = re.compile(r".*_(gfx[0-9a-f]{3,5})_code_object_id_\d+\.out")
_AGENTS = re.compile(r".*agent_info\.csv")
_GFX = re.compile(r"gfx[0-9a-f]{3,5}")
_CSV_LIMIT = 4 << 20


def exact_target(folder: Path, gfxip: int, mnemonics: Set[str]) -> tuple[str, str]:
    """Return the target, such as `gfx950`, and what told it; `gfx9` and "" where nothing does.

    Code objects and agent tables in the folder or beside it are believed first, unless they are of another
    generation, then the instructions, then tables further away, which may be of another run.
    """
    real = Path(os.path.realpath(folder))
    near = _told_by(dict.fromkeys((folder, real, real.parent, folder.parent)), gfxip)
    if near:
        return near, NEIGHBOURS
    inferred = guessed_target(mnemonics, gfxip)
    if inferred:
        return inferred, INFERRED
    far = _told_by(nearby(folder), gfxip)
    return (far, NEIGHBOURS) if far else (f"gfx{gfxip}", "")


def _told_by(places: Iterable[Path], gfxip: int) -> str:
    """The only target of this generation that the first of the places with any names."""
    for place in places:
        names = names_in(place) if may_look(place) else []
        found = {match[1] for name in names if (match := _CODE_OBJECT.fullmatch(name))}
        found = found or {gpu for name in names if _AGENTS.fullmatch(name) for gpu in _gpus(place, name)}
        found = {name for name in found if name[3:-2] == str(gfxip)}
        if len(found) == 1:
            return found.pop()
    return ""


def _gpus(folder: Path, name: str) -> set[str]:
    """The GPUs that an agent table lists."""
    lines = csv_rows(folder, name, [], _CSV_LIMIT)
    try:
        head = next(lines, [])
        rows = [dict(zip(head, cells, strict=False)) for cells in lines]
    except TraceError:
        return set()
    names = {row.get("Name", "") for row in rows if row.get("Agent_Type") == "GPU"}
    return {name for name in names if _GFX.fullmatch(name)}
