"""The page about findings holds the tables of the program."""

from pathlib import Path

from rcv_py.analysis.findings.bound_class import CLASSES, NEAR
from rcv_py.analysis.findings.finding import SMALL
from rcv_py.analysis.findings.remedies import Remedy, remedies
from rcv_py.analysis.findings.situation import PRECONDITIONS
from rcv_py.analysis.program.code_match import MAX_MISMATCHES, MIN_MISMATCHES
from rcv_py.model.architecture import DEVICES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "findings.md").read_text()


def table(head: str) -> list[list[str]]:
    """The rows of the table below a heading line."""
    lines = PAGE.split(f"\n{head}\n", 1)[1].splitlines()[1:]
    found = []
    for line in lines:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def remedy_rows() -> list[tuple[str, str, str, str]]:
    """The table of the docs: finding, remedy, preconditions, effort."""

    def needs(remedy: Remedy) -> str:
        return "; ".join(PRECONDITIONS[need].text for need in remedy.needs) or "always"

    every = ((name, remedy) for name, found in remedies().items() for remedy in found)
    return [(name, remedy.id, needs(remedy), remedy.effort) for name, remedy in every]


def test_remedies_and_preconditions() -> None:
    assert table("| finding | remedy | only if | effort |") == [list(row) for row in remedy_rows()]


def test_classes() -> None:
    assert table("| class | when |") == [[rule.name, rule.when] for rule in CLASSES]


def test_numbers() -> None:
    text = " ".join(PAGE.split())
    assert f"more than {100 * MAX_MISMATCHES:.1f} % of them, and at least {MIN_MISMATCHES}" in text
    assert f"less than {100 * SMALL:.0f} % to gain" in text
    assert f"From {100 * NEAR:.0f} % of a ceiling on" in text
    for one in DEVICES:
        assert f"{one.name} {one.bandwidth / one.cus / one.clock:.1f} B" in text
