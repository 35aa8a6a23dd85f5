"""Editors: words of templates, paths that look like options or holes, and programs that cannot be started."""

import sys
from pathlib import Path

import pytest

from rcv_py.base.errors import UsageError
from rcv_py.base.machine.editors import is_in_terminal, start, usual, words_for

FILE = Path("/src/k e$(r)nel;.py")


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("code", ["code", "--goto", f"{FILE}:12"]),
        ("/usr/bin/clion", ["/usr/bin/clion", "--line", "12", str(FILE)]),
        ("vim -R", ["vim", "-R", "+12", str(FILE)]),
        ("'my editor' --at {line} {file}", ["my editor", "--at", "12", str(FILE)]),
        ("unheard-of", ["unheard-of", str(FILE)]),
        ("sh -c {file}", ["sh", "-c", str(FILE)]),
    ],
)
def test_a_template_becomes_words_of_which_the_path_is_one(template: str, words: list[str]) -> None:
    assert words_for(template, FILE, 12) == words


def test_a_path_is_absolute_and_no_hole() -> None:
    assert words_for("vim {file}", Path("-c:q"), 0) == ["vim", str(Path.cwd() / "-c:q")]
    assert words_for("x {file}:{line}", Path("/a/{line}"), 3) == ["x", "/a/{line}:3"]
    assert words_for("code", FILE, 0)[-1].endswith(":1"), "a file without a line is opened at its begin"


@pytest.mark.parametrize("template", ["", "  ", "'", "{file}"])
def test_a_template_without_a_program_is_refused(template: str) -> None:
    with pytest.raises(UsageError):
        words_for(template, FILE, 1)


def test_the_usual_editor_is_the_users_own() -> None:
    known = {"vim": "/usr/bin/vim", "code": "/usr/bin/code"}.get
    assert usual({"RCV_EDITOR": "kate", "EDITOR": "vim"}, known, in_terminal=True) == "kate"
    assert usual({"EDITOR": "vim -R"}, known, in_terminal=True) == "vim -R"
    assert usual({"EDITOR": "vim -R"}, known, in_terminal=False) == "code"
    assert usual({}, {}.get, in_terminal=True) == ""
    assert is_in_terminal("/usr/bin/vim -R")
    assert not is_in_terminal("code")


def test_words_reach_the_program_as_they_are(tmp_path: Path) -> None:
    said = tmp_path / "said"
    script = f"import sys; open({str(said)!r}, 'w').write(repr(sys.argv[1:]))"
    start([sys.executable, "-c", script, "$(id)", "a b", ";"], waits=True)
    assert said.read_text() == repr(["$(id)", "a b", ";"])
    with pytest.raises(UsageError, match="no program"):
        start([str(tmp_path / "none")], waits=False)
