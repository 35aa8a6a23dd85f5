"""The options of `rcv registers`."""

from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared


class RegistersOptions(
    shared.RowOptions, shared.WithRunFiles, example="rcv registers FOLDER --by instruction --sort vgprs"
):
    """Show how many registers are held, the peak, and which are free."""

    agents = opt.AgentTool("Use it before an edit that takes registers.")
    needs = (
        opt.without("line", "the list", "by run_files top sort ascending"),
        opt.Need("run_files", opt.is_one("by", "file"), "register files", "Leave --by out, or this."),
    )

    by: str = opt.option(
        "what a row is (default file: a register file)", "file", choices=("file", "instruction")
    )
    line: int | None = opt.number("instead: which registers are held and which are free at this instruction")
    top: int = shared.top(20)
    sort: str | None = shared.sort("program order")
