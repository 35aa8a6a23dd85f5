"""What commands print on small samples stays what it is until someone records it again on purpose."""

import difflib
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.golden.record import CLI, NAMES, ROOT, Files, differing, expected, shortened, shortened_text
from tests.support.command_runs import GOLDEN_FORMS, ON_A_CAPTURE, in_forms, run_anew, words_of
from tests.support.samples import sample_path, write_sample


def hold_recorded(files: Files, recorder: str) -> None:
    """What is expected is what was recorded."""
    differences = []
    for path, text in differing(files):
        recorded = path.read_text(encoding="utf-8") if path.exists() else ""
        lines = difflib.unified_diff(recorded.splitlines(), text.splitlines(), "recorded", "now", n=0)
        differences.append(f"{path.relative_to(ROOT)}\n" + "\n".join(list(lines)[:12]))
    assert not differences, f"run {recorder} and read the difference:\n" + "\n".join(differences)


def hold_complete(cli: Path, names: Sequence[str], size: int) -> None:
    """Each command was recorded of each capture and nothing else, in so many bytes at most."""
    files = [path for path in cli.rglob("*") if path.is_file()]
    there = {(path.parent.name, path.stem) for path in files}
    assert there == {(name, command) for name in names for command in ON_A_CAPTURE}
    assert sum(path.stat().st_size for path in files) < size
    home = str(Path.home())
    assert not [path for path in files if home in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("name", NAMES)
def test_output_is_what_was_recorded(name: str) -> None:
    folder = sample_path(name)
    hold_recorded(expected(folder, CLI / name, folder.parent), "tests/golden/record.py")


def test_a_form_alone_is_what_it_is_beside_the_others(tmp_path: Path) -> None:
    """Tests print an answer in all forms; whoever asks for one gets the same."""
    folder = tmp_path / "c"
    write_sample("gfx12", folder)
    _, *others = forms = (*GOLDEN_FORMS, ("--csv",))
    for command, variants in ON_A_CAPTURE.items():
        for more in variants:
            words = (command, str(folder), *words_of(folder, more))
            _, *told = in_forms(command, folder, more, forms)
            assert told == [run_anew(*words, *form) for form in others], (command, more)


def test_no_record_is_left_behind_and_none_names_a_machine() -> None:
    hold_complete(CLI, NAMES, 500_000)


def test_what_is_cut_still_counts() -> None:
    rows = list(range(100))
    assert shortened(rows)[:3] == [0, 1, 2]
    assert len(shortened(rows)) == 4
    assert shortened(rows) != shortened([*rows[:-1], -1])
    text = "\n".join(map(str, rows))
    assert shortened_text(text) != shortened_text(text.replace("99", "98"))
    assert shortened_text("short\n") == "short\n"
