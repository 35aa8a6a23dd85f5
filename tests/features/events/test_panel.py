"""The table of events: its rows, its filters, and where a click goes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.events import event_table
from rcv_py.analysis.events.marker_spans import marker_spans
from rcv_py.features.events.panel import EventsPanel
from rcv_py.formats.open import open_trace
from rcv_py.model.device import Dispatch
from rcv_py.model.kinds import EventKind
from rcv_py.model.trace import Trace
from rcv_py.state.selection import SearchQuery
from rcv_py.ui.core.panel import UiContext
from tests.support.opened import all_waves
from tests.support.samples import write_sample
from tests.support.traces import made_trace
from tests.ui.window import SAMPLE


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Trace]:
    """A generated capture by name."""
    made: dict[str, Path] = {}

    def opened(name: str) -> Trace:
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name)
            write_sample(name, made[name])
        return open_trace(made[name])

    return opened


def read(trace: Trace) -> list:
    return [all_waves(trace)]


@pytest.fixture
def shown(
    new_panel: Callable, open_in: Callable, settled: Callable, qtbot: Any
) -> Callable[[Trace], EventsPanel]:
    """The panel with a capture, its waves read."""

    def show(trace: Trace) -> EventsPanel:
        panel = new_panel(EventsPanel, 900, 300)
        open_in(trace, read(trace))
        qtbot.waitUntil(lambda: panel.result is not None or panel.empty.is_empty)
        settled()
        return panel

    return show


def test_events_and_dispatches_are_listed_by_time(shown: Callable, samples: Callable) -> None:
    trace = samples("events")
    panel = shown(trace)
    sheet = panel.sheet()
    rows = list(sheet.rows)
    assert len(rows) == len(trace.dispatches) + len(trace.events.time) == 32
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)
    assert {row[2] for row in rows} == {"dispatch", "event"}
    launch = next(row for row in rows if row[2] == "dispatch")
    assert launch[3:6] == (
        "vector_add", "SE0 ME1 pipe 0", "160 VGPRs, 32 SGPRs, 32,768 bytes of LDS, workgroup 256×1×1"
    )  # fmt: skip
    assert panel.note.text() == "32 rows"


def test_markers_are_listed_with_their_duration_and_values_on_demand(
    shown: Callable, samples: Callable
) -> None:
    trace = samples("scripted_gfx12")
    panel = shown(trace)
    spans = panel.ui.results.cell("markers").value
    rows = list(panel.sheet().rows)
    assert len(rows) == len(spans)
    main = next(row for row in rows if row[3] == "matmul_wmma")
    assert main[2] == "marker"
    assert "WGP1 SIMD" in main[4]
    assert main[5].startswith("kernel, depth 0, /src/wmma")
    assert main[1] > 1000
    panel.filter.set_on(["shader"], True)
    assert len(list(panel.sheet().rows)) == len(spans) + len(spans.records)
    assert any(row[3] == "change to multiply" for row in panel.sheet().rows)


def search(panel: EventsPanel, query: SearchQuery) -> None:
    """Search as a user does who types the query."""
    panel.bar.show_query(query)
    panel.bar.edited.emit(query)


def test_text_and_kinds_narrow_the_table(shown: Callable, samples: Callable) -> None:
    panel = shown(samples("events"))
    search(panel, SearchQuery("SE1"))
    assert panel.note.text() == "16 of 32 rows"
    panel.filter.set_on(["event"], False)
    assert panel.note.text() == "4 of 32 rows"
    search(panel, SearchQuery("(", is_regex=True))
    assert "not a regular expression" in panel.bar.count.toolTip()
    search(panel, SearchQuery("no such thing"))
    assert panel._rows.is_empty
    search(panel, SearchQuery())
    assert not panel._rows.is_empty


def test_kinds_that_are_hidden_are_remembered(shown: Callable, samples: Callable) -> None:
    panel = shown(samples("events"))
    panel.filter.set_on(["event"], False)
    state = panel.save_state()
    assert state["filter"] == {"event": False}
    panel.filter.set_on(["event"], True)
    panel.load_state(state)
    assert "event" in panel.filter.hidden


def test_a_click_goes_to_the_time_and_selects_the_wave(shown: Callable, samples: Callable) -> None:
    panel = shown(samples("markers"))
    session, table = panel.session, panel.result
    row = int(np.flatnonzero((table.kind == event_table.EntryKind.MARKER) & (table.wave >= 0))[-1])
    session.set_view(session.view.value.moved(-session.view.value.width))
    panel.view.chosen.emit(row)
    assert session.view.value.contains(int(table.time[row]))
    assert session.trace.value.waves.row(session.selection.value.wave) == table.wave[row]
    panel.view.opened.emit(row)
    assert session.view.value.width <= max(16, 1.2 * table.duration[row])
    panel.bar.stepped.emit(1)
    panel.bar.stepped.emit(-1)
    assert panel.view.current >= 0


def test_nothing_to_list_says_why_and_what_to_do(ui: UiContext, shown: Callable) -> None:
    panel = shown(open_trace(SAMPLE))
    assert "format 3.1" in panel.empty.sentence.text()
    assert "instrumented" in panel.empty.sentence.text()
    assert panel.sheet() is None
    ui.session.close()
    assert "No capture is open" in panel.empty.sentence.text()


def test_what_is_wrong_with_markers_is_a_problem(shown: Callable, samples: Callable) -> None:
    trace = samples("markers")
    panel = shown(replace(trace, markers=trace.markers[:2]))
    texts = [problem.text for problem in panel.session.problems.value]
    assert any("no name in the dictionary: id 3, 4" in text for text in texts)


def test_every_event_has_words_and_a_group() -> None:
    assert set(event_table.EVENT_TEXT) == set(EventKind)
    ids = {group.id for group in event_table.GROUPS}
    assert set(event_table.GROUP_OF.values()) <= ids
    assert (event_table.group_of(EventKind.GC_RINSE), event_table.group_of(99)) == ("rinse", "other")
    assert event_table.event_text(99) == "event of type 99"
    assert [group.id for group in event_table.GROUPS if not group.is_on] == ["rinse", "sample"]


def test_what_begins_lasts_to_its_end_on_the_same_engine(samples: Callable) -> None:
    events = samples("events").events
    length = event_table.lasting(events)
    begins = events.kind == EventKind.TT_STALL_BEGIN
    assert length[begins].tolist() == [400, 400]
    assert (length[~begins] == -1).all()
    alone = replace(events, kind=np.where(events.kind == EventKind.TT_STALL_END, 0, events.kind))
    assert (event_table.lasting(alone) == -1).all()


def test_the_latest_dispatch_of_the_pipe_is_that_of_the_wave() -> None:
    rows = [(10, 0, 1), (20, 0, 2), (30, 0, 1), (40, 1, 1)]
    made = [Dispatch(time, se, 1, str(time), me=1, pipe=pipe) for time, se, pipe in rows]
    found = {time: event_table.dispatch_of(made, 0, 1, 1, time) for time in (9, 10, 29, 30, 99)}
    assert {time: one and one.time for time, one in found.items()} == {
        9: None,
        10: 10,
        29: 10,
        30: 30,
        99: 30,
    }


def test_one_value_means_what_all_mean_together(samples: Callable) -> None:
    trace = samples("markers")
    spans = marker_spans(trace, read(trace))
    each = [event_table.actions(spans, np.array([row])).item() for row in range(len(spans.records))]
    assert each == event_table.actions(spans).tolist()


def test_an_empty_trace_gives_an_empty_table() -> None:
    trace, _ = made_trace(("vV",))
    assert len(event_table.event_table(trace, None)) == 0
    assert len(event_table.event_table(trace, marker_spans(trace, ()))) == 0
