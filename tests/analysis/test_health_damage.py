"""Every doubt about a capture is raised by the damage that causes it, and by no intact capture."""

import json
import math
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rcv_py.analysis.health.capture_health import capture_health
from rcv_py.analysis.health.input_yaml import input_yaml
from rcv_py.analysis.health.note import HealthNote
from rcv_py.analysis.health.replicates import replicate_noise
from rcv_py.base.problems import Severity
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from tests.analysis import build
from tests.support.opened import all_waves, sample_trace
from tests.support.samples import write_sample

LOSSES = ("placeholder", "buffer", "lost_files", "unmatched")
INTACT = ("matmul_small", "reduction", "kernels", "gfx11", "gfx12", "counters", "packed", "scripted_gfx12")
FIRST = "se0_sm0_sl0_wv0.json"
Change = Callable[[Any], None]


def notes_of(folder: Path) -> dict[str, HealthNote]:
    return notes_about(open_trace(folder))


def notes_about(trace: Trace) -> dict[str, HealthNote]:
    batches = (all_waves(trace),)
    return {note.name: note for note in capture_health(trace, batches)}


def edit(folder: Path, name: str, change: Change) -> None:
    content = json.loads((folder / name).read_text())
    change(content)
    (folder / name).write_text(json.dumps(content))


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    write_sample("matmul_small", tmp_path / "capture")
    return tmp_path / "capture"


def opened(folder: Path) -> tuple[Trace, Any]:
    trace = open_trace(folder)
    return trace, (all_waves(trace),)


@pytest.mark.parametrize("name", INTACT)
def test_an_intact_capture_has_lost_nothing(name: str) -> None:
    assert not notes_about(sample_trace(name)).keys() & {
        *LOSSES,
        "mapping",
        "debug_info",
        "sharing",
        "hardly_ran",
    }


# -- the record -------------------------------------------------------------------------------------


def test_a_wave_without_its_end(capture: Path) -> None:
    def cut(content: Any) -> None:
        content["wave"]["instructions"].pop()

    edit(capture, FIRST, cut)
    note = notes_of(capture)["buffer"]
    assert note.severity is Severity.ERROR
    assert note.number("waves without s_endpgm") == 1
    assert int(str(note.settings["att_buffer_size"]), 16) > 0x10000000


def test_a_wave_without_a_file(capture: Path) -> None:
    def forget(content: Any) -> None:
        del content["wave_filenames"]["0"]["0"]["0"]["0"]

    edit(capture, "filenames.json", forget)
    (capture / FIRST).unlink()
    assert notes_of(capture)["buffer"].number("waves on traced SIMDs without a file") == 1


def test_a_lost_file_asks_for_a_copy_not_for_a_recording(capture: Path) -> None:
    (capture / FIRST).unlink()
    note = notes_of(capture)["lost_files"]
    assert (note.number("files"), dict(note.settings)) == (1, {})


def test_tokens_without_a_line(capture: Path) -> None:
    lost = []

    def move(content: Any) -> None:
        for token in content["wave"]["instructions"][:3]:
            token[4] = 99_999
            lost.append(token[3])

    edit(capture, FIRST, move)
    note = notes_of(capture)["unmatched"]
    assert note.number("instructions") == 3
    assert note.number("their cycles") == sum(lost)
    assert note.remedy.startswith("The code object they ran in was not captured")


@pytest.mark.parametrize("content", ["", '{"code": [[', "[]", '{"code": []}', None])
def test_code_that_cannot_be_read_is_to_blame_itself(content: str | None, capture: Path) -> None:
    code = capture / "code.json"
    code.unlink() if content is None else code.write_text(content)
    trace = open_trace(capture)
    problem = next(one for one in trace.problems if one.where == "code.json")
    assert notes_about(trace)["unmatched"].remedy == str(problem)
    assert problem.text.startswith("code.json")


def test_a_placeholder_names_a_unit_that_had_waves(tmp_path: Path) -> None:
    write_sample("placeholder", tmp_path / "p")
    note = notes_of(tmp_path / "p")["placeholder"]
    table = json.loads((tmp_path / "p" / "occupancy.json").read_text())
    units = {row[1] for se, rows in table.items() if se.isdigit() for row in rows}
    assert note.severity is Severity.ERROR
    assert note.settings["att_target_cu"] in units


