"""Key numbers of triage: kernel, waves, duration, occupancy, stalls, and what of them nothing covers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rcv_py.analysis.core.median import median
from rcv_py.analysis.cost.stall_reasons import stall_reasons
from rcv_py.analysis.findings.finding import KeyNumber
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.base.text import count, known_percent, nanoseconds, percent, plural, short_kernel

_TEXTS = {  # name and meaning
    "waves": ("Waves", "Waves with instructions in the trace."),
    "duration": (
        "Duration",
        "From the first start of a wave to the last end, on all compute units that the trace saw.",
    ),
    "occupancy": (
        "Occupancy",
        "Traced waves resident on a SIMD, mean over the time in which there was any.",
    ),
    "stall": (
        "Stalled",
        "Cycles in which a wave had an instruction that did not issue, of the lives of all waves that were "
        "read.",
    ),
    "silent": (
        "No-issue cycles",
        "Cycles in which a SIMD held a traced wave and none of its traced waves issued an instruction.",
    ),
    "matrix": (
        "Matrix pipe busy",
        "Cycles in which the matrix unit of a SIMD with a traced wave worked, also while no wave issued.",
    ),
    "nothing": (
        "Nothing happens",
        "No-issue cycles in which the matrix unit does not work either: no finding about waits can win more.",
    ),
}


def key_numbers(inputs: FindingInputs, *, is_trusted: bool = True) -> tuple[KeyNumber, ...]:
    """Return the key numbers of a capture; if its texts are not trusted, none that rests on them."""
    return tuple(_numbers(inputs, is_trusted))


def _number(id: str, text: str, of: str) -> KeyNumber:
    name, meaning = _TEXTS[id]
    return KeyNumber(id, name, text, of, meaning)


def _numbers(inputs: FindingInputs, is_trusted: bool) -> Iterator[KeyNumber]:
    trace = inputs.trace
    if trace.kernel_name:
        yield KeyNumber("kernel", "Kernel", short_kernel(trace.kernel_name), trace.target, trace.kernel_name)
    if trace.has_pc_samples and not len(trace.waves):
        found = stall_reasons(trace.code)
        yield KeyNumber("samples", "PC samples", count(found.samples), "no thread trace")
        yield KeyNumber("stall", "Stalled", percent(found.stalled, found.samples), "of the samples")
        return
    if len(trace.waves):
        rows = inputs.counted if inputs.waves else np.arange(len(trace.waves))
        middle = count(round(median((trace.waves.end - trace.waves.begin)[rows])))
        engines = plural(len(np.unique(trace.waves.se[rows])), "shader engine")
        is_part = len(rows) < len(trace.waves)
        which = f"{inputs.choice.name}, of {count(len(trace.waves))} traced" if is_part else "traced"
        yield _number("waves", count(len(rows)), f"{which}, on {engines}; median life {middle} cycles")
    if inputs.occupancy is not None:
        span = inputs.occupancy.end - inputs.occupancy.begin
        ns = trace.clock.ns(span)
        yield _number("duration", f"{count(span)} cycles", "" if ns is None else nanoseconds(ns))
        limits = inputs.limits
        if limits.resident.simds:
            of = f"{count(limits.waves)} fit, the device holds {count(limits.cap)}"
            yield _number("occupancy", f"{limits.resident.mean:.1f} waves a SIMD", of)
    if inputs.waves and is_trusted:
        yield from _cycles(inputs)


def _cycles(inputs: FindingInputs) -> Iterator[KeyNumber]:
    total, table = inputs.exposure, inputs.attribution
    explained = known_percent(table.explained)
    of = f"of {count(total.lives)} wave cycles; {explained} explained"
    yield _number("stall", percent(table.total_stall, total.lives), of)
    of = f"of {count(total.resident)} SIMD cycles"
    yield _number("silent", percent(total.no_issue, total.resident), of)
    if total.matrix:
        passes = f"{of}, from the passes of each form"
        yield _number("matrix", percent(total.matrix, total.resident), passes)
    yield _number("nothing", percent(total.nothing, total.resident), of)
