"""Times as texts, in the unit that the user chose: one way for details, tips and the wave panel."""

from __future__ import annotations

from rcv_py.base.records import dataclass
from rcv_py.base.text import count, nanoseconds
from rcv_py.model.trace import Trace
from rcv_py.ui.core.settings_store import Settings

UNITS = "timeline.units"  # the option


@dataclass(frozen=True, slots=True)
class Times:
    """How times of a capture are written: in cycles, or in nanoseconds where these are known."""

    ns_per_cycle: float = 0.0  # 0: write cycles
    origin: int = 0  # cycles: where nanoseconds count from, as on the axes

    @classmethod
    def of(cls, trace: Trace, settings: Settings) -> Times:
        """Return how the times of a capture are written now."""
        rate = trace.clock.ns(1.0) if settings[UNITS] == "ns" else None
        return cls(rate or 0.0, trace.span.begin)

    @property
    def unit(self) -> str:
        """What plain numbers count, for headings: `cycles`, or "" where each number has its unit."""
        return "" if self.ns_per_cycle else "cycles"

    def number(self, cycles: float) -> str:
        """Return a duration: `1,116`, or `531 ns`."""
        return nanoseconds(cycles * self.ns_per_cycle) if self.ns_per_cycle else count(cycles)

    def span(self, cycles: float) -> str:
        """Return a duration with its unit: `1,116 cycles`, or `531 ns`."""
        return self.number(cycles) if self.ns_per_cycle else f"{count(cycles)} cycles"

    def at(self, cycle: int) -> str:
        """Return a moment: `98,112`, or the time since the trace began, `46.720 µs`."""
        if not self.ns_per_cycle:
            return count(cycle)
        return f"{(cycle - self.origin) * self.ns_per_cycle / 1e3:,.3f} µs"
