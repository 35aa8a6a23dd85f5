"""wstates<K>.json: how many traced waves were in a state, as the writer counted."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from rcv_py.base.problems import Problem
from rcv_py.formats.input.columns import fit, int_column
from rcv_py.formats.input.files import try_json
from rcv_py.formats.uiout.folder import Listing
from rcv_py.formats.uiout.shapes import tell_skipped
from rcv_py.model.device import StateCurve

NAME = re.compile(r"wstates(\d)\.json")


def read_state_curves(folder: Path, listing: Listing, problems: list[Problem]) -> tuple[StateCurve, ...]:
    """Return the curves of the files that are there; times are not aligned, since the file mixes engines."""
    curves = []
    for match in listing.matching(NAME):
        data = try_json(folder, match.group(), problems)
        curve = _curve(int(match[1]), data)
        if curve is None and data is not None:
            tell_skipped(problems, match.group(), 1, "curve")
        elif curve is not None:
            curves.append(curve)
    return tuple(curves)


def _curve(state: int, data: object) -> StateCurve | None:
    if not isinstance(data, dict):
        return None
    time, waves = data.get("time"), data.get("state", data.get("data"))
    if not isinstance(time, list) or not isinstance(waves, list) or len(time) != len(waves):
        return None
    try:
        return StateCurve(state, fit(int_column(time), np.int64), fit(int_column(waves), np.int32))
    except (TypeError, ValueError):
        return None
