"""Each doubt about a capture, provoked once and absent where all is well."""

import math
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
import orjson
import pytest
from msgspec.structs import replace

from rcv_py.analysis.health.capture_health import CHECKED, headline, problems, verdict
from rcv_py.analysis.health.input_yaml import KEYS, command_line, input_settings, input_yaml, kernel_pattern
from rcv_py.analysis.health.mapping import effective_lines, what_line
from rcv_py.analysis.health.note import HealthNote
from rcv_py.analysis.health.replicates import line_costs, replicate_noise
from rcv_py.analysis.health.representative import representation
from rcv_py.base.problems import Severity
from rcv_py.base.text import speak, translated
from rcv_py.formats.open import find_captures, open_trace
from rcv_py.model.code import Kernel
from rcv_py.model.device import WaveEvents
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.synth.build import Plan
from rcv_py.synth.build import build as simulated
from rcv_py.synth.hardware import CDNA
from rcv_py.synth.program import SyntheticKernel as SimulatedKernel
from rcv_py.synth.program import assemble, kernel
from rcv_py.synth.samples import SAMPLES
from rcv_py.synth.wave_state import SyntheticLaunch
from rcv_py.synth.write import write_folder
from tests.analysis import build
from tests.support import folders
from tests.support.command_runs import is_unchanged
from tests.support.health import capture_health
from tests.support.opened import VARIED, all_waves, opened_once, sample_trace, traces_of
from tests.support.pseudo import pseudo
from tests.support.samples import resident, sample, sample_path, write_sample
from tests.support.yaml_subset import jobs

Notes = dict[str, HealthNote]
Edit = Callable[[Any], object]  # changes a document in place


@pytest.fixture
def damaged(tmp_path: Path) -> Callable[..., Path]:
    """A copy of a sample in which files are edited, by pattern."""

    def damage(name: str, edits: dict[str, Edit | None]) -> Path:
        target = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        write_sample(name, target)
        for pattern, edit in edits.items():
            for file in target.glob(pattern):
                if edit is None:
                    file.unlink()
                else:
                    edit(content := orjson.loads(file.read_bytes()))
                    file.write_bytes(orjson.dumps(content))
        return target

    return damage


def batches_of(trace: Trace) -> list[WaveBatch]:
    return [all_waves(trace)] if len(trace.waves) else []


def notes_of(place: Path | Trace, with_waves: bool = True, replicate: Trace | None = None) -> Notes:
    if isinstance(place, Trace):
        trace = place
    else:
        trace = opened_once(place) if is_unchanged(place) else open_trace(place)
    found = capture_health(trace, batches_of(trace) if with_waves else None, replicate)
    assert len({note.name for note in found}) == len(found)
    return {note.name: note for note in found}


@cache
def notes_of_sample(name: str) -> Notes:
    """What is found in a sample as it is, once for all tests that look at it."""
    return notes_of(sample_path(name))


# -- how notes are written ---------------------------------------------------------------------------


def test_every_note_has_numbers_and_says_what_to_do() -> None:
    for note in (note for name in SAMPLES for note in notes_of_sample(name).values()):
        assert note.evidence, note.name
        assert not note.title.endswith("."), note.title
        for sentence in (note.consequence, note.remedy):
            assert sentence.endswith("."), sentence
            assert "!" not in sentence
        assert set(note.settings) <= set(KEYS)
        assert str(note.evidence[0].value) or note.evidence[0].text


def test_every_word_of_the_evidence_has_a_translation() -> None:
    notes = [note for name in SAMPLES for note in notes_of_sample(name).values()]
    facts = [fact for note in notes for fact in note.evidence if not isinstance(fact.value, str)]
    speak(pseudo(), "zh_CN")
    try:
        shown = {fact.name: translated(fact.text) for fact in facts if fact.name != "examples"}
    finally:
        speak(None)
    assert "slots on the compute units they used" in shown
    assert not [text for text in shown.values() if re.search("[A-Za-z]{2}", re.sub(r"/\S+", "", text))]


