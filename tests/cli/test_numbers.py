"""The numbers that commands print, derived again with plain loops from the files of the capture.

Only the printed JSON is rcv's; everything it is compared with comes from `tests.support.plain_capture`.
"""

import json
import re
import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_runs import run
from tests.support.fixtures import fixture_of, fixture_of_each
from tests.support.opened import VARIED
from tests.support.plain_capture import LABEL, Plain, Token, plain
from tests.support.samples import sample_path, write_sample
from tests.support.simd_cycles import passes_of

NAMES = ("matmul_small", "reduction", "kernels", "gfx12")
SHORT = ("matmul_small", "straggler")
JUMP, NEXT = 7, 8
TRACED = 1  # the compute unit whose waves samples trace
ALL = ("--waves", "all")  # also those that left early, which some tables leave out


def told(folder: Path, command: str, *words: str) -> dict[str, Any]:
    """What a command prints about a capture, as a document."""
    done = run(command, str(folder), *words, "--json")
    assert (done.code, done.err) == (0, "")
    document: dict[str, Any] = json.loads(done.out)
    return document


def costs(tokens: list[Any]) -> dict[str, int]:
    """Sums over executions."""
    return {
        "hits": len(tokens),
        "latency": sum(token.duration for token in tokens),
        "stall": sum(token.stall for token in tokens),
        "idle": sum(token.gap for token in tokens),
    }


def picked(row: dict[str, Any]) -> dict[str, int]:
    """The same fields of a printed row."""
    return {name: row[name] for name in ("hits", "latency", "stall", "idle")}


def innermost(row: list[Any]) -> str:
    """The source place that is not inlined any further, of a row of the code; empty if it has none."""
    return str(row[3] or "").split(" -> ")[0]


# A capture; tests/real gives real ones to the same tests, and so for the fixtures below
folder = fixture_of_each(sample_path, NAMES)
short = fixture_of_each(sample_path, SHORT)  # A capture of which every cycle can be looked at, one by one
# Captures in which the waves of a workgroup have the same slots and numbers; the last has no barrier
meeting = fixture_of_each(sample_path, ["reduction", "straggler", "vector_add"])
varied = fixture_of_each(sample_path, VARIED)  # Captures of many kinds
bounded = fixture_of_each(sample_path, VARIED)  # Captures whose findings are bounds of waits


@pytest.fixture
def noted(tmp_path: Path) -> Path:
    """A capture with two faults: most code is of one source line, and other units took twice as long."""
    write_sample("matmul_small", tmp_path)
    code, occupancy = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("code", "occupancy"))
    for at, row in enumerate(code["code"]):
        row[3] = "/src/one.py:12" if at % 4 and row[3] else row[3]
    for rows in (occupancy["0"], occupancy["1"]):
        first = min(row[0] for row in rows)
        for row in rows:
            row[0] += 0 if row[1] == TRACED else row[0] - first
        rows.sort(key=lambda row: row[0])
    (tmp_path / "code.json").write_text(json.dumps(code))
    (tmp_path / "occupancy.json").write_text(json.dumps(occupancy))
    return tmp_path


# A capture before and after a change of its kernel
pair = fixture_of(lambda: (sample_path("tutorial_before"), sample_path("tutorial_after")))
sampled = fixture_of(sample_path, "pc_sampling")  # A capture of PC samples
counted = fixture_of(sample_path, "counters")  # A capture with streamed counters


@dataclass
class Library:
    """Captures below a folder."""

    root: Path
    captures: dict[str, Path]  # by the names that commands give them
    summed: list[Path]  # those that are read again here
    replicates: tuple[str, str]  # two names of the same kernel


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """Five captures, two of them of the same kernel; of one the duration is not known."""
    for name in ("matmul_small", "reduction", "kernels", "pc_sampling"):
        write_sample(name, tmp_path / name)
    write_sample("matmul_small", tmp_path / "again", seed=1)
    folders = {path.name: path for path in tmp_path.iterdir()}
    summed = [path for name, path in folders.items() if name != "pc_sampling"]
    return Library(tmp_path, folders, summed, ("matmul_small", "again"))


