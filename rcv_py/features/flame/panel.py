"""Nested costs: source places and their instructions, or the scopes of markers."""

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from rcv_py.analysis.flame.flame import Metric, What, key, parts
from rcv_py.base.text import Message, percent, plural, translated
from rcv_py.features.flame.choices import OF_MARKERS, Content, FlameChoice, FlameChoices, scene_job, way_html
from rcv_py.state.selection import Hover, SearchQuery
from rcv_py.ui.core.layout import boxed, column, row
from rcv_py.ui.core.panel import NO_COST, Panel, UiContext
from rcv_py.ui.core.plain_text import MIDDLE_RIGHT, ElidedLabel, RichLabel, allow, copy_text, named
from rcv_py.ui.core.spoken import selection_text
from rcv_py.ui.flame.flame_scene import FlameScene, choose, hover_of, place_of, selected_frames
from rcv_py.ui.flame.flame_view import FlameView
from rcv_py.ui.table import command_text
from rcv_py.ui.table.find_bar import FindBar, matches_of
from rcv_py.ui.widgets.empty_state import WithEmptyState
from rcv_py.ui.widgets.legend import Legend

NO_SOURCES = "No source places: kernels and blocks instead. Build with -g to see files."
NO_MARKERS = (
    "This capture has no markers. Build the kernel with marked scopes, which it writes with s_ttracedata, "
    "and record it again; until then choose “Source and ISA”."
)
NO_PLACE = "Select an instruction or a source line to see what leads to it and what it leads to."
NO_VALUE = "Nothing counts in this measure. Choose another measure above."
NOT_IN_RANGE = "What is hidden is known for all waves only: this is the total of the clock range."
STREAM_MS = 800


