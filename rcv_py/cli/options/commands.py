"""All commands, in the groups of the help, and their former names."""

from __future__ import annotations

from collections.abc import Iterator

from rcv_py.base.manifest import AgentTool, CommandEntry, Group, features
from rcv_py.cli.options.option import Options
from rcv_py.cli.options.program import (
    CompletionOptions,
    DecodeOptions,
    ExportOptions,
    HelpOptions,
    McpOptions,
    PackOptions,
    ReportOptions,
    SchemaOptions,
    ShotOptions,
    SynthOptions,
    UnpackOptions,
    ViewOptions,
)

PROGRAM = (
    CommandEntry(ViewOptions, "view", Group.LOOK, 10),
    CommandEntry(
        ReportOptions, "report", Group.LOOK, 90, AgentTool("Use it for a page that people read.", writes=True)
    ),
    CommandEntry(SynthOptions, "synth", Group.MANAGE, 60),
    CommandEntry(
        ExportOptions,
        "export",
        Group.EXPORT,
        10,
        AgentTool("Use it to hand a trace to another tool.", writes=True),
    ),
    CommandEntry(
        PackOptions,
        "pack",
        Group.EXPORT,
        20,
        AgentTool("Use it for what people attach to a report.", writes=True, required=("out",)),
    ),
    CommandEntry(UnpackOptions, "unpack", Group.EXPORT, 30),
    CommandEntry(
        DecodeOptions,
        "decode",
        Group.EXPORT,
        40,
        AgentTool("Use it on raw and packed captures.", writes=True),
    ),
    CommandEntry(
        ShotOptions,
        "shot",
        Group.EXPORT,
        50,
        AgentTool("Use it to show a person a timeline; it answers with a picture.", optional=("out",)),
    ),
    CommandEntry(
        SchemaOptions, "schema", Group.AGENTS, 10, AgentTool("Use it to learn the fields of an answer.")
    ),
    CommandEntry(McpOptions, "mcp", Group.AGENTS, 20),
    CommandEntry(CompletionOptions, "completion", Group.AGENTS, 30),
    CommandEntry(HelpOptions, "help", Group.AGENTS, 40),
)


def _found() -> Iterator[tuple[CommandEntry, str]]:
    """Each command, and the name of its module."""
    for entry in PROGRAM:
        yield entry, f"rcv_py.cli.commands.{entry.module}"
    for feature in features():
        for entry in feature.commands:
            yield entry, feature.module(entry.module)


_SORTED = sorted(_found(), key=lambda found: ([*Group].index(found[0].group), found[0].order))
ENTRIES = {entry.name: entry for entry, _ in _SORTED}
COMMANDS: dict[str, type[Options]] = {name: entry.options for name, entry in ENTRIES.items()}
GROUPS = {
    group.value: tuple(entry.options for entry in ENTRIES.values() if entry.group is group) for group in Group
}
FOLDED = {  # old names, and the words they stand for
    old: (entry.name, *more) for entry in ENTRIES.values() for old, more in entry.former.items()
}
_MODULES = {entry.name: module for entry, module in _SORTED}


def module_of(command: str) -> str:
    """Return the name of the module whose `run` answers a command."""
    return _MODULES[command]