def test_hotspot_sums_executions_and_ranks_them(folder: Path) -> None:
    document, by_line = told(folder, "hotspot", "--top", "0"), plain(folder).by_line()
    expected = {line: costs(tokens) for line, tokens in by_line.items()}
    rows = {row["instruction"]: picked(row) for row in document["rows"] if row["hits"]}
    assert rows == expected
    latencies = [row["latency"] for row in document["rows"]]
    assert latencies == sorted(latencies, reverse=True)
    assert document["totals"] == costs([token for tokens in by_line.values() for token in tokens])
    whole = document["totals"]["latency"]
    assert all(
        row["share_of_total"] == pytest.approx(row["latency"] / whole, abs=1e-6) for row in document["rows"]
    )


def test_hotspot_by_source_kind_and_class_loses_nothing(folder: Path) -> None:
    found, by_line = plain(folder), plain(folder).by_line()
    places: dict[str, list[Any]] = defaultdict(list)
    for line, tokens in by_line.items():
        places[innermost(found.code[line])] += tokens
    rows = told(folder, "hotspot", "--by", "source", "--top", "0")["rows"]
    named = {row["name"]: picked(row) for row in rows if row["hits"] and ":" in row["name"]}
    assert named == {place: costs(tokens) for place, tokens in places.items() if place}
    whole = costs([token for tokens in by_line.values() for token in tokens])
    for by in ("source", "kind", "class"):
        rows = told(folder, "hotspot", "--by", by, "--top", "0")["rows"]
        assert {key: sum(row[key] for row in rows) for key in whole} == whole


def test_isa_lines_blocks_and_branches(folder: Path) -> None:
    found, by_line = plain(folder), plain(folder).by_line()
    lines = told(folder, "isa")["rows"]
    assert [row["text"] for row in lines] == [row[0] for row in found.code]
    assert all(picked(row) == costs(by_line.get(row["instruction"], [])) for row in lines)
    blocks = told(folder, "isa", "--blocks")["rows"]
    covered = [
        line for block in blocks for line in range(block["first_instruction"], block["last_instruction"] + 1)
    ]
    assert sorted(set(covered)) == covered
    assert {line for line, tokens in by_line.items() if tokens} <= set(covered)
    for block in blocks:
        rows = range(block["first_instruction"], block["last_instruction"] + 1)
        inside = [token for line in rows for token in by_line.get(line, [])]
        head = next((line for line in rows if not found.text(line).startswith(LABEL)), None)
        assert picked(block) == {**costs(inside), "hits": len(by_line.get(head, []))}
    entered = {
        after.line
        for wave in found.waves
        for token, after in zip(wave.tokens, wave.tokens[1:], strict=False)
        if token.kind == JUMP
    }
    assert entered <= {block["first_instruction"] for block in blocks}
    taken, passed = Counter(), Counter()
    for line, tokens in by_line.items():
        taken[line] += sum(token.kind == JUMP for token in tokens)
        passed[line] += sum(token.kind == NEXT for token in tokens)
    for row in told(folder, "isa", "--branches")["rows"]:
        assert row["taken"] == taken.pop(row["instruction"], 0)
        assert row["not_taken"] == passed.pop(row["instruction"], 0)
    assert not +taken
    assert not +passed


BASES = {  # what a command says that its shares are parts of → the columns that add up to it
    "latency": ("latency",),
    "stall": ("stall",),
    "idle": ("idle",),
    "hits": ("hits",),
    "latency and idle": ("latency", "idle"),
}


