"""Executor over the workers of a Dask cluster, for captures on more than one machine.

Dask schedules, repeats calls of a lost worker, and transfers functions and results as pickles: anyone who can
connect to the address can run code here and on the workers (docs/SECURITY.md).
"""

import asyncio
import atexit
import gc
import logging
import pydoc
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from distributed import Client, KilledWorker, Security
from distributed import Future as DaskFuture
from distributed.comm.core import connect
from distributed.utils import LoopRunner
from tornado.platform.asyncio import BaseAsyncIOLoop

from rcv_py import __version__
from rcv_py.base.errors import RcvError, UsageError
from rcv_py.base.text import Message
from rcv_py.work.pool import CaptureLost, WorkerStopped

CONNECT_S = 5.0  # until a scheduler must answer and have a worker
_ADDRESS = re.compile(r"(tcp|tls)://([^\s/@:]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}")
_START = "Start the cluster, or correct the address: `dask scheduler` prints it."
_LOST = "The workers that had this capture ended before they answered, probably for lack of memory."
_SHARE = "Share the folder under this path, or start the workers where it lies."
T = TypeVar("T")
atexit.register(gc.freeze)  # so that a process ended by Ctrl+C does not collect garbage in all of Dask


class ClusterError(RcvError):
    """A cluster cannot be used, or no longer."""


@contextmanager
def cluster_executor(address: str, paths: Sequence[Path]) -> Iterator[Executor]:
    """Give an executor over the workers of a Dask scheduler, all of which see these captures.

    At the end of the block waiting calls are cancelled.  Raise UsageError for an invalid address, and
    ClusterError if the cluster cannot do the work.
    """
    client = _connected(address)
    try:
        _check_workers(client, address)
        here = frozenset(path for path in paths if path.exists())  # others have a sentence of their own
        answers = _of_workers(client, _unseen, [path for path in paths if path in here])
        unseen = [gone[0] for gone in answers.values() if isinstance(gone, list) and gone]
        if unseen:
            some = "" if len(unseen) == len(answers) else Message("{0} of {1} of ", len(unseen), len(answers))
            text = Message("{0} is not visible to {1}the workers of {2}.", unseen[0], some, address)
            raise ClusterError(text, hint=_SHARE)
        yield _Cluster(client, address, here)
    finally:
        client.close()


def _connected(address: str) -> Client:
    if not _ADDRESS.fullmatch(address):
        what = Message("{0} is not an address of a cluster.", address)
        raise UsageError(what, hint="Give tcp://HOST:PORT or tls://HOST:PORT, as `dask scheduler` prints it.")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # important errors become a sentence
    try:
        # First the connection alone: a client without a connection is never quite closed.
        LoopRunner().run_sync(_greet, address)
        return Client(address, timeout=CONNECT_S, set_as_default=False)
    except OSError as error:
        text = Message("No Dask scheduler answers at {0} within {1:g} seconds.", address, CONNECT_S)
        raise ClusterError(text, hint=_START, detail=repr(error)) from error
    except (TypeError, ValueError, RuntimeError) as error:  # such as TLS without certificates
        text = Message("{0} cannot be used: {1}.", address, str(error).strip().partition("\n")[0].rstrip("."))
        hint = "Dask's own configuration names the certificates: distributed.comm.tls."
        raise ClusterError(text, hint=hint, detail=repr(error)) from error
    except Exception as error:  # the peer may be any server, such as a web server
        text = Message("What answers at {0} is not a Dask scheduler, or one of another version.", address)
        raise ClusterError(text, hint=_START, detail=repr(error)) from error


async def _greet(address: str) -> None:
    """Connect to a scheduler; raise any error of the connection."""
    comm = await connect(address, CONNECT_S, **Security().get_connection_args("client"))
    await comm.close()


def _of_workers(client: Client, function: Callable[..., T], *args: object) -> dict[str, T | Exception]:
    """Call a function once on each worker; workers that end meanwhile are left out."""
    answers = client.run(function, *args, on_error="return")
    return {worker: one for worker, one in answers.items() if not isinstance(one, OSError)}


def _check_workers(client: Client, address: str) -> None:
    """Raise ClusterError unless there are workers, all of which have this version of rcv."""
    try:
        client.wait_for_workers(1, timeout=CONNECT_S)
    except TimeoutError as error:
        text = Message("The cluster at {0} has no workers.", address)
        raise ClusterError(text, hint=Message("Start some: dask worker {0}", address)) from error
    # A function of Python's own: it also works where rcv is missing or Python is another version.
    for worker, version in _of_workers(client, pydoc.locate, "rcv_py.__version__").items():
        if version != __version__:
            has = Message("rcv {0}", version) if isinstance(version, str) else "no rcv that can be imported"
            why = "The worker {0} of {1} has {2}; here it is rcv {3}."
            hint = "Install the same version for all workers, and start them again."
            raise ClusterError(Message(why, worker, address, has, __version__), hint, repr(version))


def _unseen(paths: Sequence[Path]) -> list[Path]:
    """The paths that do not exist on the worker that runs this."""
    return [path for path in paths if not path.exists()]


def _seen(function: Callable[[Path], T], path: Path, is_here: bool) -> T:
    """Do the work on a worker; a worker that joined later may not see the files."""
    if is_here and not path.exists():
        raise CaptureLost(Message("{0} is not visible to a worker of the cluster.", path), hint=_SHARE)
    return function(path)


class _Cluster(Executor):
    """Calls on the workers; they fail with the errors that `captures_done` expects.

    Not Dask's own executor: its futures are never done if the worker of a result ends before it was fetched,
    and the next one ends too.
    """

    def __init__(self, client: Client, address: str, here: frozenset[Path]) -> None:
        self._client, self._address, self._here = client, address, here
        self._loop = cast(BaseAsyncIOLoop, client.loop).asyncio_loop  # in a thread of Dask's
        self._calls: set[Future[Any]] = set()  # Dask drops a call without a reference

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Return the future result of a function of one path."""
        (path,) = args
        # Files may change between two commands: an earlier result must not be reused.
        call = self._client.submit(_seen, fn, path, path in self._here, pure=False)
        future = asyncio.run_coroutine_threadsafe(self._answer(call), self._loop)
        self._calls.add(future)
        future.add_done_callback(self._calls.discard)
        return future

    async def _answer(self, call: DaskFuture[T]) -> T:
        try:
            return await call
        except KilledWorker as error:  # also if another capture of the same workers ended them
            raise WorkerStopped(_LOST) from error
        except (CancelledError, asyncio.CancelledError) as error:  # single calls are never cancelled
            text = Message("The scheduler at {0} ended before all captures were done.", self._address)
            hint = "Start the cluster again, and then this command."
            raise ClusterError(text, hint, repr(error)) from error
