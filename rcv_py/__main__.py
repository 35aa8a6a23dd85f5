"""`python -m rcv_py` is the command `rcv`."""

import sys

from rcv_py.cli.main import main

if __name__ == "__main__":
    if getattr(sys, "frozen", False):  # one file with its Python, started for each process of ours
        from multiprocessing import freeze_support

        freeze_support()
    sys.exit(main())
