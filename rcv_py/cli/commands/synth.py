"""`rcv synth`: writes synthetic captures, made by a simulator, whose truth is known."""

from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message, plural, translated
from rcv_py.base.whole_files import check_new, whole_folder
from rcv_py.cli.answer import CommandAnswer, TextTable
from rcv_py.cli.options.program import SynthOptions
from rcv_py.results import written
from rcv_py.results.table import ResultTable
from rcv_py.synth.samples import SAMPLES


def run(options: SynthOptions) -> CommandAnswer:
    """List the samples, or write the named ones, each into a folder of its name."""
    names = tuple(SAMPLES if options.all else options.names)
    rows: list[tuple[str, str, str | None, int | None]] = []
    unknown = [name for name in names if name not in SAMPLES]
    if unknown:
        hint = Message("There are {0}.", ", ".join(SAMPLES))
        raise UsageError(Message("There is no sample called {0}.", unknown[0]), hint=hint)
    for sample in map(SAMPLES.__getitem__, names):
        folder = options.out / sample.name
        check_new(folder, "Remove it, or choose another --out.")
        with whole_folder(folder) as part:
            sample.write(part, options.seed)
            size = sum(1 for _ in part.iterdir())
        rows.append((sample.name, sample.text, str(folder), size))
        if not (options.json or options.csv):
            print(f"{folder}: {translated(plural(size, 'file'))}")
    if not names:
        rows = [(sample.name, sample.text, None, None) for sample in SAMPLES.values()]
    table = ResultTable.of_rows(written.SAMPLES, rows)
    text = [] if names else [TextTable(table)]
    return CommandAnswer.of_table(
        written.SAMPLES_SCHEMA, table, lambda: text, rows="samples", is_written=True
    )
