"""The fixtures of windows, for panels."""

from tests.support.window_fixtures import (  # noqa: F401 - fixtures are known by their names
    empty_app,
    found_once,
    is_painted,
    open_in,
    open_settled,
    read_once,
    released_keys,
    reused,
    sample_app,
    settled,
    ui,
    whole_turns,
)
