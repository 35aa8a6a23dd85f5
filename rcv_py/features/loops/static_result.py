"""Loops of a program that has not run: what an iteration holds, and how long it takes by a model."""

from rcv_py.analysis.whatif.static_program import COUNTED, static_loops
from rcv_py.model.trace import Trace
from rcv_py.results import common, kinds
from rcv_py.results.places import sources
from rcv_py.results.table import ResultTable, Schema, Spec

_TITLES = {"valu": "VALU", "mfma": "MFMA", "lds": "LDS", "scalar_memory": "scalar memory"}
LOOPS = Spec(
    "loops program",
    "One row per loop of a program that has not run, in its order; instructions of inner loops count once.",
    "loop",
    kinds.ROW("head", "First instruction, counted from 0"),
    kinds.ROW("last", "Last instruction, counted from 0"),
    kinds.COUNT("depth", "Loops around it, and itself"),
    kinds.COUNT("instructions", "Instructions in it"),
    *(kinds.COUNT(name, f"Of them: {_TITLES.get(name, name)}", _TITLES.get(name, name)) for name in COUNTED),
    kinds.COUNT.maybe("bytes", "Bytes that an iteration of a wave requests from memory, with all lanes"),
    kinds.COUNT.maybe("lds_bytes", "The same of LDS", "LDS bytes"),
    kinds.COUNT.maybe("flop", "Floating-point operations of an iteration of a wave, with all lanes", "FLOP"),
    kinds.MEAN_CYCLES.maybe(
        "memory_cycles", "Least time of a compute unit for its bytes, none of them from a cache"
    ),
    kinds.MEAN_CYCLES.maybe(
        "compute_cycles", "Least time of a compute unit for its operations at their peaks"
    ),
    kinds.MEAN_CYCLES.maybe("length", "Modelled time of an iteration of a wave alone", "cycles"),
    kinds.SHARE.maybe(
        "mfma_busy_share_of_length", "Part of it in which the MFMA unit is busy", "MFMA unit busy"
    ),
    kinds.SOURCE("source", "Source place of its first instruction as file:line; empty if none"),
    window="head last depth instructions length mfma_busy_share_of_length bytes flop memory_cycles"
    " compute_cycles",
    nothing="The program has no loop.",
    note="Cycles are modelled: one wave alone, usual latencies of loads, every block once.  "
    "Bytes and operations count a wave with all lanes active; the roofline of an iteration is the longer "
    "of its memory and compute cycles.",
)
SCHEMA = Schema("loops.program", "The loops of a program that has not run.", (common.CAPTURE, LOOPS.field()))


def loop_table(trace: Trace) -> ResultTable:
    """Return one row per loop."""
    found = static_loops(trace)
    return ResultTable.of(LOOPS, found, {"source": sources(trace, found.head)})
