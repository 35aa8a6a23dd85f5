"""The options of the commands that say what waves waited for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rcv_py.cli.options import shared
from rcv_py.cli.options.common import pair
from rcv_py.cli.options.option import Need, flag, has, is_one, number, option, text
from rcv_py.cli.options.shared import ALL, REFERENCE, WORKING

LOOPS_BY = ("loops", "iterations", "phases", "first", "distance", "chains", "barriers")
LATENCY_BY = ("hidden", "memory")


class WaitsOptions(shared.OfWaves, shared.Rows, example="rcv waits FOLDER --top 5"):
    """What `rcv waits` takes."""

    latency: bool = flag("the memory latency of each instruction instead")
    line: int | None = number("only waits at this instruction, and those that waited for it")
    sort: str | None = shared.sort("stall")


class CausesOptions(shared.OfWaves, shared.Rows, example="rcv causes FOLDER --by producer --top 5"):
    """What `rcv causes` takes."""

    by: str = option(
        "what a row is; producer: who is to blame (default cause)",
        "cause",
        choices=("cause", "instruction", "producer"),
    )
    top: int = shared.top(12)
    line: int | None = number("only where this instruction is late or to blame")
    sort: str | None = shared.sort("stall and idle")
    csv: bool = shared.as_csv("a row for every instruction, cause and producer")


class LoopsOptions(shared.OfWaves, shared.Rows, example="rcv loops FOLDER --by iterations --top 5"):
    """What `rcv loops` takes."""

    needs: ClassVar[Sequence[Need]] = (
        Need("loop", is_one("by", "iterations"), "--by iterations"),
        Need("rounds_of outliers", has("loop"), "--loop HEAD:BRANCH"),
    )

    by: str = option(
        "what a row is: loops, their iterations, phases of waves, costs of first executions, distances from "
        "loads to their waits, chains of cross-lane operations, or barriers (default loops)",
        "loops",
        choices=LOOPS_BY,
        old={"--show": None},
    )
    loop: tuple[int, int] | None = option(
        "with --by iterations: all iterations of one loop as they happened, entry and last one too",
        read=pair,
        metavar="HEAD:BRANCH",
    )
    rounds_of: str | None = text(
        "with --loop: only iterations of this wave; what is an outlier is judged by all waves", "ID"
    )
    outliers: bool = flag("with --loop: only iterations that took much longer than others")


class _Ruled(shared.OfWaves, shared.Rows):
    """Options of what follows our rules, or those of the reference viewer, which counts all waves."""

    rule: str = shared.rule("our estimate or the reference viewer's (default ours)")

    @property
    def usual_waves(self) -> str:
        """The population that counts without `--waves`."""
        return ALL if self.rule == REFERENCE else WORKING


class BubblesOptions(_Ruled, example="rcv bubbles FOLDER --top 10"):
    """What `rcv bubbles` takes."""

    rule: str = shared.rule(
        "ours (default): time under s_endpgm is drain, and cycles in which the MFMA unit works are no "
        "bubbles; reference: time under s_endpgm is issue, and MFMA passes do not count as work"
    )
    sort: str | None = shared.sort("cycles")


class LatencyOptions(_Ruled, example="rcv latency FOLDER --by memory"):
    """What `rcv latency` takes."""

    needs: ClassVar[Sequence[Need]] = (
        Need("waves wave se clock no_idle", is_one("by", "hidden"), "--by hidden"),
        Need("waits", is_one("by", "memory"), "--by memory"),
    )

    by: str = option(
        "what a row has: what other waves hide, or how long memory takes by counters (default hidden)",
        "hidden",
        choices=LATENCY_BY,
        old={"--kind": None},
    )
    waits: bool = flag("with --by memory: also what waits show, and instructions that only they know")
    no_idle: bool = shared.no_idle()
    sort: str | None = shared.sort("what nothing hides, or the mean")
