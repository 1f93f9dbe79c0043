"""Connection to the first of several addresses that answers."""

from __future__ import annotations

from collections.abc import Sequence

from kraftops.errors import AuthError, WireError
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address, Bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.connection import Connection, NodeKind

_OTHER = {
    NodeKind.BROKER: "a controller answers there, not a broker",
    NodeKind.CONTROLLER: "a broker answers there, not a controller",
}
_OPTION = {NodeKind.BROKER: "--bootstrap-controller", NodeKind.CONTROLLER: "--bootstrap-server"}


def connect(
    bootstrap: Sequence[Bootstrap],
    settings: Settings,
    deadline: Deadline,
    wanted: NodeKind | None = None,
) -> Connection:
    """Connect to the first address at which a node of the *wanted* kind answers.

    Raises:
        WireError: there is none; the message has the reason for each address.
        AuthError: a node refuses the login. The others are not tried: a server may lock users out.
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
    """Return one error of *count* addresses, with the reasons of those that were tried."""
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


def _mismatch(address: Address, wanted: NodeKind) -> WireError:
    hint = f"{_OPTION[wanted]} is for those"
    return WireError.at(address, _OTHER[wanted], hint, code="wrong-node")
