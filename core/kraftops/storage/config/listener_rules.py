"""Rules between the listeners and the quorum of a server (Kafka 4.3.1's `KafkaConfig`)."""

from collections.abc import Iterable

from kraftops.java.hash_order import set_order, set_text
from kraftops.java.text import string_hash
from kraftops.storage.config.endpoints import (
    ADVERTISED,
    CONTROLLER_NAMES,
    Endpoints,
    advertised_controllers,
    advertised_listeners,
)
from kraftops.storage.config.listeners import (
    ANY_ADDRESS,
    BOOTSTRAP_SERVERS,
    LISTENERS,
    PROTOCOL_MAP,
    VOTERS,
    Listener,
    listener_name,
    parse_static_voters,
)
from kraftops.storage.config.settings import Settings
from kraftops.storage.config.values import ConfigRefused, require

INTER_BROKER = "inter.broker.listener.name"
INTER_BROKER_PROTOCOL = "security.inter.broker.protocol"


def check_listeners(settings: Settings, endpoints: Endpoints) -> None:
    """Check voters, listeners and SASL between brokers, by the roles of the node.

    Raises:
        ConfigRefused: a rule is broken.
    """
    advertised = advertised_listeners(settings, endpoints)
    if advertised is None:
        advertised = endpoints.listeners
    controller_names = settings.controller_names
    brokers = [listener for listener in advertised if listener.name not in controller_names]
    voters = parse_static_voters(settings.items(VOTERS))
    if not voters and not settings.items(BOOTSTRAP_SERVERS):
        raise ConfigRefused(
            f"If using process.roles, either {BOOTSTRAP_SERVERS} must contain the set of bootstrap "
            f"controllers or {VOTERS} must contain a parseable set of controllers.",
            BOOTSTRAP_SERVERS,
            VOTERS,
        )
    if settings.roles == {"broker"}:
        _check_broker(settings, endpoints, list(voters))
    else:
        _check_controller(settings, endpoints, list(voters))
    if "broker" in settings.roles:
        _check_broker_listeners(settings, endpoints, brokers)
        _check_cordoned(settings)
    for listeners in (brokers, advertised_controllers(settings, endpoints)):
        require(
            not any(listener.host == ANY_ADDRESS for listener in listeners),
            "advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. "
            "Use a routable IP address.",
            ADVERTISED,
            LISTENERS,
        )
    _check_inter_broker_sasl(settings, endpoints)


def _check_broker(settings: Settings, endpoints: Endpoints, voters: list[int]) -> None:
    node_id = settings.node_id
    require(
        node_id not in voters,
        f"If process.roles contains just the 'broker' role, the node id {node_id} must not be "
        f"included in the set of voters {VOTERS}={_id_set(voters)}",
        VOTERS,
    )
    require(
        not endpoints.controllers,
        f"{CONTROLLER_NAMES} must not contain a value appearing in the 'listeners' configuration "
        "when running KRaft with just the broker role",
        CONTROLLER_NAMES,
    )
    for text in settings.controller_names:
        name = listener_name(text)
        if name not in endpoints.protocols:
            raise ConfigRefused(
                f"Controller listener with name {name} defined in {CONTROLLER_NAMES} not found in "
                f"{PROTOCOL_MAP}  (an explicit security mapping for each controller listener is "
                f"required if {PROTOCOL_MAP} is non-empty, or if there are security protocols "
                "other than PLAINTEXT in use)",
                CONTROLLER_NAMES,
            )
    auto_join = "controller.quorum.auto.join.enable"
    require(
        not settings.values[auto_join],
        f"{auto_join} is only supported when process.roles contains the 'controller' role.",
        auto_join,
    )


def _check_controller(settings: Settings, endpoints: Endpoints, voters: list[int]) -> None:
    names = settings.controller_names
    if settings.roles == {"controller"}:
        require(
            len(advertised_controllers(settings, endpoints)) == len(endpoints.listeners),
            "The listeners config must only contain KRaft controller listeners from "
            f"{CONTROLLER_NAMES} when process.roles=controller",
            LISTENERS,
            CONTROLLER_NAMES,
            hint=_capitals(names),
        )
        if settings.values[INTER_BROKER] is not None:
            require(
                _inter_broker(settings, endpoints)[0] not in names,
                f"{CONTROLLER_NAMES} must not contain an explicitly set {INTER_BROKER} "
                "configuration value when process.roles=controller'",
                CONTROLLER_NAMES,
            )
    node_id = settings.node_id
    require(
        not voters or node_id in voters,
        f"If process.roles contains the 'controller' role, the node id {node_id} must be included "
        f"in the set of voters {VOTERS}={_id_set(voters)}",
        VOTERS,
    )
    require(
        bool(advertised_controllers(settings, endpoints)),
        f"{CONTROLLER_NAMES} must contain at least one value appearing in the 'listeners' "
        "configuration when running the KRaft controller role",
        CONTROLLER_NAMES,
        hint=_capitals(names),
    )
    listener_names = {listener.name for listener in endpoints.listeners}
    require(
        listener_names.issuperset(names),
        f"{CONTROLLER_NAMES} must only contain values appearing in the 'listeners' configuration "
        "when running the KRaft controller role",
        CONTROLLER_NAMES,
        hint=_capitals(names),
    )


