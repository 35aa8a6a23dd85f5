"""The options of commands that belong to no feature."""

from pathlib import Path

from rcv_py.base.text import Message
from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared

EXPORTED_TABLES = ("code", "waves", "tokens", "states", "waits", "occupancy", "events", "counters")
SKILLS = ".agents/skills"  # where several agents look in the folder that they work in
SHELLS = ("bash", "zsh", "fish")


class ViewOptions(shared.WithRunFiles, shared.OfRawFiles, example="rcv ui_output_agent_1_dispatch_2"):
    """Open the window (what `rcv FOLDER` does)."""

    needs = (
        opt.Need(
            "panel compare goto wave line cycle run_files",
            opt.has("folder"),
            "a capture",
            "Name the capture first.",
        ),
    )

    folder: Path | None = opt.positional("FOLDER", "a capture, or several of them", nargs="?")
    panel: str | None = opt.text("bring a panel to the front, e.g. waits")
    compare: Path | None = shared.BASELINE
    twin: Path | None = shared.TWIN
    goto: str | None = opt.text(
        "a place: an anchor of a report, e.g. line-118, or se0/simd2/slot1/wv0:instruction 118 hit 8@126704",
        "PLACE",
    )
    wave: str | None = shared.wave("select a wave")
    line: int | None = opt.number("select an instruction")
    cycle: int | None = opt.number("show this cycle")
    new_process: bool = opt.flag("start a separate program, even if a running window could show the capture")
    safe: bool = opt.flag(
        "start with default settings and layout, and save nothing: for when the window does not start"
    )
    log: Path | None = opt.path("log what the program does, line by line, to a file", "FILE")


class ReportOptions(
    shared.Forms,
    shared.OfRawFiles,
    shared.WithRunFiles,
    shared.OverCaptures,
    example="rcv report FOLDER --out report.html",
):
    """Write a report of captures: a page of HTML or Markdown each."""

    is_list = False
    agents = opt.AgentTool("Use it for a page that people read.", writes=True)
    needs = (
        opt.Need("format", opt.lacks("out"), "--out-dir", "The ending of --out sets the form: leave it out."),
        opt.Need(
            "interactive",
            lambda options: "md" not in (options.format, str(options.out).lower().rpartition(".")[2]),
            "a page of HTML",
            "Leave Markdown out, or this.",
        ),
    )

    folders: list[Path] = opt.positional("FOLDER", "captures, or folders that hold several", nargs="+")
    out: Path | None = opt.path("a .html or .md file to write, for one capture", "FILE", one_of="where")
    out_dir: Path | None = opt.path(
        "a folder to write into: one file per capture, and an index if there are several (default: here)",
        "DIR",
        one_of="where",
    )
    format: str = opt.option("form of files in a folder (default html)", "html", choices=("html", "md"))
    waves: str | None = shared.waves()
    predict: bool = opt.flag(
        "replay recordings: what remedies would gain (by default where that takes less than two seconds for "
        "a capture), experiments, and the critical path",
        one_of="predict",
    )
    no_predict: bool = shared.NO_PREDICT
    interactive: bool = opt.flag("an interactive page of HTML: timelines, listing, sources and findings")


class SynthOptions(shared.Forms, example="rcv synth --all --out samples"):
    """Write synthetic sample captures."""

    is_list = False
    needs = (
        opt.Need(
            "out seed", lambda given: given.names or given.all, "a sample", "Name samples, or add --all."
        ),
    )

    names: list[str] = opt.positional("NAME", "samples to write; none: list them", None, "*")
    out: Path = opt.path("where (default sample_traces)", "FOLDER", Path("sample_traces"))
    all: bool = opt.flag("write every sample")
    seed: int = opt.number("seed: the same seed gives the same bytes", 0)


class ExportOptions(shared.OfRawFiles, example="rcv export FOLDER --to perfetto --out trace.pftrace"):
    """Write files for Perfetto, speedscope, CSV and Parquet."""

    agents = opt.AgentTool("Use it to hand a trace to another tool.", writes=True, rare=("cycles",))

    folder: Path = shared.FOLDER
    to: str = opt.option(
        "the kind of file", choices=("perfetto", "speedscope", "csv", "parquet"), required=True
    )
    out: Path = opt.path(
        "a file to write (compressed if it ends in .gz), or the folder for all tables", "PATH", required=True
    )
    table: str | None = opt.option(
        Message("one of {0}", ", ".join(EXPORTED_TABLES)), choices=EXPORTED_TABLES, metavar="NAME"
    )
    waves: list[str] | None = opt.option(
        Message("only these waves, e.g. {0} (default: all; speedscope: the first)", shared.WAVE_ID),
        nargs="+",
        metavar="ID",
    )
    cycles: bool = opt.flag("Perfetto: write a cycle as one nanosecond, so that no time is rounded")
    json: bool = shared.form("for programs: a document, as `rcv schema export` describes it")


