"""The written pages that come with the program: tutorial, glossary, guide."""

import re
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QDialogButtonBox, QTextBrowser, QWidget

from rcv_py.base.resources import find
from rcv_py.base.text import Message, translated
from rcv_py.ui.core.layout import Dialog

FOLDER = "docs"
PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)")  # pictures do not come with the pages


class DocsDialog(Dialog):
    """Shows a page; links lead to other pages and their headings, and nothing is loaded from elsewhere."""

    def __init__(self, page: str, parent: QWidget | None = None) -> None:
        super().__init__("Documentation", parent)
        self.resize(860, 680)
        self.page = ""  # name of the file
        self.visited: list[str] = []
        self.view = QTextBrowser(openLinks=False)
        self.view.setAccessibleName(translated("Documentation"))
        self.view.anchorClicked.connect(self._go)
        back = self.buttons.addButton(translated("Back"), QDialogButtonBox.ButtonRole.ActionRole)
        back.clicked.connect(self._back)
        self.fill((self.view, 1), margins=(9, 9, 9, 9), spacing=6)
        self.show_page(page)

    def show_page(self, name: str, heading: str = "") -> None:
        """Show a page by the name of its file, from a heading on."""
        if name != self.page:
            path = find(f"{FOLDER}/{Path(name).name}")
            missing = Message("The page {0} did not come with this installation.", name)
            text = translated(missing) if path is None else path.read_text("utf-8")
            self.visited.append(name)
            self.page = name
            self.view.setMarkdown(PICTURE.sub("", text))
        if heading:
            self.view.find(heading.replace("-", " "))

    def _go(self, link: QUrl) -> None:
        if not link.scheme():  # of another page; addresses of the web are text alone
            self.show_page(link.path() or self.page, link.fragment())

    def _back(self) -> None:
        if len(self.visited) > 1:
            self.visited.pop()
            self.show_page(self.visited.pop())
