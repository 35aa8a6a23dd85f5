"""The server without the protocol: calls of tools, and resources.  Blocking; used from threads."""

from __future__ import annotations

import io
import shlex
import tempfile
import traceback
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, unquote

import orjson

from rcv_py.base.errors import Cancelled, RcvError, UsageError
from rcv_py.base.machine.ending import check_end
from rcv_py.base.text import count, elide_right, escaped_json, visible
from rcv_py.cli.arguments import parse
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.main import run_command
from rcv_py.cli.mcp.tools import HELP, MAX_KB, PICTURE, USUAL_KB, AllowedPaths, Tool, short, tools
from rcv_py.formats.capture_cache import CaptureCache
from rcv_py.formats.locate import locate
from rcv_py.work.pool import CallTimedOut, WorkerPool, WorkerStopped

CAPTURES = 8  # that a process keeps open
KB = 1000
MAX_ITEMS = 200  # of a list in a document that is shortened
_TEXT_ROOM = 0.1  # part of an answer that its short text may take
_LEFT_ALONE = ("schema", "rcv", "capture", "totals", "shortened")


@dataclass(frozen=True, slots=True)
class Reply:
    """A result: a short text, the document, possibly a picture; or an error sentence."""

    text: str
    document: dict[str, Any] | None = None
    picture: bytes | None = None  # PNG
    is_error: bool = False
    meta: dict[str, Any] = field(default_factory=dict)


class CommandRunner:
    """Runs command lines; each process has one of its own."""

    def __init__(self) -> None:
        self._cache: CaptureCache | None = None  # made in the process

    def __call__(self, words: list[str], max_kb: int) -> Reply:
        """Run one command line; its document is shortened to `max_kb` KB (0: not shortened).

        Errors become part of the reply; only a stop raises.
        """
        self._cache = self._cache or CaptureCache(CAPTURES)
        out, err = io.StringIO(), io.StringIO()
        try:
            with redirect_stdout(out), redirect_stderr(err):
                code = run_command(parse(words).but(cache=self._cache))
        except RcvError as error:
            return reply(words, ExitCode.USAGE, error=f"{error} {error.hint}")
        except SystemExit:  # argparse has printed `rcv hotspot: error: argument --by: …`
            text = err.getvalue().strip().rpartition("error: ")[2] or "the arguments do not fit"
            return reply(words, ExitCode.USAGE, error=f"{text[:1].upper()}{text[1:]}.")
        except Exception as error:  # the last place that knows the words that lead to the bug
            check_end(error)
            traceback.print_exc()
            line = shlex.join(["rcv", *words])
            text = f"This is a bug of rcv ({error!r}). Please report it with: {line}"
            return reply(words, ExitCode.BUG, error=text)
        lines = (line.strip().removeprefix("rcv: ") for line in err.getvalue().splitlines())
        failed = " ".join(filter(None, lines)) if code == ExitCode.USAGE else ""  # of the parts that failed
        return reply(words, code, out.getvalue(), failed, max_kb)


def reply(words: list[str], code: int, printed: str = "", error: str = "", max_kb: int = 0) -> Reply:
    """Return the result of a finished command, its document shortened to `max_kb` KB (0: not shortened)."""
    meta = {"rcv/command": shlex.join(["rcv", *words]), "rcv/exit": int(code)}
    try:
        document, cut = fitted(orjson.loads(printed), max_kb)
    except orjson.JSONDecodeError:  # a command without JSON prints the names of its files
        if not error:
            return Reply(printed.strip(), {"printed": printed.splitlines()}, meta=meta)
        return Reply("\n".join(filter(None, (error.strip(), printed.strip()))), is_error=True, meta=meta)
    if error:
        return Reply(error.strip(), is_error=True, meta=meta)
    said = sentences(document)
    if cut:
        said += f" Shortened to {max_kb} KB: {', '.join(cut)}. For more: a filter, top, or max_kb (0: all)."
    return Reply(visible(said), document, meta=meta)


def fitted(document: dict[str, Any], max_kb: int) -> tuple[dict[str, Any], list[str]]:
    """Return the document with lists shortened to fit into `max_kb` KB, and what was shortened.

    The latter are texts such as `rows 5 of 40`, also in the document as `shortened`.  No number is changed.
    The largest list, not counting nested lists, is shortened first; if that is not enough, the largest parts
    are left out.
    """
    room = int(max_kb * KB * (1 - _TEXT_ROOM))
    if not max_kb or _size(document) <= room:
        return document, []
    lists = _lists(document)
    limits = {place: min(one.length, MAX_ITEMS) for place, one in lists.items()}
    while True:
        shorter = _shortened(document, limits, "")
        cut = [
            f"{place} {limits[place]:,} of {one.length:,}"
            for place, one in lists.items()
            if one.length > limits[place]
        ]
        shorter["shortened"] = cut
        if _size(shorter) <= room:
            return shorter, cut
        left = {place: one.weight for place, one in _lists(shorter).items() if limits.get(place, 0) > 1}
        if not any(left.values()):
            return _without_largest(shorter, cut, room)
        place = max(left, key=lambda name: left[name])
        limits[place] = limits[place] * 3 // 4


