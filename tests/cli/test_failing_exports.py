"""Writing that fails: a full disk, no rights, a capture that vanishes, a process that is ended.

Afterwards the old file is what it was, no part of a new one is left, no process and no shared memory lives
on, and one sentence says what happened.
"""

import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from rcv_py.base.errors import ExportError
from rcv_py.base.whole_files import whole_file, whole_folder
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.main import main
from tests.support.command_runs import CACHE
from tests.support.limits import HANG_S
from tests.support.processes import gone, wait_until
from tests.support.programs import finished, start
from tests.support.samples import write_sample

ROOT = Path(__file__).resolve().parents[2]
OLD = b"the old file"
ENDED = "rcv: Ended from outside; no half-written file is left.\n"
WRITERS = {  # the words, and the files that they write
    "report html": ("report {folder} --out {out}/x.html", "x.html"),
    "report md": ("report {folder} --out {out}/x.md", "x.md"),
    "report dir": ("report {folder} --out-dir {out} --format html", "capture.html"),
    "index html": ("index {folder} --html --out {out}/x.html", "x.html"),
    "index json": ("index {folder} --json --out {out}/x.json", "x.json"),
    "perfetto": ("export {folder} --to perfetto --out {out}/x.pftrace", "x.pftrace"),
    "perfetto gz": ("export {folder} --to perfetto --out {out}/x.pftrace.gz", "x.pftrace.gz"),
    "speedscope": ("export {folder} --to speedscope --out {out}/x.json", "x.json"),
    "csv": ("export {folder} --to csv --out {out}", "waves.csv"),
    "one csv": ("export {folder} --to csv --table tokens --out {out}/x.csv", "x.csv"),
    "parquet": ("export {folder} --to parquet --out {out}", "waves.parquet"),
    "shot png": ("shot {folder} --panel isa --out {out}/x.png", "x.png"),
    "shot svg": ("shot {folder} --panel isa --out {out}/x.svg", "x.svg"),
    "shot csv": ("shot {folder} --panel isa --out {out}/x.csv", "x.csv"),
}
SHOT_WITHOUT_ROOM = (
    "shot csv"  # a window each, so that the three kinds of pictures share the two ways to fail
)


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("captures") / "capture"
    write_sample("matmul_small", folder)
    return folder


@pytest.fixture(autouse=True)
def nothing_lives_on() -> Iterator[None]:
    """No process of ours and no shared memory is left by any test."""
    memory = Path("/dev/shm")
    before = set(memory.iterdir()) if memory.is_dir() else set()
    children = {one.pid for one in psutil.Process().children(recursive=True)}
    yield
    left = [one for one in psutil.Process().children(recursive=True) if one.pid not in children]
    ours = [one for one in left if "resource_tracker" not in " ".join(_line(one))]
    lines = [_line(one) for one in ours]
    assert gone(ours), lines
    after = set(memory.iterdir()) if memory.is_dir() else set()
    assert not [one for one in after - before if one.name.startswith(("psm_", "rcv"))]


def _line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def words_of(name: str, capture: Path, out: Path) -> list[str]:
    """The words of a writer; the old file is there."""
    words, file = WRITERS[name]
    out.mkdir(exist_ok=True)
    (out / file).write_bytes(OLD)
    return words.format(folder=capture, out=out).split()


def check_old(name: str, out: Path, err: str) -> None:
    """The old file alone is there, and the sentence."""
    file = WRITERS[name][1]
    assert {path.relative_to(out).as_posix() for path in out.rglob("*")} == {file}
    assert (out / file).read_bytes() == OLD
    lines = [line for line in err.splitlines() if line.startswith("rcv: ")]
    assert len(lines) == 1, err
    assert "cannot be written" in lines[0], err
    assert "Traceback" not in err
    assert "bug" not in err