def test_worst_first() -> None:
    trace = open_trace(sample_path("events"))
    notes = capture_health(trace, batches_of(trace))
    order = [[Severity.ERROR, Severity.WARNING, Severity.INFO].index(note.severity) for note in notes]
    assert order == sorted(order)
    assert headline(notes) == notes[0].title
    assert verdict(notes).startswith("1 error, ")
    assert (verdict(()), headline(())) == ("healthy", "healthy")


def test_a_capture_without_any_doubt(tmp_path: Path) -> None:
    trace = replace(folders.opened(tmp_path), gfxip=10, target="gfx10")
    assert capture_health(trace, batches_of(trace)) == ()
    assert len(CHECKED) > 5


# -- the record --------------------------------------------------------------------------------------

SERIOUS_OF_THE_RECORD = {"buffer", "unmatched", "lost_files", "placeholder"}
INTACT = ("matmul_small", "reduction", "kernels", "gfx11", "gfx12", "counters", "packed", "scripted_gfx12")


@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in ("events", "placeholder")])
def test_samples_are_whole(name: str) -> None:
    assert not SERIOUS_OF_THE_RECORD & set(notes_of_sample(name))
    assert not SERIOUS_OF_THE_RECORD & set(notes_of(sample_path(name), with_waves=False))


@pytest.mark.parametrize("name", INTACT)
def test_an_intact_capture_has_no_such_doubts(name: str) -> None:
    assert not notes_of_sample(name).keys() & {"mapping", "debug_info", "sharing", "hardly_ran"}


def cut_short(wave: Any) -> None:
    del wave["wave"]["instructions"][20:]


def test_waves_that_were_cut(damaged: Callable[..., Path]) -> None:
    folder = damaged("matmul_small", {"se0_sm0_*.json": cut_short})
    note = notes_of(folder)["buffer"]
    assert note.severity is Severity.ERROR
    cut = len(list(folder.glob("se0_sm0_*.json")))
    assert note.number("waves without s_endpgm") == cut
    assert note.settings["att_buffer_size"] == "0x40000000"
    assert note.settings["att_shader_engine_mask"] == "0x1"


def test_waves_that_stop_at_one_clock_are_counted() -> None:
    trace = open_trace(sample_path("matmul_small"))
    (batch,) = batches_of(trace)
    last = max(int(wave.tokens.end[-1]) for wave in batch.waves if wave.id.se == 0)
    line = batch.line.copy()
    late = [i for i, wave in enumerate(batch.waves) if wave.id.se == 0 and wave.tokens.end[-1] > last - 256]
    line[batch.first[1:][late] - 1] = 0
    early = next(i for i in range(len(batch.waves)) if i not in late)
    line[batch.first[early + 1] - 1] = 0
    notes = {note.name: note for note in capture_health(trace, [replace(batch, line=line)])}
    assert notes["buffer"].number("waves without s_endpgm") == len(late) + 1
    assert notes["buffer"].number("of them stopped at one clock") == len(late)


def test_a_cut_shows_in_the_totals_alone(damaged: Callable[..., Path]) -> None:
    def fewer_ends(code: Any) -> None:
        for row in code["code"]:
            if row[0].startswith("s_endpgm"):
                row[6] = max(0, row[6] - 2)

    note = notes_of(damaged("matmul_small", {"code.json": fewer_ends}), with_waves=False)["buffer"]
    assert note.number("waves without s_endpgm") == 2


def test_waves_that_left_no_file(damaged: Callable[..., Path]) -> None:
    gone = []

    def forget_one(index: Any) -> None:
        slots = index["wave_filenames"]["0"]["0"]
        gone.append(slots.pop(next(iter(slots))))

    note = notes_of(damaged("matmul_small", {"filenames.json": forget_one}))["buffer"]
    assert note.number("waves on traced SIMDs without a file") == len(gone[0])
    assert note.severity is Severity.ERROR


def test_waves_that_never_end() -> None:
    trace = open_trace(sample_path("matmul_small"))
    events = trace.occupancy
    keep = np.ones(len(events), dtype=bool)
    keep[np.flatnonzero(~events.is_start & (events.cu != trace.waves.cu[0]))[-3:]] = False
    note = notes_of(replace(trace, occupancy=rows_of(events, keep)))["buffer"]
    assert (note.severity, note.number("waves seen to start but not to end")) == (Severity.WARNING, 3)


