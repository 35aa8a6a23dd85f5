"""`rcv range`: what waves did in a range of cycles, and the time from one instruction to another."""

from collections.abc import Iterator
from typing import Any

from rcv_py.analysis.iterations.segments import PairDistance, between_of
from rcv_py.analysis.overview.range_costs import range_costs_of
from rcv_py.base.text import Message, count, join_texts, nanoseconds, plural
from rcv_py.cli.answer import CommandAnswer, Facts, Part, TextTable, heading
from rcv_py.cli.opening import chosen, opened, warn
from rcv_py.features.range import result
from rcv_py.features.range.options import RangeOptions
from rcv_py.model.trace import Trace


def run(options: RangeOptions) -> CommandAnswer:
    """Sum up a range of a capture."""
    trace = opened(options)
    window = trace.within(options.clock) or trace.span
    ends, analysis = options.between, range_costs_of(window)
    trace.check_line(*ends or ())
    pair = None if ends is None else between_of(*ends)
    waves = chosen(trace, options, warn(trace), (analysis, *([pair] if pair else [])))
    found = waves.of(analysis)
    steps = None if pair is None else waves.of(pair)
    table = result.range_table(trace, found, options.top or None)

    def text() -> Iterator[Part]:
        yield from heading(waves)
        ns = trace.clock.ns(window.width)
        length = plural(window.width, "cycle") + (f" ({nanoseconds(ns)})" if ns is not None else "")
        read, cycles = plural(found.waves, "traced wave"), plural(found.wave_cycles, "cycle")
        lived = Message("{0}, {1} of waves", read, cycles)
        facts: list[tuple[str, str]] = [("range", Message("{0}, {1}", window, length))]
        if waves.read:
            facts += [("waves", lived), ("executions", count(int(found.hits.sum())))]
        flop = result.flop_facts(trace, found)
        facts += [(name, join_texts(", ", filter(None, texts))) for name, *texts in flop]
        facts += [("between", _between(trace, ends, steps))] if ends and steps else []
        if len(trace.waves):
            yield Facts(facts)
        if why := waves.why_none("ranges"):
            yield why
            return
        parts = table.plain("part")
        for part, title in result.TITLES.items():
            if part in parts:
                first = parts.index(part)
                yield Message("\n{0}", title)
                yield TextTable(table[first : first + parts.count(part)], trace)
        yield Message("\n{0}", result.SHARES)
        yield found.causes.assumption

    def facts() -> dict[str, Any]:
        between = None if ends is None or steps is None else result.between_facts(ends, steps)
        return {**result.range_facts(trace, found, is_read=waves.read > 0), "between": between}

    return CommandAnswer.of_table(result.SCHEMA, table, text, facts, of=waves)


def _between(trace: Trace, ends: tuple[int, int], found: PairDistance) -> str:
    a, b = (f"{row} {trace.code.text[row].split()[0]}" if trace.code.text[row] else str(row) for row in ends)
    if not found.count:
        return Message("{0} never follows {1} in a wave", b, a)
    least, most, times = count(found.least), count(found.most), plural(found.count, "iteration")
    text = "{0} → {1}: median {2:,.0f} cycles, {3} … {4}, mean {5:,.1f}, {6}"
    return Message(text, a, b, found.median, least, most, found.total / found.count, times)
