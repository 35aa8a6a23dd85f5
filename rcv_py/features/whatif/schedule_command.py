"""`rcv schedule`: how long hot blocks take as ordered and in a better order, and which loads to move."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from rcv_py.analysis.core.cost_columns import LINES
from rcv_py.analysis.program.branches import BRANCHES
from rcv_py.analysis.program.code_match import why_not_known
from rcv_py.analysis.waits.wait_latency import LATENCIES
from rcv_py.analysis.whatif.block_schedule import BlockSchedule, block_schedules
from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message, join_texts, plural
from rcv_py.cli.answer import CommandAnswer, listing
from rcv_py.cli.opening import choose_waves
from rcv_py.features.whatif.options import ScheduleOptions
from rcv_py.features.whatif.schedule_result import PROGRAM_SCHEMA, SCHEMA, move_records, schedule_table
from rcv_py.formats.isa.mca import Estimate, estimate, find_mca
from rcv_py.model.trace import Trace
from rcv_py.results.table import ResultTable

SHOWN = 3  # moves of a block that the text names


def run(options: ScheduleOptions) -> CommandAnswer:
    """List the costliest blocks."""
    waves = choose_waves(options, (LINES, LATENCIES, BRANCHES))
    trace, code = waves.trace, waves.code
    found = block_schedules(trace, code, waves.of(LATENCIES), waves.of(BRANCHES))
    said = [_estimate(program, trace, one) for one in found] if (program := _mca(options)) else []
    estimates = [float("nan") if one is None else float(one.cycles) for one in said] if program else None
    table = schedule_table(trace, found, int((code.latency + code.idle)[~code.is_label].sum()), estimates)
    known = [one for one in said if one is not None]
    target, left_out = known[0].processor if known else "", sum(one.left_out for one in known)
    by_mca = {"llvm_mca_target": target, "llvm_mca_left_out": left_out} if program else {}
    note = table.spec.note

    def rows() -> list[dict[str, Any]]:
        blocks = zip(table.rows(), found, strict=True)
        return [row | {"moves": move_records(one), "order": list(one.order)} for row, one in blocks]

    def footer(_: ResultTable) -> Iterator[str]:
        yield ""
        for one in found:
            texts = [
                Message("{0} before {1} ({2})", row, before, plural(saved, "cycle"))
                for row, before, saved in one.moves[:SHOWN]
            ]
            if texts:
                loads, moves = plural(len(one.moves), "load"), join_texts(", ", texts)
                yield Message("Block {0}: {1} would pay alone: {2}.", one.block, loads, moves)
        yield note
        if why := why_not_known(trace):
            yield why
        if by_mca:
            took, lost = target or "nothing", plural(left_out, "instruction")
            yield Message("llvm-mca took {0} and left out {1}; it knows no measured latencies.", took, lost)

    none = "" if trace.is_static else waves.why_none("blocks")
    why_none = none or ("" if found else why_not_known(trace))
    schema = PROGRAM_SCHEMA if trace.is_static else SCHEMA
    answer = listing(options, waves, table, schema, footer=footer, why_none=why_none)
    return replace(answer, document=lambda: {"note": note, **by_mca, "rows": rows()})


def _mca(options: ScheduleOptions) -> str:
    """The path of llvm-mca if requested, else ""; raise UsageError if it is not installed."""
    if not options.mca:
        return ""
    if not (program := find_mca()):
        hint = "It comes with LLVM; install it, or leave --mca out."
        raise UsageError("llvm-mca is not installed.", hint=hint)
    return program


def _estimate(program: str, trace: Trace, one: BlockSchedule) -> Estimate | None:
    rows, code = range(one.first, one.last + 1), trace.code
    return estimate(program, trace.target, [code.text[row] for row in rows if not code.is_label[row]])
