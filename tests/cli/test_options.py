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

MATMUL, KERNELS, COUNTED = "matmul_small", "kernels", "counters_units"
MARKED, SAMPLED = "markers", "pc_sampling"
# Commands that sum costs of waves, each with words that it needs.
SUMMED = {
    **dict.fromkeys(("summary", "hotspot", "isa", "source", "flame", "waits", "causes", "loops"), ""),
    **dict.fromkeys(("bubbles", "latency", "range", "roofline", "schedule"), ""),
    "line": "83",
}
# Commands that take working waves, and all waves, if nothing is said.
OF_WORKING = (
    *("triage", "summary", "waits", "causes", "loops"),
    *("bubbles", "latency", "range", "roofline", "schedule"),
)
OF_ALL = ("hotspot", "isa", "source", "flame", "waves")


def each(command: str, name: str, words: str, *options: str) -> list[tuple[str, str, str, str]]:
    """Command, capture, words that are there with and without, and one of the options with its value."""
    return [(command, name, words, option) for option in options]


def refusals(command: str, name: str, *every: str) -> list[tuple[str, str, str]]:
    """Command, capture, and words that are refused."""
    return [(command, name, words) for words in every]


HONOURED: tuple[tuple[str, str, str, str], ...] = (
    *each("triage", MATMUL, "", "--top 1", "--no-predict", "--run-files {tables}", "--markdown"),
    *each("info", "packed", "", ""),
    *each("info", "{broken}", "", "--read"),
    *each("check", MATMUL, "", "--twin {before}", "--yaml"),
    *each("check", "{broken}", "", "--strict"),
    *each("hotspot", MATMUL, "", "--top 3", "--by kind", "--sort idle", "--ascending", "--bins 8",
        "--charge self", "--run-files {tables}", "--like new"),
    *each("hotspot", MATMUL, "--bins 8", "--se 1"),
    *each("hotspot", MATMUL, "--charge self --by source", "--file {file}"),
    *each("hotspot", MATMUL, "--charge self", "--no-idle"),
    *each("hotspot", MATMUL, "--like new", "--mode asm", "--detail", "--kernel matmul"),
    *each("hotspot", MATMUL, "--like new --detail", "--context 1"),
    *each("isa", MATMUL, "", "--by block", "--help-of v_mfma", "--top 3", "--mode mean", "--bars kinds",
        "--no-idle", "--match wait", "--sort stall"),
    *each("isa", MATMUL, "--help-of v_mfma", "--isa-xml {xml}"),
    *each("isa", MATMUL, "--mode wave-sum --wave {wave}", "--wave {other}"),
    *each("isa", MATMUL, "--mode hit --wave {wave} --hit 1", "--hit 2"),
    *each("isa", MATMUL, "--labels", "--match nothing-of-it"),
    *each("isa", MATMUL, "--match ^s_", "--regex"),
    *each("isa", MATMUL, "--match S_", "--case"),
    *each("isa", MATMUL, "--sort stall", "--ascending"),
    *each("source", MATMUL, "", "--top 1", "--no-causes"),
    *each("source", MATMUL, "tile_io.h:20", "--context 1"),
    *each("source", MARKED, "", "--inlined"),
    *each("source", MATMUL, "--sort file", "--ascending"),
    *each("line", MATMUL, "83", "--metric stall", "--top 3", "--log", "--bars 4", "--bar 1"),
    *each("line", "{mixed}", "3", "--waves all"),
    *each("waits", MATMUL, "", "--top 3", "--wave {wave}", "--latency", "--inverted", "--line 83",
        "--clock {early}", "--sort hits"),
    *each("waits", MATMUL, "--wave {wave}", "--clock 0:1"),
    *each("waits", MATMUL, "--sort hits", "--ascending"),
    *each("roofline", MATMUL, "", "--run-files {tables}", "--wave {wave}"),
    *each("schedule", MATMUL, "", "--wave {wave}"),
    *each("registers", MATMUL, "", "--by instruction", "--line 83", "--top 1", "--run-files {tables}"),
    *each("registers", MATMUL, "--by instruction", "--sort vgprs"),
    *each("registers", MATMUL, "--by instruction --sort vgprs", "--ascending"),
    *each("causes", MATMUL, "", "--by instruction", "--top 1", "--line 83", "--sort hits"),
    *each("causes", MATMUL, "--sort hits", "--ascending"),
    *each("bubbles", MATMUL, "", "--line 83", "--top 3", "--rule reference", "--sort stall"),
    *each("bubbles", MATMUL, "--sort stall", "--ascending"),
    *each("loops", MATMUL, "", "--by first", "--wave {wave}"),
    *each("loops", KERNELS, "", "--top 1", "--sort branch"),
    *each("loops", MATMUL, "--by iterations", "--loop 82:140"),
    *each("loops", MATMUL, "--by iterations --loop 82:140", "--iterations-of {wave}", "--outliers"),
    *each("loops", KERNELS, "--sort branch", "--ascending"),
    *each("range", MATMUL, "", "--from 200000", "--between 82:140", "--top 2"),
    *each("latency", MATMUL, "", "--by memory", "--by access", "--by fetch", "--rule reference", "--top 3",
        "--no-idle", "--sort hidden"),
    *each("latency", MATMUL, "--by memory", "--waits"),
    *each("latency", MATMUL, "--sort hidden", "--ascending"),
    *each("flame", MATMUL, "", "--metric stall", "--content kernel", "--least 20", "--no-idle",
        "--clock {early}", "--folded"),
    *each("flame", MATMUL, "--least 0", "--order name"),
    *each("flame", MATMUL, "--json", "--least 20"),
    *each("flame", MATMUL, "--content sandwich --around 83", "--around 3"),
    *each("occupancy", MATMUL, "", "--by cu", "--limits", "--se 1", "--only SE1"),
    *each("occupancy", MATMUL, "--by cu", "--se 1"),
    *each("occupancy", MATMUL, "--by state", "--se 1"),
    *each("occupancy", MATMUL, "--by kernel", "--se 1"),
    *each("occupancy", MATMUL, "--limits", "--run-files {tables}"),
    *each("waves", MATMUL, "", "--resident", "--unit-of {wave}", "--without-se 1", "--within {early}",
        "--from {at}", "--to {at}", "--se 1", "--sort cycles", "--top 2"),
    *each("waves", KERNELS, "--resident", "--without-kernel _Z6reducePKfPfi"),
    *each("waves", MATMUL, "--resident", "--se 1"),
    *each("waves", MATMUL, "{wave}", "--tokens", "--touching {early}"),
    *each("waves", MATMUL, "--sort cycles", "--ascending"),
    *each("waves", "{mixed}", "", "--populations"),
    *each("summary", MATMUL, "", "--units"),
    *each("summary", MATMUL, "--units", "--wave {other}", "--from {at}"),
    *each("search", MATMUL, "--match s_", "--sort instruction", "--match v_", "--top 2"),
    *each("search", MATMUL, "--match s_ --sort instruction", "--ascending"),
    *each("search", MATMUL, "--match ^s_", "--regex"),
    *each("search", MATMUL, "--match S_", "--case"),
    *each("events", MARKED, "", "--top 1", "--from 72000", "--kind dispatch", "--match wave", "--by scope",
        "--sort name"),
    *each("events", MARKED, "--match ^wave", "--regex"),
    *each("events", MARKED, "--match WAVE", "--case"),
    *each("events", MARKED, "--sort name", "--ascending"),
    *each("counters", COUNTED, "", "--list", "--raw", "--formula x:=sum[INST_LEVEL_VMEM]",
        "--file {formulas}", "--se 1", "--cu 1", "--only INST_LEVEL_VMEM"),
    *each("pmc", "{pmc}", "", "--kernel kern_a", "--by dispatch", "--ideal-mb 1", "--channels 2", "--like"),
    *each("pmc", "{pmc}", "--by dispatch", "--top 1"),
    *each("whatif", "tutorial_after", "", "--batch 32"),
    *each("samples", SAMPLED, "", "--by source", "--top 1", "--sort stalled"),
    *each("samples", SAMPLED, "--sort stalled", "--ascending"),
    *each("compare", MATMUL, "{before}", "--twin {before}", "--by class", "--by work", "--metric stall",
        "--top 3", "--least 90", "--seed 1", "--beyond-noise", "--sort cycles_a", "--markdown", "--junit"),
    *each("compare", MATMUL, "{before} --by flame", "--top 3"),
    *each("compare", MATMUL, "{before} --sort cycles_a", "--ascending"),
    *each("compare", "{mixed}", "{before}", "--waves all"),
    *each("index", "{library}", "", "--sort capture", "--findings", "--depth 1", "--limit 1", "--markdown",
        "--html"),
    *(
        (command, MATMUL, words, option)
        for command, words in SUMMED.items()
        for option in ("--se 1", "--wave {wave}", "--from {at}", "--to {at}")
        if command != "isa" or "wave" not in option
    ),
    *((command, "{mixed}", "", "--waves all") for command in OF_WORKING),
    *((command, "{mixed}", "", "--waves working") for command in OF_ALL),
)  # fmt: skip
REFUSED = (
    *refusals("triage", "{library}", "--top 3"),
    *refusals("triage", MATMUL, "--waves lazy"),
    *refusals("info", "{library}", "--read"),
    *refusals("hotspot", MATMUL, "--no-idle", "--file x.py", "--bins 0", "--bins 8 --top 3",
        "--bins 8 --by kind", "--bins 8 --sort stall", "--bins 8 --se 77", "--like new --se 1", "--se 77",
        "--from 9 --to 9", "--charge self --by instruction --file x.py",
        "--charge self --by tree --sort stall", "--context 3", "--like new --context 3",
        "--like old --kernel x", "--like new --by kind", "--like new --clock 1:2", "--run-files nowhere",
        "--like new --waves working"),
    *refusals("hotspot", SAMPLED, "--from 1", "--bins 8 --se 0", "--waves working"),
    *refusals("isa", MATMUL, "--mode wave-sum --wave {wave} --waves working", "--branches --waves lazy",
        "--wave {wave}", "--hit 3", "--mode wave-sum --wave {wave} --hit 3",
        "--mode wave-sum --wave {wave} --clock 1:2", "--branches --clock 1:2", "--by branch --se 1",
        "--mode wave-sum --wave {wave} --se 1", "--branches --mode mean", "--blocks --bars kinds",
        "--labels --no-idle", "--regex", "--isa-xml x.xml", "--help-of 3 --by block", "--help-of 99999",
        "--ascending"),
    *refusals("waits", MATMUL, "--wave {wave} --waves working", "--ascending", "--latency --inverted"),
    *refusals("loops", MATMUL, "--wave {wave} --waves all", "--outliers", "--iterations-of {wave}",
        "--loop 82:140"),
    *refusals("latency", MATMUL, "--by memory --waves working", "--by memory --wave {wave}",
        "--by memory --se 1", "--by memory --from 5", "--waits", "--by memory --no-idle",
        "--by access --no-idle", "--by fetch --rule reference", "--by access --waits", "--ascending"),
    *refusals("summary", MATMUL, "--units --se 1"),
    *refusals("line", MATMUL, "{wave} --top 3", "3 4", "83 --bars 0"),
    *refusals("line", SAMPLED, "3 --log", "3 --by stall"),
    *refusals("waves", MATMUL, "--tokens", "{wave} --sort stall", "{wave} --resident",
        "--resident --waves working", "--populations --waves working", "--populations --within 1:2",
        "--ascending"),
    *refusals("source", MATMUL, "tile_io.h --sort stall", "--context 3", "--edit", "x.py --editor code"),
    *refusals("flame", MARKED, "--content markers --waves working", "--content markers --clock 1:2",
        "--content both --wave {wave}", "--content markers --no-idle"),
    *refusals("flame", MATMUL, "--folded --least 3", "--folded --order name", "--around 62"),
    *refusals("causes", MATMUL, "--waves lazy", "--ascending"),
    *refusals("registers", MATMUL, "--line 3 --by instruction", "--line 99999",
        "--by instruction --run-files {tables}"),
    *refusals("bubbles", MATMUL, "--ascending"),
    *refusals("occupancy", MATMUL, "--limits --by cu", "--limits --se 1", "--run-files {tables}", "--se 77"),
    *refusals("search", MATMUL, "--regex"),
    *refusals("counters", COUNTED, "--list --raw", "--list --only x", "--raw --formula x:=1"),
    *refusals("pmc", "{pmc}", "--like --top 3", "--like --by dispatch", "--channels 0"),
    *refusals("events", MARKED, "--case", "--ascending"),
    *refusals("compare", MATMUL, "{before} --by flame --sort cycles_a", "{before} --by flame --junit",
        "{before} --by listing --markdown", "{before} --by work --markdown", "{before} --by work --sort a",
        "{before} --junit --top 3", "{before} --markdown --sort cycles_a", "{before} --ascending"),
    *refusals("index", "{library}", "--depth 0"),
    *refusals("report", MATMUL, "--out x.html --format md", "--interactive --format md",
        "--interactive --out x.md"),
    *refusals("export", MATMUL, "--to perfetto --out x.pftrace --table code", "--to csv --out x --cycles"),
    *refusals("shot", MATMUL, "--panel isa --out isa.csv --scale 2",
        "--panel isa --out isa.png --twin {before}"),
    *refusals("view", "", "--panel isa"),
    *refusals("view", MATMUL, "--twin {before}", "--run-files {before}/code.json"),
    *refusals("synth", "", "--seed 3", "--out x"),
    *refusals("isa-docs", "", "add", "list x.xml", "remove cdna9"),
)  # fmt: skip
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
        *("out", "out_dir", "format", "jobs", "cluster", "run_files", "waves", "predict"),
        *("no_predict", "interactive"),
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
        *("path", "top", "latency", "move", "relax", "only", "dpp", "merge", "free"),
        *("no_barriers", "more_waves", "all"),
    },  # test_whatif
    "record": {  # test_record
        *("kernel", "launch", "gpu", "cu", "engines", "simds", "buffer", "activity", "out"),
        *("once", "twin", "host", "rocprofv3", "watch", "times", "view", "strict", "yaml"),
        *("attach", "regions", "consecutive", "seconds", "target_counters", "limit"),
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
def test_an_option_counts(command: str, name: str, words: str, option: str, values: dict[str, str]) -> None:
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
def test_an_idle_option_is_refused(command: str, name: str, words: str, values: dict[str, str]) -> None:
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
