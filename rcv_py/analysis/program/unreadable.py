"""Instructions whose operands are unknown, because no disassembler of this machine knew the GPU."""

import numpy as np

from rcv_py.base.text import Message, count
from rcv_py.model.trace import Trace

INSTALL = "pip install rocm-llvm-python"  # it knows all targets of `lengths.py`


def unreadable_texts(trace: Trace) -> str:
    """Return how many instruction texts are raw words, a sentence without its end; "" if none is."""
    code = trace.code
    number = int(np.count_nonzero(code.is_unreadable))
    total = count(int(np.count_nonzero(~code.is_label)))
    return Message("{0} of {1} instruction texts are unreadable", count(number), total) if number else ""


def how_to_read(trace: Trace) -> str:
    """Return what makes the texts readable, a sentence."""
    return Message(
        "Install a disassembler that knows {0} (on Linux `{1}`, else LLVM 22) and open the capture again.",
        trace.target or "the GPU",
        INSTALL,
    )


def why_not_known(trace: Trace) -> str:
    """Return why what follows from operands is not known and what helps, sentences; "" if all were read."""
    texts = unreadable_texts(trace)
    return Message("Not known: {0}. {1}", texts, how_to_read(trace)) if texts else ""
