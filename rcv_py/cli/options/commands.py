"""All commands, in the groups of the help, and their former names."""

from collections import UserDict
from collections.abc import Iterator, Mapping
from typing import Any

from rcv_py.base.manifest import CommandEntry, Group, features, options_class
from rcv_py.cli.options.option import Options

PROGRAM = (
    CommandEntry("view", Group.LOOK, 10),
    CommandEntry("report", Group.LOOK, 90),
    CommandEntry("synth", Group.MANAGE, 60),
    CommandEntry("export", Group.EXPORT, 10),
    CommandEntry("pack", Group.EXPORT, 20, "packing"),
    CommandEntry("unpack", Group.EXPORT, 30, "packing"),
    CommandEntry("decode", Group.EXPORT, 40, "packing"),
    CommandEntry("shot", Group.EXPORT, 50),
    CommandEntry("schema", Group.AGENTS, 10),
    CommandEntry("mcp", Group.AGENTS, 20),
    CommandEntry("skill", Group.AGENTS, 25),
    CommandEntry("completion", Group.AGENTS, 30),
    CommandEntry("help", Group.AGENTS, 40),
)


def _declared() -> Iterator[tuple[CommandEntry, str, str]]:
    """Each command, and the names of the modules of its options and of its `run`."""
    for entry in PROGRAM:
        module = entry.name if entry.module == "command" else entry.module
        yield entry, "rcv_py.cli.options.program", f"rcv_py.cli.commands.{module}"
    for feature in features():
        for entry in feature.commands:
            yield entry, feature.module("options"), feature.module(entry.module)


class _OptionClasses(UserDict[str, Any]):
    """The options of each command: the name of their module, imported when they are first asked for."""

    def __getitem__(self, name: str) -> type[Options]:
        found: type[Options] = options_class(self.data[name], name)
        return found


_SORTED = sorted(_declared(), key=lambda found: ([*Group].index(found[0].group), found[0].order))
MODULES = {entry.name: module for entry, _, module in _SORTED}  # whose `run` answers a command
COMMANDS: Mapping[str, type[Options]] = _OptionClasses({entry.name: module for entry, module, _ in _SORTED})
GROUPS = {group.value: tuple(entry.name for entry, *_ in _SORTED if entry.group is group) for group in Group}
FOLDED = {  # old names, and the words they stand for
    old: (entry.name, *more) for entry, *_ in _SORTED for old, more in entry.former.items()
}
