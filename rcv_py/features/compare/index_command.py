"""`rcv index`: all captures below folders, ranked, in one table."""

from rcv_py.analysis.overview.library import ranked_rows, with_replicates
from rcv_py.base.markdown import md_text
from rcv_py.base.text import Message, count, plural
from rcv_py.cli.answer import CommandAnswer, TextTable
from rcv_py.cli.opening import below, captures_below
from rcv_py.cli.terminal import progress
from rcv_py.export.report.files import library_page
from rcv_py.features.compare.command import problems
from rcv_py.features.compare.library_result import SCHEMA, library_table
from rcv_py.features.compare.options import IndexOptions
from rcv_py.work.library import library_rows


def run(options: IndexOptions) -> CommandAnswer:
    """Rank the captures."""
    folders = [options.seen(folder) for folder in (options.folder, *options.more)]
    root, paths, closed = captures_below(folders, options.depth)
    chosen = paths[: options.limit or None]
    with progress() as report:
        found = library_rows(
            chosen,
            options.jobs,
            cluster=options.cluster,
            has_findings=options.findings,
            cache=options.cache,
            report=report,
        )
        rows = ranked_rows(with_replicates(list(found)), options.sort)
    table = library_table(rows, [below(root, row.path) for row in rows])
    left_out = len(paths) - len(chosen)
    errors = sum(bool(row.error) for row in rows)
    heading = Message("{0} below {1}", plural(len(rows), "capture"), root)
    heading += Message(", {0} of which cannot be opened", count(errors)) if errors else ""
    heading += Message("; {0} more were left out", count(left_out)) if left_out else ""
    return CommandAnswer.of_table(
        SCHEMA,
        table,
        lambda: [heading, TextTable(table)],
        lambda: {"folder": str(root), "left_out": left_out},
        rows="captures",
        forms={
            "markdown": lambda: f"# {md_text(heading)}\n\n{table.markdown()}",
            "html": lambda: library_page(heading, table),
        },
        about={"names": [row.name for row in rows], "problems": [*closed, *problems(rows)]},
    )
