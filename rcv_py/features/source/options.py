"""The options of `rcv source`."""

from __future__ import annotations

from rcv_py.cli.options import shared
from rcv_py.cli.options.option import (
    Need,
    flag,
    has,
    number,
    positional,
    text,
)


class SourceOptions(
    shared.OfAllWaves, shared.RowOptions, example="rcv source FOLDER kernel.py:62 --context 5"
):
    """Show what source files, lines and their instructions cost."""

    needs = (
        Need("context", has("place"), "FILE or FILE:LINE", "Name a source file, or leave it out."),
        Need(
            "sort", lambda options: options.place is None, "the ranking of files", "Leave FILE out, or this."
        ),
        Need("edit", has("place"), "FILE or FILE:LINE", "Name a source file, or leave it out."),
        Need("editor", has("edit"), "--edit"),
    )

    place: str | None = positional(
        "FILE[:LINE]",
        "a source file by the end of its path, or one of its lines (default: rank the files)",
        None,
        "?",
    )
    top: int = shared.top(20, shown="20 files, 10 lines, 20 instructions")
    sort: str | None = shared.sort("cost")
    context: int | None = number("lines above and below (default 3)")
    inlined: bool = flag("also charge callers for code inlined into them")
    no_causes: bool = flag("do not read the waves, which the top cause needs")
    edit: bool = shared.form("print nothing: open the place in an editor")
    editor: str | None = text(
        "editor to use: code, clion, vim, or a command such as 'code --goto {file}:{line}' "
        "(default $RCV_EDITOR, $VISUAL, $EDITOR, or the first that is found)",
        "WORDS",
    )
