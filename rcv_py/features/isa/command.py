"""`rcv isa`: the listing with costs, its basic blocks, its branches, or its labels."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.attribution.attribute import ATTRIBUTION
from rcv_py.analysis.core.cost_columns import SAMPLES, CostColumns, cost_columns
from rcv_py.analysis.core.reduction import Analysis
from rcv_py.analysis.cost.annotations import Annotation, Ingredients, annotation, why_not
from rcv_py.analysis.cost.hotspot import KINDS
from rcv_py.analysis.latency.hidden_latency import HIDDEN
from rcv_py.analysis.latency.memory_latency import MEMORY
from rcv_py.analysis.program.blocks import labels
from rcv_py.analysis.program.branches import BRANCHES
from rcv_py.analysis.waits.wait_latency import LATENCIES
from rcv_py.base.errors import UsageError
from rcv_py.base.text import DASH, Message, count, join_texts, plural, uncapitalized
from rcv_py.cli.answer import CommandAnswer, Facts, Part, listing, matched, nothing
from rcv_py.cli.opening import ChosenWaves, announced, check_hit, counted_waves, opened, refuse_unrun, wave_of
from rcv_py.cli.options.option import flag_of
from rcv_py.features.isa.help_result import SCHEMA, asked, help_facts, help_table
from rcv_py.features.isa.options import IsaOptions
from rcv_py.features.isa.result import LABELS, MODES, IsaListing
from rcv_py.features.isa.result import listing as rows_of
from rcv_py.features.isa.static_result import SCHEMA as PROGRAM_SCHEMA
from rcv_py.features.isa.static_result import program_table
from rcv_py.formats.isa.described import descriptions
from rcv_py.model.modes import LatencyMode, ReferenceRule
from rcv_py.model.trace import NOT_RUN, Trace
from rcv_py.results.common import LATENCY_AND_IDLE, NO_INSTRUCTIONS
from rcv_py.results.table import ResultTable

_KINDS = {"instruction": "instructions", "block": "blocks", "branch": "branches", "label": "labels"}
# The input of the bars of a mode, and the function that makes it.
_NEEDS: dict[Annotation, tuple[str, Analysis]] = {
    Annotation.NONHIDDEN: ("hidden", HIDDEN[ReferenceRule.OURS]),
    Annotation.KINDS: ("kinds", KINDS),
    Annotation.CAUSES: ("causes", ATTRIBUTION),
    Annotation.MEMORY: ("memory", MEMORY[ReferenceRule.OURS]),
    Annotation.MEMORY_WAITS: ("waits", LATENCIES),
}


def run(options: IsaOptions) -> CommandAnswer:
    """List the instructions, blocks, branches or labels of a capture, or help on some instructions."""
    if options.help_of is not None:
        return _help(opened(options), options.help_of, options.isa_xml)
    waves = counted_waves(options, (BRANCHES,))
    trace = waves.trace
    if trace.is_static and options.by in ("instruction", "block"):
        return _program(trace, options)
    if options.by == "label":
        refuse_unrun(trace, "the cost of labels")
    found = _listing(waves, _costs(trace, options), options)
    kept = _kept(found.table, options)
    if kept is not None:
        found = found.at(kept)
    # --sort ranks the rows; by default, their cost.
    table = found.table if options.sort else found.top(options.top)
    noun, nouns = table.spec.noun, _KINDS[options.by]

    def footer(shown: ResultTable) -> str:
        text = _of_all(trace, shown, found.table, nouns)
        if options.by in ("branch", "label"):  # shares are of how often each was met
            return text
        whole: str = "all samples"
        if found.measure != SAMPLES:
            whole = Message("the latency{0} of all instructions", "" if options.no_idle else " and idle time")
        return Message("{0} Shares are of {1}.", text, whole)

    why_none = "" if len(found.table) else nothing(noun, options, Message("The program has no {0}.", nouns))
    if not len(trace.code) and noun != "label":
        why_none = NO_INSTRUCTIONS
    return listing(
        options,
        waves,
        table,
        SCHEMA,
        lambda: {
            "kind": _KINDS[options.by],
            "measure": found.measure,
            "share_base": _base(options, found.measure),
            "total_rows": len(found.table),
        },
        footer=footer,
        why_none=why_none,
        unknown=DASH,
    )


def _program(trace: Trace, options: IsaOptions) -> CommandAnswer:
    """The instructions or blocks of a program that has not run."""
    for flag in sorted({"mode", "bars", "no_idle"} & options.given):
        what = Message("{0} is about costs, and this program has not run.", flag_of(flag))
        raise UsageError(what, hint="Leave it out, or record the kernel with rocprofv3 --att.")
    table = program_table(trace, options.by)
    kept = _kept(table, options)
    shown = table if kept is None else table[kept]
    noun, nouns = table.spec.noun, _KINDS[options.by]

    def footer(rows: ResultTable) -> str:
        text = _of_all(trace, rows, shown, nouns)
        return join_texts(" ", filter(None, (text, table.spec.note, NOT_RUN)))

    return listing(
        options,
        trace,
        shown.head(options.top),
        PROGRAM_SCHEMA,
        lambda: {"kind": nouns, "total_rows": len(shown)},
        footer=footer,
        why_none="" if len(shown) else nothing(noun, options, table.spec.nothing),
    )


def _of_all(trace: Trace, shown: ResultTable, table: ResultTable, nouns: str) -> str:
    """`3 of 726 instructions.`: labels are rows, but no instructions."""
    part, every = len(shown), len(table)
    if nouns == "instructions":
        rows = (np.asarray(one.columns["instruction"], dtype=np.int64) for one in (shown, table))
        part, every = (int(np.count_nonzero(~trace.code.is_label[own])) for own in rows)
    return Message("\n{0} of {1}.", count(part), plural(every, table.spec.noun, nouns))


def _kept(table: ResultTable, options: IsaOptions) -> np.ndarray | None:
    """The rows that the options match by their text, or by the name of a block or label; None: all."""
    kept = matched(table.plain("text" if "text" in table.spec else "name"), options)
    return None if kept is None else np.array(sorted(kept), dtype=np.int64)


def _base(options: IsaOptions, measure: str) -> str:
    """Return the name of what shares are parts of."""
    if options.by == "branch":
        return "executions of the branch"
    if measure == SAMPLES:
        return SAMPLES
    return "latency" if options.no_idle or options.by == "label" else LATENCY_AND_IDLE


def _help(trace: Trace, wanted: str, file: Path | None) -> CommandAnswer:
    texts = asked(trace, wanted)
    if not texts:
        raise UsageError(Message("The capture has no instruction {0}.", wanted), hint="`rcv isa` lists them.")
    table = help_table(trace, texts, descriptions(trace.target, texts, file))

    def text() -> Iterator[Part]:
        for at, row in enumerate(table.rows()):
            yield from ("",) if at else ()
            yield Facts(help_facts(row))

    return CommandAnswer.of_table(SCHEMA, table, text, lambda: {"target": trace.target}, of=trace)


def _costs(trace: Trace, options: IsaOptions) -> CostColumns:
    mode = MODES[options.mode]
    if mode in (LatencyMode.SUM_ALL, LatencyMode.MEAN_ALL):
        return cost_columns(trace.code, mode)
    if options.wave is None:
        raise UsageError("This mode is about one wave.", hint="Name it with --wave se0/simd2/slot1/wv0.")
    costs = cost_columns(trace.code, mode, wave_of(trace, options.wave), options.hit - 1)
    if mode is LatencyMode.ITERATION:
        check_hit(options.hit - 1, int(costs.hits.max(initial=0)))
    return costs


def _listing(waves: ChosenWaves, costs: CostColumns, options: IsaOptions) -> IsaListing:
    trace, kind = waves.trace, _KINDS[options.by]
    if kind == "labels":
        named = labels(trace.code, costs.latency)
        cost = np.array([label.cost for label in named], dtype=np.int64)
        return IsaListing(ResultTable.of(LABELS, named), cost, costs.label)
    found = rows_of(trace, kind, lambda: waves.of(BRANCHES), costs, show_idle=not options.no_idle)
    if options.bars is None:
        return found
    mode, known = Annotation[options.bars.upper()], {}
    if mode in _NEEDS:
        name, analysis = _NEEDS[mode]
        with announced(waves, options) as answers:
            known[name] = answers.of(analysis)
    ingredients = Ingredients(trace.code, costs, not options.no_idle, **known)
    if reason := why_not(mode, ingredients):
        raise UsageError(Message("There are no bars of {0}: {1}", options.bars, uncapitalized(reason)))
    columns = {**found.table.columns, "bar": annotation(mode, ingredients).total}
    return replace(found, table=ResultTable(found.table.spec, columns))
