"""Steps from an instruction to the instructions it depends on: along waits, and along registers."""

from collections.abc import Callable

from rcv_py.base.text import Message
from rcv_py.features.isa.arrows import GutterArrows
from rcv_py.features.isa.register_cursor import OperandPosition, linked_row, same_registers, step_operand
from rcv_py.features.isa.view import IsaView
from rcv_py.state.session import Session

NO_ROWS = "Open a capture with instructions first."
NO_LINE = "Select an instruction first."
NO_REGISTER = "Point at a register, or choose one of the selected instruction with X."


class IsaWalk:
    """Selects the other end of a wait or of a register; gives the reason if it cannot."""

    def __init__(self, session: Session, view: IsaView, go: Callable[[int], None]) -> None:
        self._session, self._view, self._go = session, view, go
        self.arrows = GutterArrows()  # of the selected wave

    def linked(self, is_producer: bool, line: int | None = None) -> tuple[int, str]:
        """Return the row that an instruction waited for, or that waited for it; -1 and why for none.

        By default that is the selected instruction.
        """
        line = self._session.selection.value.line if line is None else line
        if line is None or self._view.rows is None:
            return -1, NO_LINE
        row = self.arrows.producer(line) if is_producer else self.arrows.waiter(line)
        if row >= 0:
            return row, ""
        why = Message("No instruction waited for {0}", line)
        if is_producer:
            why = Message("Instruction {0} waited for none", line)
        return -1, self.arrows.no_waits or Message("{0} in the selected wave.", why)

    def go_linked(self, is_producer: bool) -> None:
        """Select the row the selected instruction waited for, or the row that waited for it."""
        if (row := self.linked(is_producer)[0]) >= 0:
            self._go(row)

    def no_register(self) -> str:
        """Return why the selected instruction has no register to choose, "" if it has."""
        line, rows = self._session.selection.value.line, self._view.rows
        if line is None or rows is None:
            return NO_LINE
        has = step_operand(rows.trace.code.text[line], None, 1) is not None
        return "" if has else Message("Instruction {0} reads and writes no register.", line)

    def step_register(self, direction: int) -> None:
        """Put the text cursor on the next (+1) or previous (-1) register of the selected instruction."""
        line, rows, placed = self._session.selection.value.line, self._view.rows, self._view.placed_register
        if line is None or rows is None:
            return
        before = None if placed is None else placed.operand
        found = step_operand(rows.trace.code.text[line], before, direction)
        self._view.hovered_register = None  # until the mouse moves
        self._view.place_cursor(None if found is None else OperandPosition(line, found))

    def register_target(self, is_written: bool) -> tuple[int, str]:
        """Return the row that wrote the register under the cursor, or reads it next; -1 and why for none."""
        at, rows = self._view.register, self._view.rows
        if rows is None or at is None:
            return -1, NO_REGISTER
        row = linked_row(rows.program, at, is_written=is_written)
        if row >= 0:
            return row, ""
        name = rows.trace.code.text[at.row][at.operand.start : at.operand.stop]
        why = Message("Nothing reads {0} after instruction {1}", name, at.row)
        if is_written:
            why = Message("Nothing in this kernel writes {0}", name)
        return -1, f"{why}."

    def go_register(self, is_written: bool) -> None:
        """Select the row that wrote the register under the cursor, or reads it next; the cursor follows."""
        at, (row, _), rows = self._view.register, self.register_target(is_written), self._view.rows
        if at is None or row < 0 or rows is None:
            return
        self._go(row)
        self._view.hovered_register = None
        found = same_registers(rows.trace.code.text[row], at.operand.registers, is_written=is_written)
        self._view.place_cursor(None if found is None else OperandPosition(row, found))


# Id, title, key, tip, action, and why it cannot be done.
WALKS: tuple[tuple[str, str, str, str, Callable[[IsaWalk], object], Callable[[IsaWalk], str]], ...] = (
    ("isa.producer", "What this waits for", "P",
     "Select the last instruction that the selected one waited for.",
     lambda walk: walk.go_linked(True), lambda walk: walk.linked(True)[1]),
    ("isa.waiter", "Waited for by", "Shift+P",
     "Select the next instruction that waited for the selected one.",
     lambda walk: walk.go_linked(False), lambda walk: walk.linked(False)[1]),
    ("isa.next_register", "Next register of the instruction", "X",
     "Highlight where the next register of the selected instruction is written and read.",
     lambda walk: walk.step_register(+1), IsaWalk.no_register),
    ("isa.previous_register", "Previous register of the instruction", "Shift+X",
     "Highlight where the register before of the selected instruction is written and read.",
     lambda walk: walk.step_register(-1), IsaWalk.no_register),
    ("isa.definition", "Where the register is written", "G",
     "Select the instruction that wrote the highlighted register last.",
     lambda walk: walk.go_register(True), lambda walk: walk.register_target(True)[1]),
    ("isa.next_use", "Where the register is read next", "N",
     "Select the next instruction that reads the highlighted register.",
     lambda walk: walk.go_register(False), lambda walk: walk.register_target(False)[1]),
)  # fmt: skip
