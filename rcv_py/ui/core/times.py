"""The one way in which the window writes moments and lengths: in cycles, or in nanoseconds (`U`)."""

from __future__ import annotations

from rcv_py.base.records import dataclass
from rcv_py.base.text import count, nanoseconds
from rcv_py.model.trace import Trace


@dataclass(frozen=True, slots=True)
class Times:
    """Writes cycles of a trace; nanoseconds count from the begin of the trace, as on the ruler."""

    trace: Trace
    in_ns: bool

    @classmethod
    def of(cls, trace: Trace, *, in_ns: bool) -> Times:
        """Return the way the user chose; in cycles if the length of a cycle is not known."""
        return cls(trace, in_ns and trace.clock.ns(1) is not None)

    @property
    def unit(self) -> str:
        """What plain numbers count, for headings: `cycles`, or "" where each number has its unit."""
        return "" if self.in_ns else "cycles"

    def at(self, cycle: int) -> str:
        """Return a moment."""
        ns = self.trace.clock.ns(cycle - self.trace.span.begin) if self.in_ns else None
        return count(cycle) if ns is None else f"{ns:,.0f} ns"

    def length(self, cycles: float, *, has_unit: bool = True) -> str:
        """Return a length in the chosen unit alone."""
        ns = self.trace.clock.ns(cycles) if self.in_ns else None
        if ns is not None:
            return nanoseconds(ns)
        return f"{cycles:,.0f}" + (" cycles" if has_unit else "")

    def plain(self, cycles: float) -> str:
        """Return a length without a unit where a heading says it: that of cycles."""
        ns = self.trace.clock.ns(cycles) if self.in_ns else None
        return count(cycles) if ns is None else nanoseconds(ns)

    def both(self, cycles: float) -> str:
        """Return a length in the chosen unit, and in the other one behind it if it is known."""
        ns, text = self.trace.clock.ns(cycles), f"{cycles:,.0f} cycles"
        if ns is None:
            return text
        first, second = (nanoseconds(ns), text) if self.in_ns else (text, nanoseconds(ns))
        return f"{first} ({second})"
