"""Captures that are measured: recorded ones, and large ones in a temporary place."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.cloned_capture import write_clone
from tests.support.made_captures import write_large

HOME = Path(__file__).resolve().parents[1]
SHIPPED = HOME / "sample_traces" / "matmul_tiled"
SPARE = 1 << 30  # bytes of the disk that are left free


def recorded(name: str) -> list[Path]:
    """The recorded captures of a kernel, none where they are not at hand."""
    shared = Path(os.environ.get("RCV_SHARED", HOME.parent / "shared"))
    return sorted((shared / "traces" / name).glob("ui_output*"))


@contextmanager
def large_folder(megabytes: int, kind: str = "generated") -> Iterator[Path]:
    """A capture with about that many megabytes of wave files, removed afterwards.

    It is `generated`, eighty waves and more of one loop; or `cloned`, a recorded flash attention again and
    again, hundreds of short waves of one shader engine.  Without the recorded one, a sample is cloned.
    """
    with tempfile.TemporaryDirectory(prefix="rcv-bench-") as place:
        free = shutil.disk_usage(place).free
        if free < megabytes * 1_100_000 + SPARE:
            raise OSError(f"{place} has room for {free / 1e6:,.0f} MB, too little for {megabytes} MB.")
        folder = Path(place) / "ui_output_agent_1_dispatch_1"
        if kind == "cloned":
            write_clone((*recorded("flash_attn_small_after"), SHIPPED)[0], folder, megabytes)
        else:
            write_large(folder, megabytes)
        yield folder
