"""The contents of a capture folder, from one scan."""

import os
import re
from contextlib import suppress
from pathlib import Path

from rcv_py.base.errors import NotATrace
from rcv_py.base.record import Value

INDEX = "filenames.json"
CODE = "code.json"
WAVE_NAME = re.compile(r"se(\d{1,4})_sm(\d{1,4})_sl(\d{1,4})_wv(\d{1,8})\.json")


class FolderFiles(Value):
    """The files of a capture folder: bytes by name, unordered.  Folders are not listed."""

    path: Path
    size: dict[str, int]

    def __contains__(self, name: object) -> bool:
        return name in self.size

    def matching(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        """Matches of the names that fit the pattern as a whole, sorted by name."""
        return [match for name in sorted(self.size) if (match := pattern.fullmatch(name))]


def listing(path: Path) -> FolderFiles:
    """Scan a folder once; raise NotATrace if it cannot be listed."""
    size: dict[str, int] = {}
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                with suppress(OSError):  # a dangling link, or a file that vanished: treated as missing
                    if entry.is_file():
                        size[entry.name] = entry.stat().st_size
    except PermissionError as error:
        raise NotATrace(path, "the folder may not be read; ask its owner for access") from error
    except (OSError, ValueError) as error:
        raise NotATrace(path, "there is no such folder") from error
    return FolderFiles(path, size)


def is_capture(path: Path) -> bool:
    """Whether a folder is a decoded thread trace: by its index, else by wave files of the usual names.

    The folder's own name does not matter: users rename folders.
    """
    if os.path.isfile(path / INDEX):  # noqa: PTH113 - unlike Path.is_file it is quiet about a forbidden folder
        return True
    with suppress(OSError, ValueError), os.scandir(path) as entries:  # ValueError: the name has a null byte
        return any(WAVE_NAME.fullmatch(entry.name) for entry in entries)
    return False
