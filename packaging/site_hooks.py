"""What the site of the documentation has beside docs/: the changelog.  mkdocs calls this while it builds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def on_files(files: Any, config: Any) -> Any:
    """Add the changelog, with links as they are from docs/."""
    from mkdocs.structure.files import File

    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](")
    files.append(File.generated(config, "changelog.md", content=text))
    return files
