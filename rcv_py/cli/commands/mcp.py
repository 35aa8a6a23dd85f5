"""`rcv mcp`: the other commands as tools for agents."""

import sys

from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message, speak
from rcv_py.cli.mcp.tools import AllowedPaths
from rcv_py.cli.options.program import McpOptions

NEEDED = "mcp>=2.3,<3"  # as in pyproject.toml


def run(options: McpOptions) -> None:
    """Serve until standard input closes."""
    paths = AllowedPaths.of(options.root, options.out, notes=options.notes)
    try:
        from rcv_py.cli.mcp.server import run_server  # noqa: PLC0415 - the package is optional
    except ImportError as error:
        text = "rcv mcp needs the Python package mcp, which is not installed, or not in a fitting version."
        hint = Message("Install it with: pip install '{0}'", NEEDED)
        raise UsageError(text, hint=hint, detail=repr(error)) from error
    if sys.stdin.isatty():
        print("rcv: waiting for an agent on standard input; Ctrl+D ends it.", file=sys.stderr)
    speak(None)  # agents read what scripts read
    run_server(paths)
