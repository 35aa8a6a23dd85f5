"""Write what the code knows into the documentation: commands, settings, panels, keys, and the pictures.

Usage: reference.py [--pictures | --check].  --check writes nothing and names the pages that are out of date.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = "sample_traces/matmul_tiled"
PICTURES = {
    "window-light.png": ("window", "--theme", "light", "--size", "1920x1080", "--line", "113"),
    "window-dark.png": ("window", "--theme", "dark", "--size", "1920x1080"),
    "compute-unit.png": (
        "compute_unit",
        "--theme",
        "dark",
        "--size",
        "1400x300",
        "--line",
        "113",
        "--range",
        "90000:92400",
    ),
    "isa.png": ("isa", "--theme", "light", "--size", "1100x560", "--line", "113"),
}
TUTORIAL = "tutorial_before"  # a sample of the simulator
TUTORIAL_PICTURES = {
    "tutorial-window.png": ("window", "--theme", "light", "--size", "1600x950", "--line", "69"),
    "tutorial-findings.png": ("triage", "--theme", "light", "--size", "560x530"),
}


def commands_page() -> str:
    """The help text of every command."""
    from rcv_py.cli.arguments import help_text
    from rcv_py.cli.options.commands import COMMANDS

    parts = ["# Commands", "", "Written from the code; `make docs` writes it again.", ""]
    parts += ["## rcv", "", "```", help_text().rstrip(), "```", ""]
    for name, command in COMMANDS.items():
        parts += [f"## rcv {name}", "", "```", help_text(command).rstrip(), "```", ""]
    return "\n".join(parts)


def schemas_page() -> str:
    """The exit codes, and every field of every document."""
    from schema_reference import schema_sections

    from rcv_py.cli.exit_codes import EXIT_TEXT

    parts = ["# Output for scripts", "", "Written from the code; `make docs` writes it again.", ""]
    parts += ["## Exit codes", "", "| code | meaning |", "|---:|---|"]
    parts += [f"| {code.value} | {text} |" for code, text in EXIT_TEXT.items()]
    return "\n".join([*parts, "", *schema_sections()])


def settings_page() -> str:
    """One row an option."""
    from rcv_py.base.settings import OPTIONS

    rows = ["# Settings", "", "Written from the code; `make docs` writes it again.", ""]
    rows += ["| option | default | values | meaning |", "|---|---|---|---|"]
    for option in OPTIONS:
        is_number = isinstance(option.default, int) and not isinstance(option.default, bool)
        free = "a text" if isinstance(option.default, str) else "true, false"
        values = f"{option.low} to {option.high}" if is_number else ", ".join(option.choices) or free
        rows.append(f"| `{option.name}` | {option.default} | {values} | {option.text} |")
    return "\n".join(rows) + "\n"


def keys_page() -> str:
    """Every action with its menu and keys, and every panel."""
    from rcv_py.ui.app import start
    from rcv_py.ui.core.panel import discover

    app = start(None)
    rows = ["# Actions, keys and panels", "", "Written from the code; `make docs` writes it again.", ""]
    rows += ["| action | menu | keys | what it does |", "|---|---|---|---|"]
    for command in app.ui.commands:
        keys = " or ".join(f"`{key}`" for key in command.shortcuts).replace("|", "\\|")
        rows.append(
            f"| {command.title.replace('|', '')} | {command.menu or 'palette'} | {keys} | {command.tip} |"
        )
    rows += ["", "| panel | id for `rcv shot` | what it shows |", "|---|---|---|"]
    rows += [
        f"| {info.title} | `{info.id}` | {info.tip} |"
        for info in sorted(discover().values(), key=lambda info: info.id)
    ]
    app.close()
    return "\n".join(rows) + "\n"


def api_page() -> str:
    """The functions, methods and tables of the Python API."""
    from api_reference import api_page as page

    return page()


PAGES = {
    "docs/commands.md": commands_page,
    "docs/schemas.md": schemas_page,
    "docs/settings.md": settings_page,
    "docs/keys.md": keys_page,
    "docs/api-reference.md": api_page,
}


def pictures() -> None:
    """Draw the pictures of README, tutorial and story from our own samples."""
    (ROOT / "docs" / "pictures").mkdir(exist_ok=True)

    def rcv(*words: str) -> None:
        subprocess.run([sys.executable, "-m", "rcv_py", *words], cwd=ROOT, check=True)

    with tempfile.TemporaryDirectory() as folder:
        rcv("synth", TUTORIAL, "--out", folder)
        for capture, table in ((SAMPLE, PICTURES), (f"{folder}/{TUTORIAL}", TUTORIAL_PICTURES)):
            for name, words in table.items():
                rcv("shot", capture, "--panel", *words, "--out", str(ROOT / "docs" / "pictures" / name))
    story = [sys.executable, str(ROOT / "packaging" / "story.py"), str(ROOT / "docs" / "pictures" / "story")]
    subprocess.run(story, cwd=ROOT, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})


def is_current(path: Path, page: str) -> bool:
    """Return whether a file holds a page; versions of argparse break usage lines at different places."""
    return path.exists() and path.read_text().split() == page.split()


def main() -> int:
    """Write the pages, and the pictures if asked."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ["COLUMNS"] = "100"
    sys.path.insert(0, str(ROOT))
    if "--check" in sys.argv:
        stale = [name for name, page in PAGES.items() if not is_current(ROOT / name, page())]
        print(*stale, sep="\n", end="\n" if stale else "")
        return 1 if stale else 0
    for name, page in PAGES.items():
        (ROOT / name).write_text(page())
    if "--pictures" in sys.argv:
        pictures()
    return 0


if __name__ == "__main__":
    sys.exit(main())
