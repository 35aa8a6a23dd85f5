"""Run llvm-mca, LLVM's static estimate of the time of straight-line code, if it is installed.

It reads assembly, and an assembler reads other files on request of a line (`.include`, `.incbin`).  So it
gets only lines that look like an instruction, letter by letter, in an empty folder, and has a few seconds.
"""

import re
import shutil
import subprocess
from collections.abc import Sequence
from tempfile import TemporaryDirectory

from rcv_py.base.record import Value

PROGRAM = "llvm-mca"
NEWEST, OLDEST = 25, 14  # versions whose names are searched
SECONDS = 20.0
MAX_LENGTH = 200  # letters of an instruction
_INSTRUCTION = re.compile(
    r"(?:s|v|ds|buffer|global|flat|scratch|tbuffer|image)_[a-z0-9_]+(?: [A-Za-z0-9_,:\[\]()|.+\- ]*)?"
)
_BRANCH = re.compile(r"s_(?:c?branch|set_?pc|swap_?pc|add_pc|call|endpgm)")
_CYCLES = re.compile(r"^Total Cycles:\s+(\d{1,12})$", re.MULTILINE)
_ERROR = re.compile(r"^<stdin>:(\d{1,6}):\d+: error", re.MULTILINE)
_UNKNOWN = "is not a recognized processor"
# The fallback if a version does not know a GPU.
_OLDER = {
    "gfx950": "gfx942", "gfx942": "gfx940", "gfx940": "gfx90a",
    "gfx1250": "gfx1200", "gfx1201": "gfx1200", "gfx1200": "gfx1100",
}  # fmt: skip


class Estimate(Value):
    """The estimate of llvm-mca for one pass over some instructions."""

    cycles: int
    processor: str  # the GPU that it used
    left_out: int  # instructions that it does not know, branches aside


def find_mca() -> str:
    """Return the path of llvm-mca, the one without a version first; "" if there is none."""
    names = (PROGRAM, *(f"{PROGRAM}-{version}" for version in range(NEWEST, OLDEST - 1, -1)))
    return next((path for name in names if (path := shutil.which(name))), "")


def estimate(program: str, target: str, texts: Sequence[str]) -> Estimate | None:
    """Return the estimate for one pass over instructions; None if the program gives none."""
    plain = [" ".join(text.split()) for text in texts]
    asked = [text for text in plain if not _BRANCH.match(text)]
    known = [text for text in asked if len(text) <= MAX_LENGTH and _INSTRUCTION.fullmatch(text)]
    processor = target
    while processor:
        said = _run(program, processor, known)
        if said is None:
            return None
        out, errors = said
        if _UNKNOWN in errors:
            processor = _OLDER.get(processor, "")
            continue
        if strange := {int(line) - 1 for line in _ERROR.findall(errors)}:
            known = [text for at, text in enumerate(known) if at not in strange]
            out = (_run(program, processor, known) or ("", ""))[0]
        found = _CYCLES.search(out)
        return None if found is None else Estimate(int(found[1]), processor, len(asked) - len(known))
    return None


def _run(program: str, processor: str, texts: Sequence[str]) -> tuple[str, str] | None:
    if not texts or not re.fullmatch(r"gfx[0-9a-f]{3,4}", processor):
        return None
    words = [program, "-mtriple=amdgcn", f"-mcpu={processor}", "-iterations=1", "-instruction-info=0"]
    try:
        with TemporaryDirectory() as empty:
            done = subprocess.run(
                [*words, "-resource-pressure=0"],
                input="\n".join(texts) + "\n",
                capture_output=True,
                text=True,
                errors="replace",
                timeout=SECONDS,
                cwd=empty,
                env={"LC_ALL": "C"},
                check=False,
            )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout, done.stderr