def rows_of(events: Any, keep: np.ndarray, **changes: np.ndarray) -> Any:
    names = [name for name in WaveEvents.__struct_fields__ if name not in ("names", "start", "stop")]
    return replace(events, **{name: changes.get(name, getattr(events, name))[keep] for name in names})


def test_lost_packets_and_stalls_of_the_trace_are_told_apart() -> None:
    trace = open_trace(sample_path("events"))
    note = notes_of(trace)["buffer"]
    assert (note.title, note.number("times that packets were lost")) == ("The trace lost packets", 2)
    only_stalls = replace(trace.events, kind=np.where(trace.events.kind == 6, 9, trace.events.kind))
    note = notes_of(replace(trace, events=only_stalls))["buffer"]
    assert (note.severity, note.title) == (Severity.WARNING, "The trace unit stalled the shader engine")


def test_instructions_without_code(damaged: Callable[..., Path]) -> None:
    lost = []

    def elsewhere(wave: Any) -> None:
        for token in wave["wave"]["instructions"][:10]:
            token[4] = 999_999
            lost.append(token[3])

    note = notes_of(damaged("matmul_small", {"se0_sm0_sl0_wv0.json": elsewhere}))["unmatched"]
    assert [note.number(name) for name in ("instructions", "waves", "their cycles")] == [10, 1, sum(lost)]
    assert note.remedy.startswith("The code object they ran in was not captured")


@pytest.mark.parametrize("content", ["", '{"code": [[', "[]", '{"code": []}', None])
def test_code_that_cannot_be_read_is_to_blame_itself(content: str | None, tmp_path: Path) -> None:
    write_sample("matmul_small", tmp_path)
    code = tmp_path / "code.json"
    code.unlink() if content is None else code.write_text(content)
    trace = open_trace(tmp_path)
    problem = next(one for one in trace.problems if one.where == "code.json")
    assert notes_of(trace)["unmatched"].remedy == str(problem)
    assert problem.text.startswith("code.json")


def test_waves_that_do_not_add_up_to_the_totals(damaged: Callable[..., Path]) -> None:
    def again(wave: Any) -> None:
        wave["wave"]["instructions"] *= 2

    path = damaged("matmul_small", {"se0_sm0_sl0_wv0.json": again})
    rows = orjson.loads((path / "code.json").read_bytes())["code"]
    twice = len(orjson.loads((path / "se0_sm0_sl0_wv0.json").read_bytes())["wave"]["instructions"]) // 2
    note = notes_of(path)["contradicted"]
    assert note.number("executions") == sum(row[6] for row in rows) + twice
    assert not any("contradicted" in notes_of_sample(name) for name in SAMPLES)


@pytest.mark.parametrize(("cost", "name"), [(8, "cycles of stall"), (9, "idle cycles")])
def test_stall_and_idle_cycles_that_the_waves_do_not_have(
    cost: int, name: str, damaged: Callable[..., Path]
) -> None:
    stated = []

    def less(code: Any) -> None:
        row = max(code["code"], key=lambda row: row[cost])
        row[cost] -= 4
        stated.append(sum(row[cost] for row in code["code"]))

    note = notes_of(damaged("matmul_small", {"code.json": less}))["contradicted"]
    assert note.number(name) == stated[0] + 4


@pytest.mark.parametrize("kept", [3, 6])
def test_a_table_without_costs_is_no_early_exit(kept: int, damaged: Callable[..., Path]) -> None:
    def cut(code: Any) -> None:
        code["code"] = [row[:kept] for row in code["code"]]

    path = damaged("matmul_small", {"code.json": cut})
    notes = notes_of(path)
    assert "no_costs" in notes
    assert not notes.keys() & {"hardly_ran", "contradicted"}
    assert any("records no execution" in one.text for one in problems(open_trace(path)))
    assert not any("no_costs" in notes_of_sample(name) for name in SAMPLES)


def test_files_that_are_gone(damaged: Callable[..., Path]) -> None:
    notes = notes_of(damaged("matmul_small", {"se0_sm0_sl0_wv0.json": None}))
    assert notes["lost_files"].number("files") == 1
    assert not notes["lost_files"].settings


