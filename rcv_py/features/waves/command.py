"""`rcv waves`: where and when waves ran, and what they did; or what one wave did."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from rcv_py.analysis.core.occupancy import Residencies, residencies, waves_of_kernels, waves_of_unit
from rcv_py.analysis.cost.hotspot import counted_rows
from rcv_py.analysis.cost.place_text import NO_PLACE
from rcv_py.analysis.waves.populations import ALL, POPULATIONS, WaveChoice, ran_text, wave_choice
from rcv_py.analysis.waves.wave_facts import wave_states
from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message, count, demangled, nanoseconds, percent, plural, short_kernel
from rcv_py.cli.answer import CommandAnswer, Facts, Part, TextTable, listing
from rcv_py.cli.opening import answers, check_engine, ends_of, missing_text, opened, wave_facts, wave_of
from rcv_py.features.waves import result as results
from rcv_py.features.waves.options import WavesOptions
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave
from rcv_py.model.window import TimeWindow
from rcv_py.results.table import ResultTable


def run(options: WavesOptions) -> CommandAnswer:
    """List the waves of a capture, the paths they took through the code, or what one wave did."""
    trace = opened(options)
    if options.wave is not None:
        return _of_wave(trace, wave_of(trace, options.wave), options)
    if options.populations:
        return _populations(trace, options)
    within = trace.within(options.within)
    check_engine(trace, options.se, "resident" if options.resident else "traced")
    choice = None
    if options.waves not in (None, ALL):
        choice = wave_choice(answers(trace, (POPULATIONS,)).of(POPULATIONS), options.waves or ALL)
    if options.resident:
        lives, there = shown_lives(trace, residencies(trace.occupancy), options), len(trace.occupancy)
        table = results.resident(trace, lives, _kernels(trace, lives.kernel.tolist()))
    else:
        table, there = _traced(trace, options, choice), len(trace.waves)

    def footer(shown: ResultTable) -> Iterator[str]:
        yield Message("\n{0:,} of {1}; times in cycles.", len(shown), plural(len(table), "wave"))
        if choice is not None:
            yield Message("Shown are {0}.", choice.text)

    return listing(
        options,
        trace,
        table,
        results.RESIDENT_SCHEMA if options.resident else results.SCHEMA,
        lambda: {"range": ends_of(within), "total_rows": len(table)},
        footer=footer,
        why_none="" if there else table.spec.nothing,
        unknown=NO_PLACE,
        about=None if choice is None else {"waves": wave_facts(choice, len(trace.waves))},
    )


def _populations(trace: Trace, options: WavesOptions) -> CommandAnswer:
    read = answers(trace, (POPULATIONS,))
    found = read.of(POPULATIONS)
    reached = found.reached if len(trace.code) else np.full(len(found), np.nan)
    table = ResultTable.of(results.POPULATIONS, found, {"instructions": reached})
    missing = missing_text(found.read, len(trace.waves))
    said = Message("\n{0}; cycles are lives of waves. --waves takes an id, working or all.", ran_text(found))
    return listing(
        options,
        trace,
        table,
        results.POPULATIONS_SCHEMA,
        lambda: {**results.population_facts(trace, found), "total_rows": len(table)},
        footer=lambda _: [said, *filter(None, (missing, read.doubt))],
        why_none="" if len(table) else missing or table.spec.nothing,
    )


def _traced(trace: Trace, options: WavesOptions, choice: WaveChoice | None) -> ResultTable:
    """The waves whose instructions were traced, with the cycles they spent in each state."""
    index = trace.waves
    rows = waves_of_unit(trace, None if options.unit_of is None else trace.wave_row(options.unit_of))
    rows = waves_of_kernels(trace, rows, _symbols(trace, options.without_kernel))
    rows = rows[~np.isin(index.se[rows], options.without_se)]
    kept = counted_rows(index, options.se, trace.within(options.within))
    if choice is not None and choice.rows is not None:
        kept &= choice.rows
    inside = [row for row in rows.tolist() if row in kept]
    states = wave_states(trace.within(options.within))
    read = answers(trace, (states,), inside).of(states)
    return results.waves(trace, inside, read, _kernels(trace, index.kernel[inside].tolist()))


def shown_lives(trace: Trace, lives: Residencies, options: WavesOptions) -> Residencies:
    """Omit engines, kernels, and waves outside of the range."""
    symbols = _symbols(trace, options.without_kernel)
    hidden = [number for number, name in trace.occupancy.names.items() if name in symbols]
    kept = ~np.isin(lives.se, options.without_se) & ~np.isin(lives.kernel, hidden)
    if options.se is not None:
        kept &= lives.se == options.se
    if options.within is not None:
        kept &= (lives.begin < options.within[1]) & (lives.end > options.within[0])
    if options.unit_of is not None:
        row, index = trace.wave_row(options.unit_of), trace.waves
        for own, of_wave in ((lives.se, index.se), (lives.sa, index.sa), (lives.cu, index.cu)):
            kept &= own == of_wave[row]
    return lives.at(kept)


def _symbols(trace: Trace, given: Sequence[str]) -> list[str]:
    """Return the symbols of kernels that are given by symbol, or by name as tables print it."""
    symbols, found = trace.occupancy.names.values(), list[str]()
    for name in given:
        named = [one for one in symbols if name in (one, demangled(one), short_kernel(one))]
        if not named:
            hint = Message("These ran: {0}.", ", ".join(sorted(set(map(demangled, symbols)))))
            raise UsageError(Message("No kernel {0} ran here.", name), hint=hint)
        found += named
    return found


def _kernels(trace: Trace, numbers: Sequence[int]) -> list[str]:
    return [demangled(trace.occupancy.names.get(number, "")) if number >= 0 else "" for number in numbers]


def _of_wave(trace: Trace, wave: TracedWave, options: WavesOptions) -> CommandAnswer:
    """What one wave did, and its instructions in execution order."""
    within = trace.within(options.within)
    facts = results.wave_facts(trace, wave, within, trace.within(options.touching))
    tokens = results.token_table(trace, wave, within or TimeWindow(wave.begin, wave.end))

    def text() -> Iterator[Part]:
        duration = trace.clock.ns(facts["cycles"])
        lasted = plural(facts["cycles"], "cycle") + ("" if duration is None else f", {nanoseconds(duration)}")
        counted = Message("{0:,} of {1}", facts["counted"], plural(facts["traced"], "wave"))
        rows = [
            ("life", Message("{0} to {1}, {2}", count(wave.begin), count(wave.end), lasted)),
            ("place", Message("compute unit {0}", wave.cu) if wave.cu >= 0 else ""),
            ("instructions", count(facts["hits"])),
            ("states", _states(facts["states"])),
            ("counted", counted if options.touching else ""),
        ]
        yield str(wave.id)
        yield Facts([(name, value) for name, value in rows if value])
        if options.tokens:
            yield from ("", TextTable(tokens, trace))

    return CommandAnswer(
        schema=results.WAVE_SCHEMA,
        document=lambda: facts | ({"instructions": tokens.rows()} if options.tokens else {}),
        csv=tokens.csv,
        text=text,
        of=trace,
    )


def _states(states: Mapping[str, int | None]) -> str:
    known = {name: cycles for name, cycles in states.items() if cycles is not None}
    total = sum(known.values())
    shares = ", ".join(f"{name} {percent(cycles, max(1, total))}" for name, cycles in known.items())
    recorded = Message("{0}, of {1} recorded cycles", shares, count(total))
    return recorded if known else Message("{0} the wave has no timeline", NO_PLACE)
