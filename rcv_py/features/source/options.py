"""The options of `rcv source`."""

from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared


class SourceOptions(
    shared.OfAllWaves, shared.RowOptions, example="rcv source FOLDER kernel.py:62 --context 5"
):
    """Show what source files, lines and their instructions cost."""

    agents = opt.AgentTool("Use it when source lines matter; place is FILE:LINE.", left_out=("editor",))
    needs = (
        opt.Need("context", opt.has("place"), "FILE or FILE:LINE", "Name a source file, or leave it out."),
        opt.Need(
            "sort", lambda options: options.place is None, "the ranking of files", "Leave FILE out, or this."
        ),
        opt.Need("edit", opt.has("place"), "FILE or FILE:LINE", "Name a source file, or leave it out."),
        opt.Need("editor", opt.has("edit"), "--edit"),
    )

    place: str | None = opt.positional(
        "FILE[:LINE]",
        "a source file by the end of its path, or one of its lines (default: rank the files)",
        None,
        "?",
    )
    top: int = shared.top(20, shown="20 files, 10 lines, 20 instructions")
    sort: str | None = shared.sort("cost")
    context: int | None = opt.number("lines above and below (default 3)")
    inlined: bool = opt.flag("also charge callers for code inlined into them")
    no_causes: bool = opt.flag("do not read the waves, which the top cause needs")
    edit: bool = shared.form("print nothing: open the place in an editor")
    editor: str | None = opt.text(
        "editor to use: code, clion, vim, or a command such as 'code --goto {file}:{line}' "
        "(default $RCV_EDITOR, $VISUAL, $EDITOR, or the first that is found)",
        "WORDS",
    )
