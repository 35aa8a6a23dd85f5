"""A wave of another compute unit that is selected is scrolled to, once its rows are there."""

import numpy as np

from tests.support.samples import sample_path
from tests.support.window_fixtures import Reused
from tests.ui.window import open_sample, settle


def test_a_wave_of_another_unit_is_scrolled_to(reused: Reused) -> None:
    with reused(size=(1280, 800)) as app:
        open_sample(app, sample_path("vector_add"))
        waves, panel = app.ui.session.trace.value.waves, app.window.workspace.panel("compute_unit")
        others = np.flatnonzero((waves.se == 1) & (waves.simd == 3))
        app.ui.session.select_wave(waves.id(int(others[0])))
        settle(app)
        plot, row = panel.timeline.plot, panel.source.selected_row
        first, stop = plot.rows.rows_in_view(plot.box.height())
        assert row >= 0
        assert first <= row < stop
        assert len(panel.source) > stop - first, "not all rows have room"
