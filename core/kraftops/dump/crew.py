"""The parent of worker processes: hands out tasks and turns, and hears of results and deaths."""

from __future__ import annotations

import os
import select
import signal
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from errno import EPIPE
from typing import Generic, TypeVar

from kraftops.dump import frames
from kraftops.dump.frames import FrameReader, pack, send_frame, unpack
from kraftops.dump.parallel import Produce
from kraftops.dump.worker import Surroundings, run_worker
from kraftops.errors import KraftopsError

T = TypeVar("T")
R = TypeVar("R")

_ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


@dataclass(slots=True, eq=False)
class _Member:
    """A worker process; *commands* is the pipe to it. When it is gone it has no *pid*."""

    pid: int
    commands: int
    reports: FrameReader
    is_idle: bool = True


class Crew(Generic[T, R]):
    """Some worker processes and what they do; see `kraftops.dump.parallel.run_ordered`."""

    def __init__(
        self, produce: Produce[T, R], fd: int, on_result: Callable[[R], None], held_bytes: int
    ) -> None:
        """Make a crew without members."""
        self._produce = produce
        self._fd = fd
        self._on_result = on_result
        self._held_bytes = held_bytes
        self._members: dict[int, _Member] = {}  # by the descriptor of what they report
        self._turns: deque[_Member] = deque()  # who writes next: a place for each task given out
        self._is_more = True  # tasks, for all that is known
        self._poll = select.poll()
        if stat.S_ISFIFO(os.fstat(fd).st_mode):
            self._poll.register(fd, 0)  # says when nobody reads it, even while nobody writes

    def run(self, tasks: Iterable[T], count: int) -> bool:
        """Have the tasks done by *count* processes, or as many as the system allows.

        Return False, with nothing done, where it allows none.
        """
        left = iter(tasks)
        is_done = False
        try:
            if not self._hire(count):
                return False
            self._hand_out(left)
            while self._turns or self._is_more:
                ready = [fd for fd, _ in self._poll.poll()]
                for fd in ready:
                    if fd != self._fd:
                        self._hear(self._members[fd])
                self._hand_out(left)
                # Who has read all may go before this process knows that it was all.
                if self._fd in ready and (self._turns or self._is_more):
                    raise BrokenPipeError(EPIPE, os.strerror(EPIPE))
            is_done = True
        finally:
            self._dismiss(kill=not is_done)
        return True

    def _hire(self, count: int) -> int:
        with _signals_held() as mask, suppress(OSError):  # no more processes, files or memory
            for _ in range(count):
                self._fork(mask)
        return len(self._members)

    def _fork(self, mask: set[signal.Signals | int]) -> None:
        pipes = [*os.pipe()]
        try:
            pipes += os.pipe()
            command_end, commands, reports, report_end = pipes
            others = [fd for m in self._members.values() for fd in (m.commands, m.reports.fd)]
            surroundings = Surroundings(
                self._fd, command_end, report_end, [commands, reports, *others], mask
            )
            pid = os.fork()
        except OSError:
            for fd in pipes:
                os.close(fd)
            raise
        if not pid:
            run_worker(self._produce, surroundings, self._held_bytes)
        self._members[reports] = _Member(pid, commands, FrameReader(reports))
        self._poll.register(reports, select.POLLIN)
        os.close(command_end)
        os.close(report_end)

    def _hand_out(self, tasks: Iterator[T]) -> None:
        """Give a task to each that has none."""
        for member in self._members.values():
            # Not to one that writes: it does not listen meanwhile.
            if not member.is_idle or (self._turns and self._turns[0] is member):
                continue
            for task in tasks:
                member.is_idle = False
                self._send(member, frames.TASK, pack(task))
                self._turns.append(member)
                if len(self._turns) == 1:
                    self._send(member, frames.TURN)
                break
            else:
                self._is_more = False
                return

    def _hear(self, member: _Member) -> None:
        try:
            messages = member.reports.receive()
        except EOFError:
            raise self._death(member) from None
        for kind, payload in messages:
            if kind == frames.RESULT:
                self._on_result(unpack(payload))
            elif kind == frames.NEXT:
                member.is_idle = True
            elif kind == frames.FAILED:
                raise unpack(payload)
            else:
                self._turns.popleft()
                if self._turns:
                    self._send(self._turns[0], frames.TURN)

    @staticmethod
    def _send(member: _Member, kind: bytes, payload: bytes = b"") -> None:
        with suppress(BrokenPipeError):  # it has died: what it said last is still to be heard
            send_frame(member.commands, kind, payload)

    def _death(self, member: _Member) -> KraftopsError:
        """Return what became of a worker that ended before its time."""
        pid, member.pid = member.pid, 0
        try:
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        except ChildProcessError:  # who started us ignores SIGCHLD
            return KraftopsError("a worker process has died")
        if code >= 0:
            return KraftopsError(f"a worker process ended with exit status {code}")
        hint = None
        if code == -signal.SIGKILL:
            hint = "the system does that when memory runs out; fewer jobs need less"
        return KraftopsError(f"a worker process was killed by {_signal_name(-code)}", hint)

    def _dismiss(self, *, kill: bool) -> None:
        """End all processes, and wait until they are gone."""
        with _signals_held():
            for member in self._members.values():
                os.close(member.commands)  # which is what they end at
                if kill and member.pid:
                    os.kill(member.pid, signal.SIGKILL)
            for member in self._members.values():
                if member.pid:
                    with suppress(ChildProcessError):
                        os.waitpid(member.pid, 0)
                os.close(member.reports.fd)
            self._members.clear()


@contextmanager
def _signals_held() -> Iterator[set[signal.Signals | int]]:
    """Let signals that end this process wait; give the mask of before."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield mask
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
