"""The rule by which wait lists are made is the rule of real captures."""

import pytest

from rcv_py.formats.derived.waits import replay
from tests.formats.derived.test_waits import test_replay_gives_the_lists_of_waves  # noqa: F401
from tests.real import captures
from tests.support.fixtures import fixture_of_each
from tests.synth.folder import Folder

# A real capture
folder = fixture_of_each(
    lambda name: Folder(captures.trace_path(name)),
    [name for name in captures.THREAD_TRACES if name != "moe_reduce"],
)


@pytest.mark.parametrize("case", range(3))
def test_replay_gives_the_expected_sets(case: int) -> None:
    vector = captures.golden("waitcnt_vectors.json")["cases"][case]
    program = vector["program"] * vector["loops"]
    found: dict[str, set[int]] = {}
    for wait, items in replay([text for _, text in program], int(vector["arch"].removeprefix("gfx"))):
        found.setdefault(str(program[wait][0]), set()).update(program[item][0] for item in items)
    assert found == {line: set(lines) for line, lines in vector["expected"].items()}