def test_lost_packets_of_the_hardware(tmp_path: Path) -> None:
    write_sample("events", tmp_path / "e")
    assert notes_of(tmp_path / "e")["buffer"].number("times that packets were lost") == 2


# -- the code ---------------------------------------------------------------------------------------


def places(capture: Path, place: Callable[[int, str], str]) -> dict[str, HealthNote]:
    def move(content: Any) -> None:
        for at, row in enumerate(content["code"]):
            row[3] = place(at, row[3])

    edit(capture, "code.json", move)
    return notes_of(capture)


def test_all_on_one_line(capture: Path) -> None:
    note = places(capture, lambda at, was: "/src/k.py:7" if was else was).get("mapping")
    assert note is not None
    assert note.number("instructions on it") == 1.0
    assert note.number("source lines") == 1
    assert "k.py:7" in note.title


def test_no_line_and_some_lines(capture: Path) -> None:
    some = places(capture, lambda at, was: was if at % 2 else "")["debug_info"]
    none = places(capture, lambda at, was: "")["debug_info"]
    assert (some.severity, none.severity) == (Severity.WARNING, Severity.INFO)
    assert none.number("instructions with a line") == 0


def test_a_capture_that_is_repaired_in_part_is_less_collapsed(capture: Path) -> None:
    """Of five instructions four, then three, carry one line: lines are counted, and weighed, one by one."""
    many, fewer = (
        places(_copy(capture, f"{kept}"), lambda at, was, kept=kept: was if at % 5 < kept else "/src/k.py:7")
        for kept in (1, 2)
    )
    for notes, folder in ((many, "1"), (fewer, "2")):
        rows = json.loads((capture.with_name(folder) / "code.json").read_text())["code"]
        rows = [row for row in rows if not row[0].lstrip().startswith(";") and row[3]]
        ran = Counter(row[3].split(" -> ")[0] for row in rows if row[6])
        weight = Counter[str]()
        for row in rows:
            weight[row[3].split(" -> ")[0]] += row[6] + row[8]
        shares = [one / weight.total() for one in weight.values() if one]
        note = notes["mapping"]
        assert note.number("source lines") == len(ran) > 2
        assert note.number("instructions on it") == pytest.approx(ran["/src/k.py:7"] / ran.total(), abs=1e-3)
        even = math.exp(-sum(share * math.log(share) for share in shares))
        assert note.number("effective lines") == pytest.approx(even, abs=0.005)
    before, after = many["mapping"], fewer["mapping"]
    assert before.number("instructions on it") > after.number("instructions on it")
    assert before.number("effective lines") < after.number("effective lines")


def _copy(folder: Path, name: str) -> Path:
    return shutil.copytree(folder, folder.with_name(name))


def test_an_early_exit(capture: Path) -> None:
    trace, batches = opened(capture)
    few = np.where(np.arange(len(trace.code)) < 4, trace.code.hits, 0)
    left = capture_health(replace(trace, code=replace(trace.code, hits=few)), batches)
    assert "hardly_ran" in {note.name for note in left}


# -- the machine ------------------------------------------------------------------------------------

# (begin, end, unit, slot, kernel) of lives on SIMD 0 of shader engine 0
Lives = list[tuple[int, int, int, int, int]]


def with_lives(trace: Trace, lives: Lives) -> dict[str, HealthNote]:
    rows = [(when, start, 0, cu, 0, slot, kernel) for begin, end, cu, slot, kernel in lives
            for when, start in ((begin, 1), (end, 0))]  # fmt: skip
    index = trace.waves
    keep = np.zeros(len(index), np.int16)
    waves = replace(index, se=keep, simd=keep, cu=keep, kernel=keep + 1)
    trace = replace(trace, occupancy=build.events(rows, {1: "one", 2: "two"}), waves=waves)
    return {note.name: note for note in capture_health(trace)}


@pytest.fixture
def trace(capture: Path) -> Trace:
    return open_trace(capture)


def test_traced_waves_that_live_longer(trace: Trace) -> None:
    others = [(0, 1000, cu, slot, 1) for cu in (1, 2) for slot in range(4)]
    longer = with_lives(trace, [(0, 1500, 0, slot, 1) for slot in range(4)] + others)["representative"]
    assert longer.number("difference") == pytest.approx(0.5)
    same = with_lives(trace, [(0, 1010, 0, slot, 1) for slot in range(4)] + others)
    assert "representative" not in same


