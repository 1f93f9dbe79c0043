"""Listeners of a node, and its advertised listeners, from its configuration."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kraftops.storage.config.listeners import (
    ANY_ADDRESS,
    LISTENERS,
    PROTOCOL_MAP,
    VOTERS,
    Listener,
    listener_name,
    parse_listeners,
    parse_static_voters,
    security_protocols,
)
from kraftops.storage.config.settings import Settings
from kraftops.storage.config.values import ConfigRefused

ADVERTISED = "advertised.listeners"
CONTROLLER_NAMES = "controller.listener.names"


class Endpoints(NamedTuple):
    """Listeners of a node, with their protocols."""

    protocols: Mapping[str, str]
    listeners: tuple[Listener, ...]
    controllers: tuple[Listener, ...]


def endpoints_of(settings: Settings) -> Endpoints:
    """Return the listeners of a node.

    Raises:
        ConfigRefused: listeners clash, have no protocol, or one to start early does not exist.
    """
    protocols = _protocols(settings)
    listeners = parse_listeners(LISTENERS, settings.items(LISTENERS), protocols)
    names = settings.controller_names
    controllers = tuple(listener for listener in listeners if listener.name in names)
    _check_early_start(settings, listeners)
    return Endpoints(protocols, listeners, controllers)


def advertised_controllers(settings: Settings, endpoints: Endpoints) -> tuple[Listener, ...]:
    """Return the advertised controller listeners, in the order of their names.

    Raises:
        ConfigRefused: the address of this node's entry in the voters cannot be reached.
    """
    advertised = [
        listener
        for listener in advertised_listeners(settings, endpoints) or ()
        if listener.name in settings.controller_names
    ]
    controllers = []
    for index, text in enumerate(settings.controller_names):
        name = listener_name(text)
        if listener := _named(name, advertised):
            controllers.append(listener)
        elif listener := _named(name, endpoints.controllers):
            if index == 0 and listener.host in (None, ANY_ADDRESS):
                voters = parse_static_voters(settings.items(VOTERS), routable=True)
                host, port = voters.get(settings.node_id, (listener.host, listener.port))
                listener = listener._replace(host=host, port=port)
            if listener.host == ANY_ADDRESS:
                listener = listener._replace(host=None)
            controllers.append(listener)
    return tuple(controllers)


def _protocols(settings: Settings) -> dict[str, str]:
    return security_protocols(
        settings.text(PROTOCOL_MAP) or "",
        given=PROTOCOL_MAP in settings.originals,
        listeners=settings.items(LISTENERS),
        controllers=settings.controller_names,
    )


def advertised_listeners(settings: Settings, endpoints: Endpoints) -> tuple[Listener, ...] | None:
    """Return the advertised listeners; None where the configuration has none.

    Raises:
        ConfigRefused: they clash, or have no protocol.
    """
    if settings.values[ADVERTISED] is None:
        return None
    return parse_listeners(
        ADVERTISED, settings.items(ADVERTISED), endpoints.protocols, distinct_ports=False
    )


def _check_early_start(settings: Settings, listeners: Iterable[Listener]) -> None:
    key = "early.start.listeners"
    names = {listener.name for listener in listeners}
    for name in settings.items(key):
        if name not in names:
            raise ConfigRefused(
                f"{key} contains listener {name}, but this is not contained in listeners or "
                f"{CONTROLLER_NAMES}",
                key,
            )


def _named(name: str, listeners: Iterable[Listener]) -> Listener | None:
    return next((listener for listener in listeners if listener.name == name), None)
