"""`rcv FOLDER`: the window, or a picture of it where there is no display."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rcv_py.base import memory
from rcv_py.base.errors import UsageError
from rcv_py.cli.commands import shot
from rcv_py.cli.goto import Place, options_of, place_of
from rcv_py.cli.options.capture_options import ViewOptions
from rcv_py.cli.options.output_options import ShotOptions
from rcv_py.formats.run_files import run_facts

PICTURE = Path("rcv.png")


def run(arguments: ViewOptions) -> int:
    """Open the window; return when it is closed."""
    shot.check_window()
    folder: Path | None = arguments.folder
    if folder is not None:
        shot.check_path(folder)
    shot.check_compared(arguments)
    baseline: Path | None = arguments.compare
    if baseline is not None and folder is None:
        raise UsageError("A baseline needs a capture to compare with it.", hint="Name the capture first.")
    place = place_of(arguments)
    files = _run_files(arguments)
    if has_display():
        memory.begin_start()
        from rcv_py.ui import app  # noqa: PLC0415 - Qt is loaded only when it is used

        return app.run(folder, baseline, arguments.twin, arguments.panel, place, run_files=files)
    return _draw_instead(folder, arguments, place, files)


def has_display() -> bool:
    """Whether a window can be shown."""
    if not sys.platform.startswith("linux") or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _run_files(arguments: ViewOptions) -> tuple[Path, ...]:
    """The tables of `--run-files`, found from everywhere; raise UsageError, with nothing shown, for none."""
    files = tuple(path.absolute() for path in arguments.run_files or ())
    if files and arguments.folder is not None:
        run_facts(arguments.folder, "", given=files)
    return files


def _draw_instead(
    folder: Path | None, arguments: ViewOptions, place: Place | None, files: tuple[Path, ...]
) -> int:
    if folder is None:
        raise UsageError(
            "There is no display to show a window on.",
            hint="Use `rcv info` and `rcv shot`, or connect with ssh -X.",
        )
    wanted = ShotOptions(
        folder=folder,
        panel=arguments.panel or "window",
        out=PICTURE,
        compare=arguments.compare,
        twin=arguments.twin,
        **({} if place is None else options_of(place)),
    )
    shot.write(wanted, files)
    print(f"There is no display to show a window on; a picture of it is in {PICTURE.resolve()}.")
    return 0
