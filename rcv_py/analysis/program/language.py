"""The language a kernel is written in, derived from its source files, and the terms that its users know."""

from collections.abc import Sequence

import numpy as np

from rcv_py.base.record import Value
from rcv_py.base.tables import table
from rcv_py.model.trace import Trace

LOOKED_AT = 400  # lines of a source that are searched for signs


class KernelLanguage(Value):
    """A kernel language, a row of `resources/tables/languages.toml`."""

    name: str
    prefetch: str
    registers: str
    endings: Sequence[str] = ()
    signs: Sequence[str] = ()


UNKNOWN = KernelLanguage(
    "", "double-buffer the loads", "use smaller tiles or less unrolling, so that fewer values live at once"
)


def language(trace: Trace) -> KernelLanguage:
    """Return the language of the source file with most cost, UNKNOWN if no file shows it.

    Signs of a library may be in any of the sources: kernels call its helpers.
    """
    code = trace.code
    rows = np.flatnonzero(code.leaf >= 0)
    if not len(rows) or not trace.sources:
        return UNKNOWN
    files = code.chain_file[code.leaf[rows]]
    known = (files >= 0) & (files < len(trace.sources))
    cost = np.bincount(files[known], code.latency[rows][known] + 1, len(trace.sources))
    path = trace.sources[int(np.argmax(cost))].path.lower()
    shown = (line for source in trace.sources for line in (source.path, *(source.lines or ())[:LOOKED_AT]))
    seen = "\n".join(shown).lower()
    for one in (KernelLanguage(**row) for row in table("languages")["language"]):
        if path.endswith(tuple(one.endings)) and (not one.signs or any(sign in seen for sign in one.signs)):
            return one
    return UNKNOWN
