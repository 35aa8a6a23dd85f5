"""What memory delivers to each compute unit, from the device that was recorded and its clock."""

from math import isclose, nan

from rcv_py.model.architecture import devices_of
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace


def memory_roof(trace: Trace, facts: RunFacts | None = None) -> float | None:
    """Return the most bytes per cycle that memory delivers to each compute unit if all of them ask.

    `facts` name the device.  Cycles are those of the recorded shader clock, else of the peak clock.  None if
    the device is not known and those that it may be differ.
    """
    agent = None if facts is None else facts.agent
    devices = devices_of(trace.target, *(("", 0) if agent is None else (agent.product, agent.cus)))
    hz = trace.clock.shader_hz
    roofs = [one.bandwidth / one.cus / (hz or one.clock) for one in devices]
    is_known = bool(roofs) and isclose(min(roofs), max(roofs), rel_tol=0.01)
    return roofs[0] if is_known else None


def highest_memory_roof(target: str) -> float:
    """Return the same for the device of a target that gets most, at its peak clock; nan without one."""
    return max((one.bandwidth / one.cus / one.clock for one in devices_of(target)), default=nan)
