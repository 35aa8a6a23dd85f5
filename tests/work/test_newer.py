"""What a stand-in for pip answers becomes one sentence; it is asked for no longer than somebody waits."""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Timer

import pytest

from rcv_py.base.errors import Cancelled
from rcv_py.base.progress import CancelFlag, stoppable
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.main import main
from rcv_py.work import newer
from rcv_py.work.newer import newest_version

SLOW = (sys.executable, "-S", "-c", "import time; time.sleep(60)")


def pip_that(out: str = "", complaint: str = "", code: int = 0) -> tuple[str, ...]:
    program = f"import sys; sys.stdout.write({out!r}); sys.stderr.write({complaint!r}); sys.exit({code})"
    return sys.executable, "-S", "-c", program


@pytest.fixture
def this_is_1_2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newer, "__version__", "1.2")


@pytest.mark.usefixtures("this_is_1_2")
@pytest.mark.parametrize(
    ("newest", "sentence"),
    [
        ("1.10.0", "rcv 1.10.0 is there, and this is 1.2: `pip install --upgrade rcv-py` brings it."),
        ("1.2.0", "This is rcv 1.2, the newest version that your package index has."),
        ("1.1.9", "This is rcv 1.2; your package index has 1.1.9, which is older."),
    ],
)
def test_the_newest_version_is_told_in_a_sentence(newest: str, sentence: str) -> None:
    out = f"rcv-py ({newest})\nAvailable versions: {newest}, 0.1\n  INSTALLED: 0.1\n  LATEST:    {newest}\n"
    found = newest_version(pip_that(out, "WARNING: pip index is currently an experimental command.\n"))
    assert (found.sentence, found.is_known) == (sentence, True)


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (
            pip_that("", "WARNING: x\nERROR: No matching\x1b[31m distribution found for rcv-py\n", 1),
            "pip found no rcv-py at your package index: No matching\\x1b[31m distribution found for rcv-py",
        ),
        (pip_that("nothing of the kind"), "pip found no rcv-py at your package index."),
        (("/no/such/pip",), "pip found no rcv-py at your package index: No such file or directory."),
    ],
)
def test_what_pip_complains_is_told_and_harms_no_terminal(command: tuple[str, ...], sentence: str) -> None:
    found = newest_version(command)
    assert (found.sentence, found.is_known) == (sentence, False)


def test_nobody_waits_longer_than_asked() -> None:
    assert newest_version(SLOW, 0.2).sentence == "The package index did not answer within 0.2 s."
    flag = CancelFlag()
    timer = Timer(0.1, flag.set)
    timer.start()
    with stoppable(flag), pytest.raises(Cancelled):
        newest_version(SLOW)
    timer.join()


def test_without_pip_it_says_where_to_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newer, "find_spec", lambda name: None)
    assert "uv tool upgrade rcv-py" in newest_version().sentence
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert "where you got it" in newest_version().sentence


def test_pip_is_not_taken_from_the_folder_one_stands_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pip.py").write_text("from pathlib import Path; Path('was_run').touch()")
    monkeypatch.chdir(tmp_path)
    newest_version((sys.executable, *newer._ASK[:3], "--version"))
    assert not (tmp_path / "was_run").exists()


def test_the_command_line_asks_only_if_told_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def answer(is_known: bool) -> newer.Newest:
        asked.append("")
        return newer.Newest("A sentence.", is_known)

    monkeypatch.setattr(newer, "newest_version", lambda: answer(True))
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert (left.value.code, asked) == (0, [])
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main(["--version", "--check"])
    assert (left.value.code, asked, capsys.readouterr().out) == (0, [""], "A sentence.\n")
    monkeypatch.setattr(newer, "newest_version", lambda: answer(False))
    assert main(["--version", "--check"]) == ExitCode.USAGE
    assert capsys.readouterr().err == "rcv: A sentence.\n"
    assert main(["--version", "--chekc"]) == ExitCode.USAGE
