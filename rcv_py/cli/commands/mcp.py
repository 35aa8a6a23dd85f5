"""`rcv mcp`: the other commands as tools of an agent."""

from __future__ import annotations

import sys
from argparse import Namespace
from importlib.util import find_spec

from rcv_py.base.errors import UsageError
from rcv_py.cli.mcp.fence import Fence


def run(arguments: Namespace) -> int:
    """Serve until standard input closes."""
    fence = Fence.around(arguments.root, arguments.out)
    if find_spec("mcp") is None:
        raise UsageError(
            "The Model Context Protocol needs the Python package mcp, which is not installed.",
            hint="Install it with: pip install 'rcv-py[mcp]'",
        )
    if sys.stdin.isatty():
        print("rcv: waiting for an agent on standard input; Ctrl+D ends it.", file=sys.stderr)
    from rcv_py.cli.mcp.server import run_server  # noqa: PLC0415 - the package is optional

    run_server(fence)
    return 0
