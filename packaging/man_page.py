"""Write the manual page of rcv from the declarations of its commands.  Usage: man_page.py [FILE]."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "build" / "man" / "rcv.1"
ENVIRONMENT = (
    ("RCV_PAGER, PAGER", "The pager of long listings on a terminal, the first that is set; else less -FRX."),
    ("NO_PAGER", "If it is set, nothing is shown through a pager."),
    ("NO_COLOR", "If it is set, nothing is printed in bold."),
    ("FORCE_COLOR", "If it is set, headings are printed in bold also where there is no terminal."),
    ("COLUMNS", "Characters of a line; without it those of the terminal, and as many as it takes in a file."),
)


def man_page() -> str:
    """Return the page, in the language of man(7)."""
    from rcv_py import __version__
    from rcv_py.cli.arguments import help_text
    from rcv_py.cli.exit_codes import EXIT_TEXT
    from rcv_py.cli.options.commands import COMMANDS, GROUPS

    about = help_text().split("\n\n")[1]
    parts = [
        f'.TH RCV 1 "" "rcv {__version__}" "User Commands"',
        ".SH NAME",
        "rcv \\- viewer and triage tool for AMD GPU thread traces",
        ".SH SYNOPSIS",
        ".B rcv",
        "[\\fIFOLDER\\fR]",
        ".br",
        ".B rcv",
        "\\fICOMMAND\\fR [\\fIARGUMENT\\fR ...]",
        ".SH DESCRIPTION",
        _text(about),
    ]
    for group, names in GROUPS.items():
        parts.append(f".SH {_text(group.upper())}")
        for name in names:
            parts += _command(COMMANDS[name])
    parts.append(".SH EXIT STATUS")
    parts += [line for code, text in EXIT_TEXT.items() for line in _entry(str(code.value), f"{text}.")]
    parts.append(".SH ENVIRONMENT")
    parts += [line for names, text in ENVIRONMENT for line in _entry(names, text)]
    return "\n".join(parts) + "\n"


def _command(command) -> Iterator[str]:
    from rcv_py.cli.arguments import parser, shown_actions

    actions = shown_actions(parser(command))
    names = " ".join(_name(action) for action in actions if not action.option_strings)
    yield f'.SS "rcv {command.command} [OPTION ...] {_text(names)}"'
    yield _text(str(command.__doc__))
    for action in actions:
        if "--help" not in action.option_strings:
            yield from _entry(_name(action), (action.help or "").replace("%%", "%") + ".")
    yield from (".PP", "Example:", f".B {_text(command.example)}")


def _name(action: argparse.Action) -> str:
    value = action.metavar or ("{" + ",".join(map(str, action.choices)) + "}" if action.choices else "")
    value = str(value) or ("" if action.nargs == 0 else action.dest.upper())
    return " ".join(filter(None, (", ".join(action.option_strings), value)))


def _entry(name: str, text: str) -> tuple[str, ...]:
    return ".TP", f".B {_text(name)}", _text(text)


def _text(text: str) -> str:
    """Return a line in which nothing is a request of roff."""
    line = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    return re.sub(r"^([.'])", r"\\&\1", line)


def write(target: Path = TARGET) -> None:
    """Write the page."""
    sys.path.insert(0, str(ROOT))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(man_page(), encoding="utf-8")


def main() -> int:
    """Write the page, and print its name."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    write(target)
    print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
