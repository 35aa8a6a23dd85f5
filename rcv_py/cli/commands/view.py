"""`rcv FOLDER`: the window, or a picture of it where there is no display."""

import os
import sys
from itertools import chain, count
from pathlib import Path

from rcv_py.base.errors import UsageError
from rcv_py.base.log import LOG
from rcv_py.base.text import Message, translated
from rcv_py.cli.commands import shot
from rcv_py.cli.options.program import ShotOptions, ViewOptions
from rcv_py.formats.locate import SESSION
from rcv_py.formats.uiout.run_files import run_facts
from rcv_py.model.ids import WaveId
from rcv_py.state.selection import SelectedPlace, Selection
from rcv_py.state.single_instance import OpenRequest, address, hand_over
from rcv_py.tuning import memory
from rcv_py.work.ahead import Preload, SmallPreload

AROUND = 500  # cycles that a picture shows on either side of a moment
_HINT = (
    "Places look like line-118, wave-se3-sm1-sl0-wv0@126704, or se3/simd1/slot0/wv0:instruction 118 hit 8."
)


def run(options: ViewOptions) -> int:
    """Open the window; return when it is closed."""
    shot.check_window()
    session = None
    if options.folder is not None and options.folder.suffix.lower() == SESSION:
        from rcv_py.formats.session_file import read_session  # noqa: PLC0415 - most open captures

        session = options.folder.absolute()
        options = options.but(folder=read_session(session).capture)
    if options.folder is not None:
        shot.check_path(options.folder)
    shot.check_compared(options)
    place = place_of(options)
    files = tuple(path.absolute() for path in options.run_files or ())  # found from everywhere
    if files and options.folder is not None:
        run_facts(options.folder, "", given=files)  # raises, with nothing shown, if there are none
    with LOG.written_to(options.log, _versions):
        if not has_display():
            return _draw_instead(options, place, files)
        is_own = options.new_process or {"decoder", "source_map", "safe", "log"} & options.given
        door = None if is_own else address(os.environ)
        wanted = (session or options.folder, options.compare, options.twin)
        path, baseline, replicate = (None if one is None else str(one.absolute()) for one in wanted)
        request = OpenRequest(
            path=path,
            baseline=baseline,
            replicate=replicate,
            panel=options.panel,
            place=None if place is None else str(place),
            run_files=tuple(map(str, files)),
        )
        if hand_over(door, request):
            print(translated("Opened in the window that runs already."))
            return 0
        return _show(options, request, door)


def _show(options: ViewOptions, request: OpenRequest, door: Path | None) -> int:
    """Open a window of this process, whose capture is read while Qt is imported."""
    folder, files = options.folder, tuple(map(Path, request.run_files))
    ahead = None if folder is None else Preload.of(folder) or SmallPreload.of(folder, files)
    memory.begin_start()
    try:
        from rcv_py.ui import app  # noqa: PLC0415 - Qt is loaded only when it is used

        return app.run(request, ahead=ahead, door=door, is_safe=options.safe)
    finally:
        if ahead is not None:
            ahead.close()


def _versions() -> str:
    from rcv_py.base.versions import versions_text  # noqa: PLC0415 - it looks at what is installed

    return versions_text()


def has_display() -> bool:
    """Whether a window can be shown."""
    if not sys.platform.startswith("linux") or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _draw_instead(options: ViewOptions, place: SelectedPlace | None, files: tuple[Path, ...]) -> int:
    if options.folder is None:
        hint = "Use `rcv info` and `rcv shot`, or connect with ssh -X."
        raise UsageError("There is no display to show a window on.", hint=hint)
    chosen, cycle = (Selection(), None) if place is None else (place.selection, place.cycle)
    names = chain(["rcv.png"], map("rcv-{}.png".format, count(2)))
    picture = Path(next(name for name in names if not os.path.lexists(name)))  # it replaces no file
    wanted = ShotOptions(
        folder=options.folder,
        panel=options.panel or "window",
        out=picture,
        compare=options.compare,
        twin=options.twin,
        wave=None if chosen.wave is None else str(chosen.wave),
        line=chosen.line,
        range=None if cycle is None else (cycle - AROUND, cycle + AROUND),
    )
    shot.write(wanted, files)
    text = Message("There is no display to show a window on; a picture of it is in {0}.", picture.resolve())
    print(translated(text))
    return 0


def place_of(options: ViewOptions) -> SelectedPlace | None:
    """Return the place of --goto, or of --wave, --line and --cycle, None without any; raise UsageError."""
    has_parts = any(part is not None for part in (options.wave, options.line, options.cycle))
    if options.goto is None and not has_parts:
        return None
    if options.goto is not None and has_parts:
        raise UsageError("--goto names a whole place.", hint="Leave out --wave, --line and --cycle.")
    try:
        if options.goto is not None:
            return SelectedPlace.parse(options.goto)
        wave = None if options.wave is None else WaveId.parse(options.wave)
    except ValueError as error:
        raise UsageError(f"{error}.", hint=_HINT) from error
    return SelectedPlace(Selection(wave, options.line), options.cycle)
