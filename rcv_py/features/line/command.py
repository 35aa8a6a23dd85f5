"""`rcv line`: how long the executions of an instruction took, or the facts of one execution or wave."""

from collections.abc import Iterable, Iterator
from typing import Any

from rcv_py.analysis.core.occupancy import waves_of_unit
from rcv_py.analysis.cost import distribution
from rcv_py.analysis.cost.distribution import DistributionChoice, DistributionView, LineHits
from rcv_py.analysis.cost.pc_samples import stall_reasons
from rcv_py.analysis.cost.place_text import numbered_text
from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message, count, join_texts, percent, plural
from rcv_py.cli.answer import CommandAnswer, Facts, Part, TextColumn, TextGrid, TextTable, heading
from rcv_py.cli.opening import ChosenWaves, batches, check_hit, chosen, opened, refuse, warn, wave_of
from rcv_py.features.line import result
from rcv_py.features.line.options import LineOptions
from rcv_py.model.trace import Trace
from rcv_py.results.places import placed_facts
from rcv_py.state.selection import Selection

_BARS = 16
_BAR_CHARS = 40
_HINT = "Places look like se0/simd2/slot1/wv0:instruction 62 hit 1."


def run(options: LineOptions) -> CommandAnswer:
    """Return the distribution of an instruction, or the facts about places."""
    trace, line = opened(options), options.line
    if not isinstance(line, int):
        return _places(trace, [line, *options.more])
    if options.more:
        what = Message("{0} is one argument too many.", options.more[0])
        raise UsageError(what, hint="Name one instruction.")
    alarm = warn(trace)
    trace.check_line(line)
    if trace.has_pc_samples and not len(trace.waves):
        refuse(trace, options, "PC samples do not name waves.")
        return _samples(trace, line, options)
    wanted = distribution.hits_of(line)
    waves = chosen(trace, options, alarm, (wanted,))
    return _distribution(waves, waves.of(wanted), line, options)


def _distribution(waves: ChosenWaves, hits: LineHits, line: int, options: LineOptions) -> CommandAnswer:
    trace, metric = waves.trace, options.metric
    wanted = DistributionChoice(metric, options.bars or _BARS, options.log)
    view = distribution.distribution_view(hits, wanted, trace.architecture.base_clock)
    last = len(view.histogram.totals) - 1
    if options.bar is not None and options.bar > last:
        hint = Message("The last one is {0}.", last)
        raise UsageError(Message("There is no bar {0}.", options.bar), hint=hint)
    rows = view.ranked if options.bar is None else view.in_bin(options.bar)  # the slowest first
    table = result.hit_table(trace, hits, rows[: options.top or None])

    def document() -> dict[str, Any]:
        return placed_facts(trace, line) | {
            "by": metric,
            "hits": len(hits) if len(hits) or not waves.missing else None,
            "missing": waves.missing,
            "measures": result.spread_facts(result.spreads(hits)),
            "bins": {"edges": view.histogram.edges.tolist(), "hits": view.histogram.totals.tolist()},
            "slowest": table.rows(),
        }

    def text() -> Iterator[Part]:
        yield from heading(waves)
        yield numbered_text(trace, line)
        if not len(hits):
            yield _why_none(waves, line)
            return
        yield TextTable(result.spread_table(result.spreads(hits)))
        yield Message("\n{0}: {1}, in cycles", metric, distribution.MEASURE_TEXT[metric])
        if view.spread is None:
            yield "No wave ran it twice."
            return
        yield _bars(view)
        yield Message("\nThe slowest {0} by {1}", plural(len(table), "hit"), metric)
        yield TextTable(table)

    return CommandAnswer(schema=result.SCHEMA, document=document, csv=table.csv, text=text, of=waves)


def _why_none(waves: ChosenWaves, line: int) -> str:
    """Why there is no execution to show; missing waves allow no conclusion."""
    hits = int(waves.trace.code.hits[line])
    counted = plural(hits, "execution")
    if waves.missing and hits:
        why = "none of the waves that were read ran this instruction"
        why = why if waves.read else "no wave could be read"
        return Message("code.json counts {0}, but {1}.", counted, why)
    if hits and waves.rows is not None:
        return Message("None of these waves ran this instruction; --waves all has {0}.", counted)
    return "No traced wave ran this instruction."


