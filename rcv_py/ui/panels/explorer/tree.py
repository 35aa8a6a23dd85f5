"""A tree of places with a cost each: folders and files, or kernels and labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.cost.explorer import CostNode
from rcv_py.base.text import percent, short_count
from rcv_py.model.kinds import KIND_COUNT, KIND_TEXT, TokenKind
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.table.table_model import grouped
from rcv_py.ui.table.tree_table import Parts, Tree, TreeColumn


@dataclass(frozen=True, slots=True, eq=False)
class PlaceRows:
    """What the tree says of places; costs are in `unit`, shares are of `total`."""

    theme: Theme
    total: int = 0
    unit: str = "cycles"
    has_sources: bool = False

    def tree(self, root: CostNode | None = None) -> Tree[CostNode]:
        """Return the tree below a root."""
        return Tree(
            root or CostNode(),
            (
                TreeColumn("name", "place", lambda place: place.name),
                TreeColumn("bar", "cost", parts=self.parts, width=60),
                TreeColumn(
                    "cost",
                    self.unit,
                    lambda place: short_count(place.cost) if place.cost else "",
                    is_number=True,
                    width=60,
                ),
                TreeColumn(
                    "share",
                    "%",
                    lambda place: percent(place.cost, self.total).removesuffix(" %") if place.cost else "",
                    is_number=True,
                    width=46,
                ),
            ),
            self.tip,
            lambda one: f"{one.name}, {grouped(one.cost)} {self.unit}, {percent(one.cost, self.total)}",
            lambda place: place.tip,
            lambda place: place.file < 0 and (self.has_sources or place.row == 0),
        )

    def parts(self, place: CostNode) -> Parts:
        """The cost by kind of instruction."""
        return [(int(place.by_kind[kind]), self.theme.kind(kind)) for kind in range(KIND_COUNT)]

    def tip(self, place: CostNode) -> str:
        """Path, exact cost, and the cost by kind."""
        lines = [place.tip or place.name]
        lines.append(f"{grouped(place.cost)} {self.unit}, {percent(place.cost, self.total)} of all")
        for kind in np.argsort(-place.by_kind, kind="stable").tolist():
            if place.by_kind[kind]:
                lines.append(f"{KIND_TEXT[TokenKind(kind)]}: {grouped(place.by_kind[kind])}")
        return "\n".join(lines)
