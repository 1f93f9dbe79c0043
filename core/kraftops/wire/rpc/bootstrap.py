"""Connection to the first of several addresses that answers; they are tried side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Event
from typing import TYPE_CHECKING

from kraftops.errors import AnswerError, AuthError, WireError
from kraftops.parallel.background import BackgroundCall
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address, Bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.connection import Connection, NodeKind

if TYPE_CHECKING:
    from queue import SimpleQueue

_OTHER = {
    NodeKind.BROKER: "a controller answers there, not a broker",
    NodeKind.CONTROLLER: "a broker answers there, not a controller",
}
_OPTION = {NodeKind.BROKER: "--bootstrap-controller", NodeKind.CONTROLLER: "--bootstrap-server"}
_HEAD_START = 0.3
"""Seconds for an address, before the next one is tried, too: most answer much sooner."""


def connect(
    bootstrap: Sequence[Bootstrap],
    settings: Settings,
    deadline: Deadline,
    kind: NodeKind | None = None,
    first: Callable[[Connection], None] = lambda _: None,
) -> Connection:
    """Connect to the first address at which a node of the right *kind* answers.

    A node that is stopping may answer once, and no more: what is asked *first* must be answered,
    too.

    Raises:
        WireError: there is none; the message has the reason for each address.
        AuthError: a node refuses the login. The others are not tried: a server may lock users out.
        AnswerError: a node refuses what is asked first.
    """
    addresses = [endpoint.address for endpoint in bootstrap]
    failed: dict[Address, WireError] = {}
    for connection in answering(addresses, settings, deadline, failed):
        if kind is not None and connection.kind is not kind:
            connection.close()
            failed[connection.address] = _mismatch(connection.address, kind)
            continue
        try:
            first(connection)
        except BaseException as error:
            connection.close()
            if isinstance(error, AnswerError) or not isinstance(error, WireError):
                raise
            failed[connection.address] = error
        else:
            return connection
    raise all_failed(in_order(addresses, failed), len(bootstrap))


def answering(
    addresses: Sequence[Address],
    settings: Settings,
    deadline: Deadline,
    failed: dict[Address, WireError],
) -> Iterator[Connection]:
    """Yield connections, in the order in which nodes answer; put the errors of others in *failed*.

    An address that has not answered is waited for while the next one is tried. Connections that
    come after the last one that was taken are closed.

    Raises:
        AuthError: a node refuses the login.
    """
    if len(addresses) == 1:
        try:
            connection = Connection(addresses[0], settings, deadline)
        except AuthError:
            raise
        except WireError as error:
            failed[addresses[0]] = error
        else:
            yield connection
        return
    race = _Race(settings, deadline)
    try:
        yield from race.run(addresses, failed)
    finally:
        race.end()


class _Race:
    """Attempts to connect, each in a thread."""

    def __init__(self, settings: Settings, deadline: Deadline) -> None:
        from queue import SimpleQueue  # 0.8 ms, and a single address needs none

        self._settings = settings
        self._deadline = deadline
        self._is_over = Event()
        self._done: SimpleQueue[Connection | tuple[Address, Exception]] = SimpleQueue()

    def run(
        self, addresses: Sequence[Address], failed: dict[Address, WireError]
    ) -> Iterator[Connection]:
        from queue import Empty

        waiting = list(addresses)
        running = 0
        while waiting or running:
            if waiting and not (running and self._deadline.is_over):
                address = waiting.pop(0)
                BackgroundCall(lambda address=address: self._attempt(address))  # type: ignore[misc]
                running += 1
            try:
                # The last one is waited for until its own deadline, which its attempt keeps.
                outcome = self._done.get(timeout=_HEAD_START if waiting else None)
            except Empty:
                continue
            running -= 1
            if isinstance(outcome, Connection):
                yield outcome
                continue
            address, error = outcome
            if not isinstance(error, WireError) or isinstance(error, AuthError):
                raise error
            failed[address] = error

    def end(self) -> None:
        """Have connections that are still made closed."""
        self._is_over.set()
        while not self._done.empty():
            if isinstance(outcome := self._done.get(), Connection):
                outcome.close()

    def _attempt(self, address: Address) -> None:
        try:
            connection = Connection(address, self._settings, self._deadline)
        except Exception as error:  # noqa: BLE001 - raised by `run`
            self._done.put((address, error))
            return
        if self._is_over.is_set():
            connection.close()
        else:
            self._done.put(connection)


def in_order(addresses: Sequence[Address], failed: Mapping[Address, WireError]) -> list[WireError]:
    return [failed[address] for address in addresses if address in failed]


def all_failed(failed: Sequence[WireError], count: int) -> WireError:
    """Join the errors of the addresses that were tried, of *count*, into one."""
    if count == 1:
        return failed[0]
    reasons = "; ".join(error.message for error in failed)
    codes = {error.code for error in failed}
    return WireError(
        f"none of {count} addresses can be asked: {reasons}",
        failed[0].hint,
        code=failed[0].code if len(codes) == 1 else None,
        addresses=[error.known.get("address") for error in failed],
    )


def _mismatch(address: Address, kind: NodeKind) -> WireError:
    hint = f"{_OPTION[kind]} is for those"
    return WireError.at(address, _OTHER[kind], hint, code="wrong-node")
