"""The options of the commands that write files, serve agents, or describe the others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rcv_py.cli.options import shared
from rcv_py.cli.options.common import MOST_JOBS, at_most, count, cycles, size
from rcv_py.cli.options.option import Need, Options, flag, lacks, option, positional
from rcv_py.cli.options.shared import WAVE_ID

REPORTED_AS = ("html", "md")
EXPORTED_TO = ("perfetto", "speedscope", "csv", "parquet")
EXPORTED_TABLES = ("code", "waves", "tokens", "states", "waits", "occupancy", "events", "counters")
SHELLS = ("bash", "zsh", "fish")


@dataclass(frozen=True, kw_only=True)
class ReportOptions(Options):
    """What `rcv report` takes."""

    example = "rcv report FOLDER --out report.html"

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
    format: str = option(
        "of files in a folder (default html)",
        "html",
        choices=REPORTED_AS,
        needs=[Need(lacks("out"), "--out-dir", "The ending of --out names the form: leave it out.")],
    )
    jobs: int = option(
        "captures at a time (default: as many as processors)", 0, read=at_most(MOST_JOBS), metavar="N"
    )
    waves: str | None = shared.waves()
    run_files: list[Path] | None = shared.run_files()
    json: bool = shared.as_json("rcv.report")
    csv: bool = shared.as_csv()


@dataclass(frozen=True, kw_only=True)
class ExportOptions(Options):
    """What `rcv export` takes."""

    example = "rcv export FOLDER --to perfetto --out trace.pftrace"

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
        f"only these waves, e.g. {WAVE_ID} (default: all; speedscope: the first)", nargs="+", metavar="ID"
    )
    cycles: bool = flag("Perfetto: write a cycle as one nanosecond, so that no time is rounded")
    json: bool = flag("for programs: schema rcv.export")


_PICTURE = Need(
    lambda options: options.out.suffix.lower() != ".csv", "a picture", "Use a name ending in .png or .svg."
)


@dataclass(frozen=True, kw_only=True)
class ShotOptions(Options):
    """What `rcv shot` takes."""

    example = "rcv shot FOLDER --panel isa --out isa.png --size 900x600"

    folder: Path = shared.folder()
    panel: str = option("a panel, e.g. isa, or `window` for all of it", required=True, metavar="NAME")
    out: Path = option("a .png, .svg or .csv file to write", read=Path, required=True, metavar="FILE")
    size: tuple[int, int] | None = option(
        "in pixels before scaling", read=size, metavar="WxH", needs=[_PICTURE]
    )
    theme: str = option("colours (default light)", "light", choices=("light", "dark"), needs=[_PICTURE])
    scale: int = option("device pixels a pixel", 1, read=int, choices=(1, 2, 3), needs=[_PICTURE])
    wave: str | None = shared.wave(f"select a wave, e.g. {WAVE_ID}")
    line: int | None = option("select an instruction", read=count, metavar="N")
    compare: Path | None = shared.baseline()
    twin: Path | None = shared.twin()
    range: tuple[int, int] | None = option("show the cycles from A to B", read=cycles, metavar="A:B")


_SAMPLE = Need(lambda options: options.names or options.all, "a sample", "Name samples, or add --all.")


@dataclass(frozen=True, kw_only=True)
class SynthOptions(Options):
    """What `rcv synth` takes."""

    example = "rcv synth --all --out samples"

    names: list[str] = positional("NAME", "samples to write; none: list them", None, "*")
    out: Path = option(
        "where (default sample_traces)", Path("sample_traces"), read=Path, metavar="FOLDER", needs=[_SAMPLE]
    )
    all: bool = flag("write every sample")
    seed: int = option("the same seed, the same bytes", 0, read=count, metavar="N", needs=[_SAMPLE])
    json: bool = shared.as_json("rcv.samples")
    csv: bool = shared.as_csv()


@dataclass(frozen=True, kw_only=True)
class SchemaOptions(Options):
    """What `rcv schema` takes."""

    example = "rcv schema hotspot > hotspot.schema.json"

    name: str | None = positional("NAME", "a command, a schema such as rcv.info/1, or `envelope`", None, "?")
    json: bool = shared.as_json("rcv.schemas")
    csv: bool = shared.as_csv()


@dataclass(frozen=True, kw_only=True)
class McpOptions(Options):
    """What `rcv mcp` takes."""

    example = "rcv mcp --root captures"

    root: Path = option(
        "captures are read below it only (default: the current folder)", Path(), read=Path, metavar="DIR"
    )
    out: Path | None = option(
        "reports and exports are written into it; without it, none are", read=Path, metavar="DIR"
    )


@dataclass(frozen=True, kw_only=True)
class CompletionOptions(Options):
    """What `rcv completion` takes."""

    example = "rcv completion bash > ~/.local/share/bash-completion/completions/rcv"

    shell: str = positional("SHELL", f"one of {', '.join(SHELLS)}", None, choices=SHELLS)


@dataclass(frozen=True, kw_only=True)
class HelpOptions(Options):
    """What `rcv help` takes."""

    example = "rcv help hotspot"

    name: str | None = positional("COMMAND", "a command (default: list all of them)", None, "?")
