"""The options of the commands about libraries of captures, files, agents and the shell."""

from __future__ import annotations

from pathlib import Path

from rcv_py.cli.options import shared
from rcv_py.cli.options.look_options import COMPARED, FAIL_ON
from rcv_py.cli.options.option import (
    MAX_DEPTH,
    Need,
    Options,
    at_most,
    flag,
    number,
    option,
    path,
    percent,
    positional,
    range_of,
    size,
)
from rcv_py.model.modes import LIBRARY_ORDERS

EXPORTED_TABLES = ("code", "waves", "tokens", "states", "waits", "occupancy", "events", "counters")
SHELLS = ("bash", "zsh", "fish")


class IndexOptions(
    shared.OfCaptures,
    shared.OverCaptures,
    example="rcv index captures --sort health --markdown > README.md",
):
    """Rank all captures below a folder by cost or health."""

    folder: Path = shared.folder("DIR", "a folder with captures at any place below it")
    more: list[Path] = positional("DIR", "more folders", nargs="*")
    sort: str = option("what ranks captures (default duration)", "duration", choices=LIBRARY_ORDERS)
    findings: bool = flag("read waves too, for the bound class and the first finding")
    depth: int = number("folders looked into below DIR (default 6)", 6, read=at_most(MAX_DEPTH, 1))
    limit: int = number("captures at most; 0 for all (default 1000)", 1000)
    markdown: bool = shared.form("a table for a README")
    html: bool = shared.form("a page that needs nothing else")
    out: Path | None = shared.out()


class TrendOptions(
    shared.OfCaptures,
    shared.OverCaptures,
    example="rcv trend nightly --fail-on regression --cluster tcp://HOST:8786",
):
    """Compare each capture of a folder with the one before, by time."""

    folder: Path = shared.folder("DIR", "a folder with captures of several builds")
    more: list[Path] = positional("DIR", "more captures or folders", nargs="*")
    sort: str = option(
        "what comes first: what was written first, or by path", "time", choices=("time", "path")
    )
    metric: str = option("cycles of what (default cost: latency and idle)", "cost", choices=COMPARED)
    least: float | None = option(
        "differences of the whole below it are noise (default 6)", read=percent, metavar="PERCENT"
    )
    fail_on: str | None = option(
        "exit with 3 if the last capture of a kernel takes more cycles than the one before, beyond noise, or"
        " any other number of them",
        choices=FAIL_ON,
    )
    waves: str | None = shared.waves()
    markdown: bool = shared.form("a table for a job's page")


class SynthOptions(shared.Forms, example="rcv synth --all --out samples"):
    """Write synthetic sample captures."""

    needs = (
        Need(
            "out seed",
            lambda options: options.names or options.all,
            "a sample",
            "Name samples, or add --all.",
        ),
    )

    names: list[str] = positional("NAME", "samples to write; none: list them", None, "*")
    out: Path = path("where (default sample_traces)", "FOLDER", Path("sample_traces"))
    all: bool = flag("write every sample")
    seed: int = number("the same seed, the same bytes", 0)


class ExportOptions(Options, example="rcv export FOLDER --to perfetto --out trace.pftrace"):
    """Write files for Perfetto, speedscope, CSV and Parquet."""

    folder: Path = shared.folder()
    to: str = option("the kind of file", choices=("perfetto", "speedscope", "csv", "parquet"), required=True)
    out: Path = path(
        "a file to write (compressed if it ends in .gz), or the folder for all tables", "PATH", required=True
    )
    table: str | None = option(
        f"one of {', '.join(EXPORTED_TABLES)}", choices=EXPORTED_TABLES, metavar="NAME"
    )
    waves: list[str] | None = option(
        f"only these waves, e.g. {shared.WAVE_ID} (default: all; speedscope: the first)",
        nargs="+",
        metavar="ID",
    )
    cycles: bool = flag("Perfetto: write a cycle as one nanosecond, so that no time is rounded")
    json: bool = shared.form("for programs: a document, as `rcv schema export` describes it")


class ShotOptions(Options, example="rcv shot FOLDER --panel isa --out isa.png --size 900x600"):
    """Draw a panel or the window into a picture."""

    needs = (
        Need(
            "size theme scale",
            lambda options: options.out.suffix.lower() != ".csv",
            "a picture",
            "Use a name ending in .png or .svg.",
        ),
    )

    folder: Path = shared.folder()
    panel: str = option("a panel, e.g. isa, or `window` for all of it", required=True, metavar="NAME")
    out: Path = path("a .png, .svg or .csv file to write", "FILE", required=True)
    size: tuple[int, int] | None = option("in pixels before scaling", read=size, metavar="WxH")
    theme: str = option("colours (default light)", "light", choices=("light", "dark"))
    scale: int = option("device pixels a pixel", 1, read=int, choices=(1, 2, 3))
    wave: str | None = shared.wave("select a wave")
    line: int | None = number("select an instruction")
    compare: Path | None = shared.baseline()
    twin: Path | None = shared.twin()
    range: tuple[int, int] | None = range_of("show a range of cycles", old="--range")


class SchemaOptions(shared.Forms, example="rcv schema hotspot > hotspot.schema.json"):
    """Print the JSON Schema of what --json prints, or list all."""

    name: str | None = positional("NAME", "a command, a schema such as rcv.info/1, or `envelope`", None, "?")


class McpOptions(Options, example="rcv mcp --root captures"):
    """Serve these commands to agents, by Model Context Protocol."""

    root: Path = path("captures are read below it only (default: the current folder)", "DIR", Path())
    out: Path | None = path("reports and exports are written into it; without it, none are", "DIR")


class CompletionOptions(
    Options, example="rcv completion bash > ~/.local/share/bash-completion/completions/rcv"
):
    """Print the completion of words for bash, zsh or fish."""

    shell: str = positional("SHELL", f"one of {', '.join(SHELLS)}", None, choices=SHELLS)


class HelpOptions(Options, example="rcv help hotspot"):
    """Print the help of a command, or list all commands."""

    name: str | None = positional("COMMAND", "a command (default: list all of them)", None, "?")
