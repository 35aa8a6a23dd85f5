"""Run our programs in separate processes: untrusted bytes may crash or hang them.

Libraries of disassemblers come from the usual places of systems, ROCm and the running Python, never from a
folder of a capture: native code is unrestricted.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic

from rcv_py.base.progress import checkpoint
from rcv_py.base.record import Value
from rcv_py.formats.isa.engines import READY

OWN_PROGRAM = "--own-program"
GRACE = 5.0  # seconds after our time limit until a process ends by itself
BEAT = 0.05  # seconds between two checks for cancellation
SECONDS = 10.0  # for one call of a disassembler, plus time for its bytes
MAX_OF_A_KIND = 4  # libraries of one engine that are tried, the newest first
ROCM_ROOTS = ("/opt/rocm",)  # and its versions next to it
SYSTEM_FOLDERS = {
    "linux": ("/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/lib/llvm-*/lib", "/usr/local/lib"),
    "darwin": ("/opt/homebrew/opt/llvm*/lib", "/usr/local/opt/llvm*/lib"),
    "win32": ("C:/Program Files/LLVM/bin",),
}
FILES = {  # engine → names of its library
    "llvm": ("libLLVM*.so*", "libLLVM*.dylib", "LLVM-C.dll", "librocmllvm.so"),
    "comgr": ("libamd_comgr.so*", "amd_comgr*.dll"),
}
PACKAGES = ("rocm/llvm", "rocm/bindings/llvm", "llvm_nanobind.libs")  # folders of Python packages with one
_NUMBERS = re.compile(r"\d+")
_HASH = re.compile(r"-[0-9a-f]{8}(?=\.)")  # that a wheel adds to the name
UNNUMBERED = (22,)  # what packages have whose library names no version

_unanswered: list[str] = []  # programs that timed out, or could not be started


def answer_of(
    program: str, words: Sequence[str], question: Iterable[bytes], seconds: float
) -> tuple[bytes, bool] | None:
    """Return the reply of one of our programs, and whether it succeeded; None if it could not run.

    `program` is a module of this package.
    Raises Cancelled if the work is cancelled.
    """
    command = [*_command(), program, str(seconds + GRACE), str(os.getpid()), *words]
    try:
        with TemporaryFile() as given, TemporaryFile() as taken:
            given.writelines(question)
            given.seek(0)
            with subprocess.Popen(command, stdin=given, stdout=taken, stderr=subprocess.DEVNULL) as process:
                try:
                    code = ended(process, seconds)
                finally:
                    process.kill()
            if code is not None:
                taken.seek(0)
                return taken.read(), code == 0
    except OSError:  # no space for its files, or no process can be started
        pass
    _unanswered.append(program)
    return None


def unanswered() -> int:
    """Number of requests of this process without a reply so far; they may succeed another time."""
    return len(_unanswered)


def _command() -> list[str]:
    """The command of the running Python, which must not import modules from a folder of a capture.

    A frozen program has no Python, and runs its own modules on request (`__main__`).
    """
    if getattr(sys, "frozen", False):
        return [sys.executable, OWN_PROGRAM]
    # -S: without site packages, which take a while to find.
    return [sys.executable, "-I", "-S", str(Path(__file__).with_name("alone.py"))]


def ended(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """Wait for a process; return its exit code, None if it takes longer.  Raises Cancelled."""
    end = monotonic() + seconds
    while monotonic() < end:
        checkpoint()
        try:
            return process.wait(BEAT)
        except subprocess.TimeoutExpired:
            continue
    return None


class Candidate(Value):
    """A disassembler that may know a GPU."""

    engine: str  # of `engines.py`
    library: str  # its path

    def __str__(self) -> str:
        return Path(self.library).name


@cache
def candidates() -> tuple[Candidate, ...]:
    """Return the disassemblers of this machine in the order in which they are tried."""
    return tuple(Candidate(engine, path) for engine in FILES for path in _libraries(engine)[:MAX_OF_A_KIND])


def named(candidate: Candidate, reply: bytes) -> str:
    """The candidate with its version, which the first line of its reply holds."""
    version = reply.partition(b"\n")[0].removeprefix(READY).decode("ascii", "replace")
    return f"{candidate} ({version})" if version else str(candidate)


def disassembler() -> str:
    """Return the first disassembler of this machine that answers, with its version, "" if there is none."""
    for one in candidates():
        said = answer_of("engines", (one.engine, one.library, "gfx900", ""), (), SECONDS)
        if said is not None and said[0].startswith(READY):
            return named(one, said[0])
    return ""


def _libraries(engine: str) -> list[str]:
    """Files of an engine's library, the newest first and each once."""
    newest: dict[Path, tuple[tuple[int, ...], str]] = {}
    for folder in _folders():
        for pattern in FILES[engine]:
            for path in folder.glob(pattern):
                if path.is_file():
                    name = _HASH.sub("", path.resolve().name)
                    version = tuple(int(part) for part in _NUMBERS.findall(name)) or UNNUMBERED
                    newest.setdefault(path.resolve(), (version, str(path)))
    return [path for _, path in sorted(newest.values(), reverse=True)]


def _folders() -> Iterator[Path]:
    roots = [os.environ.get(name, "") for name in ("ROCM_PATH", "ROCM_HOME")]
    roots += [str(path) for known in ROCM_ROOTS for path in _matching(known + "*")]
    for root in filter(os.path.isabs, roots):
        yield from (Path(root) / inner for inner in ("llvm/lib", "lib/llvm/lib", "lib", "bin"))
    frozen = getattr(sys, "_MEIPASS", "")  # where a frozen program has its packages
    for installed in map(Path, sys.path):
        is_ours = installed.name in ("site-packages", "dist-packages") or str(installed) == frozen
        if installed.is_absolute() and is_ours:
            yield from (installed / inner for inner in PACKAGES)
    for pattern in SYSTEM_FOLDERS.get(sys.platform, ()):
        yield from _matching(pattern)


def _matching(pattern: str) -> list[Path]:
    path = Path(pattern)
    return sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor)))) if path.is_absolute() else []