class PackOptions(shared.OfRawFiles, example="rcv pack FOLDER --out slow-kernel.rcvz"):
    """Write a capture into one small file, to keep or to send."""

    agents = opt.AgentTool("Use it for what people attach to a report.", writes=True, required=("out",))

    folder: Path = shared.FOLDER
    out: Path | None = opt.path("the file (default: named as the capture, in the current folder)", "FILE")
    without_sources: bool = opt.flag("leave the text of source files out")
    with_notes: bool = opt.flag("include the notes about the capture, visible to anyone who opens it")
    json: bool = shared.form("for programs: a document, as `rcv schema pack` describes it")


class UnpackOptions(opt.Options, example="rcv unpack slow-kernel.rcvz --out slow-kernel"):
    """Write a packed capture as a ui_output folder again."""

    folder: Path = opt.positional("FILE", "a file that `rcv pack` wrote")
    out: Path = opt.path("a folder that is new or empty", "FOLDER", required=True)
    json: bool = shared.form("for programs: a document, as `rcv schema unpack` describes it")


class DecodeOptions(shared.OfRawFiles, example="rcv decode CAPTURE --out ui_output_decoded"):
    """Write a capture as a ui_output folder, for other tools."""

    agents = opt.AgentTool("Use it on raw and packed captures.", writes=True)

    folder: Path = opt.positional("CAPTURE", "a capture of any kind")
    out: Path = opt.path("a folder that is new or empty", "FOLDER", required=True)
    json: bool = shared.form("for programs: a document, as `rcv schema decode` describes it")


class ShotOptions(shared.OfRawFiles, example="rcv shot FOLDER --panel isa --out isa.png --size 900x600"):
    """Draw a panel or the window into a picture."""

    agents = opt.AgentTool(
        "Use it to show a person a timeline; it answers with a picture.", optional=("out",), rare=("size",)
    )
    needs = (
        opt.Need(
            "size theme scale",
            lambda options: options.out.suffix.lower() != ".csv",
            "a picture",
            "Use a name ending in .png or .svg.",
        ),
    )

    folder: Path = shared.FOLDER
    panel: str = opt.option("a panel, e.g. isa, or `window` for all of it", required=True, metavar="NAME")
    out: Path = opt.path("a .png, .svg or .csv file to write", "FILE", required=True)
    size: tuple[int, int] | None = opt.option("size in pixels before scaling", read=opt.size, metavar="WxH")
    theme: str = opt.option("colours (default light)", "light", choices=("light", "dark"))
    scale: int = opt.option("device pixels per pixel", 1, read=int, choices=(1, 2, 3))
    wave: str | None = shared.wave("select a wave")
    line: int | None = opt.number("select an instruction")
    compare: Path | None = shared.BASELINE
    twin: Path | None = shared.TWIN
    range: tuple[int, int] | None = opt.range_of("show a range of cycles", old="--range")


class SchemaOptions(shared.Forms, example="rcv schema hotspot > hotspot.schema.json"):
    """Print the JSON Schema of what --json prints, or list all."""

    is_list = False
    agents = opt.AgentTool("Use it to learn the fields of an answer.")

    name: str | None = opt.positional(
        "NAME", "a command, a schema such as rcv.info/1, or `envelope`", None, "?"
    )


class McpOptions(opt.Options, example="rcv mcp --root captures"):
    """Serve these commands to agents, by Model Context Protocol."""

    root: Path = opt.path("read captures only below this folder (default: the current folder)", "DIR", Path())
    out: Path | None = opt.path("folder for reports and exports; without it, none are written", "DIR")
    notes: bool = opt.flag("agents may add and remove notes about captures, not only read them")


class SkillOptions(opt.Options, example="rcv skill install .claude/skills"):
    """Print or install the skill that teaches coding agents to use rcv."""

    action: str | None = opt.positional("install", "install it (default: print it)", None, "?", ("install",))
    folder: Path | None = opt.positional(
        "FOLDER", Message("the folder of skills that the agent reads (default {0})", SKILLS), nargs="?"
    )


class CompletionOptions(
    opt.Options, example="rcv completion bash > ~/.local/share/bash-completion/completions/rcv"
):
    """Print the completion of words for bash, zsh or fish."""

    shell: str = opt.positional("SHELL", Message("one of {0}", ", ".join(SHELLS)), None, choices=SHELLS)


class HelpOptions(opt.Options, example="rcv help hotspot"):
    """Print the help of a command, or list all commands."""

    name: str | None = opt.positional("COMMAND", "a command (default: list all of them)", None, "?")
