"""Tooltips of tokens, gaps, states and markers, from tables, never from pixels; the menu of a token."""

from collections.abc import Callable

import numpy as np

from rcv_py.analysis.cost.place_text import beside, place_text, source_of
from rcv_py.analysis.events.event_table import record_text
from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.analysis.timeline.raster import RowSegment, shares_in, tokens_in
from rcv_py.analysis.timeline.token_details import producers
from rcv_py.base.manifest import panel_for
from rcv_py.base.text import Message, count, elide_left, elide_right, join_texts, percent, plural
from rcv_py.model.ids import place_name
from rcv_py.model.kinds import KIND_NAME, KIND_TEXT, MARKER_TEXT, STATE_NAME, MarkerKind, TokenKind, WaveState
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave
from rcv_py.model.window import TimeWindow
from rcv_py.state.session import Session
from rcv_py.ui.core.plain_text import Rich, copy_text, joined, lines_tip, rich
from rcv_py.ui.core.times import Times

MAX_PRODUCERS = 4
MAX_SHARES = 4  # of a pixel
MAX_VALUES = 4  # maximum values of shader data at a place

Action = tuple[str, Callable[[], None]]  # title, what it does


def token_at(segment: RowSegment, time: int, pixel: TimeWindow | None = None, depth: float = -1.0) -> int:
    """Return the row of the token that runs at a cycle, else the longest that starts in the pixel, else -1.

    Among overlapping tokens, the token whose sub-row is at `depth` wins, from 0 at the row's top to 1; else
    the last.
    """
    tokens = segment.tokens
    rows = segment.rows_in(TimeWindow(time, time + 1))
    end = tokens.offset[rows].astype(np.int64) + tokens.stall[rows] + tokens.busy[rows]
    running = np.flatnonzero(end > time - tokens.base)
    if len(running) > 1 and tokens.lane is not None and depth >= 0:
        here = running[tokens.lane[rows][running] == int(depth * segment.lanes)]
        running = here if len(here) else running
    if len(running):
        return rows.start + int(running[-1])
    rows = segment.rows_in(pixel) if pixel is not None else slice(0, 0)
    start = tokens.offset[rows].astype(np.int64) + tokens.base
    inside = np.flatnonzero(start >= (pixel.begin if pixel is not None else 0))
    if not len(inside):
        return -1
    length = tokens.stall[rows][inside].astype(np.int64) + tokens.busy[rows][inside]
    return rows.start + int(inside[np.argmax(length)])


def token_tip(
    trace: Trace, times: Times, wave: TracedWave | None, segment: RowSegment, row: int, *, pixel: TimeWindow
) -> Rich:
    """Return all facts about a token in a few lines of rich text."""
    tokens = segment.tokens
    line = int(tokens.line[row])
    name = _instruction(trace, line, int(tokens.kind[row]))
    lines: list[str] = [rich("<b>{}</b>", name), elide_left(source_of(trace, line), 70)]
    span = tokens.span(row)
    since = times.number(span.begin - segment.begin)
    lines.append(Message("at {0} (+{1} since the wave began)", times.at(span.begin), since))
    stall, busy = int(tokens.stall[row]), int(tokens.busy[row])
    part = "issue" if trace.architecture.busy_is_issue else "execution"
    parts = Message("stall {0} + {1} {2}", times.number(stall), part, times.number(busy))
    lines.append(f"{parts} = {times.both(stall + busy)}")
    if wave is not None:
        hits = wave.executions(line)
        if line >= 0:
            lines.append(Message("hit {0} of {1}", count(hits.before(row) + 1), count(len(hits))))
        lines += [*_waits_for(trace, wave, row, line), str(wave.id), _state(wave, pixel.begin)]
    held = tokens_in(segment, pixel)
    if held > 1:
        lines.append(rich("<i>This pixel holds {}.</i>", plural(held, "token")))
        lines.append(pixel_text(segment, pixel))
    return lines_tip(filter(None, lines))


def pixel_text(segment: RowSegment, pixel: TimeWindow) -> str:
    """Return the shares of a pixel's time by kind of token, the largest first, and the empty share."""
    shares = shares_in(segment, pixel)
    parts = [
        (float(share), KIND_NAME[TokenKind(kind)] + (" stall" if is_stall else ""))
        for is_stall, row in enumerate(shares)
        for kind, share in enumerate(row)
        if share > 0
    ]
    parts.sort(reverse=True)
    texts = [f"{name} {percent(share, 1)}" for share, name in parts[:MAX_SHARES]]
    if rest := parts[MAX_SHARES:]:
        texts.append(Message("{0} more {1}", len(rest), percent(sum(share for share, _ in rest), 1)))
    empty = 1 - sum(share for share, _ in parts)
    return join_texts(" · ", [*texts, Message("nothing {0}", percent(empty, 1))] if empty > 0 else texts)


def sibling_tip(text: Rich, simd: str) -> Rich:
    """Append to a tip that the instruction belongs to the SIMD that was not traced."""
    return joined("<br>", [text, Message("{0}, sibling of the traced one: no instruction identity.", simd)])


def gap_tip(times: Times, wave: TracedWave | None, segment: RowSegment, time: int) -> Rich:
    """Return the facts about a gap between two tokens."""
    tokens = segment.tokens
    before = tokens.at(time)
    end = int(tokens.span(before).end) if before >= 0 else segment.begin
    after = before + 1
    stop = int(tokens.span(after).begin) if after < len(tokens) else segment.end
    lines = [rich("<b>idle for {}</b>", times.both(max(0, stop - end))), Message("at {0}", times.at(time))]
    if wave is not None:
        lines += [_state(wave, time), str(wave.id)]
    return lines_tip(filter(None, lines))


