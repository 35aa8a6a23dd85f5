"""The options of `rcv check`."""

from pathlib import Path

from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared


class CheckOptions(shared.OfCaptures, example="rcv check FOLDER --yaml > input.yaml"):
    """Check whether a capture can be trusted, and how to improve it."""

    agents = opt.AgentTool("Use it before reading numbers: stop if the verdict is serious.")

    twin: Path | None = opt.path("a capture of the same instructions: measures the noise", "OTHER")
    strict: bool = opt.flag("exit with 4 if there is an error or a warning")
    yaml: bool = shared.form("only the input file for rocprofv3 that improves it")
    csv: bool = shared.as_csv("a row for every piece of evidence")
