"""What speedscope would read: the rules of its published format, and sums against the columns."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from rcv_py.export.traces.speedscope import write_speedscope
from rcv_py.formats.open import open_trace
from tests.support.fixtures import fixture_of_each
from tests.support.samples import sample_path, write_sample

UNITS = {"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}


def document(path: Path, rows: list[int]) -> tuple[Any, Any, dict[str, Any]]:
    trace = open_trace(path)
    batch = trace.reader.read(rows)
    target = io.BytesIO()
    count = write_speedscope(trace, batch.waves, target)
    found = json.loads(target.getvalue())
    assert count == len(found["profiles"])
    check(found)
    return trace, batch, found


def check(file: dict[str, Any]) -> None:
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert set(file) == {"$schema", "exporter", "name", "activeProfileIndex", "shared", "profiles"}
    assert 0 <= file["activeProfileIndex"] < len(file["profiles"])
    frames = file["shared"]["frames"]
    for frame in frames:
        assert set(frame) <= {"name", "file", "line", "col"}
        assert isinstance(frame["name"], str)
        assert isinstance(frame.get("line", 0), int)
    for profile in file["profiles"]:
        assert profile["unit"] in UNITS
        assert profile["startValue"] <= profile["endValue"]
        (check_sampled if profile["type"] == "sampled" else check_evented)(profile, len(frames))


def check_sampled(profile: dict[str, Any], frames: int) -> None:
    assert set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
    assert len(profile["samples"]) == len(profile["weights"])
    assert all(0 <= frame < frames for stack in profile["samples"] for frame in stack)
    assert sum(profile["weights"]) == profile["endValue"]


def check_evented(profile: dict[str, Any], frames: int) -> None:
    assert profile["type"] == "evented"
    assert set(profile) == {"type", "name", "unit", "startValue", "endValue", "events"}
    stack: list[int] = []
    last = profile["startValue"]
    for event in profile["events"]:
        assert set(event) == {"type", "frame", "at"}
        assert last <= event["at"] <= profile["endValue"]
        assert 0 <= event["frame"] < frames
        last = event["at"]
        if event["type"] == "O":
            stack.append(event["frame"])
        else:
            assert event["type"] == "C"
            assert stack.pop() == event["frame"]
    assert not stack


def self_times(profile: dict[str, Any], frames: list[dict[str, Any]]) -> dict[str, int]:
    """Time in which a frame was open, by name."""
    found: dict[str, int] = {}
    opened: list[int] = []
    for event in profile["events"]:
        if event["type"] == "O":
            opened.append(event["at"])
        else:
            name = frames[event["frame"]]["name"]
            found[name] = found.get(name, 0) + event["at"] - opened.pop()
    return found


folder = fixture_of_each(sample_path, ["matmul_small", "vector_add", "kernels", "gfx12"])


def test_profiles_add_up(folder: Path) -> None:
    trace, batch, found = document(folder, [0, 1])
    code = trace.code
    totals = {
        "latency and idle": int((code.latency + code.idle)[~code.is_label].sum()),
        "stall": int(code.stall.sum()),
        "executions": int(code.hits.sum()),
    }
    for profile in found["profiles"][:-2]:
        assert profile["endValue"] == totals[profile["name"].split(" by ")[0]]
    frames = found["shared"]["frames"]
    for wave, profile in zip(batch.waves, found["profiles"][-2:], strict=True):
        assert profile["name"].startswith(str(wave.id))
        assert profile["endValue"] >= wave.end - wave.begin
        times, tokens = self_times(profile, frames), wave.tokens
        end = np.minimum(tokens.end, np.append(tokens.start[1:], tokens.end[-1:]))
        for line in np.unique(tokens.line)[:20].tolist():
            own = tokens.line == line
            assert times[f"{code.text[line]}  [#{line}]"] == int((end - tokens.start)[own].sum())


def test_source_frames_hold_their_instructions() -> None:
    trace, _, found = document(sample_path("matmul_tiled"), [])
    frames = found["shared"]["frames"]
    by_source = found["profiles"][0]
    for stack in by_source["samples"][:300]:
        leaf, place = frames[stack[-1]], frames[stack[-2]]
        assert "[#" in leaf["name"]
        line = int(leaf["name"].rsplit("[#", 1)[1][:-1])
        chain = trace.code.chain(line)
        if len(chain):
            assert (place["file"], place["line"]) == (trace.sources[chain[0][0]].path, chain[0][1])


def test_samples_of_a_profiler_are_profiles_too() -> None:
    _, _, found = document(sample_path("pc_sampling"), [])
    assert all("PC samples" in profile["name"] for profile in found["profiles"])


def test_every_sample_can_be_written(tmp_path: Path) -> None:
    for name in ("gfx11", "events", "placeholder"):
        write_sample(name, tmp_path / name, 0)
        trace = open_trace(tmp_path / name)
        document(tmp_path / name, list(range(min(2, len(trace.waves)))))