def state_tip(times: Times, wave: TracedWave, time: int) -> Rich:
    """Return the facts about the state of a wave."""
    row = wave.states.at(time)
    if row < 0:
        return Rich()
    length = int(wave.states.duration[row])
    begin = wave.states.base + int(wave.states.offset[row])
    lines = [rich("<b>{}</b> for {}", _state_name(int(wave.states.state[row])), times.both(length))]
    return lines_tip([*lines, Message("from {0}", times.at(begin)), str(wave.id)])


def _instruction(trace: Trace, line: int, kind: int) -> str:
    if 0 <= line < len(trace.code):
        return elide_right(trace.code.text[line], 90) + beside(trace, line)
    return KIND_TEXT[TokenKind(kind)] if kind in KIND_TEXT else Message("unknown kind {0}", kind)


def _waits_for(trace: Trace, wave: TracedWave, row: int, line: int) -> list[str]:
    if line < 0 or wave.tokens.kind[row] != TokenKind.IMMED:
        return []
    hits = wave.executions(line)
    rows = producers(wave.waits, line, hits.before(row), len(hits))
    names = [elide_right(trace.code.text[at], 60) + beside(trace, at) for at in rows if at < len(trace.code)]
    texts = [rich("&nbsp;&nbsp;{}", name) for name in names]
    if len(texts) > MAX_PRODUCERS:
        texts[MAX_PRODUCERS:] = [rich("&nbsp;&nbsp;and {} more", len(texts) - MAX_PRODUCERS)]
    return ["waits for", *texts] if texts else []


def _state(wave: TracedWave, time: int) -> str:
    row = wave.states.at(time)
    return Message("wave state: {0}", _state_name(int(wave.states.state[row]))) if row >= 0 else ""


def _state_name(state: int) -> str:
    return STATE_NAME[WaveState(state)] if 0 <= state < len(WaveState) else Message("number {0}", state)


def marker_tip(trace: Trace, times: Times, spans: MarkerSpans, span: int) -> Rich:
    """Return name, kind, times, depth and source of a scope or point, as rich text."""
    begin, end, name = int(spans.begin[span]), int(spans.end[span]), int(spans.name_id[span])
    kind = MARKER_TEXT[MarkerKind(int(spans.kind[span]))]
    lines: list[str] = [
        rich("<b>{}</b>", elide_right(spans.names[name], 90)),
        Message("{0}, depth {1}", kind, int(spans.depth[span])),
    ]
    if spans.is_point[span]:
        lines.append(Message("at {0}", times.at(begin)))
    else:
        lines.append(f"{times.at(begin)} … {times.at(end)}: {times.both(end - begin)}")
    if spans.is_open[span]:
        lines.append("Its end was not recorded: it is drawn up to the end of its wave.")
    if spans.sources[name]:
        lines.append(elide_left(spans.sources[name], 70))
    se, cu, simd, slot = (int(column[span]) for column in (spans.se, spans.cu, spans.simd, spans.slot))
    lines.append(place_name(se, 0, cu, simd, slot, unit=trace.architecture.unit_name))
    return lines_tip(lines)


def value_lines(times: Times, spans: MarkerSpans, rows: np.ndarray) -> list[str]:
    """Return a line for each of the first values, and the number of further values."""
    lines: list[str] = [
        Message("shader data at {0}: {1}", times.at(int(spans.records.time[row])), record_text(spans, row))
        for row in rows[:MAX_VALUES].tolist()
    ]
    if len(rows) > MAX_VALUES:
        lines.append(Message("and {0:,} more values here", len(rows) - MAX_VALUES))
    return lines


def token_actions(
    session: Session, trace: Trace, wave: TracedWave, row: int, front: Callable[[str], object]
) -> list[Action]:
    """Return actions for the token at a row of a wave; `front` brings a panel to the front."""
    line = int(wave.tokens.line[row])

    def then(action: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            session.select_token(wave.id, row, stays=True)
            action()

        return run

    def measure() -> None:
        session.measure_from()
        front(panel_for("range"))

    if not 0 <= line < len(trace.code):
        return []
    actions: list[Action] = [
        ("Copy the instruction", lambda: copy_text(trace.code.text[line])),
        (Message("Go to instruction {0}", line), then(lambda: front(panel_for("instruction")))),
    ]
    if chain := trace.code.chain(line):
        place = place_text(trace.sources, *chain[0])
        actions.append((Message("Go to {0}", place), then(lambda: front(panel_for("source line")))))
    asked = session.between.value
    if asked is not None and asked.last is None:
        actions.append((Message("Measure to here, from instruction {0}", asked.first), then(lambda: None)))
    hits = wave.executions(line)
    first, last = (wave.tokens.span(int(hits.rows[at])) for at in (0, -1))
    every = TimeWindow(first.begin, last.end).padded(0.02)
    show_all = Message("Show all {0} of it in this wave", plural(len(hits), "execution"))
    return [
        *actions,
        ("Measure from here", then(measure)),
        ("Bookmark", then(session.toggle_bookmark)),
        (show_all, then(lambda: session.set_view(every))),
    ]
