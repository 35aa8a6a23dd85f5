"""The options of `rcv triage`."""

from __future__ import annotations

from pathlib import Path

from rcv_py.cli.options import shared
from rcv_py.cli.options.option import (
    flag,
)


class TriageOptions(
    shared.OfCaptures, shared.WithRunFiles, shared.OverCaptures, example="rcv triage FOLDER --top 3"
):
    """Print what limits the kernel and what to do first, by gain."""

    folder: Path = shared.folder(help="a ui_output_* folder, or a folder with several of them")
    top: int | None = shared.top(None, "findings", "those with 2 %% of the kernel's duration to gain")
    all: bool = flag(
        "analyse every wave, even of a capture with more than 48 MB of wave files, and print every finding"
    )
    waves: str | None = shared.waves()
    predict: bool = flag("replay the recording with each remedy, and rank by the predicted gain")
    markdown: bool = shared.form("to paste into a ticket")
