"""The options that several commands share, each declared once, in groups that commands inherit."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from rcv_py.base.text import Message
from rcv_py.cli.options import option as opt

WORKING, ALL = "working", "all"  # the names of rcv_py.analysis.waves.populations, which needs numpy
REFERENCE = "reference"
RULES = ("ours", REFERENCE)
WAVE_ID = "se0/simd2/slot1/wv0"
DECODERS = ("auto", "own", "official")  # as in rcv_py.formats.raw.options, which takes longer to import
AS_CAPTURE = (
    "a ui_output_* folder or a file inside it, a folder of .att files or one of them, a packed capture, or a "
    "file that a compiler made"
)
FOLDER: Any = opt.positional("FOLDER", AS_CAPTURE)  # the argument that most commands begin with
ENGINE: Any = opt.number("only waves of a shader engine")
BASELINE: Any = opt.path("the baseline that the first capture is compared with", "BASELINE")
TWIN: Any = opt.path("another capture of the baseline's build: it measures the noise", "C")
NO_IDLE: Any = opt.flag("do not charge the idle time before an instruction")
NO_PREDICT: Any = opt.flag("replay nothing, and rank by what can be gained at most", one_of="predict")


def wave(help: str) -> Any:
    """Declare the option `--wave ID`."""
    return opt.text(Message("{0}, e.g. {1}", help, WAVE_ID), "ID")


def run_files(prefix: str = "") -> Any:
    """Declare the option `--run-files PATH`: the location of the tables of the run."""
    tables = "tables of the run (*_kernel_trace.csv, *_agent_info.csv), or a folder with them"
    help = Message("{0}{1}; may be repeated (default: files near the capture)", prefix, tables)
    return opt.path(help, "PATH", repeated=True)


def waves(default: str = WORKING) -> Any:
    """Declare the option `--waves NAME`: whose costs count; None by default, which stands for `default`."""
    return opt.text(
        Message(
            "count the waves that work, all of them, or a population that `rcv waves "
            "--populations` names: working, all, or its id (default {0})",
            default,
        )
    )


def rule(help: str) -> Any:
    """Declare the option `--rule`."""
    return opt.option(help, "ours", choices=RULES)


def top(default: int | None = 20, what: str = "rows", shown: str = "") -> Any:
    """Declare the option `--top N`; 0 means all; `shown` describes a default of several."""
    return opt.number(Message("{0}; 0 for all (default {1})", what, shown or str(default or "all")), default)


def sort(default: str) -> Any:
    """Declare the option `--sort COLUMN`, by any column of the JSON document."""
    return opt.text(Message("a column of the JSON document, largest first (default: {0})", default), "COLUMN")


def only(help: str) -> Any:
    """Declare the option `--only NAME`."""
    return opt.option(Message("{0}; may be repeated", help), repeated=True, metavar="NAME")


def form(help: str) -> Any:
    """Declare a form of the output."""
    return opt.flag(help, one_of=opt.FORM)


def as_csv(help: str) -> Any:
    """Declare the option `--csv` if its rows differ from the table's."""
    return form(Message("for spreadsheets: {0}", help))


def wants_predictions(is_wanted: bool, is_refused: bool) -> bool | None:
    """Return whether remedies are replayed, by `--predict` and `--no-predict`; None: where that is quick."""
    return True if is_wanted else False if is_refused else None


class Forms(opt.Options):
    """Options of commands that print a result."""

    json: bool = form("for programs: a document, as `rcv schema COMMAND` describes it")
    csv: bool = form("for spreadsheets")


class OfRawFiles(opt.Options):
    """Options of commands that open captures, for raw `.att` files and files that a compiler made."""

    decoder: str | None = opt.option(
        "decoder of raw .att files: this program or AMD's library (default auto: this program)",
        choices=DECODERS,
    )
    source_map: list[str] | None = opt.option(
        "source paths that the compiler recorded below FROM are found below TO; may be repeated",
        read=opt.mapping,
        repeated=True,
        metavar="FROM=TO",
    )
    kernel: str | None = opt.option(
        "of a file that a compiler made: the kernel, by its name or a part of it", metavar="NAME"
    )
    target: str | None = opt.option("of a file that a compiler made: the GPU, such as gfx942", metavar="GFX")


class OfCapture(Forms, OfRawFiles):
    """Options of commands that print a result of a capture."""

    folder: Path = FOLDER


class OfCaptures(OfCapture):
    """Options of commands that print results of several captures in order."""

    more: list[Path] = opt.positional("FOLDER", "more captures", nargs="*")


class RowOptions(OfCapture):
    """Options of a table: how many rows, and in which order."""

    needs: ClassVar[Sequence[opt.Need]] = (opt.beside("sort", "ascending"),)

    top: int = top()
    sort: str | None = sort("as the table says")
    ascending: bool = opt.flag("smallest first")


class Matched(opt.Options):
    """Options of rows that hold a text."""

    needs: ClassVar[Sequence[opt.Need]] = (opt.beside("match", "regex case"),)

    match: str | None = opt.option("only rows that hold this text", metavar="TEXT")
    regex: bool = opt.flag("the text is a regular expression")
    case: bool = opt.flag("distinguish upper and lower case in it")


class OfWaves(OfCapture):
    """Options of commands that sum costs of waves: which waves count, by default working ones."""

    usual: ClassVar[str] = WORKING
    chosen_by: ClassVar[tuple[str, ...]] = ("wave", "se", "clock")  # besides --waves
    needs: ClassVar[Sequence[opt.Need]] = (opt.without("wave", "tables of several waves", "waves"),)

    waves: str | None = waves()
    wave: str | None = wave("only one wave")
    se: int | None = ENGINE
    clock: tuple[int, int] | None = opt.range_of("only waves that touch a range of cycles", old="--clock")

    @property
    def usual_waves(self) -> str | None:
        """The default population of waves without `--waves`."""
        return self.usual


class OfAllWaves(OfWaves):
    """The same, for a table that sums all waves unless an option says otherwise."""

    usual = ALL

    waves: str | None = waves(ALL)


class Ruled(OfWaves, RowOptions):
    """Options of results by our rules or the reference viewer's, which counts all waves."""

    rule: str = rule("our estimate or the reference viewer's (default ours)")

    @property
    def usual_waves(self) -> str:
        return ALL if self.rule == REFERENCE else WORKING


class OverCaptures(opt.Options):
    """Options of commands that process many captures, each in one job."""

    needs: ClassVar[Sequence[opt.Need]] = (opt.without("cluster", "work on this machine", "jobs"),)

    jobs: int | None = opt.number(
        "captures at a time, each in a process (default: 1 for a few captures, one per processor for many)",
        read=opt.at_most(opt.MAX_JOBS),
    )
    cluster: str | None = opt.text(
        "instead: let the workers of a Dask cluster do it, e.g. tcp://HOST:8786 (`dask scheduler` prints it);"
        " they must see the captures under the same paths",
        "ADDRESS",
    )

    def seen(self, path: Path) -> Path:
        """Return a path that all workers understand: absolute on a cluster."""
        return path if self.cluster is None else path.absolute()


class WithRunFiles(opt.Options):
    """Options of commands that also read the tables of the run."""

    run_files: list[Path] | None = run_files()
