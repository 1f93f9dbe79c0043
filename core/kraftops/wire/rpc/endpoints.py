"""Addresses of brokers or of controllers, and how they are connected to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Bootstrap, parse_bootstrap


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
    """Return the endpoints that a user has named, if any.

    Raises:
        UsageError: an address is malformed.
    """
    if addresses is None:
        return None
    return Endpoints(parse_bootstrap(addresses), settings, cluster_id)
