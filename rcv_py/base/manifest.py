"""What a feature adds to the program, declared without importing it: `rcv_py/features/*/feature.py`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from rcv_py.base.problems import Affects
from rcv_py.base.record import Value

FEATURES = "rcv_py.features"
WORKING = "working"  # as rcv_py.analysis.waves.populations has it, which needs numpy


class Group(Enum):
    """A heading of the list of commands."""

    LOOK = "Look first"
    DIG = "Dig into costs"
    MANAGE = "Manage captures"
    EXPORT = "Export and share"
    AGENTS = "Agents, scripts and the shell"


class CommandEntry(Value):
    """A command, and its place in the help: its group, sorted by `order`."""

    name: str  # the word of a command line; for `isa-docs` the class IsaDocsOptions of `options`
    group: Group
    order: int
    module: str = "command"  # whose `run` answers it, in the folder of the feature
    former: Mapping[str, tuple[str, ...]] = MappingProxyType({})  # old names → the options they imply


class PanelCommand(Value):
    """An action of a panel that menus and palette know before the panel's module is imported."""

    id: str
    title: str
    menu: str
    keys: tuple[str, ...]
    tip: str
    method: str  # of the panel; it runs the action
    until: str = ""  # why it cannot run before the panel exists; "" if it makes the panel
    why_not: str = ""  # method of the panel that returns why the action cannot run, "" if it can


class PanelEntry(Value):
    """A panel's place in the window.

    `area`: left, wave, details, time, time_below, code, source, bottom; apart: a separate window.  Panels of
    an area are tabs sorted by `order`; parts `within` a panel follow it.  `needs` is the data that the panel
    cannot do without.  A panel hidden at the start is shown on request, or when a
    capture has what it needs (`appears`).
    """

    id: str
    title: str
    tip: str  # a sentence: what the panel shows
    order: int
    area: str = "bottom"
    target: str = "panel"  # the module of its class; `module:Class` if that is not named after the id
    needs: tuple[Affects, ...] = ()
    icon: str = "line"
    is_at_start: bool = True
    appears: bool = False
    within: str = ""  # id of the panel that shows it as a part
    keys: tuple[str, ...] = ()  # shortcuts that show or hide it
    is_listed: bool = True  # whether it has a command; a part that its panel shows first needs none
    shows: tuple[str, ...] = ()  # what others bring it to the front for, each word at one panel
    is_strip: bool = False  # lies above the tabs of its area, always visible, without a title
    commands: tuple[PanelCommand, ...] = ()
    reading: str = ""  # a sentence: how to read it
    has_commands: bool = False  # its class has further commands, for which its module is imported at once


class Feature(Value):
    """One question that the program answers, and all that it adds for it."""

    id: str = ""  # the name of its folder
    commands: tuple[CommandEntry, ...] = ()
    schemas: tuple[str, ...] = ("result",)  # modules of its folder that declare schemas of documents
    sections: Mapping[str, int] = MappingProxyType({})  # of reports: functions of `report` → order
    panels: tuple[PanelEntry, ...] = ()

    def module(self, name: str) -> str:
        """Return the full name of a module of its folder."""
        return f"{FEATURES}.{self.id}.{name}"

    def named(self, folder: str) -> Feature:
        """Return the feature with the name of its folder, and panels with the full names of their classes."""
        own = replace(self, id=folder)
        panels = []
        for panel in self.panels:
            usual = f":{''.join(map(str.capitalize, panel.id.split('_')))}Panel"
            target = panel.target if ":" in panel.target else panel.target + usual
            panels.append(replace(panel, target=own.module(target)))
        return replace(own, panels=tuple(panels))


@cache
def features() -> tuple[Feature, ...]:
    """Return every feature, by the names of their folders."""
    names = sorted(found.name for found in iter_modules(import_module(FEATURES).__path__) if found.ispkg)
    return tuple(import_module(f"{FEATURES}.{name}.feature").FEATURE.named(name) for name in names)


@cache
def panel_for(what: str) -> str:
    """Return the id of the panel that shows something; KeyError if no panel says so."""
    return {word: entry.id for entry in panel_entries() for word in entry.shows}[what]


def panel_entries() -> Iterator[PanelEntry]:
    """Yield the panels of every feature."""
    for feature in features():
        yield from feature.panels


@cache
def follows_waves(command: str) -> bool:
    """Return whether a feature's command counts the waves that work unless `--waves` says otherwise."""
    for feature in features():
        if any(entry.name == command for entry in feature.commands):
            options = options_class(feature.module("options"), command)
            return "waves" in options.arguments and getattr(options, "usual", WORKING) == WORKING
    return False


def options_class(module: str, command: str) -> Any:
    """Import a module and return its class of a command's options (`rcv_py.cli.options.option.Options`)."""
    words = command.split("-")
    return getattr(import_module(module), f"{''.join(map(str.capitalize, words))}Options")


def schema_modules() -> Iterator[str]:
    """Yield the modules that declare schemas."""
    for feature in features():
        yield from map(feature.module, feature.schemas)


def report_sections() -> list[str]:
    """Return the functions that make the sections of a report, as `module:function`, in their order."""
    every = [(one.module("report"), one.sections) for one in features()]
    found = ((order, f"{module}:{name}") for module, own in every for name, order in own.items())
    return [name for _, name in sorted(found)]
