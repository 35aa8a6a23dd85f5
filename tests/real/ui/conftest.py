"""A user interface as in tests/ui, for real captures."""

from tests.support.window_fixtures import *  # noqa: F403 - fixtures are known by their names
