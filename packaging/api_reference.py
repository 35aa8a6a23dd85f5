"""The reference of the Python API, from signatures, docstrings and the tables of a sample."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

SAMPLE = Path(__file__).resolve().parents[1] / "sample_traces" / "matmul_tiled"
# What is called on the sample to learn the columns; one call each, or one for each of these arguments.
SHAPES: dict[str, tuple[tuple[Any, ...], ...]] = {
    "isa": (("instructions",), ("blocks",), ("branches",)),
    "instruction_help": ((113,),),
    "line": ((113,),),
    "causes": (("cause",), ("instruction",), ("producer",), ("each",)),
    "loops": tuple(
        (name,) for name in ("loops", "iterations", "phases", "first", "distance", "chains", "barriers")
    ),
}
NO_TABLE = (
    *(
        "batches",
        "choice",
        "chosen",
        "compare",
        "compare_build",
        "counter_curve",
        "export",
        "facts",
        "info",
        "kernel",
        "line_costs",
    ),
    *("add_note", "markers", "name", "parts", "path", "remove_note", "report", "source", "wave", "ways"),
    *("pack", "timeline", "unpack"),
)


def api_page() -> str:
    """The page docs/api-reference.md."""
    import rcv_py
    from rcv_py.api import Answer, Capture, Table, Timeline, Wave

    capture = rcv_py.open(SAMPLE)
    parts = [
        "# Python API: reference",
        "",
        "Written from the code; `make docs` writes it again.  How to use it, by task: [Python API](api.md).",
        "",
        "## Functions of rcv_py",
        "",
    ]
    for function in (rcv_py.open, rcv_py.find, rcv_py.library):
        parts += _entry(f"rcv_py.{function.__name__}", function)
    parts += ["Columns of `library`:", "", *_columns(rcv_py.library(SAMPLE)), ""]
    parts += ["## Capture", "", _text(Capture), ""]
    for name, member in _public(Capture):
        parts += _entry(f"capture.{name}", member)
        for words in () if name in NO_TABLE else SHAPES.get(name, ((),)):
            parts += _table(capture, name, words)
        if name in ("compare", "compare_build"):
            parts += [*_columns(getattr(capture, name)(capture)), ""]
        if name == "counter_curve":
            parts += ["A table with the columns `time` (cycle) and `value`.", ""]
    kinds = ((Wave, "wave"), (Table, "table"), (Timeline, "timeline"), (Answer, "answer"))
    for kind, word in kinds:
        parts += [f"## {kind.__name__}", "", _text(kind), ""]
        for name, member in _public(kind) if kind is not Answer else ():
            parts += _entry(f"{word}.{name}", member)
    return "\n".join(parts).rstrip() + "\n"


def _public(kind: type) -> Iterator[tuple[str, Any]]:
    """Properties and methods in the order they are written, base classes first."""
    found: dict[str, Any] = {}
    for one in reversed(kind.__mro__):
        found |= {name: member for name, member in vars(one).items() if not name.startswith("_")}
    for name, member in found.items():
        is_method = inspect.isfunction(member) and member.__name__ == name  # else it only refuses
        if isinstance(member, property | cached_property) or is_method:
            yield name, member


def _entry(name: str, member: Callable[..., Any] | property | cached_property[Any]) -> list[str]:
    from rcv_py.api.capture_tables import LoopTable, OccupancyBy, Rule, TableName
    from rcv_py.model.modes import LibraryOrder, Sum

    shown = {"LoopTable": LoopTable, "OccupancyBy": OccupancyBy, "Rule": Rule, "TableName": TableName}
    shown |= {"LibraryOrder": LibraryOrder, "Sum": Sum}  # as the words they stand for
    if isinstance(member, property | cached_property):
        get = member.fget if isinstance(member, property) else member.func
        returns = inspect.signature(get).return_annotation.strip("'")  # type: ignore[arg-type]
        return [f"### {name}", "", f"`{name}: {returns}`", "", _text(member), ""]
    signature = str(inspect.signature(member)).replace("self, ", "").replace("(self)", "()")
    signature = re.sub(r"""(: |-> )(['"])(.*?)\2""", r"\1\3", signature)  # annotations are texts
    for alias, choice in shown.items():
        words = str(choice).removeprefix("typing.")
        signature = re.sub(rf"\b{alias}\b", words, signature)
    return [f"### {name}", "", f"`{name}{signature}`", "", _text(member), ""]


def _text(member: Any) -> str:
    text = inspect.cleandoc(member.__doc__ or "")
    assert text, f"{member} has no docstring"
    return text


def _table(capture: Any, name: str, words: tuple[Any, ...]) -> list[str]:
    found = getattr(capture, name)
    table = found(*words) if callable(found) else found
    head = [f"`{name}({', '.join(map(repr, words))})`:", ""] if len(SHAPES.get(name, ())) > 1 else []
    return [*head, *_columns(table), ""]


def _columns(table: Any) -> list[str]:
    rows = ["| column | type | unit | meaning |", "|---|---|---|---|"]
    help_of = table.help
    for row in help_of.rows():
        kind = "" if not len(table) else row["type"]
        rows.append(f"| `{row['column']}` | {kind} | {row['unit']} | {row['meaning']} |")
    return rows
