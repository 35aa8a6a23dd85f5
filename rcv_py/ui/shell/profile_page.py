"""The page of a run without a thread trace: tables of kernels, devices, counters and PC samples."""

from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QTabWidget, QWidget

from rcv_py.base.text import Message, plural, translated
from rcv_py.model.profile import Profile
from rcv_py.results.table import ResultTable
from rcv_py.ui.core.layout import column, row
from rcv_py.ui.core.plain_text import PlainLabel, button_text, push_button
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.table.result_columns import plain_columns
from rcv_py.ui.table.table_model import TableModel


class ProfilePage(QWidget):
    """One table per tab, without empty tables."""

    def __init__(self, back: Callable[[], None]) -> None:
        super().__init__()
        self.setObjectName("profile")
        self.setAccessibleName(translated("Profile of a run"))
        self.title = PlainLabel(role="heading")
        self.facts = PlainLabel(wordWrap=True)
        self.tabs = QTabWidget(documentMode=True)
        self.back_button = push_button("Back", call=back)
        parts = (self.title, self.facts, (self.tabs, 1), row(self.back_button, None, spacing=6))
        column(*parts, margins=(24, 16, 24, 16), spacing=8, of=self)

    def show_profile(self, profile: Profile, tables: Mapping[str, ResultTable], trace: str) -> None:
        """Show a profile; `trace` is a sentence about raw traces."""
        self.title.setText(Message("{0}: a run without a thread trace", profile.path.name))
        launches = plural(len(profile.launches), "launch", "launches")
        counts = Message("{0} of {1}", launches, plural(len(profile.kernels), "kernel"))
        first = Message("{0}. Thread trace: {1}", counts, trace)
        self.facts.setText("\n".join(filter(None, (first, profile.command, *map(str, profile.problems)))))
        while (page := self.tabs.widget(0)) is not None:
            self.tabs.removeTab(0)
            page.deleteLater()
        for table in filter(len, tables.values()):
            name = table.spec.name.removeprefix("profile ").capitalize()
            self.tabs.addTab(_view(table), button_text(f"{name} ({len(table):,})"))
        self.tabs.setFocus()


def _view(table: ResultTable) -> QTableView:
    view = QTableView(sortingEnabled=True, showGrid=False)
    model = TableModel(view)
    model.set_columns(plain_columns(table))
    view.setModel(model)
    view.setAccessibleName(translated(table.spec.name))
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setAlternatingRowColors(True)
    view.verticalHeader().hide()
    view.verticalHeader().setDefaultSectionSize(grown(22))
    header = view.horizontalHeader()
    header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    for place, shown in enumerate(model.columns[1:], 1):
        view.setColumnWidth(place, max(grown(shown.width), header.sectionSizeHint(place)))
    return view
