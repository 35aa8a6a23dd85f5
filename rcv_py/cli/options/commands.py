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
MODULES = {  # commands of features, and the modules that run them; others lie in `rcv_py.cli.commands`
    "bubbles": "rcv_py.features.why.bubbles_command",
    "causes": "rcv_py.features.why.command",
    "check": "rcv_py.features.health.command",
    "compare": "rcv_py.features.compare.command",
    "counters": "rcv_py.features.counters.command",
    "events": "rcv_py.features.events.command",
    "flame": "rcv_py.features.flame.command",
    "hotspot": "rcv_py.features.hotspot.command",
    "index": "rcv_py.features.compare.index_command",
    "info": "rcv_py.features.summary.info_command",
    "isa": "rcv_py.features.isa.command",
    "isa-docs": "rcv_py.features.isa.docs_command",
    "latency": "rcv_py.features.latency.command",
    "line": "rcv_py.features.line.command",
    "loops": "rcv_py.features.loops.command",
    "notes": "rcv_py.features.notes.command",
    "occupancy": "rcv_py.features.occupancy.command",
    "pmc": "rcv_py.features.counters.pmc_command",
    "range": "rcv_py.features.range.command",
    "record": "rcv_py.features.record.command",
    "registers": "rcv_py.features.registers.command",
    "roofline": "rcv_py.features.roofline.command",
    "schedule": "rcv_py.features.whatif.schedule_command",
    "search": "rcv_py.features.notes.search_command",
    "source": "rcv_py.features.source.command",
    "summary": "rcv_py.features.summary.command",
    "trend": "rcv_py.features.compare.trend_command",
    "triage": "rcv_py.features.findings.command",
    "waits": "rcv_py.features.why.waits_command",
    "waves": "rcv_py.features.waves.command",
    "whatif": "rcv_py.features.whatif.command",
}


def module_of(command: str) -> str:
    """Return the name of the module whose `run` answers a command."""
    return MODULES.get(command) or f"rcv_py.cli.commands.{command.replace('-', '_')}"
