"""All commands, in the groups of the help, and their former names."""

from __future__ import annotations

from collections.abc import Iterator

from rcv_py.base.manifest import CommandEntry, Group, features
from rcv_py.cli.options import program
from rcv_py.cli.options.option import Options

PROGRAM = (
    CommandEntry(program.ViewOptions, Group.LOOK, 10),
    CommandEntry(program.ReportOptions, Group.LOOK, 90),
    CommandEntry(program.SynthOptions, Group.MANAGE, 60),
    CommandEntry(program.ExportOptions, Group.EXPORT, 10),
    CommandEntry(program.PackOptions, Group.EXPORT, 20),
    CommandEntry(program.UnpackOptions, Group.EXPORT, 30),
    CommandEntry(program.DecodeOptions, Group.EXPORT, 40),
    CommandEntry(program.ShotOptions, Group.EXPORT, 50),
    CommandEntry(program.SchemaOptions, Group.AGENTS, 10),
    CommandEntry(program.McpOptions, Group.AGENTS, 20),
    CommandEntry(program.CompletionOptions, Group.AGENTS, 30),
    CommandEntry(program.HelpOptions, Group.AGENTS, 40),
)


def _found() -> Iterator[tuple[CommandEntry, str]]:
    """Each command, and the name of its module."""
    for entry in PROGRAM:
        yield entry, f"rcv_py.cli.commands.{entry.name}"
    for feature in features():
        for entry in feature.commands:
            yield entry, feature.module(entry.module)


_SORTED = sorted(_found(), key=lambda found: ([*Group].index(found[0].group), found[0].order))
COMMANDS: dict[str, type[Options]] = {entry.name: entry.options for entry, _ in _SORTED}
GROUPS = {
    group.value: tuple(entry.options for entry, _ in _SORTED if entry.group is group) for group in Group
}
FOLDED = {  # old names, and the words they stand for
    old: (entry.name, *more) for entry, _ in _SORTED for old, more in entry.former.items()
}
_MODULES = {entry.name: module for entry, module in _SORTED}


def module_of(command: str) -> str:
    """Return the name of the module whose `run` answers a command."""
    return _MODULES[command]
