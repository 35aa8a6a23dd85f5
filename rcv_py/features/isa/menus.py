"""The part of an instruction's menu about experiments with it."""

from collections.abc import Callable

from PySide6.QtWidgets import QMenu

from rcv_py.analysis.waits.hoisting import NEVER, room_above, why_not_before
from rcv_py.base.manifest import panel_for
from rcv_py.base.text import Message
from rcv_py.state.session import Session
from rcv_py.ui.core.plain_text import add_action, allow


def add_trials(menu: QMenu, session: Session, row: int, show: Callable[[str], object]) -> None:
    """Add the experiments for an instruction: an earlier or another position, or no cost.

    `show` brings a panel to the front.
    """
    from rcv_py.analysis.whatif.asked import ChangeRequest  # noqa: PLC0415 - it imports other analyses

    trace, selected = session.trace.value, session.selection.value.line
    assert trace is not None
    code = trace.code
    ran = "" if code.hits[row] and not code.is_label[row] else NEVER
    room = room_above(trace, row)

    def add(title: str, change: ChangeRequest, why_not: str) -> None:
        def attempt() -> None:
            session.add_experiment(change)
            show(panel_for("prediction"))

        allow(add_action(menu, title, attempt), why_not)

    has_room = room.top < row
    earlier = Message("Try it earlier, before {0}", room.top) if has_room else "Try it earlier"
    add(earlier, ChangeRequest(move=((row, room.top),)), "" if has_room else room.why)
    if selected is not None and selected != row and 0 <= selected < len(code):
        before = Message("Try instruction {0} before this instruction", selected)
        add(before, ChangeRequest(move=((selected, row),)), why_not_before(trace, selected, row))
    add("Try without it", ChangeRequest(free=(row,)), ran)
    menu.addSeparator()
