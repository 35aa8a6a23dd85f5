"""The command `rcv`, also as `python -m rcv_py`."""

import signal
import sys

OWN_PROGRAM = "--own-program"  # before the words of formats/isa/alone.py


def run() -> int:
    """Run the command line and return its exit code; Ctrl+C while it is imported leaves no traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored, as after `nohup`
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from rcv_py.cli.main import main  # noqa: PLC0415 - the signal is set first

    return main()


if __name__ == "__main__":
    if getattr(sys, "frozen", False):  # one file with its Python, started for each process of ours
        from multiprocessing import freeze_support

        freeze_support()
        if sys.argv[1:2] == [OWN_PROGRAM]:
            from runpy import run_module

            del sys.argv[1]
            run_module("rcv_py.formats.isa.alone", run_name="__main__")
            sys.exit()
    sys.exit(run())