# -- what was recorded -------------------------------------------------------------------------------


def test_a_placeholder_says_where_waves_were() -> None:
    trace = open_trace(sample_path("placeholder"))
    note = notes_of(trace)["placeholder"]
    assert note.severity is Severity.ERROR
    there = trace.occupancy.cu == note.settings["att_target_cu"]
    assert 2 * note.number("waves on other compute units") == len(trace.occupancy)
    engines = set(trace.occupancy.se[there].tolist())
    assert int(note.settings["att_shader_engine_mask"], 16) == sum(1 << se for se in engines)
    assert np.count_nonzero(there) == max(np.bincount(trace.occupancy.cu))


def test_waves_that_are_not_listed_did_run(tmp_path: Path) -> None:
    capture = tmp_path / "ui_output_x"
    write_sample("vector_add", capture)
    (capture / "filenames.json").write_text("{}")
    notes = notes_of(open_trace(capture))
    assert "placeholder" not in notes
    note = notes["lost_files"]
    assert note.severity is Severity.ERROR
    assert "lists no wave, although wave files lie beside it" in note.consequence
    assert "Decode again" in note.remedy
    assert not note.settings
    (entry,) = find_captures(tmp_path)
    assert "lists no wave" in entry.note


def test_a_placeholder_of_idle_engines(tmp_path: Path) -> None:
    nothing = {"filenames.json": folders.waves(None), folders.WAVE: None}
    nothing["occupancy.json"] = {"version": "3.0.0"}
    note = notes_of(folders.opened(tmp_path, nothing))["placeholder"]
    assert note.title == "Nothing was recorded"
    assert note.settings == {"att_shader_engine_mask": "0x11111111"}


@pytest.fixture
def left_early(tmp_path: Path) -> Trace:
    """Every wave goes to the end of the kernel at once, on three compute units."""
    body = "\n".join(f"v_add_u32_e32 v{i}, v1, v2" for i in range(3, 63))
    text = f"s_load_dword s4, s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_branch out\n{body}\nout:\ns_endpgm"
    return launched(assemble(text, "_Z5earlyv", 9, {}, demangled="early()"), tmp_path / "early")


def launched(program: SimulatedKernel, folder: Path, groups: int = 1, **iterations: tuple[int, ...]) -> Trace:
    """A launch of so many workgroups on each of three compute units."""
    plan = Plan(CDNA, (SyntheticLaunch(program, groups, iterations),), cus=(0, 1, 3))
    write_folder(simulated(plan).capture, folder)
    return open_trace(folder)


def test_an_early_exit_is_no_reason_to_try_another_unit_if_all_left_early(left_early: Trace) -> None:
    note = notes_of(left_early)["hardly_ran"]
    assert note.number("instructions that ran") == 4
    assert note.settings == {"kernel_iteration_range": "[2]"}


def test_an_early_exit_here_but_not_there(left_early: Trace) -> None:
    events = left_early.occupancy
    later = np.where((events.cu == 3) & ~events.is_start, events.time + 50_000, events.time)
    note = notes_of(replace(left_early, occupancy=replace(events, time=later)))["hardly_ran"]
    assert note.settings == {"att_target_cu": 3}


def test_samples_are_no_trace() -> None:
    notes = notes_of(sample_path("pc_sampling"))
    assert "placeholder" not in notes
    assert "counters" not in notes
    assert notes["sampled"].severity is Severity.INFO


# -- source lines ------------------------------------------------------------------------------------


trace = traces_of(VARIED)


def test_effective_lines_are_those_of_the_definition(trace: Trace) -> None:
    code = trace.code
    weight: dict[tuple[str, int], int] = {}
    for row in range(len(code)):
        if code.chain(row) and not code.is_label[row]:
            file, line = code.chain(row)[0]
            place = (trace.sources[file].path.rsplit("/", 1)[-1], line)
            weight[place] = weight.get(place, 0) + int(code.hits[row] + code.stall[row])
    shares = [value / max(1, sum(weight.values())) for value in weight.values() if value]
    entropy = -sum(share * math.log(share) for share in shares)
    assert effective_lines(trace) == pytest.approx(math.exp(entropy) if shares else 0)


