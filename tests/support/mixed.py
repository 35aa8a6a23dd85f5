"""A capture with waves that work and waves that left early, cut from a real one with plain json."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.support.captures import trace_path

SOURCE = "flash_attn_small_before"
KEPT = 8  # instructions of the wave that leaves, besides s_endpgm


def copied(name: str, target: Path) -> Path:
    """Copy a real capture so that it can be changed."""
    folder = target / f"ui_output_agent_1_dispatch_{name}"
    shutil.copytree(trace_path(name), folder)
    for path in (folder, *folder.iterdir()):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


def wave_files(folder: Path) -> list[Path]:
    """The wave files of a capture, by name."""
    return sorted(folder.glob("se*_sm*_sl*_wv*.json"))


def mixed(target: Path, leaving: slice = slice(3, 4)) -> Path:
    """`flash_attn_small_before` with four waves, of which some end behind their first eight instructions."""
    folder = copied(SOURCE, target)
    for path in wave_files(folder)[leaving]:
        document = json.loads(path.read_text())
        instructions = document["wave"]["instructions"]
        first, last = instructions[:KEPT], instructions[-1]
        time = first[-1][0] + first[-1][3]
        document["wave"]["instructions"] = [*first, [time, *last[1:]]]
        document["num_insts"] = document["num_stitched"] = KEPT + 1
        path.write_text(json.dumps(document))
    return folder


def without_files(name: str, target: Path, left: int) -> Path:
    """A real capture of which only the last `left` wave files are there."""
    folder = copied(name, target)
    files = wave_files(folder)
    for path in files[: len(files) - left]:
        path.unlink()
    return folder
