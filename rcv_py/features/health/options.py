"""The options of `rcv check`."""

from __future__ import annotations

from pathlib import Path

from rcv_py.cli.options import shared
from rcv_py.cli.options.option import (
    flag,
    path,
)


class CheckOptions(shared.OfCaptures, example="rcv check FOLDER --yaml > input.yaml"):
    """Check whether a capture can be trusted, and how to improve it."""

    twin: Path | None = path("a capture of the same instructions: measures the noise", "OTHER")
    strict: bool = flag("exit with 4 if there is an error or a warning")
    yaml: bool = shared.form("only the input file for rocprofv3 that improves it")
    csv: bool = shared.as_csv("a row for every piece of evidence")
