"""`rcv shot`: a picture of a panel or of the window, without a display."""

import os
from importlib.util import find_spec
from pathlib import Path

from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message
from rcv_py.cli.options.program import ShotOptions, ViewOptions
from rcv_py.formats.locate import locate

WINDOW_PACKAGES = ("PySide6", "pyqtgraph", "pygments")  # the extra `window` of pyproject.toml


def run(options: ShotOptions) -> int:
    """Write the picture; the file's ending selects the kind."""
    check_window()
    check_path(options.folder)
    check_compared(options)
    if options.out.suffix.lower() not in (".png", ".svg", ".csv"):
        text = Message("{0} does not say what kind of picture it is.", options.out)
        raise UsageError(text, hint="Use a name ending in .png or .svg.")
    write(options)
    print(options.out)
    return 0


def check_window() -> None:
    """Raise UsageError if the packages of the window are not installed."""
    missing = [name for name in WINDOW_PACKAGES if find_spec(name) is None]
    if missing:
        text = Message("The window is not installed: it needs {0}.", ", ".join(missing))
        hint = "Install it with: pip install 'rcv-py[window]'; all other commands work without it."
        raise UsageError(text, hint=hint)


def check_compared(options: ShotOptions | ViewOptions) -> None:
    """Raise an error if the baseline or its replicate does not exist, or a replicate has no baseline."""
    for path in (options.compare, options.twin):
        if path is not None:
            check_path(path)
    if options.twin is not None and options.compare is None:
        hint = "Name the capture from before the change with --compare."
        raise UsageError("A replicate needs a baseline.", hint=hint)


def check_path(path: Path) -> None:
    """Raise NotATrace if the path cannot be a capture, before a window opens."""
    error = locate(path).error
    if error is not None:
        raise error


def write(options: ShotOptions, run_files: tuple[Path, ...] = ()) -> None:
    """Draw offscreen: no display may change a picture.  Raise TraceError unless it is one capture."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    os.environ.setdefault("QT_LOGGING_RULES", "qt.qpa.*=false")
    from rcv_py.ui.shot import Shot, take  # noqa: PLC0415 - Qt is loaded only when it is used

    same = ("panel", "out", "size", "theme", "scale", "wave", "line", "range")
    wanted = Shot(
        path=locate(options.folder).capture().resolve(),
        baseline=options.compare,
        replicate=options.twin,
        run_files=run_files,
        **{name: options.values[name] for name in same},
    )
    take(wanted)
