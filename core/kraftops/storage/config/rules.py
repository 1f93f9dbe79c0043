"""Rules between the keys of a server configuration (Kafka 4.3.1's `KafkaConfig` and its parts)."""

from collections.abc import Iterable, Mapping
from operator import ge, le, lt

from kraftops.fileio.packaged import packaged_text
from kraftops.java.hash_order import scala_map_order, set_order
from kraftops.java.numbers import parse_integer
from kraftops.java.text import string_hash
from kraftops.storage.config.endpoints import Endpoints, endpoints_of
from kraftops.storage.config.listener_rules import check_listeners
from kraftops.storage.config.listeners import is_host, parse_map
from kraftops.storage.config.settings import Settings
from kraftops.storage.config.values import ConfigRefused, require

_CODECS = range(5)
_MEBIBYTE = 1 << 20
_HOUR = 3_600_000

# Read when this is loaded: a command may go on as a user who cannot read this package.
_GROUP_RULES = packaged_text(__file__, "group_rules.txt").splitlines()
_RELATIONS = {
    ">=": (ge, "must be greater than or equal to"),
    "<=": (le, "must be less than or equal to"),
    "<": (lt, "must be less than"),
}


def check_rules(settings: Settings) -> Endpoints:
    """Check every rule between keys, in Kafka's order; return the listeners.

    Classes are not loaded: only a name that cannot be a class is refused.

    Raises:
        ConfigRefused: a rule is broken.
    """
    _check_groups(settings)
    endpoints = endpoints_of(settings)
    if "classic" not in settings.items("group.coordinator.rebalance.protocols"):
        raise ConfigRefused(
            "Disabling the 'classic' protocol is not supported.",
            "group.coordinator.rebalance.protocols",
        )
    _check_log(settings)
    check_listeners(settings, endpoints)
    _check_connections(settings)
    return endpoints


def _check_groups(settings: Settings) -> None:
    _check_assignors(settings, "group.consumer.assignors", ("uniform", "range"))
    _check_codec(settings, "offsets.topic.compression.codec")
    _check_assignors(settings, "group.share.assignors", ("simple",))
    for rule in _GROUP_RULES:
        key, relation, other = rule.split(" ")
        if relation == "=":
            _check_single(settings, key)
            continue
        holds, words = _RELATIONS[relation]
        if not holds(settings.number(key), settings.number(other)):
            raise ConfigRefused(f"{key} {words} {other}", key, other)
    _check_codec(settings, "share.coordinator.state.topic.compression.codec")


def _check_assignors(settings: Settings, key: str, own_names: Iterable[str]) -> None:
    for name in settings.items(key):
        if name not in own_names and "." not in name:
            raise ConfigRefused(
                f"Class {name} cannot be found", key, hint=f"Kafka's own: {', '.join(own_names)}"
            )


def _check_single(settings: Settings, key: str) -> None:
    if (count := len(settings.items(key))) != 1:
        raise ConfigRefused(f"{key} must contain exactly one assignor, but found {count}", key)


def _check_codec(settings: Settings, key: str) -> None:
    if settings.number(key) not in _CODECS:
        raise ConfigRefused(
            f"Unknown compression type id: {settings.number(key)}",
            key,
            hint="0 is none, 1 gzip, 2 snappy, 3 lz4, 4 zstd",
        )


def _check_log(settings: Settings) -> None:
    number = settings.number
    if settings.node_id != number("broker.id"):
        raise ConfigRefused(
            "You must set `node.id` to the same value as `broker.id`.", "broker.id", "node.id"
        )
    require(
        _first_given(settings, {"log.roll.ms": 1, "log.roll.hours": _HOUR}) >= 1,
        "log.roll.ms must be greater than or equal to 1",
        "log.roll.ms",
    )
    require(
        _first_given(settings, {"log.roll.jitter.ms": 1, "log.roll.jitter.hours": _HOUR}) >= 0,
        "log.roll.jitter.ms must be greater than or equal to 0",
        "log.roll.jitter.ms",
    )
    retention = {
        "log.retention.ms": 1,
        "log.retention.minutes": 60_000,
        "log.retention.hours": _HOUR,
    }
    require(
        _first_given(settings, retention) != 0,
        "log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
        *retention,
    )
    buffer, threads = "log.cleaner.dedupe.buffer.size", "log.cleaner.threads"
    if not number(threads):
        raise ConfigRefused("/ by zero", threads, hint=f"{threads} must be at least 1")
    require(
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
    require(
        number(wait) <= number(socket),
        f"{socket} should always be at least {wait} to prevent unnecessary socket timeouts",
        socket,
        wait,
    )
    require(
        number(wait) <= number(lag),
        f"{wait} should always be less than or equal to {lag} to prevent frequent changes in ISR",
        wait,
        lag,
    )


def _first_given(settings: Settings, units: Mapping[str, int]) -> int:
    """Return the first value that is not null, in ms: keys come in ms, minutes and hours."""
    key = next(key for key in units if settings.values[key] is not None)
    return settings.number(key) * units[key]


def _check_connections(settings: Settings) -> None:
    number = settings.number
    queued, request = "queued.max.request.bytes", "socket.request.max.bytes"
    require(
        number(queued) <= 0 or number(queued) >= number(request),
        f"{queued} must be larger or equal to {request}",
        queued,
        request,
    )
    limit, overrides = "max.connections.per.ip", "max.connections.per.ip.overrides"
    limits = parse_map(overrides, settings.text(overrides) or "")
    for text in limits.values():
        if parse_integer(text, 32) is None:
            raise ConfigRefused(f'For input string: "{text}"', overrides)
    require(
        number(limit) != 0 or bool(limits),
        f"{limit} can be set to zero only if {overrides} property is set.",
        limit,
    )
    hosts = scala_map_order(limits, string_hash)
    if unknown := [host for host in hosts if not is_host(host)]:
        raise ConfigRefused(
            f"{overrides} contains invalid addresses : {','.join(set_order(unknown, string_hash))}",
            overrides,
        )
    delay, idle = "connection.failed.authentication.delay.ms", "connections.max.idle.ms"
    require(
        number(idle) < 0 or number(delay) < number(idle),
        f"{delay}={number(delay)} should always be less than {idle}={number(idle)} to prevent "
        "failed authentication responses from timing out",
        delay,
        idle,
    )
