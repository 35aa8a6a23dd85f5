"""A process and all that it starts: CPU and memory over time, from /proc."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

OFFSCREEN = "offscreen"  # a platform of Qt
CPU_EVERY_S = 0.02
REST_S = 2.0  # without work, after which a program that says nothing has done all
REST_SHARE = 0.03  # of a processor that does not count as work: a cursor blinks
MEMORY_SHARE = 0.05  # of the time goes into looking at memory, which holds up whoever is looked at
MEMORY_EVERY_S = 0.1
SCREEN = Path(__file__).with_name("screen.json")
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Seen:
    """What a tree of processes did; times are seconds behind the start of the first."""

    wall: float = 0.0
    cpu: float = 0.0  # seconds, user and system, of all processes, also those that ended
    peak: int = 0  # bytes: most that all processes together held, shared memory counted once
    said: dict[str, float] = field(default_factory=dict)  # numbers that the process printed
    began: float = 0.0
    times: list[float] = field(default_factory=list)
    cpus: list[float] = field(default_factory=list)

    def at(self, mark: str) -> float:
        """Seconds from the start until a moment that the process told."""
        return self.said[mark] - self.began

    def cpu_at(self, mark: str) -> float:
        """Seconds of CPU until then."""
        place = bisect_right(self.times, self.at(mark))
        return self.cpus[min(place, len(self.cpus) - 1)]


class Tree:
    """Looks at a process and its descendants.  What has ended and was waited for is in its parent's sums."""

    def __init__(self, root: int) -> None:
        self._parents = {root: 0}
        self._strangers: set[int] = set()

    def cpu(self) -> float:
        """Seconds that all of them used."""
        ticks = 0
        self._find()
        for process in list(self._parents):
            fields = _stat(process)
            if fields is None:
                del self._parents[process]
                continue
            ticks += sum(map(int, fields[11:15]))
        return ticks * TICK_S

    def memory(self) -> int:
        """Bytes they hold together, shared blocks (`work/shared.py`) in full.

        A page that one process wrote and no other has looked at yet is in no process's share.
        """
        found = list(map(_proportional_bytes, self._parents))
        blocks: dict[str, int] = {}
        for process in self._parents:
            blocks |= _blocks(process)
        unseen = sum(blocks.values()) - sum(shared for _, shared in found)
        return sum(share for share, _ in found) + max(0, unseen)

    def _find(self) -> None:
        for name in os.listdir("/proc"):  # noqa: PTH208 - fifty times a second
            if not name.isdigit() or (number := int(name)) in self._strangers or number in self._parents:
                continue
            fields = _stat(number)
            if fields is not None and int(fields[1]) in self._parents:
                self._parents[number] = int(fields[1])
            else:
                self._strangers.add(number)


def _stat(process: int) -> list[str] | None:
    """Fields of /proc/PID/stat behind the program's name, which may hold anything; None if it has gone."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return None
    return text[text.rindex(")") + 2 :].split()


def _proportional_bytes(process: int) -> tuple[int, int]:
    """Its share of memory, and how much of that is shared memory."""
    try:
        lines = [line.split() for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]]
    except OSError:  # it has gone, or is about to
        return 0, 0
    found = {line[0]: 1024 * int(line[1]) for line in lines}
    return found.get("Pss:", 0), found.get("Pss_Shmem:", 0)


def _blocks(process: int) -> dict[str, int]:
    """Bytes of the shared blocks that a process has mapped, by their number."""
    try:
        lines = Path(f"/proc/{process}/maps").read_text().splitlines()
    except OSError:
        return {}
    found = [line.split() for line in lines if "/memfd:rcv" in line]
    return {words[4]: _length(words[0]) for words in found}


def _length(span: str) -> int:
    begin, end = (int(word, 16) for word in span.split("-"))
    return end - begin


def environment() -> dict[str, str]:
    """The variables of a measured process: byte code as an installed program has it, and no display.

    A display is used if it is named, as in `QT_QPA_PLATFORM=xcb xvfb-run python -m bench`.
    Its screen is that of a desk; Qt's own without a display is so narrow that sides of a window are folded.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if kept.get("QT_QPA_PLATFORM", OFFSCREEN) != OFFSCREEN:
        return kept
    return kept | {"QT_QPA_PLATFORM": f"{OFFSCREEN}:configfile={SCREEN}"}


def new_home() -> tempfile.TemporaryDirectory[str]:
    """A folder for settings and caches, as at the first start on a machine."""
    return tempfile.TemporaryDirectory(prefix="rcv-bench-")


def watch(words: Sequence[str], home: str = "") -> Seen:
    """Run `python WORDS` as a user's machine would, and look at it until it ends; raise if it fails.

    It starts for the first time, or again with what earlier runs left in a folder of `new_home`.
    """
    seen = Seen()
    with nullcontext(home) if home else new_home() as used, tempfile.TemporaryFile("w+") as out:
        folders = {"XDG_CONFIG_HOME": used, "XDG_CACHE_HOME": used}
        seen.began = time.monotonic()
        process = subprocess.Popen([sys.executable, *words], stdout=out, env=environment() | folders)
        _follow(process, seen)
        out.seek(0)
        lines = [line.split() for line in out.read().splitlines()]
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(words))
    seen.said = {pair[0]: float(pair[1]) for pair in lines if len(pair) == 2 and _is_number(pair[1])}
    return seen


def watch_alone(words: Sequence[str]) -> Seen:
    """Run any program until it and its processes rest, and end it; `said` has when it came to rest."""
    seen = Seen(began=time.monotonic())
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
    try:
        _follow(process, seen, until_rest=True)
    finally:
        process.kill()
        process.wait()
    at_rest = bisect_left(seen.cpus, seen.cpu - REST_S * REST_SHARE)
    seen.said["settled"] = seen.began + seen.times[at_rest]
    return seen


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def _follow(process: subprocess.Popen[bytes], seen: Seen, *, until_rest: bool = False) -> None:
    tree, look_again = Tree(process.pid), 0.0
    while True:
        now = time.monotonic()
        # Not reaped before it was looked at: what it used is still told.
        ended = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        cpu = tree.cpu()
        seen.times.append(now - seen.began)
        seen.cpus.append(max(cpu, seen.cpus[-1] if seen.cpus else 0.0))
        if ended is not None or (until_rest and _rests(seen)):
            break
        if now >= look_again:
            seen.peak = max(seen.peak, tree.memory())
            took = time.monotonic() - now
            look_again = now + max(MEMORY_EVERY_S, took / MEMORY_SHARE)
        time.sleep(CPU_EVERY_S)
    if not until_rest:
        process.wait()
    seen.wall, seen.cpu = seen.times[-1], seen.cpus[-1]


def _rests(seen: Seen) -> bool:
    """Whether hardly anything ran in the last `REST_S`."""
    then = bisect_right(seen.times, seen.times[-1] - REST_S) - 1
    return then >= 0 and seen.cpus[-1] - seen.cpus[then] <= REST_S * REST_SHARE
