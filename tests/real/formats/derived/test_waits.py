"""The rule by which wait lists are made is the rule of real captures."""

import pytest

from rcv_py.formats.derived.waits import replay
from tests.formats.derived.test_waits import test_replay_gives_the_lists_of_waves  # noqa: F401
from tests.real import captures
from tests.synth.folder import Folder


@pytest.fixture(params=[name for name in captures.THREAD_TRACES if name != "moe_reduce"])
def folder(request: pytest.FixtureRequest) -> Folder:
    """A real capture."""
    return Folder(captures.trace_path(request.param))


@pytest.mark.parametrize("case", range(3))
def test_replay_gives_the_expected_sets(case: int) -> None:
    vector = captures.golden("waitcnt_vectors.json")["cases"][case]
    program = vector["program"] * vector["loops"]
    found: dict[str, set[int]] = {}
    for wait, items in replay([text for _, text in program], int(vector["arch"].removeprefix("gfx"))):
        found.setdefault(str(program[wait][0]), set()).update(program[item][0] for item in items)
    assert found == {line: set(lines) for line, lines in vector["expected"].items()}