def test_a_hot_line_is_no_collapsed_one() -> None:
    trace = open_trace(sample_path("reduction"))
    assert effective_lines(trace) < 1.5
    assert "mapping" not in notes_of(trace)


def places(place: Callable[[int, str], str]) -> Edit:
    """An edit of code.json: the place of each row, by its number and the place that it has."""

    def move(code: Any) -> None:
        for at, row in enumerate(code["code"]):
            row[3] = place(at, row[3])

    return move


def test_a_collapse_is_seen_in_code_json(damaged: Callable[..., Path]) -> None:
    one_place = places(lambda at, was: "/src/one.py:12" if was and at % 4 < 3 else was)
    folder = damaged("matmul_small", {"code.json": one_place})
    note = notes_of(folder)["mapping"]
    assert "one.py:12" in note.title
    assert 0.7 < note.number("instructions on it") < 0.8
    assert effective_lines(open_trace(folder)) < effective_lines(sample_trace("matmul_small"))


def test_a_collapse_into_the_head_of_a_kernel_says_so(damaged: Callable[..., Path]) -> None:
    source = next(one for one in sample_trace("matmul_small").sources if one.path.endswith("matmul.hip"))
    head = next(at for at, line in enumerate(source.lines or (), 1) if "__global__" in line)
    collapse = places(lambda at, was: was and f"{source.path}:{head}")
    folder = damaged("matmul_small", {"code.json": collapse})
    assert effective_lines(open_trace(folder)) == pytest.approx(1)
    note = notes_of(folder)["mapping"]
    assert (note.number("source lines"), note.number("instructions on it")) == (1, 1)
    assert note.title.endswith(f"matmul.hip:{head}, the head of a kernel")


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("@flyc.kernel\ndef f():\n    x = 1", 1, "a decorator"),
        ("@flyc.kernel\ndef f(\n    a,\n):", 2, "the head of a function"),
        ("@flyc.kernel\ndef f():\n    x = 1", 3, ""),
        ("def add(a, b):\n    return a + b", 2, "the only line of add"),
        ("def add(a, b): return a + b", 1, "the only line of add"),
        ("__global__ void k(float* a) {", 1, "the head of a kernel"),
        ("x = a @ b", 1, ""),
        ("x = 1", 9, ""),
        ("", 0, ""),
    ],
)
def test_what_a_line_is(text: str, line: int, what: str) -> None:
    assert what_line(text.split("\n"), line) == what


def test_lines_that_collapse_less_are_counted_and_weighed(damaged: Callable[..., Path]) -> None:
    """Of five instructions four, then three, carry one line."""
    found = []
    for kept in (1, 2):
        collapse = places(lambda at, was, kept=kept: was if at % 5 < kept else "/src/k.py:7")
        folder = damaged("matmul_small", {"code.json": collapse})
        rows = orjson.loads((folder / "code.json").read_bytes())["code"]
        rows = [row for row in rows if not row[0].lstrip().startswith(";") and row[3]]
        ran = Counter(row[3].split(" -> ")[0] for row in rows if row[6])
        weight = Counter[str]()
        for row in rows:
            weight[row[3].split(" -> ")[0]] += row[6] + row[8]
        shares = [one / weight.total() for one in weight.values() if one]
        note = notes_of(folder)["mapping"]
        assert note.number("source lines") == len(ran) > 2
        assert note.number("instructions on it") == pytest.approx(ran["/src/k.py:7"] / ran.total(), abs=1e-3)
        even = math.exp(-sum(share * math.log(share) for share in shares))
        assert note.number("effective lines") == pytest.approx(even, abs=0.005)
        found.append(note)
    many, fewer = found
    assert many.number("instructions on it") > fewer.number("instructions on it")
    assert many.number("effective lines") < fewer.number("effective lines")


def test_missing_debug_information(damaged: Callable[..., Path]) -> None:
    half, none = places(lambda at, was: was if at % 2 else ""), places(lambda at, was: "")
    note = notes_of(damaged("matmul_small", {"code.json": half}))["debug_info"]
    assert (note.title, note.severity) == ("Some instructions have no source line", Severity.WARNING)
    note = notes_of(damaged("gfx12", {"code.json": none}))["debug_info"]
    assert (note.number("instructions with a line"), note.severity) == (0, Severity.INFO)


