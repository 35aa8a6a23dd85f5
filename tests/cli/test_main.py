"""Exit codes, and what is said on the way out."""

import os
import signal
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from rcv_py.base.errors import UsageError
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.main import main
from rcv_py.cli.terminal import SIGNS
from tests.support.limits import HANG_S
from tests.support.programs import finished

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def info_does(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Namespace], int]], None]:
    """Replace what `rcv info` does."""

    def replace(job: Callable[[Namespace], int]) -> None:
        module = ModuleType("rcv_py.features.summary.info_command")
        module.run = job  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "rcv_py.features.summary.info_command", module)

    return replace


def failing(error: BaseException) -> Callable[[Namespace], int]:
    def run(arguments: Namespace) -> int:
        raise error

    return run


def test_mistakes_have_a_hint(info_does: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    info_does(failing(UsageError("It cannot be.", hint="Do otherwise.")))
    assert main(["info", "x"]) == 2
    assert capsys.readouterr().err == "rcv: It cannot be.\n     Do otherwise.\n"


@pytest.mark.parametrize(
    "words", [("--language", "xx", "info", "x"), ("--language=xx",), ("--language", "xx")]
)
@pytest.mark.parametrize("before", [None, "zh_CN"])
def test_an_unknown_language_is_told(
    words: tuple[str, ...],
    before: str | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("RCV_LANGUAGE", raising=False)
    if before is not None:
        monkeypatch.setenv("RCV_LANGUAGE", before)
    assert main(words) == 2
    assert capsys.readouterr().err == "rcv: There is no language 'xx'.\n     Languages: en, zh_CN.\n"
    assert os.environ.get("RCV_LANGUAGE") == before


def test_bugs_have_a_traceback(info_does: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    info_does(failing(ZeroDivisionError("oops")))
    assert main(["info", "x"]) == 1
    error = capsys.readouterr().err
    assert "Traceback" in error
    assert "ZeroDivisionError: oops" in error
    assert "rcv info x" in error


def test_an_end_is_never_a_bug(info_does: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    """As when a module with a dataclass is imported at that moment."""

    class Asks:
        def __set_name__(self, owner: type, name: str) -> None:
            os.kill(os.getpid(), signal.SIGTERM)

    info_does(lambda arguments: type("Declared", (), {"field": Asks()}) and 0)
    before = signal.getsignal(signal.SIGTERM)
    assert main(["info", "x"]) == ExitCode.ENDED
    signal.signal(signal.SIGTERM, before)
    assert capsys.readouterr().err == "rcv: Ended from outside; no half-written file is left.\n"


def rcv(*words: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rcv_py", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        **options,
        timeout=HANG_S,
    )  # type: ignore[call-overload]


def test_version_and_usage_through_the_real_command() -> None:
    assert rcv("--version").stdout.startswith("rcv ")
    done = rcv("inof")
    assert (done.returncode, done.stdout) == (2, "")
    assert "rcv info" in done.stderr


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["hotspot", "--help"], ["inof"]])
def test_words_alone_load_neither_numpy_nor_qt(words: list[str]) -> None:
    code = (
        "import sys\n"
        "for name in ('PySide6', 'pyqtgraph', 'numpy', 'orjson', 'simdjson'): sys.modules[name] = None\n"
        "from rcv_py.cli.main import main\n"
        f"try: main({words!r})\n"
        "except SystemExit: pass\n"
        "print('done', file=sys.stderr)\n"
    )
    done = finished([sys.executable, "-c", code])
    assert done.stderr.endswith("done\n")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [("info", ""), ("",), ("compare", "x", ""), ("report", "x", "--out", "")])
def test_an_empty_path_is_not_the_current_folder(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "rcv: A path is empty.\n     Is a variable unset? `.` is the current folder.\n"


@pytest.mark.parametrize(
    ("encoding", "printed"),
    [
        ("ascii", "-16.1 % <= 47 % 8 x 4 a -> b 2.46 us +-1 ... ?"),
        ("latin-1", "-16.1 % <= 47 % 8 × 4 a -> b 2.46 µs ±1 ... ?"),
        ("utf-8", "−16.1 % ≤ 47 % 8 × 4 a → b 2.46 µs ±1 … 停"),
    ],
)
def test_signs_keep_their_meaning_in_every_encoding(encoding: str, printed: str) -> None:
    text = "−16.1 % ≤ 47 % 8 × 4 a → b 2.46 µs ±1 … 停"
    code = f"from rcv_py.cli.main import _prepare_streams; _prepare_streams(); print({text!r})"
    process = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"PYTHONIOENCODING": encoding},
        capture_output=True,
        timeout=HANG_S,
        check=True,
    )
    assert process.stdout.decode(encoding).strip() == printed


def test_every_sign_of_the_texts_has_a_stand_in() -> None:
    """Of all texts for people: what a catalogue translates."""
    catalogue = (ROOT / "resources/texts/zh_CN/LC_MESSAGES/rcv.po").read_text("utf-8")
    texts = "".join(part.partition("msgstr")[0] for part in catalogue.split("msgid ")[1:])
    assert {sign for sign in texts if sign.encode("ascii", SIGNS) == b"?"} <= {"?", "\ufffd"}
