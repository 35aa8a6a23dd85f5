"""Check that the instruction texts belong to the trace, and that their operands are known.

The record states the unit of every execution, and the mnemonic of an instruction implies its unit.

Both agree on every execution of a genuine capture.  If `code.json` belongs to another build or another code
object, or is shifted by a row, executions of loads fall on arithmetic and the like: then every text, source
location and cause belongs to another instruction, and no conclusion from them is valid.

A mnemonic whose unit our tables have wrong, or do not have, mismatches too, but always the same way.  Texts
that moved exchange units: one that loses executions also gets others.
"""

import re

import numpy as np

from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, added
from rcv_py.analysis.core.saturated import Sums, dense, nonzero
from rcv_py.base.problems import Problem, Severity
from rcv_py.base.record import Value
from rcv_py.base.runs import is_in
from rcv_py.base.text import Message, count, percent
from rcv_py.model.code import CodeTable
from rcv_py.model.kinds import KIND_COUNT, TokenKind
from rcv_py.model.trace import Trace

# Genuine captures have no mismatch at all; texts shifted by a single row had 24 % and more.  The limit of 1
# in 200 leaves room for an instruction that a later device executes on another unit.
MAX_MISMATCHES = 0.005
MIN_MISMATCHES = 4  # executions; fewer prove nothing
MIN_MNEMONICS = 3  # that mismatch; fewer may be new to our tables
EXAMPLES = 3
# Scalar arithmetic of all generations.  Other words with `s_` may be younger than our tables.
_SCALAR = re.compile(
    r"s_(c?movk?|add[ck]?|subb?|mulk?|min|max|abs(diff)?|(and|or)n?|n?and|n?or|xn?or|not|lsh[lr]|ashr|bf[em]|bcnt"
    r"|brev|bitset|bitcmp|ff|flbit|sext|cmpk?|cselect|wqm|quadmask|pack)\d*_"
)

# Kinds that mean the same unit: branches taken or not, matrix instructions that the record calls VALU, and
# vector memory in any address space.  Messages, s_endpgm and barriers are recorded differently by each
# generation and are not checked.
_SAME = {
    TokenKind.NEXT: TokenKind.JUMP,
    TokenKind.MATRIX: TokenKind.VALU,
    TokenKind.FLAT: TokenKind.VMEM,
    TokenKind.BVH: TokenKind.VMEM,
}
_UNIT = {  # names of the checked units
    TokenKind.SMEM: "SMEM",
    TokenKind.SALU: "SALU",
    TokenKind.VMEM: "VMEM",
    TokenKind.LDS: "LDS",
    TokenKind.VALU: "VALU",
    TokenKind.JUMP: "a branch",
    TokenKind.IMMED: "the sequencer",
}


