"""The processes that run commands for the server: a few, each with the captures it opened, all stoppable."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from rcv_py.base.errors import Cancelled, RcvError
from rcv_py.cli.mcp.worker import Answer, serve

MEMBERS = 2
LONGEST_S = 300.0  # of a call; those of large captures take some seconds
MOST_WAITING = 24  # calls that wait for a process; each keeps one of the server's 40 threads
_GRACE_S = 1.5  # in which a stopped process may remove half-written files


class Stopped(RcvError):
    """A process that ran a command has gone."""

    def __init__(self) -> None:
        super().__init__(
            "The analysis stopped unexpectedly, probably for lack of memory.",
            hint="Ask for less at a time, or analyse this capture on a machine with more memory.",
        )


class TooLong(RcvError):
    """A call took longer than it may."""

    def __init__(self, longest: float = LONGEST_S) -> None:
        super().__init__(
            f"The analysis was stopped after {longest:g} seconds.",
            hint="Ask for less at a time, or use the command line, which has no limit.",
        )


class Busy(RcvError):
    """Too many calls wait already."""

    def __init__(self) -> None:
        super().__init__(
            f"The server is busy: {MOST_WAITING} calls wait already.",
            hint="Ask again when others are answered.",
        )


class Ticket:
    """One call: who runs it, and whether it is still wanted.  The crew alone changes it."""

    def __init__(self) -> None:
        self.is_cancelled = False
        self.member: Member | None = None


class Member:
    """The near end of one process."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self.connection: Connection
        self.connection, far = context.Pipe()
        self.process: SpawnProcess = context.Process(target=serve, args=(far,), name="rcv-mcp")
        self.process.start()
        far.close()
        self.is_alive = True
        self.key = ""  # of the capture it looked at last

    def ask(self, words: list[str], longest: float = LONGEST_S) -> Answer:
        """Run a command line there.

        Raise Stopped if the process ends before it answers, and TooLong if it does not answer in time; then
        it is killed, and whoever asks next gets another one.
        """
        try:
            self.connection.send(words)
            if not self.connection.poll(longest):
                self.is_alive = False
                self.kill()
                raise TooLong(longest)
            answer: Answer = self.connection.recv()
        except (EOFError, OSError) as error:
            self.is_alive = False
            raise Stopped from error
        return answer

    def terminate(self) -> None:
        """Ask the process to leave, and see to it that it does; returns at once."""
        self.is_alive = False
        self.process.terminate()
        timer = threading.Timer(_GRACE_S, self.kill)
        timer.daemon = True
        timer.start()

    def kill(self) -> None:
        """End the process and those it started."""
        pid = self.process.pid
        if pid is None or not self.process.is_alive():
            return
        with suppress(OSError):
            if hasattr(os, "killpg") and os.getpgid(pid) == pid:
                os.killpg(pid, signal.SIGKILL)
        with suppress(OSError):
            self.process.kill()


class Crew:
    """At most `members` processes, started when there is work.  All methods may be called from any thread."""

    def __init__(self, members: int = MEMBERS, longest: float = LONGEST_S) -> None:
        self._limit = members
        self._longest = longest
        self._waiting = 0
        self._changed = threading.Condition()
        self._idle: list[Member] = []
        self._busy: set[Member] = set()

    def run(self, words: list[str], ticket: Ticket, key: str = "", *, alone: bool = False) -> Answer:
        """Run a command line, by the process that knows the capture `key` if it is free.

        Blocks.  With `alone` the process does nothing else before or after.  Raise Cancelled if the ticket
        is cancelled first, and Busy if too many calls wait.
        """
        member = self._take(ticket, key, alone)
        try:
            return member.ask(words, self._longest)
        except Stopped:
            if ticket.is_cancelled:
                raise Cancelled from None
            raise
        finally:
            self._give_back(member, ticket, alone)

    def cancel(self, ticket: Ticket) -> None:
        """Stop the call, whether it waits or runs; returns at once."""
        with self._changed:
            ticket.is_cancelled = True
            if ticket.member is not None:
                ticket.member.terminate()
            self._changed.notify_all()

    def close(self) -> None:
        """End all processes."""
        with self._changed:
            members = [*self._idle, *self._busy]
            self._idle.clear()
        for member in members:
            member.terminate()
        for member in members:
            member.process.join(_GRACE_S)
            member.kill()
            member.process.join()

    def _take(self, ticket: Ticket, key: str, alone: bool) -> Member:
        with self._changed:
            while not ticket.is_cancelled:
                member = self._free(key, alone)
                if member is not None:
                    member.key = key
                    ticket.member = member
                    self._busy.add(member)
                    return member
                self._wait()
        raise Cancelled

    def _wait(self) -> None:
        """Wait until a process may be free; raise Busy if too many wait already."""
        if self._waiting >= MOST_WAITING:
            raise Busy
        self._waiting += 1
        try:
            self._changed.wait()
        finally:
            self._waiting -= 1

    def _free(self, key: str, alone: bool) -> Member | None:
        """An idle process that knows the capture, a new one, or any idle one, in this order."""
        has_room = len(self._busy) + len(self._idle) < self._limit
        if alone:
            if not has_room and self._idle:
                self._idle.pop(0).terminate()
                has_room = True
            return Member() if has_room else None
        known = [member for member in self._idle if member.key == key]
        if not known and has_room:
            return Member()
        if not self._idle:
            return None
        member = known[0] if known else self._idle[0]
        self._idle.remove(member)
        return member

    def _give_back(self, member: Member, ticket: Ticket, alone: bool) -> None:
        with self._changed:
            ticket.member = None
            self._busy.discard(member)
            if alone and member.is_alive:
                member.terminate()
            elif member.is_alive:
                self._idle.append(member)
            self._changed.notify_all()
        if not member.is_alive:
            member.kill()
            member.connection.close()
