from collections.abc import Callable
from functools import cache

import pytest

from rcv_py.synth.capture import Truth
from tests.support.samples import sample
from tests.synth.folder import Folder

Written = Callable[[str], tuple[Folder, Truth]]


@pytest.fixture(scope="session")
def written() -> Written:
    """Gives the folder of a sample, which nobody changes, and the truth."""

    @cache
    def found(name: str) -> tuple[Folder, Truth]:
        path, truth = sample(name)
        return Folder(path), truth

    return found
