"""The options of `rcv waits`, `rcv causes` and `rcv bubbles`."""

from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared

CAUSES_BY = ("cause", "instruction", "producer")


class WaitsOptions(shared.OfWaves, shared.RowOptions, example="rcv waits FOLDER --top 5"):
    """Show what waits waited for, and how long memory took."""

    agents = opt.AgentTool(
        "Use it on s_waitcnt: which loads they waited for; inverted: which load to issue earlier."
    )

    latency: bool = opt.flag("the memory latency of each instruction instead", one_of="instead")
    inverted: bool = opt.flag(
        "waits for a load that was issued after loads that are needed later, where it "
        "should stand, and the predicted gain",
        one_of="instead",
    )
    line: int | None = opt.number("only waits at this instruction, and waits for it")
    sort: str | None = shared.sort("stall")


class CausesOptions(shared.OfWaves, shared.RowOptions, example="rcv causes FOLDER --by producer --top 5"):
    """Show why waves stalled and idled, and what is to blame."""

    agents = opt.AgentTool("Use it to learn why an instruction stalls, and which producer to change.")

    by: str = opt.option(
        "what a row is; producer: the instruction to blame (default cause)", "cause", choices=CAUSES_BY
    )
    top: int = shared.top(12)
    line: int | None = opt.number("only where this instruction is late or to blame")
    sort: str | None = shared.sort("stall and idle")
    csv: bool = shared.as_csv("a row for every instruction, cause and producer")


class BubblesOptions(shared.Ruled, example="rcv bubbles FOLDER --top 10"):
    """Rank instructions by the no-issue cycles of SIMDs they hold up."""

    agents = opt.AgentTool("Use it to weigh a stall: only cycles that no other wave hides cost time.")

    rule: str = shared.rule(
        "ours (default): time under s_endpgm is drain, and cycles in which the MFMA unit works are not "
        "bubbles; reference: time under s_endpgm is issue, and MFMA passes do not count as work"
    )
    line: int | None = opt.number("only this instruction")
    sort: str | None = shared.sort("cycles")
