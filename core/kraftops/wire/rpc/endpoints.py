"""Addresses of brokers or of controllers, and how they are connected to."""

from collections.abc import Sequence
from dataclasses import dataclass

from kraftops.errors import AnswerError
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address, Bootstrap, parse_bootstrap
from kraftops.wire.rpc.error_codes import INCONSISTENT_CLUSTER_ID


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Nodes to begin with, their connection settings, and the expected cluster id, if any.

    The timeout of the settings limits the time without any answer.
    """

    bootstrap: Sequence[Bootstrap]
    settings: Settings
    cluster_id: str | None = None


def endpoints_of(
    addresses: str | None, settings: Settings, cluster_id: str | None = None
) -> Endpoints | None:
    """Parse addresses of the command line; None if there are none.

    Raises:
        UsageError: an address is malformed.
    """
    if addresses is None:
        return None
    return Endpoints(parse_bootstrap(addresses), settings, cluster_id)


def other_cluster(address: Address, cluster_id: str | None, expected: str | None) -> AnswerError:
    """Say that a node belongs to another cluster; None is an id that it hides."""
    ids = f"not {expected}" if cluster_id is None else f"{cluster_id}, not {expected}"
    return AnswerError.at(
        address,
        f"its cluster id is {ids}",
        hint="check the address and --expect-cluster-id",
        error_code=INCONSISTENT_CLUSTER_ID,
        clusterId=cluster_id,
    )