def _bars(view: DistributionView) -> TextGrid:
    totals, edges = view.histogram.totals.tolist(), view.histogram.edges.tolist()
    rows = []
    for low, high, hits in zip(edges, edges[1:], totals, strict=False):
        bar = "█" * -(-hits * _BAR_CHARS // max(totals))
        rows.append((count(low), count(high - 1), count(hits), percent(hits, sum(totals)), bar))
    numbers = (TextColumn(name, True) for name in ("from", "to", "hits", "share"))
    return TextGrid((*numbers, TextColumn("", elastic="right")), rows)


def _samples(trace: Trace, line: int, options: LineOptions) -> CommandAnswer:
    """PC samples of an instruction: how often, and why it stalled; they have no times."""
    timed = [name for name in ("metric", "top", "log", "bars", "bar") if name in options.given]
    if timed:
        hint = Message("Leave --{0} out.", timed[0])
        raise UsageError(Message("--{0} is about times, and PC samples have none.", timed[0]), hint=hint)
    found = stall_reasons(trace.code, slice(line, line + 1))
    samples = result.sample_facts(trace.code, line)
    counts = [(name, samples[name]) for name in ("issued", "stalled", "unsure") if samples[name]]
    counts += samples["reasons"].items()
    facts = [(name, f"{count(value)}  {percent(value, found.samples)}") for name, value in counts]
    facts += [(name, f"{samples[name]:,.1f}") for name in ("lanes", "waves") if samples[name] is not None]
    why = "PC samples have no times, so there is no distribution."
    return CommandAnswer(
        schema=result.SCHEMA,
        document=lambda: placed_facts(trace, line) | {"samples": samples},
        csv=lambda: result.sample_table(found).csv(),
        text=lambda: [numbered_text(trace, line), Facts(facts), why],
        of=trace,
    )


def _places(trace: Trace, texts: Iterable[str]) -> CommandAnswer:
    places = [_place(trace, text) for text in texts]

    def csv() -> tuple[tuple[str, ...], list[list[Any]]]:
        rows = [[place["argument"], name, value] for place in places for name, value in _facts(place)]
        return ("place", "what", "value"), rows

    def text() -> Iterator[Part]:
        for at, place in enumerate(places):
            yield ("\n" if at else "") + place["argument"]
            counted = place | ({"hit": place["hit"] + 1} if place["hit"] is not None else {})  # for people
            yield Facts([(name, _text(value)) for name, value in _facts(counted)])

    return CommandAnswer(
        schema=result.PLACE_SCHEMA, document=lambda: {"places": places}, csv=csv, text=text, of=trace
    )


def _place(trace: Trace, text: str) -> dict[str, Any]:
    try:
        selection = Selection.parse(text)
    except ValueError as error:
        raise UsageError(f"{error}.", hint=_HINT) from error
    line = selection.line
    if selection.wave is None and line is None:
        raise UsageError("An empty text is not a place.", hint=_HINT)
    trace.check_line(*([] if line is None else [line]))
    place: dict[str, Any] = {"argument": text, "wave": None, "instruction": line, "hit": selection.hit}
    if line is not None:
        place |= result.line_facts(trace, line)
    if selection.wave is not None:
        wave = wave_of(trace, str(selection.wave))
        place |= result.wave_facts(wave)
        if line is not None:
            check_hit(selection.hit, len(wave.executions(line)))
            read = batches(trace, set(waves_of_unit(trace, wave.row).tolist()))
            place |= result.execution_facts(trace, wave, line, selection.hit, read)
    return place


def _facts(place: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every fact of a place as a name and a value."""
    for name, value in place.items():
        if name == "argument" or value is None or value == "":
            continue
        if isinstance(value, dict):
            for part, fact in value.items():
                inner = fact.items() if isinstance(fact, dict) else [(part, fact)]
                yield from ((join_texts(", ", (name, key)), one) for key, one in inner)
        elif isinstance(value, list):
            yield from ((name.replace("_", " "), _joined(item)) for item in value)
        else:
            yield name.replace("_", " "), value


def _joined(item: dict[str, Any]) -> str:
    facts = ((name.replace("_", " "), fact) for name, fact in item.items() if fact not in (None, ""))
    return join_texts(", ", (Message("{0} {1}", name, _text(fact)) for name, fact in facts))


def _text(value: Any) -> str:
    return count(value) if isinstance(value, int) and not isinstance(value, bool) else str(value)
