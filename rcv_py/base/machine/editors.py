"""Editors: build the command that opens a file at a line from the user's template.

A template is a program with its arguments, with `{file}` and `{line}` for the place.  Without them the known
options of the program are used.  Arguments are passed unchanged: no shell reads them, so a path cannot inject
a command.
"""

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath

from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message

VARIABLE = "RCV_EDITOR"
FILE, LINE = "{file}", "{line}"
_HINT = "Write it like code --goto {file}:{line}, clion --line {line} {file} or vim +{line} {file}."
_AT_COLON, _PLUS, _FLAG = f"{FILE}:{LINE}", f"+{LINE} {FILE}", f"--line {LINE} {FILE}"
_GOTO = f"--goto {_AT_COLON}"
# Arguments for a line, by program names without ending; editors with windows first, the likeliest first.
WAYS = {
    **dict.fromkeys(("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"), _GOTO),
    **dict.fromkeys(("clion", "pycharm", "idea", "fleet", "kate"), _FLAG),
    **dict.fromkeys(("subl", "zed", "hx", "helix"), _AT_COLON),
    **dict.fromkeys(("gvim", "gedit", "emacs", "emacsclient"), _PLUS),
    **dict.fromkeys(("nvim", "vim", "vi", "nano", "micro", "kak", "joe"), _PLUS),
}
IN_TERMINAL = frozenset(("nvim", "vim", "vi", "nano", "micro", "kak", "joe", "hx", "helix"))
_BATCH = (".bat", ".cmd")  # programs of Windows whose arguments its shell parses again
_READ_AGAIN = frozenset('"%&|<>^!')


def words_for(template: str, file: Path, line: int) -> list[str]:
    """Return the program and its arguments; raise UsageError for a template that names none.

    `line` is from 1; below that the file is opened at its beginning.
    """
    try:
        words = shlex.split(template, posix=os.name != "nt")
    except ValueError as error:
        text = Message("The editor {0!r} has a quote that is not closed.", template)
        raise UsageError(text, hint=_HINT) from error
    if not words or FILE in words[0]:
        raise UsageError(Message("The editor {0!r} names no program.", template), hint=_HINT)
    if not any(FILE in word for word in words):
        words += WAYS.get(name_of(words[0]), FILE).split()
    # Split first: a path that looks like a placeholder is not replaced.
    parts = ([part.replace(LINE, str(max(1, line))) for part in word.split(FILE)] for word in words[1:])
    return [words[0], *(str(file.absolute()).join(some) for some in parts)]


def name_of(program: str) -> str:
    """Return the name of a program, without its folder and ending."""
    return PurePath(program.replace("\\", "/")).name.lower().removesuffix(".exe").removesuffix(".cmd")


def is_in_terminal(template: str) -> bool:
    """Whether it needs the terminal that it is started from."""
    words = template.split()
    return bool(words) and name_of(words[0].strip("\"'")) in IN_TERMINAL


def usual(
    environment: Mapping[str, str], which: Callable[[str], str | None] = shutil.which, *, in_terminal: bool
) -> str:
    """Return the template of $RCV_EDITOR, $VISUAL or $EDITOR, or of the first known editor here; "" if none.

    Without a terminal, editors that need one are passed over.
    """
    said = [environment.get(name, "").strip() for name in (VARIABLE, "VISUAL", "EDITOR")]
    fitting = [one for one in said if one and (in_terminal or not is_in_terminal(one))]
    if fitting:
        return fitting[0]
    known = (name for name in WAYS if in_terminal or name not in IN_TERMINAL)
    return next((name for name in known if which(name) is not None), "")


def start(words: Sequence[str], *, waits: bool) -> None:
    """Start an editor, and wait for its end if it uses this terminal; raise UsageError if it cannot start.

    Other editors run independently, and read and print nothing here.
    """
    program = shutil.which(words[0])
    if program is None:
        raise UsageError(Message("There is no program {0!r} to edit with.", words[0]), hint=_HINT)
    if program.lower().endswith(_BATCH) and _READ_AGAIN.intersection("".join(words[1:])):
        text = Message("{0} cannot be given this path safely.", words[0])
        raise UsageError(text, hint="Open the file by hand.")
    command = [program, *words[1:]]
    try:
        if waits:
            subprocess.run(command, check=False)
            return
        none = subprocess.DEVNULL
        subprocess.Popen(command, stdin=none, stdout=none, stderr=none, start_new_session=True)
    except OSError as error:
        text = Message("{0} cannot be started: {1}.", words[0], error.strerror)
        raise UsageError(text, hint=_HINT) from error
