"""`rcv info`: what a capture holds and how far to trust it, or which captures a folder holds."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rcv_py.analysis.events.marker_spans import marker_spans
from rcv_py.analysis.health.check import check_waves
from rcv_py.base.csv_text import csv_text
from rcv_py.base.errors import UsageError
from rcv_py.base.problems import Problem
from rcv_py.base.text import DASH, byte_size, count, nanoseconds, percent, plural, short_kernel
from rcv_py.cli.about import about
from rcv_py.cli.opening import batches, captures
from rcv_py.cli.options.capture_options import InfoOptions
from rcv_py.cli.report import bold, json_text, plain, print_facts
from rcv_py.cli.results import print_csv, print_shown
from rcv_py.formats.open import capture_entry, open_trace
from rcv_py.model.trace import INFERRED, CaptureEntry, Trace
from rcv_py.results.info import capture_table, info
from rcv_py.state.wave_store import WaveStore


def run(arguments: InfoOptions) -> int:
    """Print facts about one capture, or a table of all captures below the folder."""
    path: Path = arguments.folder
    below = captures(path)
    if below is not None:
        if len(below) == 1:
            return _one(below[0], arguments)
        asked = [name for name in ("check", "read") if getattr(arguments, name)]
        if asked:
            raise UsageError(
                f"--{asked[0]} is about one capture, and there are {len(below):,}.",
                hint="Name one of them.",
            )
        entries = [capture_entry(capture) for capture in below]
        table = capture_table(entries, [_below(path, entry) for entry in entries])
        if arguments.json:
            print(json_text("rcv.captures/1", {"captures": table.rows()}, _about(arguments, entries)))
        elif arguments.csv:
            print_csv(table)
        else:
            print_shown(table)
        return 0
    return _one(path, arguments)


def _one(path: Path, arguments: InfoOptions) -> int:
    trace = open_trace(path, cache=arguments.cache)
    if arguments.check:
        trace = replace(trace, problems=(*trace.problems, *check_waves(trace, batches(trace))))
    if arguments.read:
        trace = replace(trace, problems=(*trace.problems, *_of_waves(trace)))
    facts = info(trace)
    if arguments.json:
        print(json_text("rcv.info/1", facts, about(arguments, trace)))
        return 0
    if arguments.csv:
        sys.stdout.write(csv_text(("name", "value"), _flat(facts)))
        return 0
    print(bold(plain(facts["name"]), sys.stdout))
    print_facts(_facts(facts))
    _print_problems(facts["problems"], checked=arguments.check)
    return 0


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every number and text with its place, such as `waves.count` or `kernels.0`."""
    below = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    )
    if below is None:
        yield name, value
        return
    for key, item in below:
        yield from _flat(item, f"{name}.{key}" if name else str(key))


def _of_waves(trace: Trace) -> tuple[Problem, ...]:
    """What is wrong with waves as they are read, and with markers: what the panel Problems shows."""
    store = WaveStore(trace)
    for batch in batches(trace):
        store.add(batch)
    spans = marker_spans(trace, store.batches).problems if trace.shader_data else ()
    return (*store.problems, *spans)


# -- several captures -------------------------------------------------------------------------------


def _about(arguments: InfoOptions, entries: Sequence[CaptureEntry]) -> dict[str, Any]:
    said = [f"{entry.name}: {entry.note}" for entry in entries if entry.note]
    return about(arguments, names=[entry.name for entry in entries], problems=said)


def _below(root: Path, entry: CaptureEntry) -> str:
    try:
        return str(entry.path.resolve().relative_to(root.resolve()))
    except ValueError:
        return entry.name


# -- one capture ------------------------------------------------------------------------------------


def _facts(facts: dict[str, Any]) -> list[tuple[str, str]]:
    rows = [
        ("kernel", short_kernel(facts["kernel"]) if facts["kernel"] else ""),
        ("recorded", _recorded(facts)),
        ("waves", _waves(facts["waves"])),
        ("occupancy", _occupancy(facts["occupancy"])),
        ("code", _code(facts)),
        ("time", _time(facts["clock"]) if _has_times(facts) else ""),
        ("cycles", _cycles(facts["code"])),
        ("samples", _samples(facts["code"])),
        ("source", _source(facts["source"])),
        ("extras", _extras(facts["extras"])),
    ]
    return [(name, value) for name, value in rows if value]


