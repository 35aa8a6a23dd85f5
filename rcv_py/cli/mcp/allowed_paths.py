"""Which paths an agent may read and write: captures below one folder, files into another, links resolved."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from rcv_py.base.errors import UsageError


@dataclass(frozen=True, slots=True)
class AllowedPaths:
    """`root` holds the captures; `out` takes written files, None: nothing is written.  Both are resolved."""

    root: Path
    out: Path | None = None

    @classmethod
    def of(cls, root: Path, out: Path | None) -> AllowedPaths:
        """Resolve both folders and make the second; raise UsageError if either cannot be one."""
        if not root.is_dir():
            raise UsageError(f"{root} is not a folder.", hint="Give --root the folder that holds captures.")
        if out is None:
            return cls(Path(os.path.realpath(root)))
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"{out} cannot be a folder for written files: {error.strerror}.", hint="Choose another --out."
            ) from error
        return cls(Path(os.path.realpath(root)), Path(os.path.realpath(out)))

    def readable(self, name: str) -> Path:
        """Return the path that a name, relative to the root or absolute, leads to; outside: UsageError."""
        hint = "Captures are read below that folder only; `rcv mcp --root DIR` chooses another."
        return _inside(self.root, name, hint)

    def writable(self, name: str) -> Path:
        """Return the path to write to, inside the folder for written files; anywhere else: UsageError."""
        if self.out is None:
            raise UsageError(
                f"{name} cannot be written: this server writes no files.",
                hint="`rcv mcp --out DIR` names a folder for them.",
            )
        hint = "Files are written into that folder only; give a name without a folder."
        return _inside(self.out, name, hint)


def _inside(base: Path, name: str, hint: str) -> Path:
    """The path below a folder without links and `..`; a name that no file can have raises UsageError."""
    try:
        path = Path(os.path.realpath(base / name))
    except (OSError, ValueError) as error:
        raise UsageError(f"{name!r} cannot be a path.", hint="Give the path of a capture.") from error
    if not path.is_relative_to(base):
        raise UsageError(f"{name} lies outside of {base}.", hint=hint)
    return path
