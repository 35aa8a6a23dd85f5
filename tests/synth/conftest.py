from __future__ import annotations

from collections.abc import Callable

import pytest

from rcv_py.synth.capture import Truth
from tests.support.samples import write_sample
from tests.synth.folder import Folder

Written = Callable[[str], tuple[Folder, Truth]]


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Writes a sample once a run; gives the folder and the truth."""
    done: dict[str, tuple[Folder, Truth]] = {}

    def write(name: str) -> tuple[Folder, Truth]:
        if name not in done:
            path = tmp_path_factory.mktemp(name)
            done[name] = (Folder(path), write_sample(name, path))
        return done[name]

    return write
