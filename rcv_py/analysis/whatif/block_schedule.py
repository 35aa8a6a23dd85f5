"""Rate the instruction order of hot blocks: the order that ran against the best order found."""

import re
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from rcv_py.analysis.attribution.lines import LDS, MATRIX, MEMORY, NONE, SMEM, VALU, VMEM, LineTraits, lines
from rcv_py.analysis.program.block_order import NO_KIND, BlockInstructions, length, moves, scheduled
from rcv_py.analysis.program.blocks import Blocks, block_costs, blocks
from rcv_py.analysis.program.branches import Branches
from rcv_py.analysis.program.loops import loops
from rcv_py.analysis.program.registers import SPECIAL, registers
from rcv_py.analysis.waits.hoisting import is_barrier, is_load
from rcv_py.analysis.waits.wait_latency import WaitLatency
from rcv_py.analysis.waits.waitcnt.generations import generation_of
from rcv_py.base.progress import checkpoint
from rcv_py.base.record import Value
from rcv_py.model.code import CodeTable
from rcv_py.model.trace import Trace

MAX_BLOCKS, MAX_STATIC = 8, 32  # that are rated: of a capture, of a program that has not run
MAX_INSTRUCTIONS = 2_000  # instructions; longer blocks are left out
LEAST = 0.01  # of all cycles; blocks that cost less are left out
TURNS = 4  # simulated iterations of a single-block loop, of which the last counts
_USUAL = {VMEM: 800, LDS: 100, SMEM: 250}  # cycles, for loads whose latency no wait shows
_FENCES = re.compile(
    r"s_(barrier|c?branch|set_?pc|swap_?pc|add_pc|call|endpgm|sendmsg|sleep|setprio|setreg|sethalt|trap|dcache|icache|rfe)"
    r"|(buffer|global)_(inv|wb|gl)|s_set_gpr|s_memtime|s_memrealtime|exp"
)
_LEFT_OUT = re.compile(r"s_(wait|nop|delay_alu|clause)|v_nop")
_MEMORY_BIT, _LDS_BIT = 1, 2


class BlockSchedule(Value):
    """One block; cycles are for one execution by a single wave."""

    block: int
    first: int  # code row
    last: int  # code row
    instructions: int  # without waits and nops
    hits: int
    cost: int  # cycles of latency and idle, summed over waves
    measured: float  # the same cost, per execution
    length: int  # cycles in the order that ran
    best: int  # cycles in the best order found
    bound: int  # no order is shorter: cycles of issue; in a loop also the cycles of its busiest unit
    order: tuple[int, ...]  # code rows in the best order
    moves: tuple[tuple[int, int, int], ...]  # code row, the row it moves before, cycles that this move saves

    @property
    def saved(self) -> float:
        """Part of the length that the best order saves, 0 to 1."""
        return 1 - self.best / self.length if self.length else 0.0


def block_schedules(
    trace: Trace, code: CodeTable, known: WaitLatency, jumps: Branches | None = None
) -> tuple[BlockSchedule, ...]:
    """Return the costliest blocks, the costliest first; costs are taken from `code`.

    Blocks with unknown operands are left out.  `known` are the latencies that waits show; loads without a
    known latency take the median of their kind.  Of a program that has not run, blocks of deep loops come
    first, and then long ones.
    """
    table = blocks(trace.code, jumps)
    costs = block_costs(table, trace.code, code)
    whole = max(1, int(costs.cost.sum()))
    rows = np.argsort(-costs.cost, kind="stable")[:MAX_BLOCKS]
    is_worth = (costs.cost >= LEAST * whole) & (costs.hits > 0)
    if trace.is_static:
        rows = np.lexsort((-costs.lines, -loops(table).depth_of_block))[:MAX_STATIC]
        is_worth[:] = True
    found = []
    for at, work in _works(trace, code, table, known, rows[is_worth[rows]].tolist()):
        if len(work) > 1:
            found.append(_schedule(table, at, work, int(costs.hits[at]), int(costs.cost[at])))
    return tuple(found)


def block_lengths(trace: Trace) -> np.ndarray:
    """Return the cycles that each block takes in its order with usual latencies, float64 [blocks].

    They are those of one wave alone, of a single-block loop in its steady state; nan where operands are
    unknown.
    """
    table = blocks(trace.code)
    loops_itself = set(table.edge_from[table.edge_from == table.edge_to].tolist())
    found = np.full(len(table), np.nan)
    for at, work in _works(trace, trace.code, table, WaitLatency.empty(), range(len(table))):
        found[at] = length(work, range(len(work)), TURNS if at in loops_itself else 1) if len(work) else 0
    return found


def _works(
    trace: Trace, code: CodeTable, table: Blocks, known: WaitLatency, chosen: Iterable[int]
) -> Iterator[tuple[int, BlockInstructions]]:
    """Yield the work of the chosen blocks whose order can be rated."""
    of_code = lines(trace.code, trace.architecture)
    latency = _latencies(of_code, known)
    for at in chosen:
        own = range(int(table.first[at]), int(table.stop[at]))
        if len(own) <= MAX_INSTRUCTIONS and not trace.code.is_unreadable[own.start : own.stop].any():
            checkpoint()
            yield at, _work(code, of_code, latency, own, _before_barriers(trace, own))


