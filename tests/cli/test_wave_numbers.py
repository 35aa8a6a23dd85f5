"""The numbers of `waves`, `wave`, `units`, `place`, `search` and `source`, again by plain loops over files.

As in `test_numbers` only the printed JSON is rcv's.
"""

import csv
import io
import json
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_numbers import costs, innermost, length, picked, told
from tests.support.command_runs import run
from tests.support.fixtures import fixture_of_each
from tests.support.plain_capture import LABEL, PlainWave, Stay, Token, plain
from tests.support.samples import sample_path, write_sample
from tests.support.simd_cycles import passes_of, worked

NAMES = ("matmul_small", "reduction")
STATES = {1: "idle", 2: "exec", 3: "wait", 4: "stall"}
KINDS = {1: "SMEM", 2: "SALU", 3: "VMEM", 4: "FLAT", 5: "LDS", 6: "VALU", 7: "JUMP", 8: "NEXT"}
KINDS |= {9: "IMMED", 10: "TRAP", 11: "MSG"}
# Unit of each kind on gfx9, and whether all SIMDs share it.
UNITS = {"VALU": "VALU", "VMEM": "VMEM", "FLAT": "VMEM", "LDS": "VMEM", "IMMED": "IMMED", "MSG": "MSG"}
SHARED = ("IMMED", "MSG")
BASE = 4  # cycles of a turn
ALL = (-(1 << 60), 1 << 60)  # all that was recorded: a segment may outlast the life of its wave


# A capture; tests/real gives real ones to the same tests, and so for the fixtures below
folder = fixture_of_each(sample_path, NAMES)
# Captures whose instructions have source places
mapped = fixture_of_each(sample_path, ["matmul_small", "kernels", "tutorial_before"])


@pytest.fixture
def lasting(tmp_path: Path) -> list[Path]:
    """A capture in which the last segment of a wave is longer than its life allows."""
    write_sample("straggler", tmp_path)
    path = min(tmp_path.glob("se*_wv*.json"))
    document = json.loads(path.read_text())
    document["wave"]["timeline"][-1][1] += 40
    path.write_text(json.dumps(document))
    return [tmp_path]


def states(wave: PlainWave, begin: int, end: int) -> dict[str, int]:
    """Cycles of a wave in each state between two times."""
    found = dict.fromkeys(STATES.values(), 0)
    time = wave.begin
    for state, cycles in wave.timeline:
        found[STATES[state]] += max(0, min(time + cycles, end) - max(time, begin))
        time += cycles
    return found


def kernel_of(folder: Path, wave: PlainWave) -> str:
    """The kernel whose wave began at that time in that slot."""
    key = (wave.se, wave.simd, wave.slot, wave.begin)
    return next(one.kernel for one in stays(folder) if (one.se, one.simd, one.slot, one.begin) == key)


def stays(folder: Path) -> list[Stay]:
    """Every wave of the device, with the name of its kernel as tables show it: without its arguments."""
    found = plain(folder)
    heads = [row for row in found.code if str(row[0]).startswith("; ")]
    names = {str(row[0])[2:]: str(row[3]).partition("(")[0] for row in heads if row[3]}
    return [replace(one, kernel=names.get(one.kernel, one.kernel)) for one in found.stays]


def test_waves_lived_and_did(folder: Path) -> None:
    waves = plain(folder).waves
    middle = (min(wave.begin for wave in waves) + max(wave.end for wave in waves)) // 2
    for window in (None, (middle - 500, middle + 500), (0, waves[0].begin + 100)):
        words = () if window is None else (f"--within={window[0]}:{window[1]}",)
        document = told(folder, "waves", *words)
        expected = {}
        for wave in waves:
            begin, end = window or (wave.begin, wave.end)
            if wave.begin < end and wave.end > begin:
                expected[wave.name] = {
                    "wave": wave.name,
                    "cu": wave.cu,
                    "kernel": kernel_of(folder, wave),
                    "start": wave.begin,
                    "end": wave.end,
                    "cycles": wave.end - wave.begin,
                    "hits": len(wave.tokens),
                    **states(wave, *(window or ALL)),
                }
        assert {row["wave"]: row for row in document["rows"]} == expected
        assert document["total_rows"] == len(document["rows"])
    rows = told(folder, "waves", "--sort", "stall", "--top", "2")["rows"]
    ranked = sorted((states(wave, *ALL)["stall"] for wave in waves), reverse=True)
    assert [row["stall"] for row in rows] == ranked[:2]


