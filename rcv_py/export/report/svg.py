"""Small plots as inline SVG, legible on dark and on light paper: colours are CSS variables of the page."""

from collections.abc import Collection, Sequence
from html import escape

import numpy as np

from rcv_py.base.colors import ROLES, TOKEN_KINDS, WAVE_STATES, Pair
from rcv_py.base.text import Message, elide_right, percent, short_count, translated
from rcv_py.export.report.model import Plot, ReportBars, ReportCurve, ReportHistogram, ReportShare, Stacked

WIDTH = 860
BAR_PX, ROW_PX, NAME_PX, VALUE_PX = 22, 22, 290, 80
CURVE_PX = 150
_LEFT, _BOTTOM, _TOP = 48, 22, 8
MAX_POINTS = 1200  # of a curve: more than the number of pixels are not visible
MAX_NAME = 39  # characters of the name of a bar
_ROLES = ("accent", "stall", "issue", "idle", "hidden", "warning", "muted", "line")
COLORS: dict[str, Pair] = {
    **{name: ROLES[name] for name in _ROLES},
    **{f"kind-{name}": pair for name, pair in TOKEN_KINDS.items()},
    **{f"state-{name}": pair for name, pair in WAVE_STATES.items()},
}


def color(role: str) -> str:
    """Return a colour of the page by its role."""
    return f"var(--{role})" if role in COLORS else "var(--accent)"


def svg(plot: Plot, anchors: Collection[str] = ()) -> str:
    """Return a plot as an element of a page that has these anchors."""
    match plot:
        case Stacked():
            return _stacked(plot)
        case ReportCurve():
            return _curve(plot)
        case ReportHistogram():
            return _bins(plot)
        case ReportBars():
            return _bars(plot, anchors)


def _frame(title: str, height: float, body: Sequence[str]) -> str:
    name = escape(translated(title))
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{name}">'
        f"<title>{name}</title>{''.join(body)}</svg>"
    )


def _rect(box: tuple[float, float, float, float], role: str, tip: str) -> str:
    """A box (x, y, width, height) with a tooltip."""
    x, y, width, height = box
    return (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" fill="{color(role)}">'
        f"<title>{escape(translated(tip))}</title></rect>"
    )


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    more = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(translated(text))}</text>'


def _stacked(plot: Stacked) -> str:
    """One bar, and below it the names of its parts with their shares."""
    total = sum(part.value for part in plot.parts) or 1
    body = _parts(plot.parts, WIDTH / total, (0, 0), plot.unit)
    names = [(Message("{0} {1}", part.name, percent(part.value, total)), part.role) for part in plot.parts]
    y = _legend(body, names, BAR_PX + 20.0)
    return _frame(plot.title, y + 8, body)


def _legend(body: list[str], names: Sequence[tuple[str, str]], y: float) -> float:
    """Append names with their colours, in as many lines as needed; return the position of the last line."""
    at = 0.0
    for name, role in names:
        width = 22 + 6.6 * len(name) + 16
        if at + width > WIDTH and at:
            at, y = 0.0, y + 18
        body.append(_rect((at, y - 10, 11, 11), role, name))
        body.append(_text(at + 17, y, name))
        at += width
    return y


def _parts(parts: Sequence[ReportShare], scale: float, place: tuple[float, float], unit: str) -> list[str]:
    """Boxes next to each other from a start, `scale` pixels per unit."""
    body, (x, y) = [], place
    total = sum(part.value for part in parts)
    for part in parts:
        own = scale * part.value
        if own > 0:
            tip = Message("{0}: {1:,.0f} {2}, {3}", part.name, part.value, unit, percent(part.value, total))
            body.append(_rect((x, y, own, BAR_PX - 4), part.role, tip))
        x += own
    return body


