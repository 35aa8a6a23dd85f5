"""After kill -9 of a process nothing that it started goes on."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.support.busy_forever import begun
from tests.support.busy_parents import KINDS
from tests.support.paths import ROOT
from tests.support.processes import gone, spent, wait_until


@pytest.mark.skipif(os.name == "nt", reason="Windows has no kill -9; a thread watches the parent there")
@pytest.mark.parametrize("kind", KINDS)
def test_children_that_compute_end_with_their_parent(kind: str, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tests.support.busy_parents", kind, str(tmp_path)]
    with subprocess.Popen(words, cwd=ROOT) as parent:
        try:
            wait_until(lambda: len(begun(tmp_path)) == 2, "two that compute")
            before = {one: spent(one) for one in map(psutil.Process, begun(tmp_path))}
            wait_until(lambda: all(spent(one) > before[one] for one in before), "time spent on that")
            children = psutil.Process(parent.pid).children(recursive=True)
            assert before.keys() <= {*children}
        finally:
            parent.kill()
    assert gone(children)
