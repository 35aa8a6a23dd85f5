"""A question costs one folder: what its manifest declares is found by the program without another entry."""

import sys
from pathlib import Path

import pytest

from rcv_py.base.manifest import features, report_sections, schema_modules
from tests.house import ROOT
from tests.support.programs import finished
from tests.support.samples import sample_path

FILES = {
    "__init__.py": "",
    "feature.py": """
from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelEntry
FEATURE = Feature(
    commands=(CommandEntry("planted", Group.DIG, 500, former={"old-planted": ()}),),
    sections={"planted": 500},
    panels=(
        PanelEntry(
            id="planted", title="Planted", tip="Mnemonics.", area="bottom", order=500,
            keys=("Ctrl+Alt+Shift+F8",),
        ),
    ),
)
""",
    "options.py": """
from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared
class PlantedOptions(shared.RowOptions, example="rcv planted FOLDER"):
    '''Count mnemonics.'''
    agents = opt.AgentTool("Use it to count.")
""",
    "result.py": """
from collections import Counter
from rcv_py.results import common, kinds
from rcv_py.results.table import Schema
from rcv_py.results.table import ResultTable, Spec
ROWS = Spec(
    "planted", "One row per mnemonic.", "mnemonic",
    kinds.TEXT("mnemonic", "First word"), kinds.COUNT("instructions", "Instructions of it"),
)
SCHEMA = Schema("planted", "Mnemonics.", (common.CAPTURE, ROWS.field()), version=1)
def table(trace):
    return ResultTable.of_rows(ROWS, Counter(text.split(" ")[0] for text in trace.code.text).most_common())
""",
    "command.py": """
from rcv_py.cli.answer import listing
from rcv_py.features.planted.result import SCHEMA, table
from rcv_py.work.opening import open_trace
def run(options):
    trace = open_trace(options.folder, cache=options.cache)
    return listing(options, trace, table(trace), SCHEMA, footer=lambda shown: f"{len(shown)} rows")
""",
    "report.py": """
from rcv_py.export.report import cells
from rcv_py.export.report.model import ReportSection
from rcv_py.features.planted.result import table
def planted(inputs):
    return ReportSection("planted", "Mnemonics", (cells.report_table(table(inputs.trace), inputs.trace),))
""",
    "panel.py": """
from rcv_py.ui.core.panel import Panel
class PlantedPanel(Panel):
    pass
""",
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a feature, beside the ones of the program."""
    folder = tmp_path / "features" / "planted"
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder.parent


def with_planted(place: Path, code: str) -> str:
    """What a program prints that also finds the features of a folder."""
    head = f"import rcv_py.features\nrcv_py.features.__path__.append({str(place)!r})\n"
    done = finished([sys.executable, "-c", head + code])
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_folder_gives_command_schema_tool_and_section(place: Path, tmp_path: Path) -> None:
    folder, page = str(sample_path("straggler")), tmp_path / "page.md"
    printed = with_planted(
        place,
        "import json\n"
        "from rcv_py.cli.main import main\n"
        "from rcv_py.cli.mcp.handler import CommandRunner\n"
        "from rcv_py.cli.mcp.tools import tools\n"
        "from rcv_py.cli.schemas import BY_ID\n"
        "from jsonschema_rs import Draft202012Validator\n"
        f"assert main(['old-planted', {folder!r}, '--top', '1']) == 0\n"
        "assert main(['help']) == 0\n"
        "assert main(['completion', 'bash']) == 0\n"
        f"answer = CommandRunner()(['planted', {folder!r}, '--json'], 0).document\n"
        "Draft202012Validator(BY_ID['rcv.planted/1'].as_json()).validate(answer)\n"
        "assert tools()['planted'].description == 'Count mnemonics. Use it to count.'\n"
        f"assert main(['report', {folder!r}, '--out', {str(page)!r}]) == 0\n",
    )
    assert printed.startswith("mnemonic   instructions\ns_waitcnt ")
    assert "  planted     Count mnemonics\n" in printed
    assert "## Mnemonics" in page.read_text()


def test_a_folder_gives_a_panel_and_its_keys(place: Path) -> None:
    printed = with_planted(
        place,
        "from rcv_py.ui.app import start\n"
        "app = start(None)\n"
        "app.window.workspace.show_panel('planted')\n"
        "print(type(app.window.workspace.panel('planted')).__name__)\n"
        "print([one.shortcuts for one in app.ui.commands if 'planted' in one.id])\n"
        "app.close()\n",
    )
    assert printed.splitlines() == ["PlantedPanel", "[('Ctrl+Alt+Shift+F8',)]"]


def test_what_manifests_name_is_there() -> None:
    """Names that are read only when a command runs or a report is written."""
    found = {f"{feature.module(entry.module)}:run" for feature in features() for entry in feature.commands}
    found |= {entry.target for feature in features() for entry in feature.panels}
    found |= set(report_sections()) | {f"{module}:" for module in schema_modules()}
    for name in sorted(found):
        module, _, inside = name.partition(":")
        text = (ROOT / f"{module.replace('.', '/')}.py").read_text()
        assert f"\ndef {inside}(" in text or f"\nclass {inside}(" in text or not inside, name
        assert inside or "SCHEMA = Schema(" in text, name