def test_missing_copies_of_sources() -> None:
    assert notes_of(sample_path("matmul_small"))["sources"].number("files") == 1
    assert "sources" not in notes_of_sample("groups_512")


# -- the traced unit and the machine -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["matmul_small", "matmul_tiled", "vector_add", "reduction", "gfx12"])
def test_how_far_the_traced_unit_is_off(name: str) -> None:
    """Of the kernel that most traced waves ran, as the simulator knows all lives."""
    trace, (_, truth) = sample_trace(name), sample(name)
    (cu,) = set(trace.waves.cu.tolist())
    traced = {(se, cu, simd) for se, simd, _, _ in truth.waves}
    ((main, _),) = Counter(wave.kernel for wave in truth.waves.values()).most_common(1)
    lives: dict[bool, list[int]] = {True: [], False: []}
    for se, unit, simd, _, begin, end, program, _ in truth.residencies.tolist():
        if program == main:
            lives[(se, unit, simd) in traced].append(end - begin)
    found = representation(trace)
    assert (found.traced, found.others) == (len(lives[True]), len(lives[False]))
    gap = fmean(lives[True]) / fmean(lives[False]) - 1
    assert found.gap == pytest.approx(gap)
    assert ("representative" in notes_of_sample(name)) is (abs(gap) > 0.05)


def test_other_units_that_live_longer() -> None:
    trace = open_trace(sample_path("vector_add"))
    assert "representative" not in notes_of(trace)
    events = trace.occupancy
    own = np.isin(events.cu, trace.waves.cu)
    begin = int(events.time.min())
    stretched = np.where(own, events.time, begin + (events.time - begin) * 2)
    note = notes_of(replace(trace, occupancy=replace(events, time=stretched)))["representative"]
    assert note.number("difference") < -0.4
    assert note.number("in standard errors") > 2
    assert "shorter" in note.title


@pytest.mark.parametrize("name", ["matmul_small", "reduction", "gfx12"])
def test_the_wave_of_median_life_is_a_traced_wave_of_middling_life(name: str) -> None:
    trace, (_, truth) = sample_trace(name), sample(name)
    found = representation(trace)
    middle = median((truth.residencies[:, 5] - truth.residencies[:, 4]).tolist())
    off = np.abs(trace.waves.end - trace.waves.begin - middle)
    assert off[found.typical] == off.min() < 0.05 * middle


Life = tuple[int, int, int, int, int]  # begin, end, unit, slot and kernel, on SIMD 0 of shader engine 0


def notes_of_lives(lives: list[Life], target: str = "gfx942") -> Notes:
    """What is found in a capture of waves of kernel 1 on unit 0, if these are the lives on the device."""
    rows = [
        (when, start, 0, cu, 0, slot, kernel)
        for begin, end, cu, slot, kernel in lives
        for when, start in ((begin, 1), (end, 0))
    ]
    trace = sample_trace("matmul_small")
    zero = np.zeros(len(trace.waves), np.int16)
    waves = replace(trace.waves, se=zero, simd=zero, cu=zero, kernel=zero + 1)
    occupancy = build.events(rows, {1: "one", 2: "two"})
    return notes_of(replace(trace, target=target, occupancy=occupancy, waves=waves), with_waves=False)


def test_traced_waves_that_live_longer() -> None:
    others = [(0, 1000, cu, slot, 1) for cu in (1, 2) for slot in range(4)]
    longer = notes_of_lives([(0, 1500, 0, slot, 1) for slot in range(4)] + others)["representative"]
    assert longer.number("difference") == pytest.approx(0.5)
    nearer = [(0, life, cu, slot, 1) for cu, life in ((1, 1000), (2, 1240)) for slot in range(4)]
    remedy = notes_of_lives([(0, 1500, 0, slot, 1) for slot in range(4)] + nearer)["representative"].remedy
    low = 1240 / ((1000 + 1500) / 2) - 1
    said = f"Trace compute unit 2, whose waves were {100 * -low:.1f} % shorter than the others in this launch"
    assert remedy.startswith(said)
    assert "representative" not in notes_of_lives([(0, 1010, 0, slot, 1) for slot in range(4)] + others)


