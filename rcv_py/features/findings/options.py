"""The options of `rcv triage`."""

from pathlib import Path

from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared


class TriageOptions(
    shared.OfCaptures, shared.WithRunFiles, shared.OverCaptures, example="rcv triage FOLDER --top 3"
):
    """Print what limits the kernel and what to do first, by gain."""

    agents = opt.AgentTool("Use it first: what limits the kernel, and which change gains most.")

    folder: Path = opt.positional("FOLDER", "a ui_output_* folder, or a folder with several of them")
    top: int | None = shared.top(None, "findings", "findings with 2 %% of the kernel's duration to gain")
    all: bool = opt.flag(
        "analyse every wave, even of a capture with more than 48 MB of wave files, and print every finding"
    )
    waves: str | None = shared.waves()
    predict: bool = opt.flag(
        "replay the recording with each remedy, and rank by limit, else prediction; by default where that "
        "takes less than two seconds for a capture",
        one_of="predict",
    )
    no_predict: bool = shared.NO_PREDICT
    markdown: bool = shared.form("to paste into a ticket")
