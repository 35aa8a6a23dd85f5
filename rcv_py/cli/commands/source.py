"""`rcv source`: source files ranked, a file with what its lines cost, or the instructions of one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rcv_py.analysis.attribution.attribute import attribution
from rcv_py.analysis.core.cost_columns import SAMPLES, CostColumns, cost_columns
from rcv_py.analysis.cost.source_lines import (
    Reasons,
    SourceLines,
    code_rows,
    reasons,
    source_files,
    source_lines,
)
from rcv_py.analysis.waves.populations import ALL
from rcv_py.base.paths import short_paths, short_place
from rcv_py.base.text import count, percent, plural
from rcv_py.cli.about import about
from rcv_py.cli.opening import batches
from rcv_py.cli.options.cost_options import SourceOptions
from rcv_py.cli.places import source_of
from rcv_py.cli.report import Column, csv_text, json_text, plain, print_table, print_wrapped
from rcv_py.cli.source_files import find_place
from rcv_py.cli.wave_choice import ChosenWaves, counted_trace, print_heading
from rcv_py.cli.wrong_code import warn
from rcv_py.formats.open import open_trace
from rcv_py.model.modes import LatencyMode, SourceCost
from rcv_py.model.trace import Trace

SCHEMA = "rcv.source/1"
TOP = {"files": 20, "lines": 10, "instructions": 20}
CONTEXT = 3
_SUMS = ("hits", "latency", "stall", "idle")
_HEADS = {
    "files": ("file", "lines", "instructions", *_SUMS, "share", "cause", "hottest_line", "note"),
    "lines": ("line", "instructions", *_SUMS, "share", "cause", "text"),
    "instructions": ("row", *_SUMS, "share", "cause", "instruction", "source", "frames"),
}
_TITLES = {"instructions": "ISA", "hottest_line": "hottest"}
_NUMBERS = ("line", "lines", "instructions", "row", *_SUMS, "share", "hottest_line")
_ELASTIC = {
    "file": "left",
    "text": "right",
    "instruction": "right",
    "source": "left",
    "frames": "right",
    "cause": "right",
}
_GAP = "⋮"


@dataclass(frozen=True, eq=False)
class _Asked:
    """What all three forms are written from."""

    arguments: SourceOptions
    trace: Trace
    costs: CostColumns
    how: SourceCost
    why: Reasons | None

    @property
    def is_sampled(self) -> bool:
        return self.costs.label == SAMPLES

    def top(self, kind: str) -> int | None:
        """How many rows are wanted, None for all."""
        asked = self.arguments.top
        return (TOP[kind] if asked is None else asked) or None


def run(arguments: SourceOptions) -> int:
    """Print one of the three forms as text, CSV or JSON."""
    trace = open_trace(arguments.folder)
    alarm = warn(trace)
    trace, chosen = counted_trace(trace, arguments)
    file, line = find_place(trace.sources, arguments.place) if arguments.place else (-1, 0)
    costs = cost_columns(trace.code, LatencyMode.SUM_ALL, None, None)
    how = SourceCost.INCLUSIVE if arguments.inlined else SourceCost.SELF
    asked = _Asked(arguments, trace, costs, how, _why(trace, arguments, chosen))
    lines = source_lines(trace.code, costs, how, asked.why)
    kind = "files" if file < 0 else "instructions" if line else "lines"
    if kind == "files":
        rows = _file_rows(asked, lines)
    elif kind == "lines":
        rows = [_line_row(asked, lines, row) for row in lines.ranked(file)]
    else:
        rows = _code_rows(asked, file, line)
    shown = rows[: asked.top(kind)]
    if arguments.csv:
        sys.stdout.write(csv_text(_HEADS[kind], [[row[name] for name in _HEADS[kind]] for row in shown]))
    elif arguments.json:
        document = {
            "capture": trace.name,
            "kind": kind,
            "file": trace.sources[file].path if file >= 0 else None,
            "line": line or None,
            "inlined": arguments.inlined,
            "measure": costs.label,
            "whole": lines.whole,
            "unmapped": lines.unmapped,
            "of": len(rows),
            "rows": shown,
        }
        waves = None if chosen is None else chosen.about()
        print(json_text(SCHEMA, document, about(arguments, trace, waves=waves, alarm=alarm)))
    else:
        if chosen is not None:
            print_heading(chosen)
        _print(asked, lines, kind, (file, line), (rows, shown))
    return 0


def _why(trace: Trace, arguments: SourceOptions, chosen: ChosenWaves | None) -> Reasons | None:
    if not len(trace.waves) or arguments.no_causes:
        causes = None
    elif chosen is None:
        causes = attribution(trace, batches(trace))
    else:
        causes = attribution(trace, chosen.batches, chosen.rows)
    return reasons(trace.code, causes)


def _numbers(found: SourceLines, row: int) -> dict[str, Any]:
    return {
        "instructions": int(found.rows[row]),
        **{name: int(getattr(found, name)[row]) for name in _SUMS},
        "share": round(int(found.cost[row]) / max(1, found.whole), 6),
        "cause": found.reason_of(row),
    }


def _file_rows(asked: _Asked, lines: SourceLines) -> list[dict[str, Any]]:
    found = source_files(asked.trace.code, asked.costs, asked.how, asked.why)
    rows = []
    for row in found.ranked():
        file = int(found.file[row])
        best = lines.ranked(file)
        rows.append(
            {
                "file": asked.trace.sources[file].path,
                "lines": len(lines.lines_of(file)),
                **_numbers(found, row),
                "hottest_line": int(lines.line[best[0]]) if best else None,
                "note": asked.trace.sources[file].note,
            }
        )
    return rows


def _text(asked: _Asked, file: int, line: int) -> str:
    lines = asked.trace.sources[file].lines
    return lines[line - 1] if lines is not None and 1 <= line <= len(lines) else ""


def _line_row(asked: _Asked, lines: SourceLines, row: int) -> dict[str, Any]:
    line = int(lines.line[row])
    return {"line": line, **_numbers(lines, row), "text": _text(asked, int(lines.file[row]), line)}


def _code_rows(asked: _Asked, file: int, line: int) -> list[dict[str, Any]]:
    code, costs, why = asked.trace.code, asked.costs, asked.why
    whole = max(1, int(costs.cost[~code.is_label].sum()))
    rows = code_rows(code, file, line, asked.how).tolist()
    rows.sort(key=lambda row: -int(costs.cost[row]))
    return [
        {
            "row": row,
            **{name: int(getattr(costs, name)[row]) for name in _SUMS},
            "share": round(int(costs.cost[row]) / whole, 6),
            "cause": _cause(why, row),
            "instruction": code.text[row],
            "source": source_of(asked.trace, row),
            "frames": " -> ".join(f"{asked.trace.sources[at].path}:{n}" for at, n in code.chain(row)),
        }
        for row in rows
    ]


def _cause(why: Reasons | None, row: int) -> str:
    if why is None or not why.amount[row].any():
        return ""
    return why.names[int(why.amount[row].argmax())]


def _print(
    asked: _Asked,
    lines: SourceLines,
    kind: str,
    place: tuple[int, int],
    tables: tuple[list[dict[str, Any]], list[dict[str, Any]]],
) -> None:
    rows, shown = tables
    file, line = place
    short = short_paths(source.path for source in asked.trace.sources)
    if kind != "files":
        source = asked.trace.sources[file]
        print(plain(source.path))
        if source.lines is None:
            print_wrapped(source.note or "The capture has no copy of it.")
        print()
    if kind == "instructions":
        _print_lines(asked, lines, file, [line])
        print()
    if not rows:
        print(_why_none(asked, kind))
        return
    if kind == "lines":
        _print_lines(asked, lines, file, [row["line"] for row in shown])
    else:
        names = [name for name in _HEADS[kind] if _is_shown(asked, rows, name)]
        _print_rows(asked, names, [_shorter(row, short) for row in shown])
    print()
    print_wrapped(_footer(asked, lines, kind, rows, shown))


def _is_shown(asked: _Asked, rows: Sequence[dict[str, Any]], name: str) -> bool:
    if name == "frames":
        return any(" -> " in row[name] for row in rows)
    if asked.is_sampled and name in ("hits", "idle"):
        return False
    return name != "note" and (name != "cause" or any(row.get(name) for row in rows))


def _shorter(row: dict[str, Any], short: dict[str, str]) -> dict[str, Any]:
    """Names of files as tables show them; of frames only those behind the innermost, the callers."""
    shown = dict(row)
    if "file" in row:
        shown["file"] = short.get(row["file"], row["file"])
    if "source" in row:
        shown["source"] = short_place(row["source"], short)
    if "frames" in row:
        frames = [frame.rpartition(":") for frame in row["frames"].split(" -> ")[1:]]
        shown["frames"] = " ← ".join(f"{short.get(path, path)}:{n}" for path, _, n in frames)
    return shown


def _print_rows(asked: _Asked, names: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
    columns = [Column(_title(asked, name), name in _NUMBERS, _ELASTIC.get(name, "")) for name in names]
    print_table(columns, [[_cell(row.get(name), name) for name in names] for row in rows])


def _title(asked: _Asked, name: str) -> str:
    if asked.is_sampled:
        name = {"latency": "samples", "stall": "stalled"}.get(name, name)
    return {**_TITLES, "frames": "inlined into"}.get(name, name)


def _cell(value: Any, name: str) -> str:
    if value is None:
        return ""
    if name == "share":
        return percent(value, 1)
    is_name = name in ("line", "row", "hottest_line") or isinstance(value, str)
    return str(value) if is_name else count(value)


def _print_lines(asked: _Asked, lines: SourceLines, file: int, wanted: Sequence[int]) -> None:
    """Print the wanted lines in the order of the file, with lines around them, gaps marked."""
    numbers = {int(lines.line[row]): row for row in lines.lines_of(file)}
    is_one = len(wanted) == 1
    rows: list[dict[str, Any]] = []
    last = None
    for line in _around(asked, file, wanted):
        if last is not None and line != last + 1:
            rows.append({"text": _GAP})
        last = line
        plain = {"line": line, "text": _text(asked, file, line)}
        rows.append(_line_row(asked, lines, numbers[line]) if line in numbers else plain)
        rows[-1]["line"] = f"> {line}" if line in wanted and is_one else line
    _print_rows(asked, [name for name in _HEADS["lines"] if _is_shown(asked, rows, name)], rows)


def _around(asked: _Asked, file: int, wanted: Sequence[int]) -> Iterator[int]:
    context = CONTEXT if asked.arguments.context is None else asked.arguments.context
    text = asked.trace.sources[file].lines
    if text is None:
        yield from sorted(wanted)
        return
    near = {at for line in wanted for at in range(line - context, line + context + 1) if line}
    yield from sorted({at for at in near if 1 <= at <= len(text)} | set(wanted))


def _footer(
    asked: _Asked,
    lines: SourceLines,
    kind: str,
    rows: Sequence[dict[str, Any]],
    shown: Sequence[dict[str, Any]],
) -> str:
    unit = {"files": "file", "lines": "line", "instructions": "instruction"}[kind]
    whose = "all waves" if asked.arguments.waves in (None, ALL) else "these waves"
    what = "samples" if asked.is_sampled else f"cycles of latency and idle time of {whose}"
    text = f"{len(shown):,} of {plural(len(rows), unit)}. Shares are of {count(lines.whole)} {what}"
    text += (
        f", of which {percent(lines.unmapped, lines.whole)} have no source place." if lines.unmapped else "."
    )
    lost = sum(bool(row.get("note")) for row in rows)
    if lost:
        text += f" There is no copy of the text of {plural(lost, 'file')}."
    if not asked.arguments.inlined:
        return text
    if int((asked.trace.code.chain_first[1:] - asked.trace.code.chain_first[:-1]).max(initial=0)) < 2:
        return f"{text} No instruction was inlined, so --inlined changes nothing."
    return f"{text} Lines hold what was inlined into them, so shares can add up to more than the whole."


def _why_none(asked: _Asked, kind: str) -> str:
    code = asked.trace.code
    if not asked.costs.cost.any():
        return "No instruction has any cycles."
    if not len(code.chain_file):
        return "No instruction has a source place: compile with line tables (-g, -gline-tables-only)."
    return (
        "No instruction comes from this line." if kind == "instructions" else "None of its lines has a cost."
    )
