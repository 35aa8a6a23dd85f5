"""Work over captures: the same answers here, in processes and on a Dask cluster, whatever dies meanwhile.

What Dask is made of is imported by the tests that want it: each process of a run imports all files.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from queue import Queue
from threading import Event, Thread
from typing import Any

import pytest

from rcv_py.cli.main import main
from rcv_py.cli.mcp.tools import tools
from rcv_py.work import captures
from rcv_py.work.captures import InProcessExecutor, Processes, captures_done, captures_mapped, executor_for
from rcv_py.work.pool import CaptureLost, WorkerStopped
from tests.support import folders
from tests.support.capture_calls import deadly, held, lost, mistaken, name_of, waiting
from tests.support.command_runs import refused
from tests.support.limits import HANG_S
from tests.support.paths import ROOT
from tests.support.processes import wait_until
from tests.support.programs import finished
from tests.support.samples import write_sample

WORKERS = 2
NOBODY = "tcp://127.0.0.1:9"  # the port that discards what it is sent


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The scheduler of a cluster of two workers, which gives up all calls of one that ends."""
    import dask
    from distributed import LocalCluster

    fast = {"distributed.scheduler.allowed-failures": 0, "distributed.comm.timeouts.connect": "1s"}
    with (
        dask.config.set(fast),
        LocalCluster(
            processes=True, n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
    ):
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def _client(address: str) -> Iterator[Any]:
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        yield client


@pytest.fixture
def client(_client: Any) -> Any:
    """A way to change and to ask the workers, all of which are there: a test before may have ended some."""
    _client.wait_for_workers(WORKERS, timeout=HANG_S)
    return _client


@pytest.fixture(scope="module")
def pool() -> Iterator[Processes]:
    """Two processes for all tests in which none of them dies."""
    with Processes(2) as processes:
        yield processes


@pytest.fixture
def kept(pool: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever wants processes has these."""
    monkeypatch.setattr(captures, "Processes", lambda size: nullcontext(pool))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two captures that differ, and one that cannot be opened."""
    root = tmp_path_factory.mktemp("library")
    write_sample("matmul_small", root / "a")
    write_sample("placeholder", root / "b")
    folders.write(root / "broken", dict.fromkeys(folders.GOOD, b"{") | {"filenames.json": b"7"})
    return root


def three(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / name for name in ("one", "two", "three")]
    for path in paths:
        path.mkdir()
    return paths


@pytest.fixture(params=["here", "processes", "cluster"])
def where(request: pytest.FixtureRequest) -> dict[str, object]:
    """What chooses each of the executors."""
    if request.param == "cluster":
        return {"cluster": request.getfixturevalue("address")}
    return {"jobs": 0 if request.param == "here" else 2}


# -- results ---------------------------------------------------------------------------------------------


def test_results_have_the_order_of_the_captures(where: dict[str, object], tmp_path: Path, kept: None) -> None:
    paths = three(tmp_path)
    with executor_for(paths, **where) as executor:
        assert list(captures_mapped(name_of, paths, executor, lost)) == ["one", "two", "three"]
        assert sorted(captures_done(name_of, paths, executor, lost)) == [(0, "one"), (1, "two"), (2, "three")]


def test_here_a_capture_is_begun_when_the_one_before_was_taken(tmp_path: Path) -> None:
    begun: list[str] = []
    found = captures_mapped(lambda path: begun.append(path.name), three(tmp_path), InProcessExecutor(), lost)
    next(found)
    assert begun == ["one"]


def test_a_mistake_is_raised(where: dict[str, object], tmp_path: Path, kept: None) -> None:
    paths = three(tmp_path)
    with (
        executor_for(paths, **where) as executor,
        pytest.raises(ZeroDivisionError, match=r"one|two|three"),
    ):
        list(captures_mapped(mistaken, paths, executor, lost))


@pytest.mark.parametrize(
    "words",
    [
        "index {root} --findings",
        "triage {root}",
        "report {root} --out-dir {out}",
        "trend {root}",
        "compare {root}/a {root}/b {root}/broken {root}/a",
    ],
)
def test_answers_are_the_same(
    words: str, *, address: str, kept: None, library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = []
    for at, how in enumerate((("--jobs", "1"), ("--jobs", "2"), ("--cluster", address))):
        out = tmp_path / str(at)
        code = main([*words.format(root=library, out=out).split(), "--json", *how])
        document = json.loads(capsys.readouterr().out.replace(str(out), ""))
        pages = {path.name: path.read_bytes() for path in out.iterdir()} if out.exists() else {}
        del document["about"]["arguments"]
        answers.append((code, document, pages))
    assert answers[0] == answers[1]
    assert answers[0] == answers[2]
    assert "is not a decoded thread trace" in json.dumps(answers[0][1])


# -- what dies -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["processes", "cluster"], indirect=True)
def test_a_lost_worker_costs_no_answer(where: dict[str, object], tmp_path: Path) -> None:
    paths = three(tmp_path)
    with executor_for(paths, **where) as executor:
        found = list(captures_mapped(partial(deadly, times=1), paths, executor, lost))
    assert found == ["one", "two", "three"]
    assert len(list(paths[1].iterdir())) == 1


@pytest.mark.parametrize("where", ["processes", "cluster"], indirect=True)
def test_a_capture_that_ends_each_worker_costs_its_own_answer(
    where: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(captures, "MAX_TRIES", 2)  # each starts a process
    paths = three(tmp_path)
    with executor_for(paths, **where) as executor:
        found = list(captures_mapped(partial(deadly, times=99), paths, executor, lost))
    assert (found[0], found[2]) == ("one", "three")
    assert found[1].startswith("two: ")
    assert found[1].endswith("probably for lack of memory.")


@pytest.mark.parametrize("words", ["index", "triage", "report --out-dir {out}"])
def test_a_lost_capture_is_a_sentence_in_its_row(
    words: str,
    library: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Dying(InProcessExecutor):
        def submit(self, fn, /, *args, **kwargs):
            return super().submit(_stop if args[0].name == "b" else fn, *args, **kwargs)

    monkeypatch.setattr("rcv_py.work.captures.InProcessExecutor", Dying)
    command, *rest = words.format(out=tmp_path).split()
    main([command, str(library), *rest, "--json", "--jobs", "1"])
    document = json.loads(capsys.readouterr().out)
    rows = {Path(row["path"]).name: row for row in document.get("captures", document.get("reports"))}
    said = {name: row.get("error") or row.get("note") for name, row in rows.items()}
    assert "ended" in said["b"]
    assert not said["a"]


def _stop(path: Path) -> None:
    raise WorkerStopped("A process ended.")


class Together(Executor):
    """One worker that takes all calls that are there, and loses them if one is of the capture `two`.

    It works whenever whoever submits calls begins to wait for an answer.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[Future, Path]] = []
        self.batches: list[list[str]] = []

    def submit(self, fn, /, *args, **kwargs):
        future: Future = Future()
        self.asked.append((future, args[0]))
        return future

    def work(self) -> None:
        batch, self.asked = self.asked, []
        names = [path.name for _, path in batch]
        self.batches.append(names)
        for future, path in batch:
            if "two" in names:
                future.set_exception(WorkerStopped())
            else:
                future.set_result(path.name)


class Answers(Queue):
    """Has a worker go on when an answer is asked for that is not there."""

    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__()
        self._go_on = work

    def get(self) -> Any:
        if self.empty():
            self._go_on()
        return super().get(block=False)


def test_who_was_with_a_capture_that_ends_each_worker_is_not_tried_with_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = Together()
    monkeypatch.setattr(captures, "SimpleQueue", lambda: Answers(together.work))
    found = list(captures_mapped(name_of, three(tmp_path), together, lost))
    assert found[::2] == ["one", "three"]
    assert together.batches == [["one", "two", "three"], ["one"], ["two"], ["three"], ["two"]]


def test_ctrl_c_cancels_what_waits(address: str, client: Any, tmp_path: Path) -> None:
    paths = [tmp_path / str(number) for number in range(4 * WORKERS)]
    for path in paths:
        path.mkdir()
    with pytest.raises(KeyboardInterrupt), executor_for(paths, cluster=address) as executor:
        list(captures_mapped(partial(waiting, caller=os.getpid()), paths, executor, lost))
    (tmp_path / "released").touch()
    wait_until(lambda: not any(client.run(_busy).values()), "workers without a call")
    assert sum((path / "begun").exists() for path in paths) < len(paths)


def _busy(dask_worker: object) -> bool:
    return bool(dask_worker.state.executing_count)


CLUSTER = """
import sys
from distributed import LocalCluster
cluster = LocalCluster(
    processes=False, protocol="tcp", n_workers=1, threads_per_worker=3, dashboard_address=":0"
)
print(cluster.scheduler_address, flush=True)
sys.stdin.read()
"""


def test_a_scheduler_that_ends_is_a_sentence(tmp_path: Path) -> None:
    from rcv_py.work.cluster import ClusterError

    paths = three(tmp_path)
    words = [sys.executable, "-c", CLUSTER]
    pipe = subprocess.PIPE  # what it reads: it ends when this process does
    with subprocess.Popen(words, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as cluster:
        try:
            with (  # noqa: PT012
                pytest.raises(ClusterError, match="ended before all captures were done"),
                executor_for(paths, cluster=cluster.stdout.readline().strip()) as executor,
            ):
                found = captures_mapped(held, paths, executor, lost)
                assert next(found) == "one"
                cluster.kill()
                list(found)
        finally:
            cluster.kill()


# -- what a cluster must be ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    ["", "tcp://", "tcp://host", "http://host:80", "inproc://host/1/2", "tcp://me@host:1", "tcp://host:1/x"],
)
def test_only_addresses_of_schedulers_are_taken(address: str, library: Path) -> None:
    text = refused("index", library, f"--cluster={address}")
    assert "is not an address of a cluster" in text
    assert "tcp://HOST:PORT or tls://HOST:PORT" in text


def test_nobody_at_the_address(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rcv_py.work.cluster.CONNECT_S", 0.1)
    text = refused("index", library, "--cluster", NOBODY)
    assert text.startswith(f"rcv: No Dask scheduler answers at {NOBODY} within 0.1 seconds.\n     Start the")
    text = refused("index", library, "--cluster", NOBODY.replace("tcp", "tls"))
    assert "cannot be used: TLS expects" in text
    assert "distributed.comm.tls" in text


def test_somebody_else_at_the_address(library: Path) -> None:
    heard = Event()

    def answer(server: socket.socket) -> None:
        with server.accept()[0] as connection:
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n")
            heard.wait(HANG_S)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = Thread(target=answer, args=(server,))
        thread.start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        text = refused("index", library, "--cluster", address)
        heard.set()
        assert text.startswith(f"rcv: What answers at {address} is not a Dask scheduler, or one of another")
        thread.join()


def test_a_cluster_without_workers(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import Client, LocalCluster

    wait = Client.wait_for_workers  # it is not waited for as long as for the scheduler: none will come
    monkeypatch.setattr(Client, "wait_for_workers", lambda self, count, timeout: wait(self, count, 0.1))
    monkeypatch.setattr("rcv_py.work.cluster.CONNECT_S", HANG_S)
    with LocalCluster(n_workers=0, protocol="tcp", processes=False, dashboard_address=":0") as empty:
        text = refused("triage", library, "--cluster", empty.scheduler_address)
    assert "has no workers.\n     Start some: dask worker tcp://" in text


@pytest.mark.skipif(sys.platform != "linux", reason="a path that means something else to each process")
@pytest.mark.parametrize(("blind", "who"), [(2, "to the workers"), (1, "to 1 of 2 of the workers")])
def test_paths_that_workers_do_not_see(
    blind: int,
    who: str,
    *,
    address: str,
    client: Any,
    library: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(library)
    places = client.run(os.getcwd)
    seeing = list(places)[blind:]
    client.run(os.chdir, str(library), workers=seeing)
    try:
        text = refused("triage", "/proc/self/cwd", "--cluster", address)
    finally:
        for worker in seeing:
            client.run(os.chdir, places[worker], workers=[worker])
    assert text == (
        f"rcv: /proc/self/cwd/a is not visible {who} of {address}.\n"
        "     Share the folder under this path, or start the workers where it lies.\n"
    )


def test_a_capture_that_a_later_worker_does_not_see_has_no_answer(tmp_path: Path) -> None:
    from rcv_py.work.cluster import _seen

    with pytest.raises(CaptureLost, match="not visible to a worker"):
        _seen(name_of, tmp_path / "gone", True)
    assert _seen(name_of, tmp_path / "gone", False) == "gone"


@pytest.mark.parametrize(("version", "has"), [("0.0.1", "has rcv 0.0.1;"), (None, "has no rcv that can be")])
def test_another_version_on_a_worker(
    version: str | None,
    has: str,
    *,
    address: str,
    client: Any,
    library: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    worker = [next(iter(client.run(os.getpid)))]
    before = client.run(_set_version, version, workers=worker)[worker[0]]
    try:
        text = refused("index", library, "--cluster", address)
    finally:
        client.run(_set_version, before, workers=worker)
    assert f"The worker {worker[0]} of {address} {has}" in text
    assert "Install the same version" in text


def _set_version(version: str | None) -> str:
    import rcv_py

    before, rcv_py.__version__ = rcv_py.__version__, version
    return before


def test_without_distributed_a_sentence_says_what_to_install(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "rcv_py.work.cluster", raising=False)
    monkeypatch.setitem(sys.modules, "distributed", None)
    text = refused("report", library, "--cluster", NOBODY)
    assert text == (
        "rcv: --cluster needs the Python package distributed, which is not installed.\n"
        "     Install it with: pip install 'rcv-py[cluster]'\n"
    )


def test_it_is_imported_only_when_asked_for(library: Path) -> None:
    words = ["index", str(library), "--jobs", "1"]
    script = (
        f"import sys; from rcv_py.cli.main import main; main({words}); sys.exit('distributed' in sys.modules)"
    )
    finished([sys.executable, "-c", script], check=True)


def test_what_a_cluster_does_not_go_with_is_refused(library: Path) -> None:
    assert "--jobs" in refused("index", library, "--jobs", 2, "--cluster", NOBODY)
    for flag, value in (("--jobs", "2"), ("--cluster", NOBODY)):
        assert f"{flag} is about several captures." in refused("triage", library / "a", flag, value)


def test_agents_choose_no_cluster() -> None:
    """Whoever answers at the address may run code here."""
    assert not [name for name, tool in tools(can_write=True).items() if "cluster" in tool.actions]
