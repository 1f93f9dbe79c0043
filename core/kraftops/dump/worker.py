"""A worker process: makes the output of tasks, and writes it when its turn comes."""

from __future__ import annotations

import gc
import os
import select
import signal
from collections import deque
from collections.abc import Sequence
from typing import Generic, NamedTuple, NoReturn, TypeVar

from kraftops.dump import frames
from kraftops.dump.frames import FrameReader, pack, send_frame, unpack
from kraftops.dump.parallel import Produce
from kraftops.dump.writing import Chunks, write_all
from kraftops.errors import KraftopsError

T = TypeVar("T")
R = TypeVar("R")

_OUTPUT = b""  # the kind of what is for the output, and not for the parent


class Surroundings(NamedTuple):
    """What a worker is born into: descriptors, and the signal mask that it should have."""

    output: int
    commands: int
    reports: int
    unused: Sequence[int]
    mask: set[signal.Signals | int]


def run_worker(produce: Produce[T, R], surroundings: Surroundings, held_bytes: int) -> NoReturn:
    """Work until there are no more commands, and end the process."""
    code = 1
    try:
        for fd in surroundings.unused:
            os.close(fd)  # an end that stays open here would never be seen to close
        _mind_signals(surroundings)
        gc.freeze()  # what is shared with the parent would be copied when it is looked at
        _Worker(produce, surroundings, held_bytes).run()
    except (EOFError, BrokenPipeError):
        code = 0  # the parent is done, or gone
    except BaseException as error:  # noqa: BLE001 - nothing may get out into the parent's code
        send_frame(surroundings.reports, frames.FAILED, _packed(error))
    finally:
        os._exit(code)


def _mind_signals(surroundings: Surroundings) -> None:
    """Leave it to the parent to react to signals, but never outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    _end_with_the_parent(surroundings.commands)
    signal.pthread_sigmask(signal.SIG_SETMASK, surroundings.mask)


def _end_with_the_parent(commands: int) -> None:
    """End as soon as nobody can send commands, even while the output takes nothing."""
    import fcntl

    def look(*_: object) -> None:
        end = select.poll()  # a new one: the next signal may come while it is asked
        end.register(commands, 0)
        if end.poll(0):
            os._exit(0)

    # The pipe's signal comes with every command, and when its other end is closed.
    signal.signal(signal.SIGIO, look)
    fcntl.fcntl(commands, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(commands, fcntl.F_SETFL, os.O_ASYNC)
    look()


class _Worker(Generic[T, R]):
    """Works on tasks, and keeps what comes of them until it may give it out."""

    def __init__(self, produce: Produce[T, R], surroundings: Surroundings, held_bytes: int) -> None:
        self._produce = produce
        self._output = surroundings.output
        self._commands = FrameReader(surroundings.commands)
        self._reports = surroundings.reports
        self._most = held_bytes
        self._waiting: deque[tuple[bytes, bytes]] = deque()  # kinds and data, in order
        self._held = 0  # bytes of these
        self._has_turn = False
        self._task: bytes | None = None
        self._chunks = Chunks(lambda data: self._add(_OUTPUT, data))
        self._command = select.poll()
        self._command.register(surroundings.commands, select.POLLIN)

    def run(self) -> None:
        """Do tasks.

        Raises:
            EOFError: there are no more.
            BrokenPipeError: the parent is gone.
        """
        while True:
            while self._task is None:
                self._obey()
            task: T = unpack(self._task)
            self._task = None
            end, payload = frames.DONE, b""
            try:
                for chunk in self._produce(task, self._tell):
                    self._chunks.add(chunk)
            except Exception as error:  # noqa: BLE001 - the parent raises it
                end, payload = frames.FAILED, _packed(error)
            self._chunks.flush()
            self._add(end, payload)
            send_frame(self._reports, frames.NEXT)

    def _tell(self, result: R) -> None:
        self._chunks.flush()
        self._add(frames.RESULT, pack(result))

    def _add(self, kind: bytes, data: bytes) -> None:
        """Give something out, now or when the turn comes."""
        self._waiting.append((kind, data))
        self._held += len(data)
        self._give_out()
        while self._held > self._most or self._command.poll(0):
            self._obey()

    def _obey(self) -> None:
        """Wait for a command."""
        for kind, payload in self._commands.receive():
            if kind == frames.TASK:
                self._task = payload
            else:
                self._has_turn = True
        self._give_out()

    def _give_out(self) -> None:
        while self._has_turn and self._waiting:
            kind, data = self._waiting.popleft()
            self._held -= len(data)
            if kind == _OUTPUT:
                try:
                    write_all(self._output, data)
                except OSError as error:
                    send_frame(self._reports, frames.FAILED, _packed(error))
                    os._exit(1)
            else:
                send_frame(self._reports, kind, data)
                self._has_turn = kind == frames.RESULT


def _packed(error: BaseException) -> bytes:
    """Return an exception as bytes, or one that says the same where it cannot be had so."""
    if not isinstance(error, KraftopsError | OSError):
        from traceback import format_exception

        error.add_note("in a worker process:\n" + "".join(format_exception(error)))
    try:
        packed = pack(error)
        if type(unpack(packed)) is type(error):
            return packed
    except Exception:  # noqa: BLE001, S110 - whatever its constructor or state is made of
        pass
    if isinstance(error, KraftopsError):
        plain = KraftopsError(error.message, error.hint)
        plain.exit_code = error.exit_code
        return pack(plain)
    return pack(RuntimeError(f"{type(error).__name__}: {error}"))
