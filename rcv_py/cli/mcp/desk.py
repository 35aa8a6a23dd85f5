"""What the server does, without the protocol: calls of tools, and resources.  Blocking; used from threads."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from rcv_py.base.errors import RcvError, UsageError
from rcv_py.base.text import count
from rcv_py.cli.arguments import NAMES
from rcv_py.cli.mcp.answers import Reply, failure, reply
from rcv_py.cli.mcp.crew import Crew, Ticket
from rcv_py.cli.mcp.fence import Fence
from rcv_py.cli.mcp.tools import MAX_KB, PICTURE, USUAL_KB, Tool, short, tools
from rcv_py.formats.open import capture_paths

MOST_KB = 1 << 20  # of an answer: more is as good as all
LISTED = 200  # captures among the resources; `index` finds all
_DEPTH = 6
_SCHEME = "rcv://"
_INDEX = f"{_SCHEME}captures"
_SCHEMAS = f"{_SCHEME}schemas"


@dataclass(frozen=True, slots=True)
class Page:
    """A resource: its address, a name, and what it tells."""

    uri: str
    name: str
    text: str


class Desk:
    """Takes calls for one root folder; `crew` does the work."""

    def __init__(self, fence: Fence, crew: Crew) -> None:
        self.fence = fence
        self.crew = crew
        self.tools: dict[str, Tool] = tools(can_write=fence.out is not None)

    def call(self, name: str, given: Mapping[str, Any], ticket: Ticket) -> Reply:
        """Return the result of a tool; what goes wrong is a sentence in it.  Raise Cancelled if stopped."""
        tool = self.tools.get(name)
        if tool is None:
            return failure(f"There is no tool {name}.", f"There are {', '.join(self.tools)}.")
        try:
            if name == PICTURE:
                return self._picture(tool, given, ticket)
            max_kb = _max_kb(given) if tool.has_json else 0
            words = tool.words(self._with_target(tool, given), self.fence)
        except UsageError as error:
            return failure(str(error), error.hint)
        return self._run(words, ticket, max_kb)

    def _run(self, words: list[str], ticket: Ticket, max_kb: int, *, alone: bool = False) -> Reply:
        key = next((word for word in words[1:] if word.startswith("/")), "")
        try:
            answer = self.crew.run(words, ticket, key, alone=alone)
        except RcvError as error:
            if ticket.is_cancelled:
                raise
            return failure(str(error), error.hint)
        return reply(answer, words, max_kb)

    def _with_target(self, tool: Tool, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Reports without a name go into the folder for written files, not into the one we run in."""
        needs_folder = "out_dir" in tool.actions and not (given.get("out") or given.get("out_dir"))
        return {**given, "out_dir": "."} if needs_folder else given

    def _picture(self, tool: Tool, given: Mapping[str, Any], ticket: Ticket) -> Reply:
        """Draw in a process of its own; without a name the picture is only sent."""
        if given.get("out"):
            words = tool.words(given, self.fence)
            done = self._run(words, ticket, 0, alone=True)
            path = Path(self.fence.writable(str(given["out"])))
            return done if done.is_error else _with_picture(done, path)
        with tempfile.TemporaryDirectory(prefix="rcv-") as place:
            path = Path(place) / "picture.png"
            words = [*tool.words(given, self.fence), f"--out={path}"]
            done = self._run(words, ticket, 0, alone=True)
            return done if done.is_error else replace(_with_picture(done, path), texts=(), document=None)

    def pages(self) -> list[Page]:
        """Return the resources: the index, captures below the root, and schemas of documents."""
        pages = [Page(_INDEX, "captures", "All captures below the root, ranked, as rcv index tells of them")]
        if "schema" in NAMES:
            pages.append(Page(_SCHEMAS, "schemas", "The schemas of all documents that tools answer with"))
        found = self._captures()
        for path in found[:LISTED]:
            name = str(path.relative_to(self.fence.root))
            more = f"; {count(len(found))} in all" if len(found) > LISTED else ""
            pages.append(
                Page(
                    f"{_SCHEME}capture/{quote(name)}",
                    name,
                    f"What the capture holds, as rcv info tells{more}",
                )
            )
        return pages

    def read(self, uri: str, ticket: Ticket) -> str:
        """Return the JSON text of a resource; raise RcvError with a sentence if it cannot be read."""
        if uri == _INDEX:
            words = ["index", str(self.fence.root), "--json"]
        elif uri == _SCHEMAS and "schema" in NAMES:
            words = ["schema", "--json"]
        elif uri.startswith(f"{_SCHEME}schema/") and "schema" in NAMES:
            words = ["schema", _plain(unquote(uri.removeprefix(f"{_SCHEME}schema/")))]
        elif uri.startswith(f"{_SCHEME}capture/"):
            words = [
                "info",
                str(self.fence.readable(unquote(uri.removeprefix(f"{_SCHEME}capture/")))),
                "--json",
            ]
        else:
            raise UsageError(f"There is no resource {uri}.", hint=f"Try {_INDEX}.")
        answer = self.crew.run(words, ticket, words[1])
        if answer.error:
            raise UsageError(answer.error, hint=answer.hint)
        return answer.text

    def _captures(self) -> tuple[Path, ...]:
        try:
            return capture_paths(self.fence.root, _DEPTH)
        except RcvError:  # a root without captures has none to list
            return ()


def _max_kb(given: Mapping[str, Any]) -> int:
    value = given.get(MAX_KB)
    if value is None:
        return USUAL_KB
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UsageError(f"{MAX_KB} is a whole number, 0 or more, not {short(value)}.", hint="0 means all.")
    return min(value, MOST_KB)


def _plain(name: str) -> str:
    """A name that cannot be taken for an option."""
    if name.startswith("-"):
        raise UsageError(f"There is no schema called {name}.", hint=f"{_SCHEMAS} lists them.")
    return name


def _with_picture(done: Reply, path: Path) -> Reply:
    return replace(done, picture=path.read_bytes() if path.suffix.lower() == ".png" else None)
