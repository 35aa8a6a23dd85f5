"""The user's files of formulas: saved files in the folder of settings, and drafts."""

import re
from pathlib import Path

from rcv_py.analysis.counters.formula.evaluate import MAX_TEXT
from rcv_py.base.errors import ExportError
from rcv_py.base.text import Message
from rcv_py.base.whole_files import whole_file

FOLDER = "derived_counters"
SUFFIXES = (".txt", ".def")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,59}\.(?:txt|def)", re.ASCII)
_BEGINNING = "# One formula per line, for example\n# busy := sum[BUSY_CU_CYCLES, axis=[XCC, SE, CU]]\n"


class FormulaFiles:
    """Texts by file name; drafts are kept until they are saved, all in memory if there is no folder."""

    def __init__(self, settings_folder: Path | None) -> None:
        self._folder = None if settings_folder is None else settings_folder / FOLDER
        self._saved: dict[str, str] = {}
        self._drafts: dict[str, str] = {}
        self.problems: list[str] = []  # a sentence for each file that was not read
        if self._folder is not None and self._folder.is_dir():
            for path in sorted(self._folder.iterdir()):
                if path.suffix in SUFFIXES and path.is_file():
                    self._read(path)

    def _read(self, path: Path) -> None:
        try:
            with path.open(encoding="utf-8") as file:
                text = file.read(MAX_TEXT + 1)
        except (OSError, UnicodeDecodeError):
            self.problems.append(Message("The formulas of {0} cannot be read.", path))
            return
        if len(text) <= MAX_TEXT and _NAME.fullmatch(path.name):
            self._saved[path.name] = text
        else:
            said = "The formulas of {0} are not used: its name or length does not fit."
            self.problems.append(Message(said, path))

    @property
    def names(self) -> tuple[str, ...]:
        """All files, sorted: in this order later formulas replace earlier ones."""
        return tuple(sorted({*self._saved, *self._drafts}))

    def words(self) -> tuple[str, ...]:
        """Arguments that give `rcv counters` the same formulas: saved files by name, drafts as text."""
        return tuple(
            f"--formula={self.text(name)}"
            if self._folder is None or self.is_changed(name)
            else f"--file={self._folder / name}"
            for name in self.names
            if self.text(name).strip()
        )

    def text(self, name: str) -> str:
        """The draft, else the saved text."""
        return self._drafts.get(name, self._saved.get(name, ""))

    def is_changed(self, name: str) -> bool:
        """Whether there is a draft to save."""
        return name in self._drafts

    def new(self) -> str:
        """Begin a file; return its name."""
        number = 1
        while (name := f"formulas{f'_{number}' if number > 1 else ''}.txt") in self.names:
            number += 1
        self._drafts[name] = _BEGINNING
        return name

    def edit(self, name: str, text: str) -> None:
        """Keep a draft; a text equal to the saved one is not a draft."""
        if self._saved.get(name) == text:
            self._drafts.pop(name, None)
        else:
            self._drafts[name] = text

    def save(self, name: str) -> None:
        """Write a file; raise ExportError if it cannot be written."""
        text = self.text(name)
        if self._folder is not None:
            with whole_file(self._folder / name) as target:
                target.write(text.encode())
        self._saved[name] = text
        self._drafts.pop(name, None)

    def delete(self, name: str) -> None:
        """Remove a file and its draft; raise ExportError if it cannot be removed."""
        if self._folder is not None and name in self._saved:
            try:
                (self._folder / name).unlink(missing_ok=True)
            except OSError as error:
                raise ExportError(Message("{0} cannot be deleted: {1}.", name, error.strerror)) from error
        self._saved.pop(name, None)
        self._drafts.pop(name, None)
