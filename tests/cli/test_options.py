"""Every option of every command either changes what is printed on a capture where it can, or is refused.

A row of `HONOURED` names words of a command and an option: what is printed with and without it differs.
A row of `REFUSED` names words that no command may take silently.  Both together name every option there is.
"""

import json
from pathlib import Path

import pytest

from rcv_py.cli.arguments import parser, shown_actions
from rcv_py.cli.options.commands import COMMANDS
from rcv_py.cli.options.shared import OfRawFiles
from tests.cli.test_wave_choice import mixed
from tests.support.command_runs import run
from tests.support.pmc import write_tables
from tests.support.samples import sample_path, write_sample

MATMUL, KERNELS, COUNTED, MARKED, SAMPLED = (
    "matmul_small",
    "kernels",
    "counters_units",
    "markers",
    "pc_sampling",
)
# Commands that sum costs of waves, each with words that it needs.
SUMMED = {
    **dict.fromkeys(("summary", "hotspot", "isa", "source", "flame", "waits", "causes", "loops"), ""),
    **dict.fromkeys(("bubbles", "latency", "range", "roofline", "schedule"), ""),
    "line": "83",
}
# command, capture, words that are there with and without, the option with its value
HONOURED: tuple[tuple[str, str, str, str], ...] = (
    ("triage", MATMUL, "", "--top 1"),
    ("triage", MATMUL, "", "--no-predict"),
    ("triage", MATMUL, "", "--run-files {tables}"),
    ("triage", MATMUL, "", "--markdown"),
    ("info", "packed", "", ""),
    ("check", MATMUL, "", "--twin {before}"),
    ("check", "{broken}", "", "--strict"),
    ("check", MATMUL, "", "--yaml"),
    ("hotspot", MATMUL, "", "--top 3"),
    ("hotspot", MATMUL, "", "--by kind"),
    ("hotspot", MATMUL, "", "--sort idle"),
    ("hotspot", MATMUL, "", "--ascending"),
    ("hotspot", MATMUL, "", "--bins 8"),
    ("hotspot", MATMUL, "--bins 8", "--se 1"),
    ("hotspot", MATMUL, "", "--charge self"),
    ("hotspot", MATMUL, "--charge self --by source", "--file {file}"),
    ("hotspot", MATMUL, "--charge self", "--no-idle"),
    ("hotspot", MATMUL, "", "--run-files {tables}"),
    ("hotspot", MATMUL, "", "--like new"),
    ("hotspot", MATMUL, "--like new", "--mode asm"),
    ("hotspot", MATMUL, "--like new", "--detail"),
    ("hotspot", MATMUL, "--like new --detail", "--context 1"),
    ("hotspot", MATMUL, "--like new", "--kernel matmul"),
    ("isa", MATMUL, "", "--by block"),
    ("isa", MATMUL, "", "--help-of v_mfma"),
    ("isa", MATMUL, "--help-of v_mfma", "--isa-xml {xml}"),
    ("isa", MATMUL, "", "--top 3"),
    ("isa", MATMUL, "", "--mode mean"),
    ("isa", MATMUL, "--mode wave-sum --wave {wave}", "--wave {other}"),
    ("isa", MATMUL, "--mode hit --wave {wave} --hit 1", "--hit 2"),
    ("isa", MATMUL, "", "--bars kinds"),
    ("isa", MATMUL, "", "--no-idle"),
    ("isa", MATMUL, "", "--match wait"),
    ("isa", MATMUL, "--labels", "--match nothing-of-it"),
    ("isa", MATMUL, "--match ^s_", "--regex"),
    ("isa", MATMUL, "--match S_", "--case"),
    ("isa", MATMUL, "", "--sort stall"),
    ("isa", MATMUL, "--sort stall", "--ascending"),
    ("source", MATMUL, "", "--top 1"),
    ("source", MATMUL, "tile_io.h:20", "--context 1"),
    ("source", MARKED, "", "--inlined"),
    ("source", MATMUL, "", "--no-causes"),
    ("line", MATMUL, "83", "--metric stall"),
    ("line", MATMUL, "83", "--top 3"),
    ("line", MATMUL, "83", "--log"),
    ("line", MATMUL, "83", "--bars 4"),
    ("line", MATMUL, "83", "--bar 1"),
    ("waits", MATMUL, "", "--top 3"),
    ("waits", MATMUL, "", "--wave {wave}"),
    ("waits", MATMUL, "--wave {wave}", "--clock 0:1"),
    ("waits", MATMUL, "", "--latency"),
    ("waits", MATMUL, "", "--inverted"),
    ("roofline", MATMUL, "", "--run-files {tables}"),
    ("roofline", MATMUL, "", "--wave {wave}"),
    ("schedule", MATMUL, "", "--wave {wave}"),
    ("registers", MATMUL, "", "--by instruction"),
    ("registers", MATMUL, "", "--line 83"),
    ("registers", MATMUL, "", "--top 1"),
    ("registers", MATMUL, "--by instruction", "--sort vgprs"),
    ("registers", MATMUL, "--by instruction --sort vgprs", "--ascending"),
    ("registers", MATMUL, "", "--run-files {tables}"),
    ("waits", MATMUL, "", "--line 83"),
    ("waits", MATMUL, "", "--clock {early}"),
    ("waits", MATMUL, "", "--sort hits"),
    ("waits", MATMUL, "--sort hits", "--ascending"),
    ("causes", MATMUL, "", "--by instruction"),
    ("causes", MATMUL, "", "--top 1"),
    ("bubbles", MATMUL, "", "--line 83"),
    ("causes", MATMUL, "", "--line 83"),
    ("causes", MATMUL, "", "--sort hits"),
    ("causes", MATMUL, "--sort hits", "--ascending"),
    ("loops", MATMUL, "", "--by first"),
    ("loops", MATMUL, "", "--wave {wave}"),
    ("loops", KERNELS, "", "--top 1"),
    ("loops", MATMUL, "--by iterations", "--loop 82:140"),
    ("loops", MATMUL, "--by iterations --loop 82:140", "--iterations-of {wave}"),
    ("loops", MATMUL, "--by iterations --loop 82:140", "--outliers"),
    ("loops", KERNELS, "", "--sort branch"),
    ("loops", KERNELS, "--sort branch", "--ascending"),
    ("range", MATMUL, "", "--from 200000"),
    ("range", MATMUL, "", "--between 82:140"),
    ("range", MATMUL, "", "--top 2"),
    ("bubbles", MATMUL, "", "--top 3"),
    ("bubbles", MATMUL, "", "--rule reference"),
    ("bubbles", MATMUL, "", "--sort stall"),
    ("bubbles", MATMUL, "--sort stall", "--ascending"),
    ("latency", MATMUL, "", "--by memory"),
    ("latency", MATMUL, "", "--by access"),
    ("latency", MATMUL, "", "--by fetch"),
    ("latency", MATMUL, "", "--rule reference"),
    ("latency", MATMUL, "", "--top 3"),
    ("latency", MATMUL, "--by memory", "--waits"),
    ("latency", MATMUL, "", "--no-idle"),
    ("latency", MATMUL, "", "--sort hidden"),
    ("latency", MATMUL, "--sort hidden", "--ascending"),
    ("flame", MATMUL, "", "--metric stall"),
    ("flame", MATMUL, "--least 0", "--order name"),
    ("flame", MATMUL, "", "--content kernel"),
    ("flame", MATMUL, "", "--least 20"),
    ("flame", MATMUL, "--json", "--least 20"),
    ("flame", MATMUL, "--content sandwich --around 83", "--around 3"),
    ("flame", MATMUL, "", "--no-idle"),
    ("flame", MATMUL, "", "--clock {early}"),
    ("flame", MATMUL, "", "--folded"),
    ("occupancy", MATMUL, "", "--by cu"),
    ("occupancy", MATMUL, "", "--limits"),
    ("occupancy", MATMUL, "", "--se 1"),
    ("occupancy", MATMUL, "--by cu", "--se 1"),
    ("occupancy", MATMUL, "--by state", "--se 1"),
    ("occupancy", MATMUL, "--by kernel", "--se 1"),
    ("occupancy", MATMUL, "", "--only SE1"),
    ("occupancy", MATMUL, "--limits", "--run-files {tables}"),
    ("waves", MATMUL, "", "--resident"),
    ("waves", MATMUL, "", "--unit-of {wave}"),
    ("waves", KERNELS, "--resident", "--without-kernel _Z6reducePKfPfi"),
    ("waves", MATMUL, "", "--without-se 1"),
    ("waves", MATMUL, "", "--within {early}"),
    ("waves", MATMUL, "", "--from {at}"),
    ("waves", MATMUL, "", "--to {at}"),
    ("waves", MATMUL, "", "--se 1"),
    ("waves", MATMUL, "--resident", "--se 1"),
    ("waves", MATMUL, "{wave}", "--tokens"),
    ("waves", MATMUL, "{wave}", "--touching {early}"),
    ("summary", MATMUL, "", "--units"),
    ("summary", MATMUL, "--units", "--wave {other}"),
    ("summary", MATMUL, "--units", "--from {at}"),
    ("source", MATMUL, "--sort file", "--ascending"),
    ("search", MATMUL, "--match s_", "--sort instruction"),
    ("search", MATMUL, "--match s_ --sort instruction", "--ascending"),
    ("events", MARKED, "", "--top 1"),
    ("events", MARKED, "", "--from 72000"),
    *(
        (command, MATMUL, words, option)
        for command, words in SUMMED.items()
        for option in ("--se 1", "--wave {wave}", "--from {at}", "--to {at}")
        if command != "isa" or "wave" not in option
    ),
    ("waves", MATMUL, "", "--sort cycles"),
    ("waves", MATMUL, "--sort cycles", "--ascending"),
    ("waves", MATMUL, "", "--top 2"),
    ("search", MATMUL, "--match s_", "--match v_"),
    ("search", MATMUL, "--match ^s_", "--regex"),
    ("search", MATMUL, "--match S_", "--case"),
    ("search", MATMUL, "--match s_", "--top 2"),
    ("counters", COUNTED, "", "--list"),
    ("counters", COUNTED, "", "--raw"),
    ("counters", COUNTED, "", "--formula x:=sum[INST_LEVEL_VMEM]"),
    ("counters", COUNTED, "", "--file {formulas}"),
    ("counters", COUNTED, "", "--se 1"),
    ("counters", COUNTED, "", "--cu 1"),
    ("counters", COUNTED, "", "--only INST_LEVEL_VMEM"),
    ("pmc", "{pmc}", "", "--kernel kern_a"),
    ("pmc", "{pmc}", "", "--by dispatch"),
    ("pmc", "{pmc}", "", "--ideal-mb 1"),
    ("pmc", "{pmc}", "", "--channels 2"),
    ("pmc", "{pmc}", "--by dispatch", "--top 1"),
    ("pmc", "{pmc}", "", "--like"),
    ("events", MARKED, "", "--kind dispatch"),
    ("events", MARKED, "", "--match wave"),
    ("whatif", "tutorial_after", "", "--batch 32"),
    ("samples", SAMPLED, "", "--by source"),
    ("samples", SAMPLED, "", "--top 1"),
    ("samples", SAMPLED, "", "--sort stalled"),
    ("samples", SAMPLED, "--sort stalled", "--ascending"),
    ("events", MARKED, "", "--by scope"),
    ("events", MARKED, "--match ^wave", "--regex"),
    ("events", MARKED, "--match WAVE", "--case"),
    ("events", MARKED, "", "--sort name"),
    ("events", MARKED, "--sort name", "--ascending"),
    ("compare", MATMUL, "{before}", "--twin {before}"),
    ("compare", MATMUL, "{before}", "--by class"),
    ("compare", MATMUL, "{before}", "--by work"),
    ("compare", MATMUL, "{before}", "--metric stall"),
    ("compare", MATMUL, "{before} --by flame", "--top 3"),
    ("compare", MATMUL, "{before}", "--top 3"),
    ("compare", MATMUL, "{before}", "--least 90"),
    ("compare", MATMUL, "{before}", "--seed 1"),
    ("compare", MATMUL, "{before}", "--beyond-noise"),
    ("compare", MATMUL, "{before}", "--sort cycles_a"),
    ("compare", MATMUL, "{before} --sort cycles_a", "--ascending"),
    ("compare", MATMUL, "{before}", "--markdown"),
    ("compare", MATMUL, "{before}", "--junit"),
    ("index", "{library}", "", "--sort capture"),
    ("index", "{library}", "", "--findings"),
    ("index", "{library}", "", "--depth 1"),
    ("index", "{library}", "", "--limit 1"),
    ("index", "{library}", "", "--markdown"),
    ("index", "{library}", "", "--html"),
    *(
        (command, "{mixed}", "", "--waves all")
        for command in ("triage", "summary", "waits", "causes", "loops")
    ),
    *(
        (command, "{mixed}", "", "--waves all")
        for command in ("bubbles", "latency", "range", "roofline", "schedule")
    ),
    *(
        (command, "{mixed}", "", "--waves working")
        for command in ("hotspot", "isa", "source", "flame", "waves")
    ),
    ("line", "{mixed}", "3", "--waves all"),
    ("compare", "{mixed}", "{before}", "--waves all"),
    ("waves", "{mixed}", "", "--populations"),
    ("info", "{broken}", "", "--read"),
)
REFUSED = (
    ("triage", "{library}", "--top 3"),
    ("info", "{library}", "--read"),
    ("hotspot", MATMUL, "--no-idle"),
    ("hotspot", MATMUL, "--file x.py"),
    ("hotspot", MATMUL, "--bins 0"),
    ("hotspot", MATMUL, "--bins 8 --top 3"),
    ("hotspot", MATMUL, "--bins 8 --by kind"),
    ("hotspot", MATMUL, "--bins 8 --sort stall"),
    ("hotspot", MATMUL, "--bins 8 --se 77"),
    ("hotspot", MATMUL, "--like new --se 1"),
    ("hotspot", MATMUL, "--se 77"),
    ("hotspot", MATMUL, "--from 9 --to 9"),
    ("hotspot", SAMPLED, "--from 1"),
    ("hotspot", MATMUL, "--charge self --by instruction --file x.py"),
    ("hotspot", MATMUL, "--charge self --by tree --sort stall"),
    ("hotspot", MATMUL, "--context 3"),
    ("hotspot", MATMUL, "--like new --context 3"),
    ("hotspot", MATMUL, "--like old --kernel x"),
    ("hotspot", MATMUL, "--like new --by kind"),
    ("hotspot", MATMUL, "--like new --clock 1:2"),
    ("hotspot", MATMUL, "--run-files nowhere"),
    ("hotspot", SAMPLED, "--bins 8 --se 0"),
    ("hotspot", MATMUL, "--like new --waves working"),
    ("hotspot", SAMPLED, "--waves working"),
    ("isa", MATMUL, "--mode wave-sum --wave {wave} --waves working"),
    ("isa", MATMUL, "--branches --waves lazy"),
    ("waits", MATMUL, "--wave {wave} --waves working"),
    ("loops", MATMUL, "--wave {wave} --waves all"),
    ("latency", MATMUL, "--by memory --waves working"),
    ("latency", MATMUL, "--by memory --wave {wave}"),
    ("latency", MATMUL, "--by memory --se 1"),
    ("latency", MATMUL, "--by memory --from 5"),
    ("summary", MATMUL, "--units --se 1"),
    ("line", MATMUL, "{wave} --top 3"),
    ("line", MATMUL, "3 4"),
    ("waves", MATMUL, "--tokens"),
    ("waves", MATMUL, "{wave} --sort stall"),
    ("waves", MATMUL, "{wave} --resident"),
    ("source", MATMUL, "tile_io.h --sort stall"),
    ("flame", MARKED, "--content markers --waves working"),
    ("waves", MATMUL, "--resident --waves working"),
    ("waves", MATMUL, "--populations --waves working"),
    ("waves", MATMUL, "--populations --within 1:2"),
    ("triage", MATMUL, "--waves lazy"),
    ("causes", MATMUL, "--waves lazy"),
    ("isa", MATMUL, "--wave {wave}"),
    ("isa", MATMUL, "--hit 3"),
    ("isa", MATMUL, "--mode wave-sum --wave {wave} --hit 3"),
    ("isa", MATMUL, "--mode wave-sum --wave {wave} --clock 1:2"),
    ("isa", MATMUL, "--branches --clock 1:2"),
    ("isa", MATMUL, "--by branch --se 1"),
    ("isa", MATMUL, "--mode wave-sum --wave {wave} --se 1"),
    ("isa", MATMUL, "--branches --mode mean"),
    ("isa", MATMUL, "--blocks --bars kinds"),
    ("isa", MATMUL, "--labels --no-idle"),
    ("isa", MATMUL, "--regex"),
    ("isa", MATMUL, "--isa-xml x.xml"),
    ("isa", MATMUL, "--help-of 3 --by block"),
    ("isa", MATMUL, "--help-of 99999"),
    ("isa", MATMUL, "--ascending"),
    ("source", MATMUL, "--context 3"),
    ("line", MATMUL, "83 --bars 0"),
    ("line", SAMPLED, "3 --log"),
    ("line", SAMPLED, "3 --by stall"),
    ("waits", MATMUL, "--ascending"),
    ("waits", MATMUL, "--latency --inverted"),
    ("registers", MATMUL, "--line 3 --by instruction"),
    ("registers", MATMUL, "--line 99999"),
    ("registers", MATMUL, "--by instruction --run-files {tables}"),
    ("causes", MATMUL, "--ascending"),
    ("loops", MATMUL, "--outliers"),
    ("loops", MATMUL, "--iterations-of {wave}"),
    ("loops", MATMUL, "--loop 82:140"),
    ("bubbles", MATMUL, "--ascending"),
    ("latency", MATMUL, "--waits"),
    ("latency", MATMUL, "--by memory --no-idle"),
    ("latency", MATMUL, "--by access --no-idle"),
    ("latency", MATMUL, "--by fetch --rule reference"),
    ("latency", MATMUL, "--by access --waits"),
    ("latency", MATMUL, "--ascending"),
    ("flame", MATMUL, "--folded --least 3"),
    ("flame", MATMUL, "--folded --order name"),
    ("flame", MATMUL, "--around 62"),
    ("flame", MARKED, "--content markers --clock 1:2"),
    ("flame", MARKED, "--content both --wave {wave}"),
    ("flame", MARKED, "--content markers --no-idle"),
    ("occupancy", MATMUL, "--limits --by cu"),
    ("occupancy", MATMUL, "--limits --se 1"),
    ("occupancy", MATMUL, "--run-files {tables}"),
    ("occupancy", MATMUL, "--se 77"),
    ("waves", MATMUL, "--ascending"),
    ("search", MATMUL, "--regex"),
    ("counters", COUNTED, "--list --raw"),
    ("counters", COUNTED, "--list --only x"),
    ("counters", COUNTED, "--raw --formula x:=1"),
    ("pmc", "{pmc}", "--like --top 3"),
    ("pmc", "{pmc}", "--like --by dispatch"),
    ("pmc", "{pmc}", "--channels 0"),
    ("events", MARKED, "--case"),
    ("events", MARKED, "--ascending"),
    ("compare", MATMUL, "{before} --by flame --sort cycles_a"),
    ("compare", MATMUL, "{before} --by flame --junit"),
    ("compare", MATMUL, "{before} --by listing --markdown"),
    ("compare", MATMUL, "{before} --by work --markdown"),
    ("compare", MATMUL, "{before} --by work --sort a"),
    ("compare", MATMUL, "{before} --junit --top 3"),
    ("compare", MATMUL, "{before} --markdown --sort cycles_a"),
    ("compare", MATMUL, "{before} --ascending"),
    ("index", "{library}", "--depth 0"),
    ("report", MATMUL, "--out x.html --format md"),
    ("report", MATMUL, "--interactive --format md"),
    ("report", MATMUL, "--interactive --out x.md"),
    ("source", MATMUL, "--edit"),
    ("source", MATMUL, "x.py --editor code"),
    ("export", MATMUL, "--to perfetto --out x.pftrace --table code"),
    ("export", MATMUL, "--to csv --out x --cycles"),
    ("shot", MATMUL, "--panel isa --out isa.csv --scale 2"),
    ("shot", MATMUL, "--panel isa --out isa.png --twin {before}"),
    ("view", "", "--panel isa"),
    ("view", MATMUL, "--twin {before}"),
    ("view", MATMUL, "--run-files {before}/code.json"),
    ("synth", "", "--seed 3"),
    ("synth", "", "--out x"),
    ("isa-docs", "", "add"),
    ("isa-docs", "", "list x.xml"),
    ("isa-docs", "", "remove cdna9"),
)
# These name files or processes, or open a window: what they write is tested where it is written.
ELSEWHERE = {
    "view": {"panel", "compare", "twin", "goto", "wave", "line", "cycle", "run_files", "new_process"}
    | {"safe", "log"},  # tests/ui/test_when_it_breaks.py
    "events": {"to"},
    # Where work is done: tests/work/test_executors.py.
    "triage": {"all", "jobs", "cluster", "predict"},
    "index": {"jobs", "cluster", "out"},
    "trend": {"jobs", "cluster", "sort", "metric", "least", "fail_on", "waves", "markdown"},  # test_trend
    "report": {
        "out",
        "out_dir",
        "format",
        "jobs",
        "cluster",
        "run_files",
        "waves",
        "predict",
        "no_predict",
        "interactive",
    },
    "source": {"edit", "editor"},  # test_links
    "export": {"to", "out", "table", "waves", "cycles"},
    "notes": {  # tests/features/notes/test_command.py
        *("line", "source", "wave", "at", "from", "to", "title", "note", "severity", "author"),
        *("id", "file", "out", "beside", "match", "regex", "case", "top", "sort", "ascending"),
    },
    "pack": {"out", "without_sources", "with_notes"},
    "unpack": {"out"},
    "decode": {"out"},
    "shot": {"panel", "out", "size", "theme", "scale", "wave", "line", "compare", "twin", "from", "to"},
    "synth": {"out", "all", "seed"},
    "mcp": {"root", "out", "notes"},
    "whatif": {
        "path",
        "top",
        "latency",
        "move",
        "relax",
        "only",
        "dpp",
        "merge",
        "free",
        "no_barriers",
        "more_waves",
        "all",
    },  # test_whatif
    "record": {  # test_record
        "kernel",
        "launch",
        "gpu",
        "cu",
        "engines",
        "simds",
        "buffer",
        "activity",
        "out",
        "once",
        "twin",
        "host",
        "rocprofv3",
        "watch",
        "times",
        "view",
        "strict",
        "yaml",
        "attach",
        "regions",
        "consecutive",
        "seconds",
        "target_counters",
        "limit",
    },
    # All counters of the capture count on all SIMDs; tests of the panels have some that do not.
    "counters": {"simd", "array", "wgp", "instance"},  # streamed ones have these: test_streamed
    "samples": {"samples"},  # tests/features/samples/test_command.py
    "schedule": {"mca"},  # test_mca
    "compare": {"fail_on", "jobs", "cluster"},  # an exit code: test_compare
}


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What stands for the words in braces."""
    place = tmp_path_factory.mktemp("options")
    folder = sample_path(MATMUL)
    head = "Kind,Agent_Id,Dispatch_Id,Kernel_Name,LDS_Block_Size,Scratch_Size,VGPR_Count,Accum_VGPR_Count,"
    (place / "x_kernel_trace.csv").write_text(
        f"{head}SGPR_Count,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,"
        "Grid_Size_X,Grid_Size_Y,Grid_Size_Z\n"
        "KERNEL_DISPATCH,1,44,matmul_tiled,99000,0,400,0,48,256,1,1,65536,1,1\n"
    )
    (place / "formulas.txt").write_text("twice := 2 * sum[INST_LEVEL_VMEM]\n")
    (place / "isa.xml").write_text(
        "<Spec><ISA><Instructions><Instruction><InstructionName>V_MFMA_F32_32X32X8_F16"
        "</InstructionName><Description>Words of the file.</Description></Instruction></Instructions></ISA>"
        "</Spec>"
    )
    library = place / "library" / "inner"
    write_sample("straggler", library.parent / "z")  # it lasts longer, and so comes first
    write_sample(MATMUL, library / "b")
    write_sample("straggler", place / "broken")
    wave = min((place / "broken").glob("se*_wv*.json"))
    wave.write_bytes(wave.read_bytes()[:-400])
    write_sample(MATMUL, place / "before", seed=1)
    write_tables(place / "pmc")
    lives = json.loads(run("waves", str(folder), "--json").out)["rows"]
    begin = min(row["start"] for row in lives)  # before other waves begin
    end = sorted(row["start"] for row in lives)[1]
    return {
        "tables": str(place),
        "formulas": str(place / "formulas.txt"),
        "xml": str(place / "isa.xml"),
        "library": str(place / "library"),
        "broken": str(place / "broken"),
        "mixed": str(mixed(place)),
        "pmc": str(place / "pmc"),
        "before": str(place / "before"),
        **_waves(MATMUL),
        "early": f"{begin}:{max(begin + 1, end)}",
        "at": str(max(begin + 1, end)),
        "file": next(
            row["name"].rsplit(":", 1)[0]
            for row in json.loads(run("hotspot", str(folder), "--by", "source", "--json").out)["rows"]
        ),
    }


def words_of(command: str, name: str, words: str, values: dict[str, str]) -> list[str]:
    """The words of a command line on a capture."""
    if not name:
        folder = []
    elif name.startswith("{"):
        folder = [name.format(**values)]
    else:
        folder = [str(sample_path(name))]
        values = values | ({} if name in (MATMUL, SAMPLED) else _waves(name))
    return [command, *folder, *(word.format(**values) for word in words.split())]


def _waves(name: str) -> dict[str, str]:
    """The first and the last wave of a capture, by the names of their files."""
    stems = sorted(path.stem for path in sample_path(name).glob("se*_wv*.json"))
    first, last = (
        "se{}/simd{}/slot{}/wv{}".format(*(part.lstrip("semlwv") for part in stem.split("_")))
        for stem in (stems[0], stems[-1])
    )
    return {"wave": first, "other": last}


@pytest.mark.parametrize(("command", "name", "words", "option"), HONOURED)
def test_an_option_changes_what_is_printed(
    command: str, name: str, words: str, option: str, values: dict[str, str]
) -> None:
    without = run(*words_of(command, name, words, values))
    plain = words.split()
    word = option.split(maxsplit=1)[0] if option else ""
    if word in plain:  # the same option with another value
        at = plain.index(word)
        words = " ".join([*plain[:at], *plain[at + 2 :]])
    found = run(*words_of(command, name, f"{words} {option}", values))
    assert found.code in (0, 3, 4), found.err
    assert not option or (found.code, found.out) != (without.code, without.out)


@pytest.mark.parametrize(("command", "name", "words"), REFUSED)
def test_an_option_that_means_nothing_is_refused(
    command: str, name: str, words: str, values: dict[str, str]
) -> None:
    found = run(*words_of(command, name, words, values))
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith("rcv: ") or "usage:" in found.err


def test_every_option_is_in_a_table() -> None:
    seen: dict[str, set[str]] = {name: set(names) for name, names in ELSEWHERE.items()}
    for command, _, words, option in HONOURED:
        given = [*words.split(), *option.split()]
        seen.setdefault(command, set()).update(w[2:].replace("-", "_") for w in given if w.startswith("--"))
    missing = []
    for name, command in COMMANDS.items():
        flags = (flag for action in shown_actions(parser(command)) for flag in action.option_strings)
        options = {flag.lstrip("-").replace("-", "_") for flag in flags if flag.startswith("--")}
        options -= {"help", "json", "csv"}
        if "decoder" in options:  # of raw captures and of compiled files: tests/formats/raw, test_compiled
            options -= set(OfRawFiles.arguments)
        missing += [f"{name} --{flag}" for flag in sorted(options - seen.get(name, set()))]
    assert missing == []


def test_an_empty_answer_names_the_filter() -> None:
    folder = str(sample_path(MATMUL))
    assert "No branch matches --match nothing" in run("isa", folder, "--branches", "--match", "nothing").out
    assert "No instruction matches --match nothing" in run("isa", folder, "--match", "nothing").out
    assert "No wave matches --from 1 --to 2" in run("waves", folder, "--within", "1:2").out
    assert "--from 1 --to 2" in run("waits", folder, "--clock", "1:2").out
    assert "--line 0" in run("causes", folder, "--line", "0").out


def test_only_does_not_hide_the_mistake_in_a_formula() -> None:
    folder = str(sample_path(COUNTED))
    found = run("counters", folder, "--formula", "mine := sum[", "--only", "mine")
    assert found.code == 2
    assert "mine := sum[" in found.err


def test_the_first_rows_are_those_of_the_order_that_is_asked_for() -> None:
    folder = str(sample_path(MATMUL))
    rows = json.loads(run("isa", folder, "--sort", "stall", "--top", "5", "--json").out)["rows"]
    every = json.loads(run("isa", folder, "--json").out)["rows"]
    assert [row["stall"] for row in rows] == sorted((row["stall"] for row in every), reverse=True)[:5]


def test_the_engine_counts_in_every_curve(tmp_path: Path) -> None:
    folder = str(sample_path(MATMUL))
    by_engine = json.loads(run("occupancy", folder, "--json").out)["rows"]
    area = next(row["area"] for row in by_engine if row["se"] == "SE1")
    for by in ("se", "all", "cu", "simd", "kernel"):
        rows = json.loads(run("occupancy", folder, "--by", by, "--se", "1", "--json").out)["rows"]
        assert rows[0]["area"] == area
