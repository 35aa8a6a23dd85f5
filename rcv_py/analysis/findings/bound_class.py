"""Classification of what limits a kernel: a short sentence, a longer one, and the numbers that show it.

The first class whose condition holds is taken (`CLASSES`); if none does, the larger share of SIMD time
decides: compute, or nothing.  `docs/findings.md` shows the same table, and a test compares the two.
"""

from collections.abc import Callable

import numpy as np

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.device.memory_roof import memory_roof
from rcv_py.analysis.findings.finding import BoundClass, SupportingNumber
from rcv_py.analysis.findings.inputs import SCRATCH, FindingInputs
from rcv_py.analysis.program.scratch import scratch_accesses
from rcv_py.base.record import Value
from rcv_py.base.text import Message, capitalized

LAUNCH, MEMORY, COMPUTE = "launch-bound", "memory-bound", "compute-bound"
ISSUE, LATENCY = "issue-bound", "latency-bound"

EMPTY = 0.5  # of the SIMD cycles of the launch without a wave: launch-bound
PIPE = 0.6  # of SIMD cycles with the matrix pipe at work: compute-bound
NEAR = 0.85  # of a ceiling: from here on the headline says how near it is
RATE = 0.6  # of the rate that memory can deliver: memory-bound, if waits are for memory
CACHED = 1.5  # of that rate: above it caches serve a part, even if lanes were off and the clock was low
WAITS = 0.5  # part of the stall that is waits for vector memory
ISSUING = 0.6  # of SIMD cycles in which a wave issues: issue-bound


class LoadNumbers(Value):
    """How a kernel used the device; shares are 0 to 1."""

    issue: float  # of the cycles in which a SIMD held a wave: a wave issued
    matrix: float  # of those: the matrix pipe worked; nan if not known
    nothing: float  # of those: no wave issued and no unit of the SIMD worked; nan if not known
    empty: float  # of the SIMD cycles of the launch: the SIMD held no wave
    unused: float  # of the SIMDs: never held a wave
    waits: float  # of the stall: waits for vector memory, and its instructions that could not issue
    rate: float | None  # bytes requested a compute unit and cycle, at most, without spills; None if not known
    roof: float | None  # bytes that memory delivers a compute unit and cycle; None if not known

    @property
    def of_roof(self) -> float:
        """The rate as a part of the roof; 0 if either is unknown."""
        return self.rate / self.roof if self.rate is not None and self.roof else 0.0

    @property
    def is_at_memory(self) -> bool:
        """Whether waves wait for bytes that memory can have delivered, near its roof."""
        return RATE <= self.of_roof <= CACHED and self.waits >= WAITS


class ClassRule(Value):
    """The condition of a class, and its sentence."""

    name: str
    when: str  # for people
    holds: Callable[[LoadNumbers], bool]


# fmt: off
CLASSES = (
    ClassRule(LAUNCH, Message("SIMDs hold no wave in at least {0:.0%} of the launch's SIMD cycles", EMPTY),
        lambda load: load.empty >= EMPTY),
    ClassRule(COMPUTE, Message("the matrix pipe works in at least {0:.0%} of SIMD cycles", PIPE),
        lambda load: load.matrix >= PIPE),
    ClassRule(MEMORY,
        Message("compute units request {0:.0%} to {1:.0%} of what memory delivers, and at least {2:.0%} of "
                "the stall waits for vector memory, both without spills", RATE, CACHED, WAITS),
        lambda load: load.is_at_memory),
    ClassRule(ISSUE, Message("a wave issues in at least {0:.0%} of SIMD cycles", ISSUING),
        lambda load: load.issue >= ISSUING),
    ClassRule(COMPUTE,
        "none of the above, and the matrix pipe works in more SIMD cycles than nothing happens",
        lambda load: load.matrix > load.nothing),
    ClassRule(LATENCY, "all others", lambda load: True),
)
# fmt: on


def bound_class(numbers: LoadNumbers) -> BoundClass:
    """Return what limits a kernel with these numbers."""
    name = next(rule.name for rule in CLASSES if rule.holds(numbers))
    shown = []
    for id in _SHOWN[name]:
        value: float | None = getattr(numbers, id)
        if value is not None and not np.isnan(value):
            text = _rate(numbers) if id == "rate" else Message("{0} {1}", _percent(value), _TEXTS[id])
            shown.append(SupportingNumber(id, value, text))
    ceiling = {COMPUTE: numbers.matrix, ISSUE: numbers.issue}.get(name, 0.0)
    left = max(1, round(100 * (1 - ceiling)))
    near = Message(": within {0} % of its ceiling", left) if ceiling >= NEAR else ""
    short = Message("{0}: {1}.", name.capitalize(), _SHORT[name](numbers))
    detail = Message("{0}{1}.", capitalized(_SENTENCES[name](numbers)), near)
    return BoundClass(name, short, detail, tuple(shown))


_SHOWN = {
    LAUNCH: ("empty", "unused", "nothing", "matrix", "rate"),
    COMPUTE: ("matrix", "issue", "nothing", "rate"),
    MEMORY: ("rate", "waits", "nothing", "matrix"),
    ISSUE: ("issue", "nothing", "matrix", "rate"),
    LATENCY: ("nothing", "issue", "matrix", "rate"),
}
CLASS_NAMES = (LAUNCH, COMPUTE, MEMORY, ISSUE, LATENCY)
SHOWN_NAMES = ("empty", "unused", "nothing", "matrix", "issue", "waits", "rate")
_TEXTS = {
    "empty": "of the launch's SIMD cycles hold no wave",
    "unused": "of the SIMDs never hold a wave",
    "nothing": "of SIMD cycles have no issue and no work of a unit",
    "matrix": "of SIMD cycles have the matrix pipe busy",
    "issue": "of SIMD cycles have an issue",
    "waits": "of the stall waits for vector memory",
}


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 or not share else "<1 %"


