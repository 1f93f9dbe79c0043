"""Metadata of a running cluster for the tools that else read files: how it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from kraftops.image.load.loader import Progress
    from kraftops.wire.config.settings import Settings
    from kraftops.wire.net.addresses import Bootstrap
    from kraftops.wire.quorum.live_image import LiveImage


@dataclass(frozen=True, slots=True)
class Quorum:
    """Controllers, how to reach them, and the cluster that is expected; *note* gets lines."""

    bootstrap: list[Bootstrap]
    settings: Settings
    cluster_id: str | None
    note: Callable[[str], None]


def quorum_of(
    terminal: Terminal,
    *,
    controllers: str | None = None,
    command_config: str | None = None,
    config: str | None = None,
    timeout: float | None = None,
    expect_cluster_id: str | None = None,
) -> Quorum:
    """Return the controllers that options name; warnings and notes are on the terminal.

    Args:
        terminal: Of the tool.
        controllers: HOST:PORT or ID@HOST:PORT, separated by commas; else those of *config*.
        command_config: A file of client properties, which wins against *config*.
        config: That of a server, whose first controller listener says how to log in.
        timeout: Seconds for which nothing may come; else what the properties say, or 15.
        expect_cluster_id: Refuse any other.

    Raises:
        UsageError: neither *controllers* nor *config* is given, or one makes no sense.
        ConfigError: a file cannot be read, or says what cannot be done.
    """
    from kraftops_cli.live.lean_kafka import be_lean
    from kraftops_cli.version import VERSION

    be_lean()
    from kraftops.errors import UsageError
    from kraftops.wire.config.server_settings import controller_settings, controllers_of
    from kraftops.wire.config.settings import Settings, load_settings, properties_of
    from kraftops.wire.net.addresses import parse_bootstrap

    if controllers is None and config is None:
        raise UsageError("no controllers are named", hint="--controllers HOST:PORT does it")
    known = properties_of(config) if config is not None else {}
    if controllers is not None:
        bootstrap = parse_bootstrap(controllers)
    else:
        bootstrap = controllers_of(str(config), known)
    if command_config is not None:
        settings = load_settings(command_config, lambda line: terminal.error(f"warning: {line}"))
    elif config is not None:
        settings = controller_settings(config, known)
    else:
        settings = Settings()
    settings = replace(settings, timeout=timeout or settings.timeout, software_version=VERSION)
    return Quorum(
        bootstrap, settings, expect_cluster_id, lambda line: terminal.error(f"note: {line}")
    )


def live_image(
    terminal: Terminal,
    *,
    controllers: str | None = None,
    command_config: str | None = None,
    config: str | None = None,
    timeout: float | None = None,
    expect_cluster_id: str | None = None,
    at_offset: int | None = None,
    at_time: int | None = None,
    progress: Progress | None = None,
) -> LiveImage:
    """Return the image of what controllers have; `update` keeps it current.

    Args:
        terminal: As of `quorum_of`, like all up to *expect_cluster_id*.
        controllers: As there.
        command_config: As there.
        config: As there.
        timeout: As there.
        expect_cluster_id: As there.
        at_offset: As of `kraftops.image.load.loading.load`; such an image does not change.
        at_time: As there, too.
        progress: Is told how many bytes have been applied.

    Raises:
        UsageError: what `quorum_of` raises, or the log does not reach back to that.
        WireError: nobody leads, or answers; AnswerError: it is not permitted to read the log.
    """
    quorum = quorum_of(
        terminal,
        controllers=controllers,
        command_config=command_config,
        config=config,
        timeout=timeout,
        expect_cluster_id=expect_cluster_id,
    )
    from kraftops.image.load.loading import limits_of
    from kraftops.wire.quorum.live_image import LiveImage

    return LiveImage(
        quorum.bootstrap,
        quorum.settings,
        cluster_id=quorum.cluster_id,
        limits=limits_of(at_offset, at_time),
        note=quorum.note,
        progress=progress,
    )