def test_a_kernel_beside_the_traced_one() -> None:
    own = [(0, 1000, 0, slot, 1) for slot in range(3)]
    note = notes_of_lives([*own, (500, 3000, 1, 0, 2)])["sharing"]
    assert note.number("their waves") == 1
    assert note.number("share of the wave-cycles") == pytest.approx(500 / 3500)
    assert note.settings == {"att_serialize_all": True}
    assert "sharing" not in notes_of_lives([*own, (1000, 3000, 1, 0, 2)])


def test_a_grid_of_one_round() -> None:
    at_once = [(0, 1000, 0, slot, 1) for slot in range(8)]
    assert "grid" not in notes_of_lives(at_once, "gfx9")  # how many waves some gfx9 can hold is not known
    assert "grid" in notes_of_lives(at_once, "gfx950")
    rounds = [(1000 * turn, 1000 * turn + 900, 0, slot, 1) for turn in range(3) for slot in range(8)]
    assert "grid" not in notes_of_lives(rounds, "gfx950")


def test_a_long_tail() -> None:
    short = [(0, 400, cu, slot, 1) for cu in (0, 1) for slot in range(4)]
    tail = notes_of_lives([*short, (0, 1000, 0, 5, 1)])["tail"]
    assert tail.number("with at most half of the peak") == pytest.approx(0.6)
    assert "tail" not in notes_of_lives(short)


def test_a_grid_of_several_rounds_fills_the_machine(tmp_path: Path) -> None:
    trace = launched(kernel("matmul_tiled"), tmp_path, groups=3, K=(4,))
    assert "grid" not in notes_of(trace)


def test_a_grid_that_leaves_places_empty(tmp_path: Path) -> None:
    trace = launched(kernel("matmul_tiled"), tmp_path, groups=1, K=(4,))
    units = len(set(trace.occupancy.cu.tolist()))
    note = notes_of(trace)["grid"]
    assert (note.number("waves"), note.number("most waves on one")) == (units * 4, 4)
    assert note.number("slots on the compute units they used") == units * 4 * 8


@pytest.mark.parametrize("name", ["matmul_small", "vector_add", "reduction", "groups_512", "gfx12"])
def test_the_tail_is_what_follows_half_of_the_peak(name: str) -> None:
    waves = resident(sample(name)[1])
    tail = 1 - (np.flatnonzero(waves > waves.max() / 2)[-1] + 1) / len(waves)
    note = notes_of_sample(name).get("tail")
    assert (note is not None) is bool(tail >= 0.25)
    if note is not None:
        assert note.number("with at most half of the peak") == pytest.approx(tail, abs=0.0001)


# -- counters ----------------------------------------------------------------------------------------


def test_counters_can_be_had_on_gfx9_only() -> None:
    assert notes_of(sample_path("matmul_small"))["counters"].settings == {"att_activity": 8}
    for name in ("counters", "counters_units", "spm", "gfx11", "gfx12"):
        assert "counters" not in notes_of(sample_path(name)), name


def test_samples_of_counters_that_are_missing() -> None:
    trace = open_trace(sample_path("counters"))
    table = trace.counters[0]
    keep = np.ones(len(table.time), dtype=bool)
    keep[np.isin(table.time, np.unique(table.time)[20:60])] = False
    names = ("time", "value", "cu", "bank")
    holed = replace(table, **{name: getattr(table, name)[keep] for name in names})
    note = notes_of(replace(trace, counters=(holed,)))["counters"]
    assert note.number("samples missing") == np.count_nonzero(~keep)
    assert note.severity is Severity.WARNING


# -- replicates -------------------------------------------------------------------------------------------


