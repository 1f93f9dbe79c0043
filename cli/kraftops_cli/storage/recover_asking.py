"""Ask controllers that may run before a recovery, with the login of the node's configuration."""

from __future__ import annotations

from collections.abc import Sequence

from kraftops.recovery.live_controllers import Addresses, AskControllers, ControllerAnswer
from kraftops_cli.live.kafka_package import skip_kafka_clients

_SECONDS = 5.0  # a follower forgets a dead leader after controller.quorum.fetch.timeout.ms, 2 s


def asking(path: str) -> AskControllers:
    """Return the function that asks controllers, with the login in a server.properties."""

    def ask(addresses: Addresses, cluster_id: str) -> Sequence[ControllerAnswer]:
        skip_kafka_clients()
        from kraftops.wire.config.client_properties import ClientProperties, read_properties
        from kraftops.wire.config.server_settings import controller_settings
        from kraftops.wire.quorum.survey import survey

        settings = controller_settings(ClientProperties(path, read_properties(path)))
        return survey(addresses, settings, cluster_id, _SECONDS)

    return ask
