"""Times as text in the user's unit: the same in details, tips, measures and the wave panel."""

from __future__ import annotations

import re

from rcv_py.base.record import Value
from rcv_py.base.text import Message, count, nanoseconds, plural
from rcv_py.model.trace import Trace
from rcv_py.ui.core.settings_store import Settings

UNITS = "timeline.units"  # name of the option
MAX_CYCLES = 1 << 62
_NANOSECONDS = {"ns": 1.0, "µs": 1e3, "μs": 1e3, "us": 1e3, "ms": 1e6, "s": 1e9}  # factor by unit
_SHOWN_UNIT = "µs"  # unit of moments, and of a typed number without a unit in that display


class Times(Value):
    """Formats times of a capture: in cycles, or in nanoseconds where they are known."""

    ns_per_cycle: float = 0.0  # 0: write cycles
    origin: int = 0  # cycles: origin of nanoseconds, as on the axes
    known_ns: float = 0.0  # nanoseconds per cycle, also when cycles are written; 0: unknown

    @classmethod
    def of(cls, trace: Trace | None, settings: Settings) -> Times:
        """Return the current format of the capture's times; without a capture, cycles."""
        if trace is None:
            return cls()
        known = trace.clock.ns(1.0) or 0.0
        return cls(known if settings[UNITS] == "ns" else 0.0, trace.span.begin, known)

    @property
    def unit(self) -> str:
        """Return the unit of plain numbers, for headings: `cycles`, or "" where each number has its unit."""
        return "" if self.ns_per_cycle else "cycles"

    def number(self, cycles: float) -> str:
        """Return a duration: `1,116`, or `531 ns`."""
        return nanoseconds(cycles * self.ns_per_cycle) if self.ns_per_cycle else count(cycles)

    def span(self, cycles: float) -> str:
        """Return a duration with its unit: `1,116 cycles`, or `531 ns`."""
        return self.number(cycles) if self.ns_per_cycle else plural(cycles, "cycle")

    def both(self, cycles: float) -> str:
        """Return a duration followed by the other unit if it is known: `1,116 cycles (531 ns)`."""
        if not self.known_ns:
            return self.span(cycles)
        ns, text = nanoseconds(cycles * self.known_ns), plural(round(cycles), "cycle")
        return f"{ns} ({text})" if self.ns_per_cycle else Message("{0} ({1})", text, ns)

    def at(self, cycle: int) -> str:
        """Return a moment: `98,112`, or the time since the trace began, `46.720 µs`."""
        if not self.ns_per_cycle:
            return count(cycle)
        return f"{(cycle - self.origin) * self.ns_per_cycle / 1e3:,.3f} µs"

    def moment(self, text: str) -> int | None:
        """Return the cycle of a typed moment, None if the text is not a moment.

        A number without a unit means the unit that `at` shows: cycles, or microseconds since the trace began.
        A number with a unit means that unit: `98,112 cycles`, `46.72 µs`, `812 ns`.
        """
        plain = text.strip().lower().removesuffix("cycles").rstrip()
        is_cycles = plain != text.strip().lower()
        unit = next((unit for unit in _NANOSECONDS if plain.endswith(unit)), "")
        if not unit and (is_cycles or not self.ns_per_cycle):
            return cycles_in(plain)
        rate, digits = self.ns_per_cycle or self.known_ns, plain.removesuffix(unit).replace(",", "").strip()
        if is_cycles or not rate or not _DECIMAL.fullmatch(digits):
            return None
        cycle = self.origin + float(digits) * _NANOSECONDS[unit or _SHOWN_UNIT] / rate
        return round(cycle) if abs(cycle) <= MAX_CYCLES else None


_DECIMAL = re.compile(r"-?[0-9]{1,19}(\.[0-9]{0,9})?", re.ASCII)


def cycles_in(text: str) -> int | None:
    """Return the number in a text, None if it is not a number: `109,776`, `-4`, `110 000`."""
    plain = text.replace(",", "").replace(" ", "").replace("\u202f", "").strip()
    sign, digits = (-1, plain[1:]) if plain.startswith("-") else (1, plain)
    if not digits.isascii() or not digits.isdigit() or len(digits) > 19:
        return None
    value = sign * int(digits)
    return value if abs(value) <= MAX_CYCLES else None