def test_resident_waves_are_those_of_the_record(folder: Path) -> None:
    found = plain(folder)
    traced = {(one.se, one.cu, one.simd, one.slot, one.begin, one.end): one.name for one in found.waves}
    expected = sorted(
        (one.se, one.cu, one.simd, one.slot, one.begin, one.end, one.kernel) for one in stays(folder)
    )
    rows = told(folder, "waves", "--resident")["rows"]
    keys = ("se", "cu", "simd", "slot", "start", "end", "kernel")
    assert [tuple(row[key] for key in keys) for row in rows] == expected
    assert [row["wave"] for row in rows] == [traced.get(one[:6], "") for one in expected]
    assert sum(row["wave"] != "" for row in rows) == len(found.waves)
    engine = found.waves[0].se
    rows = told(folder, "waves", "--resident", "--without-se", str(engine))["rows"]
    assert len(rows) == sum(one[0] != engine for one in expected)
    time = found.waves[0].begin
    rows = told(folder, "waves", "--resident", f"--within={time}:{time + 1}")["rows"]
    assert len(rows) == sum(one[4] <= time < one[5] for one in expected)


def test_a_wave_and_its_instructions(folder: Path) -> None:
    found = plain(folder)
    for wave in found.waves:
        document = told(folder, "wave", wave.name, "--tokens", f"--clock={wave.end - 1}:{wave.end}")
        own = costs(wave.tokens)
        assert document["hits"] == own.pop("hits")
        assert {key: document[key] for key in own} == own
        assert document["states"] == states(wave, *ALL)
        assert document["range"] == [wave.begin, wave.end]
        assert document["counted"] == sum(one.begin < wave.end <= one.end for one in found.waves)
        for row, token in zip(document["instructions"], wave.tokens, strict=True):
            parts = (token.time, token.stall, token.duration - token.stall, token.gap, token.line)
            assert tuple(row[key] for key in ("start", "stall", "issue", "idle", "instruction")) == parts
            assert row["text"] == found.text(token.line)
            assert row["kind"] == kind_of(folder, token)
    wave = found.waves[0]
    part = (wave.begin + 1000, wave.begin + 1400)
    document = told(folder, "wave", wave.name, "--tokens", f"--within={part[0]}:{part[1]}")
    inside = [at for at, token in enumerate(wave.tokens) if token.time < part[1] and token.end > part[0]]
    assert [row["token"] for row in document["instructions"]] == inside
    assert document["states"] == states(wave, *part)


def kind_of(folder: Path, token: Token) -> str:
    """The kind of an instruction; matrix instructions are vector ones in the files."""
    is_matrix = plain(folder).text(token.line).startswith(("v_mfma", "v_smfma"))
    return "MATRIX" if is_matrix and KINDS[token.kind] == "VALU" else KINDS[token.kind]


def test_units_were_busy_while_something_issued(folder: Path) -> None:
    found = plain(folder)
    first = found.waves[0]
    begin = min(life[1] for life in found.lives)
    end = max(life[2] for life in found.lives)
    unit = [wave for wave in found.waves if (wave.se, wave.cu) == (first.se, first.cu)]
    for window in ((begin, end), (first.begin + 1000, first.begin + 2000)):
        busy: dict[str, list[tuple[int, int]]] = defaultdict(list)
        matrix: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for wave in unit:
            for token in wave.tokens:
                if kind_of(folder, token) == "MATRIX":
                    cycles = passes_of(found.text(token.line))
                    matrix[f"MATRIX{wave.simd}"].append((token.issue, cycles))
                kind = UNITS.get(KINDS[token.kind], "SCAL")
                issue = max(token.time, min(token.issue, token.end - BASE))
                if kind in SHARED:
                    issue = max(token.time, token.end - BASE)
                spans = busy[kind if kind in SHARED else f"{kind}{wave.simd}"]
                spans.append((max(issue, window[0]), max(min(token.end, window[1]), window[0])))
        for key, issued in matrix.items():
            spans = [(max(low, window[0]), min(high, window[1])) for low, high in worked(issued)]
            busy[key] = [span for span in spans if span[0] < span[1]]
        words = () if window == (begin, end) else (f"--within={window[0]}:{window[1]}",)
        document = told(folder, "units", "--of", first.name, *words)
        expected = {key: length([span for span in spans if span[0] < span[1]]) for key, spans in busy.items()}
        assert {row["unit"]: row["busy"] for row in document["rows"]} == expected
        whole = document["range"][1] - document["range"][0]
        assert document["waves"] == len(unit)
        assert all(
            row["share_of_range"] == pytest.approx(row["busy"] / whole, abs=1e-6) for row in document["rows"]
        )
        if words:
            assert document["range"] == list(window)


