"""What a command looks at: configurations, log directories, archives, or a Kafka on this host."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from kraftops.dump.sources.missing import refuse_configurations, refuse_missing
from kraftops.errors import KraftopsError, UsageError
from kraftops.log.files import file_name, has_bundle_name
from kraftops.server.nearby import log_directories_in
from kraftops.storage.config.host import LocalKafka, kafka_of_this_host
from kraftops_cli.syntax.option_fields import argument, option
from kraftops_cli.syntax.values import Seconds
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from kraftops.reassign.access import ClusterAccess
    from kraftops.recovery.node_copies import LogSource


_ADDRESS = re.compile(r"(?:\w+://)?([\w.-]+:\d{1,5})/?")


@dataclass(frozen=True, kw_only=True)
class ExaminedOptions:
    """The options that name it; *names* are directories and archives."""

    names: tuple[str, ...] = argument(metavar="[WHAT…]", nargs=-1, type=click.Path(readable=False))
    configs: tuple[str, ...] = option(
        "--config",
        "-c FILE",
        multiple=True,
        help="The server.properties of a node; may be given more than once.",
    )
    bootstrap_server: str | None = option(
        "--bootstrap-server", "-b HOST:PORT,…", help="Addresses of brokers."
    )
    command_config: str | None = option(
        "--command-config FILE", help="Client properties, for login and TLS."
    )
    timeout: float | None = option(
        "--timeout SECONDS",
        type=Seconds(),
        help="With -b or -C: longest wait for an answer.  [default: 15]",
    )
    controllers: str | None = None

    @property
    def directories(self) -> list[str]:
        """The log directories in the directories that are named, and archives."""
        return [path for name in self.names for path in log_directories_in(name)]

    def opened_sources(
        self, terminal: Terminal, skipped: list[KraftopsError]
    ) -> AbstractContextManager[list[LogSource]]:
        """Return the log directories that are named, also those in archives, as a context.

        What cannot be read of an archive is reported, and added to *skipped*.

        Raises:
            RecoveryRefused: an archive cannot be read, or none has a log directory.
        """
        from kraftops.recovery.node_copies import opened_sources

        def skip(error: KraftopsError) -> None:
            skipped.append(error)
            terminal.error(error.message, code=error.code)

        # Archives of empty disks have no log directory.
        return opened_sources(self.directories, skip, takes_damaged=True, left_out={"no-log"})

    @property
    def is_live(self) -> bool:
        """Whether a running cluster is asked."""
        return self.bootstrap_server is not None or self.controllers is not None

    def nodes(self, terminal: Terminal) -> Sequence[LocalKafka]:
        """Return the nodes that are named; where nothing is named, those of this host.

        Raises:
            UsageError: there is none, or a directory is named as a configuration.
            SourceError: a file that is named does not exist.
        """
        if self.names or self.configs or self.is_live:
            addresses = filter(None, map(_ADDRESS.fullmatch, self.names))
            server = next((match[1] for match in addresses), "HOST:PORT")
            refuse_missing([*self.configs, *self.names], f"-b {server} asks a running cluster")
            for path in filter(os.path.isdir, self.configs):
                message = f"{path} is a directory, and not a configuration"
                raise UsageError(message, f"log directories are named without -c: {path}")
            for path in filter(has_bundle_name, self.configs):
                message = f"{path} is an archive, and not a configuration"
                raise UsageError(message, "named without -c, its configurations are used")
            refuse_configurations(self.names, "-c {}")
            for path in filter(file_name, filter(os.path.isfile, self.names)):
                raise UsageError(f"{path} is a file of a log", f"kraftops dump-log check {path}")
            return [LocalKafka(path) for path in self.configs]
        local = kafka_of_this_host()
        for kafka in local:
            terminal.error(f"note: looking at {kafka}")
        return local

    def access(self, terminal: Terminal) -> ClusterAccess:
        """Return access to the running cluster; nothing is connected yet.

        Raises:
            UsageError: an address is invalid.
            ConfigError: the client properties cannot be read, or have an invalid value.
        """
        from kraftops.reassign.access import ClusterAccess
        from kraftops.wire.net.deadline import Deadline
        from kraftops.wire.rpc.endpoints import endpoints_of
        from kraftops_cli.live.connect import settings_of
        from kraftops_cli.live.kafka_package import skip_kafka_clients

        skip_kafka_clients()
        settings = settings_of(terminal, self.command_config, self.timeout)
        return ClusterAccess(
            endpoints_of(self.bootstrap_server or None, settings),
            endpoints_of(self.controllers or None, settings),
            settings,
            note=lambda line: terminal.error(f"note: {line}"),
            deadline=Deadline(settings.timeout),
        )
