"""`rcv registers`: how many registers hold values still needed, where the peak is, and which are free."""

from rcv_py.analysis.program.code_match import why_not_known
from rcv_py.analysis.program.live_registers import live_registers
from rcv_py.base.text import Message, count, plural
from rcv_py.cli.answer import CommandAnswer, TextTable, listing
from rcv_py.cli.opening import facts_of, opened
from rcv_py.features.registers import result
from rcv_py.features.registers.options import RegistersOptions
from rcv_py.features.registers.result import METHOD, SCHEMA
from rcv_py.model.trace import Trace
from rcv_py.results.common import NO_INSTRUCTIONS
from rcv_py.results.places import placed_facts
from rcv_py.results.table import ResultTable
from rcv_py.work.occupancy import limits_of


def run(options: RegistersOptions) -> CommandAnswer:
    """List register files, all instructions, or what is held and free at one of them."""
    trace = opened(options)
    if options.line is not None:
        return _at(trace, options.line)
    if options.by == "instruction":
        return _instructions(trace, options)
    limits = limits_of(trace, facts_of(trace, options))
    table = result.file_table(trace, live_registers(trace.code), limits)
    return listing(
        options,
        trace,
        table,
        SCHEMA,
        lambda: result.register_facts(limits),
        footer=lambda _: ["", *filter(None, (limits.next_step, METHOD))],
        why_none="" if len(table) else why_not_known(trace) or ("" if len(trace.code) else NO_INSTRUCTIONS),
    )


def _instructions(trace: Trace, options: RegistersOptions) -> CommandAnswer:
    table = result.instruction_table(trace, live_registers(trace.code))

    def footer(shown: ResultTable) -> str:
        return Message("\n{0} of {1}.  {2}", count(len(shown)), plural(len(table), "instruction"), METHOD)

    return listing(options, trace, table, SCHEMA, footer=footer, why_none=why_not_known(trace))


def _at(trace: Trace, line: int) -> CommandAnswer:
    trace.check_line(line)
    table = result.place_table(trace, live_registers(trace.code), line)
    place = placed_facts(trace, line)
    text = [f"{line}  {place['text']}  {place['source']}", why_not_known(trace) or TextTable(table, trace)]
    return CommandAnswer.of_table(SCHEMA, table, lambda: text, lambda: place, of=trace)
