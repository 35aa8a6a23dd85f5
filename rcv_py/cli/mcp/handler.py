"""The server without the protocol: calls of tools.  Blocking; used from threads."""

import io
import shlex
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import orjson
from msgspec import field
from msgspec.structs import replace

from rcv_py.base.errors import Cancelled, RcvError, UsageError
from rcv_py.base.machine.ending import check_end
from rcv_py.base.record import Value
from rcv_py.base.text import count, elide_right, plain_document, visible
from rcv_py.cli.answer import CommandAnswer
from rcv_py.cli.arguments import parse
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.main import run_command
from rcv_py.cli.mcp.tools import HELP, MAX_KB, PICTURE, SCHEMA, USUAL_KB, AllowedPaths, Tool, short, tools
from rcv_py.cli.options.option import Options
from rcv_py.cli.schemas import schema_document
from rcv_py.formats.capture_cache import CaptureCache
from rcv_py.work.pool import CallTimedOut, WorkerPool, WorkerStopped

CAPTURES = 8  # that a process keeps open
KB = 1000
MAX_ITEMS = 200  # of a list in a document that is shortened
_TEXT_ROOM = 0.1  # part of an answer that its short text may take
_LEFT_ALONE = ("schema", "rcv", "capture", "totals", "shortened")


class Reply(Value):
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
        documents: list[dict[str, Any]] = []

        def take(answer: CommandAnswer, options: Options) -> int:
            documents.append(plain_document(answer.json(options)))
            return answer.code

        out, err = io.StringIO(), io.StringIO()
        code, error = ExitCode.USAGE, ""
        try:
            with redirect_stdout(out), redirect_stderr(err):
                code = ExitCode(run_command(parse(words).but(cache=self._cache), take))
        except RcvError as failed:
            error = f"{failed} {failed.hint}"
        except SystemExit:  # argparse has printed `rcv hotspot: error: argument --by: …`
            text = err.getvalue().strip().rpartition("error: ")[2] or "the arguments do not fit"
            error = f"{text[:1].upper()}{text[1:]}."
        except Exception as bug:  # the last place that knows the words that lead to the bug
            check_end(bug)
            traceback.print_exc()
            line = shlex.join(["rcv", *words])
            code, error = ExitCode.BUG, f"This is a bug of rcv ({bug!r}). Please report it with: {line}"
        if code == ExitCode.USAGE and not error:  # of the parts that failed
            lines = (line.strip().removeprefix("rcv: ") for line in err.getvalue().splitlines())
            error = " ".join(filter(None, lines))
        meta = {"rcv/command": shlex.join(["rcv", *words]), "rcv/exit": int(code)}
        return replace(reply(documents, out.getvalue(), error, max_kb), meta=meta)


def reply(documents: list[dict[str, Any]], printed: str = "", error: str = "", max_kb: int = 0) -> Reply:
    """Return the result of a finished command, its document shortened to `max_kb` KB (0: not shortened).

    A command without a document prints the names of its files.
    """
    if error:
        texts = (error.strip(), "" if documents else printed.strip())
        return Reply("\n".join(filter(None, texts)), is_error=True)
    if not documents:
        return Reply(printed.strip(), {"printed": printed.splitlines()})
    document, cut = fitted(documents[0], max_kb)
    said = sentences(document)
    if cut:
        said += f" Shortened to {max_kb} KB: {', '.join(cut)}. For more: a filter, top, or max_kb (0: all)."
    return Reply(visible(said), document)


def fitted(document: dict[str, Any], max_kb: int) -> tuple[dict[str, Any], list[str]]:
    """Return the document with lists shortened to fit into `max_kb` KB, and what was shortened.

    The latter are texts such as `rows 5 of 40`, also in the document as `shortened`.  No number is changed.
    The largest list, not counting nested lists, is shortened first; if that is not enough, the largest parts
    are left out.
    """
    room = int(max_kb * KB * (1 - _TEXT_ROOM))
    if not max_kb or _size(document) <= room:
        return document, []
    length: Counter[str] = Counter()
    for place, items in _lists(document):
        length[place] = max(length[place], len(items))
    limits = {place: min(longest, MAX_ITEMS) for place, longest in length.items()}
    while True:
        shorter = _shortened(document, limits)
        cut = [f"{place} {limits[place]:,} of {n:,}" for place, n in length.items() if n > limits[place]]
        if _size(shorter | {"shortened": cut}) <= room:
            return shorter | {"shortened": cut}, cut
        weight: Counter[str] = Counter()  # of all lists at a place, without lists inside
        for place, items in _lists(shorter):
            weight[place] += _size(items)
            weight[place.rpartition("[]")[0]] -= _size(items)
        left = [place for place, limit in limits.items() if limit > 1 and weight[place] > 0]
        if not left:
            return _without_largest(shorter | {"shortened": cut}, cut, room)
        largest = max(left, key=weight.__getitem__)
        limits[largest] = limits[largest] * 3 // 4


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


