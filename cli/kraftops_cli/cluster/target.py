"""The cluster that the options of a subcommand of `kafka-cluster` name."""

from kraftops.errors import UsageError
from kraftops.wire.cluster import ClusterConnections
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.endpoints import endpoints_of
from kraftops_cli.cluster.options import TargetOptions
from kraftops_cli.live.connect import settings_of
from kraftops_cli.live.kafka_package import skip_kafka_clients
from kraftops_cli.terminal.streams import Terminal


def cluster_of(terminal: Terminal, options: TargetOptions) -> ClusterConnections:
    """Read addresses and client properties; the first request connects.

    Raises:
        UsageError: an address is invalid, or options exclude each other.
        ConfigError: the file cannot be read, or has an invalid or unsupported value.
    """
    skip_kafka_clients()
    settings = settings_of(terminal, _config_path(terminal, options), options.timeout)
    # The syntax requires one of the two.
    brokers, controllers = (
        endpoints_of(addresses, settings, options.expect_cluster_id)
        for addresses in (options.bootstrap_server, options.bootstrap_controller)
    )
    return ClusterConnections(brokers, controllers, deadline=Deadline(settings.timeout))


def _config_path(terminal: Terminal, options: TargetOptions) -> str | None:
    """Let the deprecated --config stand for --command-config, with Kafka's warning."""
    if options.config is None:
        return options.command_config
    if options.command_config is not None:
        raise UsageError("--config and --command-config cannot be specified together.")
    terminal.error(
        "warning: --config has been deprecated and will be removed in a future version",
        hint="--command-config is its name now",
    )
    return options.config
