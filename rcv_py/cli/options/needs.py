"""Which options need others: an option that a command cannot honour is refused, not ignored.

One row an option of a command: what must hold for it to mean anything, and what to add or leave out if it
does not.  Only options that were given are looked at; a default hurts nobody.
"""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rcv_py.base.errors import UsageError


@dataclass(frozen=True, slots=True)
class Need:
    """What an option, by its name in the arguments, needs: a test, and a sentence that follows its name."""

    option: str
    is_met: Callable[[Namespace], bool]
    belongs: str  # what it belongs to
    hint: str = ""  # what to do; "" for "Add …, or leave it out."


def given(parser: argparse.ArgumentParser, words: Sequence[str]) -> frozenset[str]:
    """Return the names of the options that stand on a command line."""
    return frozenset(
        action.dest
        for action in parser._actions  # argparse has no public list of them
        if any(
            word == name or word.startswith(f"{name}=") for name in action.option_strings for word in words
        )
    )


def check_needs(arguments: Namespace, options: frozenset[str]) -> None:
    """Raise UsageError for the first option that was given and means nothing beside the others."""
    for need in _NEEDS.get(arguments.command, ()):
        if need.option in options and not need.is_met(arguments):
            name = "--" + need.option.replace("_", "-")
            raise UsageError(
                f"{name} belongs to {need.belongs}.",
                hint=need.hint or f"Add {need.belongs}, or leave {name} out.",
            )


def _has(*names: str) -> Callable[[Namespace], bool]:
    """All of these are given, or are not empty."""
    return lambda one: all(getattr(one, name) not in (None, False, [], ()) for name in names)


def _lacks(*names: str) -> Callable[[Namespace], bool]:
    """None of these is given."""
    return lambda one: all(getattr(one, name) in (None, False, [], ()) for name in names)


def _is(name: str, *values: object) -> Callable[[Namespace], bool]:
    return lambda one: getattr(one, name) in values


def _both(*tests: Callable[[Namespace], bool]) -> Callable[[Namespace], bool]:
    return lambda one: all(test(one) for test in tests)


def _either(*tests: Callable[[Namespace], bool]) -> Callable[[Namespace], bool]:
    return lambda one: any(test(one) for test in tests)


def _each(
    options: str, is_met: Callable[[Namespace], bool], belongs: str, hint: str = ""
) -> tuple[Need, ...]:
    """The same need of several options."""
    return tuple(Need(option, is_met, belongs, hint) for option in options.split())


_ASCENDING = (Need("ascending", _has("sort"), "--sort"),)
_WAVES = (Need("waves", _lacks("wave"), "tables of several waves", "Leave out --wave, or this."),)
_MATCHING = _each("regex case", _has("match"), "--match")
_RANKING = "the ranking"
_OUT_BINS = "Leave out --bins, or this."