@pytest.mark.parametrize(
    ("words", "base"),
    [
        (("hotspot", "--top", "0"), "latency"),
        (("hotspot", "--top", "0", "--sort", "stall"), "stall"),
        (("hotspot", "--top", "0", "--sort", "hits"), "hits"),
        (("isa",), "latency and idle"),
        (("isa", "--no-idle"), "latency"),
        (("isa", "--by", "block"), "latency and idle"),
        (("isa", "--by", "label"), "latency"),
        (("causes", "--top", "0"), "stall"),
    ],
)
def test_shares_are_parts_of_what_the_document_says(folder: Path, words: tuple[str, ...], base: str) -> None:
    document = told(folder, *words)
    assert document["share_base"] == base
    columns = BASES[base]
    rows = document["rows"]
    whole = sum(row[name] for row in rows for name in columns)
    for row in rows:
        (share,) = (
            row[name] for name in ("share_of_total", "share_of_stall", "share_of_labels") if name in row
        )
        part = sum(row[name] for name in columns)
        assert share == pytest.approx(part / max(1, whole), abs=1e-6)


def test_line_tells_the_hits_of_the_costliest_instruction(folder: Path) -> None:
    by_line = plain(folder).by_line()
    line = max(by_line, key=lambda line: sum(token.duration for token in by_line[line]))
    values = sorted(token.duration for token in by_line[line])
    document = told(folder, "line", str(line), "--top", "5")
    spread = document["measures"]["latency"]
    assert (spread["hits"], spread["min"], spread["max"]) == (len(values), values[0], values[-1])
    assert spread["total"] == sum(values)
    assert spread["mean"] == pytest.approx(statistics.fmean(values))
    assert statistics.median_low(values) <= spread["median"] <= statistics.median_high(values)
    assert [row["latency"] for row in document["slowest"]] == values[::-1][:5]
    bins = document["bins"]
    expected = [
        sum(low <= value < high for value in values)
        for low, high in zip(bins["edges"], bins["edges"][1:], strict=False)
    ]
    assert bins["hits"] == expected
    places = {(wave.name, token.time) for wave in plain(folder).waves for token in wave.tokens}
    assert all((row["wave"], row["start"]) in places for row in document["slowest"])


def test_waits_charge_stall_to_what_the_files_name(folder: Path) -> None:
    found, by_line = plain(folder), plain(folder).by_line()
    required: dict[int, set[int]] = defaultdict(set)
    for wave in found.waves:
        for line, places in wave.waits:
            required[line] |= set(places)
    document = told(folder, "waits", "--top", "0", *ALL)
    assert {wait["instruction"] for wait in document["waits"] if wait["producers"]} == set(required)
    for wait in document["waits"]:
        assert wait["stall"] == sum(token.stall for token in by_line[wait["instruction"]])
        assert wait["hits"] == len(by_line[wait["instruction"]])
        assert {one["instruction"] for one in wait["producers"]} == required[wait["instruction"]]
        assert sum(one["stall"] for one in wait["producers"]) <= wait["stall"]
    assert document["totals"]["stall"] == sum(wait["stall"] for wait in document["waits"])


def test_waits_charge_what_causes_charge_and_the_turn_of_the_wait_itself(varied: Path) -> None:
    waits = told(varied, "waits", "--top", "0", *ALL)["waits"]
    late = told(varied, "causes", "--by", "instruction", "--top", "0", *ALL)["rows"]
    parts = {row["instruction"]: row["parts"] for row in late}
    assert waits
    for wait in waits:
        said = Counter({one["instruction"]: one["stall"] for one in wait["producers"]})
        charged, own = Counter[int](), 0
        for part in parts.get(wait["instruction"], ()):
            if part["producer"] is None:
                own += part["stall"] if part["cause"] == "own" else 0
            else:
                charged[part["producer"]] += part["stall"]
        assert all(said[line] >= stall for line, stall in charged.items())
        assert (said - charged).total() <= own


