"""`rcv info`: what a capture holds and how far to trust it, or which captures a folder holds."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.cost.pc_samples import StallReasons
from rcv_py.analysis.health import capture_health
from rcv_py.base.errors import NotATrace, UsageError
from rcv_py.base.problems import Problem, Severity
from rcv_py.base.text import (
    DASH,
    Message,
    byte_size,
    count,
    join_texts,
    nanoseconds,
    percent,
    plural,
    short_kernel,
)
from rcv_py.cli.answer import CommandAnswer, Facts, Part, TextTable
from rcv_py.cli.opening import all_captures, batches, below, markers, opened
from rcv_py.cli.terminal import bold
from rcv_py.features.summary import info_result
from rcv_py.features.summary.options import InfoOptions
from rcv_py.formats.input.run_places import is_profile
from rcv_py.formats.locate import CaptureForm, shape_of
from rcv_py.formats.open import capture_entry
from rcv_py.formats.uiout.run_files import facts_about
from rcv_py.model.device import NO_CLOCK
from rcv_py.model.trace import INFERRED
from rcv_py.model.waves import unrecorded


def run(options: InfoOptions) -> CommandAnswer:
    """Return facts about one capture or one profile of a run, or a table of several captures."""
    if is_profile(options.folder) and options.folder.is_file() and not options.more:
        from rcv_py.cli.profiles import describe  # noqa: PLC0415 - it loads SQLite

        with suppress(NotATrace):  # a database of another program may hold raw traces all the same
            return describe(options.folder)
    paths = all_captures([options.folder, *options.more])
    if len(paths) == 1:
        return _of_capture(paths[0], options)
    if options.read:
        text = Message("--read is about one capture, and there are {0:,}.", len(paths))
        raise UsageError(text, hint="Name one of them.")
    if paths and shape_of(paths[0]) is CaptureForm.COMPILED:
        return _of_compiled(paths)
    entries = [capture_entry(path) for path in paths]
    table = info_result.capture_table(entries, [below(options.folder, entry.path) for entry in entries])
    problems = [f"{entry.name}: {entry.note}" for entry in entries if entry.note]
    about = {"names": [entry.name for entry in entries], "problems": problems}
    return CommandAnswer.of_table(info_result.CAPTURES_SCHEMA, table, rows="captures", about=about)


def _of_compiled(paths: list[Path]) -> CommandAnswer:
    from rcv_py.formats.compiled import compiled_kernels, file_of  # noqa: PLC0415 - it reads code objects

    files = dict.fromkeys(file for path in paths if (file := file_of(path)) is not None)
    read = [compiled_kernels(file) for file in files]
    wanted = set(paths)
    table = info_result.compiled_table([one for file in read for one in file.kernels if one.path in wanted])
    problems = [problem.text for file in read for problem in file.problems]
    return CommandAnswer.of_table(
        info_result.COMPILED_SCHEMA,
        table,
        lambda: [TextTable(table), *problems],
        rows="kernels",
        about={"names": list(map(str, files)), "problems": problems},
    )


def _of_capture(path: Path, options: InfoOptions) -> CommandAnswer:
    trace = opened(options, path)
    if options.read:  # what the panel Problems shows of waves and markers
        missing, notes = dict[int, str](), dict[int, str]()
        for batch in batches(trace):
            missing |= dict(batch.missing) | unrecorded(batch.waves, trace.waves)
            notes |= batch.notes
        spans = markers(trace).problems if trace.has_shader_data else ()
        trace = replace(trace, problems=(*trace.problems, *trace.wave_problems(missing, notes), *spans))
    run = facts_about(trace)
    said = [Problem(Severity.WARNING, "", text, "Copy the file again.") for text in run.damage]
    if run.kernel is not None:
        from rcv_py.analysis.compare.costs import launch_of, table_doubt  # noqa: PLC0415 - of tables alone

        if doubt := table_doubt(launch_of(trace), run):
            said.append(Problem(Severity.WARNING, "", doubt, "Take durations from the clock of the capture."))
    trace = replace(trace, problems=(*trace.problems, *said))
    facts = info_result.info(trace, run.allocated)

    def text() -> Iterator[Part]:
        lines = (line for of in (_of_format, _of_allocated, _of_waves, _of_code) for line in of(facts))
        yield from (bold(facts["capture"], sys.stdout), Facts([(name, text) for name, text in lines if text]))
        if problems := [(str(one.severity), str(one)) for one in capture_health.problems(trace)]:
            yield from ("", Facts(problems))

    return CommandAnswer(
        schema=info_result.SCHEMA if "activity" in facts else info_result.PROGRAM_SCHEMA,
        document=lambda: facts,
        csv=lambda: (("name", "value"), _flat(facts)),
        text=text,
        of=trace,
    )


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every number and text with its path, such as `waves.count` or `kernels.0`."""
    if not isinstance(value, dict | list):
        yield name, value
        return
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield from _flat(item, f"{name}.{key}" if name else str(key))


