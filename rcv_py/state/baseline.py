"""The second capture that the open one is compared with."""

from __future__ import annotations

from dataclasses import dataclass

from rcv_py.analysis.compare.costs import CaptureCosts
from rcv_py.model.trace import Trace


@dataclass(frozen=True, eq=False)
class Baseline:
    """A capture with the costs of all its waves; its tokens are not kept."""

    trace: Trace
    costs: CaptureCosts
    replicate: Baseline | None = None  # another capture of the same build: what it differs by is noise

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.trace.name