def _without_largest(document: dict[str, Any], cut: list[str], room: int) -> tuple[dict[str, Any], list[str]]:
    sizes = {key: _size(value) for key, value in document.items() if key not in _LEFT_ALONE}
    for key in sorted(sizes, key=lambda one: -sizes[one]):
        del document[key]
        cut.append(f"{key} left out")
        if _size(document) <= room:
            break
    return document, cut


def _size(value: object) -> int:
    """Bytes of JSON."""
    return len(orjson.dumps(value))


def _shortened(value: Any, limits: dict[str, int], place: str) -> Any:
    if isinstance(value, dict):
        return {
            key: _shortened(item, limits, f"{place}.{key}" if place else key) for key, item in value.items()
        }
    if isinstance(value, list):
        return [_shortened(item, limits, f"{place}[]") for item in value[: limits[place]]]
    return value


@dataclass(slots=True)
class _List:
    """All lists at one place of a document: the longest, and the bytes of items without lists inside."""

    length: int = 0
    weight: int = 0


def _lists(document: dict[str, Any]) -> dict[str, _List]:
    found: dict[str, _List] = {}

    def weigh(value: Any, place: str) -> int:
        if isinstance(value, dict):
            parts = ((key, f"{place}.{key}" if place else key) for key in value)
            return sum(len(key) + 4 + weigh(value[key], inside) for key, inside in parts)
        if not isinstance(value, list):
            return _size(value)
        own = found.setdefault(place, _List())
        own.length = max(own.length, len(value))
        own.weight += sum(weigh(item, f"{place}[]") for item in value)
        return 2

    weigh(document, "")
    return found


PROCESSES = 2
TIMEOUT_S = 300.0  # of a call; calls on large captures take some seconds
MAX_WAITING = 24  # calls that wait for a process; each keeps one of the server's 40 threads
GRACE_S = 1.5  # in which a stopped process may remove half-written files
MAX_KB_OF_ALL = 1 << 20  # of an answer: more is as good as all
MAX_LISTED = 200  # captures among the resources; `index` finds all
STOPPED = "The analysis stopped unexpectedly, probably for lack of memory."
STOPPED_HINT = "Request less at a time, or analyse this capture on a machine with more memory."
TIMEOUT_HINT = "Request less at a time, or use the command line, which has no limit."
_DEPTH = 6
_INDEX, _SCHEMAS = "rcv://captures", "rcv://schemas"
_CAPTURE, _SCHEMA = "rcv://capture/", "rcv://schema/"
_VALUE_LETTERS = 160  # of a value in a short text
_NOT_SAID = ("schema", "rcv")
T = TypeVar("T")


def command_pool(timeout_s: float = TIMEOUT_S, processes: int = PROCESSES) -> WorkerPool[Reply]:
    """Return the processes that run commands, each with the captures it opened."""
    return WorkerPool(CommandRunner(), processes, timeout_s=timeout_s, grace_s=GRACE_S, nests=True)


