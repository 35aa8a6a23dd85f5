"""The options of the commands that say what waves waited for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rcv_py.cli.options import shared
from rcv_py.cli.options.common import count, pair
from rcv_py.cli.options.option import Need, flag, has, is_one, option
from rcv_py.cli.options.shared import ALL, REFERENCE, WORKING

CAUSES_BY = ("cause", "line", "producer")
LOOPS_SHOWN = ("loops", "iterations", "phases", "first", "distance", "chains", "barriers")
LATENCY_KINDS = ("hidden", "memory")


@dataclass(frozen=True, kw_only=True)
class WaitsOptions(shared.OfWorkingWaves):
    """What `rcv waits` takes."""

    example = "rcv waits FOLDER --top 5"

    folder: Path = shared.folder()
    top: int = shared.top(20, "waits")
    wave: str | None = shared.wave()
    latency: bool = flag("the memory latency of each instruction instead")
    waves: str | None = shared.waves(needs=[shared.SEVERAL_WAVES])
    line: int | None = option(
        "only waits at this line, and those that waited for it", read=count, metavar="N"
    )
    clock: tuple[int, int] | None = shared.clock()
    sort: str | None = shared.sort("stall")
    ascending: bool = shared.ascending()
    json: bool = shared.as_json("rcv.waits")
    csv: bool = shared.as_csv()


@dataclass(frozen=True, kw_only=True)
class CausesOptions(shared.OfWorkingWaves):
    """What `rcv causes` takes."""

    example = "rcv causes FOLDER --by producer --top 5"

    folder: Path = shared.folder()
    by: str = option("what a row is; producer: who is to blame (default cause)", "cause", choices=CAUSES_BY)
    top: int = shared.top(12)
    waves: str | None = shared.waves()
    line: int | None = option("only where this line is late or to blame", read=count, metavar="N")
    sort: str | None = shared.sort("stall and idle")
    ascending: bool = shared.ascending()
    json: bool = shared.as_json("rcv.causes")
    csv: bool = shared.as_csv("for spreadsheets: a row a line, cause and producer")


_OF_A_LOOP = Need(has("loop"), "--loop HEAD:BRANCH")


@dataclass(frozen=True, kw_only=True)
class LoopsOptions(shared.OfWorkingWaves):
    """What `rcv loops` takes."""

    example = "rcv loops FOLDER --show iterations --top 5"

    folder: Path = shared.folder()
    show: str = option(
        "loops, their iterations, phases of waves, costs of first executions, distances from loads to"
        " their waits, chains of cross-lane operations, or barriers (default loops)",
        "loops",
        choices=LOOPS_SHOWN,
    )
    wave: str | None = shared.wave()
    top: int = shared.top(20)
    waves: str | None = shared.waves(needs=[shared.SEVERAL_WAVES])
    loop: tuple[int, int] | None = option(
        "with --show iterations: all iterations of one loop as they happened, entry and last one too",
        read=pair,
        metavar="HEAD:BRANCH",
    )
    rounds_of: str | None = option(
        "with --loop: only iterations of this wave; what is an outlier is judged by all waves",
        metavar="ID",
        needs=[_OF_A_LOOP],
    )
    outliers: bool = flag(
        "with --loop: only iterations that took much longer than others", needs=[_OF_A_LOOP]
    )
    sort: str | None = shared.sort("as the table says")
    ascending: bool = shared.ascending()
    json: bool = shared.as_json("rcv.loops")
    csv: bool = shared.as_csv()


@dataclass(frozen=True, kw_only=True)
class BubblesOptions(shared.OfWorkingWaves):
    """What `rcv bubbles` takes."""

    example = "rcv bubbles FOLDER --top 10"

    folder: Path = shared.folder()
    top: int = shared.top(20, "lines")
    rule: str = shared.rule(
        "ours (default): time under s_endpgm is drain, and cycles in which the matrix unit works are no "
        "bubbles; reference: time under s_endpgm is issue, and matrix passes do not count as work"
    )
    waves: str | None = shared.waves()
    sort: str | None = shared.sort("cycles")
    ascending: bool = shared.ascending()
    json: bool = shared.as_json("rcv.bubbles")
    csv: bool = shared.as_csv()

    @property
    def usual_waves(self) -> str:
        """The reference viewer counts all waves."""
        return ALL if self.rule == REFERENCE else WORKING


_HIDDEN = Need(is_one("kind", "hidden"), "--kind hidden")


@dataclass(frozen=True, kw_only=True)
class LatencyOptions(shared.OfWorkingWaves):
    """What `rcv latency` takes."""

    example = "rcv latency FOLDER --kind memory"

    folder: Path = shared.folder()
    kind: str = option(
        "what other waves hide, or how long memory takes by counters (default hidden)",
        "hidden",
        choices=LATENCY_KINDS,
    )
    rule: str = shared.rule("our estimate or the reference viewer's (default ours)")
    top: int = shared.top(20)
    waves: str | None = shared.waves(needs=[_HIDDEN])
    waits: bool = flag(
        "with --kind memory: also what waits show, and lines that only they know",
        needs=[Need(is_one("kind", "memory"), "--kind memory")],
    )
    no_idle: bool = shared.no_idle([_HIDDEN])
    sort: str | None = shared.sort("what nothing hides, or the mean")
    ascending: bool = shared.ascending()
    json: bool = shared.as_json("rcv.latency")
    csv: bool = shared.as_csv()

    @property
    def usual_waves(self) -> str:
        """The reference viewer counts all waves."""
        return ALL if self.rule == REFERENCE else WORKING
