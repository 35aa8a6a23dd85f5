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
    beside,
    buffer_size,
    cycle,
    element,
    flag,
    is_one,
    mask,
    number,
    option,
    path,
    percent,
    positional,
    positive_count,
    range_of,
    simds,
    size,
    text,
    without,
)
from rcv_py.model.modes import LIBRARY_ORDERS

EXPORTED_TABLES = ("code", "waves", "tokens", "states", "waits", "occupancy", "events", "counters")
NOTE_ACTIONS = ("list", "add", "remove", "import", "export")
DOC_ACTIONS = ("list", "add", "remove")
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
    """Compare each capture of a folder with the previous one, by time."""

    folder: Path = shared.folder("DIR", "a folder with captures of several builds")
    more: list[Path] = positional("DIR", "more captures or folders", nargs="*")
    sort: str = option(
        "order of captures: by the time they were written, or by path", "time", choices=("time", "path")
    )
    metric: str = option("which cycles (default cost: latency and idle)", "cost", choices=COMPARED)
    least: float | None = option(
        "differences of the whole below this are noise (default 6)", read=percent, metavar="PERCENT"
    )
    fail_on: str | None = option(
        "exit with 3 if the last capture of a kernel takes more cycles than the previous "
        "one, beyond noise, or any other number of them",
        choices=FAIL_ON,
    )
    waves: str | None = shared.waves()
    markdown: bool = shared.form("a table for a job's page")


class RecordOptions(shared.Forms, example="rcv record --kernel gemm --launch 2 -- python bench.py"):
    """Record a kernel with rocprofv3; repeat if truncated or empty."""

    behind = "program"
    needs = (
        Need(
            "kernel launch gpu cu engines simds buffer activity out once twin host rocprofv3 strict yaml json"
            " csv",
            lambda options: options.watch is None,
            "what records",
            "Leave out --watch, or this.",
        ),
        beside("watch", "times"),
        Need("view", lambda options: not options.form, "a window", "Leave out the form of the answer."),
    )

    program: list[str] = positional(
        "COMMAND", "command that runs the kernel, after two dashes: -- ./program ARGS", nargs="*"
    )
    kernel: str | None = text("only kernels whose name matches this regular expression", "REGEX")
    launch: int | None = number(
        "the launch with this number, counted from 1 (default: the first)", read=positive_count
    )
    gpu: int | None = number(
        "only this GPU, by its number on the machine, regardless of which GPUs the program sees"
    )
    cu: int | None = number("the compute unit or WGP to trace (default 1)", read=at_most(15))
    engines: str | None = option("mask of shader engines (default 0x1)", read=mask, metavar="MASK")
    simds: str | None = option("mask of SIMDs; from gfx10 on the number of one", read=simds, metavar="MASK")
    buffer: int | None = option(
        "memory for the trace, 1M to 2G (default 256M)", read=buffer_size, metavar="SIZE"
    )
    activity: int | None = number("stream counters of gfx9 with this period, 1 to 16", read=at_most(16, 1))
    out: Path = path(
        "folder for captures, which go into numbered subfolders (default rcv_capture)",
        "DIR",
        Path("rcv_capture"),
    )
    once: bool = flag("do not record again, whatever the result")
    twin: bool = flag("record once more with the same settings, to measure the noise")
    host: str | None = text("record on another machine, by ssh, in its home folder or in DIR", "HOST[:DIR]")
    rocprofv3: str | None = text("path of rocprofv3 (default: from the search path, or from ROCm)", "PATH")
    watch: Path | None = path(
        "instead: analyse each capture that appears in DIR, and compare it with the previous one", "DIR"
    )
    times: int | None = number("end after this many captures", read=positive_count)
    view: bool = flag("open a window instead of printing what limits the kernel")
    strict: bool = flag("exit with 4 if the capture is still not trustworthy")
    yaml: bool = shared.form("only the input file for rocprofv3; nothing is recorded")


