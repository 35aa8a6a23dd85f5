"""Facts of waves by name, and tables of them that other versions stored."""

import numpy as np

from rcv_py.model.waves import FACTS, WaveFacts, facts_of, restored_facts, stored_facts

FIRST = (  # the order in the files of the first release
    "row se simd slot wid cu begin end workgroup cluster me pipe base state_base length waits"
)


def test_the_order_of_stored_facts_stays() -> None:
    assert WaveFacts._fields[:16] == tuple(FIRST.split())


def test_facts_come_back() -> None:
    facts = facts_of(3, row=np.arange(3), se=2, begin=np.array([7, 8, 9]))
    again = restored_facts(stored_facts(facts))
    assert again.dtype == FACTS
    assert np.array_equal(again, facts)
    assert again["pipe"].tolist() == [-1] * 3, "what is not given is not known"


def test_facts_that_an_older_version_did_not_store_are_not_known() -> None:
    found = restored_facts(np.zeros((2, 12), dtype=np.int64))
    assert found["pipe"].tolist() == [0, 0]
    assert found["base"].tolist() == found["waits"].tolist() == [-1, -1]


def test_facts_that_only_a_newer_version_knows_are_left_out() -> None:
    table = np.arange(40, dtype=np.int64).reshape(2, 20)
    assert restored_facts(table)["waits"].tolist() == [15, 35]
