import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.work import load
from rcv_py.work.load import FILE_BYTES, WaveQueue, plan, process_count
from tests.support.wave_folder import index

SIZES = st.lists(st.integers(0, 5 << 20), max_size=40)


@given(SIZES, st.integers(1 << 16, 1 << 23))
def test_every_wave_is_in_one_job_and_jobs_are_about_as_large_as_asked(sizes, job_bytes):
    waves = index([f"{i}.json" for i in range(len(sizes))], sizes)
    jobs = plan(waves, job_bytes=job_bytes)
    assert [row for job in jobs for row in job] == list(range(len(sizes)))
    assert all(jobs)
    for job in jobs:
        cost = sum(sizes[row] + FILE_BYTES for row in job)
        largest = max(sizes[row] + FILE_BYTES for row in job)
        assert len(job) == 1 or cost <= job_bytes + (largest + 1) // 2


@given(st.lists(st.integers(0, 30)), st.lists(st.integers(0, 30), unique=True))
def test_wanted_waves_come_first_and_none_is_lost(wanted, rows):
    queue = WaveQueue([rows[i : i + 4] for i in range(0, len(rows), 4)])
    queue.prioritize(wanted)
    taken = []
    while (job := queue.take()) is not None:
        assert job
        taken += job
    front = [row for row in dict.fromkeys(wanted) if row in rows]
    assert taken[: len(front)] == front
    assert sorted(taken) == sorted(rows)


@pytest.mark.parametrize(
    ("cores", "free_gb", "megabytes", "expected"),
    [(1, 8, 500, 1), (2, 8, 30, 2), (8, 8, 30, 2), (8, 8, 100, 5), (16, 8, 500, 16), (16, 1, 500, 5),
     (16, 0, 500, 1), (64, None, 10_000, 64)],
)  # fmt: skip
def test_processes_follow_cores_memory_and_work(
    monkeypatch: pytest.MonkeyPatch, cores: int, free_gb: int | None, megabytes: int, expected: int
) -> None:
    monkeypatch.setattr(load, "cores", lambda: cores)
    monkeypatch.setattr(load, "memory", lambda: None if free_gb is None else free_gb << 30)
    waves = index(["0.json"], [megabytes << 20])
    assert process_count(waves, [0], None) == expected
    assert [process_count(waves, [0], workers) for workers in (0, 1, 3)] == [0, 1, 3], "as it was asked for"


def test_waves_of_one_file_cost_opening_it_once():
    one, many = (index([name.format(i) for i in range(64)], [1000] * 64) for name in ("a.att", "{}.json"))
    assert len(plan(one, job_bytes=64_000)) < len(plan(many, job_bytes=64_000))
    assert load.costs(one).sum() == 64 * 1000 + FILE_BYTES


def test_a_queue_can_be_emptied():
    queue = WaveQueue([[1, 2], [3]])
    assert queue.clear() == [1, 2, 3]
    assert queue.take() is None
