"""The output of `rcv info` for a profiler's database or document."""

import sys
from collections.abc import Iterator
from pathlib import Path

from rcv_py.base.text import Message, count, percent, plural
from rcv_py.cli.answer import CommandAnswer, Facts, Part, TextTable
from rcv_py.cli.terminal import bold
from rcv_py.formats.rocpd.read import read_profile, trace_inside
from rcv_py.model.profile import Profile
from rcv_py.results.profile import MAX_SHOWN, SCHEMA, tables
from rcv_py.results.table import ResultTable


def describe(path: Path) -> CommandAnswer:
    """Return kernels, devices, counters and samples of a profile; raise a TraceError if it cannot be read."""
    profile = read_profile(path)
    found = tables(profile)
    trace = trace_inside(profile)
    problems = [str(problem) for problem in profile.problems]
    return CommandAnswer(
        schema=SCHEMA,
        document=lambda: {
            "file": str(path),
            "form": profile.form,
            "version": profile.version,
            "command": profile.command,
            "launches": len(profile.launches),
            "executions": profile.executions,
            "code_objects": len(profile.code),
            "files": list(profile.files),
            "spm_series": sum(map(len, profile.spm.values())),
            "pc_samples": 0 if profile.samples is None else profile.samples.all,
            "invalid_samples": 0 if profile.samples is None else sum(profile.samples.invalid.values()),
            "trace": trace,
            "problems": problems,
            **{name: table.rows() for name, table in found.items()},
        },
        csv=found["kernels"].csv,
        text=lambda: _text(profile, found, trace),
        about={"names": [path.name], "problems": problems},
    )


def _text(profile: Profile, found: dict[str, ResultTable], trace: str) -> Iterator[Part]:
    version = Message(", schema {0}", profile.version) if profile.version else ""
    launches = plural(len(profile.launches), "launch", "launches")
    if profile.executions > len(profile.launches):
        launches = Message("{0} in {1:,} passes of replays", launches, profile.executions)
    objects, kernels = plural(len(profile.code), "code object"), plural(len(profile.kernels), "kernel")
    sampled, series = "", sum(map(len, profile.spm.values()))
    if (samples := profile.samples) is not None:
        share = percent(sum(samples.invalid.values()), samples.all)
        where = plural(len(samples), "instruction")
        sampled = Message("{0} of {1}, {2} of them invalid", count(samples.all), where, share)
    facts = [
        ("written by", f"rocprofv3 ({profile.form}{version})"),
        ("command", profile.command),
        ("launches", launches),
        ("code", Message("{0}, {1}", objects, kernels)),
        ("streamed counters", plural(series, "series", "series") if profile.spm else ""),
        ("PC samples", sampled),
        ("thread trace", trace),
        *(("problem", str(problem)) for problem in profile.problems),
    ]
    yield from (bold(profile.path.name, sys.stdout), Facts([fact for fact in facts if fact[1]]))
    for name, table in found.items():
        if len(table) and (name != "kernels" or len(profile.launches)):
            yield from ("", TextTable(table.head(MAX_SHOWN)))
            if len(table) > MAX_SHOWN:
                yield Message("{0} more; --json lists all.", count(len(table) - MAX_SHOWN))
