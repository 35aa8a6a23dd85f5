"""The options of the commands that write files, serve agents, or describe the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from rcv_py.cli.options import shared
from rcv_py.cli.options.common import MAX_JOBS, at_most, size
from rcv_py.cli.options.option import Need, Options, flag, lacks, number, option, positional, range_of

REPORTED_AS = ("html", "md")
EXPORTED_TO = ("perfetto", "speedscope", "csv", "parquet")
EXPORTED_TABLES = ("code", "waves", "tokens", "states", "waits", "occupancy", "events", "counters")
SHELLS = ("bash", "zsh", "fish")


class ReportOptions(shared.Forms, shared.WithRunFiles, example="rcv report FOLDER --out report.html"):
    """What `rcv report` takes."""

    needs: ClassVar[Sequence[Need]] = (
        Need("format", lacks("out"), "--out-dir", "The ending of --out names the form: leave it out."),
    )

    folders: list[Path] = positional("FOLDER", "captures, or folders that hold several", nargs="+")
    out: Path | None = option(
        "a .html or .md file to write, for one capture", read=Path, metavar="FILE", one_of="where"
    )
    out_dir: Path | None = option(
        "a folder to write into: a file a capture, and an index of several (default: here)",
        read=Path,
        metavar="DIR",
        one_of="where",
    )
    format: str = option("of files in a folder (default html)", "html", choices=REPORTED_AS)
    jobs: int = number("captures at a time (default: as many as processors)", 0, read=at_most(MAX_JOBS))
    waves: str | None = shared.waves()


class ExportOptions(Options, example="rcv export FOLDER --to perfetto --out trace.pftrace"):
    """What `rcv export` takes."""

    folder: Path = shared.folder()
    to: str = option("the kind of file", choices=EXPORTED_TO, required=True)
    out: Path = option(
        "a file to write (compressed if it ends in .gz), or the folder for all tables",
        read=Path,
        required=True,
        metavar="PATH",
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
    """What `rcv shot` takes."""

    needs: ClassVar[Sequence[Need]] = (
        Need(
            "size theme scale",
            lambda options: options.out.suffix.lower() != ".csv",
            "a picture",
            "Use a name ending in .png or .svg.",
        ),
    )

    folder: Path = shared.folder()
    panel: str = option("a panel, e.g. isa, or `window` for all of it", required=True, metavar="NAME")
    out: Path = option("a .png, .svg or .csv file to write", read=Path, required=True, metavar="FILE")
    size: tuple[int, int] | None = option("in pixels before scaling", read=size, metavar="WxH")
    theme: str = option("colours (default light)", "light", choices=("light", "dark"))
    scale: int = option("device pixels a pixel", 1, read=int, choices=(1, 2, 3))
    wave: str | None = shared.wave("select a wave")
    line: int | None = number("select an instruction")
    compare: Path | None = shared.baseline()
    twin: Path | None = shared.twin()
    range: tuple[int, int] | None = range_of("show a range of cycles", old="--range")


class SynthOptions(shared.Forms, example="rcv synth --all --out samples"):
    """What `rcv synth` takes."""

    needs: ClassVar[Sequence[Need]] = (
        Need(
            "out seed",
            lambda options: options.names or options.all,
            "a sample",
            "Name samples, or add --all.",
        ),
    )

    names: list[str] = positional("NAME", "samples to write; none: list them", None, "*")
    out: Path = option("where (default sample_traces)", Path("sample_traces"), read=Path, metavar="FOLDER")
    all: bool = flag("write every sample")
    seed: int = number("the same seed, the same bytes", 0)


class SchemaOptions(shared.Forms, example="rcv schema hotspot > hotspot.schema.json"):
    """What `rcv schema` takes."""

    name: str | None = positional("NAME", "a command, a schema such as rcv.info/1, or `envelope`", None, "?")


class McpOptions(Options, example="rcv mcp --root captures"):
    """What `rcv mcp` takes."""

    root: Path = option(
        "captures are read below it only (default: the current folder)", Path(), read=Path, metavar="DIR"
    )
    out: Path | None = option(
        "reports and exports are written into it; without it, none are", read=Path, metavar="DIR"
    )


class CompletionOptions(
    Options, example="rcv completion bash > ~/.local/share/bash-completion/completions/rcv"
):
    """What `rcv completion` takes."""

    shell: str = positional("SHELL", f"one of {', '.join(SHELLS)}", None, choices=SHELLS)


class HelpOptions(Options, example="rcv help hotspot"):
    """What `rcv help` takes."""

    name: str | None = positional("COMMAND", "a command (default: list all of them)", None, "?")
