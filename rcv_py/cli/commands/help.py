"""`rcv help`: the list of commands, or the help of one."""

from __future__ import annotations

from rcv_py.cli.arguments import command_named, help_text
from rcv_py.cli.options.output_options import HelpOptions


def run(arguments: HelpOptions) -> int:
    """Print the help; raise UsageError for a command that does not exist."""
    command = None if arguments.name is None else command_named(arguments.name)
    print(help_text(command), end="")
    return 0
