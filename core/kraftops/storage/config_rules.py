"""Rules between the keys of a server configuration (Kafka 4.3.1's `KafkaConfig` and its parts)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from kraftops.storage.config_values import Refused, parse_value, whole_number
from kraftops.storage.javahash import map_order, set_order, set_text, string_hash
from kraftops.storage.listeners import (
    ANY_ADDRESS,
    BOOTSTRAP_SERVERS,
    LISTENERS,
    PROTOCOL_MAP,
    VOTERS,
    Listener,
    is_host,
    listener_name,
    parse_listeners,
    parse_map,
    parse_server,
    parse_voters,
    security_protocols,
)
from kraftops.storage.server_keys import ServerKey, server_keys

T = TypeVar("T")

CONTROLLER_NAMES = "controller.listener.names"
ADVERTISED = "advertised.listeners"
INTER_BROKER = "inter.broker.listener.name"
INTER_BROKER_PROTOCOL = "security.inter.broker.protocol"
_CODECS = range(5)
_MEBIBYTE = 1 << 20
_HOUR = 3_600_000

GROUP_RULES = """\
group.consumer.max.heartbeat.interval.ms >= group.consumer.min.heartbeat.interval.ms
group.consumer.heartbeat.interval.ms >= group.consumer.min.heartbeat.interval.ms
group.consumer.heartbeat.interval.ms <= group.consumer.max.heartbeat.interval.ms
group.consumer.max.session.timeout.ms >= group.consumer.min.session.timeout.ms
group.consumer.session.timeout.ms >= group.consumer.min.session.timeout.ms
group.consumer.session.timeout.ms <= group.consumer.max.session.timeout.ms
group.consumer.heartbeat.interval.ms < group.consumer.session.timeout.ms
group.consumer.max.assignment.interval.ms >= group.consumer.min.assignment.interval.ms
group.consumer.assignment.interval.ms >= group.consumer.min.assignment.interval.ms
group.consumer.assignment.interval.ms <= group.consumer.max.assignment.interval.ms
group.share.max.heartbeat.interval.ms >= group.share.min.heartbeat.interval.ms
group.share.heartbeat.interval.ms >= group.share.min.heartbeat.interval.ms
group.share.heartbeat.interval.ms <= group.share.max.heartbeat.interval.ms
group.share.max.session.timeout.ms >= group.share.min.session.timeout.ms
group.share.session.timeout.ms >= group.share.min.session.timeout.ms
group.share.session.timeout.ms <= group.share.max.session.timeout.ms
group.share.heartbeat.interval.ms < group.share.session.timeout.ms
group.share.assignors = 1
group.share.max.assignment.interval.ms >= group.share.min.assignment.interval.ms
group.share.assignment.interval.ms >= group.share.min.assignment.interval.ms
group.share.assignment.interval.ms <= group.share.max.assignment.interval.ms
group.streams.max.heartbeat.interval.ms >= group.streams.min.heartbeat.interval.ms
group.streams.heartbeat.interval.ms >= group.streams.min.heartbeat.interval.ms
group.streams.heartbeat.interval.ms <= group.streams.max.heartbeat.interval.ms
group.streams.max.session.timeout.ms >= group.streams.min.session.timeout.ms
group.streams.session.timeout.ms >= group.streams.min.session.timeout.ms
group.streams.session.timeout.ms <= group.streams.max.session.timeout.ms
group.streams.heartbeat.interval.ms < group.streams.session.timeout.ms
group.streams.max.assignment.interval.ms >= group.streams.min.assignment.interval.ms
group.streams.assignment.interval.ms >= group.streams.min.assignment.interval.ms
group.streams.assignment.interval.ms <= group.streams.max.assignment.interval.ms
group.streams.num.standby.replicas <= group.streams.max.standby.replicas
group.share.max.delivery.count.limit >= group.share.delivery.count.limit
group.share.delivery.count.limit >= group.share.min.delivery.count.limit
group.share.max.partition.max.record.locks >= group.share.partition.max.record.locks
group.share.partition.max.record.locks >= group.share.min.partition.max.record.locks
group.share.record.lock.duration.ms >= group.share.min.record.lock.duration.ms
group.share.max.record.lock.duration.ms >= group.share.record.lock.duration.ms
group.share.max.share.sessions >= group.share.max.size
"""
_RELATIONS = {
    ">=": "must be greater than or equal to",
    "<=": "must be less than or equal to",
    "<": "must be less than",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The values of all keys, and what the configuration says of each that it has."""

    values: Mapping[str, object]
    originals: Mapping[str, str]

    def number(self, key: str) -> int:
        """Return the value of a key of whole numbers."""
        value = self.values[key]
        assert isinstance(value, int)
        return value

    def text(self, key: str) -> str | None:
        """Return the value of a key of strings."""
        value = self.values[key]
        assert value is None or isinstance(value, str)
        return value

    def items(self, key: str) -> tuple[str, ...]:
        """Return the value of a key of lists, empty where it is null."""
        value = self.values[key]
        assert value is None or isinstance(value, tuple)
        return value or ()

    @property
    def node_id(self) -> int:
        """The id of this node."""
        return self.number("node.id")

    @property
    def roles(self) -> frozenset[str]:
        """What this node is."""
        return frozenset(self.items("process.roles"))

    @property
    def log_dirs(self) -> tuple[str, ...]:
        """The directories of `log.dirs`, else of `log.dir`."""
        return self.items("log.dir" if self.values["log.dirs"] is None else "log.dirs")

    @property
    def controller_names(self) -> tuple[str, ...]:
        """The names of the controller listeners, as written."""
        return self.items(CONTROLLER_NAMES)


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Where the node listens."""

    protocols: Mapping[str, str]
    listeners: tuple[Listener, ...]
    controllers: tuple[Listener, ...]


def checked_value(key: ServerKey, text: str) -> object:
    """Return the value of a key, checked.

    Raises:
        Refused: it is none, or not allowed.
    """
    value = parse_value(key, text)
    if isinstance(value, tuple):
        if key.check == "voters":
            parse_voters(value)
        elif key.check == "servers":
            for server in value:
                parse_server(server)
    return value


def check_rules(settings: Settings) -> Endpoints:
    """Check every rule between keys, in Kafka's order; return the listeners.

    Of classes named by the configuration only those are refused that cannot be: what they
    implement is not known here.

    Raises:
        Refused: a rule is broken.
    """
    _check_groups(settings)
    endpoints = _endpoints(settings)
    _check_early_start(settings, endpoints)
    if "classic" not in settings.items("group.coordinator.rebalance.protocols"):
        raise Refused(
            "Disabling the 'classic' protocol is not supported.",
            "group.coordinator.rebalance.protocols",
        )
    _check_log(settings)
    _check_quorum_and_listeners(settings, endpoints)
    _check_inter_broker_sasl(settings, endpoints)
    _check_connections(settings)
    return endpoints


def advertised_controllers(settings: Settings, endpoints: Endpoints) -> tuple[Listener, ...]:
    """Return the controller listeners as others see them, in the order of their names.

    Raises:
        Refused: the address of this node's entry in the voters cannot be reached.
    """
    advertised = [
        listener
        for listener in _advertised(settings, endpoints) or ()
        if listener.name in settings.controller_names
    ]
    found = []
    for index, text in enumerate(settings.controller_names):
        name = listener_name(text)
        if listener := _named(name, advertised):
            found.append(listener)
        elif listener := _named(name, endpoints.controllers):
            if index == 0 and listener.host in (None, ANY_ADDRESS):
                voters = parse_voters(settings.items(VOTERS), routable=True)
                host, port = voters.get(settings.node_id, (listener.host, listener.port))
                listener = listener._replace(host=host, port=port)
            if listener.host == ANY_ADDRESS:
                listener = listener._replace(host=None)
            found.append(listener)
    return tuple(found)


def _require(condition: bool, message: str, *keys: str, hint: str | None = None) -> None:
    if not condition:
        raise Refused(f"requirement failed: {message}", *keys, hint=hint)


def _named(name: str, listeners: Iterable[Listener]) -> Listener | None:
    return next((listener for listener in listeners if listener.name == name), None)


def _check_groups(settings: Settings) -> None:
    _check_assignors(settings, "group.consumer.assignors", ("uniform", "range"))
    _check_codec(settings, "offsets.topic.compression.codec")
    _check_assignors(settings, "group.share.assignors", ("simple",))
    for rule in GROUP_RULES.splitlines():
        key, relation, other = rule.split(" ")
        if relation == "=":
            _check_single(settings, key)
            continue
        one, two = settings.number(key), settings.number(other)
        if not (one >= two if relation == ">=" else one <= two if relation == "<=" else one < two):
            raise Refused(f"{key} {_RELATIONS[relation]} {other}", key, other)
    _check_codec(settings, "share.coordinator.state.topic.compression.codec")


def _check_assignors(settings: Settings, key: str, known: Iterable[str]) -> None:
    for name in settings.items(key):
        if name not in known and "." not in name:
            raise Refused(
                f"Class {name} cannot be found", key, hint=f"Kafka's own: {', '.join(known)}"
            )


def _check_single(settings: Settings, key: str) -> None:
    if (count := len(settings.items(key))) != 1:
        raise Refused(f"{key} must contain exactly one assignor, but found {count}", key)


def _check_codec(settings: Settings, key: str) -> None:
    if settings.number(key) not in _CODECS:
        raise Refused(
            f"Unknown compression type id: {settings.number(key)}",
            key,
            hint="0 is none, 1 gzip, 2 snappy, 3 lz4, 4 zstd",
        )


def _endpoints(settings: Settings) -> Endpoints:
    protocols = _protocols(settings)
    listeners = parse_listeners(LISTENERS, settings.items(LISTENERS), protocols)
    names = settings.controller_names
    controllers = tuple(listener for listener in listeners if listener.name in names)
    return Endpoints(protocols, listeners, controllers)


def _protocols(settings: Settings) -> dict[str, str]:
    return security_protocols(
        settings.text(PROTOCOL_MAP) or "",
        given=PROTOCOL_MAP in settings.originals,
        listeners=settings.items(LISTENERS),
        controllers=settings.controller_names,
    )


def _advertised(settings: Settings, endpoints: Endpoints) -> tuple[Listener, ...] | None:
    if settings.values[ADVERTISED] is None:
        return None
    return parse_listeners(
        ADVERTISED, settings.items(ADVERTISED), endpoints.protocols, distinct_ports=False
    )


def _check_early_start(settings: Settings, endpoints: Endpoints) -> None:
    key = "early.start.listeners"
    names = {listener.name for listener in endpoints.listeners}
    for name in settings.items(key):
        if name not in names:
            raise Refused(
                f"{key} contains listener {name}, but this is not contained in listeners or "
                f"{CONTROLLER_NAMES}",
                key,
            )


def _check_log(settings: Settings) -> None:
    number = settings.number
    if settings.node_id != number("broker.id"):
        raise Refused(
            "You must set `node.id` to the same value as `broker.id`.", "broker.id", "node.id"
        )
    _require(
        _first_given(settings, {"log.roll.ms": 1, "log.roll.hours": _HOUR}) >= 1,
        "log.roll.ms must be greater than or equal to 1",
        "log.roll.ms",
    )
    _require(
        _first_given(settings, {"log.roll.jitter.ms": 1, "log.roll.jitter.hours": _HOUR}) >= 0,
        "log.roll.jitter.ms must be greater than or equal to 0",
        "log.roll.jitter.ms",
    )
    retention = {
        "log.retention.ms": 1,
        "log.retention.minutes": 60_000,
        "log.retention.hours": _HOUR,
    }
    _require(
        _first_given(settings, retention) != 0,
        "log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
        *retention,
    )
    buffer, threads = "log.cleaner.dedupe.buffer.size", "log.cleaner.threads"
    if not number(threads):
        raise Refused("/ by zero", threads, hint=f"{threads} must be at least 1")
    _require(
        number(buffer) // number(threads) > _MEBIBYTE,
        f"{buffer} must be at least 1MB per cleaner thread.",
        buffer,
        threads,
    )
    wait, socket, lag = (
        "replica.fetch.wait.max.ms",
        "replica.socket.timeout.ms",
        "replica.lag.time.max.ms",
    )
    _require(
        number(wait) <= number(socket),
        f"{socket} should always be at least {wait} to prevent unnecessary socket timeouts",
        socket,
        wait,
    )
    _require(
        number(wait) <= number(lag),
        f"{wait} should always be less than or equal to {lag} to prevent frequent changes in ISR",
        wait,
        lag,
    )


def _first_given(settings: Settings, units: Mapping[str, int]) -> int:
    """Return the first value that is not null, times its unit."""
    key = next(key for key in units if settings.values[key] is not None)
    return settings.number(key) * units[key]


def _check_quorum_and_listeners(settings: Settings, endpoints: Endpoints) -> None:
    advertised = _advertised(settings, endpoints)
    if advertised is None:
        advertised = endpoints.listeners
    controller_names = settings.controller_names
    brokers = [listener for listener in advertised if listener.name not in controller_names]
    voters = parse_voters(settings.items(VOTERS))
    if not voters and not settings.items(BOOTSTRAP_SERVERS):
        raise Refused(
            f"If using process.roles, either {BOOTSTRAP_SERVERS} must contain the set of bootstrap "
            f"controllers or {VOTERS} must contain a parseable set of controllers."
        )
    if settings.roles == {"broker"}:
        _check_broker(settings, endpoints, list(voters))
    else:
        _check_controller(settings, endpoints, list(voters))
    if "broker" in settings.roles:
        _check_broker_listeners(settings, endpoints, brokers)
        _check_cordoned(settings)
    for listeners in (brokers, advertised_controllers(settings, endpoints)):
        _require(
            not any(listener.host == ANY_ADDRESS for listener in listeners),
            "advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. "
            "Use a routable IP address.",
            ADVERTISED,
            LISTENERS,
        )


def _check_broker(settings: Settings, endpoints: Endpoints, voters: list[int]) -> None:
    node_id = settings.node_id
    _require(
        node_id not in voters,
        f"If process.roles contains just the 'broker' role, the node id {node_id} must not be "
        f"included in the set of voters {VOTERS}={_id_set(voters)}",
        VOTERS,
    )
    _require(
        not endpoints.controllers,
        f"{CONTROLLER_NAMES} must not contain a value appearing in the 'listeners' configuration "
        "when running KRaft with just the broker role",
        CONTROLLER_NAMES,
    )
    for text in settings.controller_names:
        name = listener_name(text)
        if name not in endpoints.protocols:
            raise Refused(
                f"Controller listener with name {name} defined in {CONTROLLER_NAMES} not found in "
                f"{PROTOCOL_MAP}  (an explicit security mapping for each controller listener is "
                f"required if {PROTOCOL_MAP} is non-empty, or if there are security protocols "
                "other than PLAINTEXT in use)",
                CONTROLLER_NAMES,
            )
    auto_join = "controller.quorum.auto.join.enable"
    _require(
        not settings.values[auto_join],
        f"{auto_join} is only supported when process.roles contains the 'controller' role.",
        auto_join,
    )


def _check_controller(settings: Settings, endpoints: Endpoints, voters: list[int]) -> None:
    names = settings.controller_names
    if settings.roles == {"controller"}:
        _require(
            len(advertised_controllers(settings, endpoints)) == len(endpoints.listeners),
            "The listeners config must only contain KRaft controller listeners from "
            f"{CONTROLLER_NAMES} when process.roles=controller",
            LISTENERS,
            CONTROLLER_NAMES,
        )
        if settings.values[INTER_BROKER] is not None:
            _require(
                _inter_broker(settings, endpoints)[0] not in names,
                f"{CONTROLLER_NAMES} must not contain an explicitly set {INTER_BROKER} "
                "configuration value when process.roles=controller'",
                CONTROLLER_NAMES,
            )
    node_id = settings.node_id
    _require(
        not voters or node_id in voters,
        f"If process.roles contains the 'controller' role, the node id {node_id} must be included "
        f"in the set of voters {VOTERS}={_id_set(voters)}",
        VOTERS,
    )
    _require(
        bool(advertised_controllers(settings, endpoints)),
        f"{CONTROLLER_NAMES} must contain at least one value appearing in the 'listeners' "
        "configuration when running the KRaft controller role",
        CONTROLLER_NAMES,
    )
    listener_names = {listener.name for listener in endpoints.listeners}
    _require(
        listener_names.issuperset(names),
        f"{CONTROLLER_NAMES} must only contain values appearing in the 'listeners' configuration "
        "when running the KRaft controller role",
        CONTROLLER_NAMES,
    )


def _id_set(ids: list[int]) -> str:
    return set_text(ids, lambda number: number & 0xFFFFFFFF)


def _check_broker_listeners(
    settings: Settings, endpoints: Endpoints, brokers: list[Listener]
) -> None:
    advertised = list(dict.fromkeys(listener.name for listener in brokers))
    names = list(dict.fromkeys(listener.name for listener in endpoints.listeners))
    _require(
        bool(advertised),
        "There must be at least one broker advertised listener. Perhaps all listeners appear in "
        f"{CONTROLLER_NAMES}?",
        ADVERTISED,
        LISTENERS,
    )
    _require(
        _inter_broker(settings, endpoints)[0] in advertised,
        f"{INTER_BROKER} must be a listener name defined in {ADVERTISED}. The valid options based "
        f"on currently configured listeners are {_name_set(advertised)}",
        INTER_BROKER,
        INTER_BROKER_PROTOCOL,
    )
    _require(
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
        _require(
            len(cordoned) == 1,
            f"When {key} is set to *, it must not contain other values",
            key,
        )
        return
    unknown = [path for path in cordoned if path not in settings.log_dirs]
    _require(
        not unknown,
        f"All entries in {key} must be present in log.dirs or log.dir. Missing entries : "
        f"{', '.join(unknown)}",
        key,
    )


def _inter_broker(settings: Settings, endpoints: Endpoints) -> tuple[str, str]:
    """Return name and protocol of the listener between brokers."""
    text = settings.text(INTER_BROKER)
    if text is None:
        protocol = settings.text(INTER_BROKER_PROTOCOL) or ""
        return protocol, protocol
    if INTER_BROKER_PROTOCOL in settings.originals:
        raise Refused(
            f"Only one of {INTER_BROKER} and {INTER_BROKER_PROTOCOL} should be set.",
            INTER_BROKER,
        )
    name = listener_name(text)
    if name not in endpoints.protocols:
        raise Refused(
            f"Listener with name {name} defined in {INTER_BROKER} not found in {PROTOCOL_MAP}.",
            INTER_BROKER,
        )
    return name, endpoints.protocols[name]


def _check_inter_broker_sasl(settings: Settings, endpoints: Endpoints) -> None:
    name, protocol = _inter_broker(settings, endpoints)
    if not protocol.startswith("SASL"):
        return
    enabled, mechanism = "sasl.enabled.mechanisms", "sasl.mechanism.inter.broker.protocol"
    overrides = _with_prefix(settings, f"listener.name.{name.lower()}.")
    allowed = overrides.get(enabled, settings.values[enabled])
    assert isinstance(allowed, tuple)
    _require(
        settings.values[mechanism] in allowed,
        f"{mechanism} must be included in {enabled} when SASL is used for inter-broker "
        "communication",
        mechanism,
        enabled,
    )


def _with_prefix(settings: Settings, prefix: str) -> dict[str, object]:
    """Return the values that are set for one listener, by key or mechanism and key."""
    values = {}
    known = server_keys()
    for original in map_order(settings.originals, string_hash):
        name = original.removeprefix(prefix)
        if name in (original, ""):
            continue
        key = known.get(name) or known.get(name[name.find(".") + 1 :])
        if key:
            try:
                values[name] = checked_value(key, settings.originals[original])
            except Refused as error:
                raise Refused(error.message, original, hint=error.hint) from None
    return values


def _check_connections(settings: Settings) -> None:
    number = settings.number
    queued, request = "queued.max.request.bytes", "socket.request.max.bytes"
    _require(
        number(queued) <= 0 or number(queued) >= number(request),
        f"{queued} must be larger or equal to {request}",
        queued,
        request,
    )
    limit, overrides = "max.connections.per.ip", "max.connections.per.ip.overrides"
    limits = parse_map(overrides, settings.text(overrides) or "")
    for text in limits.values():
        if whole_number(text, 32) is None:
            raise Refused(f'For input string: "{text}"', overrides)
    _require(
        number(limit) != 0 or bool(limits),
        f"{limit} can be set to zero only if {overrides} property is set.",
        limit,
    )
    hosts = map_order(limits, string_hash, capacity=16)
    if unknown := [host for host in hosts if not is_host(host)]:
        raise Refused(f"{overrides} contains invalid addresses : {','.join(unknown)}", overrides)
    delay, idle = "connection.failed.authentication.delay.ms", "connections.max.idle.ms"
    _require(
        number(idle) < 0 or number(delay) < number(idle),
        f"{delay}={number(delay)} should always be less than {idle}={number(idle)} to prevent "
        "failed authentication responses from timing out",
        delay,
        idle,
    )
