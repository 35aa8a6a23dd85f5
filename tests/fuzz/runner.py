"""Runs inputs by number in forked workers, looks after their time, memory and reads, and counts.

The input of a number is drawn from the seed and the number alone, so that any worker may make it, and any of
them can be made again.  A worker that hangs is killed, the input reported, and another one goes on behind it.
"""

import json
import mmap
import os
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil

from rcv_py.base.machine.compiled import cache_folder
from rcv_py.formats.notes.store import user_folder
from tests.formats.sqtt import mangled
from tests.fuzz.areas import AREAS, TYPED, Ground, area_of
from tests.support.paths import ROOT

CPU_S = 5.0  # of an input
MEMORY = 500 << 20  # bytes that an input may add to what a worker holds
WALL_S = 120.0  # of an input that waits for something: nothing should
_LOOK_S = 0.1
_SLOT = struct.Struct("qd")  # number under way, CPU seconds of the process when it began
RESULT, TYPED_ERROR, TRACEBACK, HANG, OUTSIDE, OVER = (
    "results", "typed errors", "tracebacks", "hangs", "reads outside", "over limits",
)  # fmt: skip
KINDS = (RESULT, TYPED_ERROR, TRACEBACK, HANG, OUTSIDE, OVER)
BAD = KINDS[2:]


@dataclass
class Totals:
    """Counts by area and kind, and what is bad: sentences with the numbers to make it again."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    reports: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def bad(self) -> int:
        """Inputs that met a bug."""
        return sum(count for (_, kind), count in self.counts.items() if kind in BAD)

    def table(self) -> str:
        """The counts as text."""
        head = f"{'area':14}{'inputs':>10}" + "".join(f"{kind:>15}" for kind in KINDS)
        lines = [head]
        for area in [*AREAS, "all"]:
            names = list(AREAS) if area == "all" else [area]
            found = [sum(self.counts[name, kind] for name in names) for kind in KINDS]
            lines.append(f"{area:14}{sum(found):>10,}" + "".join(f"{count:>15,}" for count in found))
        return "\n".join(lines)


class Watch:
    """Tells of files that are opened outside of the ground, and outside of Python's own places."""

    def __init__(self, ground: Ground) -> None:
        self.seen: list[str] = []
        self.is_on = False
        python = {sys.prefix, sys.base_prefix, *sys.path, str(ROOT / "rcv_py"), str(ROOT / "tests")}
        inside = [
            str(ground.root / "run"),
            *(place for place in python if place),
            "/proc",
            "/usr/share/zoneinfo",
            str(user_folder()),  # notes of the user, which no input names
            os.environ.get("NUMBA_CACHE_DIR") or str(cache_folder(ROOT / "rcv_py").parent),  # machine code
        ]
        self._inside = tuple({os.path.realpath(place) + os.sep for place in inside})
        self._exact = {os.devnull, str(ground.root / "run"), os.path.realpath(ground.root / "run")}

    def hook(self, event: str, given: tuple[object, ...]) -> None:
        """What `sys.addaudithook` calls."""
        if not self.is_on or event not in ("open", "os.scandir", "os.listdir") or not given:
            return
        name = given[0]
        if not isinstance(name, str | bytes) and not hasattr(name, "__fspath__"):
            return  # a file that is open already
        self.is_on = False
        try:
            path = os.path.realpath(os.fsdecode(name))  # type: ignore[arg-type]
        except ValueError:
            path = ""
        self.is_on = True
        if path and path not in self._exact and not (path + os.sep).startswith(self._inside):
            self.seen.append(path)


def run(seed: int, numbers: range, workers: int, only: str = "") -> Totals:
    """Use the inputs of these numbers, of one area if it is named."""
    begin = time.monotonic()
    totals = Totals()
    mangled.read(mangled.streams()[0])  # so that its kernel is compiled once for all workers
    with tempfile.TemporaryDirectory(prefix="rcv-fuzz-") as place:
        crew = [
            _Worker(seed, numbers[at::workers], only, Ground(Path(place).resolve() / str(at)))
            for at in range(workers)
        ]
        while any([worker.goes_on(totals) for worker in crew]):  # a list: all of them, every time
            time.sleep(_LOOK_S)
    totals.seconds = time.monotonic() - begin
    return totals


