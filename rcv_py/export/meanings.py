"""What the columns of tables are: a unit and a sentence for each, one row a column.

A column means the same in every table, unless a row `table.column` says otherwise.
"""

from __future__ import annotations

from typing import NamedTuple

from rcv_py.results.table import Spec


class Meaning(NamedTuple):
    """Unit and meaning of a column; numbers without a unit are names of places."""

    unit: str
    text: str


_ROWS = """
severity | | info, warning or error
wave | | the wave: shader engine, SIMD, slot, and the how-manieth of its slot
id | | short name, for the argument `waves`
is_working | | whether its waves do the work of the kernel
cut | waves | waves whose record does not reach the end of the program
reached | instructions | distinct instructions in the basic blocks of its way
populations.name | | what it is called
populations.waves | waves | waves that took this way
populations.instructions | executions | executions a wave, median
populations.cycles | cycles | sum of the lives of its waves
populations.share | | part of the lives of all waves that were read
se | | shader engine
sa | | shader array
cu | | compute unit
xcc | | die, the accelerator complex
simd | | SIMD
slot | | slot of the SIMD
wid | | the how-manieth wave of its slot
line | | row of the table code; -1: no line of the program
text | | the instruction
source | | innermost source place, path:line
number | | the line's number in the file
code_object | | id of the code object
address | | address inside the code object
kind | | unit that executes it
kernel | | name of the kernel
block | | name of the basic block
is_label | | whether it is a label instead of an instruction
hits | executions | how often it was executed
latency | cycles | stall and busy time
stall | cycles | time it waited to issue
busy | cycles | time behind the stall: issuing, on gfx10 and later executing
idle | cycles | time in front of it in which its wave did nothing
chain | | all source places, innermost first, each inlined into the next
samples_issued | samples | PC samples that issued
samples_stalled | samples | PC samples that did not
begin | cycle | when it began
end | cycle | when it ended
duration | cycles | how long it took; -1: a moment
bytes | bytes | size of its file
file | | name of its file
start | cycle | when it began
hit | | how often its wave had executed the line before
state | | what the wave was doing
counter | | name of the counter
left | | how many operations may be outstanding after the wait
producer_line | | row of code that it waited for, -1: none is known
producer_start | cycle | when that began
producer_text | | the instruction that it waited for
producer_source | | source place of that
is_newest | | whether the wait's stall is charged to this one
time | cycle | when it was
is_start | | whether the wave began; else it ended
workgroup | | number of the workgroup, -1: unknown
cluster | | number of the cluster, -1: unknown
kernel_name | | name of the kernel
name | | name
place | | where it was
detail | | what else is known
family | | which unit counted
value | | the value
where | | what it is about
hint | | what to do
path | | path as the debug information spells it
has_text | | whether the capture holds a copy
note | | why it does not
column | | name of the column
type | | type of the values
unit | | unit of the values
meaning | | what it is
share | | part of the whole, 0 to 1
rows | rows | how many rows it stands for
row | | row of the table code
first | | first row of code
last | | last row of code
lines | lines | how many lines
loops | | in how many loops it lies
instruction | | the instruction
target | | row it branches to, -1: unknown
taken | times | how often it branched
not_taken | times | how often it did not
taken_share | | part of the times it branched, 0 to 1
token | | place in the tokens of its wave
since | cycles | since the start of the execution before in the same wave; -1: the first
reason | | why it did not issue
samples | samples | how many
what | | what the frame is
full_name | | the name in full
parent | | row of the frame around it, -1: none
depth | | how many frames are around it
self | | its own, without frames inside
total | | all of it, frames inside included
cause | | cause, a word that stays the same
because | | completes "stalled because"
evidence | | what shows it
is_certain | | whether the instruction or a replay tells, not what happened at the same time
count | executions | how many executions
exact | executions | whose latency is known exactly
bounds | executions | of which only an upper bound of the latency is known
n | executions | how many required it
median_latency | cycles | median of the exact latencies of the producer; nan: none is known
p10 | cycles | a tenth of the samples is below
median | cycles | the sample in the middle
p90 | cycles | nine tenths of the samples are below
mean | cycles | mean
waves | waves | how many waves
drain | cycles | behind it, as the last of its wave
not_hidden | cycles | what no other wave covers
hidden | cycles | what other waves cover, an estimate
hidden_idle | cycles | idle time that others cover
hidden_stall | cycles | stall that others cover
hidden_issue | cycles | issue time that others cover
error | cycles | uncertainty of the mean
std | cycles | standard deviation
in_flight | executions | still in flight at the last sample
issue | cycles | mean issue time of an execution
area | wave-cycles | waves times time
peak | waves | most at a time
tail | | part of the time behind the last moment with more than half of the peak, 0 to 1
ramp | cycles | until nine tenths of the peak
cycle | cycle | from when on
used | | what a wave takes of it
given | | the same as allocated, rounded up
most | | what it may take at most for one more wave; -1: nothing helps
excess | | by how much it must shrink for that
from | | who counted, or whose formula
points | | values of the curve
guessed | cycles | stalled and idle cycles of which the producer is a guess, one of several that fit
capture | | name of the capture
instructions | lines | instructions of the program
mean_waves | waves | resident on average
peak_waves | waves | resident at most
occupancy.kernel | | id of the kernel
events.kind | | dispatch, event, marker or shader value
counters.value | counts | what was counted since the sample before
sources.lines | lines | lines of the copy, 0 if there is none
isa blocks.block | | number of the block
flame.begin | | where it begins when frames are drawn beside each other
memory_latency.counter | | what counted it
memory_latency.stall | cycles | mean stall of an execution
memory_latency.samples | executions | whose return is known
hidden_latency.total | cycles | latency and idle time
occupancy_numbers.mean | waves | mean over the time
occupancy_numbers.drain | cycles | from nine tenths of the peak to the end
occupancy_curves.waves | waves | resident until the next row
occupancy_limits.source | | who told what is used
occupancy_limits.of | | what there is
counter_numbers.min | | smallest value of the curve; nan: none is finite
counter_numbers.mean | | mean by time
counter_numbers.max | | largest value of the curve
counter_numbers.total | | of all samples; nan: of levels and formulas
counter_numbers.kind | | raw, or derived by a formula
"""

MEANINGS: dict[str, Meaning] = {
    name: Meaning(unit, text)
    for name, unit, text in (
        (part.strip() for part in row.split("|", 2)) for row in _ROWS.strip().splitlines()
    )
}


def meaning(table: str, column: str, spec: Spec | None = None) -> Meaning:
    """Return what a column of a table is; empty texts if nothing declares it."""
    for field in () if spec is None else spec.fields:
        if field.name == column:
            return Meaning(field.kind.unit, field.meaning)
        if field.kind.names and column.startswith(f"{field.name}_"):
            key = column.removeprefix(f"{field.name}_")
            return Meaning(field.kind.unit, f"{field.meaning}: {key}")
    return MEANINGS.get(f"{table}.{column}") or MEANINGS.get(column) or Meaning("", "")