def test_causes_share_out_every_cycle_once(folder: Path) -> None:
    by_line = plain(folder).by_line()
    stall = sum(token.stall for tokens in by_line.values() for token in tokens)
    for by in ("cause", "instruction", "producer"):
        document = told(folder, "causes", "--by", by, "--top", "0", *ALL)
        assert document["totals"]["stall"] == stall == sum(row["stall"] for row in document["rows"])
        assert document["totals"]["idle"] == sum(row["idle"] for row in document["rows"])
        for row in document["rows"]:
            for key in ("stall", "idle"):
                assert row[key] == sum(part[key] for part in row["parts"])
        if by == "instruction":
            said = {row["instruction"]: row["stall"] for row in document["rows"] if row["stall"]}
            own = {line: sum(token.stall for token in tokens) for line, tokens in by_line.items()}
            assert said == {line: cycles for line, cycles in own.items() if cycles}
    unexplained = sum(
        row["stall"]
        for row in told(folder, "causes", "--top", "0", *ALL)["rows"]
        if row["cause"] == "unexplained"
    )
    assert document["totals"]["explained_share_of_stall"] == pytest.approx(1 - unexplained / stall, abs=1e-6)


def test_loops_count_jumps_back_and_the_time_between(folder: Path) -> None:
    taken: Counter[tuple[int, int]] = Counter()
    between: dict[tuple[int, int], list[int]] = defaultdict(list)
    for wave in plain(folder).waves:
        last: dict[tuple[int, int], int] = {}
        for token, after in zip(wave.tokens, wave.tokens[1:], strict=False):
            if token.kind == JUMP and after.line <= token.line:
                key = (token.line, after.line)
                taken[key] += 1
                if key in last:
                    between[key].append(after.time - last[key])
                last[key] = after.time
    rows = told(folder, "loops", "--top", "0")["rows"]
    assert {(row["branch"], row["head"]): row["taken"] for row in rows} == dict(taken)
    for row in rows:
        values = sorted(between[row["branch"], row["head"]])
        assert row["iterations"] == len(values)
        if values:
            assert (row["min"], row["max"]) == (values[0], values[-1])
            assert row["median"] == pytest.approx(statistics.median(values), rel=0.02)


def test_barriers_measure_arrivals(meeting: Path) -> None:
    found = plain(meeting)
    meetings: dict[tuple[int, int, int, int], list[Token]] = defaultdict(list)
    for wave in found.waves:
        arrived = [token for token in wave.tokens if found.text(token.line) == "s_barrier"]
        for instance, token in enumerate(arrived):
            meetings[wave.se, wave.slot, wave.number, instance].append(token)
    whole = [tokens for tokens in meetings.values() if len(tokens) > 1]
    skews = [spread([token.time for token in tokens]) for tokens in whole]
    releases = [spread([token.end for token in tokens]) for tokens in whole]
    said = told(meeting, "loops", "--by", "barriers", "--top", "0")
    assert sorted(row["skew"] for row in said["rows"]) == sorted(skews)
    assert said["barriers"]["instances"] == len(skews)
    assert said["barriers"]["max_skew"] == (max(skews) if skews else None)
    assert said["barriers"]["median_skew"] == (statistics.median(skews) if skews else None)
    assert said["barriers"]["max_release_spread"] == (max(releases) if releases else None)


def spread(times: list[int]) -> int:
    """Cycles from the first to the last."""
    return max(times) - min(times)


def test_occupancy_counts_the_waves_of_the_device(folder: Path) -> None:
    groups: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for se, begin, end in plain(folder).lives:
        for key in ("all", f"SE{se}"):
            groups[key].append((begin, end))
    rows = {row["se"].replace(" ", ""): row for row in told(folder, "occupancy")["rows"]}
    assert set(rows) == set(groups)
    for key, lives in groups.items():
        row = rows[key]
        changes: Counter[int] = Counter()
        for begin, end in lives:
            changes[begin] += 1
            changes[end] -= 1
        now = peak = 0
        levels = []
        for time in sorted(changes):
            now += changes[time]
            levels.append((time, now))
            peak = max(peak, now)
        first, last = levels[0][0], levels[-1][0]
        assert (row["start"], row["end"], row["peak"]) == (first, last, peak)
        assert row["area"] == sum(end - begin for begin, end in lives)
        assert row["mean"] == pytest.approx(row["area"] / (last - first))
        above = max(i for i, (_, level) in enumerate(levels) if 2 * level > peak)
        assert row["tail_share_of_time"] == pytest.approx((last - levels[above + 1][0]) / (last - first))