class CodeMatch(Value):
    """How many executions went to another unit than the text of their instruction implies."""

    judged: int  # executions whose kind and whose mnemonic are known
    mismatched: int
    examples: tuple[tuple[int, TokenKind, int], ...] = ()  # (code row, recorded unit, executions)
    is_moved: bool = False  # units exchange executions, as texts that moved make them

    @property
    def share(self) -> float:
        """Mismatching part of the judged executions, 0 if there are none."""
        return self.mismatched / self.judged if self.judged else 0.0

    @property
    def is_wrong(self) -> bool:
        """Whether the texts belong to other code."""
        return self.is_moved and self.mismatched >= MIN_MISMATCHES and self.share > MAX_MISMATCHES

    @property
    def sentence(self) -> str:
        """The result in words; "" if the texts fit."""
        if not self.is_wrong:
            return ""
        return Message(
            "The instruction texts do not belong to this trace: {0} of {1} executions ({2}) "
            "went to another unit than the text of their instruction names.",
            count(self.mismatched),
            count(self.judged),
            percent(self.mismatched, self.judged),
        )

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The entries for the list of problems; none if the texts fit."""
        if not self.is_wrong:
            return ()
        return (Problem(Severity.ERROR, "code.json", self.sentence, f"{CONSEQUENCE} {REMEDY}"),)

    def examples_text(self, code: CodeTable) -> str:
        """The instructions with the most mismatches and their recorded units; "" if the texts fit."""
        mismatches = [
            Message("#{0} {1} went to {2}", row, code.text[row].strip(), _UNIT[kind])
            for row, kind, _ in self.examples
        ]
        return Message("For example {0}.", "; ".join(mismatches)) if mismatches and self.is_wrong else ""


TITLE = "The instruction texts belong to another code object"
CONSEQUENCE = (
    "Instruction texts, source places, waits and causes belong to other instructions, so "
    "nothing is concluded from them; cycles and executions by themselves are right."
)
REMEDY = (
    "Take code.json from the same recording as the wave files, decode the recording again with the code "
    "objects that were loaded when it was made, or record again without rebuilding in between."
)
_UNIT_OF = np.array([_SAME.get(TokenKind(kind), kind) for kind in range(KIND_COUNT)], dtype=np.uint8)
_IS_JUDGED = np.isin(np.arange(KIND_COUNT), list(_UNIT))


def _map(trace: Trace, parcel: Parcel) -> Sums:
    """Return the executions of each code row on each unit."""
    by_kind = parcel.own.by_kind(len(trace.code))
    on_unit = np.zeros_like(by_kind)
    for kind, unit in enumerate(_UNIT_OF.tolist()):
        on_unit[:, unit] += by_kind[:, kind]
    return nonzero(on_unit.reshape(-1))


def _finish(trace: Trace, part: Sums) -> CodeMatch:
    rows = len(trace.code)
    by_text = _UNIT_OF[np.minimum(trace.code.kind, KIND_COUNT - 1)]
    table = dense(part, rows * KIND_COUNT)[0].reshape(rows, KIND_COUNT)
    table[:, ~_IS_JUDGED] = 0
    table[~_IS_JUDGED[by_text]] = 0
    wrong = table.copy()
    wrong[np.arange(rows), by_text] = 0
    doubtful = np.flatnonzero(wrong.any(axis=1)).tolist()
    words = {row: trace.code.text[row].split(None, 1)[0] for row in doubtful}
    young = [row for row, word in words.items() if by_text[row] == TokenKind.SALU and not _SCALAR.match(word)]
    table[young] = wrong[young] = 0
    lose, get = by_text[wrong.any(axis=1)], np.flatnonzero(wrong.any(axis=0))
    names = {words[row] for row in np.flatnonzero(wrong.any(axis=1)).tolist()}
    is_moved = len(names) >= MIN_MNEMONICS and bool(is_in(lose, get).any())
    worst = np.argsort(-wrong, axis=None, kind="stable")[:EXAMPLES].tolist() if rows else []
    places = [divmod(at, KIND_COUNT) for at in worst]
    seen = [(row, kind, int(wrong[row, kind])) for row, kind in places]
    examples = tuple((row, TokenKind(kind), times) for row, kind, times in seen if times)
    return CodeMatch(int(table.sum()), int(wrong.sum()), examples, is_moved)


MATCH = Reduction(_map, added(1), _finish)


INSTALL = "pip install rocm-llvm-python"  # it knows all targets of `disassembly.py`


def unreadable_texts(trace: Trace) -> str:
    """Return how many instruction texts are raw words, a sentence without its end; "" if none is."""
    code = trace.code
    number = int(np.count_nonzero(code.is_unreadable))
    total = count(int(np.count_nonzero(~code.is_label)))
    return Message("{0} of {1} instruction texts are unreadable", count(number), total) if number else ""


def how_to_read(trace: Trace) -> str:
    """Return what makes the texts readable, a sentence."""
    text = "Install a disassembler that knows {0} (on Linux `{1}`, else LLVM 22) and open the capture again."
    return Message(text, trace.target or "the GPU", INSTALL)


def why_not_known(trace: Trace) -> str:
    """Return why what follows from operands is not known and what helps, sentences; "" if all were read."""
    texts = unreadable_texts(trace)
    return Message("Not known: {0}. {1}", texts, how_to_read(trace)) if texts else ""