def _of_format(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    form = facts["format"]
    kinds = [("thread trace", form["has_thread_trace"]), ("PC samples", form["has_pc_samples"])]
    what = join_texts(" and ", (name for name, is_there in kinds if is_there))
    version = Message("format {0}", form["version"]) if form["version"] else ""
    target = form["target"]
    if form["target_from"] == INFERRED:
        target = Message("{0} ({1})", target, INFERRED)
    yield "kernel", short_kernel(facts["kernel"]) if facts["kernel"] else ""
    said = join_texts(", ", filter(None, (target, what, version)))
    yield "compiled for" if form["is_static"] else "recorded", said


def _of_allocated(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    found = facts["allocated"]
    if not found["file"]:
        return
    most = Message("workgroups of {0} at most", found["threads"])
    exact = Message("workgroups of {0}", found["threads"])
    more = Message("{0} of scratch a lane, more by calls", byte_size(found["scratch"]))
    plain = Message("{0} of scratch a lane", byte_size(found["scratch"]))
    spills = [(found["spilled_vgprs"], "VGPRs"), (found["spilled_sgprs"], "SGPRs")]
    spilled = join_texts(" and ", (Message("{0} {1}", count(many), name) for many, name in spills if many))
    parts = (
        Message("{0} VGPRs", count(found["vgprs"])),
        Message("{0} SGPRs", count(found["sgprs"])) if found["sgprs"] else "",
        Message("{0} SGPRs preloaded", found["preloaded"]) if found["preloaded"] else "",
        Message("{0} of LDS", byte_size(found["lds"])) if found["lds"] else "",
        more if found["has_dynamic_stack"] else plain if found["scratch"] else "",
        Message("waves of {0} lanes", found["lanes"]),
        exact if found["is_exact"] else most if found["threads"] else "",
        Message("{0} spilled", spilled) if spilled else "",
    )
    yield "allocates", Message("{0} ({1})", join_texts(", ", filter(None, parts)), found["file"])


def _of_waves(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    waves, occupancy = facts["waves"], facts["occupancy"]
    if waves["count"]:
        engines = ", ".join(f"SE{se}: {count(n)}" for se, n in waves["by_shader_engine"].items())
        life = Message("{0} to {1} cycles long", count(waves["min_cycles"]), count(waves["max_cycles"]))
        number, size = count(waves["count"]), byte_size(waves["bytes"])
        yield "waves", Message("{0} traced ({1}), {2}, {3}", number, engines, life, size)
    else:
        yield "waves", "none traced"
    if occupancy["waves"]:
        number, units = plural(occupancy["waves"], "wave"), plural(occupancy["compute_units"], "compute unit")
        of, most, mean = Message("{0} on {1}", number, units), occupancy["peak"], occupancy["mean"]
        peak = Message("{0}: {1:,} at most, {2:,.1f} on average at a time", of, most, mean) if most else of
        yield "occupancy", peak


def _of_code(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    code, source, extras = facts["code"], facts["source"], facts["extras"]
    if code["instructions"] is None:
        yield "code", Message("{0} the capture has no instructions", DASH)
    else:
        many = len(facts["kernels"])
        kernels = Message(" of {0}", plural(many, "kernel")) if many > 1 else ""
        executed, hits = count(code["executed"] or 0), plural(code["hits"] or 0, "time")
        times = Message(", {0} executed {1}", executed, hits) if code["hits"] else ""
        reader = facts["format"]["disassembler"]
        reader = Message(", read by {0}", reader) if reader else ""
        size = plural(code["instructions"], "instruction")
        yield "code", Message("{0}{1}{2}{3}", size, kernels, times, reader)
    if facts["waves"]["count"] or facts["occupancy"]["waves"]:
        yield "time" if facts["occupancy"]["waves"] else "traced span", _time(facts["clock"])
    total = (code["latency"] or 0) + (code["idle"] or 0)
    if total:
        shares = (Message("{0} {1}", name, percent(code[name], total)) for name in ("issue", "stall", "idle"))
        yield "cycles", Message("{0} of latency and idle time: {1}", count(total), join_texts(", ", shares))
    issued, stalled, unsure = (code[f"samples_{name}"] for name in ("issued", "stalled", "unsure"))
    if not (issued is stalled is unsure is None):
        nothing = np.zeros(0, dtype=np.int64)
        yield "samples", StallReasons(issued or 0, stalled or 0, nothing, unsure or 0).sentence
    mapped, files, texts = (source[name] or 0 for name in ("mapped", "files", "files_with_text"))
    of = Message("{0} ({1:,} with text)", plural(files, "file"), texts)
    yield "source", Message("{0} from {1}", plural(mapped, "instruction"), of) if mapped else "none"
    more = [f"{count(extras[name])} {name}" for name in ("dispatches", "events", "markers") if extras[name]]
    more += [Message("counters {0}", ", ".join(extras["counters"]))] if extras["counters"] else []
    yield "extras", join_texts("; ", more)


def _time(clock: dict[str, Any]) -> str:
    start, end, cycles = count(clock["start"]), count(clock["end"]), plural(clock["cycles"], "cycle")
    text = Message("{0} to {1}, {2}", start, end, cycles)
    rate = Message(" at {0:,.0f} MHz", clock["shader_mhz"]) if clock["shader_mhz"] else ""
    known = NO_CLOCK if clock["duration_ns"] is None else nanoseconds(clock["duration_ns"])
    return Message("{0}, {1}{2}", text, known, rate)