def test_summary_adds_states_and_lives(folder: Path) -> None:
    found, document = plain(folder), told(folder, "summary", *ALL)
    states: Counter[int] = Counter()
    for wave in found.waves:
        for state, cycles in wave.timeline:
            states[state] += cycles
    names = {1: "IDLE", 2: "EXEC", 3: "WAIT", 4: "STALL"}
    assert document["states"] == {text: states[state] for state, text in names.items()}
    every_token = [token for wave in found.waves for token in wave.tokens]
    whole = costs(every_token)
    assert document["activity"] == {
        "issue": whole["latency"] - whole["stall"],
        "stall": whole["stall"],
        "idle": whole["idle"],
    }
    assert document["waves"] == {"traced": len(found.waves), "read": len(found.waves)}
    assert sum(unit["waves"] for unit in document["units"]) == len(found.lives)
    assert sum(unit["cycles"] for unit in document["units"]) == sum(e - b for _, b, e in found.lives)
    simds = found.simds()
    assert len(document["simds"]) == len(simds)
    for row, key in zip(document["simds"], sorted(simds), strict=True):
        assert row["simd_cycles"] == length([(wave.begin, wave.end) for wave in simds[key]])
        busy = [(token.issue, token.end) for wave in simds[key] for token in wave.tokens]
        assert row["busy"] == length(busy)


def length(spans: list[tuple[int, int]]) -> int:
    """Cycles that are in any span."""
    total, reached = 0, -(1 << 62)
    for begin, end in sorted(spans):
        total += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def passing(found: Plain, waves: list[Any]) -> set[int]:
    """Every fourth cycle in which a SIMD's matrix unit works: each instruction behind the one before."""
    issued = [(token.issue, found.text(token.line)) for wave in waves for token in wave.tokens]
    free, cycles = 0, set()
    for issue, text in sorted(one for one in issued if one[1].startswith("v_mfma")):
        begin = max(free, issue)
        free = begin + passes_of(text)
        cycles |= set(range(begin, free, 4))
    return cycles


def issuing_in(found: Plain, waves: list[Any], rule: str) -> set[int]:
    """Every fourth cycle in which a wave issues.

    What is spent under s_endpgm beyond one issue turn is no issue: the wave waits for its last operations.
    The reference does not know that.
    """
    cycles: set[int] = set()
    for token in (token for wave in waves for token in wave.tokens):
        is_end = found.text(token.line) == "s_endpgm" and not rule
        cycles |= set(range(token.issue, token.issue + 4 if is_end else token.end, 4))
    return cycles


def waiting_in(waves: list[Any]) -> dict[int, list[int]]:
    """Of every fourth cycle in which waves live, the lines that they are at."""
    place: dict[int, list[int]] = defaultdict(list)
    for wave in waves:
        lines: dict[int, int] = {}
        before = wave.begin
        for token in wave.tokens:
            lines.update(dict.fromkeys(range(before, token.end, 4), token.line))
            before = max(before, token.end)
        for time in range(wave.begin, wave.end, 4):
            place[time].append(lines.get(time, wave.tokens[-1].line))
    return place


