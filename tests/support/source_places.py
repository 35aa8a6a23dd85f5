"""Captures whose instructions have no source lines, or all the same one."""

import json
from pathlib import Path

from tests.support.samples import write_sample

PLACE = 3  # the column of code.json


def on_one_line(name: str, folder: Path, place: str) -> Path:
    """Write a sample in which all instructions are of one source line; return its folder."""
    write_sample(name, folder)
    code = json.loads((folder / "code.json").read_text())
    for row in code["code"]:
        row[PLACE] = place
    (folder / "code.json").write_text(json.dumps(code))
    return folder


def without_sources(name: str, folder: Path) -> Path:
    """Write a sample as of code that was built without `-g`; return its folder."""
    on_one_line(name, folder, "")
    for path in (*folder.glob("source_*"), folder / "snapshots.json"):
        path.unlink()
    return folder
