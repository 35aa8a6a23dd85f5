"""An anchor of a report, opened in the window."""

from pathlib import Path

import pytest

from rcv_py.base.errors import RcvError, UsageError
from rcv_py.cli.arguments import parse
from rcv_py.cli.commands.view import place_of
from rcv_py.cli.main import main
from rcv_py.cli.options.program import ShotOptions
from rcv_py.export.report.cells import cycle_anchor, place_text
from rcv_py.formats.open import open_trace
from rcv_py.state.selection import SelectedPlace, Selection
from rcv_py.ui.app import App
from rcv_py.ui.core.place_go import AROUND, Destination
from tests.ui.window import SAMPLE, open_sample, settle


def arrived(app: App, place: SelectedPlace) -> list[RcvError]:
    """Open the sample with a place to go to; return what went wrong."""
    errors: list[RcvError] = []
    Destination(app.ui.session, place, errors.append, app.window)
    open_sample(app)
    return errors


def execution() -> tuple[Selection, int]:
    """The third time the third wave ran one of its lines, and when that began."""
    trace = open_trace(SAMPLE)
    wave = trace.reader.read([2]).waves[0]
    lines = wave.tokens.line.tolist()
    line = next(line for line in lines if lines.count(line) >= 3)
    row = [at for at, one in enumerate(lines) if one == line][2]
    return Selection(wave.id, line, 2), int(wave.tokens.start[row])


def test_an_execution_is_selected_and_in_view(blank: App) -> None:
    selection, cycle = execution()
    text = place_text(selection.wave, selection.line, selection.hit, cycle)
    assert arrived(blank, SelectedPlace.parse(text)) == []
    session = blank.ui.session
    assert (session.selection.value.wave, session.selection.value.line) == (
        selection.wave,
        selection.line,
    )
    assert session.selection.value.hit == 2
    token = session.token()
    assert int(token[0].tokens.start[token[1]]) == cycle
    assert session.view.value.contains(cycle)
    assert session.view.value.width <= 2 * AROUND


def test_an_anchor_of_a_wave_and_a_cycle_selects_what_ran(blank: App) -> None:
    selection, cycle = execution()
    assert selection.wave is not None
    assert arrived(blank, SelectedPlace.parse(cycle_anchor(cycle, selection.wave))) == []
    chosen = blank.ui.session.selection.value
    assert (chosen.wave, chosen.line, chosen.hit) == (selection.wave, selection.line, 2)
    blank.ui.session.select_line(1)
    blank.ui.session.wave_loaded()
    settle(blank)
    assert blank.ui.session.selection.value.line == 1, "it lets go"


def test_a_place_of_another_capture_is_a_sentence(blank: App) -> None:
    errors = arrived(blank, SelectedPlace(Selection(line=99_999)))
    assert [type(error) for error in errors] == [UsageError]
    assert "no instruction 99999" in str(errors[0])


def test_go_to_place_takes_anchors(app: App) -> None:
    palette = app.window.palette_
    palette.open()
    palette.field.setText("report.html#line-5")
    settle(app)
    item = next(item for item in palette.items if item.icon == "place")
    item.run()
    assert app.ui.session.selection.value.line == 5
    palette.close()


def test_options_name_a_place() -> None:
    wave = execution()[0].wave
    both = place_of(parse(["view", str(SAMPLE), "--wave", str(wave), "--line", "5", "--cycle", "900"]))
    assert both == place_of(parse(["view", str(SAMPLE), "--goto", f"{wave}:line 5@900"]))
    assert both == SelectedPlace(Selection(wave, 5), 900)
    assert place_of(parse([str(SAMPLE)])) is None


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--goto", "nowhere"), "is not a place"),
        (("--goto", "5", "--line", "5"), "names a whole place"),
        (("--wave", "first"), "does not name a wave"),
    ],
)
def test_what_is_no_place_is_a_sentence(
    words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["view", str(SAMPLE), *words]) == 2
    assert says in capsys.readouterr().err
    assert main(["view", "--line", "5"]) == 2


def test_without_a_display_the_picture_shows_the_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rcv_py.cli.commands import shot, view

    seen: list[ShotOptions] = []
    monkeypatch.setattr(view, "has_display", lambda: False)
    monkeypatch.setattr(shot, "write", lambda wanted, *_: seen.append(wanted))
    monkeypatch.chdir(tmp_path)
    wave = str(execution()[0].wave)
    assert main(["view", str(SAMPLE), "--goto", f"{wave}:instruction 5@900"]) == 0
    assert (seen[0].line, seen[0].range, seen[0].wave) == (5, (400, 1400), wave)