def _shortened(value: Any, limits: dict[str, int], place: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _shortened(item, limits, _inside(place, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [_shortened(item, limits, f"{place}[]") for item in value[: limits[place]]]
    return value


def _lists(value: Any, place: str = "") -> Iterator[tuple[str, list[Any]]]:
    """Every list of a document, and its place, such as `rows[].parts`."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _lists(item, _inside(place, key))
    elif isinstance(value, list):
        yield place, value
        for item in value:
            yield from _lists(item, f"{place}[]")


def _inside(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


PROCESSES = 2
TIMEOUT_S = 300.0  # of a call; calls on large captures take some seconds
MAX_WAITING = 24  # calls that wait for a process; each keeps one of the server's 40 threads
GRACE_S = 1.5  # in which a stopped process may remove half-written files
MAX_KB_OF_ALL = 1 << 20  # of an answer: more is as good as all
STOPPED = "The analysis stopped unexpectedly, probably for lack of memory."
STOPPED_HINT = "Request less at a time, or analyse this capture on a machine with more memory."
TIMEOUT_HINT = "Request less at a time, or use the command line, which has no limit."
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


def sentences(document: dict[str, Any]) -> str:
    """Return the summary of a document: its single values, and the lengths of its lists."""
    parts = []
    for key, value in document.items():
        if isinstance(value, list):
            parts.append(f"{key}: {count(len(value))}")
        elif isinstance(value, str | int | float) and value not in ("", True, False) and key not in _NOT_SAID:
            parts.append(f"{key}: {elide_right(str(value), _VALUE_LETTERS)}")
    return f"{document.get('schema', 'a document')}; {'; '.join(parts)}." if parts else "A document."


class ToolHandler:
    """Takes calls for one root folder; the processes of `pool` do the work."""

    def __init__(self, paths: AllowedPaths, pool: WorkerPool[Reply]) -> None:
        self.paths, self.pool = paths, pool
        self.tools: dict[str, Tool] = tools(can_write=paths.out is not None)

    def call(self, name: str, given: Mapping[str, Any], request: ClientRequest) -> Reply:
        """Return the result of a tool; errors become a sentence in it.  Raise Cancelled if stopped."""
        try:
            return self._called(name, given, request)
        except Cancelled:
            raise
        except RcvError as error:
            return Reply(f"{error} {error.hint}".strip(), is_error=True)

    def _called(self, name: str, given: Mapping[str, Any], request: ClientRequest) -> Reply:
        tool = self.tools.get(str(given.get("tool")) if name == HELP else name)
        if tool is None:
            what = "help is about one tool." if name == HELP else f"There is no tool {name}."
            raise UsageError(what, f"There are {', '.join(self.tools)}.")
        if name == HELP:
            about = {"tool": tool.name, "example": tool.command.example, "arguments": tool.schema}
            return Reply(tool.description, about)
        if name == PICTURE:
            return self._picture(tool, given, request)
        max_kb = _max_kb(given) if tool.has_json else 0
        if "out_dir" in tool.actions and not (given.get("out") or given.get("out_dir")):
            given = {**given, "out_dir": "."}  # the folder for written files, not the one we run in
        words = tool.words(given, self.paths)
        if name == SCHEMA and given.get("name"):
            return reply([schema_document(str(given["name"]))], max_kb=max_kb)
        return self._reply(words, request, max_kb)

    def _reply(
        self, words: list[str], request: ClientRequest, max_kb: int = 0, *, is_alone: bool = False
    ) -> Reply:
        """Run a command line, preferably in the process that has its capture open; raise RcvError."""
        if self.pool.waiting >= MAX_WAITING:
            text = f"The server is busy: {MAX_WAITING} calls wait already."
            raise UsageError(text, hint="Call again when others are answered.")
        key = next((word for word in words[1:] if word.startswith("/")), "")
        try:
            return request.result(self.pool.submit(words, max_kb, key=key, is_alone=is_alone))
        except WorkerStopped as error:
            raise RcvError(STOPPED, STOPPED_HINT) from error
        except CallTimedOut as error:
            raise RcvError(str(error), TIMEOUT_HINT) from error

    def _picture(self, tool: Tool, given: Mapping[str, Any], request: ClientRequest) -> Reply:
        """Draw in a separate process; without a name the picture is only sent."""
        words = tool.words(given, self.paths)
        with tempfile.TemporaryDirectory(prefix="rcv-") as place:
            is_named = bool(given.get("out"))
            path = Path(self.paths.writable(str(given["out"])) if is_named else f"{place}/picture.png")
            done = self._reply([*words, *([] if is_named else [f"--out={path}"])], request, is_alone=True)
            if done.is_error:
                return done
            picture = path.read_bytes() if path.suffix.lower() == ".png" else None
            return replace(done, picture=picture) if is_named else Reply("", picture=picture, meta=done.meta)


def _max_kb(given: Mapping[str, Any]) -> int:
    value = given.get(MAX_KB)
    if value is None:
        return USUAL_KB
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UsageError(f"{MAX_KB} is a whole number, 0 or more, not {short(value)}.", hint="0 means all.")
    return min(value, MAX_KB_OF_ALL)
