"""`python -m rcv_py` is the command `rcv`."""

import sys
from multiprocessing import freeze_support

from rcv_py.cli.main import main

if __name__ == "__main__":
    freeze_support()
    sys.exit(main())
