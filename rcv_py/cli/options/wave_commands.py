"""The commands about waves, places and texts of a capture, and what each takes."""

from __future__ import annotations

import argparse

from rcv_py.cli.options.common import Command, count, folder, forms, top, waves
from rcv_py.cli.options.view_options import clock, matching, ordered, within


def _waves(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    parser.add_argument(
        "--resident",
        action="store_true",
        help="every wave that was on the device, also those whose instructions were not traced",
    )
    parser.add_argument(
        "--populations",
        action="store_true",
        help="one row a way that waves took through the code instead: which work, which left early",
    )
    waves(parser, "all")
    parser.add_argument("--unit-of", metavar="ID", help="only the compute unit of this wave")
    parser.add_argument(
        "--without-kernel", action="append", default=[], metavar="NAME", help="leave out a kernel, by symbol"
    )
    parser.add_argument(
        "--without-se", type=count, action="append", default=[], metavar="N", help="leave out an engine"
    )
    within(parser)
    ordered(parser, "place and begin")
    top(parser, 0, "waves")
    forms(parser, "rcv.waves")


def _wave(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    parser.add_argument("wave", metavar="ID", help="a wave, e.g. se0/simd2/slot1/wv0")
    parser.add_argument("--tokens", action="store_true", help="its instructions too, as they ran")
    within(parser)
    clock(parser, "also tell how many waves touch the cycles A to B")
    forms(parser, "rcv.wave", "for spreadsheets: its instructions")


def _units(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    parser.add_argument("--of", metavar="ID", help="the compute unit of this wave (default: the first one)")
    within(parser)
    forms(parser, "rcv.units")


def _place(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    parser.add_argument(
        "places",
        nargs="+",
        metavar="PLACE",
        help="as the window copies it: a wave, a line, which time it ran, e.g. se0/simd2/slot1/wv0:line 62#0",
    )
    forms(parser, "rcv.place")


def _search(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    matching(parser, "what to look for: instructions, labels, sources, names of markers")
    top(parser, 0, "hits")
    forms(parser, "rcv.search")


WAVE_COMMANDS = (
    Command(
        "waves",
        "list waves: where and when they lived, and what they did",
        _waves,
        "rcv waves FOLDER --sort stall --top 5",
    ),
    Command(
        "wave",
        "tell what one wave did, and list its instructions",
        _wave,
        "rcv wave FOLDER se0/simd2/slot1/wv0 --tokens",
    ),
    Command(
        "units",
        "tell for how long each unit of a compute unit was busy",
        _units,
        "rcv units FOLDER --of se0/simd2/slot1/wv0 --within 1000:2000",
    ),
    Command(
        "place",
        "tell everything about an instruction: one execution of it, its waits and causes",
        _place,
        "rcv place FOLDER 'se0/simd2/slot1/wv0:line 62#0'",
    ),
    Command(
        "search",
        "find a text in instructions, labels, sources and markers",
        _search,
        "rcv search FOLDER --match buffer_load",
    ),
)
