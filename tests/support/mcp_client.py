"""A small client of `rcv mcp`: lines of JSON-RPC to a child process, several requests under way at a time."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from collections.abc import Mapping
from typing import Any

from tests.support.limits import HANG_S
from tests.support.programs import start


class McpClient:
    """Starts the server, after the Python code `before`, and shakes hands with it; use it with `with`."""

    def __init__(self, *words: object, env: Mapping[str, str] | None = None, before: str = "") -> None:
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        given = [str(word) for word in ("mcp", *words)]
        self.process = start(given, before=before, env={**os.environ, **(env or {})}, text=True, **pipes)
        self._last = 0
        self._said: str | None = None
        self._answers: dict[int, dict[str, Any]] = {}
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        self.hello = self.ask("initialize", hello)
        self.tell("notifications/initialized", {})

    def __enter__(self) -> McpClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, method: str, params: dict[str, Any]) -> int:
        """Send a request and return its number."""
        self._last += 1
        self._write({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        return self._last

    def tell(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification."""
        self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def wait(self, number: int) -> dict[str, Any]:
        """Return the answer to a request: its `result` or its `error`."""
        while number not in self._answers:
            line = self._lines.get(timeout=HANG_S)
            assert line, f"the server ended: {self.close()}"
            message = json.loads(line)
            if "id" in message:
                self._answers[message["id"]] = message
        return self._answers.pop(number)

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and return its result."""
        answer = self.wait(self.send(method, params or {}))
        assert "result" in answer, answer
        return answer["result"]

    def call(self, tool: str, /, **arguments: object) -> dict[str, Any]:
        """Call a tool and return its result."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def complaint(self, tool: str, /, **arguments: object) -> str:
        """Call a tool that must fail, and return its sentence."""
        result = self.call(tool, **arguments)
        assert result["isError"], result
        text = " ".join(block["text"] for block in result["content"])
        assert "Traceback" not in text
        return text

    def close(self) -> str:
        """Close standard input, wait until the server has gone, and return what it wrote to stderr."""
        if self._said is None:
            assert self.process.stdin
            assert self.process.stdout
            assert self.process.stderr
            self.process.stdin.close()
            self.process.wait(HANG_S)
            self._reader.join()
            self._said = self.process.stderr.read()
            self.process.stdout.close()
            self.process.stderr.close()
        return self._said

    def end(self) -> None:
        """Forget a server that was killed."""
        self.process.wait(HANG_S)
        self._reader.join()
        self._said = ""
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()

    def _write(self, message: dict[str, Any]) -> None:
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put("")
