"""The instructions of the kernels: one row an ISA line."""

import re
from functools import cached_property

import numpy as np

from rcv_py.base.record import Record, Value

_RAW_WORDS = re.compile(r"\s*(?:\S*_unknown\b|\S+(?: 0x[0-9a-f]{8})+\s*(?:[;/]|$))")


def has_known_operands(text: str) -> bool:
    """Whether a text names its operands; False for the raw words of an instruction without a disassembler.

    What reads registers or bytes off a text asks this first: such a text names none and may use any.
    """
    return _RAW_WORDS.match(text) is None


class Kernel(Value):
    """A run of code lines that belongs to one kernel."""

    name: str  # raw symbol
    demangled: str  # for display; equals `name` if unknown
    first: int  # first row of the code table, its label
    stop: int  # row after the last
    lanes: int = 0  # of its waves; 0: not known


class CodeTable(Record):
    """One row an ISA line, in program order.  Totals are sums over all traced waves of all SEs.

    A line's source is a chain of places, innermost first: row i owns `chain_first[i]:chain_first[i + 1]`
    of `chain_file` (index into `Trace.sources`) and `chain_line` (1-based; 0 if compiler-generated).
    """

    text: tuple[str, ...]
    number: np.ndarray  # int64, the file's LineNumber; only a key, -1 if it was unusable
    codeobj: np.ndarray  # int64, code object id
    address: np.ndarray  # uint64, bytes, inside the code object
    hits: np.ndarray  # int64, executions
    latency: np.ndarray  # int64, cycles: stall + busy
    stall: np.ndarray  # int64, cycles
    idle: np.ndarray  # int64, cycles before it
    is_label: np.ndarray  # bool
    kind: np.ndarray  # uint8, TokenKind by mnemonic
    kernel: np.ndarray  # int32, row of `kernels`; -1 before the first label
    chain_first: np.ndarray  # int32 [n + 1]
    chain_file: np.ndarray  # int32
    chain_line: np.ndarray  # int32
    kernels: tuple[Kernel, ...] = ()
    samples_issued: np.ndarray | None = None  # int64, PC samples that issued
    samples_stalled: np.ndarray | None = None  # int64, PC samples that did not
    stall_reasons: np.ndarray | None = None  # int64 [n, k], stalled samples by StallReason
    samples_unsure: np.ndarray | None = None  # int64, PC samples whose method does not record it: host traps
    sample_lanes: np.ndarray | None = None  # float64, mean active lanes of its samples, NaN if unknown
    sample_waves: np.ndarray | None = None  # float64, mean waves on the sampled unit, NaN if unknown
    hidden: np.ndarray | None = None  # int64 [n, 3], hidden idle, stall and issue by AMD's decoder, cycles

    def __len__(self) -> int:
        return len(self.text)

    def chain(self, row: int) -> list[tuple[int, int]]:
        """(file, line) places of a code line, innermost first."""
        part = slice(int(self.chain_first[row]), int(self.chain_first[row + 1]))
        return list(zip(self.chain_file[part].tolist(), self.chain_line[part].tolist(), strict=True))

    @property
    def main_kernel(self) -> Kernel | None:
        """The kernel with most traced cycles, else most samples; None if there is none."""
        cost = self.latency if self.samples is None or self.latency.any() else self.samples
        return max(self.kernels, key=lambda kernel: cost[kernel.first : kernel.stop].sum(), default=None)

    @cached_property
    def samples(self) -> np.ndarray | None:
        """PC samples of each row, int64; None if the capture has none."""
        columns = (self.samples_issued, self.samples_stalled, self.samples_unsure)
        known = [column.astype(np.int64) for column in columns if column is not None]
        return sum(known[1:], start=known[0]) if known else None

    @property
    def is_sampled(self) -> bool:
        """Whether rows have PC samples and no cycles."""
        return self.samples is not None and not self.latency.any()

    @cached_property
    def is_unreadable(self) -> np.ndarray:
        """Whether the operands of each row are unknown, bool; False for labels."""
        return np.array([not has_known_operands(text) for text in self.text], dtype=bool) & ~self.is_label

    @property
    def has_unread_work(self) -> bool:
        """Whether instructions ran whose operations or bytes are unknown: neither scalar nor LDS ones."""
        rows = (self.is_unreadable & (self.hits > 0)).nonzero()[0].tolist()
        return any(not self.text[row].strip().startswith(("s_", "ds_")) for row in rows)

    @cached_property
    def leaf(self) -> np.ndarray:
        """Index into the chain columns of each row's innermost place, -1 if it has none; int32."""
        has = self.chain_first[1:] > self.chain_first[:-1]
        return np.where(has, self.chain_first[:-1], -1).astype(np.int32)

    @cached_property
    def row_of_number(self) -> np.ndarray:
        """Rows by LineNumber, int32, -1 if missing; of duplicates the first counts."""
        usable = (self.number >= 0) & (self.number < max(4 * len(self.number), 1 << 22))
        rows = np.flatnonzero(usable)
        size = int(self.number[rows].max()) + 1 if len(rows) else 0
        table = np.full(size, -1, dtype=np.int32)
        table[self.number[rows[::-1]]] = rows[::-1]
        return table

    @cached_property
    def mapped_rows(self) -> int:
        """Number of lines, without labels, that have a source place."""
        return int(np.count_nonzero((self.leaf >= 0) & ~self.is_label))


class SourceFile(Value):
    """A source file that code lines refer to."""

    path: str  # exactly as in the debug information
    lines: tuple[str, ...] | None  # the copy made when recording; None if there is none
    note: str = ""  # why `lines` is None
