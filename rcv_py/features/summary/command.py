"""`rcv summary`: the capture on one page, or how long each unit of a compute unit was busy."""

from collections.abc import Iterator

import numpy as np

from rcv_py.analysis.core.occupancy import waves_of_unit
from rcv_py.analysis.cost.place_text import NO_PLACE
from rcv_py.analysis.device.pipe_use import PipeUse
from rcv_py.analysis.device.simd_work import ASTRAY
from rcv_py.analysis.device.utilization import unit_busy
from rcv_py.analysis.health.missing import UNMATCHED
from rcv_py.analysis.overview.device_summary import DeviceSummary, summary_by
from rcv_py.base.text import Message, capitalized, count, join_texts, percent, plural
from rcv_py.cli.answer import CommandAnswer, Facts, Part, TextColumn, TextGrid, TextTable, each
from rcv_py.cli.opening import ChosenWaves, answers, choose_waves, missing_text, opened
from rcv_py.features.summary import result
from rcv_py.features.summary.options import SummaryOptions
from rcv_py.features.waves.result import UNITS_SCHEMA, units
from rcv_py.model.ids import place_name
from rcv_py.model.kinds import state_name

# The sums differ where instructions of a wave overlap, or outlast it.
_UNITS = {"activity": "cycles of latency and idle time of {0}", "states": "cycles in recorded states of {0}"}
NOTHING = "There is nothing to sum up: no instruction ran, no wave was seen, and there are no PC samples."
STATIC = "This program has not run; see `rcv registers`, `rcv occupancy`, `rcv loops` and `rcv schedule`."


def run(options: SummaryOptions) -> CommandAnswer:
    """Return the summary of a capture, or the units of a compute unit."""
    return each(options, _unit_times if options.units else _summary)


def _summary(options: SummaryOptions) -> CommandAnswer:
    waves = choose_waves(options, wanted=(ASTRAY, UNMATCHED))
    lost = waves.of_all(UNMATCHED).sentence
    found = waves.of(summary_by(waves.rows))
    return CommandAnswer(
        schema=result.SCHEMA,
        document=lambda: result.summary_document(waves.trace.name, found),
        csv=lambda: result.summary_table(found).csv(),
        text=lambda: _text(found, waves, lost),
        of=waves,
        about={"problems": [lost] if lost else []},
    )


def _text(found: DeviceSummary, waves: ChosenWaves, lost: str) -> Iterator[Part]:
    yield waves.trace.name
    yield from filter(None, (waves.heading, lost))
    texts = (join_texts("  ", filter(None, (fact.text, fact.of))) for fact in found.facts)
    names = (Message.of(fact.name.lower(), "{0}", (fact.name,)) for fact in found.facts)
    yield Facts(list(zip(names, texts, strict=True)))
    if found.is_empty:
        yield f"\n{STATIC if waves.trace.is_static else NOTHING}"
    for title, rows in result.parts(found):
        total = sum(value for _, value in rows)
        whose = "the traced waves" if waves.rows is None or waves.choice is None else waves.choice.text
        unit = Message(_UNITS.get(title, "samples"), whose)
        yield Message("\n{0}, of {1} {2}", capitalized(title), count(total), unit)
        cells = [(state_name(row), count(value), percent(value, total)) for row, value in rows]
        yield TextGrid((TextColumn(""), TextColumn("count", True), TextColumn("share", True)), cells)
    if found.states is None and found.read and waves.rows != frozenset():
        yield Message("\nStates: {0} the waves have no timelines.", NO_PLACE)
    if found.pipes is not None:
        yield from _pipes(found, found.pipes, "a traced wave" if waves.rows is None else "one of these waves")
    if found.counters is not None and found.counters.bars:
        yield "\nHardware counters, share of the busy time; peaks: at the moment of the largest value"
        yield Facts([(bar.name, f"{bar.value:.1f} %") for bar in found.counters.bars])
    if found.units is not None:
        columns = found.units.columns
        values = zip(*(map(_cell, column) for column in columns.values()), strict=True)
        yield "\nCompute units"
        yield TextGrid([TextColumn(result.unit_text(name)[0], True) for name in columns], list(values))


def _pipes(found: DeviceSummary, pipes: PipeUse, whose: str) -> Iterator[Part]:
    yield Message("\nShare of the cycles in which a SIMD had {0}; for kinds of instruction: cycles of", whose)
    yield "issue; Other includes s_endpgm while the last operations of its wave are outstanding"
    yield "(waves issue several kinds in one cycle, so their shares can add up to more than 100 %)"
    names = ("issuing", "working", "mfma_busy", "no_issue", "bubbles", *pipes.used)
    rows: list[tuple[str, list[int]]] = []  # a SIMD: its cycles, then the cycles of each column
    for place, resident, columns in result.pipe_rows(found):
        columns["issuing"] = resident - columns["no_issue"]
        names = tuple(name for name in names if name in columns)
        rows.append((place, [resident, *(columns[name] for name in names)]))
    rows.append(("all", [sum(column) for column in zip(*(cycles for _, cycles in rows), strict=True)]))
    cells = [(place, count(of), *(percent(part, of) for part in cycles)) for place, (of, *cycles) in rows]
    titles = {field.name: field.title for field in result.SIMD} | {"Matrix": "Matrix issue"}
    shown = enumerate(("place", "simd_cycles", *names))
    yield TextGrid([TextColumn(titles.get(name, name), at > 0) for at, name in shown], cells)


def _cell(value: np.generic) -> str:
    number = result.plain_number(value)
    if isinstance(number, float):
        return f"{number:,.1f}".removesuffix(".0")
    return "" if number is None else count(number)


def _unit_times(options: SummaryOptions) -> CommandAnswer:
    trace = opened(options)
    if not len(trace.waves) and options.wave is None:
        nothing = {"place": "", "waves": 0, "range": None, "missing": ""}
        why = "The capture has no traced waves: record a thread trace of the kernel."
        return CommandAnswer.of_table(
            UNITS_SCHEMA, units((), trace.span), lambda: [why], lambda: nothing, of=trace
        )
    row = 0 if options.wave is None else trace.wave_row(options.wave)
    rows, index = waves_of_unit(trace, row), trace.waves
    window = trace.within(options.clock) or trace.span
    analysis = unit_busy(trace, window)
    found = answers(trace, (analysis,), rows.tolist())
    numbers = (int(column[row]) for column in (index.se, index.sa, index.cu))
    place = place_name(*numbers, unit=trace.architecture.unit_name)
    table = units(found.of(analysis), window)
    lost = missing_text(found.read, len(rows))

    def text() -> Iterator[Part]:
        yield Message("{0}, {1}", place, plural(found.read, "wave"))
        yield from filter(None, (lost, found.doubt))
        if found.read:
            yield TextTable(table, trace)
            what = "cycles of issue" if trace.architecture.busy_is_issue else "cycles of execution"
            of = Message("\nOf {0} cycles", count(window.width))
            yield Message("{0}; {1}, without counting a cycle twice.", of, what)
            if trace.architecture.layout == "vega":
                yield "VALU also has the matrix instructions, VMEM the LDS instructions."

    facts = {"place": place, "waves": found.read, "range": [window.begin, window.end], "missing": lost}
    return CommandAnswer.of_table(UNITS_SCHEMA, table, text, lambda: facts, of=trace)