def test_another_kernel_beside(trace: Trace) -> None:
    own = [(0, 1000, 0, slot, 1) for slot in range(3)]
    note = with_lives(trace, [*own, (500, 3000, 1, 0, 2)])["sharing"]
    assert note.number("their waves") == 1
    assert note.number("share of the wave-cycles") == pytest.approx(500 / 3500)
    assert "sharing" not in with_lives(trace, [*own, (1000, 3000, 1, 0, 2)])


def test_a_long_tail(trace: Trace) -> None:
    short = [(0, 400, cu, slot, 1) for cu in (0, 1) for slot in range(4)]
    assert with_lives(trace, [*short, (0, 1000, 0, 5, 1)])["tail"].number(
        "with at most half of the peak"
    ) == pytest.approx(0.6)
    assert "tail" not in with_lives(trace, short)


def test_a_grid_of_one_round(trace: Trace) -> None:
    at_once = [(0, 1000, 0, slot, 1) for slot in range(8)]
    some = replace(trace, target="gfx9")
    assert "grid" not in with_lives(some, at_once)  # how many waves some gfx9 can hold is not known
    trace = replace(trace, target="gfx950")
    assert "grid" in with_lives(trace, at_once)
    rounds = [(1000 * turn, 1000 * turn + 900, 0, slot, 1) for turn in range(3) for slot in range(8)]
    assert "grid" not in with_lives(trace, rounds)


def test_counters(capture: Path, tmp_path: Path) -> None:
    assert notes_of(capture)["counters"].settings == {"att_activity": 8}
    write_sample("counters", tmp_path / "c")
    assert "counters" not in notes_of(tmp_path / "c")
    file = next((tmp_path / "c").glob("se*_perfcounter.json")).name

    def drop(content: Any) -> None:
        rows = content["data"]
        del rows[len(rows) // 3 : len(rows) // 2]

    edit(tmp_path / "c", file, drop)
    assert notes_of(tmp_path / "c")["counters"].severity is Severity.WARNING


# -- twins and the input file -----------------------------------------------------------------------


def test_noise_does_not_depend_on_how_many_waves_were_traced() -> None:
    hits, cost = np.array([4, 8]), np.array([400, 80])
    first = np.array([hits, cost, cost // 2])
    assert replicate_noise(first, np.array([2 * hits, 2 * cost, cost])).per_hit == 0
    slower = replicate_noise(first, np.array([hits, [440, 72], cost // 2]))
    assert slower.per_hit == pytest.approx((40 + 8) / 480)
    assert slower.net == pytest.approx((40 - 8) / 480)


def jobs(text: str) -> list[dict[str, str]]:
    """A strict reader of the little YAML that is written: comments, `jobs:`, and flat keys of each job."""
    found: list[dict[str, str]] = []
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    assert lines.pop(0) == "jobs:"
    for line in lines:
        assert line[:4] in ("  - ", "    ")
        assert line[4] != " "
        if line[2] == "-":
            found.append({})
        name, value = line[4:].split(": ", 1)
        assert name not in found[-1]
        found[-1][name] = value
    return found


@pytest.mark.parametrize("name", ["placeholder", "pc_sampling", "events", "gfx12", "counters"])
def test_the_input_file_is_one_job_with_known_keys(name: str, tmp_path: Path) -> None:
    write_sample(name, tmp_path / name)
    trace, batches = opened(tmp_path / name)
    (job,) = jobs(input_yaml(trace, capture_health(trace, batches)))
    assert job["advanced_thread_trace"] == "true"
    assert 0 <= int(job["att_target_cu"]) <= 15
    for name_of_mask in ("att_shader_engine_mask", "att_simd_select", "att_buffer_size"):
        assert int(job[name_of_mask].strip('"'), 16) >= 0
    assert ("att_activity" in job) <= (trace.gfxip <= 9)


def test_a_name_from_a_capture_cannot_add_a_setting(trace: Trace) -> None:
    evil = replace(trace, name="x\njobs:\n  - att_target_cu: 9\u2028y\x85z")
    assert len(jobs(input_yaml(evil, capture_health(evil)))) == 1