@pytest.mark.parametrize("rule", ["", "reference"])
def test_bubbles_charge_cycles_in_which_nothing_happens_one_by_one(short: Path, rule: str) -> None:
    """Times are multiples of 4 cycles here, so a step of 4 looks at every cycle.

    A matrix instruction works for its passes, after those in front of it on its SIMD; the reference does not
    count that.
    """
    found = plain(short)
    charged: dict[int, float] = defaultdict(float)
    resident = issuing = matrix = 0
    for waves in found.simds().values():
        times = [t for wave in waves for token in wave.tokens for t in (token.time, token.issue, token.end)]
        assert not [time for time in times if (time - times[0]) % 4]
        busy, place = issuing_in(found, waves, rule), waiting_in(waves)
        computing = set() if rule else passing(found, waves)
        resident += 4 * len(place)
        issuing += 4 * len(busy)
        matrix += 4 * len(computing & place.keys())
        works = busy | computing
        for time, lines in place.items():
            if time not in works:
                for line in lines:
                    charged[line] += 4 / len(lines)
    document = told(short, "bubbles", "--top", "0", *(["--rule", rule] if rule else []))
    totals = document["totals"]
    assert (totals["simd_cycles"], totals["issuing"], totals["mfma"]) == (resident, issuing, matrix)
    assert totals["bubbles"] == pytest.approx(sum(charged.values()))
    assert rule or told(short, "latency")["totals"]["mfma_busy"] == matrix
    assert {row["instruction"]: row["bubbles"] for row in document["rows"]} == pytest.approx(
        charged, abs=0.01
    )


def test_flame_loses_nothing_and_nests(folder: Path) -> None:
    by_line = plain(folder).by_line()
    document = told(folder, "flame")
    frames = document["frames"]
    whole = sum(token.duration + token.gap for tokens in by_line.values() for token in tokens)
    assert document["total"] == whole == sum(frame["self"] for frame in frames)
    assert whole == sum(frame["total"] for frame in frames if frame["parent"] is None)
    own: Counter[int] = Counter()
    inside: Counter[int] = Counter()
    for frame in frames:
        if frame["instruction"] is not None:
            own[frame["instruction"]] += frame["self"]
        if frame["parent"] is not None:
            around = frames[frame["parent"]]
            inside[frame["parent"]] += frame["total"]
            assert around["start"] <= frame["start"]
            assert frame["start"] + frame["total"] <= around["start"] + around["total"]
            assert frame["depth"] == around["depth"] + 1
    assert all(frames[at]["total"] == cycles + frames[at]["self"] for at, cycles in inside.items())
    if own:
        expected = {line: sum(t.duration + t.gap for t in tokens) for line, tokens in by_line.items()}
        assert own == Counter({line: cycles for line, cycles in expected.items() if cycles})


def test_latency_splits_what_was_spent(folder: Path) -> None:
    found = plain(folder)
    document = told(folder, "latency", "--top", "0", *ALL)
    spent = {
        line: sum(t.duration + t.gap for t in tokens)
        for line, tokens in found.by_line().items()
        if not found.text(line).lstrip().startswith(LABEL)
    }
    assert {row["instruction"]: row["total"] for row in document["rows"]} == spent
    parts = ("hidden_idle", "hidden_stall", "hidden_issue")
    for row in document["rows"]:
        assert row["hidden"] + row["not_hidden"] == row["total"]
        assert row["hidden"] == sum(row[part] for part in parts)
    assert document["totals"]["total"] == sum(spent.values())


def test_triage_claims_no_more_than_there_is_and_shows_where(varied: Path) -> None:
    found, document = (
        plain(varied),
        told(varied, "triage", *["--top", "0", "--all", "--waves", "all", "--no-predict"]),
    )
    waves = {wave.name: wave for wave in found.waves}
    totals = document["totals"]
    assert totals["simd_cycles"] == sum(
        length([(wave.begin, wave.end) for wave in waves]) for waves in found.simds().values()
    )
    ranked = [one for one in document["findings"] if one["rank"] == "ranked"]
    assert ranked
    assert ranked == sorted(ranked, key=lambda one: (one["is_small"], -one["gain"]))
    for one in document["findings"]:
        if one["is_upper_bound"] and one["unit"].startswith("cycles in which a SIMD"):
            assert one["cycles"] <= totals["simd_cycles"]
            assert one["share_of_unit"] == pytest.approx(one["cycles"] / totals["simd_cycles"], abs=1e-6)
        for place in one["evidence"]:
            if "instruction" in place:
                assert 0 <= place["instruction"] < len(found.code)
            if place["kind"] == "token":
                token = waves[place["wave"]].tokens[place["token"]]
                assert token.line == place["instruction"]
                assert (token.time, token.end) == (place["start"], place["end"])


