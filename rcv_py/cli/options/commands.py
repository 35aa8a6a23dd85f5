"""All commands, in the groups of the help, and their former names."""

from __future__ import annotations

from types import ModuleType

from rcv_py.cli.options import dig_options, look_options
from rcv_py.cli.options.option import Options
from rcv_py.cli.options.other_options import (
    CompletionOptions,
    DecodeOptions,
    ExportOptions,
    HelpOptions,
    IndexOptions,
    IsaDocsOptions,
    McpOptions,
    NotesOptions,
    PackOptions,
    RecordOptions,
    SchemaOptions,
    ShotOptions,
    SynthOptions,
    TrendOptions,
    UnpackOptions,
)


def _declared(module: ModuleType) -> tuple[type[Options], ...]:
    declared = (one for one in vars(module).values() if isinstance(one, type) and issubclass(one, Options))
    return tuple(one for one in declared if one.example and one.__module__ == module.__name__)


GROUPS: dict[str, tuple[type[Options], ...]] = {
    "Look first": _declared(look_options),
    "Dig into costs": _declared(dig_options),
    "Manage captures": (
        RecordOptions,
        IndexOptions,
        TrendOptions,
        NotesOptions,
        IsaDocsOptions,
        SynthOptions,
    ),
    "Export and share": (ExportOptions, PackOptions, UnpackOptions, DecodeOptions, ShotOptions),
    "Agents, scripts and the shell": (SchemaOptions, McpOptions, CompletionOptions, HelpOptions),
}
COMMANDS = {command.command: command for commands in GROUPS.values() for command in commands}
FOLDED = {  # old names, and the commands they stand for
    "place": ("line",),
    "units": ("summary", "--units"),
    "wave": ("waves",),
}
