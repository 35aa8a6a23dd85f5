"""`rcv isa-docs`: stores descriptions from AMD's machine-readable ISA files, for the help of instructions."""

from collections.abc import Iterable
from pathlib import Path

from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message, plural
from rcv_py.cli.answer import CommandAnswer, Part, TextTable
from rcv_py.features.isa.help_result import DOCS, DOCS_SCHEMA
from rcv_py.features.isa.options import IsaDocsOptions
from rcv_py.formats.isa.described import add_docs, cached_docs, remove_docs
from rcv_py.results.table import ResultTable

_NEEDS = {"add": "the file", "remove": "the family"}  # of an action
_NONE = (
    "No ISA file is kept. AMD publishes them at gpuopen.com/machine-readable-isa; `rcv isa-docs add FILE`"
    " keeps one."
)


def run(options: IsaDocsOptions) -> CommandAnswer:
    """List the stored files, or change them and report the change."""
    action, what = options.action or "list", options.what
    if (what is None) != (action == "list"):
        needs = Message("{0} needs {1}.", action.capitalize(), _NEEDS.get(action, ""))
        raise UsageError(
            needs if what is None else "List takes no argument.", hint="`rcv help isa-docs` shows how."
        )
    said = ""
    if what is None:
        found = cached_docs()
    elif action == "add":
        found = (add_docs(Path(what)),)
        kept = "Kept: `rcv isa --help-of` and Instruction in the window show it of {0}."
        said = Message(kept, found[0].family)
    else:
        remove_docs(what)
        found, said = (), Message("Removed what was kept of {0}.", what)
    about = ((one, one.description) for one in found)
    rows = [(one.family, it.architecture, len(it.instructions), one.file) for one, it in about]
    docs = ResultTable.of_rows(DOCS, rows)

    def text() -> Iterable[Part]:
        if action == "add":
            one = found[0].description
            yield Message("{0}: {1}.", one.architecture, plural(len(one.instructions), "instruction"))
        elif len(docs):
            yield TextTable(docs)
        yield said or ("" if len(docs) else _NONE)

    return CommandAnswer.of_table(DOCS_SCHEMA, docs, text)
