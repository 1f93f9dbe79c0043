"""A running cluster: its brokers, partitions and metadata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from kraftops.errors import UsageError
from kraftops.reassign.access import ClusterAccess
from kraftops.wire.config.client_settings import load_settings
from kraftops.wire.config.settings import Settings
from kraftops.wire.rpc.endpoints import endpoints_of

if TYPE_CHECKING:
    from kraftops.image.state.image import MetadataImage
    from kraftops.placement.placement import Placement


@dataclass(repr=False)
class Cluster:
    """A running cluster; a context manager, which closes its connections."""

    access: ClusterAccess

    def __repr__(self) -> str:
        endpoints = filter(None, (self.access.brokers, self.access.controllers))
        named = [str(node.address) for endpoint in endpoints for node in endpoint.bootstrap]
        return f"Cluster ({', '.join(named)})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.access.close()

    def placement(self) -> Placement:
        """Return brokers and replicas as they are now.

        Raises:
            WireError: no server answers; AnswerError: it is not permitted.
        """
        return self.access.placement()

    def image(self) -> MetadataImage:
        """Return the metadata as it is now, as `kraftops.load` returns that of files.

        Raises:
            UsageError: no controllers are named.
            WireError: no server answers; AnswerError: it is not permitted.
        """
        image = self.access.metadata()
        if image is None:
            raise UsageError(
                "the metadata log is read from controllers", hint="cluster(controllers=…)"
            )
        return image


def cluster(
    bootstrap_server: str | None = None,
    *,
    controllers: str | None = None,
    command_config: str | None = None,
) -> Cluster:
    """Return a running cluster; nothing is connected before it is asked.

    Args:
        bootstrap_server: addresses of brokers, HOST:PORT with commas.
        controllers: addresses of controllers, likewise.
        command_config: a file of client properties, for login and TLS.

    Raises:
        UsageError: an address is invalid, or none is given.
        ConfigError: the file cannot be read, or has an invalid value.
    """
    for addresses in (bootstrap_server, controllers):
        if not isinstance(addresses, str | None):
            raise UsageError(f"{addresses!r} is not of the form HOST:PORT,HOST:PORT")
    if bootstrap_server is None and controllers is None:
        raise UsageError("no address is named", hint="bootstrap_server= or controllers=")
    settings = Settings() if command_config is None else load_settings(command_config, _ignore)
    brokers, quorum = (
        endpoints_of(text or None, settings) for text in (bootstrap_server, controllers)
    )
    return Cluster(ClusterAccess(brokers, quorum, settings))


def _ignore(_: str) -> None:
    """Leave out warnings about keys that have no meaning here."""
