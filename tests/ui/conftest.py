"""The fixtures of windows."""

from tests.support.window_fixtures import *  # noqa: F403 - fixtures are known by their names
