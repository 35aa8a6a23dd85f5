"""`rcv roofline`: how near a kernel and its loops are to the peaks of a compute unit and of memory."""

from collections.abc import Iterator

from msgspec.structs import replace

from rcv_py.analysis.iterations.loop_summary import LOOPS
from rcv_py.analysis.latency.access_widths import WIDTHS
from rcv_py.analysis.overview.roofline import roofline
from rcv_py.base.text import Message, count
from rcv_py.cli.answer import CommandAnswer, listing
from rcv_py.cli.opening import choose_waves, facts_of
from rcv_py.features.roofline import result
from rcv_py.features.roofline.options import RooflineOptions
from rcv_py.results.table import ResultTable


def run(options: RooflineOptions) -> CommandAnswer:
    """List the kernel and its loops."""
    waves = choose_waves(options, (WIDTHS, LOOPS))
    trace, widths = waves.trace, waves.of(WIDTHS)
    run_facts = facts_of(trace, options)
    found = roofline(trace, widths, waves.of(LOOPS), run_facts)
    table = result.roofline_table(trace, found)
    facts = result.roofline_facts(trace, found, run_facts, widths.lanes)

    def footer(_: ResultTable) -> Iterator[str]:
        yield ""
        yield from (text for one in found.scopes[:1] for text in result.computed_texts(one.computed))
        if facts["launch_flop"]:
            template = "{0:,.0f} FLOP of MFMA/WMMA in {1} waves"
            launch = Message(template, facts["launch_flop"], count(facts["launch_waves"]))
            yield Message("The whole launch, if all its waves do the same: {0}.", launch)
        yield facts["note"]

    why = waves.why_none("peaks")
    answer = listing(options, waves, table, result.SCHEMA, footer=footer, why_none=why, unknown="–")
    return replace(answer, document=lambda: {**facts, "rows": result.roofline_rows(trace, found)})