def _recorded(facts: dict[str, Any]) -> str:
    form = facts["format"]
    kinds = [("thread trace", form["thread_trace"]), ("PC samples", form["pc_samples"])]
    what = " and ".join(name for name, is_there in kinds if is_there)
    version = f"format {form['version']}" if form["version"] else ""
    target = f"{form['target']} ({INFERRED})" if form["target_from"] == INFERRED else form["target"]
    return ", ".join(filter(None, (target, what, version)))


def _waves(waves: dict[str, Any]) -> str:
    if not waves["count"]:
        return "none traced"
    engines = ", ".join(f"SE{se}: {count(n)}" for se, n in waves["by_shader_engine"].items())
    life = f"{count(waves['shortest'])} to {count(waves['longest'])} cycles long"
    return f"{count(waves['count'])} traced ({engines}), {life}, {byte_size(waves['bytes'])}"


def _occupancy(occupancy: dict[str, Any]) -> str:
    if not occupancy["waves"]:
        return ""
    units = plural(occupancy["compute_units"], "compute unit")
    peak = f"{count(occupancy['peak'])} at most, {occupancy['mean']:,.1f} on average at a time"
    return f"{plural(occupancy['waves'], 'wave')} on {units}: {peak}"


def _code(facts: dict[str, Any]) -> str:
    code = facts["code"]
    if code["instructions"] is None:
        return f"{DASH} the capture has no instructions"
    kernels = f" of {plural(len(facts['kernels']), 'kernel')}" if len(facts["kernels"]) > 1 else ""
    rows = f"{plural(code['instructions'], 'instruction')}{kernels}"
    if not code["hits"]:
        return rows
    return f"{rows}, {count(code['executed'])} executed {plural(code['hits'], 'time')}"


def _has_times(facts: dict[str, Any]) -> bool:
    return bool(facts["waves"]["count"] or facts["occupancy"]["waves"])


def _time(clock: dict[str, Any]) -> str:
    text = f"{count(clock['begin'])} to {count(clock['end'])}, {plural(clock['cycles'], 'cycle')}"
    rate = f" at {clock['shader_mhz']:,.0f} MHz" if clock["shader_mhz"] else ""
    return text if clock["ns"] is None else f"{text}, {nanoseconds(clock['ns'])}{rate}"


def _cycles(code: dict[str, Any]) -> str:
    whole = (code["latency"] or 0) + (code["idle"] or 0)
    parts = [f"{name} {percent(code[name], whole)}" for name in ("issue", "stall", "idle")]
    return f"{count(whole)} of all waves: {', '.join(parts)}" if whole else ""


def _samples(code: dict[str, Any]) -> str:
    if code["samples_issued"] is None:
        return ""
    issued, stalled = code["samples_issued"], code["samples_stalled"] or 0
    return f"{count(issued + stalled)}, {percent(stalled, issued + stalled)} of them stalled"


def _source(source: dict[str, Any]) -> str:
    if not source["mapped"]:
        return "none"
    files = f"{plural(source['files'], 'file')} ({count(source['files_with_text'])} with text)"
    return f"{plural(source['mapped'], 'instruction')} from {files}"


def _extras(extras: dict[str, Any]) -> str:
    names = ("dispatches", "events", "markers")
    parts = [f"{count(extras[name])} {name}" for name in names if extras[name]]
    if extras["counters"]:
        parts.append(f"counters {', '.join(extras['counters'])}")
    return "; ".join(parts)


def _print_problems(problems: list[dict[str, str]], checked: bool) -> None:
    if not problems:
        if checked:
            print("\nEvery wave was read; nothing contradicts itself.")
        return
    print()
    print_facts(
        [(problem["severity"], f"{problem['text']} {problem['hint']}".strip()) for problem in problems]
    )