def _schedule(table: Blocks, at: int, work: BlockInstructions, hits: int, cost: int) -> BlockSchedule:
    is_loop = bool(((table.edge_from == at) & (table.edge_to == at)).any())
    turns = TURNS if is_loop else 1
    order = scheduled(work, turns)
    usual = length(work, range(len(work)), turns)
    best = length(work, order, turns)
    held = dict.fromkeys(work.unit, 0)
    for unit, hold in zip(work.unit, work.hold, strict=True):
        held[unit] += hold
    bound = max(sum(work.busy), *held.values()) if is_loop else sum(work.busy)
    return BlockSchedule(
        block=at,
        first=int(table.first[at]),
        last=int(table.stop[at]) - 1,
        instructions=len(work),
        hits=hits,
        cost=cost,
        measured=cost / max(1, hits),
        length=usual,
        best=best,
        bound=min(bound, best),
        order=tuple(work.row[place] for place in order),
        moves=tuple((work.row[one.at], work.row[one.before], one.saved) for one in moves(work, turns)),
    )


def _latencies(of_code: LineTraits, known: WaitLatency) -> np.ndarray:
    """Cycles until loads return, int64 [rows of Lines]."""
    found = np.full(len(of_code), np.nan)
    found[known.line] = known.median
    for unit in MEMORY:
        own = of_code.unit == unit
        seen = found[own & np.isfinite(found)]
        found[own & ~np.isfinite(found)] = np.median(seen) if len(seen) else _USUAL[unit]
    return np.nan_to_num(found).astype(np.int64)


def _before_barriers(trace: Trace, rows: range) -> dict[int, int]:
    """Return the registers that waits of a block require before each of its barriers, as sets.

    A barrier says to other waves that what these loads read may be overwritten.
    """
    effect = generation_of(trace.architecture, trace.code.text).effect
    pending: dict[str, int] = {}  # by counter
    required, found = 0, dict[int, int]()
    for row in rows:
        text = trace.code.text[row].strip()
        does = effect(text)
        for counter, _ in does.raises:
            pending[counter] = pending.get(counter, 0) | registers(text).writes
        for counter, left in does.waits:
            required |= 0 if left else pending.pop(counter, 0)
        if is_barrier(text):
            found[row], required = required, 0
    return found


def _work(
    code: CodeTable, of_code: LineTraits, latency: np.ndarray, rows: range, needed: Mapping[int, int]
) -> BlockInstructions:
    """Return the work that a block's instructions make; `needed` are more registers that rows read."""
    kept = [row for row in rows if not (code.is_label[row] or _LEFT_OUT.match(code.text[row].strip()))]
    texts = [code.text[row].strip() for row in kept]
    unit = [int(of_code.unit[row]) for row in kept]
    known = [registers(text) for text in texts]
    masked = [1 << SPECIAL["exec"] if one in (VALU, MATRIX, VMEM, LDS) else 0 for one in unit]
    hits = np.maximum(1, code.hits)
    busy = np.maximum((code.latency - code.stall) // hits, of_code.step)
    is_loading = [is_load(text) for text in texts]
    memory = [_memories(text, one) for text, one in zip(texts, unit, strict=True)]
    return BlockInstructions(
        row=tuple(kept),
        reads=tuple(
            one.reads | mask | needed.get(row, 0) for row, one, mask in zip(kept, known, masked, strict=True)
        ),
        writes=tuple(one.writes for one in known),
        busy=tuple(busy[kept].tolist()),
        unit=tuple(unit),
        hold=tuple(_hold(of_code, row, one) for row, one in zip(kept, unit, strict=True)),
        result=tuple(
            int(latency[row] if loads else of_code.result[row])
            for row, loads in zip(kept, is_loading, strict=True)
        ),
        kind=tuple(one if loads else NO_KIND for one, loads in zip(unit, is_loading, strict=True)),
        loads=tuple(loads for loads, _ in memory),
        stores=tuple(stores for _, stores in memory),
        is_fence=tuple(_FENCES.match(text) is not None for text in texts),
    )


def _hold(of_code: LineTraits, row: int, unit: int) -> int:
    if unit == NONE:
        return 0
    return max(int(of_code.hold[row]), int(of_code.passes[row]))


def _memories(text: str, unit: int) -> tuple[int, int]:
    """Return the memories that an instruction reads and those it may write, as bits."""
    if unit not in (VMEM, LDS, SMEM) or text.startswith(("ds_bpermute", "ds_permute", "ds_swizzle")):
        return 0, 0
    if text.startswith("flat_"):
        both = _MEMORY_BIT | _LDS_BIT
        return (both, 0) if is_load(text) else (both, both)
    if is_load(text):
        return (_LDS_BIT if unit == LDS else _MEMORY_BIT), 0
    if unit == VMEM and re.search(r"\blds\b|_load_lds|async_to_lds", text):
        return _MEMORY_BIT, _LDS_BIT
    bit = _LDS_BIT if unit == LDS else _MEMORY_BIT
    return bit, bit
