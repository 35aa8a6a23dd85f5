"""The options of the commands that say what waves waited for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rcv_py.cli.options import shared
from rcv_py.cli.options.common import count, pair
from rcv_py.cli.options.option import Need, flag, has, is_one, option
from rcv_py.cli.options.shared import ALL, REFERENCE, WORKING

CAUSES_BY = ("cause", "line", "producer")
LOOPS_SHOWN = ("loops", "iterations", "phases", "first", "distance", "chains", "barriers")
LATENCY_KINDS = ("hidden", "memory")


@dataclass(frozen=True, kw_only=True)
class WaitsOptions(shared.OfWaves, shared.Rows):
    """What `rcv waits` takes."""

    example = "rcv waits FOLDER --top 5"

    latency: bool = flag("the memory latency of each instruction instead")
    line: int | None = option(
        "only waits at this line, and those that waited for it", read=count, metavar="N"
    )
    sort: str | None = shared.sort("stall")


@dataclass(frozen=True, kw_only=True)
class CausesOptions(shared.OfWaves, shared.Rows):
    """What `rcv causes` takes."""

    example = "rcv causes FOLDER --by producer --top 5"

    by: str = option("what a row is; producer: who is to blame (default cause)", "cause", choices=CAUSES_BY)
    top: int = shared.top(12)
    line: int | None = option("only where this line is late or to blame", read=count, metavar="N")
    sort: str | None = shared.sort("stall and idle")
    csv: bool = shared.as_csv("a row a line, cause and producer")


@dataclass(frozen=True, kw_only=True)
class LoopsOptions(shared.OfWaves, shared.Rows):
    """What `rcv loops` takes."""

    example = "rcv loops FOLDER --show iterations --top 5"
    needs: ClassVar[Sequence[Need]] = (
        Need("loop", is_one("show", "iterations"), "--show iterations"),
        Need("rounds_of outliers", has("loop"), "--loop HEAD:BRANCH"),
    )

    show: str = option(
        "loops, their iterations, phases of waves, costs of first executions, distances from loads to"
        " their waits, chains of cross-lane operations, or barriers (default loops)",
        "loops",
        choices=LOOPS_SHOWN,
    )
    loop: tuple[int, int] | None = option(
        "with --show iterations: all iterations of one loop as they happened, entry and last one too",
        read=pair,
        metavar="HEAD:BRANCH",
    )
    rounds_of: str | None = option(
        "with --loop: only iterations of this wave; what is an outlier is judged by all waves",
        metavar="ID",
    )
    outliers: bool = flag("with --loop: only iterations that took much longer than others")


@dataclass(frozen=True, kw_only=True)
class _Ruled(shared.OfWaves, shared.Rows):
    """Options of what follows our rules, or those of the reference viewer, which counts all waves."""

    rule: str = shared.rule("our estimate or the reference viewer's (default ours)")

    @property
    def usual_waves(self) -> str:
        """The population that counts without `--waves`."""
        return ALL if self.rule == REFERENCE else WORKING


@dataclass(frozen=True, kw_only=True)
class BubblesOptions(_Ruled):
    """What `rcv bubbles` takes."""

    example = "rcv bubbles FOLDER --top 10"

    rule: str = shared.rule(
        "ours (default): time under s_endpgm is drain, and cycles in which the MFMA unit works are no "
        "bubbles; reference: time under s_endpgm is issue, and MFMA passes do not count as work"
    )
    sort: str | None = shared.sort("cycles")


@dataclass(frozen=True, kw_only=True)
class LatencyOptions(_Ruled):
    """What `rcv latency` takes."""

    example = "rcv latency FOLDER --kind memory"
    needs: ClassVar[Sequence[Need]] = (
        Need("waves wave se clock no_idle", is_one("kind", "hidden"), "--kind hidden"),
        Need("waits", is_one("kind", "memory"), "--kind memory"),
    )

    kind: str = option(
        "what other waves hide, or how long memory takes by counters (default hidden)",
        "hidden",
        choices=LATENCY_KINDS,
    )
    waits: bool = flag("with --kind memory: also what waits show, and lines that only they know")
    no_idle: bool = shared.no_idle()
    sort: str | None = shared.sort("what nothing hides, or the mean")
