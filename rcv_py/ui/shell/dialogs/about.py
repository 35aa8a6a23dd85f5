"""Version, licences, and facts for a report."""

from __future__ import annotations

import platform

import numpy as np
import pyqtgraph
import PySide6
from PySide6.QtWidgets import QWidget

from rcv_py import __version__
from rcv_py.model.trace import Trace
from rcv_py.ui.core.layout import Dialog
from rcv_py.ui.core.plain_text import SELECTABLE, PlainLabel

LICENCES = (
    "Qt and PySide6: LGPL 3",
    "pyqtgraph: MIT",
    "numpy, pygments: BSD",
    "orjson, simdjson: Apache 2 or MIT",
    "JetBrains Mono: Apache 2",
)


def facts(trace: Trace | None) -> str:
    """Return versions, and what a capture is without what it holds."""
    lines = [
        f"rcv {__version__}",
        f"Python {platform.python_version()}, Qt {PySide6.__version__}, pyqtgraph {pyqtgraph.__version__}",
        f"numpy {np.__version__}, {platform.platform()}",
    ]
    if trace is not None:
        lines += [
            f"format {trace.version or 'unknown'}, {trace.target}, {len(trace.waves):,} waves",
            f"{len(trace.code):,} code lines, {len(trace.sources):,} sources",
            *(f"{problem.severity}: {problem.text}" for problem in trace.problems),
        ]
    return "\n".join(lines)


class AboutBox(Dialog):
    """What this program is, and what it is made of."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("About rcv", parent)
        what = "A viewer of instruction-level thread traces of AMD GPUs."
        text = "\n\n".join((what, "\n".join(LICENCES), facts(None)))
        heading = PlainLabel(f"rcv {__version__}", role="heading")
        self.fill(heading, PlainLabel(text, textInteractionFlags=SELECTABLE), spacing=6)