class ClientRequest:
    """One request of a client: it can be cancelled from any thread, whether it waits or runs."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._call: Future[Any] | None = None
        self._is_cancelled = False

    def result(self, call: Future[T]) -> T:
        """Wait for the result of a call; raise Cancelled if the request is cancelled first."""
        with self._lock:
            self._call = call
            is_cancelled = self._is_cancelled
        if is_cancelled:
            call.cancel()
        try:
            return call.result()
        except CancelledError:
            raise Cancelled from None

    def cancel(self) -> None:
        """Stop the work for the request; returns immediately."""
        with self._lock:
            self._is_cancelled = True
            call = self._call
        if call is not None:
            call.cancel()


def failure(sentence: str, hint: str = "") -> Reply:
    """Return the result of a call that failed."""
    return Reply(f"{sentence} {hint}".strip(), is_error=True)


def sentences(document: dict[str, Any]) -> str:
    """Return the summary of a document: its single values, and the lengths of its lists."""
    parts = []
    for key, value in document.items():
        if isinstance(value, list):
            parts.append(f"{key}: {count(len(value))}")
        elif isinstance(value, str | int | float) and value not in ("", True, False) and key not in _NOT_SAID:
            parts.append(f"{key}: {elide_right(str(value), _VALUE_LETTERS)}")
    return f"{document.get('schema', 'a document')}; {'; '.join(parts)}." if parts else "A document."


class Page(NamedTuple):
    """A resource: its address, name and description."""

    uri: str
    name: str
    text: str


class ToolHandler:
    """Takes calls for one root folder; the processes of `pool` do the work."""

    def __init__(self, paths: AllowedPaths, pool: WorkerPool[Reply]) -> None:
        self.paths = paths
        self.pool = pool
        self.tools: dict[str, Tool] = tools(can_write=paths.out is not None)

    def call(self, name: str, given: Mapping[str, Any], request: ClientRequest) -> Reply:
        """Return the result of a tool; errors become a sentence in it.  Raise Cancelled if stopped."""
        if name == HELP:
            return self._help(given)
        tool = self.tools.get(name)
        if tool is None:
            return failure(f"There is no tool {name}.", f"There are {', '.join(self.tools)}.")
        try:
            if name == PICTURE:
                return self._picture(tool, given, request)
            max_kb = _max_kb(given) if tool.has_json else 0
            if "out_dir" in tool.actions and not (given.get("out") or given.get("out_dir")):
                given = {**given, "out_dir": "."}  # the folder for written files, not the one we run in
            words = tool.words(given, self.paths)
        except UsageError as error:
            return failure(str(error), error.hint)
        return self._run(words, request, max_kb)

    def _help(self, given: Mapping[str, Any]) -> Reply:
        """Return every argument of a tool with its meaning and default."""
        tool = self.tools.get(str(given.get("tool")))
        if tool is None:
            return failure("help is about one tool.", f"There are {', '.join(self.tools)}.")
        return Reply(
            tool.description, {"tool": tool.name, "example": tool.command.example, "arguments": tool.schema}
        )

    def _run(self, words: list[str], request: ClientRequest, max_kb: int, *, is_alone: bool = False) -> Reply:
        try:
            return self._reply(words, request, max_kb, is_alone=is_alone)
        except Cancelled:
            raise
        except RcvError as error:
            return failure(str(error), error.hint)

    def _reply(
        self, words: list[str], request: ClientRequest, max_kb: int = 0, *, is_alone: bool = False
    ) -> Reply:
        """Run a command line, preferably in the process that has its capture open."""
        if self.pool.waiting >= MAX_WAITING:
            raise UsageError(
                f"The server is busy: {MAX_WAITING} calls wait already.",
                hint="Call again when others are answered.",
            )
        key = next((word for word in words[1:] if word.startswith("/")), "")
        try:
            return request.result(self.pool.submit(words, max_kb, key=key, is_alone=is_alone))
        except WorkerStopped as error:
            raise RcvError(STOPPED, STOPPED_HINT) from error
        except CallTimedOut as error:
            raise RcvError(str(error), TIMEOUT_HINT) from error

    def _picture(self, tool: Tool, given: Mapping[str, Any], request: ClientRequest) -> Reply:
        """Draw in a separate process; without a name the picture is only sent."""
        if given.get("out"):
            words = tool.words(given, self.paths)
            done = self._run(words, request, 0, is_alone=True)
            path = Path(self.paths.writable(str(given["out"])))
            return done if done.is_error else _with_picture(done, path)
        with tempfile.TemporaryDirectory(prefix="rcv-") as place:
            path = Path(place) / "picture.png"
            words = [*tool.words(given, self.paths), f"--out={path}"]
            done = self._run(words, request, 0, is_alone=True)
            return done if done.is_error else replace(_with_picture(done, path), text="", document=None)

    def pages(self) -> list[Page]:
        """Return the resources: the index, captures below the root, and schemas of documents."""
        captures = self._captures()
        more = f"; {count(len(captures))} in all" if len(captures) > MAX_LISTED else ""
        names = [str(path.relative_to(self.paths.root)) for path in captures[:MAX_LISTED]]
        text = f"What the capture holds, as rcv info prints it{more}"
        return [
            Page(_INDEX, "captures", "All captures below the root, ranked, as rcv index prints them"),
            Page(_SCHEMAS, "schemas", "The schemas of all documents that tools answer with"),
            *(Page(f"{_CAPTURE}{quote(name)}", name, text) for name in names),
        ]

    def read(self, uri: str, request: ClientRequest) -> str:
        """Return the JSON text of a resource; raise RcvError with a sentence if it cannot be read."""
        answer = self._reply(self._words_of(uri), request)
        if answer.is_error:
            raise UsageError(answer.text)
        return escaped_json(orjson.dumps(answer.document).decode())

    def _words_of(self, uri: str) -> list[str]:
        if uri == _INDEX:
            return ["index", str(self.paths.root), "--json"]
        if uri == _SCHEMAS:
            return ["schema", "--json"]
        name = unquote(uri.removeprefix(_SCHEMA).removeprefix(_CAPTURE))
        if uri.startswith(_SCHEMA) and not name.startswith("-"):  # which would be an option
            return ["schema", name]
        if uri.startswith(_CAPTURE):
            return ["info", str(self.paths.readable(name)), "--json"]
        raise UsageError(f"There is no resource {uri}.", hint=f"Try {_INDEX} or {_SCHEMAS}.")

    def _captures(self) -> tuple[Path, ...]:
        try:
            return locate(self.paths.root).captures(_DEPTH)
        except RcvError:  # a root without captures has none to list
            return ()


def _max_kb(given: Mapping[str, Any]) -> int:
    value = given.get(MAX_KB)
    if value is None:
        return USUAL_KB
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UsageError(f"{MAX_KB} is a whole number, 0 or more, not {short(value)}.", hint="0 means all.")
    return min(value, MAX_KB_OF_ALL)


def _with_picture(done: Reply, path: Path) -> Reply:
    return replace(done, picture=path.read_bytes() if path.suffix.lower() == ".png" else None)
