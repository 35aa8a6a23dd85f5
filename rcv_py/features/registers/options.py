"""The options of `rcv registers`."""

from __future__ import annotations

from rcv_py.cli.options import shared
from rcv_py.cli.options.option import (
    Need,
    is_one,
    number,
    option,
    without,
)


class RegistersOptions(
    shared.RowOptions, shared.WithRunFiles, example="rcv registers FOLDER --by instruction --sort vgprs"
):
    """Show how many registers are held, the peak, and which are free."""

    needs = (
        without("line", "the list", "by run_files top sort ascending"),
        Need("run_files", is_one("by", "file"), "register files", "Leave --by out, or this."),
    )

    by: str = option("what a row is (default file: a register file)", "file", choices=("file", "instruction"))
    line: int | None = number("instead: which registers are held and which are free at this instruction")
    top: int = shared.top(20)
    sort: str | None = shared.sort("program order")
