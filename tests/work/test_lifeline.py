"""After kill -9 of a process nothing that it started goes on."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.busy_forever import KINDS
from tests.support.captures import ROOT
from tests.support.processes import busy_children, gone


@pytest.mark.skipif(os.name == "nt", reason="Windows has no kill -9; a thread watches the parent there")
@pytest.mark.parametrize("kind", KINDS)
def test_children_that_compute_end_with_their_parent(kind: str) -> None:
    script = f"from tests.support.busy_forever import KINDS; KINDS[{kind!r}]()"
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT) as parent:
        try:
            children = busy_children(parent.pid, 2)
        finally:
            parent.kill()
    assert gone(children)
