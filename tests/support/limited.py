"""Runs pytest for so many minutes at most: `python -m tests.support.limited MINUTES WORDS…`.

A test has a limit of its own (`faulthandler_timeout`).  This one is for what is not a test: collecting, a
process of the run that waits for another.  What pytest, its processes and their tests started is ended, too:
at the limit, and whenever pytest has ended, however it did.
"""

import ctypes
import os
import signal
import subprocess
import sys
from contextlib import suppress
from time import monotonic, sleep
from typing import NoReturn

import psutil

TIMED_OUT = 124  # as `timeout` ends
TIDIES_S = 30.0  # to say which tests failed until then
LOOK_S = 0.05  # between looks at what has ended
LEAVES_S = 5.0  # for what ends by itself once pytest has ended
PR_SET_CHILD_SUBREAPER = 36  # of <linux/prctl.h>


def run(words: list[str], limit_s: float) -> int:
    """Return the exit code of a command, which is interrupted after a time."""
    process = subprocess.Popen(words)
    if has_ended(process, limit_s):
        return process.returncode
    print(f"\nThe tests did not end within {limit_s / 60:g} minutes, and are stopped.", file=sys.stderr)
    os.kill(process.pid, signal.SIGINT)
    has_ended(process, TIDIES_S)
    return TIMED_OUT


def has_ended(process: subprocess.Popen[bytes], within_s: float) -> bool:
    """Wait for the end of a process, and bury others that have come to this one meanwhile."""
    end = monotonic() + within_s
    while process.returncode is None and monotonic() < end:
        ended, status = os.waitpid(-1, os.WNOHANG)
        if ended == process.pid:
            process.returncode = os.waitstatus_to_exitcode(status)
        elif not ended:
            sleep(LOOK_S)
    return process.returncode is not None


def end_all(leaves_s: float) -> None:
    """End all processes below this one, after a time in which they may end by themselves."""
    _, left = psutil.wait_procs(psutil.Process().children(recursive=True), leaves_s)
    while left:
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(left)
        left = psutil.Process().children(recursive=True)


def stop(number: int, _: object) -> NoReturn:
    raise SystemExit(128 + number)


def main() -> int:
    minutes, *words = sys.argv[1:]
    if sys.platform.startswith("linux"):  # whatever loses its parent comes to us, so that it is found
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl+C is for pytest, which is asked by the terminal
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    leaves_s = 0.0
    try:
        code = run([sys.executable, "-m", "pytest", *words], float(minutes) * 60)
        leaves_s = LEAVES_S
    finally:
        end_all(leaves_s)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
