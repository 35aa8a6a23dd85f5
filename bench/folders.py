"""Large captures of our own generator, in a temporary place."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.made_captures import write_large


@contextmanager
def large_folder(megabytes: int) -> Iterator[Path]:
    """A capture with about that many megabytes of wave files, removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="rcv-bench-") as place:
        folder = Path(place) / "ui_output_agent_1_dispatch_1"
        write_large(folder, megabytes)
        yield folder
