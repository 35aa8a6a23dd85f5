"""A browser without a window, if this machine has one, asked by the DevTools protocol over pipes."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.limits import HANG_S

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe"),
    *("--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-dev-shm-usage"),
    "--window-size=1500,950",
)
PROGRAM = next(filter(None, map(shutil.which, PROGRAMS)), None)
AT_3_AND_4 = (  # where a browser reads and writes
    "import os, sys; held = [os.dup(int(one)) for one in sys.argv[1:3]]; high = [os.dup2(one, 90 + at)"
    " for at, one in enumerate(held)]; os.dup2(90, 3); os.dup2(91, 4); os.execv(sys.argv[3], sys.argv[3:])"
)
NONE = f"no browser, none of {', '.join(PROGRAMS)}: install the package chromium"


class Browser:
    """A page of a browser: `call` asks, `events` is what it said by itself."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write, self._number, self._left = read, write, 0, b""
        self._session = ""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask for something and return the answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer)
                return answer["result"]
            self.events.append(answer)

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            part = os.read(self._read, 1 << 20)
            assert part, "the browser ended"
            self._left += part
        message, _, self._left = self._left.partition(b"\0")
        return json.loads(message)

    def open(self, path: Path) -> None:
        """Show a file and wait until its script says that it is ready, or why it cannot be."""
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        while not any(one.get("method") == "Page.loadEventFired" for one in self.events):
            self.events.append(self._message())
        waiting = """new Promise(done => {
            const failed = () => document.getElementById("problem").textContent;
            const isReady = () => document.documentElement.dataset.ready || failed();
            (function look() { isReady() ? done(true) : setTimeout(look, 20); })();
        })"""
        self.run(waiting)

    def run(self, script: str) -> Any:
        """Return the value of an expression in the page; promises are waited for."""
        done = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def painted(self) -> None:
        """Wait until what is due is drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def scheme(self, name: str) -> None:
        """Prefer `light` or `dark`."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """A press, a release, a move or a wheel."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x: float, y: float) -> None:
        """Press and release the left button."""
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def picture(self) -> bytes:
        """The page as PNG."""
        from base64 import b64decode

        return b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def complaints(self) -> list[str]:
        """What went wrong in the page: exceptions, refused styles and scripts, errors in its log."""
        said = ("Runtime.exceptionThrown", "Log.entryAdded")
        told = [one["params"] for one in self.events if one.get("method") in said]
        # Reading pixels of a canvas, as tests do, is slow, and that is said of its rendering.
        return [json.dumps(one) for one in told if one.get("entry", {}).get("source") != "rendering"]

    def requested(self) -> list[str]:
        """Every address that the page asked for."""
        sent = (one for one in self.events if one.get("method") == "Network.requestWillBeSent")
        return [one["params"]["request"]["url"] for one in sent]


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """Give a page of a browser that keeps its files in a folder, and end it after the block."""
    assert PROGRAM is not None
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    pipes = [str(theirs_in), str(theirs_out)]
    starting = [sys.executable, "-ISc", AT_3_AND_4, *pipes, PROGRAM]
    command = [*starting, *FLAGS, f"--user-data-dir={folder}", "about:blank"]
    process = subprocess.Popen(
        command,
        pass_fds=(theirs_in, theirs_out),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield Browser(ours_in, ours_out)
    finally:
        process.terminate()
        process.wait(HANG_S)
        os.close(ours_in)
        os.close(ours_out)
