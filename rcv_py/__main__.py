"""`python -m rcv_py` is the command `rcv`."""

import sys
from runpy import run_module

from rcv_py.cli.main import main

OWN_PROGRAM = "--own-program"  # before the words of formats/isa/alone.py

if __name__ == "__main__":
    if getattr(sys, "frozen", False):  # one file with its Python, started for each process of ours
        from multiprocessing import freeze_support

        freeze_support()
        if sys.argv[1:2] == [OWN_PROGRAM]:
            del sys.argv[1]
            run_module("rcv_py.formats.isa.alone", run_name="__main__")
            sys.exit()
    sys.exit(main())
