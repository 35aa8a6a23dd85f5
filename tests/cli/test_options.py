"""Every option of every command either changes what is printed on a capture where it can, or is refused.

A row of `HONOURED` names words of a command and an option: what is printed with and without it differs.
A row of `REFUSED` names words that no command may take silently.  Both together name every option there is.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rcv_py.cli.arguments import parser, shown_actions
from rcv_py.cli.options.commands import COMMANDS
from tests.support import captures, mixed
from tests.support.command_runs import run

FLASH, SMALL, GEMM, COUNTED, MARKED, ROPE = (
    "flash_attn_small_after",
    "pa_mqa_small",
    "pa_mqa_big",
    "counters_gfx9",
    "markers_gfx12",
    "fused_rope_cache",
)
# Commands that sum costs of waves, each with words that it needs.
SUMMED = {
    **dict.fromkeys(("summary", "hotspot", "isa", "source", "flame", "waits", "causes", "loops"), ""),
    **dict.fromkeys(("bubbles", "latency", "range", "roofline", "schedule"), ""),
    "line": "973",
}
# command, capture, words that are there with and without, the option with its value
HONOURED: tuple[tuple[str, str, str, str], ...] = (
    ("triage", FLASH, "", "--top 1"),
    ("triage", SMALL, "", "--predict"),
    ("triage", FLASH, "", "--run-files {tables}"),
    ("triage", FLASH, "", "--markdown"),
    ("info", "moe_reduce", "", ""),
    ("check", FLASH, "", "--twin {before}"),
    ("check", FLASH, "", "--strict"),
    ("check", FLASH, "", "--yaml"),
    ("hotspot", FLASH, "", "--top 3"),
    ("hotspot", FLASH, "", "--by kind"),
    ("hotspot", FLASH, "", "--sort idle"),
    ("hotspot", FLASH, "", "--ascending"),
    ("hotspot", FLASH, "", "--bins 8"),
    ("hotspot", FLASH, "--bins 8", "--se 2"),
    ("hotspot", FLASH, "", "--charge self"),
    ("hotspot", FLASH, "--charge self --by source", "--file {file}"),
    ("hotspot", FLASH, "--charge self", "--no-idle"),
    ("hotspot", FLASH, "", "--clock {early}"),
    ("hotspot", FLASH, "", "--run-files {tables}"),
    ("hotspot", FLASH, "", "--like new"),
    ("hotspot", FLASH, "--like new", "--mode asm"),
    ("hotspot", FLASH, "--like new", "--detail"),
    ("hotspot", FLASH, "--like new --detail", "--context 1"),
    ("hotspot", FLASH, "--like new", "--kernel flash_attn"),
    ("isa", SMALL, "", "--by block"),
    ("isa", SMALL, "", "--help-of v_mfma"),
    ("isa", SMALL, "--help-of v_mfma", "--isa-xml {xml}"),
    ("isa", SMALL, "", "--blocks"),
    ("isa", SMALL, "", "--branches"),
    ("isa", SMALL, "", "--labels"),
    ("isa", SMALL, "", "--top 3"),
    ("isa", SMALL, "", "--mode mean"),
    ("isa", SMALL, "--mode wave-sum --wave {wave}", "--wave {other}"),
    ("isa", FLASH, "--mode hit --wave {wave} --hit 1", "--hit 2"),
    ("isa", SMALL, "", "--bars kinds"),
    ("isa", SMALL, "", "--no-idle"),
    ("isa", FLASH, "", "--clock {early}"),
    ("isa", SMALL, "", "--match wait"),
    ("isa", SMALL, "--labels", "--match nothing-of-it"),
    ("isa", SMALL, "--match ^s_", "--regex"),
    ("isa", SMALL, "--match S_", "--case"),
    ("isa", SMALL, "", "--sort stall"),
    ("isa", SMALL, "--sort stall", "--ascending"),
    ("source", FLASH, "", "--top 1"),
    ("source", FLASH, "flash_attn_func.py:258", "--context 1"),
    ("source", MARKED, "", "--inlined"),
    ("source", FLASH, "", "--no-causes"),
    ("line", FLASH, "973", "--metric stall"),
    ("line", FLASH, "973", "--top 3"),
    ("line", FLASH, "943", "--log"),
    ("line", FLASH, "973", "--bars 4"),
    ("line", FLASH, "973", "--bar 1"),
    ("waits", FLASH, "", "--top 3"),
    ("waits", FLASH, "", "--wave {wave}"),
    ("waits", FLASH, "--wave {wave}", "--clock 0:1"),
    ("waits", FLASH, "", "--latency"),
    ("waits", SMALL, "", "--inverted"),
    ("roofline", FLASH, "", "--run-files {tables}"),
    ("roofline", FLASH, "", "--wave {wave}"),
    ("schedule", FLASH, "", "--wave {wave}"),
    ("registers", FLASH, "", "--by instruction"),
    ("registers", FLASH, "", "--line 973"),
    ("registers", FLASH, "", "--top 1"),
    ("registers", FLASH, "--by instruction", "--sort vgprs"),
    ("registers", FLASH, "--by instruction --sort vgprs", "--ascending"),
    ("registers", FLASH, "", "--run-files {tables}"),
    ("waits", FLASH, "", "--line 973"),
    ("waits", FLASH, "", "--clock {early}"),
    ("waits", FLASH, "", "--sort hits"),
    ("waits", FLASH, "--sort hits", "--ascending"),
    ("causes", FLASH, "", "--by instruction"),
    ("causes", FLASH, "", "--top 1"),
    ("bubbles", FLASH, "", "--line 973"),
    ("causes", FLASH, "", "--line 973"),
    ("causes", FLASH, "", "--sort hits"),
    ("causes", FLASH, "--sort hits", "--ascending"),
    ("loops", FLASH, "", "--by first"),
    ("loops", FLASH, "", "--wave {wave}"),
    ("loops", FLASH, "", "--top 1"),
    ("loops", FLASH, "--by iterations", "--loop 471:1781"),
    ("loops", FLASH, "--by iterations --loop 471:1781", "--iterations-of {wave}"),
    ("loops", FLASH, "--by iterations --loop 471:1781", "--outliers"),
    ("loops", FLASH, "", "--sort branch"),
    ("loops", FLASH, "--sort branch", "--ascending"),
    ("range", FLASH, "", "--from 200000"),
    ("range", FLASH, "", "--between 471:1781"),
    ("range", FLASH, "", "--top 2"),
    ("bubbles", FLASH, "", "--top 3"),
    ("bubbles", FLASH, "", "--rule reference"),
    ("bubbles", FLASH, "", "--sort stall"),
    ("bubbles", FLASH, "--sort stall", "--ascending"),
    ("latency", FLASH, "", "--by memory"),
    ("latency", FLASH, "", "--by access"),
    ("latency", FLASH, "", "--by fetch"),
    ("latency", GEMM, "", "--rule reference"),
    ("latency", FLASH, "", "--top 3"),
    ("latency", FLASH, "--by memory", "--waits"),
    ("latency", FLASH, "", "--no-idle"),
    ("latency", GEMM, "", "--sort hidden"),
    ("latency", GEMM, "--sort hidden", "--ascending"),
    ("flame", FLASH, "", "--metric stall"),
    ("flame", FLASH, "--least 0", "--order name"),
    ("flame", FLASH, "", "--content kernel"),
    ("flame", FLASH, "", "--least 20"),
    ("flame", FLASH, "--json", "--least 20"),
    ("flame", FLASH, "--content sandwich --around 973", "--around 3"),
    ("flame", FLASH, "", "--no-idle"),
    ("flame", FLASH, "", "--clock {early}"),
    ("flame", FLASH, "", "--folded"),
    ("occupancy", FLASH, "", "--by cu"),
    ("occupancy", FLASH, "", "--limits"),
    ("occupancy", FLASH, "", "--se 2"),
    ("occupancy", FLASH, "--by cu", "--se 2"),
    ("occupancy", FLASH, "--by state", "--se 2"),
    ("occupancy", FLASH, "--by kernel", "--se 2"),
    ("occupancy", FLASH, "", "--only SE2"),
    ("occupancy", FLASH, "--limits", "--run-files {tables}"),
    ("waves", FLASH, "", "--resident"),
    ("waves", FLASH, "", "--unit-of {wave}"),
    ("waves", FLASH, "--resident", "--without-kernel flash_attn_func_kernel_0"),
    ("waves", FLASH, "", "--without-se 2"),
    ("waves", FLASH, "", "--within {early}"),
    ("waves", FLASH, "", "--from {at}"),
    ("waves", FLASH, "", "--to {at}"),
    ("waves", FLASH, "", "--se 2"),
    ("waves", FLASH, "--resident", "--se 2"),
    ("waves", FLASH, "{wave}", "--tokens"),
    ("waves", FLASH, "{wave}", "--touching {early}"),
    ("summary", FLASH, "", "--units"),
    ("summary", FLASH, "--units", "--wave {other}"),
    ("summary", FLASH, "--units", "--from {at}"),
    ("source", FLASH, "--sort file", "--ascending"),
    ("search", FLASH, "--match s_", "--sort instruction"),
    ("search", FLASH, "--match s_ --sort instruction", "--ascending"),
    ("events", MARKED, "", "--top 1"),
    ("events", MARKED, "", "--from 3000"),
    *(
        (command, FLASH, words, option)
        for command, words in SUMMED.items()
        for option in ("--se 2", "--wave {wave}", "--from {at}", "--to {at}")
        if command != "isa" or "wave" not in option
    ),
    ("waves", FLASH, "", "--sort cycles"),
    ("waves", FLASH, "--sort cycles", "--ascending"),
    ("waves", FLASH, "", "--top 2"),
    ("wave", FLASH, "{wave}", "--tokens"),
    ("wave", FLASH, "{wave}", "--within {early}"),
    ("wave", FLASH, "{wave}", "--clock {early}"),
    ("units", FLASH, "", "--of {other}"),
    ("units", FLASH, "", "--within {early}"),
    ("search", FLASH, "--match s_", "--match v_"),
    ("search", FLASH, "--match ^s_", "--regex"),
    ("search", FLASH, "--match S_", "--case"),
    ("search", FLASH, "--match s_", "--top 2"),
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
    ("events", MARKED, "", "--match foo"),
    ("events", MARKED, "--match ^foo", "--regex"),
    ("events", MARKED, "--match FOO", "--case"),
    ("events", MARKED, "", "--sort name"),
    ("events", MARKED, "--sort name", "--ascending"),
    ("compare", FLASH, "{before}", "--twin {before}"),
    ("compare", FLASH, "{before}", "--by class"),
    ("compare", FLASH, "{before}", "--by work"),
    ("compare", FLASH, "{before}", "--metric stall"),
    ("compare", FLASH, "{before} --by flame", "--top 3"),
    ("compare", FLASH, "{before}", "--top 3"),
    ("compare", FLASH, "{before}", "--least 90"),
    ("compare", FLASH, "{before}", "--seed 1"),
    ("compare", FLASH, "{before}", "--beyond-noise"),
    ("compare", FLASH, "{before}", "--sort cycles_a"),
    ("compare", FLASH, "{before} --sort cycles_a", "--ascending"),
    ("compare", FLASH, "{before}", "--markdown"),
    ("compare", FLASH, "{before}", "--junit"),
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
    ("info", "{broken}", "", "--check"),
    ("info", "{broken}", "", "--read"),
)
REFUSED = (
    ("triage", "{library}", "--top 3"),
    ("info", "{library}", "--check"),
    ("info", "{library}", "--read"),
    ("hotspot", FLASH, "--no-idle"),
    ("hotspot", FLASH, "--file x.py"),
    ("hotspot", FLASH, "--bins 0"),
    ("hotspot", FLASH, "--bins 8 --top 3"),
    ("hotspot", FLASH, "--bins 8 --by kind"),
    ("hotspot", FLASH, "--bins 8 --sort stall"),
    ("hotspot", FLASH, "--bins 8 --se 77"),
    ("hotspot", FLASH, "--like new --se 2"),
    ("hotspot", FLASH, "--se 77"),
    ("hotspot", FLASH, "--from 9 --to 9"),
    ("hotspot", "pcsampling", "--from 1"),
    ("hotspot", FLASH, "--charge self --by instruction --file x.py"),
    ("hotspot", FLASH, "--charge self --by tree --sort stall"),
    ("hotspot", FLASH, "--context 3"),
    ("hotspot", FLASH, "--like new --context 3"),
    ("hotspot", FLASH, "--like old --kernel x"),
    ("hotspot", FLASH, "--like new --by kind"),
    ("hotspot", FLASH, "--like new --clock 1:2"),
    ("hotspot", FLASH, "--run-files nowhere"),
    ("hotspot", "pcsampling", "--bins 8 --se 0"),
    ("hotspot", FLASH, "--like new --waves working"),
    ("hotspot", "pcsampling", "--waves working"),
    ("isa", FLASH, "--mode wave-sum --wave {wave} --waves working"),
    ("isa", FLASH, "--branches --waves lazy"),
    ("waits", FLASH, "--wave {wave} --waves working"),
    ("loops", FLASH, "--wave {wave} --waves all"),
    ("latency", FLASH, "--by memory --waves working"),
    ("latency", FLASH, "--by memory --wave {wave}"),
    ("latency", FLASH, "--by memory --se 2"),
    ("latency", FLASH, "--by memory --from 5"),
    ("summary", FLASH, "--units --se 2"),
    ("line", FLASH, "{wave} --top 3"),
    ("line", FLASH, "3 4"),
    ("waves", FLASH, "--tokens"),
    ("waves", FLASH, "{wave} --sort stall"),
    ("waves", FLASH, "{wave} --resident"),
    ("source", FLASH, "flash_attn_func.py --sort stall"),
    ("flame", MARKED, "--content markers --waves working"),
    ("waves", FLASH, "--resident --waves working"),
    ("waves", FLASH, "--populations --waves working"),
    ("waves", FLASH, "--populations --within 1:2"),
    ("triage", FLASH, "--waves lazy"),
    ("causes", FLASH, "--waves lazy"),
    ("isa", FLASH, "--wave {wave}"),
    ("isa", FLASH, "--hit 3"),
    ("isa", FLASH, "--mode wave-sum --wave {wave} --hit 3"),
    ("isa", FLASH, "--mode wave-sum --wave {wave} --clock 1:2"),
    ("isa", FLASH, "--branches --clock 1:2"),
    ("isa", FLASH, "--by branch --se 2"),
    ("isa", FLASH, "--mode wave-sum --wave {wave} --se 2"),
    ("isa", FLASH, "--branches --mode mean"),
    ("isa", FLASH, "--blocks --bars kinds"),
    ("isa", FLASH, "--labels --no-idle"),
    ("isa", FLASH, "--regex"),
    ("isa", FLASH, "--isa-xml x.xml"),
    ("isa", FLASH, "--help-of 3 --by block"),
    ("isa", FLASH, "--help-of 99999"),
    ("isa", FLASH, "--ascending"),
    ("source", FLASH, "--context 3"),
    ("line", FLASH, "973 --bars 0"),
    ("line", "pcsampling", "3 --log"),
    ("line", "pcsampling", "3 --by stall"),
    ("waits", FLASH, "--ascending"),
    ("waits", FLASH, "--latency --inverted"),
    ("registers", FLASH, "--line 3 --by instruction"),
    ("registers", FLASH, "--line 99999"),
    ("registers", FLASH, "--by instruction --run-files {tables}"),
    ("causes", FLASH, "--ascending"),
    ("loops", FLASH, "--outliers"),
    ("loops", FLASH, "--iterations-of {wave}"),
    ("loops", FLASH, "--loop 471:1781"),
    ("bubbles", FLASH, "--ascending"),
    ("latency", FLASH, "--waits"),
    ("latency", FLASH, "--by memory --no-idle"),
    ("latency", FLASH, "--by access --no-idle"),
    ("latency", FLASH, "--by fetch --rule reference"),
    ("latency", FLASH, "--by access --waits"),
    ("latency", FLASH, "--ascending"),
    ("flame", FLASH, "--folded --least 3"),
    ("flame", FLASH, "--folded --order name"),
    ("flame", FLASH, "--around 62"),
    ("flame", MARKED, "--content markers --clock 1:2"),
    ("flame", MARKED, "--content both --wave {wave}"),
    ("flame", MARKED, "--content markers --no-idle"),
    ("occupancy", FLASH, "--limits --by cu"),
    ("occupancy", FLASH, "--limits --se 2"),
    ("occupancy", FLASH, "--run-files {tables}"),
    ("occupancy", FLASH, "--se 77"),
    ("waves", FLASH, "--ascending"),
    ("search", FLASH, "--regex"),
    ("counters", COUNTED, "--list --raw"),
    ("counters", COUNTED, "--list --only x"),
    ("counters", COUNTED, "--raw --formula x:=1"),
    ("pmc", "{pmc}", "--like --top 3"),
    ("pmc", "{pmc}", "--like --by dispatch"),
    ("pmc", "{pmc}", "--channels 0"),
    ("events", MARKED, "--case"),
    ("events", MARKED, "--ascending"),
    ("compare", FLASH, "{before} --by flame --sort cycles_a"),
    ("compare", FLASH, "{before} --by flame --junit"),
    ("compare", FLASH, "{before} --by listing --markdown"),
    ("compare", FLASH, "{before} --by work --markdown"),
    ("compare", FLASH, "{before} --by work --sort a"),
    ("compare", FLASH, "{before} --junit --top 3"),
    ("compare", FLASH, "{before} --markdown --sort cycles_a"),
    ("compare", FLASH, "{before} --ascending"),
    ("index", "{library}", "--depth 0"),
    ("report", FLASH, "--out x.html --format md"),
    ("report", FLASH, "--interactive --format md"),
    ("report", FLASH, "--interactive --out x.md"),
    ("source", FLASH, "--edit"),
    ("source", FLASH, "x.py --editor code"),
    ("export", FLASH, "--to perfetto --out x.pftrace --table code"),
    ("export", FLASH, "--to csv --out x --cycles"),
    ("shot", FLASH, "--panel isa --out isa.csv --scale 2"),
    ("shot", FLASH, "--panel isa --out isa.png --twin {before}"),
    ("view", "", "--panel isa"),
    ("view", FLASH, "--twin {before}"),
    ("view", FLASH, "--run-files {before}/code.json"),
    ("synth", "", "--seed 3"),
    ("synth", "", "--out x"),
    ("isa-docs", "", "add"),
    ("isa-docs", "", "list x.xml"),
    ("isa-docs", "", "remove cdna9"),
)
# Limits that are no numbers of the kind: refused by every command that takes one.
WRONG = (
    ("triage", "--top -1"),
    ("hotspot", "--clock 9:1"),
    ("hotspot", "--clock 5:5"),
    ("waves", "--within 9:1"),
    ("units", "--within 9"),
    ("line", "-1"),
    ("line", "999999"),
    ("loops", "--by iterations --loop 7"),
    ("flame", "--least 101"),
    ("waits", "--line -3"),
    ("waits", "--top 1.5"),
    ("waves", "--sort nothing"),
)
# These name files or processes, or open a window: what they write is tested where it is written.
ELSEWHERE = {
    "view": {"panel", "compare", "twin", "goto", "wave", "line", "cycle", "run_files", "new_process"}
    | {"safe", "log"},  # tests/ui/test_when_it_breaks.py
    "events": {"to"},
    # Where work is done: tests/work/test_executors.py.
    "triage": {"all", "jobs", "cluster"},
    "index": {"jobs", "cluster", "out"},
    "trend": {"jobs", "cluster", "sort", "metric", "least", "fail_on", "waves", "markdown"},  # test_trend
    "report": {"out", "out_dir", "format", "jobs", "cluster", "run_files", "waves", "predict", "interactive"},
    "source": {"edit", "editor"},  # test_links
    "export": {"to", "out", "table", "waves", "cycles"},
    "notes": {  # tests/cli/test_notes.py
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
    },
    # All counters of the capture count on all SIMDs; tests of the panels have some that do not.
    "counters": {"simd"},
    "schedule": {"mca"},  # test_mca
    "compare": {"fail_on", "jobs", "cluster"},  # an exit code: test_compare
}


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What stands for the words in braces."""
    place = tmp_path_factory.mktemp("options")
    folder = captures.trace_path(FLASH)
    head = "Kind,Agent_Id,Dispatch_Id,Kernel_Name,LDS_Block_Size,Scratch_Size,VGPR_Count,Accum_VGPR_Count,"
    (place / "x_kernel_trace.csv").write_text(
        f"{head}SGPR_Count,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z\n"
        "KERNEL_DISPATCH,1,44,flash_attn_func_kernel_0,99000,0,400,0,48,256,1,1\n"
    )
    (place / "formulas.txt").write_text("twice := 2 * sum[INST_LEVEL_VMEM]\n")
    (place / "isa.xml").write_text(
        "<Spec><ISA><Instructions><Instruction><InstructionName>V_MFMA_SCALE_F32_16X16X128_F8F6F4"
        "</InstructionName><Description>Words of the file.</Description></Instruction></Instructions></ISA>"
        "</Spec>"
    )
    library = place / "library" / "inner"
    library.mkdir(parents=True)
    (place / "library" / "a").symlink_to(captures.trace_path(SMALL), target_is_directory=True)
    (library / "b").symlink_to(folder, target_is_directory=True)
    broken = place / "broken"
    broken.mkdir()
    for path in captures.trace_path(SMALL).iterdir():
        (broken / path.name).write_bytes(path.read_bytes())
    wave = min(broken.glob("se*_wv*.json"))
    wave.write_bytes(wave.read_bytes()[:-400])
    lives = json.loads(run("waves", str(folder), "--json").out)["rows"]
    begin = min(row["start"] for row in lives)  # before other waves begin
    end = sorted(row["start"] for row in lives)[1]
    return {
        "tables": str(place),
        "formulas": str(place / "formulas.txt"),
        "xml": str(place / "isa.xml"),
        "library": str(place / "library"),
        "broken": str(broken),
        "mixed": str(mixed.mixed(place)),
        "pmc": str(captures.SHARED / "golden" / "pmc_l2_analyzer"),
        "before": str(captures.trace_path("flash_attn_small_before")),
        **_waves(FLASH),
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
    elif name in captures.SYNTHETIC:
        folder = [str(captures.synthetic_path(name))]
    else:
        folder = [str(captures.trace_path(name))]
        values = values | ({} if name in (FLASH, "pcsampling") else _waves(name))
    return [command, *folder, *(word.format(**values) for word in words.split())]


def _waves(name: str) -> dict[str, str]:
    """The first and the last wave of a capture, by the names of their files."""
    stems = sorted(path.stem for path in captures.trace_path(name).glob("se*_wv*.json"))
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


@pytest.mark.parametrize(("command", "words"), WRONG)
def test_a_limit_that_is_none_is_refused(command: str, words: str, values: dict[str, str]) -> None:
    found = run(*words_of(command, SMALL, words, values))
    assert (found.code, found.out) == (2, "")


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
        options -= {
            "decoder",
            "source_map",
        }  # of raw captures: tests/formats/raw
        missing += [f"{name} --{flag}" for flag in sorted(options - seen.get(name, set()))]
    assert missing == []


def test_an_empty_answer_names_the_filter() -> None:
    folder = str(captures.trace_path(FLASH))
    assert "No branch matches --match nothing" in run("isa", folder, "--branches", "--match", "nothing").out
    assert "No instruction matches --match nothing" in run("isa", folder, "--match", "nothing").out
    assert "No wave matches --from 1 --to 2" in run("waves", folder, "--within", "1:2").out
    assert "--from 1 --to 2" in run("waits", folder, "--clock", "1:2").out
    assert "--line 0" in run("causes", folder, "--line", "0").out


def test_only_does_not_hide_the_mistake_in_a_formula() -> None:
    folder = str(captures.synthetic_path(COUNTED))
    found = run("counters", folder, "--formula", "mine := sum[", "--only", "mine")
    assert found.code == 2
    assert "mine := sum[" in found.err


def test_the_first_rows_are_those_of_the_order_that_is_asked_for() -> None:
    folder = str(captures.trace_path(FLASH))
    rows = json.loads(run("isa", folder, "--sort", "stall", "--top", "5", "--json").out)["rows"]
    every = json.loads(run("isa", folder, "--json").out)["rows"]
    assert [row["stall"] for row in rows] == sorted((row["stall"] for row in every), reverse=True)[:5]


def test_the_engine_counts_in_every_curve(tmp_path: Path) -> None:
    folder = str(captures.trace_path(FLASH))
    by_engine = json.loads(run("occupancy", folder, "--json").out)["rows"]
    area = next(row["area"] for row in by_engine if row["se"] == "SE2")
    for by in ("se", "all", "cu", "simd", "kernel"):
        rows = json.loads(run("occupancy", folder, "--by", by, "--se", "2", "--json").out)["rows"]
        assert rows[0]["area"] == area
