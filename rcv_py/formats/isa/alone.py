"""Run a module of this package as a program that ends with its parent; this file imports nothing of rcv.

    python -I alone.py MODULE SECONDS PARENT WORDS…

MODULE reads a request from its input and writes a reply to its output.  It ends in any case after SECONDS,
when the process PARENT has ended, or when it needs more memory than any valid request.
"""

import os
import sys
from pathlib import Path
from runpy import run_module, run_path
from threading import Thread
from time import monotonic, sleep

MAX_MEMORY = 4 << 30  # bytes of address space
BEAT = 0.25  # seconds between two checks
GAVE_UP = 3  # exit status


def watch(seconds: float, parent: int) -> None:
    """End this process when its time is over or its parent has ended."""
    end = monotonic() + seconds
    parent_changes = sys.platform != "win32"  # the parent id does not change there when the parent ends
    while monotonic() < end and (not parent_changes or os.getppid() == parent):
        sleep(BEAT)
    os._exit(GAVE_UP)  # native code may hold the main thread


def main(module: str, seconds: float, parent: int, words: list[str]) -> None:
    """Run the module with its words."""
    if sys.platform == "linux":
        import resource  # noqa: PLC0415 - of this system

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a library that ends the process leaves no file
    Thread(target=watch, args=(seconds, parent), daemon=True).start()
    sys.argv = [module, *words]
    if getattr(sys, "frozen", False):
        run_module(f"rcv_py.formats.isa.{module}", run_name="__main__")
    else:
        run_path(str(Path(__file__).with_name(module + ".py")), run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
