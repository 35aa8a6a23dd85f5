"""Fixtures that are declared in a line: what a function makes of a name."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def fixture_of(make: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """A fixture: what a function makes of these arguments; `options` are pytest's, such as the scope."""

    @pytest.fixture(**options)
    def made() -> Any:
        return make(*arguments)

    return made


def fixture_of_each(make: Callable[[Any], Any], names: Iterable[Any], **options: Any) -> Any:
    """A fixture for which a test runs once with each name, and gets what a function makes of it."""

    @pytest.fixture(params=names, **options)
    def made(request: pytest.FixtureRequest) -> Any:
        return make(request.param)

    return made
