"""The whole: the real window and the real commands from the start of the process, all processes counted.

Limits are ratios to units measured in the same run, for a busy machine is slow at both:
F, a bare window of Qt and pyqtgraph until it is painted; O, `orjson.loads` of the same wave files.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from operator import methodcaller
from pathlib import Path

from bench.folders import SHIPPED, large_folder, recorded
from bench.load import in_child
from bench.table import Options, Row, measure
from bench.tree import Seen, new_home, watch, watch_alone
from rcv_py.formats.open import open_trace
from rcv_py.work.load import batches

SMALL = "pa_mqa_small"
SMALL_RUNS, LARGE_RUNS = 5, 3
FIRST_F, FINDINGS_F, CPU_F = 1.3, 1.6, 1.8  # of the bare window, small capture
DRAWN_O = {100: 0.6, 500: 0.5, 1500: 0.45}  # of parsing, by megabytes
FINDINGS_O = {100: 1.5, 500: 1.2, 1500: 1.1}
CPU_O = 2.5
WINDOW_MB, TOKEN_BYTES = 250, 35  # peak memory of all processes: so much, and so much a token
COMMAND_MB = 400  # peak memory of `rcv triage --all` and `rcv report`, whatever the size
GAP_MS = 50
TWO_WORKERS = 1 / 1.8  # of the time of one
KINDS = ("generated", "cloned")
WHOLE = ("pa_mqa_small", "flash_attn_small_after", "moe_reduce", "preshuffle_gemm")  # recorded captures
STEPS = ("first", "findings", "predictions", "settled")
ALL_FINDINGS = 2.5  # of the time until findings stand: everything


def view(folder: Path, how: str = "view", home: str = "") -> Seen:
    """Look at the real window until nothing runs any more."""
    return watch(["-m", "bench.real", how, str(folder)], home)


def median(runs: list[Seen], number: Callable[[Seen], float]) -> float:
    return statistics.median(map(number, runs))


def tokens_of(folder: Path) -> int:
    return int(open_trace(folder).code.hits.sum())


def memory_row(name: str, runs: list[Seen], folder: Path) -> Row:
    limit = WINDOW_MB + TOKEN_BYTES * tokens_of(folder) / 1e6
    return Row(f"  peak memory, {name}", median(runs, lambda seen: seen.peak / 1e6), limit, "MB", 0)


def settled_row(runs: list[Seen]) -> Row:
    ratio = median(runs, lambda seen: seen.at("settled") / seen.at("findings"))
    return Row("  settled, predictions included / findings", ratio, ALL_FINDINGS)


@measure("settled-small")
def small(options: Options) -> Iterator[Row]:
    """The smallest recorded capture beside a bare window, in turn."""
    folder = (*recorded(SMALL), SHIPPED)[0]
    name = folder.parent.name if folder != SHIPPED else folder.name
    view(folder)  # byte code, and the files in memory
    bares, runs = [], []
    for _ in range(SMALL_RUNS):
        bares.append(watch(["-m", "bench.real", "bare"]))
        runs.append(view(folder))
    wall, cpu = (median(bares, methodcaller(name, "settled")) for name in ("at", "cpu_at"))
    yield Row("F: bare window of Qt and pyqtgraph", 1000 * wall, None, "ms", 0)
    yield Row("  its CPU", 1000 * cpu, None, "ms", 0)
    yield Row("  its memory", median(bares, lambda seen: seen.peak / 1e6), None, "MB", 0)
    yield Row(f"first picture / F, {name}", median(runs, methodcaller("at", "first")) / wall, FIRST_F)
    yield Row(f"findings / F, {name}", median(runs, methodcaller("at", "findings")) / wall, FINDINGS_F)
    yield Row(f"  CPU / CPU of F, {name}", median(runs, methodcaller("cpu_at", "findings")) / cpu, CPU_F)
    yield memory_row(name, runs, folder)


@measure("all")
def whole(options: Options) -> Iterator[Row]:
    """Until nothing runs any more, predictions included; beside the viewer that the variable RCV names.

    The first start on a machine compiles what predicts; the limit is for those that follow.
    """
    reference = os.environ.get("RCV", "")
    folders = {name: folder for name in WHOLE for folder in recorded(name)[:1]} or {SHIPPED.name: SHIPPED}
    for name, folder in folders.items():
        view(folder)
        runs, others = [], []
        with new_home() as home:
            new = view(folder, home=home)
            for _ in range(LARGE_RUNS):
                runs.append(view(folder, home=home))
                others += [watch_alone([reference, str(folder)])] if reference else []
        yield Row(f"{name}: settled at the first start", new.at("settled"), None, "s")
        for step in STEPS:
            told = [run for run in runs if step in run.said]  # a small capture may have nothing to predict
            if told:
                yield Row(f"{name}: {step}", median(told, methodcaller("at", step)), None, "s")
        yield settled_row(runs)
        yield Row("  CPU", median(runs, methodcaller("cpu_at", "settled")), None, "s")
        yield Row("  peak memory", median(runs, lambda seen: seen.peak / 1e6), None, "MB", 0)
        if others:
            ours, theirs = (median(of, methodcaller("at", "settled")) for of in (runs, others))
            yield Row("  RCV: settled", theirs, None, "s")
            yield Row("  RCV: peak memory", median(others, lambda seen: seen.peak / 1e6), None, "MB", 0)
            yield Row("  settled / RCV", ours / theirs, None)


@measure("settled-large")
def large(options: Options) -> Iterator[Row]:
    """Large captures of both kinds, and the event loop with every panel in front."""
    gap = watch(["-m", "bench.real", "bare"]).said["gap_stream"]
    yield Row("longest gap of a bare window, 2 s", 1000 * gap, None, "ms", 0)
    for megabytes in sizes(options):
        for kind in KINDS:
            with large_folder(megabytes, kind) as folder:
                yield from one_large(folder, megabytes, f"{megabytes} MB {kind}")
                if kind == "cloned" and megabytes == max(sizes(options)):
                    yield from turns_rows(folder, f"{megabytes} MB {kind}")


def sizes(options: Options) -> tuple[int, ...]:
    return (100, 500, 1500) if options.full else (100, 500)


def one_large(folder: Path, megabytes: int, name: str) -> Iterator[Row]:
    parses, runs = [], []
    with new_home() as home:
        view(SHIPPED, home=home)  # compiles what predicts
        for _ in range(LARGE_RUNS if megabytes == min(FINDINGS_O) else 1):
            parses.append(in_child("parse", folder))
            runs.append(view(folder, home=home))
    parse, parse_cpu = map(statistics.median, zip(*parses, strict=True))
    yield Row(f"O: orjson.loads, {name}", parse, None, "s")
    yield Row(f"first picture, {name}", median(runs, methodcaller("at", "first")), None, "s")
    yield Row(f"drawn / O, {name}", median(runs, methodcaller("at", "drawn")) / parse, DRAWN_O[megabytes])
    findings = median(runs, methodcaller("at", "findings")) / parse
    yield Row(f"findings / O, {name}", findings, FINDINGS_O[megabytes])
    cpu = median(runs, methodcaller("cpu_at", "findings")) / parse_cpu
    yield Row(f"  CPU / O, {name}", cpu, CPU_O)
    yield settled_row(runs)
    yield memory_row(name, runs, folder)
    gap = 1000 * median(runs, lambda seen: seen.said["gap_stream"])
    yield Row(f"longest gap while streaming, {name}", gap, GAP_MS, "ms", 0)
    own = 1000 * median(runs, lambda seen: seen.said["own_stream"])
    yield Row(f"  without waiting for a processor, {name}", own, None, "ms", 0)


def turns_rows(folder: Path, name: str) -> Iterator[Row]:
    """The longest gap of any panel, all of which come to the front in turn while waves stream in."""
    said = view(folder, "turns").said
    parts = {"gap": GAP_MS, "own": None}  # the second without waiting for a processor
    for part, limit in parts.items():
        gaps = {key.partition("_")[2]: gap for key, gap in said.items() if key.startswith(f"{part}_")}
        gaps = {panel: gap for panel, gap in gaps.items() if panel not in ("start", "stream")}
        worst = max(gaps, key=gaps.__getitem__)
        panel = f"{len(gaps)} panels in turn{', own part' if limit is None else ''}, {worst}"
        yield Row(f"  {panel}, {name}", 1000 * gaps[worst], limit, "ms", 0)


@measure("command-memory")
def commands(options: Options) -> Iterator[Row]:
    """Peak memory of commands that look at all waves of a large capture."""
    for megabytes in sizes(options):
        with large_folder(megabytes, "cloned") as folder:
            name, report = f"{megabytes} MB cloned", str(folder.parent / "report.html")
            asked = {"rcv triage --all": ["triage", str(folder), "--all"]}
            if megabytes == min(sizes(options)) or options.full:
                asked["rcv report"] = ["report", str(folder), "--out", report]
            for command, words in asked.items():
                seen = watch(["-m", "rcv_py", *words])
                yield Row(f"{command}, memory, {name}", seen.peak / 1e6, COMMAND_MB, "MB", 0)
                yield Row("  its time", seen.wall, None, "s", 1)


@measure("workers")
def workers(options: Options) -> Iterator[Row]:
    """Reading with two processes beside reading with one, in turn."""
    megabytes = max(sizes(options)[:2])
    with large_folder(megabytes, "cloned") as folder:
        trace = open_trace(folder)
        ratios = []
        for _ in range(LARGE_RUNS):
            seconds = []
            for count in (1, 2):
                began = time.perf_counter()
                for _batch in batches(trace, workers=count):
                    pass
                seconds.append(time.perf_counter() - began)
            ratios.append(seconds[1] / seconds[0])
    name = f"reading with 2 workers / with 1, {megabytes} MB cloned"
    yield Row(name, statistics.median(ratios), TWO_WORKERS)