def _bars(plot: ReportBars, anchors: Collection[str]) -> str:
    totals = [sum(values) for values in zip(*(series.values for series in plot.series), strict=True)]
    width, longest = WIDTH - NAME_PX - VALUE_PX, max(totals, default=0) or 1
    body = []
    for row, (name, total) in enumerate(zip(plot.names, totals, strict=True)):
        y, link = row * ROW_PX, plot.links[row] if plot.links else ""
        text = _text(0, y + 14, elide_right(translated(name), MAX_NAME), "mono")
        body.append(f'<a href="#{escape(link)}">{text}</a>' if link in anchors else text)
        body += _parts(plot.parts(row), width / longest, (NAME_PX, y), plot.unit)
        body.append(_text(NAME_PX + width * total / longest + 6, y + 14, short_count(total), "muted"))
    height = max(1, len(totals)) * ROW_PX
    names = [(series.name, series.role or series.name) for series in plot.series if totals]
    return _frame(plot.title, _legend(body, names, height + 16.0) + 8 if names else height, body)


def _curve(plot: ReportCurve) -> str:
    time, value = _thinned(np.array(plot.times, dtype=np.int64), np.array(plot.values, dtype=np.float64))
    if len(time) < 2 or time[-1] <= time[0]:
        return _frame(plot.title, 24, [_text(0, 16, "Nothing to draw.", "muted")])
    top, low = value.max() or 1, CURVE_PX - _BOTTOM
    x = _LEFT + (WIDTH - _LEFT - 4) * (time - time[0]) / (time[-1] - time[0])
    y = _TOP + (low - _TOP) * (1 - value / top)
    steps = "".join(f"H{across:.1f}V{down:.1f}" for across, down in zip(x[1:], y[1:], strict=True))
    path = f"M{x[0]:.1f},{low:.1f}V{y[0]:.1f}{steps}V{low:.1f}Z"
    body = _axes(plot.unit, float(top), int(time[0]), int(time[-1]))
    return _frame(plot.title, CURVE_PX, [*body, f'<path d="{path}" class="area"/>'])


def _axes(unit: str, top: float, first: float, last: float) -> list[str]:
    low, high = CURVE_PX - _BOTTOM, _TOP
    body = [
        f'<line x1="{_LEFT}" y1="{y}" x2="{WIDTH - 4}" y2="{y}" class="grid"/>'
        for y in (low, (low + high) / 2, high)
    ]
    body += [_text(_LEFT - 6, y + 4, short_count(v), "muted", "end") for y, v in ((low, 0), (high + 4, top))]
    body.append(_text(_LEFT - 6, (low + high) / 2 + 4, unit, "muted", "end"))
    body.append(_text(_LEFT, CURVE_PX - 6, f"{first:,}", "muted"))
    return [*body, _text(WIDTH - 4, CURVE_PX - 6, f"{last:,}", "muted", "end")]


def _thinned(time: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Keep of each pixel's steps the highest and the last."""
    if len(time) <= MAX_POINTS:
        return time, value
    pixel = (time - time[0]) * (MAX_POINTS // 2) // max(1, int(time[-1] - time[0]))
    first = np.flatnonzero(np.diff(pixel, prepend=-1))
    order = np.lexsort((np.arange(len(time)), -value, pixel))  # the first is the highest of its pixel
    rows = np.union1d(order[first], np.append(first[1:], len(time)) - 1)
    return time[rows], value[rows]


def _bins(plot: ReportHistogram) -> str:
    if not plot.counts:
        return _frame(plot.title, 24, [_text(0, 16, "Nothing to draw.", "muted")])
    top, height = max(plot.counts) or 1, CURVE_PX - _BOTTOM - _TOP
    width = (WIDTH - _LEFT - 4) / len(plot.counts)
    body = _axes("count", top, plot.edges[0], plot.edges[-1])
    for at, (low, high, count) in enumerate(zip(plot.edges, plot.edges[1:], plot.counts, strict=False)):
        if count:
            own = height * count / top
            box = (_LEFT + at * width, _TOP + height - own, max(1, width - 1), own)
            tip = Message("{0:,} to {1:,} {2}: {3:,}", low, high, plot.unit, count)
            body.append(_rect(box, "accent", tip))
    return _frame(plot.title, CURVE_PX, body)