def test_triage_says_the_distances_and_latencies_that_tables_list(varied: Path) -> None:
    document = told(varied, "triage", "--top", "0", "--all", *ALL, "--no-predict")
    said = [
        re.match(
            r"Instruction (\d+) is issued ([\d,]+) cycles? before .*? and takes ([\d,]+)", one["sentence"]
        )
        for one in document["findings"]
    ]
    said = [[int(text.replace(",", "")) for text in match.groups()] for match in said if match]
    rows = told(varied, "loops", "--by", "distance", "--top", "0", *ALL)["rows"]
    listed = {row["instruction"]: row for row in rows}
    known = told(varied, "waits", "--latency", "--top", "0", *ALL)
    taken = {row["instruction"]: row["median"] for row in known["latency"]}
    for line, issued, latency in said:
        assert issued == round(listed[line]["median"])
        assert latency == round(listed[line]["latency"]) == round(taken[line])


def test_bounds_of_waits_are_below_what_there_is(bounded: Path) -> None:
    document = told(bounded, "triage", "--top", "0", "--all")
    silent = document["totals"]["no_issue"]
    for one in document["findings"]:
        is_of_waits = one["unit"] == "cycles in which a SIMD held a traced wave"
        if one["is_upper_bound"] and is_of_waits and one["name"] != "matrix-ceiling":
            assert one["cycles"] <= silent, one["name"]


def test_the_duration_of_several_kernels_names_that_of_the_traced_one(varied: Path) -> None:
    (row,) = told(varied, "index")["captures"]
    whole = {fact["id"]: fact["value"] for fact in told(varied, "summary", *ALL)["facts"]}["duration"]
    said = run("triage", str(varied), "--no-predict").out
    line = next(line for line in said.splitlines() if line.startswith("  Duration"))
    assert f"{whole:,} cycles" in line
    assert (f"alone {row['duration']:,} cycles" in line) == (row["duration"] != whole)


def test_index_adds_up_every_capture(library: Library) -> None:
    done = run("index", str(library.root), "--jobs", "0", "--json")
    rows = {row["capture"]: row for row in json.loads(done.out)["captures"]}
    assert rows.keys() == library.captures.keys()
    durations = [row["duration"] for row in rows.values()]
    known = [one for one in durations if one is not None]
    assert durations == [*sorted(known, reverse=True), *[None] * (len(durations) - len(known))]
    assert 1 < len(known) < len(durations)
    for folder in library.summed:
        found = plain(folder)
        row, spent = rows[folder.name], found.by_line()
        whole = costs([token for tokens in spent.values() for token in tokens])
        assert row["hits"] == whole["hits"]
        assert row["latency"] == whole["latency"]
        assert row["stall"] == whole["stall"]
        stalls = {line: sum(token.stall for token in tokens) for line, tokens in spent.items()}
        assert stalls[row["top_instruction"]] == max(stalls.values())
        assert row["top_share_of_stall"] == pytest.approx(max(stalls.values()) / whole["stall"], abs=1e-6)
        assert row["waves"] == len(found.waves)
    a, b = library.replicates
    assert (rows[a]["replicate"], rows[b]["replicate"]) in {(b, ""), ("", a), (b, a)}


