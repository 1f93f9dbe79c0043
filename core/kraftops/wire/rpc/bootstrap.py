"""The first of several addresses that can be asked."""

from __future__ import annotations

from collections.abc import Sequence

from kraftops.errors import AuthError, WireError
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address, Bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.connection import Connection, Kind

_OTHER = {
    Kind.BROKER: "a controller answers there, not a broker",
    Kind.CONTROLLER: "a broker answers there, not a controller",
}
_OPTION = {Kind.BROKER: "--bootstrap-controller", Kind.CONTROLLER: "--bootstrap-server"}


def connect(
    bootstrap: Sequence[Bootstrap],
    settings: Settings,
    deadline: Deadline,
    wanted: Kind | None = None,
) -> Connection:
    """Connect to the first of some addresses where a node of the *wanted* kind answers.

    Raises:
        WireError: there is none; the message has the reason for each.
        AuthError: one does not let us in: the others are not tried, lest a user gets locked out.
    """
    failed: list[WireError] = []
    for address, _ in bootstrap:
        try:
            connection = Connection(address, settings, deadline)
        except AuthError:
            raise
        except WireError as error:
            failed.append(error)
            continue
        if wanted is None or connection.kind is wanted:
            return connection
        connection.close()
        failed.append(_mismatch(address, wanted))
        if deadline.is_over:
            break
    raise all_failed(failed, len(bootstrap))


def all_failed(failed: Sequence[WireError], count: int) -> WireError:
    """Return the error of *count* addresses, made of those of the ones that were tried."""
    if count == 1:
        return failed[0]
    reasons = "; ".join(error.message for error in failed)
    return WireError(f"none of {count} addresses can be asked: {reasons}", failed[0].hint)


def _mismatch(address: Address, wanted: Kind) -> WireError:
    return WireError(f"{address}: {_OTHER[wanted]}", hint=f"{_OPTION[wanted]} is for those")
