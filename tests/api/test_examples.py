"""The examples of docs/api.md run as they stand and print what the page says."""

import contextlib
import io
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import MagicMock

import pytest

ROOT = Path(__file__).resolve().parents[2]
OPTIONAL = ("pandas", "matplotlib", "matplotlib.pyplot")
MISSING = [name for name in OPTIONAL if find_spec(name.partition(".")[0]) is None]


def blocks(page: str) -> list[tuple[int, str, str]]:
    """Line, code, and the output that follows it, "" if the page shows none."""
    text = (ROOT / page).read_text()
    found = re.finditer(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", text, re.DOTALL)
    return [(text[: one.start()].count("\n") + 2, one[1], one[2] or "") for one in found]


@contextlib.contextmanager
def stand_ins(code: str) -> Iterator[None]:
    """Packages that are not installed take everything; the example's own code runs all the same."""
    with pytest.MonkeyPatch.context() as patch:
        for name in MISSING:
            if name.partition(".")[0] in code:
                patch.setitem(sys.modules, name, MagicMock())
        yield


@pytest.mark.parametrize("page", ["docs/api.md", "README.md"])
def test_the_examples_run_and_print_what_is_shown(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found = blocks(page)
    assert found
    names: dict[str, object] = {}
    for line, code, shown in found:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), stand_ins(code):
            exec(compile("\n" * line + code, page, "exec"), names)
        assert not shown or out.getvalue() == shown, f"{page}:{line}"
        assert out.getvalue() or "print(" not in code
