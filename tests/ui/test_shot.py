"""`rcv shot` and `rcv view` as a user without a display runs them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QImage

from rcv_py.base.errors import ExportError
from rcv_py.cli.main import main
from rcv_py.ui.app import App
from tests.support.limits import HANG_S
from tests.ui.window import ROOT, SAMPLE

SHOWS = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")  # variables that say how to show a window


def rcv(*words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a command line in a process of its own, without a display."""
    environment = {name: value for name, value in os.environ.items() if name not in SHOWS}
    environment["PYTHONPATH"] = str(ROOT)
    return subprocess.run(
        [sys.executable, "-m", "rcv_py", *words],
        capture_output=True, text=True, timeout=HANG_S, cwd=cwd, env=environment, check=False,
    )  # fmt: skip


def size_of(path: Path) -> tuple[int, int]:
    """Width and height of a PNG file."""
    head = path.read_bytes()[16:24]
    return int.from_bytes(head[:4], "big"), int.from_bytes(head[4:], "big")


def test_a_panel_alone(tmp_path: Path) -> None:
    out = tmp_path / "a.png"
    how = ("--panel", "isa", "--size", "640x300", "--theme", "dark", "--line", "4")
    assert main(["shot", str(SAMPLE), *how, "--out", str(out)]) == 0
    assert size_of(out) == (640, 300)


@pytest.mark.parametrize("panel", ["hotspot", "compute_unit", "triage", "roofline", "why"])
def test_a_picture_has_the_size_that_was_asked_for(panel: str, tmp_path: Path) -> None:
    out = tmp_path / "a.png"
    assert main(["shot", str(SAMPLE), "--panel", panel, "--size", "900x500", "--out", str(out)]) == 0
    assert size_of(out) == (900, 500)


def test_a_chart_beside_a_table_fills_the_picture(tmp_path: Path) -> None:
    out = tmp_path / "a.png"
    assert main(["shot", str(SAMPLE), "--panel", "roofline", "--size", "1600x900", "--out", str(out)]) == 0
    picture = QImage(str(out))
    at_right = [picture.pixelColor(1599, y).name() for y in range(0, 700, 50)]
    assert at_right == [picture.pixelColor(0, 0).name()] * 14, "paper of the chart, not of the page"


def test_the_whole_window_at_two_pixels_a_pixel(tmp_path: Path) -> None:
    out = tmp_path / "w.png"
    how = ("--panel", "window", "--out", str(out), "--size", "1280x800", "--scale", "2")
    assert main(["shot", str(SAMPLE), *how]) == 0
    assert size_of(out) == (2560, 1600)


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--panel", "nope", "--out", "x.png"), "There is no panel 'nope'."),
        (("--panel", "isa", "--out", "x.gif"), "does not say what kind"),
        (("--panel", "isa", "--out", "x.png", "--wave", "se9/simd9/slot9/wv9"), "has no wave"),
        (("--panel", "isa", "--out", "no/such/x.png"), "cannot be written"),
    ],
)
def test_what_cannot_be_drawn_gets_a_sentence(
    words: tuple[str, ...],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["shot", str(SAMPLE), *words]) == 2
    err = capsys.readouterr().err
    assert sentence in err
    assert "Traceback" not in err


def test_what_cannot_be_written_is_not_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rcv_py.ui import shot

    def start(*_: object) -> None:
        raise AssertionError("a window was made")

    monkeypatch.setattr(shot, "start", start)
    for out in (tmp_path / "no" / "such.png", tmp_path):
        with pytest.raises(ExportError, match="cannot be written"):
            shot.take(shot.Shot(SAMPLE, "isa", out))
    old = tmp_path / "old.png"
    old.write_bytes(b"a picture")
    with pytest.raises(AssertionError):
        shot.take(shot.Shot(SAMPLE, "isa", old))
    assert old.read_bytes() == b"a picture"
    assert list(tmp_path.iterdir()) == [old], "nothing is left of what was not drawn"


@pytest.mark.parametrize("panel", ["window", "token_details"])
def test_a_picture_is_taken_when_nothing_is_about_to_change(
    panel: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be another one on a slow machine."""
    from rcv_py.ui import shot

    wait, due, waits = shot.wait_until_idle, [], []

    def look(app: App, errors: list[BaseException]) -> None:
        wait(app, errors)
        waits.append(app.window.idle)
        due.extend(timer.interval() for timer in app.window.findChildren(QTimer) if timer.isActive())

    monkeypatch.setattr(shot, "wait_until_idle", look)
    how = ("--line", "4", "--out", str(tmp_path / "a.png"))
    assert main(["shot", str(SAMPLE), "--panel", panel, *how]) == 0
    assert all(waits)
    assert len(waits) == 3
    assert not due


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="others always have a display")
def test_without_a_display_the_viewer_draws_the_picture_that_a_shot_is(tmp_path: Path) -> None:
    """In a process of its own, and in one that has shown other windows before: the same file.

    Byte for byte: both draw with the same Qt and fonts, and neither is taken while something may change.
    """
    done = rcv(str(SAMPLE), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "no display" in done.stdout
    assert main(["shot", str(SAMPLE), "--panel", "window", "--out", str(tmp_path / "b.png")]) == 0
    assert (tmp_path / "rcv.png").read_bytes() == (tmp_path / "b.png").read_bytes()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="others always have a display")
def test_the_picture_instead_of_a_window_replaces_no_file(tmp_path: Path) -> None:
    (tmp_path / "rcv.png").write_bytes(b"of the user")
    (tmp_path / "rcv-2.png").symlink_to(tmp_path / "elsewhere.png")
    done = rcv(str(SAMPLE), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert str(tmp_path / "rcv-3.png") in done.stdout
    assert (tmp_path / "rcv-3.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "rcv.png").read_bytes() == b"of the user"
    assert not (tmp_path / "elsewhere.png").exists()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="others always have a display")
def test_without_a_display_and_a_capture_there_is_nothing_to_draw(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in SHOWS:
        monkeypatch.delenv(name, raising=False)
    assert main(["view"]) == 2
    assert "no display" in capsys.readouterr().err