def test_compare_puts_cycles_against_waves(pair: tuple[Path, Path]) -> None:
    a, b = map(plain, pair)
    document = json.loads(run("compare", *map(str, pair), "--top", "0", "--json").out)
    tokens = [[token for wave in one.waves for token in wave.tokens] for one in (a, b)]
    # What waves drain under s_endpgm is left out, since the slot may be free before.
    ends = ({at for at, row in enumerate(one.code) if str(row[0]).startswith("s_endpgm")} for one in (a, b))
    spent = [
        sum(token.duration + token.gap for token in some if token.line not in end)
        for some, end in zip(tokens, ends, strict=True)
    ]
    waves = [len(one.waves) for one in (a, b)]
    kernel = document["kernel"]
    assert kernel["waves"] == waves
    assert kernel["hits_per_wave"] == pytest.approx([len(t) / n for t, n in zip(tokens, waves, strict=True)])
    assert kernel["cycles_per_wave"] == pytest.approx([c / n for c, n in zip(spent, waves, strict=True)])
    assert kernel["cycles_per_hit"] == pytest.approx([c / len(t) for c, t in zip(spent, tokens, strict=True)])
    by_a, by_b = a.by_line(), b.by_line()
    for row in document["rows"]:
        assert row["hits_a"] == len(by_a.get(row["instruction_a"], []))
        assert row["hits_b"] == len(by_b.get(row["instruction_b"], []))
        own = sum(token.duration + token.gap for token in by_a.get(row["instruction_a"], []))
        assert row["cycles_a"] == pytest.approx(own / waves[0], abs=0.001)


def test_check_counts_what_it_shows(noted: Path) -> None:
    found = plain(noted)
    notes = {note["name"]: note for note in told(noted, "check")["notes"]}
    executed = {line for line, tokens in found.by_line().items() if tokens}
    said = {one["name"]: one["value"] for one in notes["mapping"]["evidence"]}
    rows = [row for row in found.code if not str(row[0]).lstrip().startswith(LABEL)]
    assert said["source lines"] == len({innermost(row) for row in rows} - {""})
    places = Counter(innermost(found.code[line]) for line in executed)
    del places[""]
    assert said["instructions on it"] == pytest.approx(max(places.values()) / sum(places.values()))
    said = {one["name"]: one["value"] for one in notes["representative"]["evidence"]}
    own = [wave.end - wave.begin for wave in found.waves]
    lives = [end - begin for _, begin, end in found.lives]
    assert said["traced"] == len(own)
    assert said["their mean life"] == pytest.approx(statistics.fmean(own))
    others = (sum(lives) - sum(own)) / (len(lives) - len(own))
    assert said["mean of the others"] == pytest.approx(others)


def test_pc_samples_are_added_up(sampled: Path) -> None:
    rows = json.loads((sampled / "code.json").read_text())["code"]
    issued, stalled = sum(row[10] for row in rows), sum(row[11] for row in rows)
    document = told(sampled, "hotspot")
    assert document["measure"] == "PC samples"
    assert (document["totals"]["latency"], document["totals"]["stall"]) == (issued + stalled, stalled)
    assert f"{issued + stalled:,}" in run("info", str(sampled)).out
    assert issued
    reasons = told(sampled, "summary")["stall_reasons"]
    by_reason = sorted(sum(row[12][at] for row in rows) for at in range(10))
    assert sorted(value for name, value in reasons.items() if name != "issued") == [n for n in by_reason if n]
    assert reasons["issued"] == issued
    line = max(range(len(rows)), key=lambda at: rows[at][11])
    samples = told(sampled, "line", str(line))["samples"]
    assert (samples["issued"], samples["stalled"]) == tuple(rows[line][10:12])
    assert sum(samples["reasons"].values()) == rows[line][11]


def test_counters_are_added_up(counted: Path) -> None:
    names = json.loads((counted / "filenames.json").read_text())["counter_names"]
    sums: Counter[int] = Counter()
    for path in counted.glob("se*_perfcounter.json"):
        for _, *values, _cu, bank in json.loads(path.read_text())["data"]:
            for at, value in enumerate(values):
                sums[4 * bank + at] += value
    rows = json.loads(run("counters", str(counted), "--raw", "--json").out)["counters"]
    said = {row["name"]: row["total"] for row in rows}
    assert any(total is not None for total in said.values())
    for at, name in enumerate(names):
        total = said[name.removeprefix("SQ_")]
        assert total is None or total == sums[at], name
