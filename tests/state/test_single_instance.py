"""A second start of the program hands over to the first: by a socket that only its user can reach."""

import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rcv_py.cli.main import main
from rcv_py.state.single_instance import MAX_REQUEST, REFUSED, Listener, OpenRequest, address, hand_over

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no sockets of this kind here")
SAMPLE = Path(__file__).parents[2] / "sample_traces" / "matmul_tiled"
PLACE = "se0/simd0/slot0/wv0@7"
EVERYTHING = OpenRequest(path="/caps/a", baseline="/caps/b", panel="isa", place=PLACE, run_files=("/c.csv",))


class Door:
    """A listener that hears in a thread, as the event loop of a window does."""

    def __init__(self, place: Path) -> None:
        self.heard: list[OpenRequest] = []
        self.place = place
        self._listener = Listener(place, lambda request: request.panel != "nothing", self.heard.append)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._is_open = True
        self._thread.start()

    def _run(self) -> None:
        import select

        while self._is_open:
            if select.select([self._listener.fileno()], [], [], 0.05)[0]:
                self._listener.hear()

    def close(self) -> None:
        self._is_open = False
        self._thread.join()
        self._listener.close()

    def all_heard(self) -> list[OpenRequest]:
        """What came, once nothing more can: the sender has its answer before the request is taken."""
        self.close()
        return self.heard


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    made = Door(tmp_path / "s")
    yield made
    made.close()


def raw(place: Path, sent: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as near:
        near.settimeout(30)
        near.connect(str(place))
        try:
            near.sendall(sent)
            near.shutdown(socket.SHUT_WR)
            return near.recv(64)
        except ConnectionError:
            return REFUSED


def test_what_is_handed_over_arrives_whole(door: Door) -> None:
    assert hand_over(door.place, EVERYTHING)
    assert hand_over(door.place, OpenRequest())
    assert door.all_heard() == [EVERYTHING, OpenRequest()]


def test_a_path_may_be_any_bytes(door: Door) -> None:
    odd = OpenRequest(path=os.fsdecode(b"/caps/\xff"))
    assert hand_over(door.place, odd)
    assert door.all_heard() == [odd]


def test_what_is_not_accepted_is_refused(door: Door) -> None:
    assert not hand_over(door.place, OpenRequest(panel="nothing"))
    assert door.all_heard() == []


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"[]",
        b"nonsense",
        b"\xff\xfe",
        json.dumps({"path": "/a"}).encode(),
        json.dumps(OpenRequest()._asdict() | {"path": 3}).encode(),
        json.dumps(OpenRequest()._asdict() | {"path": "a\0b"}).encode(),
        json.dumps(OpenRequest()._asdict() | {"run_files": 3}).encode(),
        json.dumps(OpenRequest()._asdict() | {"run_files": [[]]}).encode(),
        json.dumps(OpenRequest()._asdict() | {"place": "everywhere"}).encode(),
        json.dumps(OpenRequest()._asdict() | {"path": "a" * MAX_REQUEST}).encode(),
        b"[" * 50_000,
    ],
)
def test_what_is_no_request_is_refused(door: Door, sent: bytes) -> None:
    assert raw(door.place, sent) == REFUSED
    assert door.all_heard() == []


def test_nobody_at_home(tmp_path: Path) -> None:
    assert not hand_over(None, OpenRequest())
    assert not hand_over(tmp_path / "s", OpenRequest())


def test_a_place_left_by_a_killed_program_is_used_again(tmp_path: Path) -> None:
    left = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    left.bind(str(tmp_path / "s"))
    left.close()
    assert not hand_over(tmp_path / "s", OpenRequest())
    door = Door(tmp_path / "s")
    assert hand_over(tmp_path / "s", OpenRequest())
    door.close()
    assert not (tmp_path / "s").exists()


def test_a_second_listener_leaves_the_first_alone(door: Door) -> None:
    with pytest.raises(OSError, match="in use"):
        Listener(door.place, lambda _: True, lambda _: None)
    assert hand_over(door.place, OpenRequest())


def test_the_place_is_of_one_user_screen_and_version(tmp_path: Path) -> None:
    around = {"XDG_RUNTIME_DIR": str(tmp_path), "DISPLAY": ":0"}
    place = address(around)
    assert place == address(dict(around))
    assert place.parent.stat().st_mode & 0o077 == 0
    assert place != address(around | {"DISPLAY": ":1"})
    assert address(around | {"QT_QPA_PLATFORM": "offscreen"}) is None
    place.parent.chmod(0o755)
    assert address(around) is None  # somebody else may have put something there


def test_a_second_command_opens_in_the_first_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("DISPLAY", ":77")
    place = address(os.environ)
    own: list[OpenRequest] = []
    monkeypatch.setattr("rcv_py.ui.app.run", lambda request, **_: own.append(request) or 0)
    door = Door(place)
    try:
        assert main([str(SAMPLE), "--panel", "loops", "--line", "3"]) == 0
        assert not own
        assert main([str(SAMPLE), "--new-process"]) == 0
        assert own == [OpenRequest(path=str(SAMPLE))]
    finally:
        door.close()
    assert door.all_heard() == [OpenRequest(path=str(SAMPLE), panel="loops", place=":instruction 3")]
    assert capsys.readouterr().out == "Opened in the window that runs already.\n"
