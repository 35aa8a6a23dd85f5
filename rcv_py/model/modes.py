"""Definitions of cost to choose from, shared by analyses, panels and commands."""

from enum import Enum
from typing import Literal, get_args

Sum = Literal["latency", "stall", "idle", "hits"]  # columns that rank costs
LibraryOrder = Literal["duration", "latency", "waves", "stall", "health", "occupancy", "kernel", "capture"]
SUMS: tuple[str, ...] = get_args(Sum)
MEASURES = ("latency", "stall", "idle", "since")  # of an execution
LIBRARY_ORDERS: tuple[str, ...] = get_args(LibraryOrder)


class LatencyMode(Enum):
    """The number that cost columns show."""

    SUM_ALL = "Sum (all waves)"
    MEAN_ALL = "Mean (all waves)"
    ITERATION = "Iteration (selected)"
    SUM_WAVE = "Sum (wave)"
    MEAN_WAVE = "Mean (wave)"
    MAX_WAVE = "Max (wave)"


class SourceCost(Enum):
    """How a code line's cost is charged to the places of its source chain."""

    SELF = "self"  # the innermost place only
    INCLUSIVE = "inclusive"  # every place of the chain, each once


class ReferenceRule(Enum):
    """Whether a function follows this viewer's rule or the reference viewer's."""

    OURS = "ours"
    REFERENCE = "reference"


class Which(Enum):
    """An execution of an instruction, chosen by its latency."""

    FASTEST = "fastest"
    MEDIAN = "median"
    SLOWEST = "slowest"
    FASTER = "next faster"
    SLOWER = "next slower"
