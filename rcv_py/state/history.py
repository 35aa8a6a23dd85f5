"""The user's navigation history."""

from typing import NamedTuple

from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import Selection

MAX_VISITS = 200


class Visit(NamedTuple):
    """A selection of the user and its time window."""

    selection: Selection
    window: TimeWindow


class History:
    """Visited places, oldest first, and the index of the current place."""

    def __init__(self) -> None:
        self.visits: list[Visit] = []
        self.position = -1

    def push(self, visit: Visit) -> None:
        """Add a visit and drop later ones; the same selection again only updates its window."""
        if self.visits and self.visits[self.position].selection == visit.selection:
            self.visits[self.position] = visit
            return
        del self.visits[self.position + 1 :]
        self.visits.append(visit)
        del self.visits[:-MAX_VISITS]
        self.position = len(self.visits) - 1

    def replace(self, visit: Visit) -> None:
        """Replace the current visit."""
        if self.visits:
            self.visits[self.position] = visit

    def go(self, position: int) -> Visit | None:
        """Go to the visit at `position`; None if there is none."""
        if not 0 <= position < len(self.visits):
            return None
        self.position = position
        return self.visits[position]

    @property
    def can_go_back(self) -> bool:
        """Whether there is an earlier visit."""
        return self.position > 0

    @property
    def can_go_forward(self) -> bool:
        """Whether there is a later visit."""
        return self.position + 1 < len(self.visits)
