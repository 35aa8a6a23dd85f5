"""The options of `rcv hotspot`."""

from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared
from rcv_py.cli.options.shared import ALL
from rcv_py.model.modes import SUMS

RANKED_BY = ("instruction", "source", "kind", "class", "tree")
LIKE = ("old", "new")
_LIKE = opt.OptionSection(
    "as hotspot_analyzer.py",
    "--like repeats the originals, also where they are wrong: the old rules divide 256 registers where "
    "gfx942 has 512; a program is taken for gfx942, with 64 KB of LDS, unless it names one of three "
    "forms of gfx950; only the first number of a range of registers counts; waits for two counters "
    "count as vector memory; gfx12 waits, ds_load, flat_store, scratch, atomics and s_nop are `other`; "
    "v_fma counts as matrix instruction.",
)


class HotspotOptions(
    shared.OfAllWaves, shared.WithRunFiles, example="rcv hotspot FOLDER --by source --sort stall"
):
    """Rank instructions, source lines, kinds or classes by cost."""

    agents = opt.AgentTool("Use it to find the instructions that cost most; then causes or line.")
    needs = (
        opt.Need(
            "by sort waves wave se ascending bins charge file no_idle clock",
            opt.lacks("like"),
            "our own tables",
            "Leave --like out: it repeats the scripts, which do not know it.",
        ),
        opt.without("bins", "the ranking", "top by sort ascending charge file no_idle run_files"),
        opt.without("charge", "the ranking", "run_files"),
        opt.Need(
            "sort ascending", opt.is_none("by", "tree"), "a list", "A tree has the order of its places."
        ),
        opt.beside("charge", "file no_idle", "Add --charge self or --charge inclusive."),
        opt.Need("file", opt.is_one("by", "source"), "--by source"),
        opt.beside("like", "mode detail context kernel", "Add --like new or --like old."),
        opt.Need("run_files kernel", lambda options: options.like in (None, "new"), "--like new"),
        opt.Need(
            "detail",
            lambda options: not (options.json or options.csv) and options.mode != "asm",
            "the text of source lines",
        ),
        opt.beside("detail", "context"),
    )

    top: int = shared.top(20, shown="20, with --like 15")
    by: str = opt.option("what a row is (default instruction)", "instruction", choices=RANKED_BY)
    sort: str = opt.option(
        "largest first (default latency; with --charge cost; cost, share, place and text need --charge)",
        "latency",
        choices=(*SUMS, "cost", "share", "place", "text"),
    )
    ascending: bool = opt.flag("smallest first")
    bins: int | None = opt.number(
        "a histogram of N ranges of the program by kind instead; if less than half of it ran, of that part",
        read=opt.at_most(opt.MAX_BINS, 1),
    )
    charge: str | None = opt.option(
        "cost of places: latency and idle, charged to the innermost place or to the whole inline chain",
        choices=("self", "inclusive"),
    )
    file: str | None = opt.text("with --charge: the lines of one source file", "SOURCE")
    no_idle: bool = shared.NO_IDLE
    like: str | None = opt.option(
        "the tables of hotspot_analyzer.py, by its older or newer rules", choices=LIKE, section=_LIKE
    )
    mode: str | None = opt.option(
        "instructions, source lines or both (default both)", choices=("asm", "src", "both"), section=_LIKE
    )
    detail: bool = opt.flag("show the source around the first lines", section=_LIKE)
    context: int | None = opt.number("lines above and below (default 3)", section=_LIKE)
    kernel: str | None = opt.text(
        "part of the kernel's name in the kernel trace next to the capture", section=_LIKE
    )

    @property
    def usual_waves(self) -> str | None:
        """All waves; the scripts do not distinguish waves."""
        return None if self.like else ALL
