"""`rcv waves` leaves out kernels by the names that it prints, and refuses a name that no kernel has."""

import json

import pytest

from tests.support.command_runs import run
from tests.support.samples import sample_path


def kernels(*words: str) -> dict[str, int]:
    """How many waves of each kernel are listed."""
    done = run("waves", str(sample_path("kernels")), *words, "--json", "--top", "0")
    assert done.code == 0, done.err
    listed = [row["kernel"] for row in json.loads(done.out)["rows"]]
    return {name: listed.count(name) for name in listed}


@pytest.mark.parametrize("form", [(), ("--resident",)])
def test_a_kernel_is_left_out_by_the_name_that_is_printed(form: tuple[str, ...]) -> None:
    every = kernels(*form)
    assert len(every) == 4
    for name in every:
        left = {other: waves for other, waves in every.items() if other != name}
        assert kernels(*form, "--without-kernel", name) == left


@pytest.mark.parametrize("form", [(), ("--resident",)])
def test_a_name_that_no_kernel_has_is_refused(form: tuple[str, ...]) -> None:
    done = run("waves", str(sample_path("kernels")), *form, "--without-kernel", "reduce_")
    assert done.code == 2
    assert "No kernel reduce_ ran here." in done.err
    assert "reduce" in done.err.partition("These ran: ")[2]
