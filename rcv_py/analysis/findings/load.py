"""How a kernel used SIMDs, memory and the device: the numbers that decide its class."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.findings.bound_class import MEMORY_ROOF, BoundClass, LoadNumbers, bound_class
from rcv_py.analysis.findings.inputs import FindingInputs

VECTOR_MEMORY = (
    Cause.WAIT_LOAD,
    Cause.WAIT_STORE,
    Cause.WAIT_DMA,
    Cause.WAIT_ATOMIC,
    Cause.MEMORY_QUEUE,
    Cause.OPERAND_READ,
)


def class_of(inputs: FindingInputs) -> BoundClass:
    """Return what limits the kernel."""
    return bound_class(load_numbers(inputs))


def load_numbers(inputs: FindingInputs) -> LoadNumbers:
    """Return the numbers of the waves that were read, and of the launch."""
    whole, table, shape = inputs.exposure, inputs.attribution, inputs.shape
    resident = max(1, whole.resident)
    memory = int(table.stall[np.isin(table.cause, VECTOR_MEMORY)].sum())
    return LoadNumbers(
        issue=whole.issuing / resident,
        matrix=whole.matrix / resident,
        nothing=whole.nothing / resident,
        empty=shape.empty_share,
        unused=shape.unused_share,
        waits=memory / table.total_stall if table.total_stall else 0.0,
        rate=inputs.widths.vector_rate,
        roof=MEMORY_ROOF.get(inputs.trace.target),
    )
