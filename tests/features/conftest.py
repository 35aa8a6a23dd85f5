"""The fixtures of windows, for panels."""

from tests.support.window_fixtures import *  # noqa: F403 - fixtures are known by their names
