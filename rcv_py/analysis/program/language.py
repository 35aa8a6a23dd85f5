"""The language a kernel is written in, derived from its source files, and the terms that its users know."""

from typing import NamedTuple

import numpy as np

from rcv_py.model.trace import Trace

LOOKED_AT = 400  # lines of a source that are searched for signs


class KernelLanguage(NamedTuple):
    """A kernel language, with its terms for issuing loads ahead and for limiting registers."""

    name: str
    prefetch: str
    registers: str
    endings: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()  # in the path or the text of a source, in lower case


UNKNOWN = KernelLanguage(
    "", "double-buffer the loads", "use smaller tiles or less unrolling, so that fewer values live at once"
)
# The first language that matches.
LANGUAGES = (
    KernelLanguage(
        "FlyDSL",
        "issue the loads of the next tile before the matrix instructions of this tile",
        "use smaller tiles, or set waves_per_eu where the kernel is compiled",
        (".py",),
        ("flydsl", "flyc."),
    ),
    KernelLanguage(
        "Triton",
        "raise num_stages",
        "use smaller block sizes, or set waves_per_eu in the launch options",
        (".py",),
        ("triton", "tl.load", "tl.program_id"),
    ),
    KernelLanguage(
        "Python",
        "load the next tile before this tile is used",
        "use smaller tiles or less unrolling",
        (".py",),
    ),
    KernelLanguage(
        "HIP",
        "load the next tile into a second array before this tile is used",
        "use smaller tiles or less unrolling, or set __launch_bounds__ and amdgpu_waves_per_eu",
        (".hip", ".cpp", ".cu", ".cuh", ".cxx", ".cc", ".h", ".hpp"),
    ),
    KernelLanguage(
        "assembly",
        "issue the loads of the next iteration before the arithmetic of this iteration",
        "reuse registers whose values are dead",
        (".s", ".asm"),
    ),
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
    for one in LANGUAGES:
        if path.endswith(one.endings) and (not one.signs or any(sign in seen for sign in one.signs)):
            return one
    return UNKNOWN
