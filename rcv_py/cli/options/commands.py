"""All commands: name, group and a line of help; the options of one are imported when they are needed."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module

from rcv_py.cli.options.option import Options, add_arguments

LOOK, DIG, CAPTURES, GIVE, SERVE = (
    "Look first",
    "Dig into costs",
    "Manage captures",
    "Give away",
    "Agents, scripts and the shell",
)
GROUPS = (LOOK, DIG, CAPTURES, GIVE, SERVE)


@dataclass(frozen=True, slots=True)
class Command:
    """`rcv NAME`; its function is `run` of the module of its name in `rcv_py.cli.commands`."""

    name: str
    group: str
    module: str  # in this folder, with its options
    help: str

    @property
    def options(self) -> type[Options]:
        """The declaration of its options."""
        module = import_module(f"rcv_py.cli.options.{self.module}_options")
        declared: type[Options] = getattr(module, f"{self.name.capitalize()}Options")
        return declared

    @property
    def example(self) -> str:
        """A command line that works."""
        return self.options.example

    def add(self, parser: argparse.ArgumentParser) -> None:
        """Add the options to a parser."""
        add_arguments(self.options, parser)


COMMANDS = (
    Command("view", LOOK, "capture", "Open the window (what `rcv FOLDER` does)"),
    Command("triage", LOOK, "capture", "Print what limits the kernel and what to do first, by gain"),
    Command("check", LOOK, "capture", "Check whether a capture can be trusted, and how to improve it"),
    Command("info", LOOK, "capture", "Print what a capture holds, or list the captures of a folder"),
    Command("summary", LOOK, "capture", "Sum up activity, states, occupancy and busy units"),
    Command("hotspot", LOOK, "cost", "Rank instructions, source lines, kinds or classes by cost"),
    Command("compare", LOOK, "cost", "Compare two captures: which takes more cycles, and where"),
    Command("report", LOOK, "output", "Write a report of captures: a page of HTML or Markdown each"),
    Command("isa", DIG, "cost", "List instructions, basic blocks, branches or labels"),
    Command("source", DIG, "cost", "Show what source files, lines and their instructions cost"),
    Command("line", DIG, "cost", "Show how long executions took, or all about one of them"),
    Command("waits", DIG, "wait", "Show what waits waited for, and how long memory took"),
    Command("causes", DIG, "wait", "Show why waves stalled and idled, and what is to blame"),
    Command("loops", DIG, "wait", "Show how long iterations of loops took, and what surrounds them"),
    Command("bubbles", DIG, "wait", "Rank instructions by the no-issue cycles of SIMDs they hold up"),
    Command("latency", DIG, "wait", "Show what latency other waves hide, or how long memory takes"),
    Command("flame", DIG, "cost", "Show what costs how much inside of what, as a tree"),
    Command("occupancy", DIG, "device", "Show how many waves were resident, and what limits them"),
    Command("waves", DIG, "wave", "List waves, or show what one of them did"),
    Command("search", DIG, "wave", "Find a text in instructions, labels, sources and markers"),
    Command("counters", DIG, "device", "Summarise hardware counters and formulas over them"),
    Command("pmc", DIG, "device", "Show how L2 and memory were used, from rocprofv3 --pmc files"),
    Command("events", DIG, "device", "List dispatches, events and markers by time"),
    Command("index", CAPTURES, "capture", "Rank all captures below a folder by cost or health"),
    Command("synth", CAPTURES, "output", "Write synthetic sample captures"),
    Command("export", GIVE, "output", "Write files for Perfetto, speedscope, CSV and Parquet"),
    Command("shot", GIVE, "output", "Draw a panel or the window into a picture"),
    Command("schema", SERVE, "output", "Print the JSON Schema of what --json prints, or list all"),
    Command("mcp", SERVE, "output", "Serve these commands to agents, by Model Context Protocol"),
    Command("completion", SERVE, "output", "Print the completion of words for bash, zsh or fish"),
    Command("help", SERVE, "output", "Print the help of a command, or list all commands"),
)
BY_NAME = {command.name: command for command in COMMANDS}
NAMES = tuple(BY_NAME)
FOLDED = {  # names of before, and what they stand for
    "place": ("line",),
    "units": ("summary", "--units"),
    "wave": ("waves",),
}


def in_groups(commands: Iterable[Command] = COMMANDS) -> dict[str, list[Command]]:
    """Return the commands by the group they stand in."""
    listed = list(commands)
    return {group: [one for one in listed if one.group == group] for group in GROUPS}
