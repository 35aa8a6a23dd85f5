"""The choice of waves that panels explain: menu entries of View › Waves, and a button of the status bar."""

from functools import partial

from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton

from rcv_py.analysis.waves.populations import ALL, WORKING, Populations, ran_text
from rcv_py.base.text import Message, percent, plural, translated
from rcv_py.state.commands import Command, commands
from rcv_py.state.session import Session
from rcv_py.ui.core.plain_text import add_action, button_text, tooltip
from rcv_py.ui.shell.go_commands import holds

TIP = "Panels that explain (Triage, Causes, Waits, Loops, Bubbles, Latency, Summary) are about these waves."

TITLES = {WORKING: "Working waves", ALL: "All waves"}


def wave_commands(session: Session) -> tuple[Command, ...]:
    """Return the commands that choose waves; the menu also lists populations of the open capture."""

    def unread() -> str:
        waves = session.populations.value
        return "" if waves is not None and waves.read else "No waves have been read."

    def all_alike() -> str:
        several = len(session.populations.value or ()) > 1
        return "" if several else "All waves that were read took the same path."

    def step() -> None:
        names = choices(session.populations.value)
        at = names.index(session.waves.value) if session.waves.value in names else -1
        session.waves.set(names[(at + 1) % len(names)])

    rows = (
        (WORKING, "Ctrl+Alt+Shift+W", "Explain what waves cost that do the work of the kernel."),
        (ALL, "Ctrl+Alt+Shift+A", "Explain what all waves cost, including waves that left early."),
    )
    return commands("View/Waves", (
        *(
            (f"waves.{name}", TITLES[name], key, partial(session.waves.set, name), tip, unread,
             holds(session.waves, name))
            for name, key, tip in rows
        ),
        ("waves.next", "Next population of waves", "Ctrl+Alt+Shift+P", step,
         "Explain what the waves of the next population cost: waves that took the same path.", all_alike),
    ))  # fmt: skip


def choices(populations: Populations | None) -> list[str]:
    """Return the choices: working waves, all waves, and the populations if there are several."""
    own = [] if populations is None or len(populations) < 2 else populations.id
    return list(dict.fromkeys((WORKING, ALL, *own)))


def add_populations(menu: QMenu, session: Session) -> None:
    """Append the populations of the open capture to the menu; each entry chooses a population."""
    populations = session.populations.value
    if populations is None or len(populations) < 2:
        return
    menu.addSeparator()
    group = QActionGroup(menu)
    for at, name in enumerate(populations.id):
        if name == WORKING:  # a separate entry above stands for it
            continue
        share = percent(int(populations.cycles[at]), int(populations.cycles.sum()))
        title = Message("{0}, {1}", populations.name[at], plural(int(populations.waves[at]), "wave"))
        runs, is_on = populations.instructions[at], session.waves.value == name
        tip = Message("{0} of the cycles of waves, {1:,.0f} executions per wave.", share, runs)
        group.addAction(add_action(menu, title, partial(session.waves.set, name), tip=tip, is_on=is_on))


class WavesButton(QToolButton):
    """Shows which waves are explained; its menu is View › Waves; hidden where all took the same path."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.setAccessibleName(translated("Waves that are explained"))
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        for cell in (session.populations, session.waves):
            cell.watch(self._update)
        self._update()

    def _update(self) -> None:
        waves, choice = self._session.populations.value, self._session.choice
        is_known = waves is not None and choice is not None and bool(waves.read)
        self.setVisible(is_known and (len(waves or ()) > 1 or not (waves and waves.has_working)))
        if waves is not None and choice is not None:
            self.setText(button_text(choice.text) if waves.has_working else translated("no wave works"))
            reason = Message("All waves left early or are empty: {0}.\n", ran_text(waves))
            self.setToolTip(tooltip(Message("{0}{1}", "" if waves.has_working else reason, TIP)))
