"""The options of `rcv samples`."""

from pathlib import Path

from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared

SAMPLES_BY = ("instruction", "source")


class SamplesOptions(shared.RowOptions, example="rcv samples FOLDER --samples OUT/HOST/1234_results.db"):
    """Show PC samples, and where they differ from traced cycles."""

    agents = opt.AgentTool("Use it to see whether traced compute units are like the others.")

    by: str = opt.option(
        "what a row is: an instruction or a source line (default instruction)",
        "instruction",
        choices=SAMPLES_BY,
    )
    samples: Path | None = opt.path(
        "file with PC samples: a database, *_results.json or *_pc_sampling_*.csv (default: samples of the "
        "capture, else of a file beside it)",
        "FILE",
    )
    top: int = shared.top(20)
    sort: str | None = shared.sort("samples")