class _Worker:
    """The near end of a worker: numbers it has still to do, and the process that does them."""

    def __init__(self, seed: int, numbers: range, only: str, ground: Ground) -> None:
        self._seed, self._numbers, self._only, self._ground = seed, numbers, only, ground
        self._slot = mmap.mmap(-1, _SLOT.size)
        self._counts = np.frombuffer(
            mmap.mmap(-1, 8 * len(_places())), dtype=np.int64
        )  # of `_places`, shared
        self._log = ground.root.parent / f"{ground.root.name}.log"
        self._seen = (-1, time.monotonic())
        self._is_done = False
        self._start()

    def goes_on(self, totals: Totals) -> bool:
        """Look after the process; False once all numbers are done."""
        if self._is_done:
            return False
        ended, status = os.waitpid(self._pid, os.WNOHANG)
        if not ended:
            self._look(totals)
            return not self._is_done
        self._collect(totals)
        number, _ = _SLOT.unpack(self._slot[:])
        if status != 0 and number >= 0:
            self._tell(totals, number, TRACEBACK, f"its process ended: {os.waitstatus_to_exitcode(status)}")
            self._restart(number)
        else:
            assert status == 0, "a worker ended before its first input"
            self._is_done = True
        return not self._is_done

    def _look(self, totals: Totals) -> None:
        number, begun = _SLOT.unpack(self._slot[:])
        if number < 0:
            return
        if number != self._seen[0]:
            self._seen = number, time.monotonic()
        times = psutil.Process(self._pid).cpu_times()
        spent, waited = times.user + times.system - begun, time.monotonic() - self._seen[1]
        if (spent > 2 * CPU_S or waited > WALL_S) and _SLOT.unpack(self._slot[:])[0] == number:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            self._collect(totals)
            self._tell(totals, number, HANG, f"killed after {spent:.1f} s of CPU and {waited:.0f} s")
            self._restart(number)

    def _restart(self, number: int) -> None:
        """Go on behind an input."""
        self._numbers = self._numbers[self._numbers.index(number) + 1 :]
        self._is_done = not self._numbers
        if not self._is_done:
            self._start()

    def _start(self) -> None:
        self._slot[:] = _SLOT.pack(-1, 0.0)
        self._pid = os.fork()
        if self._pid == 0:
            code = 1
            try:
                _serve(
                    self._seed,
                    self._numbers,
                    self._only,
                    self._ground,
                    slot=self._slot,
                    counts=self._counts,
                    log=self._log,
                )
                code = 0
            except BaseException:  # a fork must not go on as its parent
                traceback.print_exc()
            finally:
                os._exit(code)

    def _collect(self, totals: Totals) -> None:
        """Take over what a process that has ended counted and reported."""
        for (area, kind), count in zip(_places(), self._counts.tolist(), strict=True):
            totals.counts[area, kind] += count
        self._counts[:] = 0
        if self._log.exists():
            totals.reports += [json.loads(line) for line in self._log.read_text().splitlines()]
            self._log.unlink()

    def _tell(self, totals: Totals, number: int, kind: str, text: str) -> None:
        totals.counts[area_of(number), kind] += 1
        totals.reports.append(_report(self._seed, number, kind, text))


def _places() -> list[tuple[str, str]]:
    return [(area, kind) for area in AREAS for kind in KINDS]


def _serve(
    seed: int, numbers: range, only: str, ground: Ground, *, slot: mmap.mmap, counts: np.ndarray, log: Path
) -> None:
    """What a worker does: every input once."""
    warnings.simplefilter("ignore")
    _limit_memory()
    ground.prepare()
    os.environ["COLUMNS"] = "100"
    watch = Watch(ground)
    sys.addaudithook(watch.hook)
    place = {pair: at for at, pair in enumerate(_places())}
    for number in numbers:
        area = area_of(number)
        if only and area != only:
            continue
        slot[:] = _SLOT.pack(number, time.process_time())
        kind, text = _once(seed, number, ground, watch)
        counts[place[area, kind]] += 1
        if text:
            with log.open("a") as file:
                file.write(json.dumps(text) + "\n")
    slot[:] = _SLOT.pack(-1, 0.0)


def _once(seed: int, number: int, ground: Ground, watch: Watch) -> tuple[str, str]:
    """Use one input; return how it ended, and a report if that is bad."""
    begin, before = time.process_time(), _peak()
    watch.seen.clear()
    watch.is_on = True
    kind, text = RESULT, ""
    try:
        AREAS[area_of(number)].use(random.Random(f"{seed}:{number}"), ground)
    except TYPED:
        kind = TYPED_ERROR
    except MemoryError:
        kind, text = OVER, traceback.format_exc()
    except Exception:  # the point of all this
        kind, text = TRACEBACK, traceback.format_exc()
    watch.is_on = False
    spent, grown = time.process_time() - begin, _peak() - before
    if kind != TRACEBACK and watch.seen:
        kind, text = OUTSIDE, f"opened {watch.seen[:3]}"
    elif kind != TRACEBACK and (spent > CPU_S or grown > MEMORY):
        kind, text = OVER, f"took {spent:.1f} s and {grown >> 20} MB"
    return kind, text and _report(seed, number, kind, text)


def _report(seed: int, number: int, kind: str, text: str) -> str:
    return f"--repeat {seed}:{number} ({area_of(number)}) {kind}: {text.rstrip()}"


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _limit_memory() -> None:
    held = psutil.Process().memory_info().vms
    resource.setrlimit(resource.RLIMIT_AS, (held + 2 * MEMORY, held + 2 * MEMORY))