def _capitals(names: Iterable[str]) -> str | None:
    """Return the hint for names in small letters, which no listener can have."""
    if small := [name for name in names if name != name.upper()]:
        capitals = ", ".join(name.upper() for name in small)
        return f"listener names are in capitals: write {capitals} in {CONTROLLER_NAMES}"
    return None


def _id_set(ids: list[int]) -> str:
    return set_text(ids, lambda number: number & 0xFFFFFFFF)


def _check_broker_listeners(
    settings: Settings, endpoints: Endpoints, brokers: list[Listener]
) -> None:
    advertised = list(dict.fromkeys(listener.name for listener in brokers))
    names = list(dict.fromkeys(listener.name for listener in endpoints.listeners))
    require(
        bool(advertised),
        "There must be at least one broker advertised listener. Perhaps all listeners appear in "
        f"{CONTROLLER_NAMES}?",
        ADVERTISED,
        LISTENERS,
    )
    require(
        _inter_broker(settings, endpoints)[0] in advertised,
        f"{INTER_BROKER} must be a listener name defined in {ADVERTISED}. The valid options based "
        f"on currently configured listeners are {_name_set(advertised)}",
        INTER_BROKER,
        INTER_BROKER_PROTOCOL,
        hint=None
        if INTER_BROKER in settings.originals
        else f"without {INTER_BROKER} it is {settings.text(INTER_BROKER_PROTOCOL)}",
    )
    require(
        set(advertised) <= set(names),
        f"{ADVERTISED} listener names must be equal to or a subset of the ones defined in "
        f"listeners. Found {_name_set(advertised)}. The valid options based on the current "
        f"configuration are {_name_set(names)}",
        ADVERTISED,
    )


def _name_set(names: list[str]) -> str:
    return ",".join(set_order(names, string_hash))


def _check_cordoned(settings: Settings) -> None:
    key = "cordoned.log.dirs"
    cordoned = settings.items(key)
    if "*" in cordoned:
        require(
            len(cordoned) == 1,
            f"When {key} is set to *, it must not contain other values",
            key,
        )
        return
    unknown = [path for path in cordoned if path not in settings.log_dirs]
    require(
        not unknown,
        f"All entries in {key} must be present in log.dirs or log.dir. Missing entries : "
        f"{', '.join(unknown)}",
        key,
    )


def _inter_broker(settings: Settings, endpoints: Endpoints) -> tuple[str, str]:
    text = settings.text(INTER_BROKER)
    if text is None:
        protocol = settings.text(INTER_BROKER_PROTOCOL) or ""
        return protocol, protocol
    if INTER_BROKER_PROTOCOL in settings.originals:
        raise ConfigRefused(
            f"Only one of {INTER_BROKER} and {INTER_BROKER_PROTOCOL} should be set.",
            INTER_BROKER,
        )
    name = listener_name(text)
    if name not in endpoints.protocols:
        raise ConfigRefused(
            f"Listener with name {name} defined in {INTER_BROKER} not found in {PROTOCOL_MAP}.",
            INTER_BROKER,
        )
    return name, endpoints.protocols[name]


def _check_inter_broker_sasl(settings: Settings, endpoints: Endpoints) -> None:
    name, protocol = _inter_broker(settings, endpoints)
    if not protocol.startswith("SASL"):
        return
    enabled, mechanism = "sasl.enabled.mechanisms", "sasl.mechanism.inter.broker.protocol"
    overrides = settings.with_prefix(f"listener.name.{name.lower()}.")
    allowed = overrides.get(enabled, settings.values[enabled])
    assert isinstance(allowed, tuple)
    require(
        settings.values[mechanism] in allowed,
        f"{mechanism} must be included in {enabled} when SASL is used for inter-broker "
        "communication",
        mechanism,
        enabled,
    )
