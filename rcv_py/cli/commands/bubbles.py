"""`rcv bubbles`: which instructions waves waited in while nothing happened on their SIMD."""

from __future__ import annotations

import sys
from typing import Any

from rcv_py.analysis.latency.bubbles import WAYS, Bubbles, bubbles
from rcv_py.analysis.program.matrix_passes import matrix_use
from rcv_py.base.paths import short_place
from rcv_py.base.text import count, percent, plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import if_known, in_order
from rcv_py.cli.options.wait_options import BubblesOptions
from rcv_py.cli.places import short_sources, source_of
from rcv_py.cli.report import Column, csv_text, json_text, print_table
from rcv_py.cli.wave_choice import choose_waves, print_heading
from rcv_py.cli.wrong_code import warn
from rcv_py.formats.open import open_trace
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace

SCHEMA = "rcv.bubbles/1"
_COLUMNS = (
    Column("line", True),
    *(Column(name, True) for name in ("bubbles", "share", *WAYS)),
    Column("instruction", elastic="right"),
    Column("source", elastic="left"),
)
_HEAD = ("line", "text", "cycles", "share", *WAYS, "source")


def run(arguments: BubblesOptions) -> int:
    """Print the ranking of a capture as text, CSV or JSON."""
    trace = open_trace(arguments.folder)
    alarm = warn(trace)
    chosen = choose_waves(trace, arguments)
    read = list(chosen.batches)
    rule = ReferenceRule(arguments.rule)
    found = bubbles(trace, read, chosen.rows, rule)
    rows = in_order([_row(trace, found, i) for i in range(len(found))], arguments)[: arguments.top or None]
    if arguments.csv:
        sys.stdout.write(csv_text(_HEAD, [[row[name] for name in _HEAD] for row in rows]))
    elif arguments.json:
        document = _document(trace, found, read, rule) | {"rows": rows}
        print(json_text(SCHEMA, document, about(arguments, trace, waves=chosen.about(), alarm=alarm)))
    elif not rows:
        print(_why_none(trace, found))
    else:
        print_heading(chosen)
        short = short_sources(trace)
        print_table(_COLUMNS, [_cells(row, short) for row in rows])
        print(_footer(trace, found, rows, rule))
    return 0


def _row(trace: Trace, found: Bubbles, row: int) -> dict[str, Any]:
    line = int(found.line[row])
    total = float(found.total[row])
    return {
        "line": line,
        "text": trace.code.text[line] if line >= 0 else "no instruction of the program",
        "cycles": round(total, 3),
        "share": round(total / max(1, found.bubble), 6),
        **{way: round(float(getattr(found, way)[row]), 3) for way in WAYS},
        "source": source_of(trace, line),
    }


def _cells(row: dict[str, Any], short: dict[str, str]) -> list[str]:
    numbers = [count(round(row["cycles"])), f"{100 * row['share']:.1f} %"]
    numbers += [count(round(row[way])) if row[way] else "" for way in WAYS]
    return [str(row["line"]), *numbers, row["text"], short_place(row["source"], short)]


def _document(trace: Trace, found: Bubbles, read: list[Any], rule: ReferenceRule) -> dict[str, Any]:
    use = matrix_use(trace, read)
    return {
        "capture": trace.name,
        "waves": found.waves,
        "of": len(trace.waves),
        "rule": rule.value,
        "totals": if_known(
            {
                "resident": found.resident,
                "issuing": found.issuing,
                "no_issue": found.no_issue,
                "matrix": found.matrix,
                "bubble": found.bubble,
                "busy_share": round(found.busy_share, 6),
                **{way: round(float(getattr(found, way).sum()), 3) for way in WAYS},
            },
            found.waves > 0,
        ),
        "matrix": if_known({"busy": use.busy, "share": round(use.share, 6)}, found.waves > 0)
        | {"assumption": use.assumption},
        "simds": [
            {
                "se": place >> 8,
                "simd": place & 255,
                "resident": resident,
                "issuing": issuing,
                "no_issue": no_issue,
                "matrix": matrix,
                "bubble": bubble,
            }
            for place, resident, issuing, no_issue, matrix, bubble in zip(
                found.place.tolist(),
                found.resident_of.tolist(),
                found.issuing_of.tolist(),
                found.no_issue_of.tolist(),
                found.matrix_of.tolist(),
                found.bubble_of.tolist(),
                strict=True,
            )
        ],
    }


def _footer(trace: Trace, found: Bubbles, rows: list[dict[str, Any]], rule: ReferenceRule) -> str:
    part, whole = sum(row["cycles"] for row in rows), found.resident
    is_ours = rule is ReferenceRule.OURS
    empty = "nothing happened" if is_ours else "no wave issued"
    lines = [
        f"\n{len(rows):,} of {plural(len(found), 'instruction')}: {percent(round(part), found.bubble)} of "
        f"{count(found.bubble)} cycles in which a SIMD held a traced wave and {empty}.",
        f"Of {count(whole)} SIMD cycles with a traced wave {percent(found.issuing, whole)} issued"
        + (f", in {percent(found.matrix, whole)} the matrix unit worked" if found.matrix else "")
        + f", {percent(found.no_issue, whole)} are no-issue cycles"
        + (f", and in {percent(found.bubble, whole)} nothing happened." if is_ours else "."),
        f"Removing every bubble would save at most {percent(found.bubble, whole)} of these.",
        "A bubble is split equally among the waves that were there; cycles in which another wave issued"
        + (" or the matrix unit worked do not count." if is_ours else " do not count."),
    ]
    if found.assumption:
        lines.append(found.assumption)
    return "\n".join(lines)


def _why_none(trace: Trace, found: Bubbles) -> str:
    if not len(trace.waves):
        return "The capture has no traced waves, so nothing is known about bubbles."
    if not found.waves:
        return "No wave could be read; `rcv info --check` says why."
    return "Every SIMD issued or computed in every cycle in which it held a wave: there are no bubbles."
