"""What-if experiments from the listing: entries of an instruction's menu, shown by What if."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QMenu

from rcv_py.analysis.waits.room_above import NEVER, room_above, why_not_before
from rcv_py.base.manifest import panel_for
from rcv_py.base.text import Message
from rcv_py.state.session import Session
from rcv_py.ui.core.plain_text import add_action, allow


def try_before(session: Session, row: int, before: int, show: Callable[[str], object]) -> None:
    """Try an instruction right before another instruction; `show` brings a panel to the front."""
    from rcv_py.analysis.whatif.asked import ChangeRequest  # noqa: PLC0415 - it imports other analyses

    session.add_experiment(ChangeRequest(move=((row, before),)))
    show(panel_for("prediction"))


def add_trials(menu: QMenu, session: Session, row: int, show: Callable[[str], object]) -> None:
    """Add the experiments for an instruction: an earlier or another position, or no cost.

    `show` brings a panel to the front.
    """
    trace, selected = session.trace.value, session.selection.value.line
    assert trace is not None
    code = trace.code
    ran = "" if code.hits[row] and not code.is_label[row] else NEVER
    room = room_above(trace, row)

    def freed() -> None:
        from rcv_py.analysis.whatif.asked import ChangeRequest  # noqa: PLC0415 - as above

        session.add_experiment(ChangeRequest(free=(row,)))
        show(panel_for("prediction"))

    def add(title: str, call: Callable[[], object], why_not: str) -> None:
        allow(add_action(menu, title, call), why_not)

    has_room = room.top < row
    add(
        Message("Try it earlier, before {0}", room.top) if has_room else "Try it earlier",
        lambda: try_before(session, row, room.top, show),
        "" if has_room else room.why,
    )
    if selected is not None and selected != row and 0 <= selected < len(code):
        add(
            Message("Try instruction {0} before this one", selected),
            lambda: try_before(session, selected, row, show),
            why_not_before(trace, selected, row),
        )
    add("Try without it", freed, ran)
    menu.addSeparator()