def _rate(numbers: LoadNumbers) -> str:
    if numbers.rate is None:
        return "an unknown number of bytes/cycle per CU"
    of = Message(" of {0:.1f}", numbers.roof) if numbers.roof else ""
    return Message("at most {0:.1f}{1} bytes/cycle per CU", numbers.rate, of)


def _launch(load: LoadNumbers) -> str:
    unused = Message(", and {0} of them never get one", _percent(load.unused)) if load.unused >= 0.005 else ""
    return Message("SIMDs hold no wave in {0} of the launch's SIMD cycles{1}", _percent(load.empty), unused)


def _latency(load: LoadNumbers) -> str:
    matrix = Message("while the matrix pipe is {0} busy", _percent(load.matrix))
    if load.rate is None or not load.roof:  # nothing can be said about memory
        what = "" if load.rate is None else Message(": waves request {0}", _rate(load))
        busy = Message("{0}; how near memory is to its roof is not known{1}", matrix, what)
    elif load.of_roof > CACHED and load.waits >= WAITS:
        text = (
            "{0}; waves request up to {1:.1f} bytes/cycle per CU, of which memory delivers at most "
            "{2:.1f}, so caches serve the rest"
        )
        busy = Message(text, matrix, load.rate, load.roof)
    elif load.of_roof >= NEAR:
        text = (
            "{0}; waves request up to {1:.1f} bytes/cycle per CU, and memory alone delivers at most "
            "{2:.1f}, but only {3} of the stall waits for vector memory"
        )
        busy = Message(text, matrix, load.rate, load.roof, _percent(load.waits))
    else:
        text = "although neither the matrix pipe ({0} busy) nor memory ({1}) is near its roof"
        busy = Message(text, _percent(load.matrix), _rate(load))
    return Message("SIMDs do nothing in {0} of their cycles, {1}", _percent(load.nothing), busy)


_SENTENCES: dict[str, Callable[[LoadNumbers], str]] = {
    LAUNCH: _launch,
    COMPUTE: lambda load: Message("the matrix pipe is busy in {0} of SIMD cycles", _percent(load.matrix)),
    MEMORY: lambda load: Message(
        "compute units request up to {0:.1f} bytes/cycle each, memory delivers at most {1:.1f} "
        "to each, and {2} of the stall waits for vector memory",
        load.rate,
        load.roof,
        _percent(load.waits),
    ),
    ISSUE: lambda load: Message(
        "waves issue in {0} of SIMD cycles, and nothing happens in {1}",
        _percent(load.issue),
        _percent(load.nothing),
    ),
    LATENCY: _latency,
}

_SHORT: dict[str, Callable[[LoadNumbers], str]] = {
    LAUNCH: lambda load: Message("SIMDs hold no wave in {0} of the launch", _percent(load.empty)),
    COMPUTE: _SENTENCES[COMPUTE],
    MEMORY: lambda load: Message(
        "each CU requests up to {0:.1f} bytes/cycle, memory delivers {1:.1f}", load.rate, load.roof
    ),
    ISSUE: lambda load: Message("waves issue in {0} of SIMD cycles", _percent(load.issue)),
    LATENCY: lambda load: Message("nothing happens in {0} of SIMD cycles", _percent(load.nothing)),
}

_C = Cause
_WAITS = (_C.WAIT_LOAD, _C.WAIT_STORE, _C.WAIT_DMA, _C.WAIT_ATOMIC, _C.WAIT_CACHE)
VECTOR_MEMORY = (*_WAITS, _C.MEMORY_QUEUE, _C.OPERAND_READ)


def requested_bytes(inputs: FindingInputs) -> np.ndarray:
    """Bytes that each VMEM instruction requested with all lanes active, int64 [code rows]; of spills 0."""
    widths = inputs.widths
    each = np.where(widths.is_vector & ~scratch_accesses(inputs.trace.code), np.maximum(0, widths.width), 0)
    return each * widths.executions * widths.lanes


def memory_waits(inputs: FindingInputs) -> np.ndarray:
    """Rows of the attribution that wait for vector memory, without spills."""
    is_memory = np.isin(inputs.attribution.cause, VECTOR_MEMORY)
    return np.flatnonzero(is_memory & (inputs.patterns != SCRATCH))


def load_numbers(inputs: FindingInputs) -> LoadNumbers:
    """Return how the kernel used the device, by the waves that were read and the launch."""
    is_unread = inputs.trace.code.has_unread_work
    exposure, table, shape = inputs.exposure, inputs.attribution, inputs.shape
    resident = max(1, exposure.resident)
    memory = int(table.stall[memory_waits(inputs)].sum())
    is_hidden = inputs.widths.hides_bytes(inputs.widths.is_vector)
    return LoadNumbers(
        issue=exposure.issuing / resident,
        matrix=np.nan if is_unread else exposure.matrix / resident,
        nothing=np.nan if is_unread else exposure.nothing / resident,
        empty=shape.empty_share,
        unused=shape.unused_share,
        waits=memory / table.total_stall if table.total_stall else 0.0,
        rate=None if is_hidden else inputs.widths.rate(int(requested_bytes(inputs).sum())),
        roof=memory_roof(inputs.trace, inputs.facts),
    )


def class_of(inputs: FindingInputs) -> BoundClass | None:
    """Return what limits the kernel, by the waves that were read and the launch.

    None if it is not known: matrix work and bytes of instructions whose operands are unknown may decide.
    """
    load = load_numbers(inputs)
    return None if np.isnan(load.matrix) and load.empty < EMPTY else bound_class(load)