@contextmanager
def full_disk(size: int = 600) -> Iterator[None]:
    """The system refuses to write more than `size` bytes into any file, as a full disk does."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    writes_no_bytecode, sys.dont_write_bytecode = (
        sys.dont_write_bytecode,
        True,
    )  # half of it would be found later
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, ignored)
        sys.dont_write_bytecode = writes_no_bytecode


@pytest.mark.parametrize("name", [name for name in WRITERS if name != SHOT_WITHOUT_ROOM])
def test_a_full_disk(name: str, capture: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    words = words_of(name, capture, out)
    with full_disk():
        assert main(words, CACHE) == ExitCode.USAGE
    check_old(name, out, capsys.readouterr().err)


@pytest.mark.parametrize(
    "name", ["report html", "perfetto", "csv", "parquet", SHOT_WITHOUT_ROOM, "index html"]
)
def test_no_room_is_named(
    name: str,
    capture: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The moment of the rename fails as on a full disk: the old file is there to the end."""
    words = words_of(name, capture, tmp_path / "out")

    def refuse(self: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", refuse)
    assert main(words, CACHE) == ExitCode.USAGE
    err = capsys.readouterr().err
    assert "no space left on device" in err.lower()
    check_old(name, tmp_path / "out", err)


@pytest.mark.parametrize("name", [name for name in WRITERS if name not in ("shot svg", "shot csv")])
def test_a_place_that_nobody_can_write(
    name: str, capture: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Below a file, and in a folder of the system that takes none, root too can write nothing."""
    words = WRITERS[name][0]
    (tmp_path / "file").write_bytes(OLD)
    for out in (tmp_path / "file", *([Path("/proc/rcv")] if Path("/proc/self").exists() else [])):
        assert main(words.format(folder=capture, out=out).split(), CACHE) == ExitCode.USAGE
        err = capsys.readouterr().err
        assert err.count("rcv: ") == 1, err
        assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == OLD


def test_what_is_no_plain_file_is_written_and_stays(capture: Path, tmp_path: Path) -> None:
    """A pipe stays a pipe, a link a link, and the devices of everybody are not replaced by a file."""
    target, link = tmp_path / "target.html", tmp_path / "link.html"
    target.write_bytes(OLD)
    target.chmod(0o640)
    link.symlink_to(target)
    assert main(["report", str(capture), "--out", str(link)]) == 0
    assert link.is_symlink()
    assert b"</html>" in target.read_bytes()
    assert target.stat().st_mode & 0o777 == 0o640, "whoever could read it still can, and nobody else"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    with reader, whole_file(pipe) as stream:
        stream.write(b"through")
        stream.flush()
    assert pipe.is_fifo()
    if Path("/dev/full").exists():
        with pytest.raises(ExportError, match="no space left"), whole_file(Path("/dev/full")) as stream:
            stream.write(b"x")
        with whole_file(Path("/dev/null")) as stream:
            stream.write(b"x")
        assert Path("/dev/full").is_char_device()
        assert Path("/dev/null").is_char_device()
        assert not list(Path("/dev").glob(".rcv-*"))


def test_folders_made_for_nothing_are_removed(tmp_path: Path) -> None:
    with suppress(ZeroDivisionError), whole_file(tmp_path / "a" / "b" / "x") as stream:
        stream.write(b"x")
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())


def test_a_sample_is_whole_or_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written = 0
    real = Path.write_bytes

    def full(self: Path, data: bytes) -> int:
        nonlocal written
        written += 1
        if written > 5:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(self, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    assert main(["synth", "matmul_small", "--out", str(tmp_path / "x")]) == ExitCode.USAGE
    assert written > 5
    assert not list(tmp_path.iterdir())
    err = capsys.readouterr().err
    assert "cannot be written" in err
    monkeypatch.undo()
    (tmp_path / "x" / "matmul_small").mkdir(parents=True)
    assert main(["synth", "matmul_small", "--out", str(tmp_path / "x")]) == 0
    assert [one.name for one in (tmp_path / "x").iterdir()] == ["matmul_small"]
    with pytest.raises(ExportError), whole_folder(tmp_path / "x") as part:
        (part / "file").write_bytes(b"")
    assert [one.name for one in tmp_path.iterdir()] == ["x"], "a folder that holds something is not replaced"


# -- ended while it works ---------------------------------------------------------------------------

SLOW = """
import os, time
from contextlib import contextmanager
from rcv_py.base import whole_files
real = whole_files._beside
@contextmanager
def beside(target, makes_folders):
    with real(target, makes_folders) as part:
        part.write_bytes(b'half a file')
        os.write(1, b'ready\\n')  # in one piece, whoever else writes
        while True:
            time.sleep(0.01)
        yield part
whole_files._beside = beside
"""


@contextmanager
def started(words: list[str], said: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has half a file, and waits; what it says on stderr goes to a file."""
    ours, theirs = os.pipe()
    with said.open("wb") as stderr, open(ours) as out:  # noqa: PTH123 - a pipe
        process = start(words, before=SLOW, stdout=theirs, stderr=stderr)
        os.close(theirs)
        try:
            assert out.readline() == "ready\n"
            yield process
        finally:
            process.kill()
            process.wait(HANG_S)


@pytest.mark.parametrize(
    ("name", "number"),
    [
        *(
            (name, signal.SIGTERM)
            for name in ("report html", "perfetto", "speedscope", "one csv", "index html")
        ),
        ("perfetto", signal.SIGINT),  # which writer is at work, no signal asks
    ],
    ids=lambda part: part if isinstance(part, str) else part.name,
)
def test_signals_keep_the_old_file(name: str, number: signal.Signals, capture: Path, tmp_path: Path) -> None:
    code = ExitCode.ENDED if number == signal.SIGTERM else ExitCode.STOPPED
    out = tmp_path / "out"
    with started(words_of(name, capture, out), tmp_path / "said") as process:
        assert len(list(out.iterdir())) == 2, "the half file is beside the old one"
        os.kill(process.pid, number)
        assert process.wait(HANG_S) == code
    err = (tmp_path / "said").read_text()
    assert [path.name for path in out.iterdir()] == [WRITERS[name][1]]
    assert (out / WRITERS[name][1]).read_bytes() == OLD
    assert err == (
        "rcv: Ended from outside; no half-written file is left.\n" if code == ExitCode.ENDED else ""
    )


def test_reports_of_several_processes_that_are_ended(capture: Path, tmp_path: Path) -> None:
    """SIGTERM while the page of one is written: no part of a file is left, and no process."""
    for number in range(2):
        shutil.copytree(capture, tmp_path / "in" / f"capture{number}")
    out = tmp_path / "out"
    words = ["report", str(tmp_path / "in"), "--out-dir", str(out), "--jobs", "2"]
    with started(words, tmp_path / "said") as process:
        running = psutil.Process(process.pid)
        wait_until(lambda: len(running.children(recursive=True)) >= 2, "a process for each report")
        children = running.children(recursive=True)
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(HANG_S) == ExitCode.ENDED
    assert gone(children)
    assert (tmp_path / "said").read_text() == ENDED
    assert not out.exists() or not list(out.iterdir())


DEADLY = """
import os, signal, sys
first = None if "--multiprocessing-fork" in sys.argv else os.getpid()
def _hook(event, found):
    if event == "open" and os.getpid() != first and os.environ["DEADLY"] in str(found[0]):
        os.kill(os.getpid(), signal.SIGKILL)  # a child, which reads
sys.addaudithook(_hook)
"""


def test_a_capture_that_kills_its_process_costs_its_own_report(capture: Path, tmp_path: Path) -> None:
    """Others are made by new processes, and a sentence says what became of it."""
    for name in ("deadly", "one", "two"):
        shutil.copytree(capture, tmp_path / "in" / name)
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(DEADLY)
    out = tmp_path / "out"
    paths = os.pathsep.join((str(tmp_path / "hook"), str(ROOT)))
    words = ["report", str(tmp_path / "in"), "--out-dir", str(out), "--jobs", "2"]
    done = finished(
        [sys.executable, "-m", "rcv_py", *words],
        env={**os.environ, "PYTHONPATH": paths, "DEADLY": str(tmp_path / "in" / "deadly")},
    )
    assert done.returncode == ExitCode.USAGE
    first, second = done.stderr.splitlines()
    assert "deadly: The process that made its report ended, each time it was tried." in first
    assert "--jobs 1" in second
    assert sorted(path.name for path in out.iterdir()) == ["index.html", "one.html", "two.html"]


# -- a capture that goes away -----------------------------------------------------------------------


def test_a_capture_that_vanishes_while_it_is_read(
    capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its waves cannot be read: the file tells of it, or nothing is written, but never half a file."""
    from rcv_py.formats.uiout.waves import WaveFiles

    real: Callable[..., object] = WaveFiles.columns
    for name in ("report html", "perfetto", "one csv", "speedscope"):
        gone = tmp_path / "gone"
        shutil.copytree(capture, gone)

        def read(self: WaveFiles, rows: object, gone: Path = gone) -> object:
            shutil.rmtree(gone, ignore_errors=True)
            return real(self, rows)

        monkeypatch.setattr(WaveFiles, "columns", read)
        out = tmp_path / name.replace(" ", "_")
        code = main(words_of(name, gone, out))
        err = capsys.readouterr().err
        assert code in (ExitCode.DONE, ExitCode.USAGE), err
        assert "Traceback" not in err
        assert [path.name for path in out.iterdir()] == [WRITERS[name][1]]
        assert ((out / WRITERS[name][1]).read_bytes() == OLD) == (code != ExitCode.DONE)


def test_the_limit_of_this_process_is_as_it_was() -> None:
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
