"""Stall reasons from PC samples, over the kernel or some of its lines."""

from dataclasses import dataclass

import numpy as np

from rcv_py.base.text import Message, percent
from rcv_py.base.text import count as count_text
from rcv_py.model.code import CodeTable
from rcv_py.model.kinds import REASON_TEXT, StallReason

REASON_MEANING = {
    StallReason.NONE: "no reason was recorded",
    StallReason.FETCH: "the next instruction had not been fetched",
    StallReason.ALU_DEPENDENCY: "a result of an arithmetic instruction was not ready",
    StallReason.WAITCNT: "it waited for a counter of outstanding memory operations",
    StallReason.INTERNAL: "it was handled inside the sequencer",
    StallReason.BARRIER: "it waited for the other waves of its workgroup",
    StallReason.ARBITER_LOST: "another wave was chosen",
    StallReason.PIPE_STALLED: "it was chosen, but its unit could not accept it",
    StallReason.OTHER: "it waited for something else",
    StallReason.SLEEPING: "the wave slept",
}


@dataclass(frozen=True, eq=False)
class StallReasons:
    """PC samples of some code lines."""

    issued: int  # samples whose instruction issued
    stalled: int  # samples whose instruction did not
    count: np.ndarray  # int64 [k], stalled samples by reason, including unknown reasons
    unsure: int = 0  # samples whose method does not record it: host traps

    @property
    def samples(self) -> int:
        """All samples: the whole of the shares."""
        return self.issued + self.stalled + self.unsure

    @property
    def sentence(self) -> str:
        """How many samples there are, and how many of them stalled."""
        if self.unsure == self.samples:
            return Message("{0}; host traps do not record which of them stalled", count_text(self.samples))
        share = percent(self.stalled, self.issued + self.stalled)
        text = "{0}, {1} of them stalled ({2})"
        return Message(text, count_text(self.samples), count_text(self.stalled), share)

    @property
    def unknown(self) -> int:
        """Stalled samples without any entry in the table of reasons."""
        return max(0, self.stalled - int(self.count.sum()))

    def ranked(self) -> tuple[tuple[int, int], ...]:
        """(reason, samples) of the reasons that occur, the most frequent first."""
        order = np.argsort(-self.count, kind="stable")
        return tuple((int(reason), int(self.count[reason])) for reason in order if self.count[reason] > 0)


def stall_reasons(code: CodeTable, rows: slice | None = None) -> StallReasons:
    """Return the samples of the code rows (None: all); zeros if there are no samples."""
    rows = slice(None) if rows is None else rows
    table = code.stall_reasons
    count = np.zeros(len(StallReason), dtype=np.int64) if table is None else table[rows].sum(axis=0)
    issued, stalled, unsure = (
        0 if column is None else int(column[rows].sum())
        for column in (code.samples_issued, code.samples_stalled, code.samples_unsure)
    )
    return StallReasons(issued, stalled, count.astype(np.int64), unsure)


def reason_name(reason: int) -> str:
    """Return the name of a reason, or its number if unknown."""
    is_known = 0 <= reason < len(StallReason)
    return REASON_TEXT[StallReason(reason)] if is_known else Message("reason {0}", reason)


def reason_meaning(reason: int) -> str:
    """Return the meaning of a reason, "" if unknown."""
    return REASON_MEANING[StallReason(reason)] if 0 <= reason < len(StallReason) else ""