def test_a_place_is_one_execution_and_what_it_waited_for(folder: Path) -> None:
    found, by_line = plain(folder), plain(folder).by_line()
    wave = found.waves[0]
    ran: dict[int, list[int]] = defaultdict(list)
    for at, token in enumerate(wave.tokens):
        ran[token.line].append(at)
    named = dict(wave.waits)
    once = [line for line in named if len(ran[line]) == 1][:4]
    often = max(ran, key=lambda line: len(ran[line]))
    asked = [(line, 0) for line in once] + [(often, len(ran[often]) - 1)]
    words = [f"{wave.name}:line {line}#{hit}" for line, hit in asked]
    whole = sum(token.duration + token.gap for tokens in by_line.values() for token in tokens)
    places = told(folder, "place", *words)["places"]
    assert [place["argument"] for place in places] == words
    for (line, hit), place in zip(asked, places, strict=True):
        assert (place["instruction"], place["text"]) == (line, found.text(line))
        assert place["totals"] == {**costs(by_line[line]), "program_total": whole}
        token = wave.tokens[ran[line][hit]]
        assert (place["token"], place["hits_of_wave"]) == (ran[line][hit], len(ran[line]))
        assert (place["start"], place["stall"], place["idle"]) == (token.time, token.stall, token.gap)
        assert place["issue"] == token.duration - token.stall
        late = Counter({False: 0, True: 0})
        for one in place["causes"]:
            late[one["is_idle"]] += one["cycles"]
        assert (late[False], late[True]) == (token.stall, token.gap)
        if line in once:
            waited = {one["instruction"]: one["cycles_before"] for one in place["waited_for"]}
            assert set(waited) == set(named[line])
            for producer, cycles in waited.items():
                assert token.time - cycles in {wave.tokens[at].issue for at in ran[producer]}
    assert places[0]["wave"] == wave.name
    _, of_wave = told(folder, "place", ":line 3", wave.name)["places"]
    assert of_wave["instruction"] is None
    assert of_wave["wave_start"] == wave.begin
    assert of_wave["wave_end"] == wave.end


def source_texts(folder: Path) -> dict[str, list[str]]:
    """The lines of each source file that was copied, by its path."""
    place = folder / "snapshots.json"
    found: dict[str, list[str]] = {}

    def walk(below: dict[str, Any], path: str) -> None:
        for key, value in below.items():
            inner = f"{path}/{key}".replace("//", "/")
            if isinstance(value, dict):
                walk(value, inner)
            else:
                found[inner] = (folder / value).read_text().splitlines()

    if place.exists():
        walk(json.loads(place.read_text()), "")
    return found


@pytest.mark.parametrize("text", ["S_WAIT", "_load", "range(", "for (", "no such text"])
def test_search_finds_every_line(folder: Path, text: str) -> None:
    document = told(folder, "search", "--match", text)
    code = [at for at, row in enumerate(plain(folder).code) if text.lower() in str(row[0]).lower()]
    assert [row["instruction"] for row in document["rows"] if row["instruction"] is not None] == code
    of_files = {row["file"] for row in told(folder, "source", "--top", "0")["rows"]}
    lines = [
        (path, at)
        for path, lines in source_texts(folder).items()
        for at, line in enumerate(lines, 1)
        if text.lower() in line.lower() and path in of_files
    ]
    said = [(row["file"], row["source_line"]) for row in document["rows"] if row["file"]]
    assert sorted(row for row in said if row[0] in of_files) == sorted(lines)
    assert document["total_rows"] == len(document["rows"]) == len(code) + len(said)
    exact = told(folder, "search", "--match", text, "--case")["rows"]
    assert {row["instruction"] for row in exact} - {None} == {
        at for at in code if text in plain(folder).text(at)
    }


