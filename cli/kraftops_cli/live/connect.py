"""Connection settings and quorums from the options of a command line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kraftops.errors import UsageError
from kraftops_cli.live.kafka_package import skip_kafka_clients
from kraftops_cli.live.options import QuorumOptions
from kraftops_cli.terminal.streams import Terminal
from kraftops_cli.version import VERSION

if TYPE_CHECKING:
    from kraftops.image.load.loader import Progress
    from kraftops.image.replay.limits import Limits
    from kraftops.wire.config.settings import Settings
    from kraftops.wire.quorum.live_image import LiveImage
    from kraftops.wire.rpc.endpoints import Endpoints


def quorum_target(terminal: Terminal, options: QuorumOptions) -> Endpoints:
    """Return the controllers that options name; warnings are printed on the terminal.

    Client properties win over the login of the server's first controller listener.

    Raises:
        UsageError: no controllers are named, or an address is invalid.
        ConfigError: a file cannot be read, or has an invalid or unsupported value.
    """
    skip_kafka_clients()
    from kraftops.wire.config.client_properties import ClientProperties, read_properties
    from kraftops.wire.config.server_settings import controller_settings, controllers_of
    from kraftops.wire.config.settings import Settings
    from kraftops.wire.net.addresses import parse_bootstrap
    from kraftops.wire.rpc.endpoints import Endpoints

    if options.controllers is None and options.config is None:
        raise UsageError("no controllers are named", hint="name them with --controllers HOST:PORT")
    path = options.config
    server = None if path is None else ClientProperties(path, read_properties(path))
    if options.controllers is not None:
        bootstrap = parse_bootstrap(options.controllers)
    else:
        assert server  # one of the two is given
        bootstrap = controllers_of(server)
    if options.command_config is not None:
        settings = client_file_settings(terminal, options.command_config)
    else:
        settings = controller_settings(server) if server else Settings()
    settings = tool_settings(terminal, settings, options.timeout)
    return Endpoints(bootstrap, settings, options.expect_cluster_id)


def client_file_settings(terminal: Terminal, path: str) -> Settings:
    """Return the settings in a file of client properties; print warnings.

    Raises:
        ConfigError: it cannot be read, or has an invalid or unsupported value.
    """
    from kraftops.wire.config.client_settings import load_settings

    return load_settings(path, lambda line: terminal.error(f"warning: {line}"))


def settings_of(terminal: Terminal, path: str | None, timeout: float | None = None) -> Settings:
    """Return the settings in a file of client properties, if there is one; errors as above."""
    from kraftops.wire.config.settings import Settings

    settings = Settings() if path is None else client_file_settings(terminal, path)
    return tool_settings(terminal, settings, timeout)


def tool_settings(terminal: Terminal, settings: Settings, timeout: float | None) -> Settings:
    """Return settings with the command line's timeout, if any, and budget, and our version."""
    timeout = timeout or settings.timeout
    return replace(settings, timeout=timeout, software_version=VERSION, budget=terminal.budget)


def live_image(
    terminal: Terminal,
    options: QuorumOptions,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> LiveImage:
    """Return the image of the quorum that options name; its `update` keeps it current.

    Args:
        terminal: Gets warnings and notes.
        options: Options that name the quorum.
        limits: From `kraftops.image.load.loading.limits_of`; a limited image does not change.
        progress: Called with the number of bytes that were applied.

    Raises:
        UsageError: the options name no quorum, or the log does not reach back to the limits.
        WireError: no controller leads, or none answers; AnswerError: reading is not permitted.
    """
    target = quorum_target(terminal, options)
    from kraftops.wire.quorum.live_image import LiveImage

    return LiveImage(
        target,
        limits=limits,
        note=lambda line: terminal.error(f"note: {line}"),
        progress=progress,
    )
