"""Quorum to read from: the addresses of controllers, and the connection settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Bootstrap


@dataclass(frozen=True, slots=True)
class QuorumTarget:
    """Controllers to begin with, connection settings, and the expected cluster id, if any.

    The timeout of the settings limits the time without any answer.
    """

    bootstrap: Sequence[Bootstrap]
    settings: Settings
    cluster_id: str | None = None