def test_sources_are_charged_what_their_instructions_cost(mapped: Path) -> None:
    found, by_line = plain(mapped), plain(mapped).by_line()
    rows_of: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    everything = unmapped = 0
    for at, row in enumerate(found.code):
        own = sum(token.duration + token.gap for token in by_line.get(at, []))
        everything += own
        path, _, line = innermost(row).rpartition(":")
        if path and not found.text(at).lstrip().startswith(LABEL):
            rows_of[path][int(line)].append(at)
        else:
            unmapped += own
    document = told(mapped, "source", "--no-causes", "--top", "0")
    assert (document["total"], document["unmapped"]) == (everything, unmapped)
    assert {row["file"] for row in document["rows"]} == set(rows_of)
    for row in document["rows"]:
        lines = rows_of[row["file"]]
        inside = [token for rows in lines.values() for at in rows for token in by_line.get(at, [])]
        assert picked(row) == costs(inside)
        assert row["source_lines"] == len(lines)
        assert row["instructions"] == sum(map(len, lines.values()))
        spent = sum(token.duration + token.gap for token in inside)
        assert row["share_of_total"] == pytest.approx(spent / everything, abs=1e-6)
    path = document["rows"][0]["file"]
    rows = told(mapped, "source", path, "--no-causes", "--top", "0")["rows"]
    assert {row["source_line"] for row in rows} == set(rows_of[path])
    for row in rows:
        places = rows_of[path][row["source_line"]]
        assert picked(row) == costs([token for at in places for token in by_line.get(at, [])])
    hottest = document["rows"][0]["hottest_source_line"]
    rows = told(mapped, "source", f"{path}:{hottest}", "--no-causes", "--top", "0")["rows"]
    assert {row["instruction"] for row in rows} == set(rows_of[path][hottest])
    assert all(picked(row) == costs(by_line.get(row["instruction"], [])) for row in rows)


@pytest.mark.parametrize(
    "words",
    [
        *("waves", "waves --resident", "waves --unit-of {wave} --without-se 99", "waves --within 0:1"),
        *("wave {wave}", "units", "search --match wait", "hotspot --bins 8", "hotspot --charge self"),
        *("isa --labels", "flame --content sandwich --around 3"),
    ],
)
def test_spreadsheets_have_the_rows_of_the_document(folder: Path, words: str) -> None:
    command, *more = words.format(wave=plain(folder).waves[0].name).split()
    document = told(folder, command, *more, *(["--tokens"] if command == "wave" else []))
    rows = next(document[key] for key in ("rows", "instructions", "frames") if key in document)
    done = run(command, str(folder), *more, "--csv")
    head, *table = csv.reader(io.StringIO(done.out))
    assert len(head) > 2
    assert len(table) == len(rows)
    for row, cells in zip(rows, table, strict=True):
        numbers = {key: value for key, value in row.items() if isinstance(value, int) and key in head}
        assert numbers
        for key, value in numbers.items():
            assert cells[head.index(key)] == str(value), key


def test_states_count_to_the_end_of_what_was_recorded(lasting: list[Path]) -> None:
    """A segment may outlast the life of its wave: its cycles count, as the file has them."""
    beyond = 0
    for folder in lasting:
        rows = {row["wave"]: row for row in told(folder, "waves")["rows"]}
        for path in folder.glob("se*_wv*.json"):
            se, simd, slot, wid = (part.lstrip("semlwv") for part in path.stem.split("_"))
            row = rows[f"se{se}/simd{simd}/slot{slot}/wv{wid}"]
            body = json.loads(path.read_text())["wave"]
            spent = {kind: sum(n for one, n in body["timeline"] if one == kind) for kind in STATES}
            assert spent == {kind: row[state] for kind, state in STATES.items()}
            beyond += sum(spent.values()) > body["end"] - body["begin"]
    assert beyond
