"""Key numbers of triage: kernel, waves, duration, occupancy, stalls, and what of them nothing covers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rcv_py.analysis.core.median import median
from rcv_py.analysis.cost.stall_reasons import stall_reasons
from rcv_py.analysis.findings.finding import KeyNumber
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.base.text import count, known_percent, nanoseconds, percent, plural, short_kernel


def key_numbers(inputs: FindingInputs, *, is_trusted: bool = True) -> tuple[KeyNumber, ...]:
    """Return the key numbers of a capture; if its texts are not trusted, none that rests on them."""
    return tuple(_numbers(inputs, is_trusted))


def _numbers(inputs: FindingInputs, is_trusted: bool) -> Iterator[KeyNumber]:
    trace = inputs.trace
    if trace.kernel_name:
        yield KeyNumber("kernel", "Kernel", short_kernel(trace.kernel_name), trace.target, trace.kernel_name)
    if trace.has_pc_samples and not len(trace.waves):
        yield from _samples(inputs)
        return
    if len(trace.waves):
        rows = inputs.counted if inputs.waves else np.arange(len(trace.waves))
        middle = count(round(median((trace.waves.end - trace.waves.begin)[rows])))
        engines = plural(len(np.unique(trace.waves.se[rows])), "shader engine")
        whole = "traced"
        if len(rows) < len(trace.waves):
            whole = f"{inputs.choice.name}, of {count(len(trace.waves))} traced"
        yield KeyNumber(
            "waves",
            "Waves",
            count(len(rows)),
            f"{whole}, on {engines}; median life {middle} cycles",
            "Waves with instructions in the trace.",
        )
    if inputs.occupancy is not None:
        yield from _device(inputs)
    if inputs.waves and is_trusted:
        yield from _cycles(inputs)


def _device(inputs: FindingInputs) -> Iterator[KeyNumber]:
    numbers = inputs.occupancy
    assert numbers is not None
    span = numbers.end - numbers.begin
    ns = inputs.trace.clock.ns(span)
    time = "" if ns is None else nanoseconds(ns)
    yield KeyNumber(
        "duration",
        "Duration",
        f"{count(span)} cycles",
        time,
        "From the first start of a wave to the last end, on all compute units that the trace saw.",
    )
    resident = inputs.limits.resident
    if not resident.simds:
        return
    yield KeyNumber(
        "occupancy",
        "Occupancy",
        f"{resident.mean:.1f} waves a SIMD",
        f"{count(inputs.limits.waves)} fit, the device holds {count(inputs.limits.cap)}",
        "Traced waves resident on a SIMD, mean over the time in which there was any.",
    )


def _cycles(inputs: FindingInputs) -> Iterator[KeyNumber]:
    whole, table = inputs.exposure, inputs.attribution
    yield KeyNumber(
        "stall",
        "Stalled",
        percent(table.total_stall, whole.lives),
        f"of {count(whole.lives)} wave cycles; {known_percent(table.explained)} explained",
        "Cycles in which a wave had an instruction that did not issue, of the lives of all waves that were "
        "read.",
    )
    of = f"of {count(whole.resident)} SIMD cycles"
    yield KeyNumber(
        "silent",
        "No-issue cycles",
        percent(whole.no_issue, whole.resident),
        of,
        "Cycles in which a SIMD held a traced wave and none of its traced waves issued an instruction.",
    )
    if whole.matrix:
        yield KeyNumber(
            "matrix",
            "Matrix pipe busy",
            percent(whole.matrix, whole.resident),
            f"{of}, from the passes of each form",
            "Cycles in which the matrix unit of a SIMD with a traced wave worked, also while no wave issued.",
        )
    yield KeyNumber(
        "nothing",
        "Nothing happens",
        percent(whole.nothing, whole.resident),
        of,
        "No-issue cycles in which the matrix unit does not work either: no finding about waits can win more.",
    )


def _samples(inputs: FindingInputs) -> Iterator[KeyNumber]:
    found = stall_reasons(inputs.trace.code)
    yield KeyNumber("samples", "PC samples", count(found.samples), "no thread trace")
    yield KeyNumber("stall", "Stalled", percent(found.stalled, found.samples), "of the samples")
