"""One program per user and screen: a second `rcv FOLDER` passes its request to the running program.

It listens on a local socket in a folder that only the user can enter; a request is one JSON object, its reply
a word.  Without such sockets (Windows) each command starts its own program.
"""

import json
import os
import socket
import stat
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from rcv_py import __version__
from rcv_py.state.selection import SelectedPlace

WAIT = 2.0  # seconds for the reply of a program that may be busy
REQUEST_WAIT = 1.0  # seconds for the rest of a request: the window is blocked meanwhile
MAX_REQUEST = 64 << 10  # bytes
TAKEN, REFUSED = b"taken", b"refused"
_INVISIBLE = ("offscreen", "minimal", "vnc")  # platforms of Qt without visible windows


class OpenRequest(NamedTuple):
    """A request to open in a window, with the arguments of the command; paths are absolute, None: nothing."""

    path: str | None = None
    baseline: str | None = None
    replicate: str | None = None
    panel: str | None = None
    place: str | None = None
    run_files: tuple[str, ...] = ()


def address(environment: Mapping[str, str]) -> Path | None:
    """The socket path of this user, screen and version; None if there is none."""
    is_seen = environment.get("QT_QPA_PLATFORM", "").split(":")[0] not in _INVISIBLE
    if not hasattr(socket, "AF_UNIX") or not is_seen:
        return None
    import hashlib  # noqa: PLC0415 - it loads OpenSSL

    runtime = environment.get("XDG_RUNTIME_DIR")
    folder = Path(runtime or tempfile.gettempdir()) / f"rcv-{os.getuid()}"
    with suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        facts = folder.lstat()
        if stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid() and not facts.st_mode & 0o077:
            names = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "XDG_CONFIG_HOME", "HOME")
            what = [__version__, *(environment.get(name, "") for name in names)]
            return folder / hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]
    return None


def hand_over(place: Path | None, request: OpenRequest) -> bool:
    """Send a request to the program that listens there; False if there is none, or it does not reply."""
    if place is None or not place.exists():
        return False
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as near:
        near.settimeout(WAIT)
        near.connect(str(place))
        near.sendall(json.dumps(request._asdict()).encode())
        near.shutdown(socket.SHUT_WR)
        return near.recv(len(REFUSED)) == TAKEN
    return False


class Listener:
    """The listener of the running program: reads one request when its owner notifies it."""

    def __init__(
        self, place: Path, accepts: Callable[[OpenRequest], bool], take: Callable[[OpenRequest], None]
    ) -> None:
        """Listen; raise OSError if another program already listens, or the path cannot be used.

        The sender of a refused request opens its own window.
        """
        self._place, self._accepts, self._take = place, accepts, take
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as near:
                near.settimeout(WAIT)
                if place.exists() and near.connect_ex(str(place)) != 0:
                    place.unlink()  # of a program that was killed
            self._socket.bind(str(place))
            self._socket.listen()
            self._socket.setblocking(False)
        except OSError:
            self._socket.close()
            raise

    def fileno(self) -> int:
        """The descriptor that becomes readable on a request."""
        return self._socket.fileno()

    def hear(self) -> None:
        """Return the pending request, if it is valid and its sender still waits."""
        with suppress(OSError):
            far, _ = self._socket.accept()
            with far:
                far.settimeout(REQUEST_WAIT)
                received = b""
                while len(received) <= MAX_REQUEST and (piece := far.recv(MAX_REQUEST)):
                    received += piece
                request = _request(received)
                is_taken = request is not None and self._accepts(request)
                far.sendall(TAKEN if is_taken else REFUSED)
            if request is not None and is_taken:
                self._take(request)

    def close(self) -> None:
        """Stop listening and remove the socket."""
        self._socket.close()
        with suppress(OSError):
            self._place.unlink()


def _request(received: bytes) -> OpenRequest | None:
    """Return the request, None if it is not a request of this version."""
    try:
        said = json.loads(received)
        if not isinstance(said, dict) or said.keys() != {*OpenRequest._fields}:
            return None
        files = said.pop("run_files")
        texts = [text for text in (*said.values(), *files) if text is not None]
        are_texts = all(isinstance(text, str) and "\0" not in text for text in texts)
        if len(received) > MAX_REQUEST or not are_texts:
            return None
        if said["place"] is not None:
            SelectedPlace.parse(said["place"])
        return OpenRequest(**said, run_files=tuple(files))
    except (ValueError, TypeError, RecursionError):
        return None