class NotesOptions(
    shared.Rows,
    shared.Matched,
    example='rcv notes FOLDER add --line 118 --severity warning --title "waits for all loads"',
):
    """Print notes about a capture; add, remove, import or export some."""

    needs = (
        Need(
            "line source wave at within title note severity author",
            is_one("action", "add"),
            "add",
            "Write `rcv notes FOLDER add …`.",
        ),
        Need("id", is_one("action", "remove"), "remove", "Write `rcv notes FOLDER remove …`."),
        Need("file", is_one("action", "import"), "import", "Write `rcv notes FOLDER import …`."),
        Need("out", is_one("action", "export"), "export", "Write `rcv notes FOLDER export …`."),
        Need("beside", is_one("action", "add", "remove", "import"), "add, remove or import"),
        without("at", "a note about a range", "within"),
    )

    action: str | None = positional(
        "ACTION", f"one of {', '.join(NOTE_ACTIONS)} (default list)", None, "?", choices=NOTE_ACTIONS
    )
    line: list[int] | None = number("add: about an instruction; may be repeated", repeated=True)
    source: tuple[str, int] | None = option("add: about a source line", read=element, metavar="FILE:LINE")
    wave: str | None = shared.wave("add: about a wave")
    at: int | None = option("add: about a cycle", read=cycle, metavar="CYCLE")
    within: tuple[int, int] | None = range_of("add: about a range of cycles")
    title: str | None = text("add: what the note says, on one line", "TEXT")
    note: str | None = text("add: further text", "TEXT")
    severity: str | None = option("add: its severity (default info)", choices=("info", "warning", "error"))
    author: str | None = text("add: its author")
    id: list[str] | None = option("remove: the note; may be repeated", repeated=True, metavar="ID")
    file: Path | None = path("import: an annotations.json of WaveScope, an agent or rcv", "FILE")
    out: Path | None = path("export: write an annotations.json; entries of others in it stay", "FILE")
    beside: bool = flag("keep them in annotations.json in the folder of the capture, not in your own folder")


class IsaDocsOptions(shared.Forms, example="rcv isa-docs add amdgpu_isa_cdna3.xml"):
    """List AMD's ISA files about instructions; add or remove one."""

    action: str | None = positional(
        "ACTION", f"one of {', '.join(DOC_ACTIONS)} (default list)", None, "?", choices=DOC_ACTIONS
    )
    what: str | None = positional(
        "FILE", "add: an XML file of AMD; remove: a family of GPUs such as cdna3", None, "?"
    )


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
    seed: int = number("seed: the same seed gives the same bytes", 0)


class ExportOptions(shared.OfRawFiles, example="rcv export FOLDER --to perfetto --out trace.pftrace"):
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


class PackOptions(shared.OfRawFiles, example="rcv pack FOLDER --out slow-kernel.rcvz"):
    """Write a capture into one small file, to keep or to send."""

    folder: Path = shared.folder()
    out: Path | None = path("the file (default: named as the capture, in the current folder)", "FILE")
    without_sources: bool = flag("leave the text of source files out")
    with_notes: bool = flag("include the notes about the capture, visible to anyone who opens it")
    json: bool = shared.form("for programs: a document, as `rcv schema pack` describes it")


class UnpackOptions(Options, example="rcv unpack slow-kernel.rcvz --out slow-kernel"):
    """Write a packed capture as a ui_output folder again."""

    folder: Path = shared.folder("FILE", "a file that `rcv pack` wrote")
    out: Path = path("a folder that is new or empty", "FOLDER", required=True)
    json: bool = shared.form("for programs: a document, as `rcv schema unpack` describes it")


class DecodeOptions(shared.OfRawFiles, example="rcv decode CAPTURE --out ui_output_decoded"):
    """Write a capture as a ui_output folder, for other tools."""

    folder: Path = shared.folder("CAPTURE", "a capture of any kind")
    out: Path = path("a folder that is new or empty", "FOLDER", required=True)
    json: bool = shared.form("for programs: a document, as `rcv schema decode` describes it")


class ShotOptions(shared.OfRawFiles, example="rcv shot FOLDER --panel isa --out isa.png --size 900x600"):
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
    size: tuple[int, int] | None = option("size in pixels before scaling", read=size, metavar="WxH")
    theme: str = option("colours (default light)", "light", choices=("light", "dark"))
    scale: int = option("device pixels per pixel", 1, read=int, choices=(1, 2, 3))
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

    root: Path = path("read captures only below this folder (default: the current folder)", "DIR", Path())
    out: Path | None = path("folder for reports and exports; without it, none are written", "DIR")
    notes: bool = flag("agents may add and remove notes about captures, not only read them")


class CompletionOptions(
    Options, example="rcv completion bash > ~/.local/share/bash-completion/completions/rcv"
):
    """Print the completion of words for bash, zsh or fish."""

    shell: str = positional("SHELL", f"one of {', '.join(SHELLS)}", None, choices=SHELLS)


class HelpOptions(Options, example="rcv help hotspot"):
    """Print the help of a command, or list all commands."""

    name: str | None = positional("COMMAND", "a command (default: list all of them)", None, "?")