class FlamegraphPanel(Panel):
    """Costs by source place and instruction, one inside the other."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.view = FlameView(ui.theme)
        flags = Qt.TextInteractionFlag
        links = flags.LinksAccessibleByMouse | flags.LinksAccessibleByKeyboard
        self.crumbs = named(RichLabel(textInteractionFlags=links), "Frames around the frame in view")
        self.find_bar = FindBar(ui.theme, "Find frames", has_filter=False)
        self.choices = FlameChoices(self.find_bar)
        self.note, self.detail = ElidedLabel(role="muted"), ElidedLabel(role="muted")
        self.detail.setAlignment(MIDDLE_RIGHT)
        for label in (self.crumbs, self.note, self.detail):
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        boxes = (self.choices.contents, self.choices.metrics, self.choices.orders)
        self.remembered = dict(zip(("content", "metric", "order"), boxes, strict=True))
        self._element = -1
        self._is_own_choice = self._is_marked = False
        self._hovered: Hover | None = None
        self._matches = np.empty(0, dtype=np.int64)
        self._request = self.request(self._compute, STREAM_MS)
        way = row((self.crumbs, 3), (self.note, 2), (self.detail, 3), margins=(8, 0, 8, 4), spacing=8)
        self.legend = Legend()
        names = row((self.legend, 1), margins=(8, 0, 8, 2))
        self.empty = WithEmptyState(boxed(column(way, (self.view, 1), names)))
        column(self.choices, (self.empty, 1), of=self)
        self._connect()
        self._open()

    def _connect(self) -> None:
        session, view = self.session, self.view
        self.choices.changed.connect(self._changed)
        self.crumbs.linkActivated.connect(lambda link: view.zoom_to(int(link.removeprefix("frame:"))))
        self.find_bar.edited.connect(self._search)
        self.find_bar.stepped.connect(self._step)
        view.chosen.connect(self._choose)
        view.menu_asked.connect(self._open_menu)
        view.zoomed.connect(lambda: self.crumbs.setText(way_html(view.scene, view.crumb)))
        view.pointed.connect(self._show_text)
        self.ui.theme.changed.connect(self._show_legend)
        session.trace.watch(self._open)
        session.selection.watch(self._follow)
        session.clock_range.watch(self._request.ask)
        self._request.follow_doublings(
            lambda: self.wanted.content is Content.MARKED or session.clock_range.value is not None
        )
        self.ui.settings.cell("isa.show_idle").watch(self._request.ask)
        for name in ("hidden", "markers"):
            self.ui.results.cell(name).watch(self._request.ask)

    @property
    def wanted(self) -> FlameChoice:
        """Return the current choices."""
        return self.choices.chosen(self._element)

    def _open(self) -> None:
        self._element = -1
        self.view.show_scene(None)
        self._show_text()
        trace = self.session.trace.value
        is_marked = trace is not None and trace.has_only_markers and bool(trace.markers)
        if is_marked != self._is_marked:  # what this capture has, and the one before had not
            self._is_marked = is_marked
            self.choices.contents.choose((Content.MARKERS if is_marked else Content.SOURCE).value)
        missing = "" if is_marked else self.why_missing("code")
        self.empty.say(missing)
        if not missing:
            self._changed()

    def _changed(self) -> None:
        """React to another choice of content, measure or order."""
        trace = self.session.trace.value
        self.choices.offer(trace is not None and not trace.has_thread_trace)
        content, metric = self.wanted.content, self.wanted.metric
        if content in OF_MARKERS:
            self.want_result("markers")
        if metric is Metric.NONHIDDEN:
            self.want_result("hidden")
        if content is Content.SANDWICH:
            self._element = place_of(self.session)
        self._request.now()

    def _compute(self) -> None:
        wanted, results = self.wanted, self.ui.results
        known = (results.cell(name).value for name in ("hidden", "markers"))
        job = scene_job(self.session, wanted, self.ui.settings["isa.show_idle"], *known)
        trace = self.session.trace.value
        if job is None or trace is None or not (len(trace.code) or self._is_marked):
            return
        if self.view.scene is None:
            self.empty.say("Computing the flame graph …")
        self._request.run(job, lambda scene: self._take(wanted, scene))

    def _take(self, wanted: FlameChoice, scene: FlameScene | None) -> None:
        if wanted != self.wanted:
            return
        self.empty.say("" if scene is not None else self._why_nothing(wanted))
        self.note.setText(self._note(wanted))
        self.view.show_scene(scene, keep=True)
        self._show_legend()
        self._mark_selected()
        self._search(self.find_bar.query)
        self._show_text()

    def _show_legend(self) -> None:
        self.legend.set_items(self.view.swatches())

    def _why_nothing(self, wanted: FlameChoice) -> str:
        trace = self.session.trace.value
        if wanted.content is Content.SANDWICH and wanted.element < 0:
            return NO_PLACE
        if wanted.content in OF_MARKERS:
            spans = self.ui.results.cell("markers").value
            has_markers = trace is not None and any(len(part.time) for part in trace.shader_data)
            return "Matching markers …" if spans is None and has_markers else NO_MARKERS
        has_cost = trace is not None and bool((trace.code.latency + trace.code.idle + trace.code.hits).any())
        return NO_VALUE if has_cost else self.reason(NO_COST)

    def _note(self, wanted: FlameChoice) -> str:
        trace = self.session.trace.value
        if trace is None:
            return ""
        if wanted.metric is Metric.NONHIDDEN and self.session.clock_range.value is not None:
            return NOT_IN_RANGE
        hidden = self.ui.results.cell("hidden").value
        if wanted.metric is Metric.NONHIDDEN:
            return "the total until what is hidden is computed" if hidden is None else hidden.assumption
        if wanted.content is Content.SOURCE and not len(trace.code.chain_file):
            return NO_SOURCES
        return ""

    def _choose(self, frame: int) -> None:
        if self.view.scene is not None:
            self._is_own_choice = True
            choose(self.session, self.view.scene, frame)
            self._is_own_choice = False

    def _follow(self) -> None:
        self._mark_selected()
        if self.wanted.content is Content.SANDWICH and not self._is_own_choice:
            element = place_of(self.session)
            if element not in (-1, self._element):
                self._element = element
                self._request.ask()

    def _mark_selected(self) -> None:
        if self.view.scene is not None:
            self.view.set_selected(selected_frames(self.view.scene, self.session.selection.value))
        self.view.setAccessibleDescription(translated(self.view.frame_text() or selection_text(self.session)))

    def _show_text(self, frame: int = -1) -> None:
        text = self.view.frame_text()
        self.detail.setText(text)
        self.view.setAccessibleDescription(translated(text or selection_text(self.session)))
        hovered = None if self.view.scene is None else hover_of(self.view.scene, self.view.hover_frame)
        if hovered != self._hovered:
            self._hovered = hovered
            self.session.hover.set(hovered)

    def _open_menu(self, frame: int, at: QPoint) -> None:
        menu = self.menu_for(frame)
        menu.exec(at)
        menu.deleteLater()

    def menu_for(self, frame: int) -> QMenu:
        """Return the menu of a frame."""
        scene = self.view.scene
        assert scene is not None
        menu = QMenu(self, toolTipsVisible=True)
        menu.addAction(translated("Zoom to this frame"), lambda: self.view.zoom_to(frame))
        sandwich = menu.addAction(translated("Callers and callees"), lambda: self._show_sandwich(frame))
        is_place = scene.tree.what[frame] in (What.LINE, What.CODE)
        allow(sandwich, "" if is_place else "Only source lines and instructions have callers.")
        menu.addSeparator()
        menu.addAction(translated("Copy name"), lambda: copy_text(scene.full_name(frame)))
        way = "\n".join(scene.full_name(one) for one in scene.tree.ancestors(frame))
        menu.addAction(translated("Copy stack"), lambda: copy_text(way))
        self.add_copy(menu)
        return menu

    def _show_sandwich(self, frame: int) -> None:
        scene = self.view.scene
        assert scene is not None
        tree = scene.tree
        self.choices.contents.choose(Content.SANDWICH.value)
        self.choices.offer(not scene.trace.has_thread_trace)
        self._element = int(key(int(tree.what[frame]), int(tree.first[frame]), int(tree.second[frame])))
        self._request.now()

    def focus_search(self) -> bool:
        self.find_bar.focus()
        return True

    def _search(self, query: SearchQuery) -> None:
        scene = self.view.scene
        self._matches = np.empty(0, dtype=np.int64)
        rows, problem = matches_of(scene.search_texts if scene is not None and query.text else (), query)
        if scene is None or not query.text or problem:
            self.view.set_matched(None)
            self.find_bar.say("", 0, problem)
            return
        matched = np.zeros(len(scene), dtype=bool)
        matched[rows] = True
        matched &= scene.boxes.width > 0
        rows = np.flatnonzero(matched)
        self._matches = rows[np.lexsort((scene.boxes.row[rows], scene.boxes.begin[rows]))]
        self.view.set_matched(matched)
        share = f", {percent(scene.share_of(matched), scene.boxes.whole)}" if len(rows) else ""
        self.find_bar.say(Message("{0}{1}", plural(len(rows), "frame"), share), len(rows))

    def _step(self, by: int) -> None:
        scene, view = self.view.scene, self.view
        if scene is None or not len(self._matches):
            return
        here = np.flatnonzero(self._matches == view.focus_frame)
        at = int(here[0]) + by if len(here) else 0 if by > 0 else -1
        view.show_frame(int(self._matches[at % len(self._matches)]))

    def canvas(self) -> QWidget:
        return self.empty

    def caption(self) -> str:
        note = self.note.text()
        return f"{self.choices.text()}; {note}" if note else self.choices.text()

    def command_line(self) -> command_text.CommandWords | None:
        trace, (content, metric, order, element) = self.session.trace.value, self.wanted
        words = [f"--metric={metric.name.lower()}", f"--order={order.value}"]
        words += () if content is Content.MARKERS else command_text.idle(self.ui)
        if content not in OF_MARKERS or metric is Metric.NONHIDDEN:
            words += command_text.clock(self.session)
        of = [f"--content={'both' if content is Content.MARKED else content.value}"]
        if content is not Content.SANDWICH:
            return command_text.rcv(self.session, "flame", *of, *words, "--least=0")
        if element < 0 or trace is None:
            return None
        what, first, second = (int(part[0]) for part in parts(np.array([element])))
        file = f"{trace.sources[first].path}:" if what == What.LINE else ""
        return command_text.rcv(self.session, "flame", *of, f"--around={file}{second}", *words)
