"""`rcv isa-docs`: stores descriptions from AMD's machine-readable ISA files, for the help of instructions."""

from collections.abc import Iterable
from pathlib import Path

from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message, plural
from rcv_py.cli.answer import CommandAnswer, Part, TextTable
from rcv_py.features.isa.help_result import DOCS, DOCS_SCHEMA
from rcv_py.features.isa.options import IsaDocsOptions
from rcv_py.formats.isa.kept_docs import add_docs, cached_docs, remove_docs
from rcv_py.results.table import ResultTable

_NEEDS = {"add": "the file", "remove": "the family"}
_NONE = (
    "No ISA file is kept. AMD publishes them at gpuopen.com/machine-readable-isa; `rcv isa-docs add FILE`"
    " keeps one."
)


def run(options: IsaDocsOptions) -> CommandAnswer:
    """List the stored files, or change them and report the change."""
    action, what = options.action or "list", options.what
    if (what is None) != (action == "list"):
        wrong = (
            "list takes no argument" if action == "list" else Message("{0} needs {1}", action, _NEEDS[action])
        )
        raise UsageError(f"{wrong[0].upper()}{wrong[1:]}.", hint="`rcv help isa-docs` shows how.")
    said = ""
    if what is None:
        found = cached_docs()
    elif action == "add":
        found = (add_docs(Path(what)),)
        said = Message(
            "Kept: `rcv isa --help-of` and Instruction in the window show it of {0}.", found[0].family
        )
    else:
        remove_docs(what)
        found, said = (), Message("Removed what was kept of {0}.", what)
    table = ResultTable.of_rows(
        DOCS,
        [
            (one.family, one.description.architecture, len(one.description.instructions), one.file)
            for one in found
        ],
    )

    def text() -> Iterable[Part]:
        if action == "add":
            one = found[0].description
            yield Message("{0}: {1}.", one.architecture, plural(len(one.instructions), "instruction"))
        elif len(table):
            yield TextTable(table)
        yield said or ("" if len(table) else _NONE)

    return CommandAnswer(
        schema=DOCS_SCHEMA, document=lambda: {"rows": table.rows()}, csv=table.csv, text=text
    )
