"""`rcv help`: the list of commands, or the help of one."""

from rcv_py.cli.arguments import command_named, help_text
from rcv_py.cli.options.program import HelpOptions


def run(options: HelpOptions) -> None:
    """Print the help; raise UsageError for a command that does not exist."""
    print(help_text(None if options.name is None else command_named(options.name)), end="")