_NEEDS: dict[str, tuple[Need, ...]] = {
    "view": _each(
        "panel goto wave line cycle compare run_files", _has("folder"), "a capture", "Name the capture first."
    ),
    "hotspot": (
        *_each("mode detail context kernel", _has("like"), "--like", "Add --like new or --like old."),
        *_each(
            "by sort ascending bins se charge file no_idle clock waves",
            _lacks("like"),
            "our own tables",
            "Leave --like out: it repeats the scripts, which do not know it.",
        ),
        *_each("kernel run_files", _either(_lacks("like"), _is("like", "new")), "--like new"),
        Need(
            "detail", _both(_lacks("json", "csv"), lambda one: one.mode != "asm"), "the text of source lines"
        ),
        Need("context", _has("detail"), "--detail"),
        *_each("top by sort ascending charge file no_idle run_files", _lacks("bins"), _RANKING, _OUT_BINS),
        Need("se", _has("bins"), "--bins"),
        *_each("file no_idle", _has("charge"), "--charge", "Add --charge self or --charge inclusive."),
        Need("file", _is("by", "source"), "--by source"),
        *_each(
            "sort ascending", lambda one: one.by != "tree", "a list", "A tree has the order of its places."
        ),
        Need("run_files", _lacks("charge"), _RANKING, "Leave out --charge, or this."),
    ),
    "isa": (
        Need(
            "wave", lambda one: one.mode not in ("sum", "mean"), "--mode hit, wave-sum, wave-mean or wave-max"
        ),
        Need("hit", _is("mode", "hit"), "--mode hit"),
        Need("clock", _is("mode", "sum", "mean"), "--mode sum or mean"),
        *_WAVES,
        *_each(
            "mode wave hit clock",
            _lacks("branches"),
            "costs",
            "Branches are counted in all waves: leave it out.",
        ),
        *_each(
            "bars no_idle",
            _lacks("blocks", "branches", "labels"),
            "the listing of instructions",
            "Leave out --blocks, --branches and --labels, or this.",
        ),
        *_MATCHING,
        *_ASCENDING,
    ),
    "source": (Need("context", _has("place"), "FILE or FILE:LINE", "Name a source file, or leave it out."),),
    "waits": (*_WAVES, *_ASCENDING),
    "causes": _ASCENDING,
    "loops": (*_each("rounds_of outliers", _has("loop"), "--loop HEAD:BRANCH"), *_WAVES, *_ASCENDING),
    "bubbles": _ASCENDING,
    "latency": (
        Need("waits", _is("kind", "memory"), "--kind memory"),
        *_each("no_idle waves", _is("kind", "hidden"), "--kind hidden"),
        *_ASCENDING,
    ),
    "flame": (
        Need("least", lambda one: not one.folded and one.content != "sandwich", "a tree"),
        Need("order", _lacks("folded"), "a tree", "Stack lines have no order: leave it out."),
        Need(
            "clock",
            lambda one: one.content not in ("markers", "both") or one.metric == "nonhidden",
            "--content source, kernel or sandwich",
        ),
        Need(
            "waves",
            lambda one: one.content not in ("markers", "both"),
            "--content source, kernel or sandwich",
        ),
        Need("no_idle", lambda one: one.content != "markers", "--content source, kernel, both or sandwich"),
    ),
    "occupancy": (
        *_each("by se only", _lacks("limits"), "the curves", "Leave out --limits, or this."),
        Need("run_files", _has("limits"), "--limits"),
    ),
    "waves": (
        *_each(
            "resident waves unit_of without_kernel without_se within",
            _lacks("populations"),
            "the list of waves",
            "Leave out --populations, or this.",
        ),
        Need("waves", _lacks("resident"), "traced waves", "Leave out --resident, or this."),
        *_ASCENDING,
    ),
    "search": _MATCHING,
    "counters": (
        *_each(
            "raw formula file se cu simd only",
            _lacks("list"),
            "the values",
            "Leave out --list, which only names counters, or this.",
        ),
        *_each("formula file", _lacks("raw"), "formulas", "Leave out --raw, or this."),
    ),
    "pmc": _each("by top", _lacks("like"), "our own table", "Leave out --like, which adds up everything."),
    "events": (*_MATCHING, *_ASCENDING),
    "compare": (
        *_each(
            "sort ascending beyond_noise",
            lambda one: one.by != "flame",
            "a list",
            "Leave out --by flame, or this.",
        ),
        *_each(
            "markdown junit",
            lambda one: one.by not in ("listing", "flame"),
            "a ranking",
            "Use --by line, source, block or class.",
        ),
        Need("top", _lacks("junit"), "a table", "Leave out --junit, which is about the whole, or this."),
        *_each(
            "sort ascending beyond_noise",
            _lacks("markdown", "junit"),
            "a table",
            "Leave out --markdown and --junit, or this.",
        ),
        *_ASCENDING,
    ),
    "report": (
        Need("format", _lacks("out"), "--out-dir", "The ending of --out names the form: leave it out."),
    ),
    "shot": _each(
        "size theme scale",
        lambda one: one.out.suffix.lower() != ".csv",
        "a picture",
        "Use a name ending in .png or .svg.",
    ),
    "synth": _each(
        "out seed", _either(_has("names"), _has("all")), "a sample", "Name samples, or add --all."
    ),
}
