"""`rcv wave`: what one wave did, and its instructions as they ran."""

from __future__ import annotations

from typing import Any

from rcv_py.analysis.cost.place_text import NO_PLACE
from rcv_py.base.text import count, nanoseconds, percent, plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import wave_of, window_of
from rcv_py.cli.options.wave_options import WaveOptions
from rcv_py.cli.report import json_text, print_facts
from rcv_py.cli.results import print_csv, print_result
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave
from rcv_py.model.window import TimeWindow
from rcv_py.results.waves import token_table, wave_facts

SCHEMA = "rcv.wave/1"


def run(arguments: WaveOptions) -> int:
    """Print one wave as text, CSV or JSON."""
    trace = open_trace(arguments.folder, cache=arguments.cache)
    wave = wave_of(trace, arguments.wave)
    within = window_of(arguments.within)
    part = within or TimeWindow(wave.begin, wave.end)
    facts = wave_facts(trace, wave, within, window_of(arguments.clock))
    if arguments.csv:
        print_csv(token_table(trace, wave, part))
    elif arguments.json:
        more = {"instructions": token_table(trace, wave, part).rows()} if arguments.tokens else {}
        print(json_text(SCHEMA, facts | more, about(arguments, trace)))
    else:
        _print(trace, wave, facts, is_range=arguments.clock is not None)
        if arguments.tokens:
            print()
            print_result(token_table(trace, wave, part), trace)
    return 0


def _print(trace: Trace, wave: Wave, found: dict[str, Any], *, is_range: bool) -> None:
    real = trace.clock.ns(found["cycles"])
    lasted = f"{count(found['cycles'])} cycles" + ("" if real is None else f", {nanoseconds(real)}")
    known = {name: value for name, value in found["states"].items() if value is not None}
    whole = sum(known.values())
    shares = ", ".join(f"{name.upper()} {percent(value, max(1, whole))}" for name, value in known.items())
    states = (
        f"{shares}, of {count(whole)} recorded cycles" if known else f"{NO_PLACE} the wave has no timeline"
    )
    print(f"{wave.id}")
    facts = [
        ("life", f"{count(wave.begin)} to {count(wave.end)}, {lasted}"),
        ("place", f"compute unit {wave.cu}" if wave.cu >= 0 else ""),
        ("instructions", count(found["tokens"])),
        ("states", states),
        ("counted", f"{found['counted']:,} of {plural(found['of'], 'wave')}" if is_range else ""),
    ]
    print_facts([(name, value) for name, value in facts if value])
