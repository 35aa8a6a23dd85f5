"""Waits that must end before a barrier: after it, other waves may overwrite what an operation still reads.

```
ds_read_b128 v[8:11], v1          reads a tile
s_waitcnt lgkmcnt(0)              no instruction before the barrier reads v[8:11], and yet the wait is needed:
s_barrier                         the barrier says to other waves that the tile has been read,
ds_write_b128 v2, v[12:15]        so they write the next one
v_mfma_…  v[8:9] …
```
"""

from collections.abc import Callable
from functools import lru_cache

from rcv_py.analysis.program.blocks import Blocks, blocks
from rcv_py.analysis.program.dataflow import ways
from rcv_py.analysis.program.instruction_classes import InstructionClass, instruction_class
from rcv_py.analysis.program.registers import registers
from rcv_py.analysis.waits.waitcnt.generations import generation_of
from rcv_py.model.architecture import Architecture
from rcv_py.model.code import CodeTable


def is_barrier(text: str) -> bool:
    """Whether an instruction signals or waits for other waves of the workgroup."""
    return instruction_class(text.strip()) is InstructionClass.BARRIER


def is_needed_by_barrier(code: CodeTable, architecture: Architecture, wait: int, operation: int) -> bool:
    """Whether a barrier may follow a wait before anything else requires the result of an operation.

    `wait` and `operation` are code rows.  An instruction that touches the result requires it, and so does a
    later wait for all operations of its counter.
    """
    effect = generation_of(architecture, code.text).effect
    result = registers(code.text[operation].strip()).writes
    counters = {counter for counter, _ in effect(code.text[operation].strip()).raises}

    def requires(row: int) -> bool:
        text = code.text[row].strip()
        touched = registers(text)
        return bool((touched.reads | touched.writes) & result) or counters <= {
            counter for counter, left in effect(text).waits if left == 0
        }

    return barrier_follows(code, wait, requires)


def barrier_follows(code: CodeTable, row: int, ends: Callable[[int], bool]) -> bool:
    """Whether a barrier may run after a code row before any row for which `ends` is true."""
    table, successors = _flow(code)
    todo, seen = [(row + 1, int(table.of_row[row]))], set[int]()
    while todo:
        first, block = todo.pop()
        for at in range(first, int(table.stop[block])):
            if code.is_label[at]:
                continue
            if is_barrier(code.text[at]):
                return True
            if ends(at):
                break
        else:
            fresh = set(successors[block]) - seen
            seen |= fresh
            todo += [(int(table.first[other]), other) for other in fresh]
    return False


@lru_cache(maxsize=2)
def _flow(code: CodeTable) -> tuple[Blocks, list[list[int]]]:
    table = blocks(code)
    return table, ways(table)[1]
