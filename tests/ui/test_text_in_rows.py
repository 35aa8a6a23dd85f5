"""Names in the rows of time views are as large as other text, and rows have room for them."""

from rcv_py.ui.app import App
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.timeline.items import TEXT_PX, name_font
from rcv_py.ui.timeline.unit_markers import LANE_PX, lane_px
from tests.ui.window import settle


def test_names_and_rows_follow_the_size_of_text(app: App) -> None:
    settings, theme = app.ui.settings, app.ui.theme
    view = app.window.workspace.panel("global_timeline")
    before = view.source.shape.spans
    assert before == settings["timeline.global_row_height"]
    try:
        settings["look.text_size"] = 5
        settle(app)
        assert view.source.shape.spans == grown(before) > before
        assert lane_px() == grown(LANE_PX) > LANE_PX
        assert name_font(theme, 40, 1.0).pixelSize() == grown(TEXT_PX) > TEXT_PX
        assert name_font(theme, 12, 1.0).pixelSize() == 12, "no larger than there is room for"
        assert name_font(theme, 40, 2.0).pixelSize() == 2 * grown(TEXT_PX), "device pixels"
    finally:
        settings["look.text_size"] = 0
    settle(app)
    assert view.source.shape.spans == before
    assert name_font(theme, 40, 1.0).pixelSize() == TEXT_PX
