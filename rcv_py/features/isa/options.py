"""The options of `rcv isa` and `rcv isa-docs`."""

from pathlib import Path

from rcv_py.base.text import Message
from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared

MODES = ("sum", "mean", "hit", "wave-sum", "wave-mean", "wave-max")
BARS = ("nonhidden", "kinds", "causes", "reasons", "latency_stall", "memory", "memory_waits")
DOC_ACTIONS = ("list", "add", "remove")


class IsaOptions(
    shared.OfAllWaves, shared.Matched, shared.RowOptions, example="rcv isa FOLDER --by block --top 10"
):
    """List instructions, basic blocks, branches or labels."""

    agents = opt.AgentTool(
        "Use it to read the program, its blocks and branches; help_of says what an instruction does.",
        defaults={"top": 40},
    )
    chosen_by = ("se", "clock")  # the wave of a mode
    needs = (
        opt.Need("wave", opt.is_none("mode", "sum", "mean"), "--mode hit, wave-sum, wave-mean or wave-max"),
        opt.Need("hit", opt.is_one("mode", "hit"), "--mode hit"),
        opt.Need("clock se", opt.is_one("mode", "sum", "mean"), "--mode sum or mean"),
        opt.Need(
            "mode wave hit clock se",
            opt.is_none("by", "branch"),
            "costs",
            "Branches are counted in all waves: leave it out.",
        ),
        opt.beside("help_of", "isa_xml"),
        opt.without(
            "help_of",
            "the listing",
            "by top sort ascending match regex case mode wave hit waves se clock bars no_idle",
        ),
        opt.Need(
            "bars no_idle",
            opt.is_one("by", "instruction"),
            "the listing of instructions",
            "Leave --by out, or this.",
        ),
    )

    by: str = opt.option(
        "what a row is; branch: taken and not taken, label: cycles up to the next label (default "
        "instruction)",
        "instruction",
        choices=("instruction", "block", "branch", "label"),
        old={"--blocks": "block", "--branches": "branch", "--labels": "label"},
    )
    top: int = opt.number("only the N that cost most (default 0: all)", 0)
    mode: str = opt.option("of all waves or of one (default sum)", "sum", choices=MODES)
    wave: str | None = shared.wave("the wave that the modes of one wave show")
    hit: int = opt.number("for --mode hit: which, from 1", 1, opt.positive_count)
    bars: str | None = opt.option("add a column: the length of the bars of the window", choices=BARS)
    no_idle: bool = shared.NO_IDLE
    sort: str | None = shared.sort("program order")
    help_of: str | None = opt.text(
        "instead: what an instruction does, which unit executes it, how long it takes, and "
        "what waits for it; by its number or the start of its mnemonic",
        "NAME",
    )
    isa_xml: Path | None = opt.path(
        "with --help-of: a machine-readable ISA file from AMD, for its descriptions", "FILE"
    )


class IsaDocsOptions(shared.Forms, example="rcv isa-docs add amdgpu_isa_cdna3.xml"):
    """List AMD's ISA files about instructions; add or remove one."""

    action: str | None = opt.positional(
        "ACTION", Message("one of {0} (default list)", ", ".join(DOC_ACTIONS)), None, "?", choices=DOC_ACTIONS
    )
    what: str | None = opt.positional(
        "FILE", "add: an XML file of AMD; remove: a family of GPUs such as cdna3", None, "?"
    )
