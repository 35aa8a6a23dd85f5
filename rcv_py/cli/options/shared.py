"""The options that several commands share, each declared once, and what a function needs of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from rcv_py.cli.options.common import count, cycles
from rcv_py.cli.options.option import FORM, Need, Options, flag, has, lacks, option, positional

WORKING, ALL = "working", "all"  # the names of rcv_py.analysis.waves.populations, which needs numpy
REFERENCE = "reference"
RULES = ("ours", REFERENCE)
WAVE_ID = "se0/simd2/slot1/wv0"

WITH_MATCH = Need(has("match"), "--match")
WITH_SORT = Need(has("sort"), "--sort")
SEVERAL_WAVES = Need(lacks("wave"), "tables of several waves", "Leave out --wave, or this.")


# -- what functions need of options ---------------------------------------------------------------------


class WithRunFiles(Protocol):
    """Options with `--run-files`."""

    @property
    def run_files(self) -> list[Path] | None:
        """Tables of the run, None for those near the capture."""


class WithMatch(Protocol):
    """Options with `--match`."""

    @property
    def match(self) -> str | None:
        """The text that rows must hold, None for all rows."""

    @property
    def regex(self) -> bool:
        """Whether it is a regular expression."""

    @property
    def case(self) -> bool:
        """Whether upper and lower case differ."""


class WithSort(Protocol):
    """Options with `--sort`."""

    @property
    def sort(self) -> str | None:
        """The column that orders rows, None for their usual order."""

    @property
    def ascending(self) -> bool:
        """Whether the smallest comes first."""


class WithTop(Protocol):
    """Options with `--top`."""

    @property
    def given(self) -> frozenset[str]:
        """The options on the command line."""

    @property
    def top(self) -> int | None:
        """How many rows are wanted at most, 0 for all."""


class WithIdle(Protocol):
    """Options with `--no-idle`."""

    @property
    def no_idle(self) -> bool:
        """Whether idle time is left out."""


class WithWaves(Protocol):
    """Options with `--waves`."""

    @property
    def waves(self) -> str | None:
        """The population that counts, None for the usual one."""

    @property
    def usual_waves(self) -> str | None:
        """The population that counts without the option."""


class OfAllWaves(Options):
    """Options of a table that sums all waves unless `--waves` says otherwise."""

    @property
    def usual_waves(self) -> str | None:
        """All of them."""
        return ALL


class OfWorkingWaves(Options):
    """Options of a table that sums the waves that work unless `--waves` says otherwise."""

    @property
    def usual_waves(self) -> str | None:
        """Those that work."""
        return WORKING


# -- where ----------------------------------------------------------------------------------------------


def folder(metavar: str = "FOLDER", help: str = "a ui_output_* folder, or a file inside it") -> Any:
    """Declare the capture, the argument that most commands begin with."""
    return positional(metavar, help)


def wave(help: str = f"of one wave only, e.g. {WAVE_ID}", needs: Sequence[Need] = ()) -> Any:
    """Declare the option `--wave ID`."""
    return option(help, metavar="ID", needs=needs)


def clock(help: str = "only waves that touch the cycles A to B", needs: Sequence[Need] = ()) -> Any:
    """Declare the option `--clock A:B`, the clock range of the window."""
    return option(help, read=cycles, metavar="A:B", needs=needs)


def within(needs: Sequence[Need] = ()) -> Any:
    """Declare the option `--within A:B`, the range that timelines show."""
    return option("count only the cycles from A to B", read=cycles, metavar="A:B", needs=needs)


def run_files(prefix: str = "", needs: Sequence[Need] = ()) -> Any:
    """Declare the option `--run-files PATH`: where the tables of the run are."""
    return option(
        f"{prefix}tables of the run (*_kernel_trace.csv, *_agent_info.csv), or a folder with them; "
        "may be repeated (default: those near the capture)",
        read=Path,
        repeated=True,
        metavar="PATH",
        needs=needs,
    )


def baseline(*needs: Need) -> Any:
    """Declare the option `--compare BASELINE`."""
    what = "a capture that the first one is compared with"
    return option(what, read=Path, metavar="BASELINE", needs=needs)


def twin(help: str = "another capture of the baseline's build: it measures the noise") -> Any:
    """Declare the option `--twin C`."""
    return option(help, read=Path, metavar="C")


# -- what counts ----------------------------------------------------------------------------------------


def waves(default: str = WORKING, needs: Sequence[Need] = ()) -> Any:
    """Declare the option `--waves NAME`: whose costs count; without it None, which stands for `default`."""
    return option(
        "count the waves that work, all of them, or a population that `rcv waves --populations` names:"
        f" working, all, or its id (default {default})",
        metavar="NAME",
        needs=needs,
    )


def no_idle(needs: Sequence[Need] = ()) -> Any:
    """Declare the option `--no-idle`."""
    return flag("do not charge the idle time before an instruction", needs=needs)


def rule(help: str) -> Any:
    """Declare the option `--rule`."""
    return option(help, "ours", choices=RULES)


# -- which rows, in which order -------------------------------------------------------------------------


def top(default: int | None, what: str = "rows", shown: str = "", needs: Sequence[Need] = ()) -> Any:
    """Declare the option `--top N`; 0 means all; `shown` describes a default of several."""
    described = shown or str(default or "all")
    return option(f"{what}; 0 for all (default {described})", default, read=count, metavar="N", needs=needs)


def match(help: str = "only rows that hold this text") -> Any:
    """Declare the option `--match TEXT`."""
    return option(help, metavar="TEXT")


def regex() -> Any:
    """Declare the option `--regex`."""
    return flag("the text is a regular expression", needs=[WITH_MATCH])


def case() -> Any:
    """Declare the option `--case`."""
    return flag("distinguish upper and lower case in it", needs=[WITH_MATCH])


def sort(default: str, needs: Sequence[Need] = ()) -> Any:
    """Declare the option `--sort COLUMN`, by any column of the JSON document."""
    what = f"a column of the JSON document, largest first (default: {default})"
    return option(what, metavar="COLUMN", needs=needs)


def ascending(*needs: Need) -> Any:
    """Declare the option `--ascending`."""
    return flag("smallest first", needs=needs or [WITH_SORT])


def only(help: str, needs: Sequence[Need] = ()) -> Any:
    """Declare the option `--only NAME`."""
    return option(f"{help}; may be repeated", repeated=True, metavar="NAME", needs=needs)


# -- forms ----------------------------------------------------------------------------------------------


def as_json(schema: str) -> Any:
    """Declare the option `--json`."""
    return flag(f"for programs: schema {schema}", one_of=FORM)


def as_csv(help: str = "for spreadsheets") -> Any:
    """Declare the option `--csv`."""
    return flag(help, one_of=FORM)


def form(help: str, needs: Sequence[Need] = ()) -> Any:
    """Declare another form of the output."""
    return flag(help, one_of=FORM, needs=needs)
