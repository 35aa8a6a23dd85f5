"""Find the program's own files: in a checkout, installed, or in a frozen build."""

import sys
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def find(name: str) -> Path | None:
    """Return the first existing place of a file or folder such as `resources/fonts`; None if absent."""
    frozen, installed, checkout = getattr(sys, "_MEIPASS", ""), _PACKAGE / "bundled", _PACKAGE.parent
    places = [Path(root) / name for root in (frozen, installed, checkout) if root]
    return next((place for place in places if place.exists()), None)


def resource(name: str) -> Path | None:
    """Return a file of `resources/`, None if it is not installed."""
    return find(f"resources/{name}")


def samples() -> tuple[Path, ...]:
    """Return the folders of the sample captures that came with the program, sorted by name."""
    folder = find("sample_traces")
    if folder is None:
        return ()
    return tuple(sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")))