def test_replicates_differ_by_what_is_known_of_them(tmp_path: Path) -> None:
    """Two launches of the same program in which chance decided otherwise."""
    write_sample("matmul_small", tmp_path, seed=1)
    trace, other = sample_trace("matmul_small"), open_trace(tmp_path)
    note = notes_of(trace, replicate=other)["twin"]
    change = total = 0.0
    for row in np.flatnonzero(trace.code.hits).tolist():
        hits, latency = int(trace.code.hits[row]), int(trace.code.latency[row])
        change += hits * abs(int(other.code.latency[row]) / int(other.code.hits[row]) - latency / hits)
        total += latency
    assert note.number("difference per execution") == pytest.approx(change / total)
    assert change > 0
    assert note.number("executions") == pytest.approx(other.code.hits.sum() / trace.code.hits.sum())
    assert "twin" not in notes_of(trace, replicate=sample_trace("gfx12"))


def test_a_capture_is_its_own_replicate_without_noise() -> None:
    trace = sample_trace("matmul_small")
    noise = replicate_noise(line_costs(trace.code), line_costs(trace.code))
    assert (noise.per_hit, noise.net, noise.hits) == (0, 0, 1)


def test_noise_does_not_depend_on_how_many_waves_were_traced() -> None:
    hits, cost = np.array([4, 8]), np.array([400, 80])
    first = np.array([hits, cost, cost // 2])
    assert replicate_noise(first, np.array([2 * hits, 2 * cost, cost])).per_hit == 0
    slower = replicate_noise(first, np.array([hits, [440, 72], cost // 2]))
    assert slower.per_hit == pytest.approx((40 + 8) / 480)
    assert slower.net == pytest.approx((40 - 8) / 480)


# -- the input file ----------------------------------------------------------------------------------

RANGES = {"att_target_cu": (0, 15), "att_activity": (1, 16)}


def checked(trace: Trace) -> dict[str, Any]:
    """The only job of the input file, which must be valid and within what rocprofv3 takes."""
    notes = capture_health(trace, batches_of(trace))
    (job,) = jobs(input_yaml(trace, notes))
    assert job["advanced_thread_trace"] is True
    assert set(job) <= set(KEYS)
    for name, (low, high) in RANGES.items():
        assert low <= job.get(name, low) <= high
    assert 1 << 20 <= int(job["att_buffer_size"], 16) <= 2 << 30
    assert 1 <= int(job["att_shader_engine_mask"], 16) < 1 << 32
    assert 0 <= int(job["att_simd_select"], 16) <= 15
    assert job["output_format"] == ["json", "csv"]
    return job


@pytest.mark.parametrize("name", SAMPLES)
def test_input_files_for_samples(name: str) -> None:
    trace = open_trace(sample_path(name))
    job = checked(trace)
    if trace.gfxip > 9:
        assert "att_activity" not in job
        assert int(job["att_simd_select"], 16) <= 3


def test_the_worst_note_decides_a_setting(damaged: Callable[..., Path]) -> None:
    trace = open_trace(damaged("matmul_small", {"se0_sm0_*.json": cut_short}))
    text = input_yaml(trace, capture_health(trace, batches_of(trace)))
    (job,) = jobs(text)
    assert (job["att_buffer_size"], job["att_shader_engine_mask"]) == ("0x40000000", "0x1")
    assert "# The record was cut off" in text
    assert "rocprofv3 -i input.yaml -- " in text
    assert command_line() in text


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("void ns::(anonymous namespace)::foo<int, 4>(float*)", "foo"),
        ("flash_attn_func_kernel_0", "flash_attn_func_kernel_0"),
        ("_Z6matmulPf.kd", "matmul"),
        ("", ""),
        ("***", ""),
    ],
)
def test_how_a_kernel_is_found_again(name: str, pattern: str, tmp_path: Path) -> None:
    trace = folders.opened(tmp_path)
    code = replace(trace.code, kernels=(Kernel(name, name, 0, len(trace.code)),) if name else ())
    trace = replace(trace, code=code)
    assert kernel_pattern(trace) == pattern
    assert input_settings(trace, ()).get("kernel_include_regex", "") == pattern


@pytest.mark.parametrize("name", ['x\njobs: evil\u2028"', "x\njobs:\n  - att_target_cu: 99\u2028y\x85z"])
def test_a_name_cannot_break_the_file(name: str, tmp_path: Path) -> None:
    trace = replace(folders.opened(tmp_path), name=name)
    (job,) = jobs(input_yaml(trace, capture_health(trace)))
    assert "evil" not in str(job)
    assert job.get("att_target_cu") != 99
